//! A call that comes alone is run by the thread that reads. Nobody is to notice:
//! whatever comes while it goes on, or while an answer cannot be written, is
//! taken all the same.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Write};
use std::sync::mpsc::channel;
use std::thread;
use std::time::Instant;

use serde_json::{Value, json};

use crate::harness::{HAYSTACK, Launch, PATIENCE, Root, Server, call, cancel, request};

/// Numbers that look like chance and are the same each time.
struct Random(u32);

impl Random {
    fn below(&mut self, limit: u32) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 17;
        self.0 ^= self.0 << 5;
        self.0 % limit
    }
}

/// What is still to be answered, and what was.
struct Ledger {
    server: Server,
    sent: u64,
    answered: HashMap<u64, bool>,
    cancelled: Vec<u64>,
}

impl Ledger {
    /// A request that takes no time, some milliseconds, or for ever.
    fn message(&mut self, random: &mut Random) -> Value {
        self.sent += 1;
        self.answered.insert(self.sent, false);
        match random.below(16) {
            0..4 => request(self.sent, "server/discover", json!({})),
            4..10 => call(self.sent, "read_text_file", json!({"path": "f.txt"})),
            10..12 => call(
                self.sent,
                "write_text_file",
                json!({"path": "f.txt", "content": "text"}),
            ),
            12..15 => {
                let path = format!("some/{}", random.below(3));
                call(
                    self.sent,
                    "search_text",
                    json!({"query": "needle", "path": path}),
                )
            }
            _ => {
                self.cancelled.push(self.sent);
                call(
                    self.sent,
                    "search_text",
                    json!({"query": "needle", "path": "hay"}),
                )
            }
        }
    }

    fn is_open(&self, id: u64) -> bool {
        !self.answered[&id] && !self.cancelled.contains(&id)
    }

    fn take(&mut self, answer: &Value) {
        let id = answer["id"].as_u64().expect("an id of ours");
        assert!(answer.get("result").is_some(), "{answer}");
        let before = self.answered.insert(id, true);
        assert_eq!(
            before,
            Some(false),
            "answered twice, or never asked: {answer}"
        );
    }

    /// Waits until this one is answered.
    fn settle(&mut self, id: u64) {
        while self.is_open(id) {
            let answer = self.server.receive();
            self.take(&answer.json);
        }
    }
}

#[test]
fn slow_and_short_calls_in_any_order_are_answered_once_each() {
    for workers in [1, 2] {
        let root = Root::new().haystack().file("f.txt", "text");
        for (directory, files) in [1, 2, 4].into_iter().enumerate() {
            for file in 0..files {
                let path = format!("some/{directory}/{file}");
                root.write(&path, "");
                std::fs::remove_file(root.at(&path)).unwrap();
                std::fs::hard_link(root.at("hay/0"), root.at(&path)).unwrap();
            }
        }
        let server = Launch::new(&root)
            .args(HAYSTACK)
            .args(["--workers", &workers.to_string()])
            .start();
        let mut ledger = Ledger {
            server,
            sent: 0,
            answered: HashMap::new(),
            cancelled: Vec::new(),
        };
        let mut random = Random(workers);
        for _ in 0..60 {
            let first = ledger.sent + 1;
            let burst = 1 + random.below(3);
            let messages: Vec<Value> = (0..burst).map(|_| ledger.message(&mut random)).collect();
            match random.below(2) {
                0 => ledger.server.send_all(&messages),
                _ => messages
                    .iter()
                    .for_each(|message| ledger.server.send(message)),
            }
            // A long one goes on for a while, or is gone before it begins.
            let is_endless = |id: &&u64| **id >= first;
            let endless: Vec<u64> = ledger
                .cancelled
                .iter()
                .filter(is_endless)
                .copied()
                .collect();
            for id in endless {
                if random.below(2) == 0 {
                    ledger.server.alive();
                    for answer in ledger.server.set_aside() {
                        ledger.take(&answer.json);
                    }
                }
                ledger.server.send(&cancel(id));
            }
            if random.below(3) > 0 {
                let id = ledger.sent - u64::from(random.below(burst));
                ledger.settle(id);
            }
        }
        for id in 1..=ledger.sent {
            ledger.settle(id);
        }
        let Ledger {
            server,
            answered,
            cancelled,
            ..
        } = ledger;
        assert!(server.close().is_empty());
        assert!(
            cancelled.iter().all(|id| !answered[id]),
            "an endless call was answered"
        );
    }
}

