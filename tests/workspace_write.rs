//! write_file and create_directory: which paths they take, what they make on
//! the way, with which rights, and that nothing half-made is left.

use std::process::Command;

use serde_json::{Value, json};

use crate::harness::{Launch, Root, Server, ordinary, sha256};

const NOT_RELATIVE: &str = "paths are relative to the root";

fn start(root: &Root) -> Server {
    Launch::workspace(root).start()
}

macro_rules! refused_paths {
    ($($name:ident: $path:expr;)+) => {$(
        #[test]
        fn $name() {
            let root = Root::new().file("a/b/c.txt", "x");
            let before = root.census();
            let mut server = start(&root);
            for (tool, arguments) in [
                ("write_file", json!({"path": $path, "content": "x"})),
                ("create_directory", json!({"path": $path})),
            ] {
                server.call(tool, arguments).refused_naming(&[NOT_RELATIVE]);
            }
            server.close();
            assert_eq!(root.census(), before);
        }
    )+};
}

refused_paths! {
    a_parent_is_refused: "../new";
    a_sibling_whose_name_begins_alike_is_refused: "../root-evil/new";
    a_parent_behind_what_is_missing_is_refused: "no/../../new";
    a_parent_behind_what_is_there_is_refused: "a/../new";
    a_parent_at_the_end_is_refused: "a/..";
    a_dot_first_is_refused: "./new";
    a_dot_inside_is_refused: "a/./new";
    an_absolute_path_is_refused: "/tmp/new";
    a_backslash_is_refused: "a\\b";
    a_drive_is_refused: "C:\\notes\\a.md";
    a_drive_with_a_slash_is_refused: "C:/notes/a.md";
    a_nul_is_refused: "a\0b";
    a_path_of_too_many_bytes_is_refused: "a/".repeat(600) + "b";
}

#[test]
fn a_file_is_written_with_its_directories_and_the_answer_says_both() {
    let root = Root::new();
    let mut server = start(&root);
    let written = server.call("write_file", json!({"path": "a/b/c.txt", "content": "one"}));
    let hash = sha256("one");
    assert_eq!(
        written.value(),
        &json!({"path": "a/b/c.txt", "bytes": 3, "content_hash": hash, "replaced": false, "created_directories": 2})
    );
    assert_eq!(
        written.said(),
        format!("Created a/b/c.txt (3 bytes, {hash})\nCreated 2 directories for it too")
    );
    let again = server.call("write_file", json!({"path": "a/b/c.txt", "content": "two"}));
    assert_eq!(
        again.said(),
        format!("Replaced a/b/c.txt (3 bytes, {})", sha256("two"))
    );
    assert_eq!(again.value()["replaced"], true);
    assert_eq!(root.read("a/b/c.txt"), b"two");
    assert_eq!(root.names(), ["a"]);
    server.close();
}

#[test]
fn trailing_and_doubled_slashes_count_for_nothing() {
    let root = Root::new().file("f.txt", "old");
    let mut server = start(&root);
    for path in ["f.txt/", "a//b///c.txt"] {
        server
            .call("write_file", json!({"path": path, "content": "x"}))
            .value();
    }
    let made = server.call("create_directory", json!({"path": "n1//n2/"}));
    assert_eq!(made.value(), &json!({"path": "n1/n2", "created": 2}));
    assert_eq!(root.read("f.txt"), b"x");
    assert_eq!(root.read("a/b/c.txt"), b"x");
    assert!(root.at("n1/n2").is_dir());
    server.close();
}

#[test]
fn ordinary_names_of_every_kind_come_out_exactly() {
    let root = Root::new();
    let mut server = start(&root);
    for path in [
        "my dir/it's 100% #1 – café 🙂.txt",
        "-rf",
        "a b ",
        "...",
        "a\nb",
        "my_hosts_notes.md",
    ] {
        let written = server.call("write_file", json!({"path": path, "content": path}));
        assert_eq!(written.value()["path"], path);
        assert_eq!(root.read(path), path.as_bytes());
    }
    server.close();
}

#[test]
fn what_blocks_a_parent_is_named_and_nothing_is_made() {
    let root = Root::new()
        .file("a/b/c.txt", "x")
        .link("link", "a")
        .fifo("a/pipe");
    let before = root.contents();
    let mut server = start(&root);
    for (path, name) in [
        ("a/b/c.txt/d.txt", "`c.txt`"),
        ("a/b/c.txt/new/d.txt", "`c.txt`"),
        ("link/d.txt", "`link`"),
        ("a/pipe/new/d.txt", "`pipe`"),
    ] {
        for (tool, arguments) in [
            ("write_file", json!({"path": path, "content": "x"})),
            ("create_directory", json!({"path": path})),
        ] {
            server
                .call(tool, arguments)
                .refused_naming(&["in the way", name]);
        }
    }
    server
        .call("create_directory", json!({"path": "a/b/c.txt"}))
        .refused("a file or a link is in the way: `c.txt` in this path is not a directory");
    server
        .call("write_file", json!({"path": "a", "content": "x"}))
        .refused("path exists and is not a regular file; choose another name");
    server
        .call("write_file", json!({"path": "", "content": "x"}))
        .refused("path is a directory, not a file");
    server
        .call("write_file", json!({"path": "link", "content": "x"}))
        .refused("path exists and is not a regular file; choose another name");
    server.close();
    assert_eq!(root.contents(), before);
}

