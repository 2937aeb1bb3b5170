//! The revisions with a handshake: what each of the four is told.

use serde_json::{Value, json};

use super::{call, identity, reply};
use crate::session::{Action, Call, Outcome, Protocol, Session, ToolResult, Tools};

/// What each revision has: its name, batches, annotations, structure.
const VERSIONS: [(&str, bool, bool, bool); 4] = [
    ("2024-11-05", true, false, false),
    ("2025-03-26", true, true, false),
    ("2025-06-18", false, true, true),
    ("2025-11-25", false, true, true),
];

const TOOLS: &str = r#"[{"name":"t","title":"T","description":"d","inputSchema":{"type":"object","a":1e2},"outputSchema":{"type":"object"},"annotations":{"title":"T","readOnlyHint":true}}]"#;

pub(super) fn session(protocol: Protocol) -> Session {
    Session::new(identity(), protocol)
}

/// A legacy request.
pub(super) fn legacy(id: u32, method: &str, params: Value) -> String {
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string()
}

pub(super) fn initialize(session: &Session, version: &str) -> Value {
    let params = json!({"protocolVersion": version, "capabilities": {}});
    reply(session.receive(legacy(0, "initialize", params).as_bytes()))
}

/// A connection that has settled on `version`.
pub(super) fn settled(version: &str) -> Session {
    let session = session(Protocol::Legacy);
    initialize(&session, version);
    let initialized = br#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    assert!(matches!(session.receive(initialized), Action::Nothing));
    session
}

pub(super) fn code(session: &Session, line: &str) -> Value {
    reply(session.receive(line.as_bytes()))["error"]["code"].clone()
}

pub(super) fn listed(session: &Session, line: &str) -> Value {
    let Action::List(ticket) = session.receive(line.as_bytes()) else {
        panic!("no list: {line}");
    };
    let line = session.list(&ticket, &Tools::new(TOOLS)).expect("a line");
    serde_json::from_str::<Value>(&line).expect("JSON")["result"].clone()
}

fn called(session: &Session, line: &str) -> Call {
    call(session.receive(line.as_bytes()))
}

pub(super) fn finished(session: &Session, line: &str) -> Value {
    let result = ToolResult {
        structured: Some(r#"{"a":1}"#.into()),
        text: Some("one".into()),
        is_error: false,
    };
    let ticket = called(session, line).ticket;
    let line = session.finish(&ticket, &Outcome::Result(result));
    serde_json::from_str::<Value>(&line.expect("a line")).expect("JSON")["result"].clone()
}

#[test]
fn the_version_that_was_asked_for_is_settled_if_it_is_spoken() {
    for protocol in [Protocol::Legacy, Protocol::Both] {
        let session = session(protocol);
        let asked = VERSIONS.map(|(name, ..)| (json!(name), name));
        let others = ["2026-07-28", "1999-01-01", ""].map(|name| (json!(name), "2025-11-25"));
        let odd = [json!(7), json!(null), json!({})].map(|asked| (asked, "2025-11-25"));
        for (asked, settled) in asked.into_iter().chain(others).chain(odd) {
            let params = json!({"protocolVersion": asked});
            let answer = reply(session.receive(legacy(1, "initialize", params).as_bytes()));
            let expected = json!({
                "protocolVersion": settled,
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "test", "version": "1"},
                "instructions": "none",
            });
            assert_eq!(answer["result"], expected);
        }
    }
}

#[test]
fn a_handshake_and_a_ping_succeed_whatever_came_with_them() {
    let session = session(Protocol::Both);
    for params in [
        "",
        r#","params":{}"#,
        r#","params":null"#,
        r#","params":[]"#,
        r#","params":{"_meta":7}"#,
    ] {
        let line =
            |method: &str| format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}"{params}}}"#);
        let ping = reply(session.receive(line("ping").as_bytes()));
        assert_eq!(ping["result"], json!({}), "{params}");
        let answer = reply(session.receive(line("initialize").as_bytes()));
        assert_eq!(
            answer["result"]["protocolVersion"], "2025-11-25",
            "{params}"
        );
    }
}

#[test]
fn each_version_is_told_of_a_tool_what_it_knows() {
    for (version, _, annotations, structure) in VERSIONS {
        let result = listed(&settled(version), &legacy(1, "tools/list", json!({})));
        let mut expected: Value = serde_json::from_str(TOOLS).expect("JSON");
        let tool = expected[0].as_object_mut().expect("a tool");
        if !structure {
            tool.remove("outputSchema");
            tool.remove("title");
        }
        if !annotations {
            tool.remove("annotations");
        }
        assert_eq!(result, json!({"tools": expected}), "{version}");
    }
}

