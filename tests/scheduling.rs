//! Who waits for whom: a call that takes long keeps nothing short waiting,
//! however many there are of either, and what is not read holds no memory.

use std::io::{BufRead, BufReader, Write};
use std::thread;
use std::time::Instant;

use serde_json::{Value, json};

use crate::harness::{
    Answer, HAYSTACK, Launch, PATIENCE, Process, Root, Server, call, cancel, request, traced,
};

/// A call that goes on for many seconds in a haystack. It says that it goes on.
fn long(id: &str) -> Value {
    let mut message = call(id, "search_text", json!({"query": "needle"}));
    message["params"]["_meta"]["progressToken"] = json!(id);
    message
}

fn start(root: &Root, workers: &str) -> Server {
    Launch::new(root)
        .args(HAYSTACK)
        .args(["--workers", workers])
        .start()
}

/// Waits until this call says that it goes on.
fn goes_on(server: &mut Server, id: &str) {
    while server.receive().json["params"]["progressToken"] != id {}
}

/// Everything short is answered, although nothing long ends.
fn is_quick(server: &mut Server) {
    server.alive();
    server.request("tools/list", json!({})).result();
    assert_eq!(server.read("a.txt"), "x");
    server
        .call("list_directory", json!({"path": "short"}))
        .items();
    let answers = server.set_aside();
    assert!(answers.iter().all(|one| one.json.get("id").is_none()));
}

#[test]
fn a_long_call_on_every_worker_keeps_no_short_one_waiting() {
    for workers in [1, 2, 3] {
        let root = Root::new()
            .haystack()
            .file("a.txt", "x")
            .file("short/b", "");
        let mut server = start(&root, &workers.to_string());
        let ids: Vec<String> = (0..workers).map(|id| format!("long {id}")).collect();
        for id in &ids {
            server.send(&long(id));
            goes_on(&mut server, id);
        }
        is_quick(&mut server);
        for id in ids {
            server.send(&cancel(id));
        }
        server.alive();
        server.set_aside();
        assert!(server.close().is_empty());
    }
}

#[test]
fn more_long_calls_than_workers_keep_no_short_one_waiting_and_all_get_their_turn() {
    let root = Root::new()
        .haystack()
        .file("a.txt", "x")
        .file("short/b", "");
    let mut server = start(&root, "1");
    let ids = ["first", "second", "third"];
    server.send_all(&ids.map(long));
    is_quick(&mut server);
    // In the order they came in, whatever they had begun before.
    for id in ids {
        goes_on(&mut server, id);
        is_quick(&mut server);
        server.send(&cancel(id));
    }
    server.alive();
    server.set_aside();
    assert!(server.close().is_empty());
}

#[test]
fn a_long_call_beside_others_is_answered_once() {
    let root = Root::new().haystack();
    let mut server = Launch::new(&root)
        .args(["--workers", "1", "--max-scan-bytes", "128MiB"])
        .start();
    // Each takes longer than a call may beside the one worker.
    let search = |id| call(id, "search_text", json!({"query": "needle"}));
    server.send_all(&[0, 1, 2, 3].map(search));
    for id in 0..4 {
        let page = Answer(server.answer(id));
        assert!(page.items().is_empty() && page.next_cursor().is_some());
    }
    assert!(server.close().is_empty());
}

#[test]
fn a_call_that_waits_to_begin_anew_can_be_cancelled() {
    let root = Root::new()
        .haystack()
        .file("a.txt", "x")
        .file("short/b", "");
    let mut server = start(&root, "1");
    server.send_all(&["first", "second", "third"].map(long));
    is_quick(&mut server);
    server.send(&cancel("second"));
    goes_on(&mut server, "first");
    server.send(&cancel("first"));
    goes_on(&mut server, "third");
    server.send(&cancel("third"));
    server.alive();
    server.set_aside();
    assert!(server.close().is_empty());
}

