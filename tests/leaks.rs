//! What a call takes it gives back, whether it succeeds, is refused, or is
//! stopped: descriptors and memory stay where they were.

use serde_json::json;

use crate::harness::{Launch, Root, Server};

/// Calls half of which fail, at whatever point they do.
fn calls(server: &mut Server, rounds: usize) {
    for round in 0..rounds {
        for (tool, arguments) in [
            ("list_directory", json!({"path": "dir"})),
            ("list_directory", json!({"path": "dir/f.txt"})),
            ("read_text_file", json!({"path": "dir/deep/f.txt"})),
            ("read_text_file", json!({"path": "binary"})),
            ("search_text", json!({"query": "inside"})),
            ("search_text", json!({"query": "x", "cursor": "no"})),
            ("search_files", json!({"query": "f"})),
            ("search_files", json!({"query": "f", "limit": 0})),
            (
                "write_text_file",
                json!({"path": "new.txt", "content": format!("{round}")}),
            ),
            (
                "write_text_file",
                json!({"path": "new.txt", "content": "x", "if_hash": format!("sha256:{}", "0".repeat(64))}),
            ),
        ] {
            server.call(tool, arguments);
        }
    }
}

fn world() -> Root {
    Root::new()
        .file("dir/f.txt", "inside")
        .file("dir/deep/f.txt", "inside")
        .file("binary", b"\xff\xfe")
}

/// Runs calls until everything that is kept is there, then many more.
fn stays_flat(rounds: usize) {
    let root = world();
    let mut server = Server::new(&root);
    calls(&mut server, 10);
    let Some(before) = server.descriptors() else {
        eprintln!("SKIPPED: this system does not say which descriptors a process has");
        return;
    };
    calls(&mut server, rounds);
    assert_eq!(server.descriptors(), Some(before));
    server.stayed_under(48 << 20);
    server.close();
}

#[test]
fn descriptors_and_memory_stay_where_they_were() {
    stays_flat(60);
}

/// 10,000 calls: `cargo test --test e2e -- --ignored leaks`.
#[test]
#[ignore = "takes a while"]
fn descriptors_and_memory_stay_where_they_were_for_long() {
    stays_flat(1_000);
}

#[test]
fn a_call_that_was_stopped_leaves_nothing_open() {
    let root = world().haystack();
    let mut server = Launch::new(&root)
        .args(["--call-timeout", "50ms", "--max-scan-bytes", "1024GiB"])
        .start();
    server.call("list_directory", json!({"path": "dir"}));
    let before = server.descriptors();
    for _ in 0..5 {
        server
            .call("search_text", json!({"query": "no such needle"}))
            .refused("the call took longer than 50ms and was stopped (--call-timeout); ask for less at a time");
    }
    assert_eq!(server.descriptors(), before);
    server.close();
}