/// Where there is one worker, nobody was woken to run what came behind the long
/// call: whoever watches that it is read on does.
#[test]
fn what_came_together_with_a_long_call_does_not_wait_for_it() {
    for workers in ["1", "2"] {
        let root = Root::new().haystack().file("f.txt", "text");
        let mut server = Launch::new(&root)
            .args(HAYSTACK)
            .args(["--workers", workers])
            .start();
        let read = |id| call(id, "read_text_file", json!({"path": "f.txt"}));
        let long = call("long", "search_text", json!({"query": "needle"}));
        server.send_all(&[long, read("first"), read("second")]);
        for id in ["first", "second"] {
            server.answer(id).result();
        }
        server.send(&cancel("long"));
        assert!(server.close().is_empty());
    }
}

#[test]
fn a_client_that_reads_no_answer_yet_is_read_from() {
    const REQUESTS: usize = 2000;
    let root = Root::new();
    let (answers, output) = std::io::pipe().unwrap();
    let mut process = Launch::new(&root)
        .args(["--workers", "1"])
        .with(|command| command.stdout(output))
        .spawn();
    let mut stdin = process.take_stdin().unwrap();
    let (send, sent) = channel();
    thread::spawn(move || {
        // One at a time, each of which could be answered before the next comes.
        for id in 0..REQUESTS {
            writeln!(stdin, "{}", request(id, "server/discover", json!({}))).unwrap();
        }
        let arguments = json!({"path": "f.txt", "content": "written"});
        writeln!(stdin, "{}", call(REQUESTS, "write_text_file", arguments)).unwrap();
        send.send(stdin).unwrap();
    });
    let stdin = sent.recv_timeout(PATIENCE).expect("all is read");
    let started = Instant::now();
    while !root.at("f.txt").exists() {
        assert!(started.elapsed() < PATIENCE, "the call does not run");
    }
    let mut answered = vec![0; REQUESTS + 1];
    let mut lines = BufReader::new(answers).lines();
    for _ in 0..=REQUESTS {
        let line: Value = serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap();
        assert!(line.get("result").is_some(), "{line}");
        answered[usize::try_from(line["id"].as_u64().unwrap()).unwrap()] += 1;
    }
    assert!(answered.iter().all(|times| *times == 1));
    drop(stdin);
    assert!(lines.next().is_none());
    assert_eq!(process.wait().code, Some(0));
}

/// Rather than by a sleep, time passes while another server runs a call that
/// is stopped after a second.
#[test]
fn once_all_is_answered_nobody_wakes_up_again() {
    let root = Root::new().haystack().file("f.txt", "text");
    let mut server = Launch::new(&root)
        .args(["--max-scan-bytes", "128MiB"])
        .start();
    let limits = ["--call-timeout", "1s", "--max-scan-bytes", "1024GiB"];
    let mut clock = Launch::new(&root).args(limits).start();
    let search = json!({"query": "needle"});
    // One that somebody else reads beside, a short one, and one that comes behind others.
    server.call("search_text", search.clone()).items();
    assert_eq!(server.read("f.txt"), "text");
    server.send_all(&[1, 2, 3].map(|id| call(id, "list_directory", json!({"path": "hay"}))));
    for id in [1, 2, 3] {
        server.answer(id).result();
    }
    let Some(mut before) = server.wakings() else {
        eprintln!("SKIPPED: this system does not say how often a process was woken");
        return;
    };
    let is_idle = (0..10).any(|_| {
        let stopped = clock.call("search_text", search.clone());
        stopped.refused_naming(&["--call-timeout"]);
        let after = server.wakings().unwrap_or_default();
        std::mem::replace(&mut before, after) == after
    });
    assert!(is_idle, "something goes on without a request");
    assert_eq!(server.read("f.txt"), "text");
    clock.close();
    server.close();
}
