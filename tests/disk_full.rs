//! A disk that is full: one clear refusal, the old content whole, nothing left
//! of what did not fit, and everything as before once there is room.

use serde_json::json;

use crate::harness::{Disk, Root};

const FULL: &str = "the disk is full or its quota used up; nothing was changed";

#[test]
fn a_full_disk_is_named_and_loses_nothing() {
    let root = Root::new();
    let Some((mut server, _)) = Disk::serve(&root) else {
        return;
    };
    let kib = |count: usize| "x".repeat(count << 10);
    for (tool, path) in [
        ("write_text_file", "core.txt"),
        ("write_file", "d/e/workspace.txt"),
    ] {
        server
            .call(tool, json!({"path": path, "content": "old"}))
            .value();
        let mut write =
            |content: String| server.call(tool, json!({"path": path, "content": content}));
        write(kib(1024)).refused(FULL);
        // Would anything of it be left, this did not fit.
        write(kib(200)).value();
        // The old content stays until the new one is complete, so the two are too much.
        write(kib(201)).refused(FULL);
        write("new".to_owned()).value();
        let read = server.call("read_file", json!({"path": path}));
        assert!(read.said().ends_with("\n\nnew"), "{}", read.said());
    }
    // Directories that were made for a file go with it.
    let arguments = json!({"path": "made/for/it.txt", "content": kib(1024)});
    server.call("write_file", arguments).refused(FULL);
    let listed = server.call("list_files", json!({}));
    assert_eq!(
        listed.value()["files"],
        json!(["core.txt", "d/e/workspace.txt"])
    );
    assert_eq!(listed.value()["directories"], json!(["d", "d/e"]));
    server.close();
}
