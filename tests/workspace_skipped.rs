//! search_in_file: that what was not searched, or not shown, is counted and said.

use serde_json::json;

use crate::harness::{Launch, Root, ordinary};
use crate::workspace_search::{matches, search, start};

#[test]
fn what_is_skipped_is_counted() {
    let mut noise: Vec<u8> = (0..=255).cycle().take(4_000).collect();
    let mut root = Root::new();
    for name in 0..300 {
        noise.rotate_left(7);
        root = root.file(format!("img/{name}.png"), &noise);
    }
    let utf16: Vec<u8> = "needle".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let root = root
        .file("a.txt", "needle")
        .file("gbk.txt", b"needle \xc4\xe3\xba\xc3\nneedle\n\xff\n")
        .file("utf16.txt", utf16)
        .file("large.txt", "needle\n".repeat(1_000));
    let mut server = Launch::workspace(&root)
        .args(["--max-file-bytes", "6000"])
        .start();
    let answer = server.call(
        "search_in_file",
        json!({"path": ".", "search_string": "needle", "context_lines": 1}),
    );
    assert_eq!(
        answer.said(),
        "2 matches in 2 files; 2 files searched; skipped 301 binary files; skipped 1 file over --max-file-bytes; skipped 2 lines that are not UTF-8

a.txt (1 match):
>>>    1 | needle

gbk.txt (1 match):
       1 | (not UTF-8)
>>>    2 | needle
       3 | (not UTF-8)"
    );
    let skipped = &answer.value()["skipped"];
    assert_eq!(
        (
            &skipped["files_binary"],
            &skipped["files_too_large"],
            &skipped["lines_not_utf8"]
        ),
        (&json!(301), &json!(1), &json!(2))
    );
    assert_eq!(
        answer.value()["files"][1]["matches"][0]["before"],
        json!([null])
    );
    assert_eq!(
        search(&mut server, "utf16.txt", "x"),
        "No match; 0 files searched; skipped 1 binary file"
    );
    server
        .call(
            "search_in_file",
            json!({"path": "large.txt", "search_string": "x"}),
        )
        .refused("file has 7000 bytes, more than 6000 are not read (--max-file-bytes)");
    server.close();
}

#[test]
fn what_cannot_be_read_is_counted() {
    let test = "what_cannot_be_read_is_counted";
    let root = Root::new()
        .file("closed/x", "needle")
        .file("f", "needle")
        .file("g", "needle");
    root.chmod("closed", 0);
    root.chmod("f", 0);
    let Some(launch) = ordinary(test, &root) else {
        return root.chmod("closed", 0o755);
    };
    let mut server = launch.args(["--toolset", "all"]).start();
    let said = search(&mut server, "", "needle");
    assert_eq!(
        said.lines().next(),
        Some(
            "1 match in 1 file; 1 file searched; skipped 1 unreadable file; 1 directory could not be read"
        )
    );
    server
        .call("search_in_file", json!({"path": "f", "search_string": "x"}))
        .refused("the operating system does not allow this server to open the path");
    server.close();
    root.chmod("closed", 0o755);
}

#[test]
fn a_search_that_ran_out_of_its_budget_says_so() {
    let half = "x\n".repeat(400 << 10);
    let root = Root::new()
        .file("a", "needle\n".to_owned() + &half)
        .file("b", half.clone() + "needle\n")
        .file("c", "needle\n");
    let mut server = Launch::workspace(&root)
        .args(["--max-scan-bytes", "1MiB"])
        .start();
    let answer = server.call(
        "search_in_file",
        json!({"search_string": "needle", "context_lines": 0}),
    );
    assert_eq!(
        answer.said(),
        "At least 1 match in 1 file; 1 file searched; 2 files not searched to the end, for 1MiB were scanned (--max-scan-bytes): narrow path\n\na (1 match):\n>>>    1 | needle"
    );
    assert_eq!(answer.value()["truncated"], true);
    assert_eq!(answer.value()["skipped"]["files_past_budget"], 2);
    assert_eq!(
        matches(&server.call(
            "search_in_file",
            json!({"path": "c", "search_string": "needle"})
        )),
        ["c:1:needle"]
    );
    server.close();
}

#[test]
fn an_answer_that_is_full_counts_the_rest() {
    let long = "é".repeat(3_000);
    let lines = format!("{long}needle{long}\n{long}\n").repeat(40);
    let root = Root::new()
        .file("a", &lines)
        .file("b", &lines)
        .file("c", "Needle");
    let mut server = start(&root);
    let answer = server.call(
        "search_in_file",
        json!({"search_string": "needle", "context_lines": 50}),
    );
    assert!(answer.0.result().to_string().len() <= 48_000);
    let shown = matches(&answer);
    assert!(shown.len() > 10 && shown.iter().all(|hit| hit.contains("needle")));
    assert_eq!(answer.value()["matches_total"], 81);
    assert_eq!(answer.value()["truncated"], true);
    assert_eq!(answer.value()["files"][0]["matches"][0]["cut"], true);
    let summary = format!(
        "81 matches in 3 files; 3 files searched; {} matches shown, for more do not fit one answer: narrow",
        shown.len()
    );
    assert!(
        answer.said().starts_with(&summary),
        "{}",
        answer.said().lines().next().expect("a summary")
    );
    server.close();
}

#[test]
fn a_deep_tree_is_searched_whole() {
    let mut root = Root::new();
    let mut path = String::new();
    for depth in 0..40 {
        path += "d/";
        root = root.file(format!("{path}f{depth}.txt"), "needle");
    }
    let mut server = start(&root);
    assert!(
        search(&mut server, "", "needle").starts_with("40 matches in 40 files; 40 files searched")
    );
    server.close();
    let mut server = Launch::workspace(&root).args(["--max-depth", "10"]).start();
    assert!(search(&mut server, "", "needle").starts_with("At least 10 matches in 10 files; 10 files searched; 1 directory nested too deep (--max-depth)"));
    server.close();
}
