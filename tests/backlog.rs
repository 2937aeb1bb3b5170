//! What waits on either side: calls that were sent and not yet run, answers
//! that nobody reads, an end that comes behind either, and pipes that were set
//! not to block.

use std::io::{BufRead, BufReader, PipeReader, Read, Write};
use std::os::fd::AsFd;
use std::thread;

use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use serde_json::json;

use crate::framing::probe;
use crate::harness::{HAYSTACK, Launch, Process, Root, call, request};

#[test]
fn calls_with_long_ids_do_not_pile_up_behind_a_long_one() {
    let root = Root::new().haystack();
    let mut process = Launch::new(&root)
        .args(HAYSTACK[..2].iter().copied())
        .args(["--workers", "1", "--call-timeout", "6s"])
        .spawn();
    let mut stdin = process.take_stdin().unwrap();
    let calls = 40;
    let writer = thread::spawn(move || {
        let long = call("long", "search_text", json!({"query": "needle"}));
        writeln!(stdin, "{long}").unwrap();
        // It waits for the one before it, and those behind it wait for it.
        let write = json!({"path": "f.txt", "content": "content"});
        writeln!(stdin, "{}", call("write", "write_text_file", write)).unwrap();
        for number in 1..=calls {
            let id = format!("{number}{}", "7".repeat(8_000_000));
            let line = call("ID", "list_directory", json!({})).to_string();
            writeln!(stdin, "{}", line.replace("\"ID\"", &id)).unwrap();
        }
        stdin
    });
    for _ in 0..calls + 2 {
        process.line().expect("an answer");
    }
    match process.peak_memory() {
        // All of them at once would be 320 MB.
        Some(peak) => assert!(peak < 96 << 20, "{peak} bytes of memory"),
        None => eprintln!("SKIPPED: this system does not say how much memory a process held"),
    }
    drop(writer.join().unwrap());
    assert_eq!(process.wait().code, Some(0));
}

/// A server whose answers nobody reads, as long as the result is kept.
fn unread(launch: Launch) -> (Process, PipeReader) {
    let (reader, writer) = std::io::pipe().unwrap();
    (
        launch.with(|command| command.stdout(writer)).spawn(),
        reader,
    )
}

fn ends_quietly(mut process: Process) {
    drop(process.take_stdin());
    let exit = process.wait();
    assert_eq!((exit.code, exit.stderr.as_str()), (Some(0), ""));
}

#[test]
fn the_end_of_input_is_seen_behind_calls_that_wait() {
    let root = Root::new().haystack();
    let (mut process, _unread) = unread(Launch::new(&root).args(HAYSTACK));
    // More than are taken, and what is not fits into the pipe. Each would run for many seconds.
    let lines: String = (0..4200)
        .map(|id| format!("{}\n", call(id, "search_text", json!({"query": "needle"}))))
        .collect();
    process.write(lines.as_bytes());
    ends_quietly(process);
}

#[test]
fn the_end_of_input_is_seen_behind_answers_that_nobody_reads() {
    let root = Root::new();
    let (mut process, _unread) = unread(Launch::new(&root));
    // These are answered with 17 MB, past which nothing is read.
    for number in 0..17 {
        let line = probe(&format!("{number}-{}", "i".repeat(1_000_000)));
        process.write(format!("{line}\n").as_bytes());
    }
    process.write(format!("{}\n", probe("unread")).as_bytes());
    ends_quietly(process);
}

#[test]
fn a_reader_that_vanishes_while_much_waits_for_it_ends_the_server_quietly() {
    let root = Root::new()
        .haystack()
        .file("big.txt", "line of text\n".repeat(2000));
    let (mut process, unread) = unread(Launch::new(&root).args(HAYSTACK));
    let search = call("long", "search_text", json!({"query": "needle"}));
    process.write(format!("{search}\n").as_bytes());
    // Far more than the pipe holds: whoever writes is in the middle of a line.
    for id in 0..100 {
        let line = call(id, "read_text_file", json!({"path": "big.txt"}));
        process.write(format!("{line}\n").as_bytes());
    }
    let mut first = [0; 1 << 10];
    (&unread).read_exact(&mut first).unwrap();
    drop(unread);
    let exit = process.wait();
    assert_eq!((exit.code, exit.stderr.as_str()), (Some(0), ""));
}

#[test]
fn pipes_that_do_not_block_are_waited_for() {
    fn set(pipe: &impl AsFd) {
        let flags = fcntl_getfl(pipe).unwrap();
        fcntl_setfl(pipe, flags | OFlags::NONBLOCK).unwrap();
    }
    let root = Root::new();
    let (input, mut requests) = std::io::pipe().unwrap();
    let (answers, output) = std::io::pipe().unwrap();
    set(&input);
    set(&output);
    let mut process = Launch::new(&root)
        .with(|command| command.stdin(input).stdout(output))
        .spawn();
    let mut answers = BufReader::new(answers);
    let mut answer = || {
        let mut line = String::new();
        answers.read_line(&mut line).unwrap();
        line
    };
    // One at a time: the server finds nothing to read again and again.
    for id in 0..5 {
        writeln!(requests, "{}", request(id, "tools/list", json!({}))).unwrap();
        assert!(answer().contains(&format!("\"id\":{id},")));
    }
    // Many megabytes in and out, far more than the pipes hold.
    for number in 0..10 {
        let id = format!("{number}-{}", "i".repeat(1_000_000));
        writeln!(requests, "{}", probe(&id)).unwrap();
    }
    for number in 0..10 {
        let line = answer();
        assert!(line.starts_with(&format!("{{\"jsonrpc\":\"2.0\",\"id\":\"{number}-i")));
        assert!(line.len() > 1_000_000 && line.ends_with("}\n"));
    }
    drop(requests);
    let mut rest = Vec::new();
    answers.read_to_end(&mut rest).unwrap();
    assert!(rest.is_empty());
    let exit = process.wait();
    assert_eq!((exit.code, exit.stderr.as_str()), (Some(0), ""));
}
