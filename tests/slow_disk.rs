//! A disk that takes its time: strace makes chosen system calls take long, so
//! that a call is past its time at a place that is known.

use serde_json::json;

use crate::harness::{Answer, Root, call, traced};

#[test]
fn a_listing_ends_in_time_however_much_of_it_is_hidden() {
    const HIDDEN: usize = 8_000;
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
fn a_write_that_is_done_is_answered_past_its_time() {
    let root = Root::new().file("f.txt", "old");
    // A thread syncs the temporary first, and the directory once it is renamed.
    let rules = [
        "trace=fsync,seccomp",
        "inject=fsync:delay_exit=3000000:when=2",
    ];
    let test = "a_write_that_is_done_is_answered_past_its_time";
    let Some((launch, trace)) = traced(test, &root, &rules) else {
        return;
    };
    let mut server = launch.args(["--call-timeout", "2s"]).start();
    let arguments = json!({"path": "f.txt", "content": "new"});
    let written = Answer(server.exchange(&call(1, "write_text_file", arguments)));
    assert_eq!(written.value()["bytes"], 3);
    assert_eq!(root.read("f.txt"), b"new");
    assert_eq!(root.names(), ["f.txt"]);
    server.close();
    let late = trace.after_lockdown();
    assert!(late.iter().any(|call| call.contains("DELAYED")), "{late:?}");
}
