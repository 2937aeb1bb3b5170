//! Cursors, issued, changed and made up.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| preopen_guest::fuzzing::cursor(data));
