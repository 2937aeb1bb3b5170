//! read_file: that a file comes out as it is, or not at all and with a reason.

use std::fs::File;

use serde_json::json;

use crate::harness::{Answer, Launch, Root, Server, call, sha256};

fn start(root: &Root) -> Server {
    Launch::workspace(root).start()
}

/// The content of an answer of read_file, whose header must be that of `bytes`.
#[track_caller]
fn content<'a>(answer: &'a Answer, path: &str, bytes: &[u8]) -> &'a str {
    let header = format!(
        "Content of {path} ({} bytes, {}):\n\n",
        bytes.len(),
        sha256(bytes)
    );
    answer
        .said()
        .strip_prefix(&header)
        .unwrap_or_else(|| panic!("{}", answer.said()))
}

/// Fails unless read_file gives exactly this text.
#[track_caller]
fn reads(server: &mut Server, path: &str, text: &str) {
    let answer = server.call("read_file", json!({"path": path}));
    assert_eq!(content(&answer, path, text.as_bytes()), text);
    assert_eq!(answer.0.result().get("structuredContent"), None);
}

#[test]
fn a_text_comes_out_with_every_byte_it_has() {
    let long = |ascii: usize| "a".repeat(ascii) + &"界🙂é".repeat(9_000);
    let texts = [
        String::new(),
        "no line end".to_owned(),
        "cr\r\nlf\n\n\r".to_owned(),
        "\u{feff}x".to_owned(),
        "a\u{2028}b\u{2029}\u{85}".to_owned(),
        (0..0x20).chain([0x7f]).map(char::from).collect(),
        long(0),
        long(1),
        long(2),
        // Blocks of every remainder, over the size of one.
        "é".repeat(500_000) + "x" + &"界".repeat(300_000),
    ];
    let root = Root::new();
    let mut server = start(&root);
    for text in texts {
        root.write("t.txt", &text);
        reads(&mut server, "t.txt", &text);
    }
    server.close();
}

#[test]
fn what_is_not_text_is_refused_and_comes_as_base64() {
    let all: Vec<u8> = (0..=255).cycle().take(256 * 40).collect();
    let mut late = vec![b'x'; 1_000_000];
    late.push(0xff);
    let utf16: Vec<u8> = "x"
        .encode_utf16()
        .chain([0xfeff])
        .flat_map(u16::to_le_bytes)
        .collect();
    let root = Root::new().file("utf8", "é");
    let mut server = start(&root);
    for (bytes, first) in [
        (all, 128),
        (late, 1_000_000),
        (utf16, 2),
        (b"\xc4\xe3\xba\xc3".to_vec(), 0),
        ("é".as_bytes()[..1].to_vec(), 0),
    ] {
        root.write("b", &bytes);
        server
            .call("read_file", json!({"path": "b"}))
            .refused(&format!(
                "file is not UTF-8 text (byte {first}); read it with binary: true"
            ));
        let answer = server.call("read_file", json!({"path": "b", "binary": true}));
        let decoded = decode(content(&answer, "b", &bytes));
        assert!(decoded == bytes, "not the same bytes");
    }
    let answer = server.call("read_file", json!({"path": "utf8", "binary": true}));
    assert_eq!(content(&answer, "utf8", "é".as_bytes()), "w6k=");
    for binary in [json!("true"), json!(1), json!("")] {
        server
            .call("read_file", json!({"path": "utf8", "binary": binary}))
            .refused_naming(&["binary", "JSON boolean"]);
    }
    server.close();
}

/// Decodes base64 with padding (RFC 4648, section 4).
fn decode(text: &str) -> Vec<u8> {
    let value = |symbol: u8| match symbol {
        b'A'..=b'Z' => symbol - b'A',
        b'a'..=b'z' => symbol - b'a' + 26,
        b'0'..=b'9' => symbol - b'0' + 52,
        b'+' => 62,
        b'/' => 63,
        _ => panic!("no base64"),
    };
    assert_eq!(text.len() % 4, 0);
    let bare = text.trim_end_matches('=');
    assert!(text.len() - bare.len() <= 2);
    let mut bytes = Vec::new();
    for group in bare.as_bytes().chunks(4) {
        let bits = group
            .iter()
            .fold(0_u32, |bits, symbol| bits << 6 | u32::from(value(*symbol)))
            << (6 * (4 - group.len()));
        bytes.extend(&bits.to_be_bytes()[1..group.len()]);
    }
    bytes
}

