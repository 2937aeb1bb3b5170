//! The audit and the diagnostics: what is told of each call, to whom, and that
//! no call waits for who listens.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::harness::{Launch, Root, Server, call, make_pipe, run};

/// A file beside the root.
fn beside(root: &Root, name: &str) -> PathBuf {
    root.above().join(name)
}

fn lines(file: PathBuf) -> Vec<Value> {
    let text = fs::read_to_string(file).unwrap();
    assert!(text.is_empty() || text.ends_with('\n'));
    let parse = |line: &str| serde_json::from_str(line).unwrap();
    text.lines().map(parse).collect()
}

/// What a line says of these members.
fn told<'a, const N: usize>(line: &'a Value, members: [&str; N]) -> [&'a Value; N] {
    members.map(|member| &line[member])
}

#[test]
fn every_call_has_a_line_with_what_became_of_it_and_no_content() {
    let root = Root::new()
        .file("a.txt", "content-of-a")
        .file("hidden/b.txt", "content-of-b")
        .file("c.md", "content-of-c");
    let file = beside(&root, "audit");
    let mut server = Launch::new(&root)
        .include(&["**/*.txt"])
        .exclude(&["hidden"])
        .args([std::ffi::OsStr::new("--audit"), file.as_os_str()])
        .start();
    server.call("read_text_file", json!({"path": "a.txt"}));
    server.call("read_text_file", json!({"path": "hidden/b.txt"}));
    server.call("read_text_file", json!({"path": "c.md"}));
    server.call("read_text_file", json!({"path": "../a.txt"}));
    server.call("read_text_file", json!({"path": "missing.txt"}));
    server.write("new.txt", "content-of-new");
    server.request("tools/call", json!({"name": "nope", "arguments": {}}));
    server.request("tools/list", json!({}));
    server.close();
    let mut all = lines(file.clone());
    // Each is written once its call is answered, by whichever thread ran it.
    all.sort_by_key(|line| line["id"].to_string());
    let expected = [
        ("read_text_file", json!("a.txt"), "served", Value::Null, 12),
        (
            "read_text_file",
            json!("hidden/b.txt"),
            "refused",
            json!("policy: --exclude hidden"),
            0,
        ),
        (
            "read_text_file",
            json!("c.md"),
            "refused",
            json!("policy or tool: no --include matches it as a file"),
            0,
        ),
        (
            "read_text_file",
            json!("../a.txt"),
            "refused",
            json!("capability: the path is not one below the root"),
            0,
        ),
        (
            "read_text_file",
            json!("missing.txt"),
            "refused",
            json!("tool"),
            0,
        ),
        (
            "write_text_file",
            json!("new.txt"),
            "served",
            Value::Null,
            14,
        ),
        (
            "nope",
            Value::Null,
            "refused",
            json!("protocol: there is no such tool"),
            0,
        ),
    ];
    assert_eq!(all.len(), expected.len(), "{all:#?}");
    for (line, (tool, path, verdict, by, bytes)) in all.iter().zip(expected) {
        assert_eq!(
            told(line, ["tool", "path", "verdict", "by", "bytes"]),
            [&json!(tool), &path, &json!(verdict), &by, &json!(bytes)],
            "{line}"
        );
        assert!(line["us"].is_u64() && line["id"].is_string(), "{line}");
        let time = line["time"].as_str().unwrap();
        assert!(time.len() == 24 && time.ends_with('Z'), "{time}");
    }
    assert!(!fs::read_to_string(file).unwrap().contains("content-of"));
}

#[test]
fn a_call_that_runs_past_a_limit_or_is_cancelled_is_told_so() {
    let root = Root::new().haystack();
    let file = beside(&root, "audit");
    let audit = [std::ffi::OsStr::new("--audit"), file.as_os_str()];
    let mut server = Launch::new(&root).args(audit).busy(7);
    server.send(&crate::harness::cancel(7));
    server.close();
    let mut server = Launch::new(&root)
        .args(audit)
        .args(["--call-timeout", "1ms"])
        .start();
    server.call("search_text", json!({"query": "needle"}));
    server.close();
    let all = lines(file);
    let last = all.last().unwrap();
    assert_eq!(
        told(last, ["verdict", "by"]),
        [&json!("stopped"), &json!("bounds: --call-timeout")]
    );
    assert_eq!(all.len(), 2);
    assert_eq!(
        told(&all[0], ["id", "verdict"]),
        [&json!(7), &json!("cancelled")]
    );
}

