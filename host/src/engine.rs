//! The engine settings that decide what the component's machine code looks
//! like. The build compiles the component under them and the server loads it
//! under them; were they to differ the code would be refused, so they stand
//! here once. This file is part of both programs and knows neither.

use wasmtime::{Config, WasmBacktraceDetails};

/// Stack of the component, in bytes; overrunning it is a trap.
const STACK: usize = 1 << 20;

/// The settings shared by the compiler and the server.
pub(crate) fn config() -> Config {
    let mut config = Config::new();
    // Time limits and cancellation reach running code through the epoch.
    config.epoch_interruption(true);
    config.max_wasm_stack(STACK);
    // No answer ever shows a backtrace, and the tables for one are a third of
    // the code's size. Reading the environment for it is out of the question.
    config.wasm_backtrace_max_frames(None);
    config.wasm_backtrace_details(WasmBacktraceDetails::Disable);
    config.generate_address_map(false);
    config.native_unwind_info(false);
    // What the component does not use is not there to be attacked.
    config.concurrency_support(false);
    config.wasm_relaxed_simd(false);
    config
}
