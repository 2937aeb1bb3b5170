//! The end-to-end tests once more, against the component on its own: the file
//! that the program embeds, under the wasmtime command line, which grants it the
//! root and knows neither the rules nor the protocol. Tests that need the native
//! host are left out, each by its name and for a reason.

use std::env;
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::{Command, ExitCode};

#[path = "portable/skipped.rs"]
mod skipped;
#[path = "portable/wasmtime.rs"]
mod wasmtime;

/// What tests/harness/portable.rs looks for.
const HOST: &str = "PREOPEN_MCP_TEST_HOST";
const COMPONENT: &str = "PREOPEN_MCP_TEST_COMPONENT";

fn main() -> ExitCode {
    let Some(host) = wasmtime::find("the component on its own") else {
        return ExitCode::SUCCESS;
    };
    let code = wasmtime::compile(&host, &wasmtime::component("suite"));
    let suite = suite();
    let (options, filters): (Vec<String>, Vec<String>) = env::args()
        .skip(1)
        .partition(|argument| argument.starts_with('-'));
    let names = names(&suite);
    let left_out = skipped(&names);
    let chosen: Vec<&String> = names
        .iter()
        .filter(|name| !left_out.contains(&name.as_str()))
        .filter(|name| filters.is_empty() || filters.iter().any(|filter| name.contains(filter)))
        .collect();
    println!(
        "{} of {} tests against the component under {}",
        chosen.len(),
        names.len(),
        host.display()
    );
    if chosen.is_empty() {
        return ExitCode::SUCCESS;
    }
    let status = Command::new(&suite)
        .args(options)
        .arg("--exact")
        .args(chosen)
        .env(HOST, &host)
        .env(COMPONENT, &code)
        .status()
        .expect("the tests run");
    match status.success() {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    }
}

/// The end-to-end tests as they are now: built, if they are not.
fn suite() -> PathBuf {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo"));
    let mut build = Command::new(cargo);
    build
        .args(["test", "--no-run", "--quiet", "--package", "preopen-mcp"])
        .args(["--test", "e2e", "--message-format=json"])
        .current_dir(env!("CARGO_MANIFEST_DIR"));
    if !cfg!(debug_assertions) {
        build.arg("--release");
    }
    let built = build.output().expect("cargo runs");
    let messages = String::from_utf8(built.stdout).expect("UTF-8");
    let program = messages
        .lines()
        .filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok())
        .filter(|message| message["target"]["name"] == "e2e")
        .find_map(|message| message["executable"].as_str().map(PathBuf::from));
    program.unwrap_or_else(|| panic!("{}", String::from_utf8_lossy(&built.stderr)))
}

/// The names of all tests there are.
fn names(suite: &PathBuf) -> Vec<String> {
    let listed = Command::new(suite).arg("--list").output();
    let listed = String::from_utf8(listed.expect("the tests list").stdout).expect("UTF-8");
    listed
        .lines()
        .filter_map(|line| line.strip_suffix(": test"))
        .map(str::to_owned)
        .collect()
}

/// Those of `names` that are skipped.
///
/// # Panics
/// When something that is skipped is not among them.
fn skipped(names: &[String]) -> Vec<&str> {
    let mut found = Vec::new();
    for test in skipped::SKIPPED.iter().flat_map(|(_, tests)| *tests) {
        let before = found.len();
        found.extend(
            names
                .iter()
                .map(String::as_str)
                .filter(|name| match test.ends_with("::") {
                    true => name.starts_with(test),
                    false => name == test,
                }),
        );
        assert!(found.len() > before, "there is no test {test} to skip");
    }
    found
}
