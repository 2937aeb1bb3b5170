//! What searches and walks missed, or never came back from.

use std::fs;

use serde_json::json;

use crate::harness::{Root, Server};

#[test]
fn binary_files_bury_no_match() {
    let mut root = Root::new().file("a.txt", "needle");
    for number in 0..300_u32 {
        let noise: Vec<u8> = (0..2000_u32)
            .map(|at| (at.wrapping_mul(2_654_435_761 + number) >> 13) as u8 | 0x80)
            .collect();
        root = root.file(format!("{number}.png"), noise);
    }
    let mut server = Server::new(&root);
    let page = server.call("search_text", json!({"query": "needle"}));
    assert_eq!((page.paths(), page.next_cursor()), (vec!["a.txt"], None));
    assert!(page.0.line.len() < 10_000);
    server.close();
}

#[test]
fn a_match_is_found_from_every_path_above_it() {
    let root = Root::new()
        .file("a/b/c/d.txt", "x\nneedle")
        .file("one.txt", "needle");
    let mut server = Server::new(&root);
    let deep = json!({"path": "a/b/c/d.txt", "line": 2, "text": "needle"});
    for path in ["a", "a/b", "a/b/c/", "a/b/c/d.txt"] {
        assert_eq!(
            server
                .call("search_text", json!({"query": "needle", "path": path}))
                .items(),
            std::slice::from_ref(&deep)
        );
    }
    let all = server.call("search_text", json!({"query": "needle", "path": ""}));
    assert_eq!(
        all.items(),
        [
            deep,
            json!({"path": "one.txt", "line": 1, "text": "needle"})
        ]
    );
    server.close();
}

#[test]
fn only_a_line_feed_ends_a_line() {
    let root = Root::new();
    let mut server = Server::new(&root);
    for separator in [
        "\u{c}", "\u{b}", "\u{2028}", "\u{2029}", "\u{85}", "\r", "\u{1c}",
    ] {
        root.write("f.txt", format!("a{separator}b\nneedle\n"));
        let page = server.call("search_text", json!({"query": "needle"}));
        assert_eq!(
            page.items(),
            [json!({"path": "f.txt", "line": 2, "text": "needle"})],
            "{separator:?}"
        );
    }
    server.close();
}

#[test]
fn cycles_of_links_are_not_walked() {
    let root = Root::new()
        .file("a/t.txt", "needle")
        .link("loop", ".")
        .link("a/up", "..")
        .link("a/self", "self");
    let mut server = Server::new(&root);
    assert_eq!(
        server.all_paths("search_files", json!({"query": "t"})),
        ["a/t.txt"]
    );
    assert_eq!(
        server.all_paths("search_text", json!({"query": "needle"})),
        ["a/t.txt"]
    );
    assert_eq!(server.all_paths("list_directory", json!({})), ["a"]);
    assert_eq!(
        server.all_paths("list_directory", json!({"path": "a"})),
        ["a/t.txt"]
    );
    server.close();
}

#[test]
fn deep_and_wide_trees_are_found_in_full() {
    let mut root = Root::new();
    let mut directory = String::new();
    for level in 0..40 {
        directory += &format!("d{level:02}/");
        root = root.file(format!("{directory}file.txt"), "needle");
    }
    for number in 0..20_000 {
        root.write(&format!("wide/{number:05}"), "");
    }
    let mut server = Server::new(&root);
    assert_eq!(
        server
            .all_paths("search_files", json!({"query": "file.txt"}))
            .len(),
        40
    );
    assert_eq!(
        server
            .all_paths("search_text", json!({"query": "needle"}))
            .len(),
        40
    );
    assert_eq!(
        server
            .all_paths("search_files", json!({"query": "wide/1999"}))
            .len(),
        10
    );
    let first = server.call("list_directory", json!({"path": "wide", "limit": 200}));
    assert_eq!(
        (first.items().len(), first.paths()[199]),
        (200, "wide/00199")
    );
    server.close();
}

#[test]
fn a_tree_that_changes_during_the_walk_gives_valid_answers() {
    use std::sync::atomic::{AtomicBool, Ordering};
    let mut root = Root::new();
    for number in 0..50 {
        root = root.file(format!("dir/keep-{number}"), "needle");
    }
    let done = AtomicBool::new(false);
    let mut server = Server::new(&root);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for round in 0_u64.. {
                let path = format!("dir/come-{}", round % 20);
                root.write(&path, "needle");
                fs::remove_file(root.at(&path)).unwrap();
                if done.load(Ordering::Relaxed) {
                    break;
                }
            }
        });
        for _ in 0..100 {
            for (tool, arguments) in [
                ("list_directory", json!({"path": "dir", "limit": 200})),
                ("search_files", json!({"query": "keep", "limit": 200})),
                ("search_text", json!({"query": "needle", "limit": 200})),
            ] {
                let answer = server.call(tool, arguments);
                let kept = answer
                    .paths()
                    .iter()
                    .filter(|path| path.contains("keep"))
                    .count();
                assert_eq!(kept, 50, "{tool}");
            }
        }
        done.store(true, Ordering::Relaxed);
    });
    server.close();
}

#[test]
fn a_line_of_any_length_does_not_end_the_scan() {
    let root = Root::new();
    let mut server = Server::new(&root);
    for length in [65_535, 65_536, 70_000, 3_000_000] {
        root.write("l.txt", "x".repeat(length) + "\nneedle\n");
        let page = server.call("search_text", json!({"query": "needle"}));
        assert_eq!(
            page.items(),
            [json!({"path": "l.txt", "line": 2, "text": "needle"})],
            "{length}"
        );
    }
    server.close();
}

#[test]
fn queries_are_literal() {
    let lines = ["a.b*c", "axbbc", "[x]", "C:\\d", "(a|b)", "^$", "a+"];
    let root = Root::new().file("a.txt", lines.join("\n"));
    let mut server = Server::new(&root);
    for query in ["a.b*", "[x]", "C:\\d", "(a|b)", "^$", "a+", "axb"] {
        let page = server.call("search_text", json!({"query": query}));
        let expected: Vec<&str> = lines
            .iter()
            .copied()
            .filter(|line| line.contains(query))
            .collect();
        assert_eq!(page.column("text"), expected, "{query}");
    }
    for query in [".*", "\\D", "A.B*", "x]["] {
        assert!(
            server
                .call("search_text", json!({"query": query}))
                .items()
                .is_empty(),
            "{query}"
        );
    }
    server.close();
}