#[test]
fn a_directory_that_is_there_is_what_was_asked_for() {
    let root = Root::new().file("a/b/f", "");
    let before = root.census();
    let mut server = start(&root);
    let there = server.call("create_directory", json!({"path": "a/b"}));
    assert_eq!(there.value(), &json!({"path": "a/b", "created": 0}));
    assert_eq!(there.said(), "a/b is a directory already");
    for path in ["", ".", "./", "/"] {
        let there = server.call("create_directory", json!({"path": path}));
        assert_eq!(there.value(), &json!({"path": "", "created": 0}));
    }
    assert_eq!(root.census(), before);
    server.close();
}

#[test]
fn rules_are_named_before_anything_is_made() {
    let root = Root::new().file("keep/a.txt", "x");
    let before = root.census();
    let mut server = Launch::workspace(&root)
        .include(&["src/**", "keep/**"])
        .exclude(&["src/secret/**"])
        .start();
    for (tool, path, text) in [
        (
            "write_file",
            "src/secret/a/b.txt",
            "path is hidden by an exclude rule of this root",
        ),
        (
            "write_file",
            "other/a/b.txt",
            "no include rule of this root selects this path",
        ),
        (
            "create_directory",
            "src/secret/a",
            "path is hidden by an exclude rule of this root",
        ),
        (
            "create_directory",
            "other/a",
            "no include rule of this root selects this path",
        ),
    ] {
        let mut arguments = json!({"path": path});
        if tool == "write_file" {
            arguments["content"] = json!("x");
        }
        server.call(tool, arguments).refused(text);
    }
    assert_eq!(root.census(), before);
    server
        .call("write_file", json!({"path": "src/a/b.txt", "content": "x"}))
        .value();
    server.close();
    assert_eq!(root.names(), ["keep", "src"]);
}

#[test]
fn directories_that_were_made_go_again_when_the_write_fails() {
    const NAME: &str = "directories_that_were_made_go_again_when_the_write_fails";
    let root = Root::new();
    // The directory can be made and its file cannot: of that name, a longer one than disks take.
    let long = "x".repeat(256);
    let mut server = start(&root);
    for arguments in [
        json!({"path": format!("a/b/{long}"), "content": "x"}),
        json!({"path": format!("a/b/{long}"), "content": "x", "if_hash": "absent"}),
        json!({"path": format!("a/{long}/c"), "content": "x"}),
    ] {
        server.call("write_file", arguments).refusal();
    }
    server
        .call("create_directory", json!({"path": format!("a/b/{long}")}))
        .refusal();
    server.close();
    assert_eq!(root.names(), [""; 0], "{NAME}");
}

