//! Several messages in one array, which the two oldest revisions have. Source:
//! the wire document, "Framing".

use std::io::Write;
use std::thread;

use serde_json::{Value, json};

use crate::harness::{HAYSTACK, Root, cancel, request};
use crate::legacy::{Client, ask, call, initialize};

const NOTE: &str = "notifications/initialized";

fn note() -> Value {
    json!({"jsonrpc": "2.0", "method": NOTE})
}

fn ping(id: impl Into<Value>) -> Value {
    ask(id, "ping", json!({}))
}

/// A call that goes on for many seconds in a haystack.
fn long(id: impl Into<Value>) -> Value {
    call(id, "search_text", json!({"query": "needle"}))
}

fn ids(line: &Value) -> Vec<&Value> {
    let answers = line
        .as_array()
        .unwrap_or_else(|| panic!("no batch: {line}"));
    answers.iter().map(|answer| &answer["id"]).collect()
}

#[test]
fn calls_of_a_batch_are_answered_in_one_line_in_their_order() {
    for version in ["2024-11-05", "2025-03-26"] {
        let root = Root::new();
        for number in 0..20 {
            root.write(&format!("f{number}"), format!("content {number}"));
        }
        let mut client = Client::settled(&root, version, &[]);
        let mut batch = vec![ask("list", "tools/list", json!({})), note()];
        batch.extend((0..20).map(|number| {
            let path = format!("f{number}");
            call(number, "read_text_file", json!({"path": path}))
        }));
        batch.push(call("nope", "nope", json!({})));
        client.send(&json!(batch));
        let line = client.line();
        let mut expected = vec![json!("list")];
        expected.extend((0..20).map(Value::from));
        expected.push(json!("nope"));
        assert_eq!(ids(&line), expected.iter().collect::<Vec<_>>());
        assert!(line[0]["result"]["tools"].is_array());
        for number in 0..20 {
            let text = line[number + 1]["result"]["content"][0]["text"].as_str();
            assert!(
                text.unwrap().contains(&format!("content {number}\"")),
                "{line}"
            );
        }
        assert_eq!(line[21]["error"]["code"], -32602);
        client.close();
    }
}

#[test]
fn a_batch_is_run_in_its_order() {
    let root = Root::new();
    let mut client = Client::settled(&root, "2025-03-26", &[]);
    let write = |id, content| {
        call(
            id,
            "write_text_file",
            json!({"path": "a", "content": content}),
        )
    };
    let read = |id| call(id, "read_text_file", json!({"path": "a"}));
    client.send(&json!([write(1, "one"), read(2), write(3, "two"), read(4)]));
    let line = client.line();
    for (at, content) in [(1, "one"), (3, "two")] {
        let text = line[at]["result"]["content"][0]["text"].as_str();
        assert!(text.unwrap().contains(content), "{line}");
    }
    client.close();
}

#[test]
fn what_is_no_request_is_answered_in_its_place_and_what_has_no_answer_is_not() {
    let root = Root::new();
    let mut client = Client::settled(&root, "2025-03-26", &[]);
    client.send(&json!([
        1,
        note(),
        [],
        ping(5),
        null,
        cancel(77),
        initialize(6, "2025-06-18")
    ]));
    let line = client.line();
    let answers = line.as_array().unwrap();
    assert_eq!(answers.len(), 5, "{line}");
    for (at, id) in [(0, None), (1, None), (3, None), (4, Some(&json!(6)))] {
        assert_eq!(
            (&answers[at]["error"]["code"], answers[at].get("id")),
            (&json!(-32600), id)
        );
    }
    assert_eq!(answers[2]["result"], json!({}));
    client.send(&json!([note(), note()]));
    client.send(&json!([]));
    let empty = client.line();
    assert_eq!(
        (&empty["error"]["code"], empty.get("id")),
        (&json!(-32600), None),
        "{empty}"
    );
    client.send(&json!(vec![ping(1); 257]));
    let many = client.line();
    assert_eq!(
        (&many["error"]["code"], many.get("id")),
        (&json!(-32600), None),
        "{many}"
    );
    client.close();
}

#[test]
fn connections_without_batches_refuse_each_once() {
    let root = Root::new();
    let batch = json!([ping(5), ask(6, "tools/list", json!({}))]);
    for protocol in ["2026-07-28", "legacy", "both"] {
        let mut client = Client::new(&root, protocol, &[]);
        for version in [
            None,
            Some("2025-06-18"),
            Some("2025-11-25"),
            Some("2026-07-28"),
        ] {
            if let Some(version) = version {
                client.exchange(&initialize(0, version));
            }
            for array in [&batch, &json!([]), &json!([1])] {
                client.send(array);
                let answer = client.line();
                assert_eq!(
                    (&answer["error"]["code"], answer.get("id")),
                    (&json!(-32600), None),
                    "{answer}"
                );
            }
        }
        client.close();
    }
}

