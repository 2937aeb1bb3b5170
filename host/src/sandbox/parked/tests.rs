//! The pages of a traversal come from one instance, which walks once; and
//! whatever happens to that instance, they are the same pages.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use preopen_contract::session::Outcome;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::PLACES;
use crate::confine::clock_ahead;
use crate::root::{Options, Root};
use crate::sandbox::{Control, Sandbox, Source};

const DIRECTORIES: usize = 20;
const FILES: usize = 30;

/// A sandbox over a tree of files, each of three lines with one word in them.
struct World {
    sandbox: Sandbox,
    directory: TempDir,
}

/// An answer, and how many entries of directories were looked at for it.
struct Answer {
    is_error: bool,
    text: String,
    page: Value,
    entries: u64,
}

impl World {
    fn new() -> Self {
        // What was just made is taken for a second old.
        clock_ahead(1_000_000_000);
        let directory = tempfile::tempdir().expect("a directory");
        for one in 0..DIRECTORIES {
            let below = directory.path().join(format!("d{one:02}"));
            fs::create_dir(&below).expect("a directory");
            for two in 0..FILES {
                fs::write(below.join(format!("f{two:02}.txt")), "one\nword\nthree\n")
                    .expect("written");
            }
        }
        fs::write(directory.path().join("long.txt"), "x".repeat(100_000)).expect("written");
        let root = Root::open(Options::new(directory.path(), ["**"])).expect("a root");
        Self {
            sandbox: Sandbox::new(&root, 1, Source::Guest).expect("a sandbox"),
            directory,
        }
    }

    fn path(&self) -> &Path {
        self.directory.path()
    }

    fn call(&self, tool: &str, arguments: &Value) -> Answer {
        let control = Control::new(60_000, None);
        let (outcome, _remains) = self.sandbox.call(tool, &arguments.to_string(), &control);
        let Outcome::Result(result) = outcome else {
            panic!("{outcome:?}");
        };
        let structured = result.structured.unwrap_or_default();
        Answer {
            is_error: result.is_error,
            text: result.text.unwrap_or_default(),
            page: serde_json::from_str(&structured).unwrap_or_default(),
            entries: control.counters().read().0,
        }
    }

    /// All pages of a traversal; `between` happens before each but the first.
    fn follow(&self, tool: &str, arguments: &Value, mut between: impl FnMut()) -> Vec<Answer> {
        let mut arguments = arguments.clone();
        let mut answers = vec![self.call(tool, &arguments)];
        while let Some(cursor) = answers
            .last()
            .and_then(|last| last.page["next_cursor"].as_str())
        {
            arguments["cursor"] = json!(cursor);
            between();
            answers.push(self.call(tool, &arguments));
        }
        answers
    }
}

