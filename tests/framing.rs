//! The framing of both eras: what a line may be, what comes back for one that
//! is no message, and how ids travel. Source: the wire document, "Framing".

use serde_json::{Value, json};

use crate::harness::{Message, Root, Server, call, request};

/// A request that is answered at once, in the order of the lines.
pub(crate) fn probe(id: &str) -> String {
    request(id, "server/discover", json!({})).to_string()
}

/// Sends one line and returns everything that it provoked.
pub(crate) fn provoked(line: impl AsRef<[u8]>) -> Vec<Message> {
    let root = Root::new();
    let mut server = Server::new(&root);
    let mut bytes = line.as_ref().to_vec();
    bytes.push(b'\n');
    let messages = server.provoke(bytes);
    assert!(server.close().is_empty());
    messages
}

pub(crate) fn only(messages: &[Message]) -> &Message {
    let [message] = messages else {
        panic!("not one answer: {messages:?}")
    };
    message
}

macro_rules! errors_without_id {
    ($($name:ident: $line:expr => $code:expr;)+) => {$(
        #[test]
        fn $name() {
            only(&provoked($line)).error_without_id($code);
        }
    )+};
}

errors_without_id! {
    garbage_is_a_parse_error: "garbage" => -32700;
    half_an_object_is_a_parse_error: r#"{"jsonrpc":"2.0","method":"test","params":"# => -32700;
    two_values_on_a_line_are_a_parse_error: format!("{} {}", probe("a"), probe("b")) => -32700;
    bytes_that_are_no_utf8_are_a_parse_error: b"\xff\xfe" => -32700;
    an_overlong_encoding_in_a_string_is_a_parse_error: raw_path(b"\xc0\xaf") => -32700;
    an_encoded_surrogate_in_a_string_is_a_parse_error: raw_path(b"\xed\xa0\x80") => -32700;
    a_code_point_past_unicode_is_a_parse_error: raw_path(b"\xf4\x90\x80\x80") => -32700;
    a_raw_nul_in_a_string_is_a_parse_error: raw_path(b"\0") => -32700;
    a_raw_tab_in_a_string_is_a_parse_error: raw_path(b"\t") => -32700;
    a_nul_alone_is_a_parse_error: b"\0" => -32700;
    a_number_is_no_request: "1" => -32600;
    a_string_is_no_request: "\"text\"" => -32600;
    null_is_no_request: "null" => -32600;
    true_is_no_request: "true" => -32600;
    an_empty_batch_is_refused: "[]" => -32600;
    a_batch_of_a_number_is_refused: "[1]" => -32600;
    a_batch_gets_one_error_for_all: format!("[{},{}]", probe("a"), probe("b")) => -32600;
    id_null_is_no_notification: with_id("null") => -32600;
    id_fraction_is_refused: with_id("1.5") => -32600;
    id_true_is_refused: with_id("true") => -32600;
    id_object_is_refused: with_id("{}") => -32600;
    id_array_is_refused: with_id("[1]") => -32600;
}

fn raw_path(bytes: &[u8]) -> Vec<u8> {
    let line = call("x", "list_directory", json!({"path": "MARK"})).to_string();
    let (before, after) = line.split_once("MARK").unwrap();
    [before.as_bytes(), bytes, after.as_bytes()].concat()
}

pub(crate) fn with_id(id: &str) -> String {
    probe("MARK").replace("\"MARK\"", id)
}

macro_rules! invalid_requests_with_their_id {
    ($($name:ident: $line:expr;)+) => {$(
        #[test]
        fn $name() {
            let messages = provoked($line.to_string());
            only(&messages).error(-32600);
            assert_eq!(messages[0].json["id"], 6);
        }
    )+};
}

invalid_requests_with_their_id! {
    no_method_is_refused_under_its_id: json!({"jsonrpc": "2.0", "id": 6});
    a_method_that_is_no_string_is_refused_under_its_id: json!({"jsonrpc": "2.0", "id": 6, "method": 7});
    method_null_is_refused_under_its_id: json!({"jsonrpc": "2.0", "id": 6, "method": null});
    no_jsonrpc_is_refused_under_its_id: json!({"id": 6, "method": "tools/list"});
    another_jsonrpc_is_refused_under_its_id: json!({"jsonrpc": "1.0", "id": 6, "method": "tools/list"});
    a_number_as_jsonrpc_is_refused_under_its_id: json!({"jsonrpc": 2.0, "id": 6, "method": "tools/list"});
}

