//! A server that runs for long: calls of all tools, good and bad, many at a
//! time, while somebody changes the tree. Every answer is compared with that of
//! a model; where the tree is contested, it must be one of those that are right.
//! Afterwards the server holds what it held before, and no call takes longer.

mod adversary;
mod changing;
mod content;
mod contested;
mod expected;
mod finding;
mod garden;
mod gauges;
mod generator;
mod listing;
mod model;
mod pages;
mod random;
mod reading;
mod tally;
mod texts;
mod traversal;
mod writing;
mod wrong;

use std::collections::HashMap;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread;
use std::time::Instant;

use serde_json::json;

use crate::harness::{Launch, Message, Root, Server, cancel};
use adversary::{Adversary, OUTSIDE};
use contested::STILL;
use gauges::Gauges;
use generator::{Generator, Step};
use model::{EXCLUDE, HIDDEN_CONTENT, OWN};
use pages::Saved;
use tally::Tally;

/// How many requests are sent before the first answer is read.
const WINDOWS: [usize; 9] = [1, 1, 2, 3, 5, 8, 16, 32, 64];

/// Calls after which nothing may grow any more, where there are many.
const WARM_UP: usize = 10_000;

/// How often it is looked at what the server uses, in all.
const SAMPLES: usize = 100;

/// More traversals than a server keeps anything of.
const TRAVERSALS: usize = 16;

/// A request that has had no answer.
struct Pending {
    step: Step,
    /// Its place in the window.
    place: usize,
    /// It may never have one.
    cancelled: bool,
}

/// A client with everything it knows.
struct Client<'r> {
    root: &'r Root,
    server: Server,
    generator: Generator,
    pending: HashMap<String, Pending>,
    /// Cursors that came in this window, with the places of their calls.
    saved: Vec<(usize, Saved)>,
    /// The adversary does something for each.
    turns: SyncSender<()>,
    gauges: Gauges,
    tally: Tally,
    calls: usize,
}

impl Client<'_> {
    /// Sends a window of requests, and reads until each has its answer.
    fn window(&mut self) {
        let mut messages = Vec::new();
        let mut awaited = 0;
        for place in 0..*self.generator.random.pick(&WINDOWS) {
            let step = self.generator.next();
            let id = step.message["id"].clone();
            let cancelled = step.may_be_cancelled && self.generator.random.percent(4);
            awaited += usize::from(!cancelled);
            messages.push(step.message.clone());
            if cancelled {
                messages.push(cancel(id.clone()));
            }
            let pending = Pending {
                step,
                place,
                cancelled,
            };
            let before = self.pending.insert(id.to_string(), pending);
            assert!(before.is_none(), "an id twice");
        }
        if self.generator.random.percent(5) {
            messages.push(cancel("nobody"));
        }
        let garbled = self.generator.random.percent(5);
        if garbled {
            self.server.raw("{\"jsonrpc\":\"2.0\",\n");
            awaited += 1;
        }
        self.server.send_all(&messages);
        while awaited > 0 {
            let message = self.server.receive();
            awaited -= usize::from(self.judge(&message));
        }
        self.probe();
        // In the order of the calls, whatever that of the answers was: a seed is to give the same
        // calls again.
        self.saved.sort_by_key(|(place, _)| *place);
        for (_, saved) in self.saved.drain(..) {
            self.generator.keep(saved);
        }
    }

    /// Calls what waits for all calls before it, and changes nothing. What was cancelled has been
    /// answered by then, or never is.
    fn probe(&mut self) {
        let before = Instant::now();
        let answer = self.server.call("create_directory", json!({"path": OWN}));
        self.gauges.probed(before.elapsed());
        assert_eq!(answer.value(), &json!({"path": OWN, "created": 0}));
        self.calls += 1;
        for message in self.server.set_aside() {
            assert!(!self.judge(&message), "answered twice: {}", message.line);
        }
        assert!(self.pending.values().all(|pending| pending.cancelled));
        self.tally.dropped += self.pending.len();
        self.pending.clear();
    }

    /// Begins traversals that are not finished, always the same: a server may keep what makes the
    /// next page of some cheap, and so keeps nothing of those that were before.
    fn settle(&mut self) {
        let page = json!({"path": STILL, "limit": 1});
        for _ in 0..TRAVERSALS {
            let answer = self.server.call("list_directory", page.clone());
            assert_eq!(answer.paths(), [format!("{STILL}/0")]);
            answer.cursor();
        }
    }

    /// Judges an answer; whether it is one that has to come.
    fn judge(&mut self, message: &Message) -> bool {
        // Whether there is room for another turn or not, it goes on.
        let _ = self.turns.try_send(());
        for never in ["hid-", HIDDEN_CONTENT, OUTSIDE] {
            assert!(
                !message.line.contains(never),
                "{never} came out: {}",
                message.line
            );
        }
        let Some(id) = message.json.get("id") else {
            message.error_without_id(-32700);
            return true;
        };
        let Some(Pending {
            step,
            place,
            cancelled,
        }) = self.pending.remove(&id.to_string())
        else {
            panic!("answered twice, or never asked: {}", message.line);
        };
        self.calls += 1;
        self.tally.note(&step, message);
        match step.expected.judge(message) {
            Ok(Some(saved)) if !cancelled => self.saved.push((place, saved)),
            Ok(_) => {}
            Err(why) => panic!(
                "WRONG after {} calls: {why}\nrequest: {}\nexpected: {:?}\nanswer: {}",
                self.calls, step.message, step.expected, message.line
            ),
        }
        !cancelled
    }

    /// Goes on until there were so many calls.
    fn run(&mut self, calls: usize, outside: &impl Fn()) {
        let warm = WARM_UP.min(calls / 4);
        let mut next = warm;
        while self.calls < calls {
            self.window();
            let Generator { random, calm, .. } = &mut self.generator;
            // Long enough that what was changed last lies behind, and not all of the time.
            *calm = random.percent(if *calm { 98 } else { 1 });
            if !*calm && random.percent(5) {
                garden::tend(&mut self.generator, self.root);
            }
            if self.calls >= next {
                next += ((calls - warm) / SAMPLES).max(500);
                self.settle();
                self.gauges.sample(&mut self.server, self.calls);
                self.generator.model.check_disk(self.root);
                outside();
            }
        }
    }
}

