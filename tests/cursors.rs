//! Cursors fail rather than tear: for each tool what makes one fail and what
//! it survives, and that only the issued spelling is accepted, by the process
//! (or the key file) that issued it, for the traversal it was issued for.

use std::fs;
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};

use crate::harness::{Answer, Launch, Root, Server};

const CHANGED: &str =
    "the filesystem changed since this cursor was issued; start the traversal again";
const INVALID: &str = "cursor is not valid; leave it out to start again";
const FOREIGN: &str = "cursor belongs to a different traversal; leave it out to start again";

fn tree() -> Root {
    Root::new()
        .file("a.txt", "needle ".repeat(1000))
        .file("b.txt", "needle\n")
        .file("lib/c.txt", "needle one\nneedle two\n")
        .file("lib/d.txt", "needle\n")
        .file("lib/deep/e.txt", "needle\n")
        .file("other/f.md", "needle\n")
}

fn next(server: &mut Server, tool: &str, arguments: &Value, cursor: &str) -> Answer {
    let mut arguments = arguments.clone();
    arguments["cursor"] = json!(cursor);
    server.call(tool, arguments)
}

/// Gives a file a new content of the same length and an own time stamp, so
/// that no clock granularity decides.
fn edit(root: &Root, path: &str) {
    let mut content = root.read(path);
    content[0] ^= 1;
    root.write(path, content);
    stamp(root, path);
}

fn stamp(root: &Root, path: &str) {
    let file = fs::File::options().write(true).open(root.at(path)).unwrap();
    file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000))
        .unwrap();
}

/// Puts another file with the same content under the name.
fn replace(root: &Root, path: &str) {
    root.write("new-inode.tmp", root.read(path));
    fs::rename(root.at("new-inode.tmp"), root.at(path)).unwrap();
}

fn remove(root: &Root, path: &str) {
    fs::remove_file(root.at(path)).unwrap();
}

macro_rules! cursors {
    ($($name:ident: $tool:literal $arguments:tt, |$root:ident| $change:expr => $outcome:ident;)+) => {$(
        #[test]
        fn $name() {
            let $root = &tree();
            let mut server = Launch::new($root).exclude(&["new-inode.tmp"]).start();
            let mut arguments = json!($arguments);
            arguments["limit"] = json!(1);
            let whole: Vec<Value> = server.all($tool, arguments.clone());
            let first = server.call($tool, arguments.clone());
            $change;
            let second = next(&mut server, $tool, &arguments, &first.cursor());
            outcome::$outcome(&second, &whole);
            server.close();
        }
    )+};
}

/// What the second page must be after the change.
mod outcome {
    use super::{Answer, CHANGED, Value};

    pub(super) fn refused(page: &Answer, _: &[Value]) {
        page.refused(CHANGED);
    }

    pub(super) fn survives(page: &Answer, whole: &[Value]) {
        assert_eq!(page.items(), &whole[1..2]);
    }
}

