//! The properties that the fuzzer checks, over generated inputs and over the
//! inputs that are kept from its runs. Only the public interface is used.

mod found;
mod lines;
mod paths;
mod policies;
mod seeds;

#[path = "../../../fuzz/properties/answer.rs"]
mod answer;
#[path = "../../../fuzz/properties/expected.rs"]
mod expected;
#[path = "../../../fuzz/properties/globs.rs"]
mod globs;
#[path = "../../../fuzz/properties/json.rs"]
mod json;
#[path = "../../../fuzz/properties/message.rs"]
mod message;
#[path = "../../../fuzz/properties/path.rs"]
mod path;
#[path = "../../../fuzz/properties/policy.rs"]
mod policy;
