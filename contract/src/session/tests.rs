//! The session alone, line by line; the same rules hold over real pipes in the
//! end-to-end tests.

mod batches;
mod eras;
mod in_flight;
mod legacy;
mod long;

use serde_json::{Value, json};

use super::{Action, Call, Identity, Outcome, PROTOCOL_VERSION, Protocol, Session, ToolResult};

fn identity() -> Identity {
    Identity {
        name: "test".into(),
        version: "1".into(),
        instructions: "none".into(),
    }
}

fn session() -> Session {
    Session::new(identity(), Protocol::Modern)
}

fn modern(id: &str, method: &str, params: Value) -> String {
    let mut params = params;
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": PROTOCOL_VERSION,
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":{},\"params\":{params}}}",
        json!(method)
    )
}

fn reply(action: Action) -> Value {
    match action {
        Action::Reply(line) => {
            let text = line.strip_suffix('\n').expect("a whole line");
            assert!(!text.contains('\n'));
            serde_json::from_str(text).expect("JSON")
        }
        other => panic!("expected a reply, got {other:?}"),
    }
}

fn call(action: Action) -> Call {
    match action {
        Action::Call(call) => call,
        other => panic!("expected a call, got {other:?}"),
    }
}

fn refused() -> Outcome {
    Outcome::Result(ToolResult::refusal("no"))
}

macro_rules! errors {
    ($($name:ident: $line:expr => $code:expr, $id:expr;)+) => {$(
        #[test]
        fn $name() {
            let line = $line;
            let answer = reply(session().receive(line.as_ref()));
            assert_eq!(answer["error"]["code"], json!($code), "{answer}");
            let id: Option<Value> = $id;
            assert_eq!(answer.get("id"), id.as_ref(), "{answer}");
        }
    )+};
}

errors! {
    garbage: "garbage" => -32700, None;
    cut_off: r#"{"jsonrpc":"2.0","id":1,"method":"#  => -32700, None;
    not_utf8: b"\xff\xfe" => -32700, None;
    utf8_broken_in_a_string: b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xed\xa0\x80\"}" => -32700, None;
    raw_nul_in_a_string: "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\0\"}" => -32700, None;
    two_objects: "{} {}" => -32700, None;
    batch: "[]" => -32600, None;
    unclosed_brackets: "[".repeat(100_000) => -32700, None;
    nested_brackets: "[".repeat(100_000) + &"]".repeat(100_000) => -32600, None;
    scalar: "7" => -32600, None;
    empty_object: "{}" => -32600, None;
    id_null: r#"{"jsonrpc":"2.0","id":null,"method":"x"}"# => -32600, None;
    id_fraction: r#"{"jsonrpc":"2.0","id":1.5,"method":"x"}"# => -32600, None;
    id_exponent: r#"{"jsonrpc":"2.0","id":1e3,"method":"x"}"# => -32600, None;
    id_object: r#"{"jsonrpc":"2.0","id":{},"method":"x"}"# => -32600, None;
    id_lone_surrogate: r#"{"jsonrpc":"2.0","id":"\ud800","method":"x"}"# => -32600, None;
    id_twice: r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"x"}"# => -32600, None;
    no_jsonrpc: r#"{"id":"a","method":"x"}"# => -32600, Some(json!("a"));
    jsonrpc_number: r#"{"jsonrpc":2.0,"id":1,"method":"x"}"# => -32600, Some(json!(1));
    no_method: r#"{"jsonrpc":"2.0","id":6}"# => -32600, Some(json!(6));
    method_null: r#"{"jsonrpc":"2.0","id":6,"method":null}"# => -32600, Some(json!(6));
    params_array: r#"{"jsonrpc":"2.0","id":6,"method":"tools/list","params":[]}"# => -32602, Some(json!(6));
    params_null: r#"{"jsonrpc":"2.0","id":6,"method":"tools/list","params":null}"# => -32602, Some(json!(6));
    no_params: r#"{"jsonrpc":"2.0","id":6,"method":"tools/list"}"# => -32602, Some(json!(6));
    initialize: r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}"# => -32022, Some(json!(0));
    initialize_bare: r#"{"jsonrpc":"2.0","id":0,"method":"initialize"}"# => -32022, Some(json!(0));
    initialize_modern: modern("0", "initialize", json!({})) => -32601, Some(json!(0));
    ping: modern("0", "ping", json!({})) => -32601, Some(json!(0));
    listen: modern("0", "subscriptions/listen", json!({})) => -32601, Some(json!(0));
    list_cursor: modern("0", "tools/list", json!({"cursor": ""})) => -32602, Some(json!(0));
    call_without_name: modern("0", "tools/call", json!({"arguments": {}})) => -32602, Some(json!(0));
    call_name_number: modern("0", "tools/call", json!({"name": 7})) => -32602, Some(json!(0));
    initialize_with_a_version_of_another_type: r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":7}}}"# => -32602, Some(json!(1));
    call_arguments_array: modern("0", "tools/call", json!({"name": "x", "arguments": []})) => -32602, Some(json!(0));
}

