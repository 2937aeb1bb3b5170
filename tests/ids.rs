//! Ids: each comes back exactly as it was sent, an id in flight is refused, and
//! an id may be used again. Source: the wire document, "Framing".

use serde_json::{Value, json};

use crate::framing::{only, probe, provoked, with_id};
use crate::harness::{Launch, Root, Server, call, cancel, request};

macro_rules! ids_come_back {
    ($($name:ident: $id:expr;)+) => {$(
        #[test]
        fn $name() {
            let messages = provoked(with_id($id));
            let message = only(&messages);
            message.result();
            if $id.starts_with('"') {
                assert_eq!(message.json["id"], serde_json::from_str::<Value>($id).unwrap());
            } else {
                assert!(message.line.contains(&format!("\"id\":{},", $id)) || message.line.contains(&format!("\"id\":{}}}", $id)), "{}", message.line);
            }
        }
    )+};
}

ids_come_back! {
    id_zero: "0";
    id_minus_one: "-1";
    id_one: "1";
    id_text_one: "\"1\"";
    id_text: "\"abc\"";
    id_empty: "\"\"";
    id_past_the_floats: "9007199254740993";
    id_two_to_the_63: "9223372036854775808";
    id_two_to_the_64: "18446744073709551616";
    id_ten_to_the_30: "1000000000000000000000000000000";
    id_astral: "\"💡\"";
    id_escapes: r#""quote\" back\\slash nul\u0000 lf\n""#;
    id_line_separator: "\"a\u{2028}b\"";
    id_escaped_astral: r#""\ud83d\udca1""#;
}

#[test]
fn a_long_id_comes_back() {
    let id = format!("\"{}\"", "x".repeat(10_000));
    assert_eq!(only(&provoked(with_id(&id))).json["id"].to_string(), id);
}

#[test]
fn a_lone_surrogate_in_an_id_is_refused() {
    for id in [r#""\ud800""#, r#""\udc00x""#, r#""\udc00\ud800""#] {
        let messages = provoked(with_id(id));
        assert!(only(&messages).json.get("error").is_some(), "{messages:?}");
    }
}

#[test]
fn an_id_in_flight_is_refused_without_an_id() {
    let root = Root::new().haystack();
    let mut server = Launch::new(&root).busy("x");
    for method in ["tools/list", "tools/call"] {
        let again = request("x", method, json!({"name": "list_directory"}));
        let messages = server.provoke(format!("{again}\n"));
        only(&messages).error_without_id(-32600);
    }
    server.send(&cancel("x"));
    assert_eq!(server.close().len(), 0);
}

#[test]
fn an_id_in_flight_is_refused_also_where_the_answer_needs_no_call() {
    let root = Root::new().haystack();
    let mut server = Launch::new(&root).busy("x");
    for method in ["server/discover", "no/such"] {
        let messages = server.provoke(format!("{}\n", request("x", method, json!({}))));
        only(&messages).error_without_id(-32600);
    }
    server.send(&cancel("x"));
    assert_eq!(server.close().len(), 0);
}

#[test]
fn a_version_not_spoken_comes_before_an_id_in_flight() {
    let root = Root::new().haystack();
    let mut server = Launch::new(&root).busy("x");
    let older = request("x", "tools/list", json!({})).to_string();
    let older = older.replace("2026-07-28", "2025-11-25");
    only(&server.provoke(older + "\n")).error_without_id(-32022);
    server.send(&cancel("x"));
    assert_eq!(server.close().len(), 0);
}

#[test]
fn a_number_and_its_text_are_two_ids_in_flight() {
    let root = Root::new().haystack();
    let mut server = Launch::new(&root).busy(1);
    server
        .exchange(&request("1", "tools/list", json!({})))
        .result();
    server.send(&cancel("1"));
    server.provoke(probe("x") + "\n");
    server.send(&cancel(1));
    assert_eq!(server.close().len(), 0);
}

#[test]
fn an_id_may_be_used_again_once_answered() {
    let root = Root::new();
    let mut server = Server::new(&root);
    for _ in 0..3 {
        server
            .exchange(&call("again", "list_directory", json!({})))
            .result();
    }
    server.close();
}

#[test]
fn cancelling_an_id_before_its_use_does_not_swallow_it() {
    let root = Root::new();
    let mut server = Server::new(&root);
    for id in [json!(1), json!("x")] {
        server.send(&cancel(id.clone()));
        server
            .exchange(&call(id, "list_directory", json!({})))
            .result();
    }
    server.close();
}

#[test]
fn an_answered_id_cancelled_late_may_be_used_again() {
    let root = Root::new();
    let mut server = Server::new(&root);
    for _ in 0..20 {
        server
            .exchange(&call("late", "list_directory", json!({})))
            .result();
        server.send(&cancel("late"));
    }
    server.close();
}

#[test]
fn an_object_with_two_ids_is_served_under_neither() {
    let messages = provoked(probe("a").replacen("\"id\"", "\"id\":1,\"id\"", 1));
    assert!(only(&messages).json.get("error").is_some(), "{messages:?}");
}
