//! What the tools of a workspace say where one word more or less helps: by which
//! rule a name is refused, and that one is not many.

use serde_json::json;

use crate::harness::{Launch, Root};

#[test]
fn a_name_that_is_blocked_is_told_apart_from_one_that_is_excluded() {
    let root = Root::new().file(".ssh/config", "x").file("out/f.txt", "x");
    let excluded = "path is hidden by an exclude rule of this root";
    let blocked =
        |name| format!("{excluded}, or for its name `{name}`, which --allow-blocked serves");
    let mut server = Launch::workspace(&root).exclude(&["out"]).start();
    for (path, text) in [
        (".ssh/config", blocked(".ssh")),
        ("a/B.EXE", blocked("exe")),
        ("a/Passwd", blocked("passwd")),
        ("out/f.txt", excluded.to_owned()),
    ] {
        let write = json!({"path": path, "content": "new"});
        server.call("write_file", write).refused(&text);
        server
            .call("delete_file", json!({"path": path}))
            .refused(&text);
    }
    let made = server.call("create_directory", json!({"path": ".ssh/keys"}));
    made.refused(&blocked(".ssh"));
    server.close();
    // Toolset core blocks no names.
    let mut server = Launch::new(&root).exclude(&["*.exe"]).start();
    server.write("a.exe", "new").refused(excluded);
    server.close();
    assert_eq!(root.names(), [".ssh", "out"]);
}

#[test]
fn one_byte_is_not_many() {
    let root = Root::new();
    let mut server = Launch::workspace(&root).start();
    for (content, told) in [("", "(0 bytes, "), ("x", "(1 byte, "), ("xy", "(2 bytes, ")] {
        let write = json!({"path": "f.txt", "content": content});
        let answer = server.call("write_file", write);
        assert!(answer.said().contains(told), "{}", answer.said());
    }
    server.close();
}

#[test]
fn what_is_not_text_is_sent_to_the_tool_that_is_there() {
    let root = Root::new().file("f.bin", b"ab\xff");
    for (toolset, text) in [
        (
            "core",
            "file is not UTF-8 text (byte 2); binary content needs the workspace toolset",
        ),
        (
            "all",
            "file is not UTF-8 text (byte 2); read_file reads it with binary: true",
        ),
    ] {
        let mut server = Launch::new(&root).args(["--toolset", toolset]).start();
        server
            .call("read_text_file", json!({"path": "f.bin"}))
            .refused(text);
        server.close();
    }
}

#[test]
fn a_long_line_around_a_match_is_text_only_if_all_of_it_is() {
    for (length, character) in [
        (0, "x"),
        (1_000, "x"),
        (5_000, "é"),
        (5_001, "é"),
        (100_000, "界"),
    ] {
        let line = "x".repeat(length % 2) + &character.repeat(length);
        let mut content = line.clone().into_bytes();
        content.extend_from_slice(b"\xff\nneedle\n");
        content.extend_from_slice(line.as_bytes());
        content.push(b'\n');
        let root = Root::new().file("f.txt", content);
        let mut server = Launch::workspace(&root).start();
        let arguments = json!({"path": "f.txt", "search_string": "needle", "context_lines": 1});
        let answer = server.call("search_in_file", arguments);
        let hit = &answer.value()["files"][0]["matches"][0];
        assert_eq!(hit["before"], json!([null]), "{length}");
        let after = hit["after"][0].as_str().unwrap();
        assert!(line.starts_with(after), "{length}");
        assert!(
            answer.said().contains("   1 | (not UTF-8)\n"),
            "{}",
            answer.said()
        );
        server.close();
    }
}