#[test]
fn a_write_waits_for_every_call_before_it_also_for_those_that_begin_anew() {
    let root = Root::new()
        .haystack()
        .file("a.txt", "x")
        .file("short/b", "");
    let mut server = start(&root, "1");
    server.send_all(&["first", "second"].map(long));
    is_quick(&mut server);
    let content = json!({"path": "new.txt", "content": "new"});
    server.send(&call("write", "write_text_file", content));
    server.send(&call("read", "read_text_file", json!({"path": "new.txt"})));
    server.send(&cancel("first"));
    goes_on(&mut server, "second");
    // What needs no call does not wait for it.
    server.alive();
    assert!(!root.at("new.txt").exists());
    server.send(&cancel("second"));
    Answer(server.answer("write")).value();
    assert_eq!(Answer(server.answer("read")).text(), "new");
    server.set_aside();
    server.close();
}

#[test]
fn a_write_of_much_keeps_neither_a_cancellation_nor_a_short_answer_waiting() {
    let root = Root::new();
    let test = "a_write_of_much_keeps_neither_a_cancellation_nor_a_short_answer_waiting";
    // The write is not on disk for as long as anything here takes.
    let slow = [
        "trace=fsync,seccomp",
        "inject=fsync:delay_enter=3000000:when=1",
    ];
    let Some((launch, _)) = traced(test, &root, &slow) else {
        return;
    };
    let limits = [
        "--max-write-bytes",
        "100MiB",
        "--max-request-bytes",
        "160MiB",
    ];
    let mut server = launch.args(limits).start();
    let content = json!({"path": "f.txt", "content": "x".repeat(100 << 20)});
    server.send(&call("write", "write_text_file", content));
    server.send(&call("read", "read_text_file", json!({"path": "f.txt"})));
    server.send(&request("list", "tools/list", json!({})));
    server.send(&cancel("write"));
    server.send_all(&[request("after", "server/discover", json!({}))]);
    for id in ["list", "after"] {
        assert_eq!(server.receive().json["id"], id);
    }
    // It is never answered, and the read behind it is once it has gone.
    Answer(server.answer("read")).refused("path does not exist in this root");
    assert!(server.close().is_empty());
    assert_eq!(root.names(), Vec::<String>::new());
}

/// Waits until the server does nothing any more. Rather than by a sleep, time
/// passes while another server runs a call that is stopped.
fn wait_until_idle(process: &Process) {
    let root = Root::new().haystack();
    let limits = ["--call-timeout", "300ms", "--max-scan-bytes", "1024GiB"];
    let mut clock = Launch::new(&root).args(limits).start();
    let started = Instant::now();
    let mut before = None;
    while before != process.work() {
        before = process.work();
        let search = clock.call("search_text", json!({"query": "needle"}));
        search.refused_naming(&["--call-timeout"]);
        assert!(started.elapsed() < PATIENCE, "it goes on");
    }
    clock.close();
}

#[test]
fn ten_thousand_requests_of_a_client_that_does_not_read_hold_little_memory() {
    const REQUESTS: u64 = 10_000;
    let root = Root::new().file("big.txt", "line of text\n".repeat(2000));
    let (answers, output) = std::io::pipe().unwrap();
    let mut process = Launch::new(&root)
        .with(|command| command.stdout(output))
        .spawn();
    let mut stdin = process.take_stdin().unwrap();
    let writer = thread::spawn(move || {
        for id in 0..REQUESTS {
            let message = match id % 2 {
                0 => call(id, "read_text_file", json!({"path": "big.txt"})),
                _ => request(id, "tools/list", json!({})),
            };
            writeln!(stdin, "{message}").unwrap();
        }
        stdin
    });
    wait_until_idle(&process);
    assert!(!writer.is_finished(), "everything was taken");
    let mut answered = vec![0; usize::try_from(REQUESTS).unwrap()];
    let mut lines = BufReader::new(answers).lines();
    for _ in 0..REQUESTS {
        let line: Value = serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap();
        assert!(line.get("result").is_some(), "{line}");
        let id = line["id"].as_u64().unwrap();
        answered[usize::try_from(id).unwrap()] += 1;
    }
    assert!(answered.iter().all(|times| *times == 1));
    match process.peak_memory() {
        // All answers together are more than 100 MB.
        Some(peak) => assert!(peak < 64 << 20, "{peak} bytes of memory"),
        None => eprintln!("SKIPPED: this system does not say how much memory a process held"),
    }
    drop(writer.join().unwrap());
    assert!(lines.next().is_none());
    assert_eq!(process.wait().code, Some(0));
}
