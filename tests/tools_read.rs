//! The four reading tools: what they return, and what their pages and hashes
//! are made of.

use serde_json::{Value, json};

use crate::harness::{Answer, Launch, Root, Server, sha256};

pub(crate) fn tree() -> Root {
    Root::new()
        .file("a.txt", "alpha\n")
        .file("lib/b.txt", "beta\nalpha beta\n")
        .file("lib/deep/c.txt", "gamma")
        .file("src/.hidden", "dot")
        .dir("empty")
}

#[test]
fn every_spelling_of_the_root_lists_it() {
    let root = tree();
    let mut server = Server::new(&root);
    let plain = server.call("list_directory", json!({}));
    for path in ["", ".", "./", "/"] {
        assert_eq!(
            server.call("list_directory", json!({"path": path})).value(),
            plain.value()
        );
        let found = server.call("search_text", json!({"query": "gamma", "path": path}));
        assert_eq!(found.paths(), ["lib/deep/c.txt"]);
    }
    server.close();
}

#[test]
fn a_listing_is_sorted_by_bytes_and_shows_directories_with_something_served() {
    let root = tree()
        .file("Z", "")
        .file("é", "")
        .file("a-b/x", "")
        .file("a/x", "");
    let mut server = Server::new(&root);
    let page = server.call("list_directory", json!({}));
    let expected = [
        ("Z", "file"),
        ("a", "directory"),
        ("a-b", "directory"),
        ("a.txt", "file"),
        ("lib", "directory"),
        ("src", "directory"),
        ("é", "file"),
    ];
    let items: Vec<Value> = expected
        .iter()
        .map(|(name, kind)| json!({"name": name, "kind": kind, "path": name}))
        .collect();
    assert_eq!(page.items(), items);
    assert_eq!(page.next_cursor(), None);
    let lines: String = expected
        .iter()
        .map(|(path, kind)| format!("{kind}\0{path}\n"))
        .collect();
    assert_eq!(page.hash(), sha256(lines));
    let below = server.call("list_directory", json!({"path": "lib/"}));
    assert_eq!(
        below.items(),
        [
            json!({"name": "b.txt", "kind": "file", "path": "lib/b.txt"}),
            json!({"name": "deep", "kind": "directory", "path": "lib/deep"}),
        ]
    );
    server.close();
}

#[test]
fn search_files_finds_literal_parts_of_paths() {
    let root = tree().file("lib/[x].txt", "").file("lib/B.txt", "");
    let mut server = Server::new(&root);
    for (query, expected) in [
        ("b.txt", vec!["lib/b.txt"]),
        (
            "lib/",
            vec!["lib/B.txt", "lib/[x].txt", "lib/b.txt", "lib/deep/c.txt"],
        ),
        ("[x]", vec!["lib/[x].txt"]),
        ("*", vec![]),
        ("empty", vec![]),
    ] {
        let page = server.call("search_files", json!({"query": query}));
        assert_eq!(page.paths(), expected, "{query}");
        let lines: String = expected.iter().map(|path| format!("{path}\n")).collect();
        assert_eq!(page.hash(), sha256(lines));
    }
    server.close();
}

#[test]
fn search_text_gives_path_line_and_text() {
    let root = tree()
        .file("crlf.txt", "one\r\nalpha two\r\n\r\nalpha\r\r\n")
        .file("last", "x\nalpha");
    let mut server = Server::new(&root);
    let page = server.call("search_text", json!({"query": "alpha"}));
    let expected = [
        ("a.txt", 1, "alpha"),
        ("crlf.txt", 2, "alpha two"),
        ("crlf.txt", 4, "alpha\r"),
        ("last", 2, "alpha"),
        ("lib/b.txt", 2, "alpha beta"),
    ];
    let items: Vec<Value> = expected
        .iter()
        .map(|(path, line, text)| json!({"path": path, "line": line, "text": text}))
        .collect();
    assert_eq!(page.items(), items);
    let lines: String = expected
        .iter()
        .map(|(path, line, text)| format!("{path}\0{line}\0{text}\n"))
        .collect();
    assert_eq!(page.hash(), sha256(lines));
    assert_eq!(
        server
            .call("search_text", json!({"query": "alpha", "path": "lib"}))
            .paths(),
        ["lib/b.txt"]
    );
    assert_eq!(
        server
            .call("search_text", json!({"query": "alpha", "path": "a.txt"}))
            .paths(),
        ["a.txt"]
    );
    server.close();
}

#[test]
fn a_match_deep_in_a_long_line_is_shown() {
    let line = format!("{}needle{}", "é".repeat(40_000), "ö".repeat(40_000));
    let root = Root::new().file("l.txt", format!("first\n{line}\nneedle\n"));
    let mut server = Server::new(&root);
    let page = server.call("search_text", json!({"query": "needle"}));
    let texts = page.column("text");
    assert_eq!(page.items()[0]["line"], 2);
    assert!(
        texts[0].len() <= 1024 && texts[0].contains("needle") && line.contains(texts[0]),
        "{}",
        texts[0]
    );
    assert_eq!(
        (page.items()[1]["line"].as_u64(), texts[1]),
        (Some(3), "needle")
    );
    server.close();
}

