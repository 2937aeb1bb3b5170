//! A disk that takes its time: strace makes chosen system calls take long, so
//! that a call is past its time at a place that is known.

use std::time::Instant;

use rustix::process::Signal;
use serde_json::json;

use crate::harness::{Answer, PATIENCE, Root, Server, Trace, call, cancel, traced};

#[test]
fn a_listing_ends_in_time_however_much_of_it_is_hidden() {
    const HIDDEN: usize = 3_000;
    let root = Root::new().file("many/shown", "");
    for number in 0..HIDDEN {
        root.write(&format!("many/hidden-{number:04}"), "");
    }
    // Whoever takes a batch of entries from the kernel is late afterwards.
    let rules = [
        "trace=getdents64,seccomp",
        "inject=getdents64:delay_exit=200000",
    ];
    let test = "a_listing_ends_in_time_however_much_of_it_is_hidden";
    let Some((launch, trace)) = traced(test, &root, &rules) else {
        return;
    };
    let mut server = launch
        .exclude(&["many/hidden-*"])
        .args(["--call-timeout", "100ms"])
        .start();
    server
        .call("list_directory", json!({"path": "many"}))
        .refused("the call took longer than 100ms and was stopped (--call-timeout); ask for less at a time");
    server.alive();
    server.close();
    // It was not refused only once everything had been passed over.
    let batches = trace
        .after_lockdown()
        .iter()
        .filter(|call| call.starts_with("getdents64"))
        .count();
    assert!(batches <= 1, "{batches} batches");
}

#[test]
fn a_listing_is_cancelled_however_much_of_it_is_hidden() {
    const HIDDEN: usize = 12_000;
    let root = Root::new().file("many/shown", "");
    for number in 0..HIDDEN {
        root.write(&format!("many/hidden-{number:04}"), "");
    }
    let rules = [
        "trace=getdents64,seccomp",
        "inject=getdents64:delay_exit=200000",
    ];
    let test = "a_listing_is_cancelled_however_much_of_it_is_hidden";
    let Some((launch, trace)) = traced(test, &root, &rules) else {
        return;
    };
    let mut server = launch.exclude(&["many/hidden-*"]).start();
    server.alive();
    let list = json!({"path": "many"});
    server.send(&call(1, "list_directory", list));
    let batches = || {
        let calls = trace.after_lockdown();
        let batches = calls.iter().filter(|call| call.contains("getdents64("));
        batches.count()
    };
    let started = Instant::now();
    while batches() == 0 {
        assert!(started.elapsed() < PATIENCE, "nothing is listed");
    }
    server.send(&cancel(1));
    // Its turn comes once the listing has gone.
    server.write("after.txt", "").value();
    assert!(server.close().is_empty());
    // All of it takes twice as many.
    assert!(batches() <= 4, "{} batches", batches());
}

/// A server that may take this long for a call and has just been told to
/// replace the `old` of `f.txt`. A write syncs the temporary first, and once
/// that is renamed the directory: this one of the two takes so many
/// milliseconds.
fn replacing(
    test: &str,
    root: &Root,
    timeout: &str,
    (sync, takes): (&str, u32),
) -> Option<(Server, Trace)> {
    let delay = format!("inject=fsync:delay_exit={takes}000:when={sync}");
    let (launch, trace) = traced(test, root, &["trace=fsync,seccomp", &delay])?;
    let mut server = launch.args(["--call-timeout", timeout]).start();
    let arguments = json!({"path": "f.txt", "content": "new"});
    server.send(&call(1, "write_text_file", arguments));
    Some((server, trace))
}

const TEMPORARY: &str = "1";
const DIRECTORY: &str = "2";

#[test]
fn a_write_that_is_not_done_in_time_changes_nothing() {
    let root = Root::new().file("f.txt", "old");
    let test = "a_write_that_is_not_done_in_time_changes_nothing";
    let Some((mut server, _)) = replacing(test, &root, "2s", (TEMPORARY, 3_000)) else {
        return;
    };
    Answer(server.answer(1)).refused_naming(&["--call-timeout"]);
    assert_eq!(
        (root.read("f.txt"), root.names()),
        (b"old".to_vec(), vec!["f.txt".to_owned()])
    );
    assert_eq!(server.read("f.txt"), "old");
    server.close();
}

#[test]
fn a_write_that_is_not_done_in_time_leaves_no_directory_it_made() {
    let root = Root::new();
    let test = "a_write_that_is_not_done_in_time_leaves_no_directory_it_made";
    let delay = "inject=fsync:delay_exit=3000000:when=1";
    let Some((launch, _)) = traced(test, &root, &["trace=fsync,seccomp", delay]) else {
        return;
    };
    let arguments = ["--toolset", "workspace", "--call-timeout", "2s"];
    let mut server = launch.args(arguments).start();
    let write = json!({"path": "a/b/c/f.txt", "content": "new"});
    let late = server.call("write_file", write);
    late.refused_naming(&["--call-timeout"]);
    assert_eq!(root.names(), Vec::<String>::new());
    // What is done in time stays.
    let made = json!({"path": "a/b"});
    server.call("create_directory", made).value();
    server.close();
    assert!(root.at("a/b").is_dir());
}

#[test]
fn a_write_that_is_done_is_answered_past_its_time() {
    let root = Root::new().file("f.txt", "old");
    let test = "a_write_that_is_done_is_answered_past_its_time";
    let Some((mut server, trace)) = replacing(test, &root, "2s", (DIRECTORY, 3_000)) else {
        return;
    };
    assert_eq!(Answer(server.answer(1)).value()["bytes"], 3);
    assert_eq!(
        (root.read("f.txt"), root.names()),
        (b"new".to_vec(), vec!["f.txt".to_owned()])
    );
    server.close();
    let late = trace.after_lockdown();
    assert!(late.iter().any(|call| call.contains("DELAYED")), "{late:?}");
}

#[test]
fn a_write_that_is_done_is_answered_also_by_a_server_that_is_told_to_end() {
    let root = Root::new().file("f.txt", "old");
    let test = "a_write_that_is_done_is_answered_also_by_a_server_that_is_told_to_end";
    let Some((mut server, trace)) = replacing(test, &root, "30s", (DIRECTORY, 200)) else {
        return;
    };
    let started = Instant::now();
    while root.read("f.txt") != b"new" {
        assert!(started.elapsed() < PATIENCE, "nothing is written");
    }
    trace.signal(Signal::TERM);
    assert_eq!(Answer(server.answer(1)).value()["bytes"], 3);
    server.close();
}
