//! A root on a disk of its own, which is made read-only and taken away while
//! it is served.

use serde_json::json;

use crate::harness::{Disk, Root};

const READ_ONLY: &str = "this root is read-only";

#[test]
fn a_disk_that_becomes_read_only_is_said_and_is_written_again_later() {
    let root = Root::new();
    let Some((mut server, disk)) = Disk::serve(&root) else {
        return;
    };
    let write = json!({"path": "d/f.txt", "content": "old"});
    server.call("write_file", write.clone()).value();
    disk.remount("ro");
    for (tool, arguments) in [
        (
            "write_text_file",
            json!({"path": "f.txt", "content": "new"}),
        ),
        (
            "write_text_file",
            json!({"path": "f.txt", "content": "new", "if_hash": "absent"}),
        ),
        ("write_file", json!({"path": "d/f.txt", "content": "new"})),
        (
            "write_file",
            json!({"path": "made/for/it.txt", "content": "new"}),
        ),
        ("create_directory", json!({"path": "made"})),
        ("delete_file", json!({"path": "d/f.txt"})),
        ("delete_directory", json!({"path": "d", "force": true})),
    ] {
        server.call(tool, arguments).refused(READ_ONLY);
    }
    let listed = server.call("list_files", json!({}));
    assert_eq!(listed.value()["files"], json!(["d/f.txt"]));
    assert_eq!(listed.value()["directories"], json!(["d"]));
    assert_eq!(server.read("d/f.txt"), "old");
    disk.remount("rw");
    assert_eq!(server.call("write_file", write).value()["replaced"], true);
    server
        .call("delete_directory", json!({"path": "d", "force": true}))
        .value();
    server.close();
}

#[test]
fn a_disk_that_is_unmounted_is_served_for_as_long_as_it_is_held() {
    let root = Root::new().file("under.txt", "what the disk was mounted over");
    let Some((mut server, disk)) = Disk::serve(&root) else {
        return;
    };
    server.write("f.txt", "old").value();
    disk.unmount();
    assert_eq!(server.all_paths("list_directory", json!({})), ["f.txt"]);
    server.write("f.txt", "new").value();
    server
        .call("write_file", json!({"path": "d/g.txt", "content": "new"}))
        .value();
    assert_eq!(server.read("f.txt"), "new");
    server
        .call("delete_directory", json!({"path": "d", "force": true}))
        .value();
    server.close();
    assert_eq!(root.names(), ["under.txt"]);
}
