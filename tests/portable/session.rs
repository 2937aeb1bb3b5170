//! What one instance that serves a whole session must keep apart, and the
//! library form, called from a shell.

use std::io::Write;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use super::host;
use crate::harness::{HAYSTACK, Launch, Root, cancel};
use crate::legacy::{Client, call, initialize};

#[test]
fn only_the_first_directory_is_served() {
    let root = Root::new().file("a.txt", "a\n");
    let Some(portable) = host("only_the_first_directory_is_served") else {
        return;
    };
    let mut ran = Command::new(&portable.host);
    ran.args(["run", "-C", "cache=n", "--allow-precompiled", "--dir"])
        .arg(format!("{}::/", root.path().display()))
        .arg("--dir")
        .arg(format!("{}::/outside", root.outside("").display()))
        .arg(&portable.component)
        .args(["--include", "**", "--protocol", "legacy"]);
    let lines = exchange(
        &mut ran,
        &[
            initialize(0, "2025-11-25"),
            call(1, "list_directory", json!({})),
            call(2, "read_text_file", json!({"path": "outside/secret.txt"})),
        ],
    );
    let items = &lines[1]["result"]["structuredContent"]["items"];
    assert_eq!(items.as_array().map(Vec::len), Some(1), "{items}");
    assert_eq!(
        lines[2]["result"]["content"][0]["text"],
        "path does not exist in this root"
    );
}

/// Sends these lines, ends the input, and returns what was answered.
fn exchange(command: &mut Command, lines: &[Value]) -> Vec<Value> {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    for line in lines {
        writeln!(stdin, "{line}").unwrap();
    }
    drop(stdin);
    let ran = child.wait_with_output().unwrap();
    assert!(ran.status.success() && ran.stderr.is_empty(), "{ran:?}");
    let stdout = String::from_utf8(ran.stdout).unwrap();
    stdout
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[test]
fn a_call_that_its_own_batch_cancels_never_runs() {
    let root = Root::new().haystack();
    let Some(portable) = host("a_call_that_its_own_batch_cancels_never_runs") else {
        return;
    };
    let launch = Launch::new(&root)
        .on(portable)
        .args(["--protocol", "legacy"]);
    let mut client = Client(launch.args(HAYSTACK).spawn());
    client.result(&initialize("init", "2025-03-26"));
    // It would go on for many seconds, and its file would be made.
    let write = json!({"path": "f.txt", "content": "content"});
    client.send(&json!([
        call("long", "search_text", json!({"query": "needle"})),
        call("write", "write_text_file", write),
        call(
            "short",
            "list_directory",
            json!({"path": "hay", "limit": 1})
        ),
        cancel("long"),
        cancel("write"),
    ]));
    let answers = client.line();
    let ids: Vec<&Value> = answers
        .as_array()
        .unwrap()
        .iter()
        .map(|answer| &answer["id"])
        .collect();
    assert_eq!(ids, ["short"]);
    assert!(!root.at("f.txt").exists());
    client.close();
}

#[test]
fn a_call_past_its_time_leaves_the_next_one_all_of_its_own() {
    let root = Root::new().haystack();
    let Some(portable) = host("a_call_past_its_time_leaves_the_next_one_all_of_its_own") else {
        return;
    };
    let mut server = Launch::new(&root)
        .on(portable)
        .args(["--max-scan-bytes", "1024GiB", "--call-timeout", "200ms"])
        .start();
    for _ in 0..2 {
        server
            .call("search_text", json!({"query": "needle"}))
            .refused("the call took longer than 200ms and was stopped (--call-timeout); ask for less at a time");
        server.write("a.txt", "a\n");
        assert_eq!(server.read("a.txt"), "a\n");
    }
    server.close();
}

#[test]
fn writes_past_their_time_leave_nothing() {
    let root = Root::new();
    let Some(portable) = host("writes_past_their_time_leave_nothing") else {
        return;
    };
    let mut server = Launch::new(&root)
        .on(portable)
        .args(["--toolset", "workspace", "--call-timeout", "1ms"])
        .start();
    let content = "x".repeat(1 << 20);
    for turn in 0..60 {
        let path = format!("made{turn}/for/it.txt");
        let answer = server.call("write_file", json!({"path": path, "content": content}));
        // Done or not: nothing else is there.
        let made = root.at(&format!("made{turn}"));
        assert_eq!(
            made.exists(),
            answer.0.result()["isError"] == false,
            "{turn}"
        );
    }
    server.close();
    let left = std::fs::read_dir(root.path()).expect("the root");
    let left = left.map(|entry| entry.expect("an entry").file_name());
    let temporaries = left.filter(|name| name.to_string_lossy().starts_with('.'));
    assert_eq!(temporaries.count(), 0);
}

#[test]
fn the_library_form_is_called_from_a_shell() {
    let root = Root::new()
        .file("lib/a.txt", "alpha\n")
        .file("hidden/a.txt", "alpha\n")
        .link("lib/link", "a.txt");
    let Some(portable) = host("the_library_form_is_called_from_a_shell") else {
        return;
    };
    let invoke = |call: &str| {
        let ran = Command::new(&portable.host)
            .args(["run", "-C", "cache=n", "--allow-precompiled", "--dir"])
            .arg(format!("{}::/", root.path().display()))
            .args(["--invoke", call])
            .arg(&portable.component)
            .output()
            .unwrap();
        assert!(ran.status.success(), "{ran:?}");
        String::from_utf8(ran.stdout).unwrap()
    };
    let rules = "some({include: [\"**\"], exclude: [\"hidden/**\"], allow-blocked: false})";
    let ruled = settings(rules);
    let read = |settings: &str, path: &str| {
        let arguments = format!(r#""{{\"path\": \"{path}\"}}""#);
        invoke(&format!(
            "call-tool({settings}, \"read_text_file\", {arguments})"
        ))
    };
    let listed = invoke(&format!("list-tools({ruled})"));
    assert!(listed.contains("list_directory"), "{listed}");
    let text = read(&ruled, "lib/a.txt");
    assert!(text.starts_with("ok(") && text.contains("alpha"), "{text}");
    for (path, refusal) in [
        ("hidden/a.txt", "path is not served by this root"),
        ("lib/link", "path does not exist in this root"),
    ] {
        let refused = read(&ruled, path);
        assert!(refused.contains(refusal), "{refused}");
    }
    // Without rules it is the host that has some, and this one has none.
    let text = read(&settings("none"), "hidden/a.txt");
    assert!(text.contains("alpha"), "{text}");
    let none = invoke(&format!("call-tool({ruled}, \"nothing\", \"{{}}\")"));
    assert!(none.contains("unknown-tool"), "{none}");
}

/// Settings as a shell spells them, with these rules.
fn settings(rules: &str) -> String {
    let limits = "{max-file-bytes: 1000, max-write-bytes: 1000, max-result-bytes: 48000, \
        max-scan-bytes: 1000000, max-entries: 1000, max-depth: 64, call-timeout: 30000}";
    format!(
        "{{toolset: core, only: [], read-only: false, write-mode: replace, limits: {limits}, \
        cursor-key: [1, 2, 3], hash-key: none, root-writable: true, files-unchanged: false, \
        host-hashes: false, rules: {rules}}}"
    )
}
