//! The temporaries of a replacement: never served, never left, and removed at
//! start unless a live writer holds them.

use std::fs::File;
use std::time::Instant;

use rustix::fs::{FlockOperation, flock};
use rustix::process::Signal;
use serde_json::json;

use crate::harness::{Launch, PATIENCE, Root, Server, call};

/// The name of a temporary.
fn temporary(digit: &str) -> String {
    format!(".preopen-mcp-{}.tmp", digit.repeat(32))
}

/// The temporaries in the served directory itself.
fn temporaries(root: &Root) -> Vec<String> {
    let mut names = root.names();
    names.retain(|name| name.starts_with(".preopen-mcp-"));
    names
}

/// Holds that a server lists, finds, searches and reads `a.txt` and nothing
/// else, whatever `hidden` holds that `a.txt` holds too.
fn serves_a_alone(server: &mut Server, hidden: &str) {
    let nothing: [&str; 0] = [];
    assert_eq!(server.all_paths("list_directory", json!({})), ["a.txt"]);
    assert_eq!(
        server.all_paths("search_files", json!({"query": "preopen"})),
        nothing
    );
    assert_eq!(
        server.all_paths("search_text", json!({"query": "text"})),
        ["a.txt"]
    );
    for (tool, arguments) in [
        ("read_text_file", json!({"path": hidden})),
        ("search_text", json!({"path": hidden, "query": "text"})),
        ("list_directory", json!({"path": hidden})),
    ] {
        server
            .call(tool, arguments)
            .refused("path is not served by this root");
    }
}

/// Kills a server in the middle of replacing `a.txt`; the temporary it leaves.
fn killed_in_a_write(root: &Root) -> String {
    let started = Instant::now();
    loop {
        let content = "text\n".repeat(1 << 20);
        root.write("a.txt", "old text");
        let mut server = Launch::new(root)
            .args(["--max-write-bytes", "8MiB"])
            .start();
        let arguments = json!({"path": "a.txt", "content": content});
        server.send(&call(1, "write_text_file", arguments));
        while temporaries(root).is_empty() && root.read("a.txt") == b"old text" {
            assert!(started.elapsed() < PATIENCE, "nothing was made");
        }
        server.stop(Signal::KILL);
        // Or it was done before the signal came.
        if let Some(name) = temporaries(root).pop() {
            return name;
        }
        assert!(started.elapsed() < PATIENCE, "no write was cut short");
    }
}

#[test]
fn what_a_killed_process_left_is_hidden_from_readers_and_swept_by_the_next_writer() {
    let root = Root::new();
    let left = killed_in_a_write(&root);
    // Renamed in full or not at all.
    assert_eq!(root.read("a.txt"), b"old text");
    let mut reader = Launch::new(&root).args(["--read-only"]).start();
    serves_a_alone(&mut reader, &left);
    reader.close();
    assert_eq!(temporaries(&root), [left.as_str()]);
    let mut writer = Server::new(&root);
    writer.alive();
    assert_eq!(root.names(), ["a.txt"]);
    serves_a_alone(&mut writer, &left);
    writer.write("a.txt", "new text").value();
    assert_eq!(root.names(), ["a.txt"]);
    writer.close();
}

#[test]
fn stale_temporaries_are_removed_at_start_unless_a_writer_holds_them() {
    let near = [
        ".preopen-mcp-0.tmp".to_owned(),
        temporary("g"),
        format!("x{}", temporary("3")),
    ];
    let root = Root::new()
        .file(temporary("a"), "stale")
        .file(temporary("b"), "held")
        .dir(&temporary("c"));
    near.iter().for_each(|name| root.write(name, "kept"));
    let held = File::open(root.at(&temporary("b"))).unwrap();
    flock(&held, FlockOperation::NonBlockingLockExclusive).unwrap();
    let mut server = Server::new(&root);
    server.alive();
    let mut expected: Vec<String> = near.to_vec();
    expected.extend([temporary("b"), temporary("c")]);
    expected.sort();
    assert_eq!(root.names(), expected);
    server.close();
}

#[test]
fn temporaries_are_never_served() {
    let name = temporary("5");
    let root = Root::new().file("a.txt", "text");
    let mut server = Server::new(&root);
    server.alive();
    root.write(&name, "text of a write that is under way");
    serves_a_alone(&mut server, &name);
    server.close();
}
