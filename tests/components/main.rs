//! Components of others, served by a program that holds the compiler: the one
//! of `examples/custom-tool`, one without manners, and files that are none.

#![allow(clippy::unwrap_used)]

#[allow(dead_code, unused_imports, reason = "not every test needs all of it")]
#[path = "../harness/mod.rs"]
mod harness;

mod built;
mod cache;
mod contrary;
mod example;
mod refused;

use std::path::Path;

use serde_json::{Value, json};

use harness::{Launch, Message, Root, Server, call};

/// Nothing: the kernel is the one that is there.
fn age() {}

/// A server of this root with the tools of `component`, whose code is kept
/// between runs of the tests.
fn serving(root: &Root, component: &Path) -> Launch {
    Launch::new(root)
        .args(["--component".as_ref(), component.as_os_str()])
        .with(|command| command.env("XDG_CACHE_HOME", built::scratch().join("cache")))
}

/// The result of a call. The harness does not know these tools, so it is not
/// told which one it is.
fn ask(server: &mut Server, tool: &str, arguments: Value) -> Message {
    server.raw(format!("{}\n", call(tool, tool, arguments)));
    server.answer(tool)
}

/// What a tool refuses with.
fn refusal(message: &Message) -> &str {
    assert_eq!(message.result()["isError"], true, "{}", message.line);
    message.result()["content"][0]["text"].as_str().unwrap()
}

/// What a tool answers.
fn answer(message: &Message) -> &Value {
    assert_eq!(
        message.result()["isError"],
        json!(false),
        "{}",
        message.line
    );
    &message.result()["structuredContent"]
}
