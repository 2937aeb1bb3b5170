//! write_text_file: what it accepts, that it writes completely or not at all,
//! and what it leaves of names, modes and other files.

use std::fs::File;
use std::os::unix::fs::MetadataExt;
use std::time::Instant;

use rustix::process::Signal;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::harness::{Answer, Launch, PATIENCE, Root, Server, call};

fn sha256(bytes: impl AsRef<[u8]>) -> String {
    let digits: String = Sha256::digest(bytes)
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    format!("sha256:{digits}")
}

macro_rules! refused_names {
    ($($name:ident: $path:expr;)+) => {$(
        #[test]
        fn $name() {
            let root = Root::new().file("dir/x", "");
            let before = root.census();
            let mut server = Server::new(&root);
            let refusal = server.call("write_text_file", json!({"path": $path, "content": "x"}));
            assert!(!refusal.refusal().contains('\0'));
            server.close();
            assert_eq!(root.census(), before);
        }
    )+};
}

refused_names! {
    a_path_with_a_slash_is_no_basename: "dir/a.txt";
    the_root_is_no_basename: "";
    a_dot_is_no_basename: ".";
    a_parent_is_no_basename: "../a.txt";
    an_absolute_path_is_no_basename: "/a.txt";
    upper_case_is_no_basename: "A.txt";
    a_leading_dot_is_no_basename: ".env";
    a_leading_dash_is_no_basename: "-rf";
    a_blank_is_no_basename: "a b";
    a_backslash_is_no_basename: "a\\b";
    a_letter_beyond_ascii_is_no_basename: "é";
    a_nul_is_no_basename: "a\0b";
    a_line_feed_is_no_basename: "a\n";
    a_name_of_256_bytes_is_no_basename: "a".repeat(256);
    a_reserved_temporary_is_no_basename: format!(".preopen-mcp-{}.tmp", "0".repeat(32));
    a_directory_is_not_overwritten: "dir";
}

#[test]
fn the_longest_and_oddest_basenames_are_written() {
    let root = Root::new();
    let mut server = Server::new(&root);
    for name in ["0", "a.b_c-d", "a..", &"a".repeat(255)] {
        let written = server.call("write_text_file", json!({"path": name, "content": "x"}));
        assert_eq!(
            written.value(),
            &json!({"path": name, "bytes": 1, "content_hash": sha256("x")})
        );
        assert_eq!(root.read(name), b"x");
    }
    server.close();
}

#[test]
fn every_character_is_written_exactly() {
    let root = Root::new();
    let mut server = Server::new(&root);
    let all: String = ('\0'..='\u{7f}')
        .chain(['\u{85}', '\u{feff}', 'é', '\u{2028}', '🙂', '\u{10ffff}'])
        .collect();
    let written = server.call(
        "write_text_file",
        json!({"path": "all.txt", "content": all}),
    );
    assert_eq!(written.value()["bytes"], all.len());
    assert_eq!(root.read("all.txt"), all.as_bytes());
    assert_eq!(server.read("all.txt"), all);
    server.close();
}

#[test]
fn the_write_limit_is_exact_and_named_before_anything_lands() {
    let root = Root::new();
    let mut server = Server::new(&root);
    server
        .call(
            "write_text_file",
            json!({"path": "full.txt", "content": "x".repeat(65_536)}),
        )
        .value();
    assert_eq!(root.read("full.txt").len(), 65_536);
    let over = server.call(
        "write_text_file",
        json!({"path": "over.txt", "content": "x".repeat(65_537)}),
    );
    over.refused_naming(&["65537", "65536", "--max-write-bytes"]);
    // Bytes are counted, not characters.
    let wide = server.call(
        "write_text_file",
        json!({"path": "full.txt", "content": "é".repeat(32_769)}),
    );
    wide.refused_naming(&["65538", "65536", "--max-write-bytes"]);
    assert_eq!(root.names(), ["full.txt"]);
    assert_eq!(root.read("full.txt").len(), 65_536);
    server.close();
}

