//! Order: a call that changes something sees everything sent before it and is
//! seen by everything sent after it, however fast the client pipelines.

use serde_json::{Value, json};

use crate::harness::{Answer, Launch, Message, Root, Server, call, cancel, request};

/// What a reading call returned.
fn text(answer: &Message) -> String {
    Answer(answer.clone()).text()
}

#[test]
fn a_pipelined_read_sees_the_write_before_it() {
    let root = Root::new().file("f.txt", "start");
    let mut server = Server::new(&root);
    let mut messages = Vec::new();
    for round in 0..100 {
        messages.push(call(
            format!("w{round}"),
            "write_text_file",
            json!({"path": "f.txt", "content": format!("{round}")}),
        ));
        messages.push(call(
            format!("r{round}"),
            "read_text_file",
            json!({"path": "f.txt"}),
        ));
    }
    server.send_all(&messages);
    for round in 0..100 {
        server.answer(format!("w{round}")).result();
        assert_eq!(text(&server.answer(format!("r{round}"))), round.to_string());
    }
    server.close();
}

#[test]
fn reads_between_two_writes_all_see_the_first() {
    let root = Root::new()
        .file("f.txt", "start")
        .file("pad/big.txt", "line\n".repeat(50_000));
    let mut server = Launch::new(&root).args(["--workers", "4"]).start();
    let mut messages = Vec::new();
    for round in 0..20 {
        let content = format!("round {round}");
        messages.push(call(
            format!("w{round}"),
            "write_text_file",
            json!({"path": "f.txt", "content": content}),
        ));
        // A slow reader first, so that a write that did not wait would overtake the others.
        messages.push(call(
            format!("s{round}"),
            "search_text",
            json!({"query": "no such line", "path": "pad"}),
        ));
        for reader in 0..5 {
            messages.push(call(
                format!("r{round}.{reader}"),
                "read_text_file",
                json!({"path": "f.txt"}),
            ));
        }
    }
    server.send_all(&messages);
    for round in 0..20 {
        for reader in 0..5 {
            assert_eq!(
                text(&server.answer(format!("r{round}.{reader}"))),
                format!("round {round}")
            );
        }
    }
    server.close();
}

#[test]
fn writes_to_one_file_land_in_the_order_they_were_sent() {
    let root = Root::new();
    let mut server = Launch::new(&root).args(["--workers", "8"]).start();
    let write = |number: u32| {
        call(
            number,
            "write_text_file",
            json!({"path": "f.txt", "content": number.to_string()}),
        )
    };
    server.send_all(&(0..200).map(write).collect::<Vec<_>>());
    for number in 0..200 {
        server.answer(number).result();
    }
    assert_eq!(root.read("f.txt"), b"199");
    server.close();
}

#[test]
fn read_only_calls_run_side_by_side() {
    let root = Root::new().haystack().file("a.txt", "x");
    let mut server = Launch::new(&root).args(["--workers", "2"]).busy("long");
    assert_eq!(
        text(&server.exchange(&call("short", "read_text_file", json!({"path": "a.txt"})))),
        "x"
    );
    server.send(&cancel("long"));
    assert!(server.close().is_empty());
}

/// A server with a write that waits until a long call has ended.
fn behind_a_long_call(root: &Root) -> Server {
    let mut server = Launch::new(root).busy("long");
    server.send(&call(
        "write",
        "write_text_file",
        json!({"path": "f.txt", "content": "x"}),
    ));
    server
}

#[test]
fn a_write_behind_a_cancelled_call_goes_on() {
    let root = Root::new().haystack();
    let mut server = behind_a_long_call(&root);
    server.send(&call("read", "read_text_file", json!({"path": "f.txt"})));
    server.send(&cancel("long"));
    server.answer("write").result();
    assert_eq!(text(&server.answer("read")), "x");
    server.close();
}

#[test]
fn a_cancelled_write_that_waits_is_never_done() {
    let root = Root::new().haystack();
    let mut server = behind_a_long_call(&root);
    server.send_all(&["write", "long"].map(cancel));
    server.alive();
    assert!(server.close().is_empty());
    assert_eq!(root.names(), ["hay"]);
}

#[test]
fn a_thousand_mixed_requests_are_answered_once_each() {
    let root = Root::new().file("hello.txt", "hello");
    let mut server = Server::new(&root);
    let message = |id: u64| match id % 4 {
        0 => call(id, "list_directory", json!({})),
        1 => call(id, "read_text_file", json!({"path": "hello.txt"})),
        2 => request(id, "tools/list", json!({})),
        _ => request(id, "no/such", json!({})),
    };
    server.send_all(&(0..1000).map(message).collect::<Vec<_>>());
    let mut seen = vec![0; 1000];
    for _ in 0..1000 {
        let answer = server.receive();
        let id = answer.json["id"].as_u64().unwrap();
        seen[usize::try_from(id).unwrap()] += 1;
        match id % 4 {
            3 => drop(answer.error(-32601).clone()),
            1 => assert_eq!(text(&answer), "hello"),
            _ => assert!(answer.result().is_object()),
        }
    }
    assert!(seen.iter().all(|count| *count == 1), "{seen:?}");
    assert!(server.close().is_empty());
}

#[test]
fn ids_of_both_kinds_get_their_own_content() {
    let root = (0..10).fold(Root::new(), |root, number| {
        root.file(format!("{number}"), format!("content {number}"))
    });
    let mut server = Server::new(&root);
    let ids = |number: usize| [json!(number), json!(number.to_string())];
    let read =
        |id: Value, number: usize| call(id, "read_text_file", json!({"path": number.to_string()}));
    let messages: Vec<Value> = (0..10)
        .flat_map(|number| ids(number).map(|id| read(id, number)))
        .collect();
    server.send_all(&messages);
    for number in 0..10 {
        for id in ids(number) {
            assert_eq!(text(&server.answer(id)), format!("content {number}"));
        }
    }
    server.close();
}
