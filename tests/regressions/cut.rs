//! Messages as pipes deliver them and as nobody should write them: cut
//! anywhere, spelled in every odd way, and without an end.

use serde_json::{Value, json};

use crate::framing::probe;
use crate::harness::{Launch, Root, Server, call, request};

#[test]
fn a_message_that_is_cut_anywhere_is_taken_whole() {
    let root = Root::new().file("é🙂.txt", "text");
    let mut server = Server::new(&root);
    let line = call("cut", "read_text_file", json!({"path": "é🙂.txt"})).to_string() + "\r\n";
    for at in 0..=line.len() {
        let (first, rest) = line.as_bytes().split_at(at);
        server.raw(first);
        server.raw(rest);
        let answer = server.answer("cut");
        assert_eq!(
            answer.result()["structuredContent"]["items"][0]["text"],
            "text",
            "at {at}"
        );
    }
    assert!(server.close().is_empty());
}

/// What is wrong with any of these is said of it alone.
#[test]
fn odd_spellings_are_answered_once_and_the_server_goes_on() {
    let root = Root::new();
    let mut server = Server::new(&root);
    let line = call("odd", "search_text", json!({"query": "MARK"})).to_string();
    let spelled = |value: &[u8]| {
        let (before, after) = line.split_once("\"MARK\"").unwrap();
        [before.as_bytes(), value, after.as_bytes(), b"\n"].concat()
    };
    let deep = "[".repeat(100_000) + &"]".repeat(100_000);
    let keys = format!(
        "{{{}\"k\":0}}",
        (0..100_000)
            .map(|key| format!("\"{key}\":0,"))
            .collect::<String>()
    );
    let values: [&[u8]; 23] = [
        b"1e999",
        b"-1e999",
        b"1e-999",
        b"123456789012345678901234567890",
        b"-0",
        b"NaN",
        b"Infinity",
        b"0x10",
        b"01",
        b"1.",
        b".5",
        b"+1",
        b"tru",
        b"nul",
        b"'x'",
        b"\"\\ud800\"",
        b"\"\\udc00\\ud800\"",
        b"\"\\x\"",
        b"\"\xff\"",
        b"\"\xed\xa0\x80\"",
        b"\"\0\"",
        deep.as_bytes(),
        keys.as_bytes(),
    ];
    for value in values {
        server.raw(spelled(value));
        let json = server.receive().json;
        assert!(
            json.get("error").is_some() || json["result"]["isError"] == true,
            "{:.40}: {json}",
            String::from_utf8_lossy(value)
        );
        assert!(server.provoke("").is_empty());
    }
    server.close();
}

/// No telling which of two was meant.
#[test]
fn a_member_that_is_given_twice_is_refused_wherever_it_stands() {
    let root = Root::new().file("a", "a").file("b", "b");
    let mut server = Server::new(&root);
    let line = call("twice", "read_text_file", json!({"path": "a"})).to_string();
    for (member, again) in [
        ("\"jsonrpc\":", "\"jsonrpc\":\"2.0\","),
        ("\"id\":", "\"id\":\"once\","),
        ("\"method\":", "\"method\":\"tools/list\","),
        ("\"params\":", "\"params\":{},"),
        (
            "\"name\":\"read_text_file\"",
            "\"name\":\"list_directory\",",
        ),
        ("\"arguments\":", "\"arguments\":{},"),
        ("\"_meta\":", "\"_meta\":{},"),
        ("\"path\":", "\"path\":\"b\","),
        ("\"path\":", "\"p\\u0061th\":\"b\","),
    ] {
        assert_eq!(line.matches(member).count(), 1, "{member}");
        let doubled = line.replacen(member, &(again.to_owned() + member), 1);
        server.raw(doubled + "\n");
        let json = server.receive().json;
        assert!(
            json.get("error").is_some() || json["result"]["isError"] == true,
            "{again}: {json}"
        );
        assert!(server.provoke("").is_empty(), "{again}");
    }
    server.close();
}

#[test]
fn a_line_of_300_megabytes_without_an_end_takes_no_more_memory_than_one_that_is_taken() {
    let root = Root::new();
    let mut server = Launch::new(&root)
        .args(["--max-request-bytes", "1MiB"])
        .start();
    server.raw(probe("first") + "\n");
    server.answer("first").result();
    let block = vec![b'['; 1 << 20];
    for _ in 0..300 {
        server.raw(&block);
    }
    let messages = server.provoke("\n");
    assert_eq!(messages.len(), 1);
    messages[0].error_without_id(-32600);
    server.stayed_under(32 << 20);
    server.close();
}

#[test]
fn what_other_servers_offer_is_an_unknown_method_here() {
    let root = Root::new();
    let mut server = Server::new(&root);
    for method in [
        "resources/list",
        "resources/templates/list",
        "prompts/list",
        "roots/list",
        "completion/complete",
        "logging/setLevel",
        "ping",
        "subscriptions/listen",
    ] {
        let answer = server.exchange(&request("probe", method, json!({})));
        answer.error(-32601);
    }
    for cursor in ["bogus", ""] {
        let list = request("list", "tools/list", json!({"cursor": cursor}));
        server.exchange(&list).error(-32602);
    }
    let listed: Value = server.request("tools/list", json!({})).json;
    assert!(listed.get("result").is_some());
    server.close();
}
