//! What was lost, torn or spoiled in reading, writing and paging.

use std::fs;

use serde_json::json;

use crate::harness::{Root, Server};

#[test]
fn characters_on_every_chunk_edge() {
    let root = Root::new();
    let mut server = Server::new(&root);
    for missing in 0..8 {
        let content = "x".repeat(2048 - missing) + &"界🙂é".repeat(3000);
        root.write("edge.txt", &content);
        for limit in [1, 8] {
            let mut at = 0;
            let mut joined = String::new();
            for page in server.pages(
                "read_text_file",
                json!({"path": "edge.txt", "limit": limit}),
            ) {
                for item in page.items() {
                    assert_eq!(item["byte_offset"], at);
                    joined += item["text"].as_str().unwrap();
                    at = joined.len();
                }
            }
            assert!(joined == content, "{missing} missing, by {limit}");
        }
    }
    server.close();
}

#[test]
fn a_byte_order_mark_is_kept_and_does_not_hide_a_match() {
    let root = Root::new()
        .file("b.txt", "\u{feff}x")
        .file("utf16.txt", b"\xff\xfex\0\n\0");
    let mut server = Server::new(&root);
    let page = server.call("read_text_file", json!({"path": "b.txt"}));
    assert_eq!(page.text(), "\u{feff}x");
    let found = server.call("search_text", json!({"query": "x"}));
    assert_eq!(
        found.items(),
        [json!({"path": "b.txt", "line": 1, "text": "\u{feff}x"})]
    );
    server
        .call("read_text_file", json!({"path": "utf16.txt"}))
        .refused_naming(&["UTF-8"]);
    let written = server.call(
        "write_text_file",
        json!({"path": "b.txt", "content": "\u{feff}x", "if_hash": page.hash()}),
    );
    assert_eq!(written.hash(), page.hash());
    server.close();
}

#[test]
fn other_encodings_are_refused_and_skipped_by_line() {
    let root = Root::new().file(
        "g.txt",
        b"\xc4\xe3\xba\xc3 needle\nplain needle\n\xca\xc0\xbd\xe7\n",
    );
    let mut server = Server::new(&root);
    server
        .call("read_text_file", json!({"path": "g.txt"}))
        .refused_naming(&["UTF-8"]);
    let found = server.call("search_text", json!({"query": "needle"}));
    assert_eq!(
        found.items(),
        [json!({"path": "g.txt", "line": 2, "text": "plain needle"})]
    );
    server.close();
}

#[test]
fn answers_and_disk_agree_after_changes_from_outside() {
    let root = Root::new();
    let mut server = Server::new(&root);
    server
        .call(
            "write_text_file",
            json!({"path": "f.txt", "content": "one"}),
        )
        .value();
    assert_eq!(root.read("f.txt"), b"one");
    root.write("f.txt", "two from outside");
    assert_eq!(server.read("f.txt"), "two from outside");
    root.write("aside", "three by rename");
    fs::rename(root.at("aside"), root.at("f.txt")).unwrap();
    assert_eq!(server.read("f.txt"), "three by rename");
    fs::remove_file(root.at("f.txt")).unwrap();
    server
        .call("read_text_file", json!({"path": "f.txt"}))
        .refused("path does not exist in this root");
    server
        .call(
            "write_text_file",
            json!({"path": "f.txt", "content": "four"}),
        )
        .value();
    assert_eq!(root.read("f.txt"), b"four");
    server.close();
}

#[test]
fn a_large_tree_is_listed_in_full_by_bounded_answers() {
    let root = Root::new();
    for number in 0..5000 {
        root.write(
            &format!("folder-{:02}/a-file-{number:04}.txt", number % 50),
            "",
        );
    }
    let mut server = Server::new(&root);
    let pages = server.pages("search_files", json!({"query": "."}));
    assert!(pages.iter().all(|page| page.0.line.len() <= 48_000 + 300));
    let paths: Vec<&str> = pages.iter().flat_map(|page| page.paths()).collect();
    assert!(paths.len() == 5000 && paths.is_sorted());
    let folders = server.all_paths("list_directory", json!({}));
    assert_eq!(folders.len(), 50);
    for folder in folders.iter().take(3) {
        assert_eq!(
            server.all("list_directory", json!({"path": folder})).len(),
            100
        );
    }
    server.close();
}

#[test]
fn control_characters_and_nuls_are_exact_both_ways() {
    let all: String = ('\0'..='\u{1f}')
        .chain(['\u{7f}'])
        .cycle()
        .take(20_000)
        .collect();
    let root = Root::new().file("c.txt", &all);
    let mut server = Server::new(&root);
    let pages = server.pages("read_text_file", json!({"path": "c.txt"}));
    assert!(pages.iter().all(|page| page.0.line.len() <= 48_000 + 300));
    let text: String = pages.iter().map(crate::harness::Answer::text).collect();
    assert!(text == all);
    server
        .call("write_text_file", json!({"path": "d.txt", "content": all}))
        .value();
    assert!(root.read("d.txt") == all.as_bytes());
    server.close();
}
