//! search_in_file: that every match is found, counted and shown where it stands.

use serde_json::{Value, json};

use crate::harness::{Answer, HAYSTACK, Launch, Root, Server, call, cancel};

pub(crate) fn start(root: &Root) -> Server {
    Launch::workspace(root).start()
}

/// Searches below `path` and returns the text.
pub(crate) fn search(server: &mut Server, path: &str, text: &str) -> String {
    let arguments = json!({"path": path, "search_string": text, "context_lines": 0});
    server.call("search_in_file", arguments).said().to_owned()
}

/// Every match as `path:line:text`, and what the text shows must agree.
pub(crate) fn matches(answer: &Answer) -> Vec<String> {
    let mut found = Vec::new();
    let files = answer.value()["files"].as_array().expect("files");
    for file in files {
        let path = file["path"].as_str().expect("a path");
        for hit in file["matches"].as_array().expect("matches") {
            let (line, text) = (&hit["line"], hit["text"].as_str().expect("a text"));
            assert!(
                answer
                    .said()
                    .contains(&format!("\n>>> {:>4} | ", line.as_u64().expect("a number")))
            );
            found.push(format!("{path}:{line}:{text}"));
        }
    }
    let marked = answer
        .said()
        .lines()
        .filter(|line| line.starts_with(">>> "));
    assert_eq!(marked.count(), found.len());
    assert_eq!(answer.value()["matches_shown"], found.len());
    found
}

#[test]
fn an_answer_shows_each_line_once() {
    let lines: Vec<String> = (1..=20)
        .map(|number| match number {
            2 | 5 | 15 | 20 => format!("{number} Needle"),
            _ => number.to_string(),
        })
        .collect();
    let root = Root::new().file("a/x.txt", lines.join("\r\n"));
    let mut server = start(&root);
    let answer = server.call(
        "search_in_file",
        json!({"path": "a", "search_string": "needle", "context_lines": 2}),
    );
    let expected = "\
4 matches in 1 file; 1 file searched

a/x.txt (4 matches):
       1 | 1
>>>    2 | 2 Needle
       3 | 3
       4 | 4
>>>    5 | 5 Needle
       6 | 6
       7 | 7
--
      13 | 13
      14 | 14
>>>   15 | 15 Needle
      16 | 16
      17 | 17
      18 | 18
      19 | 19
>>>   20 | 20 Needle";
    assert_eq!(answer.said(), expected);
    let hit = |line: u64, before: &[&str], after: &[&str]| json!({"line": line, "text": format!("{line} Needle"), "cut": false, "before": before, "after": after});
    assert_eq!(
        answer.value(),
        &json!({
            "files": [{
                "path": "a/x.txt",
                "matches_total": 4,
                "matches": [
                    hit(2, &["1"], &["3", "4"]),
                    hit(5, &[], &["6", "7"]),
                    hit(15, &["13", "14"], &["16", "17"]),
                    hit(20, &["18", "19"], &[]),
                ],
            }],
            "matches_total": 4,
            "matches_shown": 4,
            "files_with_matches": 1,
            "files_searched": 1,
            "truncated": false,
            "skipped": {
                "files_binary": 0,
                "files_too_large": 0,
                "files_unreadable": 0,
                "files_past_budget": 0,
                "lines_not_utf8": 0,
                "directories_unreadable": 0,
                "directories_too_deep": 0,
                "directories_past_entries": 0,
            },
        })
    );
    server.close();
}

#[test]
fn a_match_is_found_from_every_path_that_leads_to_it() {
    let root = Root::new()
        .file("a/b/c/d.txt", "x\nneedle")
        .file("one.txt", "needle")
        .link("out", "../outside/secret.txt")
        .link("loop", ".");
    let mut server = start(&root);
    let all = ["a/b/c/d.txt:2:needle", "one.txt:1:needle"];
    for (path, expected) in [
        (json!("."), &all[..]),
        (json!(""), &all),
        (json!("/"), &all),
        (json!("./"), &all),
        (json!(null), &all),
        (json!("a"), &all[..1]),
        (json!("a/b/"), &all[..1]),
        (json!("a/b/c/d.txt"), &all[..1]),
        (json!("a/b/c/d.txt/"), &all[..1]),
    ] {
        let arguments = json!({"path": path, "search_string": "needle", "context_lines": null, "max_matches": null});
        assert_eq!(
            matches(&server.call("search_in_file", arguments)),
            expected,
            "{path}"
        );
    }
    assert_eq!(
        search(&mut server, ".", "SECRET"),
        "No match; 2 files searched"
    );
    for (path, text) in [
        ("nope", "path does not exist in this root"),
        ("one.txt/x", "path does not exist in this root"),
        ("out", "path does not exist in this root"),
        ("a/.ssh", "path is not served by this root"),
    ] {
        server
            .call(
                "search_in_file",
                json!({"path": path, "search_string": "x"}),
            )
            .refused(text);
    }
    server.close();
}

