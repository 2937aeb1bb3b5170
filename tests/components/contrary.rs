//! A component without manners: whatever it does costs one call, and what it
//! says is one line of MCP or nothing.

use std::fs;

use serde_json::{Value, json};

use crate::built::contrary;
use crate::harness::{Root, Server};
use crate::{answer, ask, refusal, serving};

fn start(root: &Root, arguments: &[&str]) -> Server {
    serving(root, contrary())
        .args(arguments.iter().copied())
        .start()
}

/// What is said when it does not start, for the list of this name.
fn no_start(list: &str, arguments: &[&str]) -> String {
    let root = Root::new();
    let launch = serving(&root, contrary()).args(["--tools", list]);
    let exit = launch.args(arguments.iter().copied()).spawn().wait();
    assert_eq!(exit.code, Some(64), "{list}: {}", exit.stderr);
    let line = exit.stderr.strip_suffix('\n').expect("a line");
    assert!(!line.contains('\n'), "not one line: {line}");
    let said = line.strip_prefix("preopen-mcp: --component: it does not list its tools: ");
    said.unwrap_or_else(|| panic!("{list}: {line}")).to_owned()
}

#[test]
fn a_list_that_is_none_is_an_error_of_the_start() {
    for (list, part) in [
        ("list-panics", "unreachable"),
        ("list-no-json", "not a JSON array"),
        ("list-object", "not a JSON array"),
        ("list-numbers", "tool 0 has no name"),
        ("list-nameless", "tool 0 has no name"),
        ("list-odd-name", "tool 0 has no name"),
        ("list-twice", "twice is there twice"),
        ("list-no-schema", "the inputSchema of bare"),
        ("list-odd-output", "the outputSchema of odd"),
        ("list-long", "longer than 1 MiB"),
    ] {
        let said = no_start(list, &[]);
        assert!(said.contains(part), "{list}: {said}");
    }
}

#[test]
fn a_list_that_takes_too_much_is_an_error_of_the_start() {
    let said = no_start("list-spins", &["--call-timeout", "200ms"]);
    assert_eq!(said, "it took more than 200ms (--call-timeout)");
    let said = no_start("list-eats", &["--max-call-memory", "32MiB"]);
    assert_eq!(said, "it took more than 32MiB (--max-call-memory)");
}

#[test]
fn a_list_of_many_lines_is_answered_on_one() {
    let root = Root::new();
    let mut server = start(&root, &["--tools", "list-lines"]);
    let listed = server.request("tools/list", json!({}));
    assert!(!listed.line.contains(['\r', '\u{2028}']), "{}", listed.line);
    let tool = &listed.result()["tools"][0];
    assert_eq!(
        (&tool["name"], &tool["description"]),
        (&json!("list-lines"), &json!("a\u{2028}b"))
    );
    server.close();
}

#[test]
fn what_ends_an_instance_ends_one_call() {
    let root = Root::new();
    let mut server = start(&root, &[]);
    for tool in ["panics", "exits", "panics"] {
        ask(&mut server, tool, json!({})).error(-32603);
        let counted = ask(&mut server, "counts", json!({}));
        assert_eq!(answer(&counted), &json!({"calls": 1}));
    }
    server.close();
}

#[test]
fn what_does_not_end_is_ended() {
    let root = Root::new();
    let mut server = start(
        &root,
        &["--call-timeout", "200ms", "--max-call-memory", "32MiB"],
    );
    let spun = ask(&mut server, "spins", json!({}));
    assert!(
        refusal(&spun).contains("took longer than 200ms"),
        "{}",
        spun.line
    );
    server.alive();
    server.close();
    let mut server = start(&root, &["--max-call-memory", "32MiB"]);
    let ate = ask(&mut server, "eats", json!({}));
    assert!(refusal(&ate).contains("--max-call-memory"), "{}", ate.line);
    server.alive();
    server.stayed_under(400 << 20);
    server.close();
}

#[test]
fn a_call_that_spins_is_cancelled() {
    let root = Root::new();
    let mut server = start(&root, &["--call-timeout", "600s", "--workers", "1"]);
    server.raw(format!(
        "{}\n",
        crate::harness::call("long", "spins", json!({}))
    ));
    server.send(&crate::harness::cancel("long"));
    // The one worker is free again.
    let counted = ask(&mut server, "counts", json!({}));
    answer(&counted);
    assert!(server.close().is_empty());
}