#[test]
fn shorter_rewrites_leave_no_tail() {
    let root = Root::new();
    let mut server = Server::new(&root);
    for size in [10_000, 3, 10_000, 0] {
        let content = "y".repeat(size);
        server
            .call(
                "write_text_file",
                json!({"path": "f.txt", "content": content}),
            )
            .value();
        assert_eq!(root.read("f.txt"), content.as_bytes());
        assert_eq!(server.read("f.txt"), content);
    }
    assert_eq!(root.names(), ["f.txt"]);
    server.close();
}

#[test]
fn new_files_are_private_and_replaced_ones_keep_their_mode() {
    let root = Root::new().file("old.sh", "old");
    let mut server = Server::new(&root);
    server
        .call(
            "write_text_file",
            json!({"path": "new.txt", "content": "x"}),
        )
        .value();
    assert_eq!(root.mode("new.txt"), 0o600);
    for mode in [0o644, 0o755, 0o640] {
        root.chmod("old.sh", mode);
        server
            .call(
                "write_text_file",
                json!({"path": "old.sh", "content": format!("{mode:o}")}),
            )
            .value();
        assert_eq!(root.mode("old.sh"), mode);
    }
    server.close();
}

#[test]
fn a_replaced_file_is_a_new_file_so_readers_of_the_old_one_are_not_disturbed() {
    let root = Root::new().file("f.txt", "old text");
    let before = std::fs::metadata(root.at("f.txt")).unwrap().ino();
    let mut open = File::open(root.at("f.txt")).unwrap();
    let mut server = Server::new(&root);
    server
        .call(
            "write_text_file",
            json!({"path": "f.txt", "content": "new"}),
        )
        .value();
    assert_ne!(std::fs::metadata(root.at("f.txt")).unwrap().ino(), before);
    let mut old = String::new();
    std::io::Read::read_to_string(&mut open, &mut old).unwrap();
    assert_eq!(old, "old text");
    server.close();
}

#[test]
fn if_hash_guards_the_content_that_was_read() {
    let root = Root::new().file("f.txt", "one");
    let mut server = Server::new(&root);
    let mut write = |content: &str, hash: &str| {
        server.call(
            "write_text_file",
            json!({"path": "f.txt", "content": content, "if_hash": hash}),
        )
    };
    let two = write("two", &sha256("one"));
    assert_eq!(two.hash(), sha256("two"));
    write("three", &sha256("one")).refusal();
    write("three", "absent").refusal();
    assert_eq!(root.read("f.txt"), b"two");
    root.write("f.txt", "from outside");
    write("three", two.hash()).refusal();
    assert_eq!(root.read("f.txt"), b"from outside");
    server.close();
}

#[test]
fn if_hash_absent_creates_only() {
    let root = Root::new();
    let mut server = Server::new(&root);
    let write = json!({"path": "f.txt", "content": "x", "if_hash": "absent"});
    server.call("write_text_file", write.clone()).value();
    server.call("write_text_file", write).refusal();
    let missing = json!({"path": "g.txt", "content": "x", "if_hash": sha256("")});
    server.call("write_text_file", missing).refusal();
    assert_eq!(root.names(), ["f.txt"]);
    server.close();
}

#[test]
fn an_if_hash_that_is_no_hash_is_refused_by_name() {
    let root = Root::new().file("f.txt", "old");
    let mut server = Server::new(&root);
    for bad in [
        json!(""),
        json!("sha256:xyz"),
        json!("md5:00"),
        json!(7),
        json!("ABSENT"),
    ] {
        server
            .call(
                "write_text_file",
                json!({"path": "f.txt", "content": "x", "if_hash": bad}),
            )
            .refused_naming(&["if_hash"]);
    }
    assert_eq!(root.read("f.txt"), b"old");
    server
        .call(
            "write_text_file",
            json!({"path": "f.txt", "content": "x", "if_hash": null}),
        )
        .value();
    server.close();
}

