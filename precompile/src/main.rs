//! Compiles a component to machine code ahead of time: `IN.wasm OUT.cwasm
//! TARGET`. Only the build runs it; it shares the engine settings with the
//! server and knows nothing else of it.

use std::{env, fs};

use wasmtime::error::Context;
use wasmtime::{Engine, Result, bail};

#[path = "../../host/src/engine.rs"]
mod engine;

fn main() -> Result<()> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [component, output, target] = arguments.as_slice() else {
        bail!("usage: preopen-precompile IN.wasm OUT.cwasm TARGET");
    };
    let mut config = engine::config();
    // A named target means its baseline processor, not the one that builds.
    config.target(target)?;
    let wasm = fs::read(component).with_context(|| format!("cannot read {component}"))?;
    let code = Engine::new(&config)?.precompile_component(&wasm)?;
    fs::write(output, code).with_context(|| format!("cannot write {output}"))
}
