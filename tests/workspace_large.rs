//! Much at once in a workspace: contents of many bytes, trees of many entries,
//! and what a process that dies or runs out of time in the middle leaves.

use std::fs;
use std::time::Instant;

use rustix::process::Signal;
use serde_json::json;

use crate::harness::{Launch, PATIENCE, Root, Server, call, sha256};

fn start(root: &Root) -> Server {
    Launch::workspace(root).start()
}

/// Makes this many files under `many/`, a thousand a directory.
fn fill(root: &Root, entries: usize) {
    for at in 0..entries {
        let directory = root.at(&format!("many/{}", at / 1000));
        if at % 1000 == 0 {
            fs::create_dir_all(&directory).unwrap();
        }
        fs::File::create(directory.join(at.to_string())).unwrap();
    }
}

/// Deletes `many/` in as many calls as it takes. How many entries went, unless a call was ended
/// before it could say so.
fn delete_all(server: &mut Server) -> Option<u64> {
    let started = Instant::now();
    let mut removed = Some(0);
    loop {
        let answer = server.call("delete_directory", json!({"path": "many", "force": true}));
        if answer.0.result()["isError"] != true {
            let last = answer.value()["removed"].as_u64().unwrap();
            return removed.map(|removed| removed + last);
        }
        let text = answer.refusal();
        if let Some(rest) = text.strip_prefix("not all of it is removed: ") {
            let (count, why) = rest.split_once(" entries were, then ").unwrap();
            assert_eq!(why, "the time of this call was over; call again to go on");
            let count = count.parse::<u64>().unwrap();
            removed = removed.map(|removed| removed + count);
        } else {
            // A machine that is busy may stop a call anywhere.
            assert!(text.contains("--call-timeout"), "{text}");
            removed = removed.filter(|_| text.contains("nothing was removed"));
        }
        assert!(started.elapsed() < 10 * PATIENCE, "it does not end");
    }
}

#[test]
fn eight_megabytes_are_written_exactly_and_a_hundred_and_twenty_are_refused_by_the_limit() {
    let root = Root::new();
    let mut server = start(&root);
    let eight = "é\n".repeat(8_000_000 / 3);
    let written = server.call("write_file", json!({"path": "d/8.txt", "content": eight}));
    assert_eq!(written.hash(), sha256(&eight));
    assert!(root.read("d/8.txt") == eight.as_bytes());
    server
        .call(
            "write_file",
            json!({"path": "d/120.txt", "content": "x".repeat(120_000_000)}),
        )
        .refused(
            "content has 120000000 bytes, more than 104857600 are not written (--max-write-bytes)",
        );
    server.alive();
    server.close();
    assert_eq!(fs::read_dir(root.at("d")).unwrap().count(), 1);
}

#[test]
fn a_killed_write_into_a_directory_leaves_the_old_content_and_its_temporary_is_swept() {
    let root = Root::new();
    let started = Instant::now();
    loop {
        root.write("d/f.txt", "old");
        let mut server = start(&root);
        let arguments = json!({"path": "d/f.txt", "content": "new\n".repeat(4 << 20)});
        server.send(&call(1, "write_file", arguments));
        while root.names().len() == 1 && root.read("d/f.txt") == b"old" {
            assert!(started.elapsed() < PATIENCE, "nothing was made");
        }
        server.stop(Signal::KILL);
        if root.names().len() > 1 {
            break;
        }
        // It was done before the signal came.
        assert!(started.elapsed() < PATIENCE, "no write was cut short");
    }
    assert_eq!(root.read("d/f.txt"), b"old");
    let mut next = start(&root);
    next.alive();
    assert_eq!(root.names(), ["d"]);
    assert_eq!(fs::read_dir(root.at("d")).unwrap().count(), 1);
    next.close();
}

#[test]
fn a_killed_write_makes_no_directories() {
    let root = Root::new();
    let started = Instant::now();
    loop {
        let mut server = start(&root);
        let arguments = json!({"path": "a/b/f.txt", "content": "new\n".repeat(4 << 20)});
        server.send(&call(1, "write_file", arguments));
        while root.names().is_empty() {
            assert!(started.elapsed() < PATIENCE, "nothing was made");
        }
        server.stop(Signal::KILL);
        if !root.at("a").exists() {
            break;
        }
        assert!(started.elapsed() < PATIENCE, "no write was cut short");
        fs::remove_dir_all(root.at("a")).unwrap();
    }
    start(&root).close();
    assert_eq!(root.names(), [""; 0]);
}

#[test]
fn thousands_of_entries_go() {
    let root = Root::new();
    fill(&root, 5000);
    let mut server = start(&root);
    assert_eq!(delete_all(&mut server), Some(5000 + 5 + 1));
    assert_eq!(root.names(), [""; 0]);
    server.close();
}

#[test]
fn a_removal_that_has_too_little_time_says_how_far_it_came_and_goes_on() {
    let root = Root::new();
    fill(&root, 6000);
    let mut server = Launch::workspace(&root)
        .args(["--call-timeout", "1s"])
        .start();
    let removed = delete_all(&mut server);
    assert_eq!(removed.unwrap_or(6007), 6000 + 6 + 1);
    assert_eq!(root.names(), [""; 0]);
    server.close();
}

/// `cargo test --test e2e -- --ignored workspace_large`.
#[test]
#[ignore = "makes 100,000 files"]
fn a_hundred_thousand_entries_go() {
    let root = Root::new();
    fill(&root, 100_000);
    let mut server = start(&root);
    assert_eq!(delete_all(&mut server), Some(100_000 + 100 + 1));
    assert_eq!(root.names(), [""; 0]);
    server.close();
}

/// The largest contents there may be, within the memory of one call.
#[test]
#[ignore = "sends 480 MiB"]
fn a_hundred_mebibytes_are_written_and_read_as_text_and_as_base64() {
    const SIZE: usize = 100 << 20;
    let root = Root::new();
    let mut server = start(&root);
    let text = "0123456789abcde\n".repeat(SIZE / 16);
    let written = server.call("write_file", json!({"path": "d/text", "content": text}));
    assert_eq!(written.value()["bytes"], SIZE);
    assert!(root.read("d/text") == text.as_bytes());
    drop(text);
    // 57 zero bytes are 76 symbols, which is a line as mail has them.
    let line = "A".repeat(76) + "\r\n";
    let lines = line.repeat(SIZE / 57) + "AA==";
    let written = server.call(
        "write_file",
        json!({"path": "d/bytes", "content": lines, "binary": true}),
    );
    assert_eq!(written.value()["bytes"], SIZE);
    assert!(root.read("d/bytes") == vec![0; SIZE]);
    for (path, binary, end) in [("d/text", false, "abcde\n"), ("d/bytes", true, "AA==")] {
        let read = server.call("read_file", json!({"path": path, "binary": binary}));
        let text = read.said();
        let length = if binary { SIZE.div_ceil(3) * 4 } else { SIZE };
        assert!(text.len() > length && text.ends_with(end), "{}", text.len());
    }
    server.close();
}
