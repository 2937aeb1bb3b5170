//! From a component to machine code, under the settings of the server, or from
//! the cache, where the same was compiled before. It runs nothing of it.

use std::hash::{Hash, Hasher};
use std::path::Path;
use std::time::Instant;

use sha2::{Digest, Sha256};
use wasmtime::Engine;

use super::ComponentError;
use super::cache::{Cache, Key};
use crate::diagnostics;

/// The code of `wasm`; from the cache if there is a `root` that it lies outside of.
pub(super) fn compiled(wasm: &[u8], root: Option<&Path>) -> Result<Vec<u8>, ComponentError> {
    let invalid = |error: wasmtime::Error| ComponentError::Invalid(format!("{error:#}"));
    // An engine of its own: the server's reserves the address space of calls.
    let engine = Engine::new(&crate::engine::config()).map_err(invalid)?;
    let key = key(&engine, wasm);
    let cache = root.and_then(|root| {
        Cache::of_user(root)
            .inspect_err(|why| diagnostics::report(&format_args!("component: no cache: {why}")))
            .ok()
    });
    if let Some(code) = cache.as_ref().and_then(|cache| cache.take(&key)) {
        diagnostics::report(&"component: taken from the cache");
        return Ok(code);
    }
    let began = Instant::now();
    let code = engine.precompile_component(wasm).map_err(invalid)?;
    let took = began.elapsed().as_millis();
    match cache.map(|cache| cache.put(&key, &code)) {
        Some(Ok(())) => diagnostics::report(&format_args!(
            "component: compiled in {took} ms and put into the cache"
        )),
        Some(Err(error)) => diagnostics::report(&format_args!(
            "component: compiled in {took} ms; the cache does not take it: {error}"
        )),
        None => diagnostics::report(&format_args!("component: compiled in {took} ms")),
    }
    Ok(code)
}

/// What the code depends on: the component, and the runtime's own hash of its
/// version, its settings and the processor.
fn key(engine: &Engine, wasm: &[u8]) -> Key {
    let mut hasher = Feed(Sha256::new());
    engine.precompile_compatibility_hash().hash(&mut hasher);
    let settings = hasher.0.finalize();
    Sha256::new()
        .chain_update(settings)
        .chain_update(wasm)
        .finalize()
        .into()
}

/// Feeds what is hashed to SHA-256.
struct Feed(Sha256);

impl Hasher for Feed {
    fn write(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// Nobody asks: the digest is taken instead.
    fn finish(&self) -> u64 {
        0
    }
}
