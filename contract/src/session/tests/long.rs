//! Messages with a string that is long: it is not looked at like the others,
//! and what was sent is what arrives.

use serde_json::{Value, json};

use super::super::{Action, Protocol, Session};
use super::{call, identity, modern, reply, session};

/// Longer than any string that is looked at in full wherever it stands.
fn long(end: &str) -> String {
    format!("{}{end}", r"0123456789abcde\n".repeat(1000))
}

/// A call of a tool with this text as its arguments.
fn line(arguments: &str) -> String {
    let empty = json!({"name": "t", "arguments": {"here": 1}});
    modern("1", "tools/call", empty).replace(r#"{"here":1}"#, arguments)
}

#[test]
fn arguments_arrive_as_they_were_sent() {
    for arguments in [
        format!(r#"{{"content":"{}"}}"#, long("")),
        format!(
            r#"{{ "content" : "{}", "path":"a.txt" }}"#,
            long("é\u{2028}")
        ),
        format!(r#"{{"path":"a.txt","content":"{}"}}"#, long(r#"\"\\"#)),
        format!(r#"{{"a":"{}","a":"{}"}}"#, long("1"), long("2")),
        format!(r#"{{"a":[{{"b":"{}"}},1.50]}}"#, long(r"\ud83d\ude42")),
        // What the text says is for the tool to find wrong.
        format!(r#"{{"a":"{}"}}"#, long(r"\ud83d")),
    ] {
        let call = call(session().receive(line(&arguments).as_bytes()));
        assert_eq!(call.arguments, arguments);
    }
}

#[test]
fn an_error_in_or_behind_a_long_string_is_one() {
    for arguments in [
        format!(r#"{{"a":"{}"#, long("")),
        format!(r#"{{"a":"{}\"}}"#, long("")),
        format!(r#"{{"a":"{}"}}"#, long(r"\x")),
        format!(r#"{{"a":"{}"}}"#, long(r"\u12g4")),
        format!(r#"{{"a":"{}"}}"#, long("\u{1f}")),
        format!(r#"{{"a":"{}",}}"#, long("")),
        format!(r#"{{"a":"{}" 1}}"#, long("")),
    ] {
        let answer = reply(session().receive(line(&arguments).as_bytes()));
        assert_eq!(answer["error"]["code"], json!(-32700));
        assert_eq!(answer.get("id"), None);
    }
    let twice = format!(r#"{{}},"arguments":{{"a":"{}"}}"#, long(""));
    let answer = reply(session().receive(line(&twice).as_bytes()));
    assert_eq!(answer["error"]["code"], json!(-32602));
}

#[test]
fn whatever_else_is_long_is_read_in_full() {
    let text: Value = serde_json::from_str(&format!("\"{}\"", long(""))).expect("JSON");
    let sent = |id: &str, method: &str, member: &str, value: &Value| {
        let mut message: Value =
            serde_json::from_str(&modern(id, method, json!({"name": "t", "arguments": {}})))
                .expect("JSON");
        if let Some(place) = message.pointer_mut(member) {
            *place = value.clone();
        }
        session().receive(message.to_string().as_bytes())
    };
    let named = call(sent("1", "tools/call", "/params/name", &text));
    assert_eq!(json!(named.name), text);
    let identified = call(sent("1", "tools/call", "/id", &text));
    assert_eq!(
        serde_json::from_str::<Value>(&identified.ticket.id()).expect("JSON"),
        text
    );
    let version = "/params/_meta/io.modelcontextprotocol~1protocolVersion";
    let refused = reply(sent("1", "tools/call", version, &text));
    let requested = refused["error"]["data"]["requested"].as_str();
    let requested = requested.expect("what was asked for");
    assert!(
        requested.len() > 10
            && text
                .as_str()
                .is_some_and(|text| text.starts_with(&requested[..10]))
    );
    for (member, code) in [("/method", -32601), ("/jsonrpc", -32600)] {
        let refused = reply(sent("1", "tools/call", member, &text));
        assert_eq!(refused["error"]["code"], json!(code), "{member}");
    }
}

#[test]
fn a_batch_holds_long_strings_too() {
    let session = Session::new(identity(), Protocol::Both);
    let hello = json!({
        "jsonrpc": "2.0", "id": 0, "method": "initialize",
        "params": {"protocolVersion": "2025-03-26", "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}},
    });
    assert_eq!(
        reply(session.receive(hello.to_string().as_bytes()))["id"],
        0
    );
    let message = |id: &str| {
        let arguments = format!(r#"{{"content":"{}","id":{id}}}"#, long(""));
        let text = format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"t","arguments":{arguments}}}}}"#
        );
        (text, arguments)
    };
    let (one, two) = (message("1"), message("2"));
    let Action::Many(actions) = session.receive(format!("[{},{}]", one.0, two.0).as_bytes()) else {
        panic!("two calls");
    };
    let arguments = actions.into_iter().map(|action| call(action).arguments);
    assert_eq!(arguments.collect::<Vec<_>>(), [one.1, two.1]);
}