#[test]
fn a_modern_request_is_not_served_in_a_batch() {
    let root = Root::new();
    let mut client = Client::settled(&root, "2025-03-26", &[]);
    client.send(&json!([request(1, "server/discover", json!({})), ping(2)]));
    let line = client.line();
    assert_eq!(line[0]["error"]["code"], -32600, "{line}");
    assert_eq!(line[1]["result"], json!({}));
    client.result(&request(3, "server/discover", json!({})));
    client.close();
}

#[test]
fn a_cancelled_call_is_left_out_and_the_others_are_not_kept_waiting() {
    let root = Root::new().haystack();
    let mut client = Client::settled(&root, "2025-03-26", &HAYSTACK);
    client.send(&json!([
        long("long"),
        call("short", "list_directory", json!({})),
        ping("ping")
    ]));
    client.send(&ping("beside"));
    assert_eq!(client.line()["id"], "beside", "the batch waits");
    client.send(&cancel("long"));
    assert_eq!(ids(&client.line()), ["short", "ping"]);
    client.send(&json!([long("a"), cancel("a")]));
    assert_eq!(
        client.exchange(&ping("after"))["id"],
        "after",
        "nobody is left to answer"
    );
    client.close();
}

#[test]
fn progress_of_a_call_in_a_batch_is_a_line_of_its_own() {
    let root = Root::new().haystack();
    let mut client = Client::settled(&root, "2025-03-26", &HAYSTACK);
    let mut call = long("long");
    call["params"]["_meta"] = json!({"progressToken": 7});
    client.send(&json!([call, ping("ping")]));
    let told = client.line();
    assert_eq!(told["params"]["progressToken"], 7, "{told}");
    client.send(&cancel("long"));
    let mut next = client.line();
    while next.get("method").is_some() {
        next = client.line();
    }
    assert_eq!(ids(&next), ["ping"]);
    client.close();
}

#[test]
fn the_end_of_input_gives_the_answers_that_there_are() {
    let root = Root::new().haystack();
    // The second call has not begun by then.
    let arguments = [&HAYSTACK[..], &["--workers", "1"]].concat();
    let mut client = Client::settled(&root, "2025-03-26", &arguments);
    let write = json!({"path": "f.txt", "content": "content"});
    client.send(&json!([
        long(1),
        call(2, "write_text_file", write),
        ping(3)
    ]));
    drop(client.0.take_stdin());
    assert_eq!(ids(&client.line()), [3]);
    client.close();
}

#[test]
fn a_batch_whose_answers_are_more_than_may_wait_does_not_wait_for_itself() {
    let root = Root::new();
    let arguments = ["--max-request-bytes", "64MiB"];
    let mut client = Client::settled(&root, "2025-03-26", &arguments);
    // Each is answered under its id, and all of them only with the call.
    let long = |letter: &str| ask(letter.repeat(9 << 20), "nope", json!({}));
    client.send(&json!([
        long("a"),
        long("b"),
        call(1, "list_directory", json!({}))
    ]));
    let line = client.line();
    assert_eq!((ids(&line).len(), &line[2]["id"]), (3, &json!(1)));
    client.result(&ping("after"));
    client.close();
}

#[test]
fn answers_that_wait_for_their_batches_do_not_pile_up() {
    let root = Root::new().haystack();
    let arguments = [&HAYSTACK[..2], &["--workers", "1", "--call-timeout", "3s"]].concat();
    let mut client = Client::settled(&root, "2025-03-26", &arguments);
    let mut stdin = client.0.take_stdin().unwrap();
    let batches = 200;
    let writer = thread::spawn(move || {
        writeln!(stdin, "{}", long("long")).unwrap();
        // It waits for the one before it, and those behind it wait for it.
        let write = json!({"path": "f.txt", "content": "content"});
        writeln!(stdin, "{}", call("write", "write_text_file", write)).unwrap();
        for number in 0..batches {
            // Definitions of some kilobytes each, which wait for a call that waits.
            let list = |at| ask(format!("{number}-{at}"), "tools/list", json!({}));
            let mut batch: Vec<Value> = (0..255).map(list).collect();
            batch.push(call(number, "list_directory", json!({})));
            writeln!(stdin, "{}", json!(batch)).unwrap();
        }
        stdin
    });
    let mut bytes = 0;
    for _ in 0..batches + 2 {
        bytes += client.0.line().expect("an answer").len();
    }
    // Together they are more than may be held at any one time.
    assert!(bytes > 96 << 20, "{bytes} bytes");
    match client.0.peak_memory() {
        Some(peak) => assert!(peak < 96 << 20, "{peak} bytes of memory"),
        None => eprintln!("SKIPPED: this system does not say how much memory a process held"),
    }
    drop(writer.join().unwrap());
    client.close();
}
