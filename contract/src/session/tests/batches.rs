//! Several messages in one array, on connections whose revision has them.

use serde_json::{Value, json};

use super::legacy::{legacy, session, settled};
use super::{modern, refused, reply};
use crate::session::{Action, Call, Outcome, Protocol, Session, Ticket, ToolResult, Tools};

const NOTE: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;

fn cancel(id: u32) -> String {
    json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}})
        .to_string()
}

fn ping(id: u32) -> String {
    legacy(id, "ping", json!({}))
}

fn ask(id: u32) -> String {
    legacy(id, "tools/call", json!({"name": "t"}))
}

fn array(messages: &[String]) -> String {
    format!("[{}]", messages.join(","))
}

/// What a batch leads to: the calls and lists, and the line if it is known.
#[derive(Default)]
struct Taken {
    calls: Vec<Call>,
    lists: Vec<Ticket>,
    cancelled: Vec<u64>,
    line: Option<String>,
}

fn take(session: &Session, messages: &[String]) -> Taken {
    let mut taken = Taken::default();
    let actions = match session.receive(array(messages).as_bytes()) {
        Action::Many(actions) => actions,
        action => vec![action],
    };
    for action in actions {
        match action {
            Action::Nothing => {}
            Action::Reply(line) => assert_eq!(taken.line.replace(line), None, "two lines"),
            Action::List(ticket) => taken.lists.push(ticket),
            Action::Call(call) => taken.calls.push(call),
            Action::Cancel(serial) => taken.cancelled.push(serial),
            Action::Many(_) => panic!("nested"),
        }
    }
    taken
}

/// The answers in a line.
fn answers(line: Option<String>) -> Vec<Value> {
    let line = line.expect("a line");
    let text = line.strip_suffix('\n').expect("a whole line");
    assert!(!text.contains('\n'));
    serde_json::from_str(text).expect("an array")
}

/// The ids of the answers in a line.
fn ids(line: Option<String>) -> Vec<Value> {
    let answers = answers(line);
    answers.iter().map(|answer| answer["id"].clone()).collect()
}

fn long(bytes: usize) -> Outcome {
    Outcome::Result(ToolResult {
        structured: None,
        text: Some("x".repeat(bytes)),
        is_error: false,
    })
}

#[test]
fn only_the_two_oldest_versions_have_batches() {
    for (version, has) in [
        ("2024-11-05", true),
        ("2025-03-26", true),
        ("2025-06-18", false),
        ("2025-11-25", false),
    ] {
        let session = settled(version);
        let line = array(&[ping(1), ping(2)]);
        let answer: Value = match session.receive(line.as_bytes()) {
            Action::Reply(line) => serde_json::from_str(&line).expect("JSON"),
            other => panic!("no reply: {other:?}"),
        };
        if has {
            assert_eq!(answer[0], json!({"jsonrpc": "2.0", "id": 1, "result": {}}));
            assert_eq!(answer[1]["id"], 2);
        } else {
            assert_eq!(
                (&answer["error"]["code"], answer.get("id")),
                (&json!(-32600), None)
            );
        }
    }
    for protocol in [Protocol::Modern, Protocol::Legacy, Protocol::Both] {
        let answer = reply(session(protocol).receive(array(&[ping(1)]).as_bytes()));
        assert_eq!(answer["error"]["code"], -32600, "nothing is settled yet");
    }
}

#[test]
fn a_later_handshake_takes_batches_away() {
    let session = settled("2025-03-26");
    let params = json!({"protocolVersion": "2025-06-18"});
    reply(session.receive(legacy(1, "initialize", params).as_bytes()));
    let answer = reply(session.receive(array(&[ping(1)]).as_bytes()));
    assert_eq!(answer["error"]["code"], -32600);
}

