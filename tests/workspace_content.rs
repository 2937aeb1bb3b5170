//! write_file: which contents it takes, that they come out exactly, and under
//! which condition they replace what is there.

use serde_json::{Value, json};

use crate::harness::{Launch, Root, Server, sha256};

fn start(root: &Root) -> Server {
    Launch::workspace(root).start()
}

#[test]
fn content_is_a_string_and_binary_a_boolean() {
    let root = Root::new().file("1", "one");
    let before = root.census();
    let mut server = start(&root);
    for (arguments, text) in [
        (
            json!({"path": "2", "content": 123}),
            "content must be a string",
        ),
        (
            json!({"path": "2", "content": ["x"]}),
            "content must be a string",
        ),
        (json!({"path": 2, "content": "x"}), "path must be a string"),
        (json!({"path": "2"}), "content is missing; it is required"),
        (
            json!({"path": "2", "content": null}),
            "content is missing; it is required",
        ),
        (json!({"content": "x"}), "path is missing; it is required"),
        (
            json!({"path": "2", "content": "x", "binary": "true"}),
            "binary must be true or false, as a JSON boolean",
        ),
        (
            json!({"path": "2", "content": "x", "binary": 1}),
            "binary must be true or false, as a JSON boolean",
        ),
        (
            json!({"path": "2", "content": "x", "mode": "a"}),
            "unknown argument `mode`; this tool takes path, content, binary, if_hash",
        ),
    ] {
        server.call("write_file", arguments).refused(text);
    }
    server.close();
    assert_eq!(root.census(), before);
}

#[test]
fn base64_is_written_as_the_bytes_it_stands_for() {
    let root = Root::new();
    let mut server = start(&root);
    // All byte values, in lines of 76 as mail has them, and in one.
    let bytes: Vec<u8> = (0..=255).cycle().take(10_240).collect();
    let line = base64(&bytes);
    let lines: Vec<&str> = (0..line.len())
        .step_by(76)
        .map(|at| &line[at..line.len().min(at + 76)])
        .collect();
    for content in [line.clone(), lines.join("\r\n") + "\r\n", lines.join("\n")] {
        let written = server.call(
            "write_file",
            json!({"path": "all.bin", "content": content, "binary": true}),
        );
        assert_eq!(written.value()["bytes"], bytes.len());
        assert_eq!(written.hash(), sha256(&bytes));
        assert!(root.read("all.bin") == bytes);
    }
    server
        .call(
            "write_file",
            json!({"path": "all.bin", "content": "", "binary": true}),
        )
        .value();
    assert_eq!(root.read("all.bin"), b"");
    // Without binary it is text like any other.
    server
        .call("write_file", json!({"path": "text", "content": "Zm9v"}))
        .value();
    assert_eq!(root.read("text"), b"Zm9v");
    server.close();
}

#[test]
fn what_is_no_base64_is_refused_by_place_and_nothing_lands() {
    let root = Root::new().file("f", "old");
    let before = root.census();
    let mut server = start(&root);
    for (content, place) in [
        ("Zm9v!A==", "byte 4"),
        ("Zm9v Zg==", "byte 4"),
        ("Zg", "byte 2"),
        ("Zg=", "byte 3"),
        ("Zh==", "byte 1"),
        ("Zm\n-v", "byte 3"),
        ("Zg==Zg==", "byte 2"),
    ] {
        server
            .call(
                "write_file",
                json!({"path": "f", "content": content, "binary": true}),
            )
            .refused_naming(&["base64", place]);
    }
    server.close();
    assert_eq!(root.census(), before);
}

/// The alphabet of RFC 4648, section 4, by the book.
fn base64(bytes: &[u8]) -> String {
    const SYMBOLS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::new();
    for group in bytes.chunks(3) {
        let bits = group
            .iter()
            .fold(0_u32, |bits, byte| bits << 8 | u32::from(*byte));
        let bits = bits << (8 * (3 - group.len()));
        for place in 0..4 {
            let symbol = SYMBOLS[(bits >> (18 - 6 * place) & 63) as usize];
            out.push(if place > group.len() {
                '='
            } else {
                symbol.into()
            });
        }
    }
    out
}