cursors! {
    a_listing_fails_when_an_entry_appears: "list_directory" {"path": "lib"}, |root| root.write("lib/z", "") => refused;
    a_listing_fails_when_an_entry_vanishes: "list_directory" {"path": "lib"}, |root| remove(root, "lib/d.txt") => refused;
    a_listing_fails_when_an_entry_is_renamed: "list_directory" {"path": "lib"}, |root| fs::rename(root.at("lib/d.txt"), root.at("lib/x")).unwrap() => refused;
    a_listing_fails_when_a_directory_is_emptied: "list_directory" {"path": "lib"}, |root| remove(root, "lib/deep/e.txt") => refused;
    a_listing_fails_when_a_file_becomes_a_directory: "list_directory" {"path": "lib"}, |root| { remove(root, "lib/d.txt"); root.write("lib/d.txt/x", "") } => refused;
    a_listing_survives_a_file_deeper_down: "list_directory" {"path": "lib"}, |root| root.write("lib/deep/more.txt", "") => survives;
    a_listing_survives_an_edit: "list_directory" {"path": "lib"}, |root| edit(root, "lib/d.txt") => survives;
    a_listing_survives_a_change_elsewhere: "list_directory" {"path": "lib"}, |root| root.write("other/x", "") => survives;
    a_listing_survives_an_empty_directory: "list_directory" {"path": "lib"}, |root| fs::create_dir(root.at("lib/hollow")).unwrap() => survives;
    a_path_search_fails_when_a_match_appears: "search_files" {"query": ".txt"}, |root| root.write("lib/deep/x.txt", "") => refused;
    a_path_search_fails_when_a_match_vanishes: "search_files" {"query": ".txt"}, |root| remove(root, "lib/d.txt") => refused;
    a_path_search_fails_when_a_match_is_renamed: "search_files" {"query": ".txt"}, |root| fs::rename(root.at("b.txt"), root.at("c.txt")).unwrap() => refused;
    a_path_search_survives_an_edit: "search_files" {"query": ".txt"}, |root| edit(root, "b.txt") => survives;
    a_path_search_survives_a_replacement: "search_files" {"query": ".txt"}, |root| replace(root, "b.txt") => survives;
    a_path_search_survives_what_does_not_match: "search_files" {"query": ".txt"}, |root| { root.write("lib/x.md", ""); remove(root, "other/f.md") } => survives;
    a_text_search_fails_when_a_file_is_edited: "search_text" {"query": "needle"}, |root| edit(root, "b.txt") => refused;
    a_text_search_fails_when_a_file_already_searched_is_edited: "search_text" {"query": "needle", "path": "lib"}, |root| edit(root, "lib/c.txt") => refused;
    a_text_search_fails_when_the_last_file_is_edited: "search_text" {"query": "needle", "path": "lib"}, |root| edit(root, "lib/deep/e.txt") => refused;
    a_text_search_fails_when_a_file_is_replaced_by_its_copy: "search_text" {"query": "needle"}, |root| replace(root, "lib/d.txt") => refused;
    a_text_search_fails_when_a_file_is_touched: "search_text" {"query": "needle"}, |root| stamp(root, "lib/d.txt") => refused;
    a_text_search_fails_when_a_file_appears: "search_text" {"query": "needle", "path": "lib"}, |root| root.write("lib/z", "nothing") => refused;
    a_text_search_fails_when_a_file_vanishes: "search_text" {"query": "needle", "path": "lib"}, |root| remove(root, "lib/deep/e.txt") => refused;
    a_text_search_survives_changes_outside_its_path: "search_text" {"query": "needle", "path": "lib"}, |root| { edit(root, "b.txt"); remove(root, "other/f.md"); root.write("z", "needle") } => survives;
    a_read_fails_when_the_file_is_edited: "read_text_file" {"path": "a.txt"}, |root| edit(root, "a.txt") => refused;
    a_read_fails_when_the_file_grows: "read_text_file" {"path": "a.txt"}, |root| root.write("a.txt", "needle ".repeat(1001)) => refused;
    a_read_fails_when_the_file_shrinks: "read_text_file" {"path": "a.txt"}, |root| root.write("a.txt", "") => refused;
    a_read_fails_when_the_file_is_replaced_by_its_copy: "read_text_file" {"path": "a.txt"}, |root| replace(root, "a.txt") => refused;
    a_read_survives_every_other_change: "read_text_file" {"path": "a.txt"}, |root| { edit(root, "b.txt"); remove(root, "lib/c.txt"); root.write("z", "") } => survives;
}

#[test]
fn pages_of_any_size_join_to_the_same_whole() {
    let root = tree();
    let mut server = Server::new(&root);
    for (tool, arguments) in [
        ("list_directory", json!({})),
        ("search_files", json!({"query": "."})),
        ("search_text", json!({"query": "needle"})),
        ("read_text_file", json!({"path": "a.txt"})),
    ] {
        let whole = server.all(tool, arguments.clone());
        for limit in [1, 2, 3] {
            let mut arguments = arguments.clone();
            arguments["limit"] = json!(limit);
            let pages = server.pages(tool, arguments);
            assert!(
                pages.iter().all(|page| page.items().len() <= limit),
                "{tool}"
            );
            let joined: Vec<Value> = pages
                .iter()
                .flat_map(|page| page.items().to_vec())
                .collect();
            assert_eq!(joined, whole, "{tool} by {limit}");
        }
    }
    server.close();
}

#[test]
fn several_matches_of_one_line_and_file_are_paged_without_loss() {
    let content: String = (1..=50)
        .map(|line| format!("needle needle {line}\n"))
        .collect();
    let root = Root::new().file("a.txt", content);
    let mut server = Server::new(&root);
    let lines: Vec<u64> = server
        .all("search_text", json!({"query": "needle", "limit": 7}))
        .iter()
        .map(|item| item["line"].as_u64().unwrap())
        .collect();
    assert_eq!(lines, (1..=50).collect::<Vec<_>>());
    server.close();
}

/// A first page of each reading tool, and the arguments it was asked with.
fn issued(server: &mut Server) -> Vec<(&'static str, Value, String)> {
    [
        ("list_directory", json!({"limit": 1})),
        ("search_files", json!({"query": "t", "limit": 1})),
        ("search_text", json!({"query": "needle", "limit": 1})),
        ("read_text_file", json!({"path": "a.txt", "limit": 1})),
    ]
    .into_iter()
    .map(|(tool, arguments)| {
        let cursor = server.call(tool, arguments.clone()).cursor();
        (tool, arguments, cursor)
    })
    .collect()
}

