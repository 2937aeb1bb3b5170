//! What went wrong with the spelling of a path, and on the wire.

use serde_json::{Value, json};

use crate::harness::{HAYSTACK, Launch, Root, Server, call, cancel, request};

#[test]
fn a_trailing_slash_on_a_file_means_the_file_in_every_tool() {
    let root = Root::new().file("f.txt", "text").file("dir/g.txt", "text");
    let mut server = Server::new(&root);
    for path in ["f.txt/", "f.txt//", "dir//g.txt", "dir/g.txt/"] {
        assert_eq!(
            server.call("read_text_file", json!({"path": path})).text(),
            "text"
        );
        assert_eq!(
            server
                .call("search_text", json!({"path": path, "query": "text"}))
                .items()
                .len(),
            1
        );
        server
            .call("list_directory", json!({"path": path}))
            .refused("path is a file, not a directory");
    }
    server
        .call(
            "write_text_file",
            json!({"path": "f.txt/", "content": "new"}),
        )
        .value();
    assert_eq!(root.read("f.txt"), b"new");
    server.close();
}

#[test]
fn an_absolute_path_of_a_served_file_is_refused_and_not_echoed() {
    let root = Root::new().file("a.txt", "text");
    let mut server = Server::new(&root);
    let absolute = root.at("a.txt");
    for tool in ["read_text_file", "list_directory", "write_text_file"] {
        let mut arguments = json!({"path": absolute});
        if tool == "write_text_file" {
            arguments["content"] = json!("x");
        }
        server.call(tool, arguments).refusal();
    }
    let read = server.call("read_text_file", json!({"path": absolute}));
    assert!(read.refusal().starts_with("paths are relative to the root"));
    server.close();
    assert_eq!(root.read("a.txt"), b"text");
}

#[test]
fn missing_not_a_file_not_a_directory_and_not_served_are_told_apart() {
    let root = Root::new().file("dir/a.txt", "x");
    let mut server = Launch::new(&root).exclude(&["hidden"]).start();
    let texts = [
        server.call("read_text_file", json!({"path": "nope"})),
        server.call("read_text_file", json!({"path": "dir"})),
        server.call("list_directory", json!({"path": "dir/a.txt"})),
        server.call("read_text_file", json!({"path": "hidden"})),
    ]
    .map(|answer| answer.refusal().to_owned());
    for (at, text) in texts.iter().enumerate() {
        assert!(!texts[..at].contains(text), "{texts:?}");
    }
    server.close();
}

#[test]
fn names_that_only_contain_a_notorious_one_are_served() {
    let names = [
        "my_hosts_notes.md",
        "environment.envelope.md",
        "passwd-howto",
        "shadow.txt",
        "a.exercise",
        ".environment",
    ];
    let root = names
        .iter()
        .fold(Root::new(), |root, name| root.file(name, "text"));
    let mut server = Server::new(&root);
    for name in names {
        assert_eq!(server.read(name), "text", "{name}");
    }
    assert_eq!(
        server
            .all_paths("search_text", json!({"query": "text"}))
            .len(),
        names.len()
    );
    server.close();
}

#[test]
fn a_number_where_a_string_is_asked_for_is_refused_by_name() {
    let root = Root::new().file("1", "one");
    let mut server = Server::new(&root);
    for (tool, arguments, name) in [
        ("read_text_file", json!({"path": 1}), "path"),
        ("list_directory", json!({"path": 1}), "path"),
        ("search_files", json!({"query": 1}), "query"),
        ("search_text", json!({"path": "1", "query": 1}), "query"),
        (
            "write_text_file",
            json!({"path": 2, "content": "x"}),
            "path",
        ),
        (
            "write_text_file",
            json!({"path": "2", "content": 123}),
            "content",
        ),
    ] {
        server
            .call(tool, arguments)
            .refused(&format!("{name} must be a string"));
    }
    server.close();
    assert_eq!(root.names(), ["1"]);
}

#[test]
fn a_garbled_line_does_not_end_the_session() {
    let root = Root::new();
    let mut server = Server::new(&root);
    let lines: [&[u8]; 4] = [
        b"{\"jsonrpc\":\"2.0\",\"method\":\"test\",\"params\":\n",
        b"garbage\n",
        b"\xff\xfe\n",
        b"\0\n",
    ];
    for line in lines {
        let messages = server.provoke(line);
        assert_eq!(messages.len(), 1);
        messages[0].error_without_id(-32700);
    }
    server.close();
}

#[test]
fn the_text_block_is_the_structured_answer_in_every_tool() {
    // The harness compares the two on every call; here every tool is called.
    let root = Root::new().file("a.txt", "quote \" back \\ slash \u{2028} tab\t\n");
    let mut server = Server::new(&root);
    for (tool, arguments) in [
        ("list_directory", json!({})),
        ("search_files", json!({"query": "a"})),
        ("search_text", json!({"query": "quote"})),
        ("read_text_file", json!({"path": "a.txt"})),
        (
            "write_text_file",
            json!({"path": "b.txt", "content": "\u{2029}"}),
        ),
    ] {
        let answer = server.call(tool, arguments);
        let text = answer.0.result()["content"][0]["text"].as_str().unwrap();
        assert_eq!(
            &serde_json::from_str::<Value>(text).unwrap(),
            answer.value(),
            "{tool}"
        );
    }
    server.close();
}

