//! Patterns and paths, as lines.
#![no_main]

#[path = "../properties/globs.rs"]
mod globs;
#[path = "../properties/path.rs"]
mod path;
#[path = "../properties/policy.rs"]
mod policy;

libfuzzer_sys::fuzz_target!(|data: &[u8]| policy::check(data));
