//! What the fuzzer found in the session, one test each.

use preopen_contract::session::{Action, Identity, PROTOCOL_VERSION, Protocol, Session};

fn session() -> Session {
    let identity = Identity {
        name: "test".into(),
        version: "1".into(),
        instructions: "none".into(),
    };
    Session::new(identity, Protocol::Modern)
}

fn call(id: &str, token: &str) -> String {
    format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"tools/call\",\"params\":{{\"name\":\"t\",\"_meta\":{{\
         \"io.modelcontextprotocol/protocolVersion\":\"{PROTOCOL_VERSION}\",\
         \"io.modelcontextprotocol/clientCapabilities\":{{}},\"progressToken\":{token}}}}}}}"
    )
}

#[test]
fn what_is_no_request_does_not_take_the_answer_of_one_in_flight() {
    let session = session();
    let first = session.receive(call("7", "1").as_bytes());
    assert!(matches!(first, Action::Call(_)), "{first:?}");
    for line in [
        "{\"id\":7}",
        "{\"jsonrpc\":\"1.0\",\"id\":7,\"method\":\"tools/list\"}",
        "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":7}",
    ] {
        let Action::Reply(reply) = session.receive(line.as_bytes()) else {
            panic!("no reply to {line}");
        };
        assert!(
            reply.contains("-32600") && !reply.contains("\"id\""),
            "{reply}"
        );
    }
}

#[test]
fn a_progress_token_is_written_as_one_line_whatever_splits_lines() {
    let session = session();
    let Action::Call(call) = session.receive(call("1", "\"a\u{2028}\\u0062\"").as_bytes()) else {
        panic!("no call");
    };
    let token = call.progress_token.expect("a token");
    assert_eq!(token, "\"a\\u2028b\"");
    assert!(!session.progress(&token, 1, "").contains('\u{2028}'));
}

#[test]
fn a_name_that_is_no_text_is_not_called_a_member_given_twice() {
    let line = call("1", "1").replace("\"name\"", "\"\\ud800\":1,\"name\"");
    let Action::Reply(reply) = session().receive(line.as_bytes()) else {
        panic!("no reply");
    };
    assert!(
        reply.contains("-32602") && reply.contains("not Unicode"),
        "{reply}"
    );
}
