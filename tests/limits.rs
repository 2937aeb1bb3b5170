//! Every limit: what lies within is served, the call past it gets one error
//! that names the flag, and the server goes on.

use std::collections::HashMap;
use std::fs;

use serde_json::json;
use serde_json::value::RawValue;

use crate::harness::{Answer, HAYSTACK, Launch, Message, Root, Server, call, request};

const MIB: u64 = 1 << 20;

/// The result of a message as it stands on the wire, in bytes.
fn result_bytes(message: &Message) -> usize {
    let members: HashMap<&str, &RawValue> = serde_json::from_str(&message.line).unwrap();
    members["result"].get().len()
}

/// The call got one error that names the flag; the same server still works.
fn over(server: &mut Server, answer: &Answer, flag: &str) {
    answer.refused_naming(&[flag]);
    server.alive();
    assert!(server.set_aside().is_empty(), "more than one answer");
}

#[test]
fn max_file_bytes_refuses_a_read_and_skips_a_search() {
    let root = Root::new()
        .file("fits", "needle".repeat(10))
        .file("over", "needle".repeat(10) + "x");
    let mut server = Launch::new(&root).args(["--max-file-bytes", "60"]).start();
    assert_eq!(server.read("fits").len(), 60);
    let answer = server.call("read_text_file", json!({"path": "over"}));
    over(&mut server, &answer, "--max-file-bytes");
    assert_eq!(
        server.all_paths("search_text", json!({"query": "needle"})),
        ["fits"]
    );
    server.close();
}

#[test]
fn max_write_bytes_may_be_raised_and_lowered() {
    let root = Root::new();
    for (limit, size) in [("1", 1), ("1MiB", 1 << 20)] {
        let mut server = Launch::new(&root)
            .args(["--max-write-bytes", limit])
            .start();
        server
            .call(
                "write_text_file",
                json!({"path": "f", "content": "x".repeat(size)}),
            )
            .value();
        assert_eq!(root.read("f").len(), size);
        let answer = server.call(
            "write_text_file",
            json!({"path": "f", "content": "x".repeat(size + 1)}),
        );
        answer.refused_naming(&[&size.to_string(), &(size + 1).to_string()]);
        over(&mut server, &answer, "--max-write-bytes");
        assert_eq!(root.read("f").len(), size);
        server.close();
    }
}

#[test]
fn max_result_bytes_fits_every_page_and_drops_nothing() {
    let controls: String = ('\u{1}'..='\u{1f}').cycle().take(30_000).collect();
    let mut root = Root::new()
        .file("controls.txt", &controls)
        .file("quotes.txt", "\"\\".repeat(20_000));
    for number in 0..300 {
        root = root.file(
            format!("dir/{number:03}-{}", "n".repeat(240)),
            "needle\n".repeat(3),
        );
    }
    for (flags, limit) in [
        (&[][..] as &[&str], 48_000),
        (&["--max-result-bytes", "32KiB"], 32 << 10),
    ] {
        let mut server = Launch::new(&root).args(flags).start();
        for (tool, arguments) in [
            ("read_text_file", json!({"path": "controls.txt"})),
            ("read_text_file", json!({"path": "quotes.txt"})),
            ("list_directory", json!({"path": "dir", "limit": 200})),
            ("search_files", json!({"query": "n", "limit": 200})),
            ("search_text", json!({"query": "needle", "limit": 200})),
        ] {
            for page in server.pages(tool, arguments) {
                let size = result_bytes(&page.0);
                assert!(size <= limit, "{size} bytes from {tool}");
            }
        }
        assert_eq!(server.read("controls.txt"), controls);
        assert_eq!(
            server.all("list_directory", json!({"path": "dir"})).len(),
            300
        );
        assert_eq!(
            server.all("search_text", json!({"query": "needle"})).len(),
            900
        );
        server.close();
    }
}

#[test]
fn max_scan_bytes_hands_back_a_cursor_on_an_empty_page() {
    let mut root = Root::new();
    for number in 0..6 {
        root = root.file(format!("f{number}"), "hay\n".repeat(200_000));
    }
    let root = root.file("last", "needle");
    let mut server = Launch::new(&root)
        .args(["--max-scan-bytes", "1MiB"])
        .start();
    let pages = server.pages("search_text", json!({"query": "needle"}));
    assert!(
        pages[0].items().is_empty() && pages.len() >= 4,
        "{} pages",
        pages.len()
    );
    let paths: Vec<&str> = pages.iter().flat_map(Answer::paths).collect();
    assert_eq!(paths, ["last"]);
    server.close();
}

