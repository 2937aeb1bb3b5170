//! What the audit's file goes through while the server runs: it is copied and
//! truncated, written to by others, and its lines say of a write what came of it.

use std::fs::{self, File};
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::harness::{Launch, Root, Server, call};

/// A server with an audit, and the audit's file.
fn audited(root: &Root, arguments: &[&str]) -> (Server, PathBuf) {
    let file = root.above().join("audit");
    let audit = [std::ffi::OsStr::new("--audit"), file.as_os_str()];
    let launch = Launch::new(root)
        .args(audit)
        .args(arguments.iter().copied());
    (launch.start(), file)
}

fn ids(text: &str) -> Vec<Value> {
    let id = |line: &str| serde_json::from_str::<Value>(line).unwrap()["id"].clone();
    text.lines().map(id).collect()
}

/// Calls one after the other, each of which has its line once the next is answered: they write.
fn write(server: &mut Server, ids: std::ops::Range<u64>) {
    for id in ids {
        let arguments = json!({"path": "f.txt", "content": "content"});
        server
            .exchange(&call(id, "write_text_file", arguments))
            .result();
    }
}

#[test]
fn a_file_that_is_copied_and_truncated_goes_on_from_its_beginning() {
    let root = Root::new();
    let (mut server, file) = audited(&root, &[]);
    let mut all = Vec::new();
    for round in 0..3 {
        write(&mut server, round * 100..(round + 1) * 100);
        let copy = fs::read_to_string(&file).unwrap();
        // The last line may still be on its way, and is then the first of the next part.
        assert!(copy.len() > 5000 && copy.ends_with('\n') && copy.starts_with('{'));
        all.extend(ids(&copy));
        File::options()
            .write(true)
            .open(&file)
            .unwrap()
            .set_len(0)
            .unwrap();
    }
    write(&mut server, 300..301);
    server.close();
    all.extend(ids(&fs::read_to_string(&file).unwrap()));
    // What was written between the copy and the truncation is the price of it: at most one line each.
    assert!(
        all.len() >= 298 && all.is_sorted_by_key(|id| id.as_u64()),
        "{all:?}"
    );
}

#[test]
fn lines_of_two_servers_in_one_file_stay_whole() {
    let root = Root::new();
    let (mut one, file) = audited(&root, &[]);
    let (mut two, _) = audited(&root, &[]);
    let list = |id| call(id, "list_directory", json!({}));
    one.send_all(&(0..500).map(list).collect::<Vec<_>>());
    two.send_all(&(500..1000).map(list).collect::<Vec<_>>());
    one.close();
    two.close();
    let mut ids: Vec<u64> = ids(&fs::read_to_string(&file).unwrap())
        .iter()
        .filter_map(Value::as_u64)
        .collect();
    ids.sort_unstable();
    assert_eq!(ids, (0..1000).collect::<Vec<_>>());
}

#[test]
fn a_write_that_changed_nothing_has_moved_no_bytes() {
    let root = Root::new().dir("hidden").dir("shown").file("f.txt", "old");
    let (mut server, file) = audited(&root, &["--exclude", "hidden/", "--write-mode", "replace"]);
    for path in ["hidden", "shown"] {
        server.write(path, "content").refusal();
    }
    server.write_if("f.txt", "content", "absent").refusal();
    server.write("f.txt", "content").value();
    server.close();
    let text = fs::read_to_string(&file).unwrap();
    let mut bytes: Vec<(Value, Value)> = text
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .map(|line| (line["id"].clone(), line["bytes"].clone()))
        .collect();
    bytes.sort_by_key(|(id, _)| id.to_string());
    let bytes: Vec<Value> = bytes.into_iter().map(|(_, bytes)| bytes).collect();
    assert_eq!(bytes, [0, 0, 0, 7], "{text}");
}