#[test]
fn the_line_comes_with_the_last_answer_and_in_the_order_of_the_requests() {
    let session = settled("2025-03-26");
    let list = legacy(3, "tools/list", json!({}));
    let taken = take(&session, &[ask(1), NOTE.into(), ping(2), list, ask(4)]);
    assert_eq!(taken.line, None);
    let [first, second] = &taken.calls[..] else {
        panic!("not two calls");
    };
    assert_eq!(session.list(&taken.lists[0], &Tools::new("[]")), None);
    assert_eq!(session.finish(&second.ticket, &refused()), None);
    assert!(session.held() > 0);
    let line = session.finish(&first.ticket, &refused());
    assert_eq!(session.finish(&first.ticket, &refused()), None, "twice");
    assert_eq!(ids(line), [1, 2, 3, 4]);
    assert_eq!(session.held(), 0);
}

#[test]
fn each_part_that_is_no_request_has_its_error_and_notifications_have_none() {
    let session = settled("2024-11-05");
    let parts = [
        "1",
        "null",
        "\"x\"",
        "[]",
        "{}",
        NOTE,
        r#"{"id":7,"method":1}"#,
        r#"{"jsonrpc":"2.0","id":1,"result":{}}"#,
    ];
    let taken = take(&session, &parts.map(str::to_owned));
    let answers = answers(taken.line);
    assert_eq!(answers.len(), 6, "{answers:?}");
    for answer in &answers {
        assert_eq!(answer["error"]["code"], -32600, "{answer}");
    }
    assert_eq!(answers[5]["id"], 7);
}

#[test]
fn a_batch_without_requests_gets_silence_and_an_empty_one_an_error() {
    let session = settled("2025-03-26");
    assert!(matches!(
        session.receive(array(&[NOTE.into(), cancel(9)]).as_bytes()),
        Action::Nothing
    ));
    for empty in ["[]", " [ ] "] {
        let answer = reply(session.receive(empty.as_bytes()));
        assert_eq!(
            (&answer["error"]["code"], answer.get("id")),
            (&json!(-32600), None)
        );
    }
    let broken = reply(session.receive(b"[{}"));
    assert_eq!(broken["error"]["code"], -32700);
}

#[test]
fn what_needs_a_line_of_its_own_is_refused_in_a_batch() {
    let session = session(Protocol::Both);
    let params = json!({"protocolVersion": "2025-03-26"});
    reply(session.receive(legacy(1, "initialize", params.clone()).as_bytes()));
    let discover = modern("2", "server/discover", json!({}));
    let older = discover.replace("2026-07-28", "1900-01-01");
    let taken = take(
        &session,
        &[legacy(1, "initialize", params), discover, older, ping(3)],
    );
    let answers = answers(taken.line);
    let codes: Vec<_> = answers
        .iter()
        .map(|answer| &answer["error"]["code"])
        .collect();
    assert_eq!(
        codes,
        [&json!(-32600), &json!(-32600), &json!(-32022), &Value::Null]
    );
    assert_eq!(answers[3]["result"], json!({}));
}

#[test]
fn an_id_is_taken_once_in_a_batch_and_beside_it() {
    let session = settled("2025-03-26");
    let taken = take(&session, &[ask(1), ask(1)]);
    let single = reply(session.receive(ask(1).as_bytes()));
    assert_eq!(
        (&single["error"]["code"], single.get("id")),
        (&json!(-32600), None)
    );
    let line = session.finish(&taken.calls[0].ticket, &refused());
    assert_eq!(ids(line), [json!(1), Value::Null]);
    assert!(matches!(
        session.receive(ask(1).as_bytes()),
        Action::Call(_)
    ));
}

#[test]
fn a_cancelled_part_is_left_out() {
    let session = settled("2025-03-26");
    let taken = take(&session, &[ask(1), ask(2), ask(3)]);
    let Action::Cancel(serial) = session.receive(cancel(2).as_bytes()) else {
        panic!("not cancelled");
    };
    assert_eq!(serial, taken.calls[1].ticket.serial());
    assert_eq!(session.finish(&taken.calls[1].ticket, &refused()), None);
    assert_eq!(session.finish(&taken.calls[0].ticket, &refused()), None);
    let line = session.finish(&taken.calls[2].ticket, &refused());
    assert_eq!(ids(line), [1, 3]);
}

