//! Compiles components to machine code ahead of time: `TARGET IN.wasm OUT.cwasm
//! …`; one written as text will do. Only the build runs it; it shares the engine settings with the
//! server and knows nothing else of it.

use std::{env, fs};

use wasmtime::error::Context;
use wasmtime::{Config, Engine, Result, bail};

#[path = "../../host/src/engine.rs"]
mod engine;

/// What every x86-64 processor since 2009 has (the level x86-64-v2). Without
/// it each shuffle of the component's SIMD code is a call into the runtime.
const X86_64_V2: [&str; 5] = [
    "has_sse3",
    "has_ssse3",
    "has_sse41",
    "has_sse42",
    "has_popcnt",
];

#[allow(unsafe_code)]
fn portable_simd(config: &mut Config) {
    for flag in X86_64_V2 {
        // SAFETY: code made under a flag must not run where the processor lacks
        // the feature. The engine that loads this code knows each of these
        // flags and asks the processor for it first; it refuses otherwise.
        unsafe { config.cranelift_flag_enable(flag) };
    }
}

fn main() -> Result<()> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let Some((target, files)) = arguments.split_first() else {
        bail!("usage: preopen-precompile TARGET [IN.wasm OUT.cwasm]...");
    };
    let mut config = engine::config();
    // A named target means its baseline processor, not the one that builds.
    config.target(target)?;
    if target.starts_with("x86_64") {
        portable_simd(&mut config);
    }
    let engine = Engine::new(&config)?;
    for pair in files.chunks(2) {
        let [component, output] = pair else {
            bail!("each component needs a name for its code");
        };
        let wasm = fs::read(component).with_context(|| format!("cannot read {component}"))?;
        let code = engine.precompile_component(&wasm)?;
        fs::write(output, code).with_context(|| format!("cannot write {output}"))?;
    }
    Ok(())
}
