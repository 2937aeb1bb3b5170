//! Files that keep changing while they are read, such as a log: none of them
//! may keep the others from being searched.

use std::fs::OpenOptions;
use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Instant;

use serde_json::{Value, json};

use crate::harness::{Answer, PATIENCE, Root, Server};

const KEEPS_CHANGING: &str = "the file keeps changing; try again";

/// Does `work` while something is appended to `log` all the time.
fn while_it_grows(root: &Root, log: &str, work: impl FnOnce()) {
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut log = OpenOptions::new().append(true).open(root.at(log)).unwrap();
            while !done.load(Ordering::Relaxed) {
                log.write_all(b".").unwrap();
            }
        });
        // Also when an assertion fails, or the thread would never end.
        let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work));
        done.store(true, Ordering::Relaxed);
        if let Err(failure) = result {
            std::panic::resume_unwind(failure);
        }
    });
}

/// Calls until the answer is as wanted.
fn until(
    server: &mut Server,
    tool: &str,
    arguments: &Value,
    wanted: fn(&Answer) -> bool,
) -> Answer {
    let started = Instant::now();
    loop {
        let answer = server.call(tool, arguments.clone());
        if wanted(&answer) {
            return answer;
        }
        assert!(started.elapsed() < PATIENCE, "{}", answer.0.line);
    }
}

fn is_refused(answer: &Answer) -> bool {
    answer.0.result()["isError"] == true
}

#[test]
fn a_file_that_keeps_changing_is_passed_over_with_its_matches() {
    let root = Root::new()
        .file("a.txt", "needle")
        .file("log", "needle\n".repeat(3) + &"line\n".repeat(800_000))
        .file("z.txt", "needle");
    let mut server = Server::new(&root);
    let search = json!({"query": "needle"});
    while_it_grows(&root, "log", || {
        let page = until(&mut server, "search_text", &search, |page| {
            page.paths().len() == 2
        });
        assert_eq!(
            (page.paths(), page.next_cursor()),
            (vec!["a.txt", "z.txt"], None)
        );
        // A cursor behind it is one of a state that is gone.
        let first = json!({"query": "needle", "limit": 1});
        let first = server.call("search_text", first).cursor();
        let next = json!({"query": "needle", "cursor": first});
        until(&mut server, "search_text", &next, is_refused)
            .refused_naming(&["the filesystem changed"]);
    });
    let all = server.call("search_text", search);
    assert_eq!(all.paths(), ["a.txt", "log", "log", "log", "z.txt"]);
    server.close();
}

#[test]
fn no_cursor_goes_on_behind_a_file_that_was_passed_over() {
    let root = Root::new()
        .file("log", "needle\n".to_owned() + &"line\n".repeat(800_000))
        .file("y.txt", "needle")
        .file("z.txt", "needle");
    let mut server = Server::new(&root);
    let search = json!({"query": "needle", "limit": 1});
    let mut cursor = Value::Null;
    while_it_grows(&root, "log", || {
        let page = until(&mut server, "search_text", &search, |page| {
            page.paths() == ["y.txt"]
        });
        cursor = json!(page.cursor());
    });
    server
        .call("search_text", json!({"query": "needle", "cursor": cursor}))
        .refused_naming(&["the filesystem changed"]);
    server.close();
}

#[test]
fn the_one_file_that_was_asked_for_says_that_it_keeps_changing() {
    let root = Root::new().file("log", "line\n".repeat(800_000));
    let mut server = Server::new(&root);
    while_it_grows(&root, "log", || {
        for (tool, arguments) in [
            ("search_text", json!({"query": "needle", "path": "log"})),
            ("read_text_file", json!({"path": "log"})),
        ] {
            until(&mut server, tool, &arguments, is_refused).refused(KEEPS_CHANGING);
        }
    });
    server.close();
}
