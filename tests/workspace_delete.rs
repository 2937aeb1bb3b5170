//! delete_file and delete_directory: what they remove, what they leave, and
//! that nothing goes before everything may.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;

use serde_json::{Value, json};

use crate::harness::{Launch, Root, Server, ordinary, sha256};

const NOT_RELATIVE: &str = "paths are relative to the root";
const MISSING: &str = "path does not exist in this root";
const SPECIAL: &str =
    "path is a link, pipe, socket or device; it is removed only with the directory that it is in";
const HIDDEN: &str = "the rules of this root hide something in the directory, or a name in it cannot be spelled; nothing was removed";

fn start(root: &Root) -> Server {
    Launch::workspace(root).start()
}

fn force(server: &mut Server, path: &str) -> crate::harness::Answer {
    server.call("delete_directory", json!({"path": path, "force": true}))
}

#[test]
fn the_root_is_never_removed_in_any_spelling() {
    let root = Root::new().file("a.txt", "x");
    let before = root.census();
    let mut server = start(&root);
    for path in [".", "./", "", "/"] {
        force(&mut server, path)
            .refused("the root itself is never removed; name a directory in it");
        server
            .call("delete_directory", json!({"path": path}))
            .refusal();
        server
            .call("delete_file", json!({"path": path}))
            .refused("path is a directory, not a file");
    }
    for path in [
        "./.", "x/..", "..", "a.txt/..", "//", "../root", "a\\b", "C:/",
    ] {
        force(&mut server, path).refused_naming(&[NOT_RELATIVE]);
        server
            .call("delete_file", json!({"path": path}))
            .refused_naming(&[NOT_RELATIVE]);
    }
    server
        .call("delete_directory", json!({"force": true}))
        .refused("path is missing; it is required");
    server
        .call("delete_directory", json!({"path": null, "force": true}))
        .refused("path is missing; it is required");
    server.close();
    assert_eq!(root.census(), before);
}

#[test]
fn a_file_is_deleted_and_nothing_else_is() {
    let root = Root::new()
        .file("d/f.txt", "x")
        .file("g.txt", "y")
        .dir("d/empty")
        .link("link", "../outside/secret.txt")
        .link("dangling", "nothing")
        .fifo("d/pipe")
        .socket("socket");
    let before = root.contents();
    let mut server = start(&root);
    for (path, text) in [
        ("d", "path is a directory, not a file"),
        ("d/empty/", "path is a directory, not a file"),
        ("link", SPECIAL),
        ("dangling", SPECIAL),
        ("d/pipe", SPECIAL),
        ("socket", SPECIAL),
        ("nope", MISSING),
        ("nope/nope", MISSING),
        ("g.txt/nope", MISSING),
        ("link/nope", MISSING),
    ] {
        server
            .call("delete_file", json!({"path": path}))
            .refused(text);
    }
    assert_eq!(root.contents(), before);
    let gone = server.call("delete_file", json!({"path": "d/f.txt/"}));
    assert_eq!(gone.value(), &json!({"path": "d/f.txt", "removed": 1}));
    assert_eq!(gone.said(), "Deleted d/f.txt");
    assert!(!root.at("d/f.txt").exists());
    server
        .call("delete_file", json!({"path": "d/f.txt"}))
        .refused(MISSING);
    server.close();
}

#[test]
fn if_hash_guards_what_is_deleted() {
    let root = Root::new().file("d/f.txt", "one");
    let mut server = start(&root);
    let mut delete =
        |hash: Value| server.call("delete_file", json!({"path": "d/f.txt", "if_hash": hash}));
    delete(json!(sha256("two"))).refused_naming(&["does not have if_hash"]);
    for bad in [json!("absent"), json!(""), json!("md5:00")] {
        delete(bad).refused_naming(&["if_hash must be a content_hash"]);
    }
    delete(json!(7)).refused("if_hash must be a string");
    assert_eq!(root.read("d/f.txt"), b"one");
    delete(json!(sha256("one"))).value();
    delete(json!(sha256("one"))).refused(MISSING);
    server.close();
    assert_eq!(root.names(), ["d"]);
}