#[test]
fn the_write_limit_is_exact_for_text_and_for_bytes_and_named_before_anything_lands() {
    let root = Root::new();
    let mut server = Launch::workspace(&root)
        .args(["--max-write-bytes", "100"])
        .start();
    let mut write = |size: usize, binary: bool| {
        let content = match binary {
            true => base64(&vec![b'x'; size]),
            false => "x".repeat(size),
        };
        let path = format!("{size}-{binary}/f");
        server.call(
            "write_file",
            json!({"path": path, "content": content, "binary": binary}),
        )
    };
    for binary in [false, true] {
        write(100, binary).value();
        write(101, binary).refused_naming(&["101 bytes", "100", "--max-write-bytes"]);
    }
    server.close();
    assert_eq!(root.names(), ["100-false", "100-true"]);
}

#[test]
fn every_character_is_written_exactly() {
    let root = Root::new();
    let mut server = start(&root);
    let all: String = ('\0'..='\u{7f}')
        .chain(['\u{85}', '\u{feff}', 'é', '\u{2028}', '🙂', '\u{10ffff}'])
        .collect();
    server
        .call("write_file", json!({"path": "d/all.txt", "content": all}))
        .value();
    assert_eq!(root.read("d/all.txt"), all.as_bytes());
    // A raw line separator inside a JSON string is no end of a line.
    let raw = "{\"path\":\"u.txt\",\"content\":\"a\u{2028}b\"}";
    let request = crate::harness::request(7, "tools/call", json!({"name": "write_file"}));
    let request = request.to_string().replace(
        r#""name":"write_file""#,
        &format!(r#""name":"write_file","arguments":{raw}"#),
    );
    server.send(&serde_json::from_str::<Value>(&request).unwrap());
    server.answer(7).result();
    assert_eq!(root.read("u.txt"), "a\u{2028}b".as_bytes());
    server.close();
}

#[test]
fn shorter_rewrites_leave_no_tail() {
    let root = Root::new();
    let mut server = start(&root);
    for size in [10_000, 3, 10_000, 0] {
        let content = "y".repeat(size);
        server
            .call("write_file", json!({"path": "d/f.txt", "content": content}))
            .value();
        assert_eq!(root.read("d/f.txt"), content.as_bytes());
    }
    server.close();
}

#[test]
fn if_hash_guards_the_content_in_a_directory_too() {
    let root = Root::new().file("d/f.txt", "one");
    let mut server = start(&root);
    let mut write = |path: &str, content: &str, hash: &str| {
        server.call(
            "write_file",
            json!({"path": path, "content": content, "if_hash": hash}),
        )
    };
    write("d/f.txt", "x", "absent")
        .refused("path exists, but if_hash is `absent`; nothing was changed");
    write("d/f.txt", "x", &sha256("other")).refused_naming(&["does not have if_hash"]);
    write("n/f.txt", "x", &sha256("one")).refused_naming(&["does not exist"]);
    write("d/f.txt", "x", "md5:00").refused_naming(&["if_hash"]);
    assert_eq!(
        (root.read("d/f.txt"), root.names()),
        (b"one".to_vec(), vec!["d".to_owned()])
    );
    write("d/f.txt", "two", &sha256("one")).value();
    write("n/m/f.txt", "new", "absent").value();
    assert_eq!(root.read("d/f.txt"), b"two");
    assert_eq!(root.read("n/m/f.txt"), b"new");
    server.close();
    assert_eq!(root.names(), ["d", "n"]);
}

#[test]
fn create_new_never_overwrites_and_makes_directories_all_the_same() {
    let root = Root::new().file("d/f.txt", "old");
    let mut server = Launch::workspace(&root)
        .args(["--write-mode", "create-new"])
        .start();
    server
        .call("write_file", json!({"path": "d/f.txt", "content": "x"}))
        .refused_naming(&["path exists", "never overwrites"]);
    server
        .call("write_file", json!({"path": "n/m/f.txt", "content": "x"}))
        .value();
    let tools = server.tools();
    let tool = tools
        .iter()
        .find(|tool| tool["name"] == "write_file")
        .unwrap();
    assert_eq!(tool["annotations"]["destructiveHint"], false);
    server.close();
    assert_eq!(root.read("d/f.txt"), b"old");
    assert_eq!(root.read("n/m/f.txt"), b"x");
    assert_eq!(root.names(), ["d", "n"]);
}

#[test]
fn a_second_name_outside_keeps_the_old_content() {
    let root = Root::new();
    std::fs::write(root.outside("h.txt"), "old").unwrap();
    let root = root.hard_link("h.txt", "h.txt");
    let mut server = start(&root);
    server
        .call("write_file", json!({"path": "h.txt", "content": "changed"}))
        .value();
    server.close();
    assert_eq!(root.read("h.txt"), b"changed");
    assert_eq!(std::fs::read(root.outside("h.txt")).unwrap(), b"old");
}