macro_rules! silence {
    ($($name:ident: $line:expr;)+) => {$(
        #[test]
        fn $name() {
            assert_eq!(provoked($line.to_string()).len(), 0);
        }
    )+};
}

silence! {
    a_result_from_the_client_gets_silence: json!({"jsonrpc": "2.0", "id": 1, "result": {}});
    an_error_from_the_client_gets_silence: json!({"jsonrpc": "2.0", "id": 1, "error": {"code": 1, "message": "x"}});
    a_known_notification_gets_silence: json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    an_unknown_notification_gets_silence: json!({"jsonrpc": "2.0", "method": "notifications/no-such", "params": {}});
    a_request_method_without_id_gets_silence: json!({"jsonrpc": "2.0", "method": "tools/list", "params": {}});
    initialize_without_id_gets_silence: json!({"jsonrpc": "2.0", "method": "initialize"});
    a_blank_line_gets_silence: "";
    a_line_of_spaces_gets_silence: " \t \r";
    cancelling_an_unknown_id_gets_silence: cancelled(json!({"requestId": 999, "reason": "r"}));
    cancelling_nothing_gets_silence: cancelled(json!({}));
    cancelling_null_gets_silence: cancelled(json!({"requestId": null}));
    cancelling_an_object_gets_silence: cancelled(json!({"requestId": {}}));
    cancelling_with_an_array_gets_silence: cancelled(json!([1]));
    cancelling_with_a_number_gets_silence: cancelled(json!(7));
}

fn cancelled(params: Value) -> Value {
    json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params})
}

macro_rules! served_lines {
    ($($name:ident: $line:expr;)+) => {$(
        #[test]
        fn $name() {
            let messages = provoked($line);
            only(&messages).result();
            assert_eq!(messages[0].json["id"], "a");
        }
    )+};
}

