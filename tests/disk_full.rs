//! A disk that is full: one clear refusal, the old content whole, nothing left
//! of what did not fit, and everything as before once there is room.

use std::process::Command;

use serde_json::json;

use crate::harness::{Launch, Root, Server};

const FULL: &str = "the disk is full or its quota used up; nothing was changed";

/// A server of every tool whose root is a disk of 256 KiB that only it sees;
/// says so where this process may not mount one.
fn small_disk(root: &Root) -> Option<Server> {
    const MOUNT: &str = r#"mount -t tmpfs -o size=256k none "$ROOT""#;
    let unshare = |script: &str| {
        let mut command = Command::new("unshare");
        command
            .args(["-m", "sh", "-c", script])
            .env("ROOT", root.path());
        command
    };
    let may = unshare(MOUNT).output();
    if !may.is_ok_and(|output| output.status.success()) {
        eprintln!("SKIPPED: this process may not mount a filesystem");
        return None;
    }
    let script = format!(r#"{MOUNT} && exec "$0" "$@""#);
    let launch = Launch::under(unshare(&script), root);
    Some(launch.args(["--toolset", "all"]).start())
}

#[test]
fn a_full_disk_is_named_and_loses_nothing() {
    let root = Root::new();
    let Some(mut server) = small_disk(&root) else {
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