#[test]
fn unicode_line_separators() {
    let text = "a\u{2028}b\u{2029}c\u{85}d\u{b}e\u{c}f\n";
    let root = Root::new().file("u.txt", text);
    let mut server = Server::new(&root);
    assert_eq!(server.read("u.txt"), text);
    assert_eq!(
        server.call("search_text", json!({"query": "e"})).items()[0]["text"],
        text.trim_end_matches('\n')
    );
    // Sent raw, not escaped: the line ends at LF only.
    server
        .call("write_text_file", json!({"path": "w.txt", "content": text}))
        .value();
    assert_eq!(root.read("w.txt"), text.as_bytes());
    server.close();
}

#[test]
fn ten_calls_at_once_with_two_cancelled() {
    let root = (0..8).fold(Root::new().haystack(), |root, number| {
        root.file(format!("{number}"), format!("content {number}"))
    });
    let mut server = Launch::new(&root)
        .args(HAYSTACK)
        .args(["--workers", "4"])
        .start();
    server.send(&call("c0", "search_text", json!({"query": "needle"})));
    server.send(&call("c1", "search_text", json!({"query": "needle"})));
    let reads: Vec<Value> = (0..8)
        .map(|number| {
            call(
                number,
                "read_text_file",
                json!({"path": number.to_string()}),
            )
        })
        .collect();
    server.send_all(&reads);
    server.send_all(&["c0", "c1", "unknown"].map(cancel));
    for number in 0..8 {
        let answer = server.answer(number);
        assert_eq!(
            answer.result()["structuredContent"]["items"][0]["text"],
            format!("content {number}")
        );
    }
    server.alive();
    assert!(server.close().is_empty());
}

#[test]
fn optional_fields_filled_in_by_a_model() {
    let root = Root::new().file("a.txt", "needle");
    let mut server = Server::new(&root);
    for (tool, mut arguments) in [
        (
            "list_directory",
            json!({"path": null, "cursor": null, "limit": null}),
        ),
        (
            "search_files",
            json!({"query": "a", "cursor": null, "limit": null}),
        ),
        (
            "search_text",
            json!({"query": "needle", "path": null, "cursor": null, "limit": null}),
        ),
        (
            "read_text_file",
            json!({"path": "a.txt", "cursor": null, "limit": null}),
        ),
    ] {
        assert_eq!(
            server.call(tool, arguments.clone()).items().len(),
            1,
            "{tool}"
        );
        for cursor in ["", "0"] {
            arguments["cursor"] = json!(cursor);
            server
                .call(tool, arguments.clone())
                .refused_naming(&["cursor", "leave it out"]);
        }
    }
    server
        .call(
            "write_text_file",
            json!({"path": "b.txt", "content": "x", "if_hash": null}),
        )
        .value();
    for required in [json!({"path": null}), json!({"path": null, "content": "x"})] {
        let tool = if required.get("content").is_some() {
            "write_text_file"
        } else {
            "read_text_file"
        };
        server.call(tool, required).refused_naming(&["path"]);
    }
    server.close();
}

#[test]
fn failures_of_a_tool_are_results_and_unknown_names_are_errors() {
    let root = Root::new();
    let mut server = Server::new(&root);
    server
        .call("read_text_file", json!({"path": "nope.txt"}))
        .refused("path does not exist in this root");
    server
        .request("tools/call", json!({"name": "nope", "arguments": {}}))
        .error(-32602);
    server.request("nope", json!({})).error(-32601);
    server.close();
}

#[test]
fn fuzzed_messages_leave_the_server_alive() {
    let root = Root::new();
    let mut server = Server::new(&root);
    let good = request("p31", "server/discover", json!({})).to_string();
    for at in 0..good.len() {
        // Cut, with a byte turned, and with a byte doubled.
        let bytes = good.as_bytes();
        let turned = [&bytes[..at], &[bytes[at] ^ 0x15], &bytes[at + 1..]].concat();
        let doubled = [&bytes[..=at], &bytes[at..]].concat();
        for line in [&bytes[..at], &turned, &doubled] {
            // A turned byte may be a line feed and make two messages of one.
            let messages = server.provoke([line, b"\n"].concat());
            assert!(messages.len() <= 2, "{messages:?}");
        }
    }
    server.close();
}

#[test]
fn ten_good_calls_leave_stderr_empty() {
    let root = Root::new().file("a.txt", "x");
    let mut server = Server::new(&root);
    for round in 0..10 {
        server
            .call(
                "write_text_file",
                json!({"path": "b.txt", "content": round.to_string()}),
            )
            .value();
        assert_eq!(server.read("b.txt"), round.to_string());
    }
    // Ends with exit 0 and nothing on stderr.
    assert!(server.close().is_empty());
}
