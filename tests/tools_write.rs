//! write_text_file: which names and contents it accepts, that both come out
//! exactly, and what the rules of the root have to say.

use serde_json::{Value, json};

use crate::harness::{Launch, Root, Server, sha256};

/// The flags and the `if_hash` of every way to write a new file.
pub(crate) const WAYS: [(&[&str], Option<&str>); 3] = [
    (&[], None),
    (&[], Some("absent")),
    (&["--write-mode", "create-new"], None),
];

macro_rules! refused_names {
    ($($name:ident: $path:expr;)+) => {$(
        #[test]
        fn $name() {
            let root = Root::new().file("dir/x", "");
            let before = root.census();
            let mut server = Server::new(&root);
            let refusal = server.write($path, "x");
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
        let written = server.write(name, "x");
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
    let written = server.write("all.txt", &all);
    assert_eq!(written.value()["bytes"], all.len());
    assert_eq!(root.read("all.txt"), all.as_bytes());
    assert_eq!(server.read("all.txt"), all);
    server.close();
}

#[test]
fn the_write_limit_is_exact_and_named_before_anything_lands() {
    let root = Root::new();
    let mut server = Server::new(&root);
    server.write("full.txt", "x".repeat(65_536)).value();
    assert_eq!(root.read("full.txt").len(), 65_536);
    let over = server.write("over.txt", "x".repeat(65_537));
    over.refused_naming(&["65537", "65536", "--max-write-bytes"]);
    // Bytes are counted, not characters.
    let wide = server.write("full.txt", "é".repeat(32_769));
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
        server.write("f.txt", &content).value();
        assert_eq!(root.read("f.txt"), content.as_bytes());
        assert_eq!(server.read("f.txt"), content);
    }
    assert_eq!(root.names(), ["f.txt"]);
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
            server.write_if(path, "x", condition).refused(text);
        }
        assert_eq!(root.census(), before);
        server.write_if("a.txt", "x", condition).value();
        assert_eq!(root.names(), ["a.txt", "old.md", "secret.old"]);
        server.close();
    }
}

#[test]
fn a_root_whose_top_is_not_included_warns_once_and_refuses_every_write() {
    let root = Root::new().file("src/a.txt", "x");
    let mut server = Launch::new(&root).include(&["src/**"]).start();
    let refusal = server.write("a.txt", "x");
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