#[test]
fn a_keyed_hash_guards_a_write_too() {
    let root = Root::new().file("f.txt", "old");
    let mut server = Launch::new(&root)
        .args(["--content-hash", "hmac-sha256"])
        .start();
    let hash = server
        .call("read_text_file", json!({"path": "f.txt"}))
        .hash()
        .to_owned();
    let written = server.call(
        "write_text_file",
        json!({"path": "f.txt", "content": "new", "if_hash": hash}),
    );
    assert!(written.hash().starts_with("hmac-sha256:"));
    server
        .call(
            "write_text_file",
            json!({"path": "f.txt", "content": "x", "if_hash": hash}),
        )
        .refusal();
    assert_eq!(root.read("f.txt"), b"new");
    server.close();
}

#[test]
fn create_new_never_overwrites() {
    let root = Root::new().file("f.txt", "old");
    let mut server = Launch::new(&root)
        .args(["--write-mode", "create-new"])
        .start();
    server
        .call("write_text_file", json!({"path": "f.txt", "content": "x"}))
        .refusal();
    server
        .call("write_text_file", json!({"path": "g.txt", "content": "x"}))
        .value();
    server
        .call("write_text_file", json!({"path": "g.txt", "content": "y"}))
        .refusal();
    assert_eq!(
        (root.read("f.txt"), root.read("g.txt")),
        (b"old".to_vec(), b"x".to_vec())
    );
    assert_eq!(root.names(), ["f.txt", "g.txt"]);
    assert_eq!(root.mode("g.txt"), 0o600);
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
    for (flags, condition) in [
        (&["--write-mode", "create-new"][..], json!(null)),
        (&["--write-mode", "create-new"], json!("absent")),
        (&[], json!("absent")),
    ] {
        let mut server = Launch::new(&root).args(flags.iter().copied()).start();
        for name in root.names() {
            server
                .call(
                    "write_text_file",
                    json!({"path": name, "content": "x", "if_hash": condition}),
                )
                .refused_naming(&[
                    "path exists",
                    if flags.is_empty() {
                        "absent"
                    } else {
                        "never overwrites"
                    },
                ]);
        }
        server.close();
        assert_eq!(root.contents(), before);
    }
}

/// The flags and the `if_hash` of every way to write a new file.
const WAYS: [(&[&str], Option<&str>); 3] = [
    (&[], None),
    (&[], Some("absent")),
    (&["--write-mode", "create-new"], None),
];

#[test]
fn a_new_file_is_never_seen_unfinished() {
    let content = "x".repeat(8 << 20);
    for (flags, condition) in WAYS {
        let root = Root::new();
        let mut server = Launch::new(&root)
            .args(["--max-write-bytes", "8MiB"])
            .args(flags.iter().copied())
            .start();
        server.send(&call(
            1,
            "write_text_file",
            json!({"path": "f.txt", "content": content, "if_hash": condition}),
        ));
        let started = Instant::now();
        let seen = loop {
            if let Ok(seen) = std::fs::metadata(root.at("f.txt")) {
                break seen.len();
            }
            assert!(started.elapsed() < PATIENCE, "no file");
        };
        assert_eq!(seen, 8 << 20, "{condition:?} {flags:?}");
        Answer(server.answer(1)).value();
        assert_eq!(root.names(), ["f.txt"]);
        assert_eq!(root.mode("f.txt"), 0o600);
        server.close();
    }
}

#[test]
fn a_process_that_is_killed_leaves_the_whole_file_or_none() {
    for (flags, condition) in WAYS {
        let root = Root::new();
        let mut server = Launch::new(&root)
            .args(["--max-write-bytes", "8MiB"])
            .args(flags.iter().copied())
            .start();
        server.send(&call(
            1,
            "write_text_file",
            json!({"path": "f.txt", "content": "x".repeat(8 << 20), "if_hash": condition}),
        ));
        let started = Instant::now();
        // The first thing that is made, under whatever name.
        while root.names().is_empty() {
            assert!(started.elapsed() < PATIENCE, "nothing was made");
        }
        server.stop(Signal::KILL);
        let mut next = Server::new(&root);
        next.alive();
        for name in root.names() {
            assert_eq!((name.as_str(), root.read(&name).len()), ("f.txt", 8 << 20));
        }
        next.close();
    }
}