#[test]
fn lines_that_are_no_utf8_are_skipped_whole() {
    let root = Root::new().file("mixed.txt", b"needle \xff\nneedle fine\n\xc3needle\n");
    let mut server = Server::new(&root);
    let page = server.call("search_text", json!({"query": "needle"}));
    assert_eq!(
        page.items(),
        [json!({"path": "mixed.txt", "line": 2, "text": "needle fine"})]
    );
    server.close();
}

#[test]
fn a_file_is_read_in_chunks_that_chain() {
    let content: String = (0..20_000)
        .map(|number| format!("line {number} é🙂\n"))
        .collect();
    let root = Root::new().file("big.txt", &content);
    let mut server = Server::new(&root);
    for limit in [1, 3, 8, 100] {
        let mut at = 0;
        for page in server.pages("read_text_file", json!({"path": "big.txt", "limit": limit})) {
            assert!((1..=limit.min(8)).contains(&page.items().len()));
            for item in page.items() {
                let text = item["text"].as_str().unwrap();
                assert_eq!(item["byte_offset"], at);
                assert!(!text.is_empty() && text.len() <= 2048);
                assert_eq!(&content[at..at + text.len()], text);
                at += text.len();
            }
            assert_eq!(page.hash(), sha256(page.text()));
        }
        assert_eq!(at, content.len());
    }
    server.close();
}

/// The component quotes text with instructions that its unit tests, built for
/// this machine, do not have.
#[test]
fn every_character_is_spelled_as_json_has_it_wherever_it_stands() {
    let specials = ('\0'..=' ').chain("\"\\\u{7f}é\u{2027}\u{2028}\u{2029}\u{202a}“🙂".chars());
    let content: String = specials
        .flat_map(|special| (0..130).map(move |before| format!("{}{special}x", "a".repeat(before))))
        .collect();
    let root = Root::new().file("odd.txt", &content);
    let mut server = Server::new(&root);
    let pages = server.pages("read_text_file", json!({"path": "odd.txt"}));
    let texts: String = pages.iter().map(Answer::text).collect();
    assert_eq!(texts, content);
    for page in &pages {
        let items = page.items().iter().map(|item| {
            let (offset, text) = (&item["byte_offset"], item["text"].to_string());
            let text = text
                .replace('\u{2028}', "\\u2028")
                .replace('\u{2029}', "\\u2029");
            format!("{{\"byte_offset\":{offset},\"text\":{text}}}")
        });
        let items = items.collect::<Vec<_>>().join(",");
        let said = page.said();
        assert!(
            said.starts_with(&format!("{{\"items\":[{items}],")),
            "{said}"
        );
        assert_eq!(&serde_json::from_str::<Value>(said).unwrap(), page.value());
        assert!(
            page.0
                .line
                .contains(&format!("\"structuredContent\":{said},"))
        );
        assert!(
            page.0
                .line
                .contains(&format!("\"text\":{}}}]", json!(said)))
        );
    }
    server.close();
}

#[test]
fn an_empty_file_is_a_page_without_items() {
    let root = Root::new().file("empty.txt", "");
    let mut server = Server::new(&root);
    let page = server.call("read_text_file", json!({"path": "empty.txt"}));
    assert_eq!(
        (page.items().len(), page.next_cursor(), page.hash()),
        (0, None, sha256("").as_str())
    );
    server.close();
}

#[test]
fn a_file_that_is_no_utf8_is_refused_with_the_place_and_a_way_out() {
    let root = Root::new()
        .file("early", b"abc\xff")
        .file("late", [&[b'x'; 5000][..], b"\x80"].concat())
        .file("cut", b"ab\xe7\x95");
    let mut server = Server::new(&root);
    server
        .call("read_text_file", json!({"path": "early"}))
        .refused_naming(&["UTF-8", "3", "workspace"]);
    server
        .call("read_text_file", json!({"path": "late"}))
        .refused_naming(&["UTF-8", "5000", "workspace"]);
    server
        .call("read_text_file", json!({"path": "cut"}))
        .refused_naming(&["UTF-8", "2", "workspace"]);
    server.close();
}

#[test]
fn exactly_the_promised_members_are_returned() {
    let root = tree();
    let mut server = Server::new(&root);
    for (tool, arguments) in [
        ("list_directory", json!({})),
        ("search_files", json!({"query": "a"})),
        ("search_text", json!({"query": "a"})),
        ("read_text_file", json!({"path": "a.txt"})),
    ] {
        let page = server.call(tool, arguments);
        let mut names: Vec<&String> = page.value().as_object().unwrap().keys().collect();
        names.sort();
        assert_eq!(names, ["content_hash", "items", "next_cursor"], "{tool}");
    }
    server.close();
}

#[test]
fn keyed_hashes_differ_between_processes() {
    let root = tree();
    let hashes: Vec<String> = (0..2)
        .map(|_| {
            let mut server = Launch::new(&root)
                .args(["--content-hash", "hmac-sha256"])
                .start();
            let hash = server
                .call("read_text_file", json!({"path": "a.txt"}))
                .hash()
                .to_owned();
            let again = server.call("read_text_file", json!({"path": "a.txt"}));
            assert_eq!(again.hash(), hash);
            server.close();
            hash
        })
        .collect();
    for hash in &hashes {
        let digits = hash.strip_prefix("hmac-sha256:").unwrap();
        assert!(
            digits.len() == 64
                && digits
                    .bytes()
                    .all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f')),
            "{hash}"
        );
    }
    assert_ne!(hashes[0], hashes[1]);
}
