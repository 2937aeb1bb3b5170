//! Requests whose answer is still to come: each has one, under an id of its own.

use std::panic::{AssertUnwindSafe, catch_unwind};

use serde_json::json;

use super::{PROTOCOL_VERSION, call, modern, refused, reply, session};
use crate::session::{Action, Outcome};

#[test]
fn an_id_in_flight_is_not_taken_twice_and_is_free_once_answered() {
    let session = session();
    let line = modern("1", "tools/call", json!({"name": "x"}));
    let first = call(session.receive(line.as_bytes()));
    for again in [
        &line,
        &modern("1", "server/discover", json!({})),
        &modern("1", "no/such", json!({})),
    ] {
        let second = reply(session.receive(again.as_bytes()));
        assert_eq!(second["error"]["code"], -32600);
        assert!(second.get("id").is_none());
    }
    let older = line.replace(PROTOCOL_VERSION, "2025-11-25");
    let older = reply(session.receive(older.as_bytes()));
    assert_eq!(older["error"]["code"], -32022, "the version comes first");
    assert!(older.get("id").is_none());
    assert!(session.finish(&first.ticket, &refused()).is_some());
    assert!(
        session.finish(&first.ticket, &refused()).is_none(),
        "answered twice"
    );
    call(session.receive(line.as_bytes()));
}

#[test]
fn a_cancelled_call_gets_no_answer_and_its_id_can_be_used_again() {
    let session = session();
    let line = modern("\"a\"", "tools/call", json!({"name": "x"}));
    let cancel =
        br#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"a"}}"#;
    assert!(
        matches!(session.receive(cancel), Action::Nothing),
        "not in flight yet"
    );
    let first = call(session.receive(line.as_bytes()));
    let Action::Cancel(serial) = session.receive(cancel) else {
        panic!("not cancelled");
    };
    assert_eq!(serial, first.ticket.serial());
    let second = call(session.receive(line.as_bytes()));
    assert!(session.finish(&first.ticket, &refused()).is_none());
    assert!(session.finish(&second.ticket, &refused()).is_some());
}

#[test]
fn a_string_and_a_number_are_two_ids() {
    let session = session();
    call(session.receive(modern("1", "tools/call", json!({"name": "x"})).as_bytes()));
    call(session.receive(modern("\"1\"", "tools/call", json!({"name": "x"})).as_bytes()));
}

#[test]
fn a_call_that_is_cancelled_while_its_answer_is_made_has_none() {
    let session = session();
    let line = modern("1", "tools/call", json!({"name": "x"}));
    let cancel =
        br#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#;
    let first = call(session.receive(line.as_bytes()));
    let made = session.settle(&first.ticket, || {
        assert!(matches!(session.receive(cancel), Action::Cancel(_)));
        // Its id is free by now, and this is not its answer.
        call(session.receive(line.as_bytes()));
        Some("answer".to_owned())
    });
    assert_eq!(made, None);
}

#[test]
fn a_call_whose_answer_cannot_be_made_can_be_given_another() {
    let session = session();
    let line = modern("1", "tools/call", json!({"name": "x"}));
    let first = call(session.receive(line.as_bytes()));
    let make = || session.settle(&first.ticket, || panic!("no answer"));
    assert!(catch_unwind(AssertUnwindSafe(make)).is_err());
    let answer = session.finish(&first.ticket, &Outcome::Internal);
    assert!(answer.is_some_and(|line| line.contains("-32603")));
    assert!(session.finish(&first.ticket, &Outcome::Internal).is_none());
}
