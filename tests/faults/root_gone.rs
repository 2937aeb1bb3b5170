//! The root itself removed or replaced while it is served. What is served is
//! the directory that was opened at the start, whatever has its name later.

use std::fs;

use serde_json::json;

use super::every_call;
use crate::harness::{Launch, Root, Server};

const GONE: &str =
    "the root of this server was removed while it was served; the server has to be started again";

fn serve(root: &Root) -> Server {
    let mut server = Launch::new(root).args(["--toolset", "all"]).start();
    server.alive();
    server
}

fn filled() -> Root {
    Root::new()
        .file("f.txt", "old")
        .file("d/f.txt", "old needle")
        .file("d/e/g.txt", "needle")
}

#[test]
fn a_root_that_is_removed_is_said_by_every_tool() {
    let root = filled();
    let mut server = serve(&root);
    fs::remove_dir_all(root.path()).unwrap();
    for (tool, arguments) in every_call() {
        server.call(tool, arguments).refused(GONE);
    }
    for tool in ["list_directory", "search_files", "search_text"] {
        let arguments = match tool {
            "list_directory" => json!({}),
            _ => json!({"query": "f"}),
        };
        server.call(tool, arguments).refused(GONE);
    }
    // Another directory of the name is not the one that was to be served.
    root.write("f.txt", "another root");
    server
        .call("read_text_file", json!({"path": "f.txt"}))
        .refused(GONE);
    server.write("f.txt", "new").refused(GONE);
    assert_eq!(root.read("f.txt"), b"another root");
    server.close();
    let mut next = serve(&root);
    assert_eq!(next.read("f.txt"), "another root");
    next.close();
}

#[test]
fn a_root_that_is_moved_away_is_served_where_it_is() {
    let root = filled();
    let mut server = serve(&root);
    let moved = root.above().join("moved");
    fs::rename(root.path(), &moved).unwrap();
    root.write("d/f.txt", "another needle");
    let others = root.read("d/f.txt");
    for (tool, arguments) in every_call() {
        let answer = server.call(tool, arguments);
        answer.said();
        assert!(!answer.0.line.contains("another"), "{}", answer.0.line);
    }
    assert_eq!(fs::read(moved.join("f.txt")).unwrap(), b"new");
    assert!(!moved.join("d").exists());
    assert_eq!(
        (root.names(), root.read("d/f.txt")),
        (vec!["d".to_owned()], others)
    );
    server.close();
}
