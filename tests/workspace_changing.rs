//! Reading, listing and searching a workspace while something else changes it.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use serde_json::json;

use crate::harness::{Launch, Root, sha256};

/// Calls `each` while another thread does `change` over and over.
fn while_changing(change: impl Fn(u32) + Sync, each: impl FnOnce()) {
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            for turn in 0.. {
                change(turn);
                if done.load(Ordering::Relaxed) {
                    return;
                }
            }
        });
        // Should this panic, the other thread must end all the same.
        let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(each));
        done.store(true, Ordering::Relaxed);
        if let Err(panic) = result {
            std::panic::resume_unwind(panic);
        }
    });
}

#[test]
fn what_is_not_touched_is_always_there() {
    let mut root = Root::new();
    for name in 0..20 {
        root = root.file(format!("kept/{name:02}"), "needle");
    }
    let kept: Vec<String> = (0..20).map(|name| format!("kept/{name:02}")).collect();
    let mut server = Launch::workspace(&root).start();
    let change = |turn: u32| {
        root.write(&format!("kept/t{}/x", turn % 7), "other");
        std::fs::remove_dir_all(root.at(&format!("kept/t{}", (turn + 3) % 7))).ok();
    };
    while_changing(change, || {
        for _ in 0..50 {
            let listing = server.call("list_files", json!({}));
            let files = listing.value()["files"].as_array().expect("files").clone();
            let found = server.call("search_in_file", json!({"search_string": "needle"}));
            let matching = found.value()["files"].as_array().expect("files").clone();
            for path in &kept {
                assert!(files.contains(&json!(path)), "{path} is not listed");
                assert!(matching.iter().any(|file| file["path"] == path.as_str()));
            }
        }
    });
    server.close();
}

#[test]
fn a_file_is_of_one_moment_or_said_to_change() {
    let text = |turn: u32| format!("{turn:09}\n").repeat(100_000);
    let root = Root::new().file("f", text(0));
    let mut server = Launch::workspace(&root).start();
    let change = |turn: u32| {
        // Put in place at once, so that each moment is one whole text.
        root.write("new", text(turn % 9));
        std::fs::rename(root.at("new"), root.at("f")).expect("a new name");
    };
    while_changing(change, || {
        for _ in 0..10 {
            let answer = server.call("read_file", json!({"path": "f"}));
            let (header, content) = answer.said().split_once(":\n\n").expect("a header");
            let turn = content[..9].parse().expect("a number");
            assert!(content == text(turn), "torn");
            assert!(header.contains(&sha256(content)));
        }
    });
    server.close();
}

#[test]
fn a_file_that_is_written_to_all_the_time_is_refused_or_of_one_hash() {
    let root = Root::new().file("f", "x".repeat(1 << 20));
    let file = File::options()
        .write(true)
        .open(root.at("f"))
        .expect("the file");
    let mut server = Launch::workspace(&root).start();
    let change = |turn: u32| {
        let text = format!("{turn:09}\n");
        let at = u64::from(turn % 1000) * 1000;
        file.write_all_at(text.as_bytes(), at)
            .expect("a written line");
    };
    while_changing(change, || {
        for _ in 0..20 {
            let answer = server.call("read_file", json!({"path": "f"}));
            if answer.0.result()["isError"] == true {
                answer.refused("the file keeps changing; try again");
                continue;
            }
            let (header, content) = answer.said().split_once(":\n\n").expect("a header");
            assert_eq!(content.len(), 1 << 20);
            assert!(header.contains(&sha256(content)));
        }
    });
    server.close();
}
