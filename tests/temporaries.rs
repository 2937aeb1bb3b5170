//! The temporaries of a replacement: never served, never left, and removed at
//! start unless a live writer holds them.

use std::fs::File;

use rustix::fs::{FlockOperation, flock};
use serde_json::json;

use crate::harness::{Root, Server};

#[test]
fn stale_temporaries_are_removed_at_start_unless_a_writer_holds_them() {
    let name = |digit: &str| format!(".preopen-mcp-{}.tmp", digit.repeat(32));
    let near = [
        ".preopen-mcp-0.tmp".to_owned(),
        format!(".preopen-mcp-{}.tmp", "g".repeat(32)),
        format!("x{}", name("3")),
    ];
    let root = Root::new()
        .file(name("a"), "stale")
        .file(name("b"), "held")
        .dir(&name("c"));
    near.iter().for_each(|name| root.write(name, "kept"));
    let held = File::open(root.at(&name("b"))).unwrap();
    flock(&held, FlockOperation::NonBlockingLockExclusive).unwrap();
    let mut server = Server::new(&root);
    server.alive();
    let mut expected: Vec<String> = near.to_vec();
    expected.extend([name("b"), name("c")]);
    expected.sort();
    assert_eq!(root.names(), expected);
    server.close();
}

#[test]
fn temporaries_are_never_served() {
    let name = format!(".preopen-mcp-{}.tmp", "5".repeat(32));
    let root = Root::new().file("a.txt", "text");
    let mut server = Server::new(&root);
    server.alive();
    root.write(&name, "text of a write that is under way");
    assert_eq!(server.all_paths("list_directory", json!({})), ["a.txt"]);
    assert_eq!(
        server.all_paths("search_files", json!({"query": "preopen"})),
        Vec::<String>::new()
    );
    assert_eq!(
        server.all_paths("search_text", json!({"query": "text"})),
        ["a.txt"]
    );
    server
        .call("read_text_file", json!({"path": name}))
        .refused("path is not served by this root");
    server.close();
}
