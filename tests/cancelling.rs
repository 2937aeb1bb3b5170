//! A call that nobody waits for any more: whatever its tool is, it does next to
//! nothing from then on, is not answered, and has changed all that it was to
//! change or nothing. What it does is measured by the processor time of the
//! server, so that a busy machine changes nothing.

use std::fs;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::harness::{HAYSTACK, Launch, PATIENCE, Root, Server, call, cancel};

/// Work that a cancelled call may still do, together with what is asked
/// afterwards to see that it is over.
const MOST: Duration = Duration::from_millis(100);

/// Tries until a call is met in the middle: a fast machine may be done with one
/// before it can be cancelled.
const TRIES: usize = 20;

/// What is read or written at once: more than waits for its turn at any one time.
const MUCH: usize = 32 << 20;

/// A server of all tools that has nothing else to do.
fn server(root: &Root) -> Server {
    let mut server = Launch::new(root)
        .exclude(&["hidden/no-*"])
        .args(["--toolset", "all", "--max-file-bytes", "32MiB"])
        .args(["--max-write-bytes", "32MiB", "--max-request-bytes", "64MiB"])
        .args(HAYSTACK)
        .start();
    server.alive();
    server
}

/// Looks until it is so.
fn until(what: &str, is_so: impl Fn() -> bool) {
    let started = Instant::now();
    while !is_so() {
        assert!(started.elapsed() < PATIENCE, "never: {what}");
    }
}

/// Waits until everything that was sent before is over: a call that writes does.
fn settle(server: &mut Server) {
    server.write("settled", "").value();
}

/// Cancels the call once `is_running`, and says whether that was in time. Holds
/// it to what it may still do.
fn is_cut_short(
    server: &mut Server,
    message: &Value,
    is_running: impl Fn(&Server, Duration) -> bool,
) -> Option<bool> {
    settle(server);
    let before = server.work()?;
    server.send(message);
    until("the call runs", || is_running(server, before));
    let sent = server.work()?;
    server.send(&cancel(message["id"].clone()));
    // On a busy machine some time goes by until it is read.
    server.alive();
    let read = server.work()?;
    settle(server);
    let (all, after) = (server.work()? - sent, server.work()? - read);
    let answers = server.set_aside();
    assert!(answers.len() <= 1, "{answers:?}");
    if answers.is_empty() {
        assert!(
            after < MOST,
            "{after:?} of work after the end: {message:.200}"
        );
        let held = server.memory()?;
        assert!(held < 64 << 20, "{held} bytes are held: {message:.200}");
    }
    Some(answers.is_empty() && all < MOST)
}

/// The call is cut short, once it has worked for so many milliseconds.
fn is_stopped(server: &mut Server, tool: &str, arguments: &Value, after: u64) {
    let works = |server: &Server, before| {
        let worked = server.work().unwrap_or_default().saturating_sub(before);
        worked >= Duration::from_millis(after)
    };
    for id in 0..TRIES {
        match is_cut_short(server, &call(id, tool, arguments.clone()), works) {
            None => {
                eprintln!("SKIPPED: this system does not say how long a process worked");
                return;
            }
            Some(true) => return,
            Some(false) => {}
        }
    }
    panic!("{tool} is never cut short");
}

#[test]
fn searching_stops_in_the_middle() {
    let root = Root::new().haystack();
    let mut server = server(&root);
    is_stopped(&mut server, "search_text", &json!({"query": "needle"}), 50);
    for case_sensitive in [true, false] {
        let arguments =
            json!({"path": "", "search_string": "Needle", "case_sensitive": case_sensitive});
        is_stopped(&mut server, "search_in_file", &arguments, 50);
    }
    server.close();
}

#[test]
fn walking_stops_in_the_middle() {
    let root = Root::new().dir("hidden");
    for number in 0..50_000 {
        root.write(&format!("hidden/no-{number}"), "");
        if number % 2 == 0 {
            root.write(&format!("many/{}/{number}", number % 100), "");
        }
    }
    let mut server = server(&root);
    for (tool, arguments) in [
        ("list_files", json!({})),
        ("search_files", json!({"query": "needle"})),
        ("search_text", json!({"query": "needle"})),
        (
            "search_in_file",
            json!({"path": "", "search_string": "needle"}),
        ),
        // Whether it is shown depends on what is in it, which is nothing that is shown.
        ("list_directory", json!({"path": ""})),
        ("list_directory", json!({"path": "hidden"})),
    ] {
        is_stopped(&mut server, tool, &arguments, 3);
    }
    server.close();
}