#[test]
fn a_string_is_the_same_however_it_is_escaped() {
    let line = modern("1", "tools/call", json!({"name": "x"}));
    let line = line.replace("\"2.0\"", r#""\u0032.0""#);
    call(session().receive(line.replace("tools/call", r"tools\u002fcall").as_bytes()));
}

#[test]
fn an_unknown_version_is_refused_before_anything_else() {
    let line = r#"{"jsonrpc":"2.0","id":1,"method":"no/such","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"1900-01-01"}}}"#;
    let answer = reply(session().receive(line.as_bytes()));
    assert_eq!(answer["error"]["code"], -32022);
    assert_eq!(
        answer["error"]["data"],
        json!({"supported": [PROTOCOL_VERSION], "requested": "1900-01-01"})
    );
}

#[test]
fn a_missing_meta_field_is_named() {
    for (meta, named) in [
        (json!({}), super::PROTOCOL_VERSION.len() as u64),
        (json!({"io.modelcontextprotocol/protocolVersion": 7}), 0),
    ] {
        let line =
            json!({"jsonrpc": "2.0", "id": named, "method": "no/such", "params": {"_meta": meta}});
        let answer = reply(session().receive(line.to_string().as_bytes()));
        assert_eq!(answer["error"]["code"], -32602);
        assert!(
            answer["error"]["message"]
                .as_str()
                .expect("text")
                .contains("protocolVersion")
        );
    }
    let line = json!({"jsonrpc": "2.0", "id": 1, "method": "no/such", "params": {"_meta": {
        "io.modelcontextprotocol/protocolVersion": PROTOCOL_VERSION,
        "io.modelcontextprotocol/clientCapabilities": null}}});
    let answer = reply(session().receive(line.to_string().as_bytes()));
    assert!(
        answer["error"]["message"]
            .as_str()
            .expect("text")
            .contains("clientCapabilities")
    );
}

#[test]
fn ids_come_back_as_they_were_sent() {
    for id in [
        "0",
        "-1",
        "\"1\"",
        "\"\"",
        "9007199254740993",
        "1000000000000000000000000000000",
        "\"💡\"",
        "\"\\u0000\"",
    ] {
        let Action::Reply(line) =
            session().receive(modern(id, "server/discover", json!({})).as_bytes())
        else {
            panic!("no reply to {id}");
        };
        assert!(
            line.starts_with(&format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":")),
            "{line}"
        );
    }
}

#[test]
fn what_cannot_be_answered_gets_silence() {
    for line in [
        "",
        "  \t\r\n",
        r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
        r#"{"jsonrpc":"2.0","id":1,"result":{}}"#,
        r#"{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":""}}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":[]}"#,
    ] {
        assert!(
            matches!(session().receive(line.as_bytes()), Action::Nothing),
            "{line}"
        );
    }
}

#[test]
fn white_space_and_a_mark_around_a_message_do_not_matter() {
    let line = format!(
        "\u{feff} \t{} \r",
        modern("1", "server/discover", json!({}))
    );
    assert!(
        reply(session().receive(line.as_bytes()))
            .get("result")
            .is_some()
    );
}

#[test]
fn the_id_is_known_however_deep_the_arguments_are() {
    let deep = "[".repeat(100_000) + &"]".repeat(100_000);
    let line = modern(
        "48",
        "tools/call",
        json!({"name": "x", "arguments": {"path": 424_242}}),
    )
    .replace("424242", &deep);
    let call = call(session().receive(line.as_bytes()));
    assert!(call.arguments.contains(&deep));
}

#[test]
fn absent_and_null_arguments_are_none() {
    for params in [
        json!({"name": "x"}),
        json!({"name": "x", "arguments": null}),
    ] {
        assert_eq!(
            call(session().receive(modern("1", "tools/call", params).as_bytes())).arguments,
            "{}"
        );
    }
}

