//! write_text_file under a condition: the content that must be there
//! (`if_hash`), or that there must be no file (`absent`, `--write-mode create-new`).

use serde_json::json;

use crate::harness::{Launch, Root, Server, sha256};

/// A server that never overwrites.
fn create_new(root: &Root) -> Server {
    Launch::new(root)
        .args(["--write-mode", "create-new"])
        .start()
}

#[test]
fn if_hash_guards_the_content_that_was_read() {
    let root = Root::new().file("f.txt", "one");
    let mut server = Server::new(&root);
    let one = sha256("one");
    let two = server.write_if("f.txt", "two", one.as_str());
    assert_eq!(two.hash(), sha256("two"));
    server.write_if("f.txt", "three", one.as_str()).refusal();
    server.write_if("f.txt", "three", "absent").refusal();
    assert_eq!(root.read("f.txt"), b"two");
    root.write("f.txt", "from outside");
    server.write_if("f.txt", "three", two.hash()).refusal();
    assert_eq!(root.read("f.txt"), b"from outside");
    server.close();
}

#[test]
fn if_hash_absent_creates_only() {
    let root = Root::new();
    let mut server = Server::new(&root);
    server.write_if("f.txt", "x", "absent").value();
    server.write_if("f.txt", "x", "absent").refusal();
    let nothing = sha256("");
    server.write_if("g.txt", "x", nothing.as_str()).refusal();
    assert_eq!(root.names(), ["f.txt"]);
    server.close();
}

#[test]
fn an_if_hash_that_is_no_hash_is_refused_by_name() {
    let root = Root::new().file("f.txt", "old");
    let mut server = Server::new(&root);
    let arguments = |hash| json!({"path": "f.txt", "content": "x", "if_hash": hash});
    for bad in [
        json!(""),
        json!("sha256:xyz"),
        json!("md5:00"),
        json!(7),
        json!("ABSENT"),
    ] {
        server
            .call("write_text_file", arguments(bad))
            .refused_naming(&["if_hash"]);
    }
    assert_eq!(root.read("f.txt"), b"old");
    server
        .call("write_text_file", arguments(json!(null)))
        .value();
    server.close();
}

#[test]
fn a_keyed_hash_guards_a_write_too() {
    let root = Root::new().file("f.txt", "old");
    let mut server = Launch::new(&root)
        .args(["--content-hash", "hmac-sha256"])
        .start();
    let read = server.call("read_text_file", json!({"path": "f.txt"}));
    let written = server.write_if("f.txt", "new", read.hash());
    assert!(written.hash().starts_with("hmac-sha256:"));
    server.write_if("f.txt", "x", read.hash()).refusal();
    assert_eq!(root.read("f.txt"), b"new");
    server.close();
}

#[test]
fn create_new_never_overwrites() {
    let root = Root::new().file("f.txt", "old");
    let mut server = create_new(&root);
    server.write("f.txt", "x").refusal();
    server.write("g.txt", "x").value();
    server.write("g.txt", "y").refusal();
    assert_eq!(
        (root.read("f.txt"), root.read("g.txt")),
        (b"old".to_vec(), b"x".to_vec())
    );
    assert_eq!(root.names(), ["f.txt", "g.txt"]);
    server.close();
}

#[test]
fn whatever_has_the_name_is_left_where_a_file_must_be_new() {
    let root = Root::new()
        .file("file", "old")
        .dir("directory")
        .link("link", "../outside/secret.txt")
        .link("dangling", "nothing")
        .fifo("pipe")
        .socket("socket");
    let before = root.contents();
    for (mut server, condition, reason) in [
        (create_new(&root), None, "never overwrites"),
        (create_new(&root), Some("absent"), "never overwrites"),
        (Server::new(&root), Some("absent"), "absent"),
    ] {
        for name in root.names() {
            server
                .write_if(&name, "x", condition)
                .refused_naming(&["path exists", reason]);
        }
        server.close();
        assert_eq!(root.contents(), before);
    }
}

#[test]
fn a_present_file_that_is_too_large_to_read_is_not_hashed() {
    let (large, largest) = ("x".repeat(61), "x".repeat(60));
    let root = Root::new().file("f.txt", &large);
    let mut server = Launch::new(&root).args(["--max-file-bytes", "60"]).start();
    server
        .write_if("f.txt", "y", sha256(&large).as_str())
        .refused_naming(&["61", "60", "--max-file-bytes"]);
    assert_eq!(root.read("f.txt"), large.as_bytes());
    root.write("f.txt", &largest);
    server
        .write_if("f.txt", "y", sha256(&largest).as_str())
        .value();
    assert_eq!(
        (root.read("f.txt"), root.names()),
        (b"y".to_vec(), vec!["f.txt".to_owned()])
    );
    server.close();
}