fn traversals() -> [(&'static str, Value); 4] {
    [
        ("list_directory", json!({"limit": 3})),
        ("search_files", json!({"query": ".txt", "limit": 40})),
        ("search_text", json!({"query": "word", "limit": 40})),
        ("read_text_file", json!({"path": "long.txt", "limit": 2})),
    ]
}

fn pages(answers: &[Answer]) -> Vec<&Value> {
    answers.iter().map(|answer| &answer.page).collect()
}

#[test]
fn later_pages_look_at_no_entry_again() {
    let world = World::new();
    for (tool, arguments) in traversals() {
        let answers = world.follow(tool, &arguments, || {});
        assert!(answers.len() > 5, "{tool}");
        let later: u64 = answers[1..].iter().map(|answer| answer.entries).sum();
        assert_eq!(later, 0, "{tool}");
    }
}

#[test]
fn the_pages_are_those_of_fresh_instances() {
    let world = World::new();
    for (tool, arguments) in traversals() {
        let kept = world.follow(tool, &arguments, || {});
        let fresh = world.follow(tool, &arguments, || world.sandbox.lot.clear());
        let walks = fresh.iter().filter(|answer| answer.entries > 0).count();
        assert!(walks == fresh.len() || tool == "read_text_file", "{tool}");
        assert_eq!(pages(&kept), pages(&fresh), "{tool}");
        let items = kept
            .iter()
            .flat_map(|answer| answer.page["items"].as_array());
        let items: Vec<String> = items.flatten().map(Value::to_string).collect();
        let different: BTreeSet<&String> = items.iter().collect();
        assert_eq!(different.len(), items.len(), "{tool}");
    }
}

#[test]
fn more_traversals_than_places_are_all_followed() {
    let world = World::new();
    let arguments = |at: usize| json!({"query": "f", "limit": 100 + at});
    let expected: Vec<Vec<Answer>> = (0..2 * PLACES)
        .map(|at| world.follow("search_files", &arguments(at), || {}))
        .collect();
    let mut expected: Vec<_> = expected.iter().map(|pages| pages.iter()).collect();
    let mut cursors = vec![Value::Null; 2 * PLACES];
    loop {
        let mut ended = 0;
        for (at, (cursor, pages)) in cursors.iter_mut().zip(&mut expected).enumerate() {
            let Some(expected) = pages.next() else {
                assert!(cursor.is_null());
                ended += 1;
                continue;
            };
            let mut asked = arguments(at);
            asked["cursor"] = cursor.take();
            let answer = world.call("search_files", &asked);
            assert_eq!(answer.page["items"], expected.page["items"]);
            *cursor = answer.page["next_cursor"].clone();
        }
        if ended == 2 * PLACES {
            break;
        }
    }
}

#[test]
fn a_page_is_refused_once_something_changed_and_the_cursor_with_it() {
    for (tool, arguments) in traversals() {
        let world = World::new();
        let first = world.call(tool, &arguments);
        let mut next = arguments.clone();
        next["cursor"] = first.page["next_cursor"].clone();
        match tool {
            "read_text_file" => fs::write(world.path().join("long.txt"), "other"),
            "search_text" => fs::write(world.path().join("d19/f00.txt"), "other"),
            _ => fs::write(world.path().join("new.txt"), ""),
        }
        .expect("written");
        for _ in 0..2 {
            let answer = world.call(tool, &next);
            assert!(answer.is_error, "{tool}");
            assert!(answer.text.contains("changed"), "{tool}: {}", answer.text);
        }
    }
}

#[test]
fn what_does_not_concern_a_traversal_does_not_end_it() {
    let world = World::new();
    let arguments = json!({"query": ".txt", "limit": 100});
    let expected = world.follow("search_files", &arguments, || {});
    let mut edits = 0;
    let edited = world.follow("search_files", &arguments, || {
        edits += 1;
        fs::write(world.path().join("d03/f03.txt"), edits.to_string()).expect("written");
    });
    assert_eq!(pages(&expected), pages(&edited));
}

#[test]
fn another_call_with_the_cursor_in_it_is_another_call() {
    let world = World::new();
    let first = world.call("search_files", &json!({"query": "f", "limit": 10}));
    let cursor = first.page["next_cursor"].as_str().expect("a cursor");
    let other = world.call("search_files", &json!({"query": cursor}));
    assert!(!other.is_error && other.page["items"] == json!([]) && other.entries > 0);
    let other = world.call("search_files", &json!({"query": "g", "cursor": cursor}));
    assert!(other.is_error);
    let next = world.call(
        "search_files",
        &json!({"query": "f", "limit": 10, "cursor": cursor}),
    );
    assert_eq!(next.page["items"].as_array().map(Vec::len), Some(10));
}

#[test]
fn what_has_written_is_not_kept() {
    let world = World::new();
    let first = world.call("search_files", &json!({"query": ".txt", "limit": 10}));
    let cursor = first.page["next_cursor"].as_str().expect("a cursor");
    let content = json!({"path": "new.txt", "content": cursor});
    assert!(!world.call("write_text_file", &content).is_error);
    let next = world.call(
        "search_files",
        &json!({"query": ".txt", "limit": 10, "cursor": cursor}),
    );
    assert!(
        next.is_error && next.text.contains("changed"),
        "{}",
        next.text
    );
}