#[test]
fn an_empty_directory_goes_and_another_one_only_by_force() {
    let root = Root::new()
        .dir("e1")
        .dir("e2")
        .dir("d/e3")
        .file("full/f", "x")
        .file("file", "x")
        .link("link", "full");
    let mut server = start(&root);
    let mut delete = |path: &str| server.call("delete_directory", json!({"path": path}));
    for path in ["e1/", "e2//", "d/e3"] {
        let gone = delete(path);
        assert_eq!(gone.value()["removed"], 1);
        assert_eq!(
            gone.said(),
            format!("Deleted directory {}", path.trim_end_matches('/'))
        );
    }
    delete("full").refused(
        "the directory is not empty; nothing was removed (force removes it with all it holds)",
    );
    delete("file").refused("path is a file, not a directory");
    delete("link").refused(SPECIAL);
    delete("nope").refused(MISSING);
    for bad in [json!("true"), json!(1), json!("yes")] {
        server
            .call("delete_directory", json!({"path": "full", "force": bad}))
            .refused("force must be true or false, as a JSON boolean");
    }
    for path in ["link", "link/f", "file"] {
        force(&mut server, path).refusal();
    }
    assert_eq!(root.names(), ["d", "file", "full", "link"]);
    let gone = force(&mut server, "full");
    assert_eq!(gone.value(), &json!({"path": "full", "removed": 2}));
    assert_eq!(gone.said(), "Deleted directory full (2 entries in all)");
    assert_eq!(root.names(), ["d", "file", "link"]);
    server.close();
}

#[test]
fn links_and_special_files_go_as_entries_and_what_they_point_to_stays() {
    let root = Root::new()
        .file("keep/f.txt", "kept")
        .file("a/t.txt", "x")
        .link("loop", ".")
        .link("a/up", "..")
        .link("a/keep", "../keep")
        .link("a/b/out", "../../../outside")
        .link("a/b/secret", "../../../outside/secret.txt")
        .link("a/absolute", "/")
        .link("a/dangling", "nothing")
        .fifo("a/b/pipe")
        .socket("a/s");
    let outside = fs::read(root.outside("secret.txt")).unwrap();
    let mut server = start(&root);
    let gone = force(&mut server, "a");
    assert_eq!(gone.value(), &json!({"path": "a", "removed": 11}));
    assert_eq!(root.names(), ["keep", "loop"]);
    assert_eq!(root.read("keep/f.txt"), b"kept");
    assert_eq!(fs::read(root.outside("secret.txt")).unwrap(), outside);
    force(&mut server, "loop/keep").refused(MISSING);
    assert_eq!(root.read("keep/f.txt"), b"kept");
    server.close();
}

#[test]
fn a_tree_that_holds_something_hidden_is_left_whole() {
    let root = Root::new()
        .file("a/1.txt", "x")
        .file("a/z/deep/2.txt", "x")
        .file("a/m/secret.key", "x")
        .file("free/1.txt", "x");
    let before = root.census();
    let mut server = Launch::workspace(&root).exclude(&["**/*.key"]).start();
    force(&mut server, "a").refused(HIDDEN);
    assert_eq!(root.census(), before);
    // What is empty but for the hidden is not empty.
    server
        .call("delete_directory", json!({"path": "a/m"}))
        .refused_naming(&["not empty"]);
    force(&mut server, "a/m").refused(HIDDEN);
    assert_eq!(root.census(), before);
    force(&mut server, "a/z").value();
    force(&mut server, "free").value();
    server.close();
    assert_eq!(root.names(), ["a"]);
}

#[test]
fn what_only_includes_leave_out_is_hidden_too() {
    let root = Root::new().file("a/1.txt", "x").file("a/2.md", "x");
    let before = root.census();
    let mut server = Launch::workspace(&root).include(&["**/*.txt"]).start();
    force(&mut server, "a").refused(HIDDEN);
    assert_eq!(root.census(), before);
    server.close();
}

