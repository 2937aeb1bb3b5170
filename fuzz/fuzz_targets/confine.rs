//! Sequences of file operations below a real directory.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| preopen_mcp::fuzzing::confine(data));