#[test]
fn a_cursor_of_another_tool_is_refused() {
    let root = tree();
    let mut server = Server::new(&root);
    let issued = issued(&mut server);
    for (tool, arguments, own) in &issued {
        for (_, _, cursor) in &issued {
            let page = next(&mut server, tool, arguments, cursor);
            if cursor == own {
                page.value();
            } else {
                page.refused(FOREIGN);
            }
        }
    }
    server.close();
}

#[test]
fn a_cursor_of_other_arguments_is_refused() {
    let root = tree();
    let mut server = Server::new(&root);
    let other = [
        json!({"path": "lib", "limit": 1}),
        json!({"query": "x", "limit": 1}),
        json!({"query": "needle", "path": "lib", "limit": 1}),
        json!({"path": "b.txt", "limit": 1}),
    ];
    for ((tool, _, cursor), other) in issued(&mut server).iter().zip(other) {
        next(&mut server, tool, &other, cursor).refused(FOREIGN);
    }
    server.close();
}

#[test]
fn a_cursor_of_another_process_is_refused() {
    let root = tree();
    let mut server = Server::new(&root);
    let issued = issued(&mut server);
    server.close();
    let mut restarted = Server::new(&root);
    for (tool, arguments, cursor) in &issued {
        next(&mut restarted, tool, arguments, cursor).refused(INVALID);
    }
    restarted.close();
}

#[test]
fn a_cursor_with_any_character_changed_is_refused() {
    let root = tree();
    let mut server = Server::new(&root);
    let (tool, arguments, cursor) = issued(&mut server).swap_remove(3);
    for at in 0..cursor.len() {
        let mut changed = cursor.clone().into_bytes();
        changed[at] = if changed[at] == b'A' { b'B' } else { b'A' };
        let changed = String::from_utf8(changed).unwrap();
        next(&mut server, tool, &arguments, &changed).refused(INVALID);
    }
    next(&mut server, tool, &arguments, &cursor).value();
    server.close();
}

#[test]
fn another_spelling_of_the_same_bytes_is_refused() {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let root = tree();
    let mut server = Server::new(&root);
    for (tool, arguments, cursor) in issued(&mut server) {
        let (payload, code) = cursor.split_once('.').expect("payload.code");
        // 32 bytes take 43 digits; the last one has two bits to spare.
        assert_eq!(code.len(), 43);
        let last = code.bytes().last().unwrap();
        let value = DIGITS.iter().position(|digit| *digit == last).unwrap();
        let spare = char::from(DIGITS[value ^ 1]);
        for respelled in [
            format!("{payload}.{}{spare}", &code[..42]),
            format!("{cursor}="),
            format!("{payload}=.{code}"),
            format!(" {cursor}"),
            format!("{cursor}\n"),
            format!("{cursor}."),
            format!("{cursor}.{code}"),
            cursor.replace('.', "%2E"),
            code.to_owned(),
            payload.to_owned(),
            format!("{code}.{payload}"),
        ] {
            next(&mut server, tool, &arguments, &respelled).refused(INVALID);
        }
    }
    server.close();
}

#[test]
fn made_up_cursors_say_to_leave_them_out() {
    let root = tree();
    let mut server = Server::new(&root);
    let long = "A".repeat(10_000);
    for cursor in ["", "0", "1", "null", ".", "a.b", "🙂.🙂", long.as_str()] {
        for (tool, arguments, _) in issued(&mut server) {
            next(&mut server, tool, &arguments, cursor).refused(INVALID);
        }
    }
    server.close();
}

#[test]
fn a_key_file_lets_cursors_cross_processes_and_restarts() {
    let root = tree();
    let key = root.outside("cursor.key");
    fs::write(&key, [7; 32]).unwrap();
    let launch = || {
        Launch::new(&root)
            .args(["--cursor-key-file".into(), key.clone()])
            .start()
    };
    let mut first = launch();
    let mut second = launch();
    let issued = issued(&mut first);
    for (tool, arguments, cursor) in &issued {
        let here = next(&mut first, tool, arguments, cursor);
        assert_eq!(
            next(&mut second, tool, arguments, cursor).value(),
            here.value()
        );
    }
    first.close();
    second.close();
    let mut restarted = launch();
    for (tool, arguments, cursor) in &issued {
        next(&mut restarted, tool, arguments, cursor).value();
    }
    restarted.close();
    fs::write(&key, [8; 32]).unwrap();
    let mut rekeyed = launch();
    for (tool, arguments, cursor) in &issued {
        next(&mut rekeyed, tool, arguments, cursor).refused(INVALID);
    }
    rekeyed.close();
}

#[test]
fn a_cursor_on_a_file_that_is_gone_is_refused() {
    let root = tree();
    let mut server = Server::new(&root);
    let (tool, arguments, cursor) = issued(&mut server).swap_remove(3);
    remove(&root, "a.txt");
    next(&mut server, tool, &arguments, &cursor).refusal();
    server.close();
}