#[test]
fn what_is_no_json_object_is_nobodys_answer() {
    let root = Root::new();
    let mut server = start(&root, &[]);
    for tool in [
        "answers-no-json",
        "answers-two-values",
        "answers-a-list",
        "answers-deep",
    ] {
        let message = ask(&mut server, tool, json!({}));
        message.error(-32603);
        assert!(server.set_aside().is_empty(), "{tool}");
    }
    ask(&mut server, "knows-no-tool", json!({})).error(-32602);
    server.close();
}

#[test]
fn an_answer_of_many_lines_is_one() {
    let root = Root::new();
    let mut server = start(&root, &[]);
    let message = ask(&mut server, "answers-lines", json!({}));
    assert_eq!(answer(&message), &json!({"a": "x\u{2028}y", "b": 1}));
    assert!(
        !message.line.contains(['\r', '\u{2028}']),
        "{}",
        message.line
    );
    server.close();
}

#[test]
fn an_answer_over_the_limit_is_a_refusal() {
    let root = Root::new();
    let mut server = start(&root, &[]);
    let message = ask(&mut server, "answers-much", json!({}));
    assert!(
        refusal(&message).contains("--max-result-bytes"),
        "{}",
        message.line
    );
    server.close();
}

#[test]
fn every_call_has_an_instance_of_its_own() {
    let root = Root::new();
    let mut server = start(&root, &[]);
    for _ in 0..5 {
        // It would like to be kept for whatever comes next.
        ask(&mut server, "keeps", json!({}));
        let counted = ask(&mut server, "counts", json!({}));
        assert_eq!(answer(&counted), &json!({"calls": 1}));
    }
    server.close();
}

#[test]
fn there_is_nothing_beside_the_root() {
    let root = Root::new().link("link", "../outside/secret.txt");
    let mut server = serving(&root, contrary())
        .with(|command| command.env("SECRET", "in the environment"))
        .start();
    let seen = ask(&mut server, "looks-around", json!({}));
    assert_eq!(
        answer(&seen),
        &json!({"environment": 0, "arguments": 0, "opened": []})
    );
    server.close();
}

#[test]
fn read_only_holds_whatever_it_says() {
    let root = Root::new();
    let before = root.census();
    let mut server = start(&root, &["--read-only"]);
    let names: Vec<Value> = server
        .tools()
        .iter()
        .map(|tool| tool["name"].clone())
        .collect();
    assert!(!names.contains(&json!("writes")), "{names:?}");
    ask(&mut server, "writes", json!({})).error(-32602);
    let tried = ask(&mut server, "writes-and-says-it-reads", json!({}));
    assert_eq!(answer(&tried), &json!({"written": false}));
    server.close();
    assert_eq!(root.census(), before);
}

#[test]
fn the_operator_chooses_its_tools() {
    let root = Root::new();
    let mut server = start(&root, &["--tools", "counts,writes"]);
    let names: Vec<Value> = server
        .tools()
        .iter()
        .map(|tool| tool["name"].clone())
        .collect();
    assert_eq!(names, ["counts", "writes"]);
    ask(&mut server, "looks-around", json!({})).error(-32602);
    ask(&mut server, "unlisted", json!({})).error(-32602);
    server.close();

    let refused = |arguments: &[&str]| {
        let launch = serving(&root, contrary()).args(arguments.iter().copied());
        let exit = launch.spawn().wait();
        assert_eq!(exit.code, Some(64));
        exit.stderr
    };
    let said = refused(&["--tools", "counts,none"]);
    assert!(
        said.starts_with("preopen-mcp: --tools: there is no tool \"none\""),
        "{said}"
    );
    let said = refused(&["--tools", "writes", "--read-only"]);
    assert!(
        said.starts_with("preopen-mcp: --tools: writes writes"),
        "{said}"
    );
}

/// A call that says it changes something waits for those before it, and those
/// behind it wait: however fast they are sent.
#[test]
fn what_writes_is_in_order() {
    let root = Root::new();
    let mut server = start(&root, &["--workers", "4"]);
    let calls: String = (0..20)
        .map(|id| {
            let tool = if id % 2 == 0 { "writes" } else { "counts" };
            format!("{}\n", crate::harness::call(id, tool, json!({})))
        })
        .collect();
    server.raw(calls);
    let order: Vec<u64> = (0..20)
        .map(|_| server.receive().json["id"].as_u64().unwrap())
        .collect();
    assert_eq!(order, (0..20).collect::<Vec<_>>());
    server.close();
    assert_eq!(
        fs::read(root.at("written.txt")).unwrap(),
        b"by the component"
    );
}