#[test]
fn a_root_that_cannot_be_written_has_the_temporary_where_the_file_goes() {
    const NAME: &str = "a_root_that_cannot_be_written_has_the_temporary_where_the_file_goes";
    let root = Root::new().dir("open").file("open/old.txt", "old");
    let Some(launch) = ordinary(NAME, &root) else {
        return;
    };
    for path in ["open", "open/old.txt"] {
        let (user, group) = (
            rustix::fs::Uid::from_raw(crate::harness::NOBODY),
            rustix::fs::Gid::from_raw(crate::harness::NOBODY),
        );
        if crate::harness::superuser(NAME) {
            rustix::fs::chown(root.at(path), Some(user), Some(group)).unwrap();
        }
    }
    root.chmod("", 0o555);
    let mut server = launch.args(["--toolset", "workspace"]).start();
    for (path, hash) in [
        ("open/a/b/new.txt", Value::Null),
        ("open/other.txt", json!("absent")),
        ("open/old.txt", json!(sha256("old"))),
    ] {
        server
            .call(
                "write_file",
                json!({"path": path, "content": "new", "if_hash": hash}),
            )
            .value();
        assert_eq!(root.read(path), b"new");
    }
    server
        .call("write_file", json!({"path": "top.txt", "content": "x"}))
        .refused("the operating system does not allow this server to write the path");
    server
        .call("write_file", json!({"path": "new/top.txt", "content": "x"}))
        .refusal();
    server.close();
    root.chmod("", 0o755);
    assert_eq!(root.names(), ["open"]);
    let mut names: Vec<_> = std::fs::read_dir(root.at("open"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    names.sort();
    assert_eq!(names, ["a", "old.txt", "other.txt"]);
}

/// A server whose root has another filesystem at `mounted`, which only it sees.
fn over_a_mount(root: &Root) -> Option<Server> {
    const MOUNT: &str = r#"mount -t tmpfs none "$MOUNTED" && exec "$0" "$@""#;
    let may = Command::new("unshare")
        .args(["-m", "sh", "-c", r#"mount -t tmpfs none "$MOUNTED""#])
        .env("MOUNTED", root.at("mounted"))
        .output();
    if !may.is_ok_and(|output| output.status.success()) {
        eprintln!("SKIPPED: this process may not mount a filesystem");
        return None;
    }
    let mut command = Command::new("unshare");
    command
        .args(["-m", "sh", "-c", MOUNT])
        .env("MOUNTED", root.at("mounted"));
    let launch = Launch::under(command, root).args(["--toolset", "workspace"]);
    Some(launch.start())
}

#[test]
fn another_filesystem_in_the_root_is_written_too() {
    let root = Root::new().dir("mounted");
    let Some(mut server) = over_a_mount(&root) else {
        return;
    };
    let mut write = |path: &str, content: &str, hash: Value| {
        server.call(
            "write_file",
            json!({"path": path, "content": content, "if_hash": hash}),
        )
    };
    let made = write("mounted/a/f", "one", Value::Null);
    assert_eq!(made.value()["created_directories"], 1);
    write("mounted/a/f", "two", json!(sha256("one"))).value();
    write("mounted/g", "new", json!("absent")).value();
    write("mounted/g", "x", json!("absent")).refused_naming(&["path exists"]);
    let gone = server.call(
        "delete_file",
        json!({"path": "mounted/a/f", "if_hash": sha256("two")}),
    );
    assert_eq!(gone.value()["removed"], 1);
    // Nothing but the file and the directory was left, and what is mounted stays.
    server
        .call("delete_directory", json!({"path": "mounted", "force": true}))
        .refused("not all of it is removed: 2 entries were, then the operating system had the next in use; call again to go on");
    server
        .call("delete_directory", json!({"path": "mounted"}))
        .refused("the operating system has it in use, such as for a mount; nothing was removed");
    server.close();
    assert_eq!(root.names(), ["mounted"]);
}

#[test]
fn what_is_new_has_the_rights_that_the_umask_leaves() {
    for (umask, file, directory) in [("022", 0o644, 0o755), ("077", 0o600, 0o700)] {
        let root = Root::new();
        let mut server = Launch::after(&format!("umask {umask}"), &root)
            .args(["--toolset", "workspace"])
            .start();
        for path in ["f", "d/e/f"] {
            server
                .call("write_file", json!({"path": path, "content": "x"}))
                .value();
            assert_eq!(root.mode(path), file);
        }
        server
            .call("create_directory", json!({"path": "n/m"}))
            .value();
        for path in ["d", "d/e", "n", "n/m"] {
            assert_eq!(root.mode(path), directory);
        }
        server.close();
    }
}

#[test]
fn annotations_of_the_writing_tools_tell_the_truth() {
    let root = Root::new();
    let mut server = start(&root);
    let tools = server.tools();
    for (name, destroys) in [
        ("write_file", true),
        ("create_directory", false),
        ("delete_file", true),
        ("delete_directory", true),
    ] {
        let tool = tools.iter().find(|tool| tool["name"] == name).expect(name);
        let hints = &tool["annotations"];
        assert_eq!(hints["readOnlyHint"], false, "{name}");
        assert_eq!(hints["destructiveHint"], destroys, "{name}");
        assert_eq!(hints["idempotentHint"], true, "{name}");
        assert_eq!(hints["openWorldHint"], false, "{name}");
    }
    server.close();
}

#[test]
fn read_only_has_no_writing_tool_and_changes_nothing() {
    let root = Root::new().file("d/f.txt", "old").dir("e");
    let before = root.census();
    let mut server = Launch::workspace(&root).args(["--read-only"]).start();
    for (name, arguments) in [
        ("write_file", json!({"path": "d/f.txt", "content": ""})),
        ("create_directory", json!({"path": "n"})),
        ("delete_file", json!({"path": "d/f.txt"})),
        ("delete_directory", json!({"path": "d", "force": true})),
        ("delete_directory", json!({"path": "e"})),
    ] {
        let tools = server.tools();
        assert!(tools.iter().all(|tool| tool["name"] != name), "{name}");
        server
            .request("tools/call", json!({"name": name, "arguments": arguments}))
            .error(-32602);
    }
    server.close();
    assert_eq!(root.census(), before);
}