/// Makes so many calls, and returns what was seen of the server meanwhile.
fn soak(calls: usize, seed: u64) -> Gauges {
    let root = Root::new();
    adversary::prepare(&root);
    let model = garden::lay_out(&root);
    let before = adversary::outside(&root);
    let server = Launch::new(&root)
        .exclude(&[EXCLUDE])
        .args([
            "--toolset",
            "all",
            "--protocol",
            "2026-07-28",
            "--workers",
            "4",
            "--max-write-bytes",
            "8KiB",
        ])
        .start();
    let adversary = Adversary::new(&root, seed);
    let (turns, receiver) = sync_channel(64);
    let gauges = thread::scope(|scope| {
        let adversary = scope.spawn(move || adversary.work(&receiver));
        let mut client = Client {
            root: &root,
            server,
            generator: Generator::new(seed, model),
            pending: HashMap::new(),
            saved: Vec::new(),
            turns,
            gauges: Gauges::default(),
            tally: Tally::default(),
            calls: 0,
        };
        client.run(calls, &|| assert_eq!(adversary::outside(&root), before));
        let Client {
            server,
            turns,
            gauges,
            tally,
            calls,
            ..
        } = client;
        assert!(server.close().is_empty());
        drop(turns);
        tally.check();
        let done = adversary.join().expect("the adversary");
        assert!(done > 0, "the adversary never did anything");
        eprintln!(
            "{calls} calls, none answered wrong; the tree was changed {done} times meanwhile; {tally:?}"
        );
        gauges
    });
    assert_eq!(adversary::outside(&root), before);
    let left = root.names();
    assert!(left.iter().all(|name| !name.ends_with(".tmp")), "{left:?}");
    gauges
}

/// A number from the environment.
fn number(name: &str, default: u64) -> u64 {
    let given: Result<String, _> = std::env::var(name);
    given.map_or(default, |text| text.parse().expect(name))
}

#[test]
fn every_answer_is_that_of_the_model_while_somebody_changes_the_tree() {
    // Once more without openat2, and shorter: the calls are the same.
    let calls = match module_path!().starts_with("old_kernel") {
        true => 1_000,
        false => 5_000,
    };
    let seed = number("PREOPEN_SOAK_SEED", 1);
    soak(calls, seed).check_memory();
}

/// 1,000,000 calls, or `PREOPEN_SOAK_CALLS`; the command is in CONTRIBUTING.md.
#[test]
#[ignore = "takes minutes"]
fn nothing_grows_and_nothing_is_wrong_for_long() {
    let calls = number("PREOPEN_SOAK_CALLS", 1_000_000);
    let seed = number("PREOPEN_SOAK_SEED", 2);
    let gauges = soak(calls.try_into().expect("a number of calls"), seed);
    gauges.report();
    gauges.check_memory();
    gauges.check_drift();
}
