//! Many processes, one answer: servers that are given the same key serve the
//! same root as one. A traversal goes on in another process, or in the next one
//! after a restart, and fails there for what it would fail for here.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::harness::{Answer, Launch, Root, Server, ordinary};

const CHANGED: &str =
    "the filesystem changed since this cursor was issued; start the traversal again";
const INVALID: &str = "cursor is not valid; leave it out to start again";

/// What is asked, and more than three pages of it.
fn traversals() -> [(&'static str, Value); 4] {
    [
        ("list_directory", json!({"limit": 1})),
        ("search_files", json!({"query": "t", "limit": 1})),
        ("search_text", json!({"query": "needle", "limit": 1})),
        ("read_text_file", json!({"path": "a.txt", "limit": 1})),
    ]
}

fn tree() -> Root {
    let root = Root::new()
        .file("a.txt", "needle ".repeat(1200))
        .file("b.txt", "needle\n")
        .file("c.txt", "needle one\nneedle two\n")
        .file("lib/d.txt", "needle\n");
    fs::write(root.outside("cursor.key"), [7; 32]).unwrap();
    root
}

fn launch(root: &Root) -> Launch {
    keyed(root, root.outside("cursor.key"))
}

fn keyed(root: &Root, key: PathBuf) -> Launch {
    Launch::new(root).args(["--cursor-key-file".into(), key])
}

fn page(server: &mut Server, tool: &str, arguments: &Value, cursor: Option<&str>) -> Answer {
    let mut arguments = arguments.clone();
    arguments["cursor"] = json!(cursor);
    server.call(tool, arguments)
}

/// The pages of a traversal, each from the server that `next` gives.
fn pages(
    tool: &str,
    arguments: &Value,
    mut next: impl FnMut(Option<&str>) -> Answer,
) -> Vec<Value> {
    let mut items = Vec::new();
    let mut cursor: Option<String> = None;
    loop {
        let page = next(cursor.as_deref());
        items.extend(page.items().to_vec());
        let Some(issued) = page.next_cursor() else {
            assert!(items.len() > 3, "{tool} {arguments}: {items:?}");
            return items;
        };
        cursor = Some(issued.to_owned());
    }
}

#[test]
fn pages_by_turns_of_two_processes_join_to_the_whole() {
    let root = tree();
    let mut servers = [launch(&root).start(), launch(&root).start()];
    for (tool, arguments) in traversals() {
        let whole = servers[0].all(tool, arguments.clone());
        let mut turn = 0;
        let joined = pages(tool, &arguments, |cursor| {
            turn += 1;
            page(&mut servers[turn % 2], tool, &arguments, cursor)
        });
        assert_eq!(joined, whole, "{tool}");
    }
    for server in servers {
        server.close();
    }
}

#[test]
fn pages_with_a_restart_after_each_join_to_the_whole() {
    let root = tree();
    let mut server = launch(&root).start();
    for (tool, arguments) in traversals() {
        let whole = server.all(tool, arguments.clone());
        let joined = pages(tool, &arguments, |cursor| {
            let mut restarted = launch(&root).start();
            let page = page(&mut restarted, tool, &arguments, cursor);
            restarted.close();
            page
        });
        assert_eq!(joined, whole, "{tool}");
    }
    server.close();
}

#[test]
fn a_process_that_did_not_issue_the_cursor_notices_the_change_too() {
    let root = tree();
    let (mut first, mut second) = (launch(&root).start(), launch(&root).start());
    for (number, (tool, arguments)) in traversals().into_iter().enumerate() {
        // The second has seen the first page itself, so it may have kept something of it.
        let cursor = page(&mut first, tool, &arguments, None).cursor();
        assert_eq!(page(&mut second, tool, &arguments, None).cursor(), cursor);
        root.write(&format!("t{number}.txt"), "needle\n");
        root.write("a.txt", "needle ".repeat(1201 + number));
        page(&mut second, tool, &arguments, Some(&cursor)).refused(CHANGED);
        page(&mut first, tool, &arguments, Some(&cursor)).refused(CHANGED);
    }
    first.close();
    second.close();
}

#[test]
fn the_key_opens_no_other_root_and_no_other_rules() {
    let (root, other) = (tree(), tree());
    let mut server = launch(&root).start();
    let mut strangers = [
        keyed(&other, root.outside("cursor.key")).start(),
        launch(&root).exclude(&["nothing"]).start(),
        launch(&root).include(&["**", "*.txt"]).start(),
    ];
    for (tool, arguments) in traversals() {
        let cursor = page(&mut server, tool, &arguments, None).cursor();
        for stranger in &mut strangers {
            page(stranger, tool, &arguments, Some(&cursor)).refused(INVALID);
        }
        page(&mut server, tool, &arguments, Some(&cursor)).value();
    }
    server.close();
    for stranger in strangers {
        stranger.close();
    }
}

#[test]
fn a_key_that_cannot_be_read_keeps_the_server_from_starting() {
    let root = tree();
    let test = "a_key_that_cannot_be_read_keeps_the_server_from_starting";
    let Some(launch) = ordinary(test, &root) else {
        return;
    };
    let key = root.outside("cursor.key");
    root.chmod("../outside/cursor.key", 0o000);
    let exit = launch
        .args(["--cursor-key-file".into(), key.clone()])
        .spawn()
        .wait();
    assert_eq!((exit.code, exit.stdout.len()), (Some(64), 0));
    let said = format!(
        "preopen-mcp: --cursor-key-file: cannot read {}: ",
        key.display()
    );
    assert!(exit.stderr.starts_with(&said), "{}", exit.stderr);
    assert_eq!(exit.stderr.lines().count(), 1, "{}", exit.stderr);
}

#[test]
fn a_key_that_others_may_read_is_taken_as_it_is() {
    let root = tree();
    root.chmod("../outside/cursor.key", 0o644);
    let mut server = launch(&root).start();
    let (tool, arguments) = &traversals()[0];
    let cursor = page(&mut server, tool, arguments, None).cursor();
    server.close();
    let mut restarted = launch(&root).start();
    page(&mut restarted, tool, arguments, Some(&cursor)).value();
    restarted.close();
}
