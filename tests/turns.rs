//! Writers of one root take turns: one that finds somebody else writing for
//! long is told so, has changed nothing, and may try again.

use std::fs::File;

use rustix::fs::{FlockOperation, flock};
use serde_json::json;

use crate::harness::{Launch, Root};

const BUSY: &str = "another process is writing to this root; nothing was changed, try again";

#[test]
fn a_write_while_another_process_writes_is_told_to_try_again() {
    for (mode, name) in [("replace", "old.txt"), ("create-new", "new.txt")] {
        let root = Root::new().file("old.txt", "old");
        let mut server = Launch::new(&root).args(["--write-mode", mode]).start();
        let arguments = json!({"path": name, "content": "new"});
        let other = File::open(root.path()).unwrap();
        flock(&other, FlockOperation::NonBlockingLockExclusive).unwrap();
        server
            .call("write_text_file", arguments.clone())
            .refused(BUSY);
        assert_eq!(root.names(), ["old.txt"]);
        assert_eq!(root.read("old.txt"), b"old");
        // Reading takes no turn.
        assert_eq!(server.read("old.txt"), "old");
        drop(other);
        server.call("write_text_file", arguments).value();
        assert_eq!(root.read(name), b"new");
        server.close();
    }
}
