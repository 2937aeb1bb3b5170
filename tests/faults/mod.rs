//! What happens to the disk, the root and the process while it serves: each is
//! told in one clear line, nothing is half-written, and once it is over all
//! goes on as before. What only a failing disk does, tests of the host inject.

#[cfg(target_os = "linux")]
mod limits;
mod mounts;
mod permissions;
mod root_gone;

use serde_json::{Value, json};

/// A call of every tool that looks below the top level of the root, where
/// `d/f.txt` and `d/e/g.txt` are.
fn every_call() -> Vec<(&'static str, Value)> {
    vec![
        ("list_directory", json!({"path": "d"})),
        ("search_files", json!({"query": "f"})),
        ("search_text", json!({"query": "needle"})),
        ("read_text_file", json!({"path": "d/f.txt"})),
        (
            "write_text_file",
            json!({"path": "f.txt", "content": "new"}),
        ),
        ("read_file", json!({"path": "d/f.txt"})),
        (
            "write_file",
            json!({"path": "d/f.txt", "content": "new needle"}),
        ),
        ("list_files", json!({})),
        (
            "search_in_file",
            json!({"path": "d", "search_string": "needle"}),
        ),
        ("create_directory", json!({"path": "d/made"})),
        ("delete_file", json!({"path": "d/f.txt"})),
        ("delete_directory", json!({"path": "d", "force": true})),
    ]
}