#[test]
fn lines_are_added_and_the_file_is_private() {
    let root = Root::new().file("a.txt", "a");
    let file = beside(&root, "audit");
    for calls in 1..=2 {
        let audit = [std::ffi::OsStr::new("--audit"), file.as_os_str()];
        let mut server = Launch::new(&root).args(audit).start();
        server.call("list_directory", json!({}));
        server.close();
        assert_eq!(lines(file.clone()).len(), calls);
    }
    let mode = std::os::unix::fs::PermissionsExt::mode(&fs::metadata(&file).unwrap().permissions());
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn a_file_that_a_client_could_get_at_is_refused() {
    let root = Root::new().dir("logs");
    for name in ["audit", "logs/audit"] {
        let (path, file) = (root.path(), root.at(name));
        let arguments = [
            "--root".as_ref(),
            path.as_os_str(),
            "--include".as_ref(),
            "**".as_ref(),
            "--audit".as_ref(),
            file.as_os_str(),
        ];
        let exit = run(arguments);
        assert_eq!(exit.code, Some(64));
        assert!(
            exit.stderr.contains("--audit") && exit.stderr.contains("lies in the root"),
            "{exit:?}"
        );
        assert!(!file.exists());
    }
}

/// Where a link leads, or what other name there is, could be in the root.
#[test]
fn a_file_that_may_be_another_one_is_refused() {
    let root = Root::new().file("a.txt", "a");
    let (link, dangling, hard) = (
        beside(&root, "link"),
        beside(&root, "dangling"),
        beside(&root, "hard"),
    );
    symlink(root.at("a.txt"), &link).unwrap();
    symlink(root.at("new"), &dangling).unwrap();
    fs::hard_link(root.at("a.txt"), &hard).unwrap();
    for (file, said) in [
        (link, "symbolic link"),
        (dangling, "symbolic link"),
        (hard, "hard links"),
    ] {
        let path = root.path();
        let arguments = [
            "workspace".as_ref(),
            "-d".as_ref(),
            path.as_os_str(),
            "--audit".as_ref(),
            file.as_os_str(),
        ];
        let exit = run(arguments);
        assert_eq!(exit.code, Some(64));
        assert!(
            exit.stderr.contains("--audit") && exit.stderr.contains(said),
            "{exit:?}"
        );
    }
    assert_eq!(root.names(), ["a.txt"]);
    assert_eq!(root.read("a.txt"), b"a");
}

/// Whether or not its turn had come.
#[test]
fn a_call_that_is_cancelled_before_its_turn_is_told_too() {
    let root = Root::new().haystack();
    let file = beside(&root, "audit");
    let mut server = Launch::new(&root)
        .args([std::ffi::OsStr::new("--audit"), file.as_os_str()])
        .args(["--workers", "1"])
        .busy(1);
    let write = json!({"path": "f.txt", "content": "content"});
    server.send(&call(2, "write_text_file", write));
    server.send(&crate::harness::cancel(2));
    server.send(&crate::harness::cancel(1));
    server.close();
    let mut all = lines(file);
    all.sort_by_key(|line| line["id"].to_string());
    let verdicts: Vec<_> = all
        .iter()
        .map(|line| told(line, ["id", "verdict"]))
        .collect();
    assert_eq!(
        verdicts,
        [
            [&json!(1), &json!("cancelled")],
            [&json!(2), &json!("cancelled")]
        ]
    );
}

/// A pipe beside the root, and the end of it that somebody holds and never reads.
fn unread_pipe(root: &Root, name: &str) -> (PathBuf, fs::File) {
    let pipe = beside(root, name);
    make_pipe(&pipe);
    let held = fs::File::options()
        .read(true)
        .write(true)
        .open(&pipe)
        .unwrap();
    (pipe, held)
}

/// Everything the file does not take is counted, and nothing waits for it.
#[test]
fn a_full_disk_or_a_pipe_that_nobody_reads_stops_no_call() {
    let root = Root::new().file("a.txt", "a");
    let full = PathBuf::from("/dev/full");
    let (pipe, held) = unread_pipe(&root, "pipe");
    for file in [full, pipe] {
        if !file.exists() {
            eprintln!("SKIPPED: there is no {}", file.display());
            continue;
        }
        let audit = [std::ffi::OsStr::new("--audit"), file.as_os_str()];
        let mut server = Launch::new(&root).args(audit).start();
        for _ in 0..1000 {
            server
                .call("read_text_file", json!({"path": "a.txt"}))
                .items();
        }
        server.close();
    }
    drop(held);
}

/// A line of every call on stderr, with `-vv` alone.
#[test]
fn diagnostics_tell_calls_when_asked_twice() {
    for (flag, told) in [("-v", false), ("-vv", true)] {
        let root = Root::new().file("a.txt", "content-of-a");
        let mut server = Launch::new(&root).args([flag]).start();
        server.call("read_text_file", json!({"path": "a.txt"}));
        let (_, exit) = server.finish();
        assert_eq!(exit.code, Some(0));
        assert_eq!(
            exit.stderr.contains("\"tool\":\"read_text_file\""),
            told,
            "{exit:?}"
        );
        assert!(!exit.stderr.contains("content-of-a"));
    }
}

/// Far more than a pipe holds, and nobody reads it.
#[test]
fn a_stderr_that_is_full_and_never_read_stops_no_call() {
    let root = Root::new().file("a.txt", "a");
    let (pipe, held) = unread_pipe(&root, "stderr");
    let script = format!("exec 2>'{}'", pipe.display());
    let mut server: Server = Launch::after(&script, &root).args(["-vv"]).start();
    for _ in 0..2000 {
        server
            .call("read_text_file", json!({"path": "a.txt"}))
            .items();
    }
    server.close();
    drop(held);
}