#[test]
fn blocked_names_keep_their_directory() {
    let root = Root::new().file("a/.env", "x").file("a/b/1.txt", "x");
    let before = root.census();
    let mut server = start(&root);
    force(&mut server, "a").refused(HIDDEN);
    assert_eq!(root.census(), before);
    server.close();
    let mut server = Launch::workspace(&root).args(["--allow-blocked"]).start();
    force(&mut server, "a").value();
    assert_eq!(root.names(), [""; 0]);
    server.close();
}

#[test]
fn names_that_no_client_can_spell_keep_their_directory() {
    for name in [&b"not-\xff-utf8"[..], b"back\\slash"] {
        for place in ["a", "a/b/c"] {
            let root = Root::new().file("a/1.txt", "x").dir("a/b/c");
            fs::write(root.at(place).join(OsStr::from_bytes(name)), "x").unwrap();
            let before = root.census();
            let mut server = start(&root);
            force(&mut server, "a").refused(HIDDEN);
            server.close();
            assert_eq!(root.census(), before);
        }
    }
}

#[test]
fn hidden_paths_are_refused_whether_they_exist_or_not() {
    let root = Root::new().file("s/f", "x").dir("s/d");
    let before = root.census();
    let mut server = Launch::workspace(&root).exclude(&["s/**"]).start();
    let hidden = "path is hidden by an exclude rule of this root";
    for path in ["s/f", "s/d", "s/nope"] {
        server
            .call("delete_file", json!({"path": path}))
            .refused(hidden);
        force(&mut server, path).refused(hidden);
        server
            .call("delete_directory", json!({"path": path}))
            .refused(hidden);
    }
    server.close();
    assert_eq!(root.census(), before);
}

#[test]
fn bounds_are_kept_before_anything_is_removed() {
    let root = Root::new();
    for name in 0..30 {
        root.write(&format!("wide/{name}"), "x");
    }
    root.write("deep/1/2/3/4/f", "x");
    let before = root.census();
    let mut server = Launch::workspace(&root)
        .args(["--max-entries", "29", "--max-depth", "3"])
        .start();
    force(&mut server, "wide").refused_naming(&["29 entries", "--max-entries"]);
    force(&mut server, "deep").refused_naming(&["3 deep", "--max-depth"]);
    assert_eq!(root.census(), before);
    force(&mut server, "deep/1").value();
    server.close();
}

#[test]
fn what_the_system_denies_ends_it_and_is_said() {
    const NAME: &str = "what_the_system_denies_ends_it_and_is_said";
    let root = Root::new().dir("a/locked").file("a/locked/f", "x").dir("b");
    let Some(launch) = ordinary(NAME, &root) else {
        return;
    };
    if crate::harness::superuser(NAME) {
        for path in ["a", "b"] {
            let (user, group) = (
                rustix::fs::Uid::from_raw(crate::harness::NOBODY),
                rustix::fs::Gid::from_raw(crate::harness::NOBODY),
            );
            rustix::fs::chown(root.at(path), Some(user), Some(group)).unwrap();
        }
    }
    root.chmod("a/locked", 0o555);
    for name in 0..20 {
        root.write(&format!("a/{name}"), "x");
    }
    let mut server = launch.args(["--toolset", "workspace"]).start();
    let refusal = force(&mut server, "a");
    let text = refusal.refusal();
    let left = fs::read_dir(root.at("a")).unwrap().count() - 1;
    let expected = match 20 - left {
        0 => "the operating system does not allow this server to remove it; nothing was removed"
            .to_owned(),
        gone => format!(
            "not all of it is removed: {gone} entries were, then the operating system did not allow the next; call again to go on"
        ),
    };
    assert_eq!(text, expected);
    assert!(root.at("a/locked/f").exists());
    root.chmod("a/locked", 0o777);
    force(&mut server, "a").value();
    // A directory that cannot be looked into is not removed unseen.
    root.chmod("b", 0o000);
    force(&mut server, "b").refused_naming(&["does not allow", "nothing was removed"]);
    server
        .call("delete_directory", json!({"path": "b"}))
        .value();
    assert_eq!(root.names(), [""; 0]);
    server.close();
}