#[test]
fn case_is_ignored_by_simple_folding_unless_it_matters() {
    let lines = [
        "Straße",
        "STRASSE",
        "STRAẞE",
        "\u{212a}elvin",
        "kelvin",
        "ΣΊΣΥΦΟΣ",
        "σίσυφος",
        "ı",
        "İ",
        "I",
    ];
    let root = Root::new().file("f", lines.join("\n"));
    let mut server = start(&root);
    for (text, expected) in [
        ("straße", vec![1, 3]),
        ("KELVIN", vec![4, 5]),
        ("σίσυφοσ", vec![6, 7]),
        ("i", vec![4, 5, 10]),
        ("ı", vec![8]),
        ("İ", vec![9]),
    ] {
        let answer = server.call(
            "search_in_file",
            json!({"path": "f", "search_string": text}),
        );
        let found: Vec<Value> = answer.value()["files"][0]["matches"]
            .as_array()
            .expect("matches")
            .iter()
            .map(|hit| hit["line"].clone())
            .collect();
        assert_eq!(found, expected, "{text}");
        let exact = server.call(
            "search_in_file",
            json!({"path": "f", "search_string": text, "case_sensitive": true}),
        );
        let expected = lines.iter().filter(|line| line.contains(text)).count();
        assert_eq!(exact.value()["matches_total"], expected, "{text}");
    }
    server.close();
}

#[test]
fn pattern_characters_are_literal() {
    let lines = ["a.b*c", "axbbc", "[x]", "C:\\d", "(A|b)", "^$", "a+"];
    let root = Root::new().file("a.txt", lines.join("\n"));
    let mut server = start(&root);
    for case in [true, false] {
        for text in [
            "a.b*", "[x]", "C:\\d", "(A|b)", "^$", "a+", ".*", "\\d+", "x][",
        ] {
            let arguments = json!({"path": "a.txt", "search_string": text, "case_sensitive": case, "context_lines": 0});
            let found = matches(&server.call("search_in_file", arguments));
            let expected: Vec<String> = (1..)
                .zip(lines)
                .filter(|(_, line)| line.contains(text))
                .map(|(number, line)| format!("a.txt:{number}:{line}"))
                .collect();
            assert_eq!(found, expected, "{text}");
        }
    }
    let longest = "x".repeat(256);
    root.write("a.txt", longest.to_uppercase());
    assert!(search(&mut server, "a.txt", &longest).starts_with("1 match in 1 file"));
    for text in [json!(""), json!("a\nb"), json!("\n"), json!(longest + "x")] {
        server
            .call(
                "search_in_file",
                json!({"path": "a.txt", "search_string": text}),
            )
            .refused("search_string must be one line of 1 to 256 bytes");
    }
    for text in [json!(1), json!(["x"])] {
        server
            .call(
                "search_in_file",
                json!({"path": "a.txt", "search_string": text}),
            )
            .refused("search_string must be a string");
    }
    server.close();
}

#[test]
fn lines_end_at_lf_alone() {
    let root = Root::new()
        .file("ff.txt", "a\x0cb\nneedle\n")
        .file("ls.txt", "a\u{2028}b\u{85}c\nneedle\n")
        .file("bom.txt", "\u{feff}x\nneedle")
        .file("cr.txt", "a\rb\r\nneedle\r\n")
        .file("long.txt", "x".repeat(70_000) + "\nneedle\n");
    let mut server = start(&root);
    let answer = server.call(
        "search_in_file",
        json!({"search_string": "needle", "context_lines": 0}),
    );
    let expected = ["bom", "cr", "ff", "long", "ls"].map(|name| format!("{name}.txt:2:needle"));
    assert_eq!(matches(&answer), expected);
    let answer = server.call(
        "search_in_file",
        json!({"path": "bom.txt", "search_string": "X"}),
    );
    assert_eq!(matches(&answer), ["bom.txt:1:\u{feff}x"]);
    server.close();
}

#[test]
fn context_and_matches_are_clamped() {
    let root = Root::new().file("x.txt", "needle 1\nmiddle\nneedle 3");
    let mut server = start(&root);
    for (context, shown) in [
        (json!(0), 2),
        (json!(-5), 2),
        (json!(1_000_000), 3),
        (json!(1_u64 << 40), 3),
        (json!("1"), 3),
        (json!(1.0), 3),
    ] {
        let answer = server.call(
            "search_in_file",
            json!({"path": "x.txt", "search_string": "needle", "context_lines": context}),
        );
        assert_eq!(matches(&answer).len(), 2);
        let rows = answer
            .said()
            .lines()
            .filter(|line| line.contains(" | "))
            .count();
        assert_eq!(rows, shown, "{context}");
    }
    for (most, shown) in [
        (json!(0), 1),
        (json!(-1), 1),
        (json!(1), 1),
        (json!(1_u64 << 40), 2),
    ] {
        let answer = server.call(
            "search_in_file",
            json!({"path": "x.txt", "search_string": "needle", "max_matches": most}),
        );
        assert_eq!(matches(&answer).len(), shown, "{most}");
        assert_eq!(answer.value()["matches_total"], 2);
        assert_eq!(answer.value()["truncated"], false);
        if shown == 1 {
            assert_eq!(
                answer.said(),
                "2 matches in 1 file; 1 file searched; 1 match shown\n\nx.txt (2 matches, the first 1 shown):\n>>>    1 | needle 1\n       2 | middle"
            );
        }
    }
    for name in ["context_lines", "max_matches"] {
        server
            .call(
                "search_in_file",
                json!({"path": "x.txt", "search_string": "x", name: "many"}),
            )
            .refused(&format!("{name} must be an integer"));
    }
    server.close();
}

#[test]
fn a_search_can_be_cancelled() {
    let root = Root::new().haystack();
    let mut server = Launch::workspace(&root).args(HAYSTACK).start();
    let long = json!({"search_string": "needle"});
    server.send(&call("long", "search_in_file", long));
    server.send(&cancel("long"));
    server.alive();
    assert!(server.set_aside().is_empty());
    server.close();
}