#[test]
fn cancelling_the_last_part_gives_the_line_of_the_others() {
    let session = settled("2025-03-26");
    let taken = take(&session, &[ask(1), ping(2)]);
    let Action::Many(actions) = session.receive(cancel(1).as_bytes()) else {
        panic!("not both");
    };
    let [Action::Cancel(serial), Action::Reply(line)] = &actions[..] else {
        panic!("not both: {actions:?}");
    };
    assert_eq!(*serial, taken.calls[0].ticket.serial());
    assert_eq!(ids(Some(line.clone())), [2]);
}

#[test]
fn a_batch_may_cancel_itself_and_another_one() {
    let session = settled("2025-03-26");
    let first = take(&session, &[ask(1), ping(2)]);
    let second = take(&session, &[ask(3), cancel(1), cancel(3)]);
    let serials = [&first.calls[0], &second.calls[0]].map(|call| call.ticket.serial());
    assert_eq!(second.cancelled, serials);
    assert_eq!(ids(second.line), [2], "the first, which was complete");
    assert_eq!(session.finish(&second.calls[0].ticket, &refused()), None);
    assert_eq!(session.held(), 0);
}

#[test]
fn a_stopped_part_is_left_out_too() {
    let session = settled("2025-03-26");
    let taken = take(&session, &[ask(1), ask(2)]);
    assert_eq!(session.finish(&taken.calls[1].ticket, &refused()), None);
    let line = session.finish(&taken.calls[0].ticket, &Outcome::Stopped);
    assert_eq!(ids(line), [2]);
    let taken = take(&session, &[ask(1)]);
    assert_eq!(
        session.finish(&taken.calls[0].ticket, &Outcome::Stopped),
        None
    );
    assert_eq!(session.held(), 0);
}

#[test]
fn a_batch_holds_256_messages_at_most() {
    let session = settled("2025-03-26");
    let pings = |count: u32| (0..count).map(ping).collect::<Vec<_>>();
    assert_eq!(answers(take(&session, &pings(256)).line).len(), 256);
    let answer = reply(session.receive(array(&pings(257)).as_bytes()));
    assert_eq!(answer["error"]["code"], -32600);
    let text = answer["error"]["message"].as_str().expect("a text");
    assert!(text.contains("256"), "{text}");
    assert_eq!(session.held(), 0);
}

#[test]
fn every_answer_of_a_full_batch_may_be_as_long_as_a_result_is_by_default() {
    let session = settled("2025-03-26");
    let taken = take(&session, &(0..256).map(ask).collect::<Vec<_>>());
    let mut line = None;
    for call in &taken.calls {
        line = session.finish(&call.ticket, &long(48_000));
    }
    let answers = answers(line);
    assert_eq!(answers.len(), 256);
    assert!(answers.iter().all(|answer| answer.get("result").is_some()));
}

#[test]
fn answers_that_are_too_long_together_are_refused_and_short_ones_are_not() {
    let session = settled("2025-03-26");
    let taken = take(&session, &[ask(1), ask(2), ask(3), ask(4)]);
    // A share is a little over 3 MB; what is left of one another may have.
    for (call, bytes) in taken.calls.iter().zip([7_000_000, 10, 6_000_000]) {
        assert_eq!(session.finish(&call.ticket, &long(bytes)), None);
    }
    assert!(session.held() < 8 << 20, "{}", session.held());
    let answers = answers(session.finish(&taken.calls[3].ticket, &long(3_000_000)));
    assert_eq!(answers[0]["error"]["code"], -32600);
    let text = answers[0]["error"]["message"].as_str().expect("a text");
    assert!(text.contains("16 MiB"), "{text}");
    let served = answers[1..]
        .iter()
        .all(|answer| answer.get("result").is_some());
    assert!(served, "the second left room for the third");
}
