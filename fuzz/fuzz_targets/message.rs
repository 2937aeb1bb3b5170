//! Any bytes as the lines of a client.
#![no_main]

#[path = "../properties/answer.rs"]
mod answer;
#[path = "../properties/expected.rs"]
mod expected;
#[path = "../properties/json.rs"]
mod json;
#[path = "../properties/message.rs"]
mod message;

libfuzzer_sys::fuzz_target!(|data: &[u8]| message::check(data));
