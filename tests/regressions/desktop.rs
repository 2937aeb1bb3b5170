//! What desktop clients met, which shake hands and use the tools of a workspace.

use serde_json::{Value, json};

use crate::harness::{Answer, Launch, Message, Root};
use crate::legacy::{Client, ask, call, initialize};

/// A client that has shaken hands.
fn desktop(root: &Root) -> Client {
    let mut client = Client(Launch::workspace(root).spawn());
    client.result(&initialize("init", "2025-06-18"));
    client.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    client
}

/// The answer to a call.
fn answer(client: &mut Client, tool: &str, arguments: Value) -> Answer {
    let json = client.exchange(&call("call", tool, arguments));
    let line = json.to_string();
    Answer(Message { line, json })
}

#[test]
fn thirty_good_and_bad_messages_get_a_line_each_and_nothing_else() {
    let root = Root::new().file("a.txt", "text\n");
    let mut client = Client(Launch::workspace(&root).spawn());
    // The first line is the answer to the first request.
    client.result(&initialize("init", "2025-06-18"));
    for round in 0..6 {
        let id = |name: &str| format!("{name} {round}");
        client.result(&ask(id("ping"), "ping", json!({})));
        let read = json!({"path": "a.txt"});
        assert_eq!(
            client.result(&call(id("read"), "read_file", read))["isError"],
            false
        );
        let missing = json!({"path": "missing"});
        assert_eq!(
            client.result(&call(id("none"), "read_file", missing))["isError"],
            true
        );
        assert_eq!(client.code(&call(id("tool"), "nope", json!({}))), -32602);
        assert_eq!(client.code(&ask(id("method"), "nope", json!({}))), -32601);
    }
    client.close();
}

#[test]
fn a_garbled_line_between_calls_is_one_error_without_an_id() {
    let root = Root::new().file("a.txt", "text\n");
    let mut client = desktop(&root);
    for line in [
        &br#"{"jsonrpc":"2.0","method":"test","params":"#[..],
        b"garbage",
        b"\xff\xfe",
        b"\0",
    ] {
        client.0.write(&[line, b"\n"].concat());
        let error = client.line();
        assert_eq!(
            (&error["error"]["code"], error.get("id")),
            (&json!(-32700), None)
        );
        assert_eq!(
            answer(&mut client, "list_files", json!({})).value()["files_total"],
            1
        );
    }
    client.close();
}

#[test]
fn ids_come_back_as_they_were_and_what_is_none_is_refused() {
    let root = Root::new();
    let mut client = desktop(&root);
    for id in [
        json!(0),
        json!(-1),
        json!("1"),
        json!("abc"),
        json!(""),
        json!(9_007_199_254_740_993_u64),
        json!("💡"),
    ] {
        client.result(&call(id.clone(), "list_files", json!({})));
        client.result(&ask(id, "tools/list", json!({})));
    }
    for id in [json!(null), json!(1.5), json!({})] {
        client.send(&call(id, "list_files", json!({})));
        let error = client.line();
        assert_eq!(
            (&error["error"]["code"], error.get("id")),
            (&json!(-32600), None)
        );
    }
    // Without one it is a notification, and nothing is done about it.
    let write = json!({"name": "write_file", "arguments": {"path": "a.txt", "content": "x"}});
    client.send(&json!({"jsonrpc": "2.0", "method": "tools/call", "params": write}));
    client.result(&ask("after", "ping", json!({})));
    assert_eq!(root.names(), Vec::<String>::new());
    client.close();
}

#[test]
fn optional_arguments_that_a_model_fills_with_null_are_absent() {
    let root = Root::new().file("a.txt", "needle\n");
    let mut client = desktop(&root);
    for (tool, arguments) in [
        ("read_file", json!({"path": "a.txt", "binary": null})),
        (
            "write_file",
            json!({"path": "b.txt", "content": "x", "binary": null, "if_hash": null}),
        ),
        (
            "list_files",
            json!({"extensions": null, "recursive": null, "show_empty_dirs": null}),
        ),
        (
            "search_in_file",
            json!({"path": null, "search_string": "needle", "context_lines": null, "case_sensitive": null, "max_matches": null}),
        ),
        ("delete_file", json!({"path": "b.txt", "if_hash": null})),
        ("create_directory", json!({"path": "d"})),
        ("delete_directory", json!({"path": "d", "force": null})),
    ] {
        answer(&mut client, tool, arguments).said();
    }
    client.close();
}

#[test]
fn a_number_in_place_of_a_text_is_refused_by_the_name_of_its_argument() {
    let root = Root::new().file("1", "one");
    let mut client = desktop(&root);
    for (tool, arguments, name) in [
        ("read_file", json!({"path": 1}), "path"),
        ("write_file", json!({"path": 2, "content": "x"}), "path"),
        (
            "write_file",
            json!({"path": "2", "content": 123}),
            "content",
        ),
        (
            "search_in_file",
            json!({"path": "1", "search_string": 1}),
            "search_string",
        ),
        ("create_directory", json!({"path": 3}), "path"),
        ("delete_file", json!({"path": 1}), "path"),
        ("delete_directory", json!({"path": 1}), "path"),
    ] {
        answer(&mut client, tool, arguments).refused(&format!("{name} must be a string"));
    }
    client.close();
    assert_eq!(root.names(), ["1"]);
}

#[test]
fn hundreds_of_binary_files_bury_no_match() {
    let mut root = Root::new().file("z.txt", "needle");
    for number in 0..300_u32 {
        let noise = (0..2000_u32).map(|at| (at.wrapping_mul(2_654_435_761 + number) >> 13) as u8);
        root = root.file(format!("{number}.png"), noise.collect::<Vec<u8>>());
    }
    let mut client = desktop(&root);
    let found = answer(
        &mut client,
        "search_in_file",
        json!({"path": ".", "search_string": "needle"}),
    );
    assert_eq!(found.value()["matches_total"], 1);
    assert_eq!(found.value()["skipped"]["files_binary"], 300);
    assert!(
        found
            .said()
            .starts_with("1 match in 1 file; 1 file searched; skipped 300 binary files\n")
    );
    assert!(found.0.line.len() < 10_000);
    client.close();
}

#[test]
fn a_cycle_of_links_is_not_walked_and_goes_as_links_go() {
    let root = Root::new()
        .file("a/t.txt", "needle")
        .link("loop", ".")
        .link("a/up", "..")
        .link("a/self", "self");
    let mut client = desktop(&root);
    let listed = answer(&mut client, "list_files", json!({}));
    assert_eq!(listed.value()["files"], json!(["a/t.txt"]));
    assert_eq!(listed.value()["directories"], json!(["a"]));
    let found = answer(
        &mut client,
        "search_in_file",
        json!({"path": "", "search_string": "needle"}),
    );
    assert_eq!(
        (
            &found.value()["matches_total"],
            &found.value()["files_searched"]
        ),
        (&json!(1), &json!(1))
    );
    answer(
        &mut client,
        "delete_directory",
        json!({"path": "a", "force": true}),
    )
    .said();
    client.close();
    assert_eq!(root.names(), ["loop"]);
}