served_lines! {
    cr_lf_ends_a_line: format!("{}\r", probe("a"));
    a_byte_order_mark_before_a_message_is_dropped: format!("\u{feff}{}", probe("a"));
    a_string_spelled_with_escapes_is_the_same: probe("a").replace("\"2.0\"", r#""\u0032.0""#).replace("server/", r"server\u002f");
    blanks_around_a_message_are_dropped: format!(" \t {} \t ", probe("a"));
    blank_lines_around_a_message_are_dropped: format!("\n\n \n\t\n\r\n{}\n\r\n", probe("a"));
    members_nobody_knows_are_ignored: probe("a").replacen('{', r#"{"trace":[],"extra":{"a":1},"#, 1);
}

#[test]
fn a_byte_order_mark_is_dropped_before_later_messages_too() {
    let messages = provoked(format!("{}\n\u{feff}{}", probe("a"), probe("b")));
    assert_eq!(messages.len(), 2);
    assert!(messages.iter().all(|message| message.result().is_object()));
}

#[test]
fn a_lone_surrogate_in_an_argument_is_never_written() {
    let root = Root::new();
    let mut server = Server::new(&root);
    let line = call(
        "s",
        "write_text_file",
        json!({"path": "s.txt", "content": "MARK"}),
    );
    server.raw(format!("{line}\n").replace("MARK", r"\ud800"));
    let message = server.receive();
    assert!(
        message.json.get("error").is_some() || message.result()["isError"] == true,
        "{}",
        message.line
    );
    assert_eq!(root.names(), Vec::<String>::new());
    server.alive();
    server.close();
}

#[test]
fn nesting_is_bounded_and_the_server_lives() {
    let deep = 100_000;
    let lines = [
        "[".repeat(deep),
        "[".repeat(deep) + &"]".repeat(deep),
        r#"{"a":"#.repeat(deep) + "1" + &"}".repeat(deep),
    ];
    for line in lines {
        let messages = provoked(line);
        let error = &only(&messages).json["error"]["code"];
        assert!(*error == -32700 || *error == -32600, "{messages:?}");
        assert_eq!(messages[0].json.get("id"), None);
    }
}

#[test]
fn nesting_inside_arguments_is_refused() {
    let nested = "[".repeat(100_000) + &"]".repeat(100_000);
    let root = Root::new();
    let mut server = Server::new(&root);
    let line = call("d", "list_directory", json!({"path": "MARK"})).to_string();
    server.raw(line.replace("\"MARK\"", &nested) + "\n");
    let message = server.receive();
    assert!(
        message.json.get("error").is_some() || message.result()["isError"] == true,
        "{}",
        message.line
    );
    server.alive();
    server.close();
}

#[test]
fn a_number_too_large_for_a_float_is_no_crash() {
    let root = Root::new();
    let mut server = Server::new(&root);
    for number in ["1e999", "1e300", "18446744073709551616", "-0", "-1e-9"] {
        let line = call("n", "list_directory", json!({"limit": "MARK"})).to_string();
        server.raw(line.replace("\"MARK\"", number) + "\n");
        server.receive();
        server.alive();
    }
    server.close();
}

#[test]
fn a_hundred_thousand_keys_and_a_long_method_are_errors() {
    let keys: String = (0..100_000)
        .map(|key| format!("\"k{key}\":{key},"))
        .collect();
    let line = probe("a").replacen('{', &format!("{{{keys}"), 1);
    assert_eq!(provoked(line).len(), 1);
    let long = request("a", &"m".repeat(1 << 20), json!({})).to_string();
    only(&provoked(long)).error(-32601);
}

#[test]
fn an_error_repeats_little_of_what_was_sent() {
    let root = Root::new();
    let mut server = Server::new(&root);
    let long = "\u{7f}".repeat(4 << 20);
    let tool = server.exchange(&call(1, &long, json!({})));
    let mut older = request(2, "tools/list", json!({}));
    older["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!(long);
    let older = server.exchange(&older);
    let initialize = server.exchange(&json!({"jsonrpc": "2.0", "id": 3, "method": "initialize", "params": {"protocolVersion": long}}));
    for (message, code) in [(tool, -32602), (older, -32022), (initialize, -32022)] {
        message.error(code);
        assert!(message.line.len() < 2000, "{} bytes", message.line.len());
    }
    server.close();
}

#[test]
fn nothing_is_written_before_the_first_request() {
    let root = Root::new();
    let server = Server::new(&root);
    assert_eq!(server.close().len(), 0);
}

#[test]
fn a_message_may_come_byte_by_byte() {
    let root = Root::new().file("é🙂.txt", "text");
    let mut server = Server::new(&root);
    let line = call("b", "read_text_file", json!({"path": "é🙂.txt"})).to_string() + "\n";
    for byte in line.as_bytes() {
        server.raw([*byte]);
    }
    assert_eq!(
        server.answer("b").result()["structuredContent"]["items"][0]["text"],
        "text"
    );
    server.close();
}

#[test]
fn three_messages_may_come_in_one_write() {
    let messages = provoked(format!("{}\n{}\n{}", probe("a"), probe("b"), probe("c")));
    let ids: Vec<&str> = messages
        .iter()
        .map(|message| message.json["id"].as_str().unwrap())
        .collect();
    assert_eq!(ids, ["a", "b", "c"]);
}

#[test]
fn the_last_line_needs_no_line_feed() {
    let root = Root::new();
    let mut server = Server::new(&root);
    server.raw(probe("last"));
    let messages = server.close();
    assert_eq!(only(&messages).json["id"], "last");
    messages[0].result();
}

#[test]
fn every_line_separator_comes_back_inside_one_line() {
    let text = "a\nb\r\nc\rd\u{2028}e\u{2029}f\u{85}g\u{b}h\u{c}i";
    let root = Root::new().file("s.txt", text);
    let mut server = Server::new(&root);
    assert_eq!(server.read("s.txt"), text);
    server.close();
}