#[test]
fn results_carry_both_forms_of_the_answer() {
    let session = session();
    let ask =
        |name| call(session.receive(modern("1", "tools/call", json!({"name": name})).as_bytes()));
    let structured = r#"{"items":["a\u2028\"b"]}"#;
    let outcome = Outcome::Result(ToolResult {
        structured: Some(structured.into()),
        text: None,
        is_error: false,
    });
    let line = session
        .finish(&ask("x").ticket, &outcome)
        .expect("an answer");
    let answer: Value = serde_json::from_str(&line).expect("JSON");
    let result = &answer["result"];
    assert_eq!(result["resultType"], "complete");
    assert_eq!(result["isError"], false);
    assert_eq!(
        result["content"],
        json!([{"type": "text", "text": structured}])
    );
    assert_eq!(
        result["structuredContent"],
        serde_json::from_str::<Value>(structured).expect("JSON")
    );
    assert_eq!(
        result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"],
        "test"
    );

    let unknown = Outcome::UnknownTool("y".into());
    let line = session
        .finish(&ask("y").ticket, &unknown)
        .expect("an answer");
    assert!(line.contains("-32602"), "{line}");
    let line = session
        .finish(&ask("z").ticket, &Outcome::Internal)
        .expect("an answer");
    assert!(line.contains("-32603"), "{line}");
}

#[test]
fn a_stopped_call_gets_no_answer() {
    let session = session();
    let line = modern("1", "tools/call", json!({"name": "x"}));
    let stopped = call(session.receive(line.as_bytes()));
    assert!(session.finish(&stopped.ticket, &Outcome::Stopped).is_none());
    call(session.receive(line.as_bytes()));
}

#[test]
fn progress_is_told_under_the_clients_token() {
    let line = session().progress("\"t\"", 7, "7 of them");
    let told: Value = serde_json::from_str(&line).expect("JSON");
    assert_eq!(
        told,
        json!({"jsonrpc": "2.0", "method": "notifications/progress", "params":
            {"progressToken": "t", "progress": 7, "message": "7 of them"}})
    );
}

#[test]
fn progress_tokens_are_kept_when_they_are_tokens() {
    let with = |token: &str| {
        let line = modern("1", "tools/call", json!({"name": "x"})).replace(
            "\"_meta\":{",
            &format!("\"_meta\":{{\"progressToken\":{token},"),
        );
        call(session().receive(line.as_bytes())).progress_token
    };
    assert_eq!(with("\"t\"").as_deref(), Some("\"t\""));
    assert_eq!(with("7").as_deref(), Some("7"));
    assert_eq!(with("{}"), None);
    let longest = format!("\"{}\"", "t".repeat(254));
    assert_eq!(with(&longest).as_deref(), Some(longest.as_str()));
    assert_eq!(with(&format!("\"{}\"", "t".repeat(255))), None);
    assert_eq!(with(&"7".repeat(257)), None);
}

#[test]
fn an_error_repeats_the_beginning_of_what_was_sent_and_no_more() {
    // The one takes six characters where it is escaped, the other is cut between its bytes.
    for odd in ["\u{7f}", "\u{1f600}"] {
        let long = format!("x{}", odd.repeat(100_000));
        let session = session();
        let line = modern("1", "tools/call", json!({"name": long}));
        let unknown = call(session.receive(line.as_bytes()));
        let outcome = Outcome::UnknownTool(unknown.name);
        let line = session.finish(&unknown.ticket, &outcome).expect("a line");
        assert!(line.len() < 1000 && line.contains('…'), "{line}");

        let params = json!({"_meta": {"io.modelcontextprotocol/protocolVersion": long}});
        let handshake = json!({"protocolVersion": long});
        for (method, params) in [("tools/list", params), ("initialize", handshake)] {
            let line = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
            let answer = reply(session.receive(line.to_string().as_bytes()));
            let requested = answer["error"]["data"]["requested"].as_str();
            let requested = requested.expect("a version");
            assert!(
                long.starts_with(requested) && requested.len() > 250,
                "{answer}"
            );
            assert!(answer.to_string().len() < 3000, "{answer}");
        }
    }
}

#[test]
fn a_call_holds_its_line_and_its_id_once_more() {
    let line = modern("\"i\"", "tools/call", json!({"name": "x"}));
    assert_eq!(
        call(session().receive(line.as_bytes())).bytes,
        line.len() + 3
    );
}
