//! The component that readers copy: what it answers, and that it is confined
//! as ours is.

use jsonschema::validator_for;
use serde_json::{Value, json};

use crate::built::count_words;
use crate::harness::{Launch, Root, Server};
use crate::{answer, ask, refusal, serving};

fn world() -> Root {
    Root::new()
        .file("lib/a.txt", "one two\nthree\n")
        .file("hidden/b.txt", "secret words")
        .link("link.txt", "lib/a.txt")
        .link("out.txt", "../outside/secret.txt")
}

fn start(root: &Root, arguments: &[&str]) -> Server {
    serving(root, count_words())
        .exclude(&["hidden/**"])
        .args(arguments.iter().copied())
        .start()
}

#[test]
fn it_lists_its_tool_and_answers_as_it_declares() {
    let root = world();
    let mut server = start(&root, &[]);
    let tools = server.tools();
    let [tool] = tools.as_slice() else {
        panic!("not one tool: {tools:?}");
    };
    assert_eq!(tool["name"], "count_words");
    // Nothing is said of it that is true of ours alone.
    let said = server.request("server/discover", json!({}));
    let instructions = said.result()["instructions"].as_str().unwrap();
    assert!(instructions.contains("relative") && !instructions.contains("next_cursor"));
    let counted = ask(&mut server, "count_words", json!({"path": "lib/a.txt"}));
    let counts = answer(&counted);
    assert_eq!(counts, &json!({"lines": 2, "words": 3, "bytes": 14}));
    let schema = validator_for(&tool["outputSchema"]).unwrap();
    assert!(schema.is_valid(counts));
    server.close();
}

#[test]
fn it_opens_what_is_served_and_nothing_else() {
    let root = world();
    let before = root.census();
    let mut server = start(&root, &[]);
    let mut refused = |path: &str| {
        let message = ask(&mut server, "count_words", json!({ "path": path }));
        refusal(&message).replace(path, "PATH")
    };
    // Hidden, whether it is there or not.
    assert_eq!(refused("hidden/b.txt"), "PATH is not served by this root");
    assert_eq!(refused("hidden/none"), "PATH is not served by this root");
    assert_eq!(refused("none.txt"), "there is no file at PATH");
    assert_eq!(refused("lib"), "PATH is a directory; name a file");
    for outside in [
        "../outside/secret.txt",
        "link.txt",
        "out.txt",
        "lib/../../outside/secret.txt",
    ] {
        assert!(!refused(outside).is_empty());
    }
    assert_eq!(refused("/etc/hostname"), "PATH is not served by this root");
    server.close();
    assert_eq!(root.census(), before);
}

#[test]
fn what_it_is_told_of_limits_it_keeps() {
    let root = world().file("long.txt", "x".repeat(101));
    let mut server = start(&root, &["--max-file-bytes", "100"]);
    let message = ask(&mut server, "count_words", json!({"path": "long.txt"}));
    assert_eq!(
        refusal(&message),
        "long.txt is larger than 100 bytes (--max-file-bytes)"
    );
    server.close();
}

#[test]
fn arguments_that_are_wrong_are_refused() {
    let root = world();
    let mut server = start(&root, &[]);
    for arguments in [
        json!({}),
        json!({"path": 7}),
        json!({"path": "lib/a.txt", "more": 1}),
    ] {
        let message = ask(&mut server, "count_words", arguments);
        assert!(refusal(&message).starts_with("the arguments are wrong: "));
    }
    server.close();
}

#[test]
fn our_own_tools_are_not_there_beside_it() {
    let root = world();
    let mut server = start(&root, &[]);
    let message = ask(&mut server, "list_directory", json!({}));
    message.error(-32602);
    server.close();
}

/// Started anew, so that no first compiling is between the two.
#[test]
fn the_process_gives_up_as_much_as_with_our_own_tools() {
    let root = world();
    let held = |launch: Launch| {
        let (_, exit) = launch.args(["-v"]).start().finish();
        let line = exit.stderr.lines().find(|line| line.contains("lockdown:"));
        line.expect("it says what holds").to_owned()
    };
    let ours = held(Launch::new(&root));
    for _ in 0..5 {
        assert_eq!(held(serving(&root, count_words())), ours);
    }
}

#[test]
fn clients_with_a_handshake_are_served_too() {
    let root = world();
    let mut process = serving(&root, count_words())
        .args(["--protocol", "both"])
        .spawn();
    let mut exchange = |message: Value| -> Value {
        process.write(format!("{message}\n").as_bytes());
        serde_json::from_slice(&process.line().expect("an answer")).unwrap()
    };
    let client = json!({"name": "t", "version": "1"});
    let hello = json!({"protocolVersion": "2024-11-05", "capabilities": {}, "clientInfo": client});
    exchange(json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}));
    let listed = exchange(json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list"}));
    assert_eq!(listed["result"]["tools"][0]["name"], "count_words");
    let params = json!({"name": "count_words", "arguments": {"path": "lib/a.txt"}});
    let called = json!({"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": params});
    assert_eq!(
        exchange(called)["result"]["content"][0]["text"],
        r#"{"bytes":14,"lines":2,"words":3}"#
    );
}