#[test]
fn a_file_is_in_the_memory_of_its_call_once() {
    let text = "0123456789abcde\n".repeat(1 << 20);
    let (whole, part) = (&text[..], &text[..12 << 20]);
    let root = Root::new().file("text", whole).file("bytes", part);
    let mut server = Launch::workspace(&root)
        .args(["--max-call-memory", "20MiB"])
        .start();
    // 16 MiB each, as they are handed over.
    let answer = server.call("read_file", json!({"path": "text"}));
    assert!(content(&answer, "text", whole.as_bytes()) == whole);
    let answer = server.call("read_file", json!({"path": "bytes", "binary": true}));
    assert_eq!(
        content(&answer, "bytes", part.as_bytes()).len(),
        part.len() / 3 * 4
    );
    server.close();
}

#[test]
fn a_file_over_the_limit_is_refused_by_its_name() {
    let root = Root::new().file("large", "");
    let file = File::options()
        .write(true)
        .open(root.at("large"))
        .expect("the file");
    file.set_len((100 << 20) + 1).expect("a file with a hole");
    let mut server = start(&root);
    for binary in [false, true] {
        server
            .call("read_file", json!({"path": "large", "binary": binary}))
            .refused(
                "file has 104857601 bytes, more than 104857600 are not read (--max-file-bytes)",
            );
    }
    server.close();
}

#[test]
fn what_the_memory_of_a_call_does_not_hold_is_refused_by_name() {
    let root = Root::new().file("large", vec![b'x'; 20 << 20]);
    let mut server = Launch::workspace(&root)
        .args(["--max-call-memory", "8MiB"])
        .start();
    server.call("read_file", json!({"path": "large"})).refused(
        "file has 20971520 bytes, more than the memory of one call holds (--max-call-memory)",
    );
    server.close();
}

#[test]
fn the_hash_is_of_the_kind_that_was_chosen() {
    let root = Root::new().file("a", "x");
    let mut server = Launch::workspace(&root)
        .args(["--content-hash", "hmac-sha256"])
        .start();
    let answer = server.call("read_file", json!({"path": "a"}));
    let (header, text) = answer.said().split_once(":\n\n").expect("a header");
    assert_eq!(text, "x");
    let digits = header
        .strip_prefix("Content of a (1 bytes, hmac-sha256:")
        .and_then(|rest| rest.strip_suffix(')'))
        .expect("a keyed hash");
    assert_eq!(digits.len(), 64);
    server.close();
}

#[test]
fn every_refusal_says_what_is_there() {
    let root = Root::new()
        .file("dir/f.txt", "x")
        .dir("empty")
        .link("out", "../outside/secret.txt")
        .link("in", "dir/f.txt")
        .fifo("pipe")
        .file("1", "one");
    let mut server = Launch::workspace(&root).exclude(&["hidden*"]).start();
    for (path, text) in [
        (json!("dir"), "path is a directory, not a file"),
        (json!("empty/"), "path is a directory, not a file"),
        (json!(""), "path is a directory, not a file"),
        (json!("."), "path is a directory, not a file"),
        (json!("nope"), "path does not exist in this root"),
        (json!("dir/f.txt/x"), "path does not exist in this root"),
        (json!("out"), "path does not exist in this root"),
        (json!("in"), "path does not exist in this root"),
        (json!("pipe"), "path does not exist in this root"),
        (json!("hidden.txt"), "path is not served by this root"),
        (json!("a/.env"), "path is not served by this root"),
        (json!(1), "path must be a string"),
        (json!(null), "path is missing; it is required"),
    ] {
        server
            .call("read_file", json!({"path": path}))
            .refused(text);
    }
    let absolute = root.at("1").to_str().expect("UTF-8").to_owned();
    server.raw(format!(
        "{}\n",
        call("abs", "read_file", json!({"path": absolute}))
    ));
    let answer = Answer(server.answer("abs"));
    answer.refused_naming(&["paths are relative to the root"]);
    reads(&mut server, "1", "one");
    let answer = server.call("read_file", json!({"path": "dir//f.txt/"}));
    assert_eq!(content(&answer, "dir/f.txt", b"x"), "x");
    server.close();
}

#[test]
fn names_that_merely_contain_a_blocked_one_are_served() {
    let names = ["my_hosts_notes.md", "environment.envelope.md"];
    let root = Root::new().file(names[0], "x").file(names[1], "x");
    let mut server = start(&root);
    for name in names {
        reads(&mut server, name, "x");
    }
    server.close();
}