#[test]
fn a_file_larger_than_the_scan_budget_is_searched_all_the_same() {
    let root = Root::new().file(
        "big",
        "hay\n".repeat(600_000) + "needle\n" + &"hay\n".repeat(600_000) + "needle",
    );
    let mut server = Launch::new(&root)
        .args(["--max-scan-bytes", "1MiB"])
        .start();
    let lines: Vec<_> = server
        .all("search_text", json!({"query": "needle"}))
        .iter()
        .map(|item| item["line"].clone())
        .collect();
    assert_eq!(lines, [600_001, 1_200_002]);
    server.close();
}

#[test]
fn max_entries_is_named_by_the_call_that_passes_it() {
    let mut root = Root::new();
    for number in 0..30 {
        root = root.file(format!("dir/{number}"), "x");
    }
    let mut server = Launch::new(&root).args(["--max-entries", "20"]).start();
    for (tool, arguments) in [
        ("list_directory", json!({"path": "dir"})),
        ("search_files", json!({"query": "1"})),
        ("search_text", json!({"query": "x"})),
    ] {
        let answer = server.call(tool, arguments);
        over(&mut server, &answer, "--max-entries");
    }
    assert_eq!(server.read("dir/1"), "x");
    server.close();
}

#[test]
fn max_depth_is_named_by_the_call_that_passes_it() {
    let deep = "d/".repeat(70);
    let root = Root::new()
        .file(format!("{deep}f"), "needle")
        .file("shallow", "needle");
    let mut server = Server::new(&root);
    for (tool, arguments) in [
        ("search_files", json!({"query": "f"})),
        ("search_text", json!({"query": "needle"})),
    ] {
        let answer = server.call(tool, arguments);
        over(&mut server, &answer, "--max-depth");
    }
    assert_eq!(server.read(&format!("{deep}f")), "needle");
    assert_eq!(
        server
            .all_paths("search_text", json!({"query": "needle", "path": &deep}))
            .len(),
        1
    );
    server.close();
    let mut server = Launch::new(&root).args(["--max-depth", "100"]).start();
    assert_eq!(
        server
            .all_paths("search_text", json!({"query": "needle"}))
            .len(),
        2
    );
    server.close();
}

#[test]
fn call_timeout_ends_the_call_and_not_the_server() {
    let root = Root::new().haystack().file("a.txt", "x");
    let mut server = Launch::new(&root)
        .args(HAYSTACK[..2].iter().copied())
        .args(["--call-timeout", "200ms"])
        .start();
    for _ in 0..2 {
        let answer = server.call("search_text", json!({"query": "needle"}));
        over(&mut server, &answer, "--call-timeout");
        assert_eq!(server.read("a.txt"), "x");
    }
    server.close();
}

#[test]
fn max_call_memory_ends_the_call_and_not_the_server() {
    let root = Root::new().file("a.txt", "x");
    let arguments = ["--max-call-memory", "4MiB", "--max-write-bytes", "16MiB"];
    let mut server = Launch::new(&root).args(arguments).start();
    for _ in 0..2 {
        let answer = server.call(
            "write_text_file",
            json!({"path": "big", "content": "x".repeat(12 << 20)}),
        );
        over(&mut server, &answer, "--max-call-memory");
        assert_eq!(server.read("a.txt"), "x");
    }
    assert_eq!(root.names(), ["a.txt"]);
    server.close();
}

#[test]
fn the_least_call_memory_is_enough_for_an_ordinary_call() {
    let root = Root::new().file("a.txt", "x".repeat(20_000));
    let mut server = Launch::new(&root)
        .args(["--max-call-memory", "2MiB"])
        .start();
    assert_eq!(server.read("a.txt").len(), 20_000);
    assert_eq!(server.all_paths("list_directory", json!({})), ["a.txt"]);
    server
        .call(
            "write_text_file",
            json!({"path": "b", "content": "x".repeat(65_536)}),
        )
        .value();
    server.close();
}

