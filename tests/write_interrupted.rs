//! Writes that something interrupts: each is done in full or not at all, and
//! nobody ever sees a file that is unfinished.

use std::fs;
use std::time::Instant;

use rustix::process::Signal;
use serde_json::json;

use crate::harness::{Answer, Launch, PATIENCE, Root, Server, call};
use crate::tools_write::WAYS;

/// What takes a while to write, in bytes.
const MUCH: usize = 8 << 20;

/// A server that has just been told to write much, in each of the ways.
fn writing(root: &Root, (flags, condition): (&[&str], Option<&str>)) -> Server {
    let mut server = Launch::new(root)
        .args(["--max-write-bytes", "8MiB"])
        .args(flags.iter().copied())
        .start();
    let arguments = json!({"path": "f.txt", "content": "x".repeat(MUCH), "if_hash": condition});
    server.send(&call(1, "write_text_file", arguments));
    server
}

/// Looks until there is something to see.
fn wait_for<T>(what: &str, look: impl Fn() -> Option<T>) -> T {
    let started = Instant::now();
    loop {
        if let Some(seen) = look() {
            return seen;
        }
        assert!(started.elapsed() < PATIENCE, "no {what}");
    }
}

#[test]
fn a_new_file_is_never_seen_unfinished() {
    for way in WAYS {
        let root = Root::new();
        let mut server = writing(&root, way);
        let seen = wait_for("file", || fs::metadata(root.at("f.txt")).ok());
        assert_eq!(seen.len(), MUCH as u64, "{way:?}");
        Answer(server.answer(1)).value();
        assert_eq!(root.names(), ["f.txt"]);
        server.close();
    }
}

#[test]
fn a_process_that_is_killed_leaves_the_whole_file_or_none() {
    for way in WAYS {
        let root = Root::new();
        let server = writing(&root, way);
        // The first thing that is made, under whatever name.
        wait_for("entry", || root.names().pop());
        server.stop(Signal::KILL);
        let mut next = Server::new(&root);
        next.alive();
        for name in root.names() {
            assert_eq!((name.as_str(), root.read(&name).len()), ("f.txt", MUCH));
        }
        next.close();
    }
}

/// Unlike one that is killed it leaves nothing for the next start to clear up.
#[test]
fn a_process_that_is_told_to_end_leaves_the_whole_file_or_nothing() {
    for end in [
        Some(Signal::TERM),
        Some(Signal::INT),
        Some(Signal::HUP),
        None,
    ] {
        for way in WAYS {
            let root = Root::new();
            let server = writing(&root, way);
            wait_for("entry", || root.names().pop());
            let (_, exit) = match end {
                Some(signal) => server.stop(signal),
                None => server.finish(),
            };
            assert_eq!((exit.code, exit.stderr.as_str()), (Some(0), ""), "{end:?}");
            for name in root.names() {
                assert_eq!((name.as_str(), root.read(&name).len()), ("f.txt", MUCH));
            }
        }
    }
}

#[test]
fn a_write_past_the_limit_of_a_files_size_is_refused_and_changes_nothing() {
    const REFUSAL: &str = "the disk does not take a file of this size; nothing was changed";
    let content = "x".repeat(4 << 20);
    for (flags, condition) in WAYS {
        let root = Root::new().file("old.txt", "old");
        // More than the program itself needs, in the units of any shell, and less than is written.
        let mut server = Launch::after("ulimit -f 2048", &root)
            .args(["--max-write-bytes", "4MiB"])
            .args(flags.iter().copied())
            .start();
        // The process meets the limit in its very first call, and in every other one.
        server
            .write_if("new.txt", &content, condition)
            .refused(REFUSAL);
        if flags.is_empty() && condition.is_none() {
            server.write("old.txt", &content).refused(REFUSAL);
        }
        assert_eq!(root.names(), ["old.txt"]);
        assert_eq!(server.read("old.txt"), "old");
        server.write_if("new.txt", "short", condition).value();
        assert_eq!(root.read("new.txt"), b"short");
        server.close();
    }
}