#[test]
fn a_present_file_that_is_too_large_to_read_is_not_hashed() {
    let root = Root::new().file("f.txt", "x".repeat(61));
    let mut server = Launch::new(&root).args(["--max-file-bytes", "60"]).start();
    let write = json!({"path": "f.txt", "content": "y", "if_hash": sha256("x".repeat(61))});
    server
        .call("write_text_file", write)
        .refused_naming(&["61", "60", "--max-file-bytes"]);
    assert_eq!(root.read("f.txt").len(), 61);
    root.write("f.txt", "x".repeat(60));
    let write = json!({"path": "f.txt", "content": "y", "if_hash": sha256("x".repeat(60))});
    server.call("write_text_file", write).value();
    assert_eq!(
        (root.read("f.txt"), root.names()),
        (b"y".to_vec(), vec!["f.txt".to_owned()])
    );
    server.close();
}

#[test]
fn excluded_and_not_included_names_are_told_apart() {
    for (flags, condition) in WAYS {
        let root = Root::new().file("secret.old", "old").file("old.md", "old");
        let before = root.census();
        let mut server = Launch::new(&root)
            .include(&["*.txt", "*.old"])
            .exclude(&["secret*"])
            .args(flags.iter().copied())
            .start();
        let mut write = |path: &str| {
            server.call(
                "write_text_file",
                json!({"path": path, "content": "x", "if_hash": condition}),
            )
        };
        // Whether they exist or not, and before anything is made, even for a moment.
        for (path, text) in [
            (
                "secret.txt",
                "path is hidden by an exclude rule of this root",
            ),
            (
                "secret.old",
                "path is hidden by an exclude rule of this root",
            ),
            ("a.md", "no include rule of this root selects this path"),
            ("old.md", "no include rule of this root selects this path"),
        ] {
            write(path).refused(text);
        }
        assert_eq!(root.census(), before);
        write("a.txt").value();
        assert_eq!(root.names(), ["a.txt", "old.md", "secret.old"]);
        server.close();
    }
}

#[test]
fn a_root_whose_top_is_not_included_warns_once_and_refuses_every_write() {
    let root = Root::new().file("src/a.txt", "x");
    let mut server = Launch::new(&root).include(&["src/**"]).start();
    let refusal = server.call("write_text_file", json!({"path": "a.txt", "content": "x"}));
    assert!(refusal.refusal().contains("root"), "{}", refusal.refusal());
    assert_eq!(root.names(), ["src"]);
    let (_, exit) = server.finish();
    assert_eq!(exit.code, Some(0));
    assert!(exit.stderr.contains("write_text_file"), "{}", exit.stderr);
    assert_eq!(exit.stderr.lines().count(), 1, "{}", exit.stderr);
}

#[test]
fn read_only_has_no_writing_tool_and_changes_nothing() {
    let root = Root::new().file("f.txt", "old");
    let before = root.census();
    let mut server = Launch::new(&root).args(["--read-only"]).start();
    let names: Vec<Value> = server
        .tools()
        .iter()
        .map(|tool| tool["name"].clone())
        .collect();
    assert_eq!(
        names,
        [
            "list_directory",
            "search_files",
            "search_text",
            "read_text_file"
        ]
    );
    let message = server.request(
        "tools/call",
        json!({"name": "write_text_file", "arguments": {"path": "f.txt", "content": "x"}}),
    );
    message.error(-32602);
    assert_eq!(server.read("f.txt"), "old");
    server.close();
    assert_eq!(root.census(), before);
}

#[test]
fn a_file_without_write_permission_is_not_replaced() {
    if crate::harness::superuser("a_file_without_write_permission_is_not_replaced") {
        return;
    }
    let root = Root::new().file("f.txt", "old");
    root.chmod("f.txt", 0o444);
    let mut server = Server::new(&root);
    server
        .call("write_text_file", json!({"path": "f.txt", "content": "x"}))
        .refusal();
    assert_eq!(
        (root.read("f.txt"), root.names()),
        (b"old".to_vec(), vec!["f.txt".to_owned()])
    );
    server.close();
}