#[test]
fn removing_stops_in_the_middle() {
    let root = Root::new();
    let mut server = server(&root);
    for number in 0..50_000 {
        root.write(&format!("many/{}/{number}", number % 100), "");
    }
    is_stopped(
        &mut server,
        "delete_directory",
        &json!({"path": "many", "force": true}),
        20,
    );
    assert!(root.at("many").is_dir(), "all of it was removed");
    server.close();
}

#[test]
fn reading_much_stops_in_the_middle() {
    let root = Root::new().file("f.txt", "a line of text\n".repeat(MUCH / 15));
    let mut server = server(&root);
    for binary in [false, true] {
        let arguments = json!({"path": "f.txt", "binary": binary});
        is_stopped(&mut server, "read_file", &arguments, 30);
    }
    // A page of it is read at once.
    let page = call("page", "read_text_file", json!({"path": "f.txt"}));
    is_cut_short(&mut server, &page, |_, _| true);
    server.close();
}

/// A call that is to write much is cut short when its temporary is there: then
/// nothing is left of it, or all of it is there.
fn is_written_whole_or_not(tool: &str, arguments: &Value, path: &str, content: &[u8]) {
    let root = Root::new();
    let mut server = server(&root);
    let mut stopped = false;
    for id in 0..TRIES {
        if stopped {
            break;
        }
        settle(&mut server);
        let directory = root.at(path).parent().expect("a parent").to_owned();
        let is_there = |_: &Server, _| {
            let names = fs::read_dir(&directory).into_iter().flatten().flatten();
            names
                .map(|entry| entry.file_name())
                .any(|name| name != "settled")
        };
        let message = call(id, tool, arguments.clone());
        stopped = is_cut_short(&mut server, &message, is_there) != Some(false);
        match root.at(path).exists() {
            true => {
                assert!(root.read(path) == content);
                let first = path.split('/').next().expect("a name");
                match root.at(first).is_dir() {
                    true => fs::remove_dir_all(root.at(first)).expect("removed"),
                    false => fs::remove_file(root.at(first)).expect("removed"),
                }
            }
            false => assert_eq!(root.names(), ["settled"]),
        }
    }
    assert!(stopped, "{tool} is never cut short");
    server.close();
}

#[test]
fn writing_much_has_happened_whole_or_not_at_all() {
    let text = "a line of text\n".repeat(MUCH / 15);
    let arguments = json!({"path": "f.txt", "content": text});
    is_written_whole_or_not("write_text_file", &arguments, "f.txt", text.as_bytes());
    let arguments = json!({"path": "a/b/f.txt", "content": text});
    is_written_whole_or_not("write_file", &arguments, "a/b/f.txt", text.as_bytes());
}

#[test]
fn writing_much_from_base64_has_happened_whole_or_not_at_all() {
    let (bytes, base64) = ("xyz", "eHl6");
    let times = MUCH / bytes.len();
    let arguments = json!({"path": "a/b/f.bin", "content": base64.repeat(times), "binary": true});
    is_written_whole_or_not(
        "write_file",
        &arguments,
        "a/b/f.bin",
        bytes.repeat(times).as_bytes(),
    );
}

/// These are over before anybody could stop them in the middle, so they are
/// stopped wherever they are.
#[test]
fn short_changes_have_happened_whole_or_not_at_all() {
    let root = Root::new();
    let mut server = server(&root);
    for id in 0..50 {
        let path = format!("d{id}/{}", "d/".repeat(50));
        root.write("f.txt", "text");
        server.send(&call(id, "create_directory", json!({"path": path})));
        server.send(&cancel(id));
        settle(&mut server);
        let made = root.at(&format!("d{id}")).exists();
        assert_eq!(root.at(&path).is_dir(), made, "{id}");
        server.send(&call(id, "delete_file", json!({"path": "f.txt"})));
        server.send(&cancel(id));
        server.alive();
    }
    server.set_aside();
    server.close();
}