#[test]
fn max_request_bytes_throws_the_line_away_and_lives() {
    let root = Root::new();
    let mut server = Launch::new(&root)
        .args(["--max-request-bytes", "2000"])
        .start();
    let line = |size: usize| {
        let line = request("long", "server/discover", json!({})).to_string();
        line.clone() + &" ".repeat(size - line.len()) + "\n"
    };
    let fits = server.provoke(line(2000));
    assert_eq!(fits[0].json["id"], "long");
    fits[0].result();
    for size in [2001, 100_000] {
        let messages = server.provoke(line(size));
        assert_eq!(messages.len(), 1);
        messages[0].error_without_id(-32600);
        assert!(
            messages[0]
                .error_text(-32600)
                .contains("--max-request-bytes"),
            "{}",
            messages[0].line
        );
    }
    server.close();
}

#[test]
fn a_line_of_64_mib_is_not_kept() {
    let root = Root::new();
    let mut server = Server::new(&root);
    let block = "x".repeat(1 << 20);
    for _ in 0..64 {
        server.raw(&block);
    }
    let messages = server.provoke("\n");
    assert_eq!(messages.len(), 1);
    assert!(
        messages[0]
            .error_text(-32600)
            .contains("--max-request-bytes")
    );
    server.stayed_under(56 * MIB);
    server.close();
}

#[test]
fn a_long_line_that_never_ends_is_answered_at_the_end_of_input() {
    let root = Root::new();
    let mut server = Launch::new(&root)
        .args(["--max-request-bytes", "1KiB"])
        .start();
    server.raw("x".repeat(5000));
    let messages = server.close();
    assert_eq!(messages.len(), 1);
    messages[0].error_without_id(-32600);
}

#[test]
fn a_page_of_a_64_mib_file_takes_little_memory() {
    let root = Root::new();
    let file = fs::File::create(root.at("big.txt")).unwrap();
    let mut writer = std::io::BufWriter::new(file);
    for number in 0..(4 << 20) {
        std::io::Write::write_all(&mut writer, format!("{number:015}\n").as_bytes()).unwrap();
    }
    std::io::Write::flush(&mut writer).unwrap();
    drop(writer);
    let mut server = Server::new(&root);
    let first = server.call("read_text_file", json!({"path": "big.txt"}));
    assert_eq!(first.text().len(), 8 * 2048);
    let second = server.call(
        "read_text_file",
        json!({"path": "big.txt", "cursor": first.cursor()}),
    );
    assert_eq!(second.items()[0]["byte_offset"], 8 * 2048);
    let found = server.all("search_text", json!({"query": "000000004194303"}));
    assert_eq!(
        found,
        [json!({"path": "big.txt", "line": 4 << 20, "text": "000000004194303"})]
    );
    server.stayed_under(40 * MIB);
    server.close();
}

#[test]
fn a_queue_of_calls_longer_than_any_bound_is_answered() {
    let root = Root::new().file("a.txt", "needle\n".repeat(100));
    let mut server = Launch::new(&root).args(["--workers", "1"]).start();
    server.send_all(
        &(0..2000)
            .map(|id| call(id, "search_text", json!({"query": "needle", "limit": 1})))
            .collect::<Vec<_>>(),
    );
    let mut ids: Vec<u64> = (0..2000)
        .map(|_| server.receive().json["id"].as_u64().unwrap())
        .collect();
    ids.sort_unstable();
    assert_eq!(ids, (0..2000).collect::<Vec<_>>());
    server.close();
}

#[test]
fn a_root_nested_too_deep_is_told_what_can_be_done() {
    let root = Root::new().file("a/b/c/f", "x");
    let mut server = Launch::new(&root).args(["--max-depth", "1"]).start();
    let answer = server.call("list_directory", json!({}));
    answer.refused("directories are nested more than 1 deep; start at a path further down, or have --max-depth raised");
    over(&mut server, &answer, "--max-depth");
    // Both of what it says helps.
    let below = server.all_paths("list_directory", json!({"path": "a/b"}));
    assert_eq!(below, ["a/b/c"]);
    server.close();
    let mut server = Launch::new(&root).args(["--max-depth", "3"]).start();
    assert_eq!(server.all_paths("list_directory", json!({})), ["a"]);
    server.close();
}