#[test]
fn definitions_are_copied_as_they_stand() {
    let session = settled("2024-11-05");
    let Action::List(ticket) = session.receive(legacy(1, "tools/list", json!(null)).as_bytes())
    else {
        panic!("no list");
    };
    let line = session.list(&ticket, &Tools::new(TOOLS)).expect("a line");
    assert!(
        line.contains(r#""inputSchema":{"type":"object","a":1e2}"#),
        "{line}"
    );
}

#[test]
fn each_version_gets_of_an_answer_what_it_knows() {
    for (version, _, _, structure) in VERSIONS {
        let line = legacy(1, "tools/call", json!({"name": "t"}));
        let mut expected = json!({"content": [{"type": "text", "text": "one"}], "isError": false});
        if structure {
            expected["structuredContent"] = json!({"a": 1});
        }
        assert_eq!(finished(&settled(version), &line), expected, "{version}");
    }
}

#[test]
fn an_answer_without_a_text_is_its_structure_as_text() {
    let session = settled("2024-11-05");
    let ticket = called(&session, &legacy(1, "tools/call", json!({"name": "t"}))).ticket;
    let result = ToolResult {
        structured: Some(r#"{"a":1}"#.into()),
        text: None,
        is_error: false,
    };
    let line = session
        .finish(&ticket, &Outcome::Result(result))
        .expect("a line");
    assert!(line.contains(r#""text":"{\"a\":1}""#), "{line}");
}

#[test]
fn what_is_not_offered_is_unknown_and_what_comes_too_early_is_told_so() {
    for protocol in [Protocol::Legacy, Protocol::Both] {
        let session = session(protocol);
        for method in [
            "logging/setLevel",
            "resources/list",
            "prompts/get",
            "completion/complete",
            "roots/list",
        ] {
            assert_eq!(
                code(&session, &legacy(1, method, json!({}))),
                -32601,
                "{method}"
            );
        }
        let early = reply(session.receive(legacy(1, "no/such", json!({})).as_bytes()));
        assert_eq!(early["error"]["code"], -32600);
        let text = early["error"]["message"].as_str().expect("a text");
        assert!(text.contains("initialize"), "{text}");
        initialize(&session, "2025-06-18");
        for method in [
            "no/such",
            "logging/setLevel",
            "notifications/initialized",
            "",
        ] {
            assert_eq!(
                code(&session, &legacy(1, method, json!({}))),
                -32601,
                "{method}"
            );
        }
    }
}

#[test]
fn the_tools_are_served_before_a_handshake_as_by_the_newest_version() {
    for protocol in [Protocol::Legacy, Protocol::Both] {
        let session = session(protocol);
        let bare = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;
        for line in [
            bare.to_owned(),
            legacy(1, "tools/list", json!({"_meta": {}, "cursor": null})),
        ] {
            assert_eq!(
                listed(&session, &line)["tools"].to_string(),
                canonical(),
                "{line}"
            );
        }
        let result = finished(&session, &legacy(1, "tools/call", json!({"name": "t"})));
        assert_eq!(result["structuredContent"], json!({"a": 1}));
        assert!(result.get("resultType").or(result.get("_meta")).is_none());
    }
}

pub(super) fn canonical() -> String {
    serde_json::from_str::<Value>(TOOLS)
        .expect("JSON")
        .to_string()
}

#[test]
fn parameters_are_judged_as_in_the_modern_era() {
    let session = settled("2025-06-18");
    for (method, params) in [
        ("tools/list", json!({"cursor": ""})),
        ("tools/list", json!([])),
        ("tools/list", json!({"_meta": 7})),
        ("tools/call", json!({})),
        ("tools/call", json!(null)),
        ("tools/call", json!({"name": 7})),
        ("tools/call", json!({"name": "t", "arguments": []})),
    ] {
        assert_eq!(
            code(&session, &legacy(1, method, params.clone())),
            -32602,
            "{method} {params}"
        );
    }
    let meta = json!({"progressToken": "p"});
    let params = json!({"name": "t", "arguments": null, "_meta": meta});
    let call = called(&session, &legacy(1, "tools/call", params));
    assert_eq!(
        (call.arguments.as_str(), call.progress_token.as_deref()),
        ("{}", Some("\"p\""))
    );
}

#[test]
fn null_is_nothing_to_a_client_that_has_shaken_hands() {
    let session = session(Protocol::Both);
    let nulls = [json!(null), json!({"_meta": null})].map(|params| legacy(1, "tools/list", params));
    for line in &nulls {
        assert_eq!(code(&session, line), -32602, "{line}");
    }
    initialize(&session, "2025-11-25");
    for line in &nulls {
        assert_eq!(listed(&session, line)["tools"].to_string(), canonical());
    }
}

#[test]
fn a_handshake_may_be_repeated_and_does_not_touch_what_is_in_flight() {
    let session = settled("2024-11-05");
    let first = called(&session, &legacy(1, "tools/call", json!({"name": "t"})));
    let again = legacy(1, "initialize", json!({"protocolVersion": "2025-06-18"}));
    assert_eq!(code(&session, &again), -32600, "the id is in flight");
    assert!(
        listed(&session, &legacy(2, "tools/list", json!({})))["tools"][0]
            .get("title")
            .is_none()
    );
    initialize(&session, "2025-06-18");
    assert_eq!(
        listed(&session, &legacy(2, "tools/list", json!({})))["tools"].to_string(),
        canonical()
    );
    let structured = ToolResult {
        structured: Some("{}".into()),
        text: None,
        is_error: false,
    };
    let line = session
        .finish(&first.ticket, &Outcome::Result(structured))
        .expect("a line");
    assert!(!line.contains("structuredContent"), "asked before: {line}");
}

#[test]
fn a_call_is_cancelled_as_in_the_modern_era() {
    let session = settled("2025-03-26");
    let first = called(&session, &legacy(1, "tools/call", json!({"name": "t"})));
    let cancel = br#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1,"reason":"late"}}"#;
    let Action::Cancel(serial) = session.receive(cancel) else {
        panic!("not cancelled");
    };
    assert_eq!(serial, first.ticket.serial());
    assert_eq!(session.finish(&first.ticket, &Outcome::Internal), None);
}
