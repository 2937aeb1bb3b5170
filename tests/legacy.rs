//! The revisions with a handshake, alone and beside the modern one. Source: the
//! wire document, "Legacy".

mod client;

use serde_json::{Value, json};

use crate::harness::{HAYSTACK, Root, cancel, request};
pub(crate) use client::{Client, ask, call, initialize};

const VERSIONS: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];

fn root() -> Root {
    Root::new()
        .file("a.txt", "alpha\n")
        .file("lib/b.txt", "beta alpha\n")
}

#[test]
fn a_session_of_each_version_has_what_the_version_knows() {
    for (at, version) in VERSIONS.iter().enumerate() {
        let (annotated, structured) = (at >= 1, at >= 2);
        let root = root();
        let mut client = Client::settled(&root, version, &[]);
        let listed = client.result(&ask(1, "tools/list", json!({})));
        let tools = listed["tools"].as_array().unwrap();
        assert_eq!(tools.len(), 5);
        for tool in tools {
            assert_eq!(
                tool.get("annotations").is_some(),
                annotated,
                "{version} {tool}"
            );
            assert_eq!(
                tool.get("outputSchema").is_some(),
                structured,
                "{version} {tool}"
            );
            assert_eq!(tool.get("title").is_some(), structured, "{version} {tool}");
            assert!(tool["description"].is_string(), "{tool}");
        }
        for (id, (tool, arguments)) in [
            ("list_directory", json!({})),
            ("search_files", json!({"query": "txt"})),
            ("search_text", json!({"query": "alpha"})),
            ("read_text_file", json!({"path": "a.txt"})),
            ("write_text_file", json!({"path": "w.txt", "content": "x"})),
        ]
        .into_iter()
        .enumerate()
        {
            let result = client.result(&call(id, tool, arguments));
            assert_eq!(result["isError"], false, "{result}");
            let text = result["content"][0]["text"].as_str().unwrap();
            let said: Value = serde_json::from_str(text).expect("the text is JSON");
            match result.get("structuredContent") {
                Some(value) => {
                    assert!(structured, "{version} {result}");
                    assert_eq!(&said, value);
                    let tool = tools.iter().find(|known| known["name"] == tool).unwrap();
                    let schema = jsonschema::validator_for(&tool["outputSchema"]).unwrap();
                    assert!(schema.is_valid(value), "{value}");
                }
                None => assert!(!structured, "{version} {result}"),
            }
        }
        let refused = client.result(&call("r", "read_text_file", json!({"path": "nope"})));
        assert_eq!(refused["isError"], true);
        assert_eq!(client.code(&call("u", "nope", json!({}))), -32602);
        client.close();
    }
}

#[test]
fn any_version_that_is_asked_for_gets_one_that_is_spoken() {
    let root = Root::new();
    for protocol in ["legacy", "both"] {
        let mut client = Client::new(&root, protocol, &[]);
        for asked in ["2026-07-28", "1999-01-01", "2099-01-01", ""] {
            let result = client.result(&initialize(1, asked));
            assert_eq!(result["protocolVersion"], "2025-11-25", "{asked}");
        }
        for asked in VERSIONS {
            let result = client.result(&initialize(1, asked));
            assert_eq!(result["protocolVersion"], asked);
            assert_eq!(result["serverInfo"]["name"], "preopen-mcp");
            assert!(!result["instructions"].as_str().unwrap().is_empty());
        }
        for bare in [
            json!({"jsonrpc": "2.0", "id": 1, "method": "initialize"}),
            ask(1, "initialize", json!({})),
        ] {
            assert_eq!(client.result(&bare)["protocolVersion"], "2025-11-25");
        }
        client.close();
    }
}

#[test]
fn a_ping_is_answered_at_any_time() {
    let root = Root::new();
    for protocol in ["legacy", "both"] {
        let mut client = Client::new(&root, protocol, &[]);
        let initialized = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        for step in [None, Some(initialize("i", "2025-06-18")), Some(initialized)] {
            if let Some(step) = step {
                client.send(&step);
                if step.get("id").is_some() {
                    client.line();
                }
            }
            for ping in [
                json!({"jsonrpc": "2.0", "id": 5, "method": "ping"}),
                ask(5, "ping", json!({})),
                ask(5, "ping", Value::Null),
            ] {
                assert_eq!(client.result(&ping), json!({}), "{ping}");
            }
        }
        client.close();
    }
}

#[test]
fn a_level_set_between_handshake_and_its_end_is_survived() {
    let root = root();
    let mut client = Client::new(&root, "both", &[]);
    client.result(&initialize(1, "2025-06-18"));
    assert_eq!(
        client.code(&ask(2, "logging/setLevel", json!({"level": "debug"}))),
        -32601
    );
    client.result(&ask(3, "tools/list", json!({})));
    client.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    client.result(&ask(4, "tools/list", json!({})));
    for method in [
        "resources/list",
        "resources/templates/list",
        "prompts/list",
        "roots/list",
        "completion/complete",
        "nope",
    ] {
        assert_eq!(client.code(&ask(5, method, json!({}))), -32601, "{method}");
    }
    for cursor in ["bogus", ""] {
        assert_eq!(
            client.code(&ask(6, "tools/list", json!({"cursor": cursor}))),
            -32602
        );
    }
    client.close();
}

#[test]
fn a_client_that_never_shakes_hands_can_use_the_tools() {
    let root = root();
    for protocol in ["legacy", "both"] {
        let mut client = Client::new(&root, protocol, &[]);
        let bare = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"});
        assert!(
            client.result(&bare)["tools"][0]
                .get("outputSchema")
                .is_some()
        );
        let listed = client.result(&call(2, "list_directory", json!({})));
        assert_eq!(listed["structuredContent"]["items"][0]["path"], "a.txt");
        let early = client.exchange(&ask(3, "no/such", json!({})));
        assert_eq!(early["error"]["code"], -32600, "{early}");
        assert!(
            early["error"]["message"]
                .as_str()
                .unwrap()
                .contains("initialize")
        );
        assert_eq!(client.code(&ask(4, "resources/list", json!({}))), -32601);
        client.close();
    }
}

#[test]
fn a_legacy_server_sends_a_dual_client_to_the_handshake() {
    let root = Root::new();
    let mut client = Client::new(&root, "legacy", &[]);
    let probe = request(1, "server/discover", json!({}));
    assert_eq!(client.code(&probe), -32601);
    client.result(&initialize(2, "2025-11-25"));
    assert_eq!(client.code(&probe), -32601);
    let listed = client.result(&request(3, "tools/list", json!({})));
    assert_eq!(listed.get("resultType"), None);
    client.close();
}

#[test]
fn a_server_of_both_eras_goes_by_each_request() {
    let root = root();
    let mut client = Client::new(&root, "both", &[]);
    let probe = request(1, "server/discover", json!({}));
    let modern = request(2, "tools/call", json!({"name": "list_directory"}));
    let legacy = call(3, "list_directory", json!({}));
    for version in [None, Some("2024-11-05"), Some("2025-11-25")] {
        if let Some(version) = version {
            client.result(&initialize(0, version));
        }
        assert_eq!(
            client.result(&probe)["supportedVersions"],
            json!(["2026-07-28"])
        );
        let result = client.result(&modern);
        assert_eq!(result["resultType"], "complete");
        assert!(result.get("structuredContent").is_some());
        let result = client.result(&legacy);
        assert_eq!(result.get("resultType").or(result.get("_meta")), None);
        assert_eq!(
            result.get("structuredContent").is_some(),
            version != Some("2024-11-05")
        );
        assert_eq!(client.code(&request(4, "ping", json!({}))), -32601);
        assert_eq!(client.code(&request(4, "initialize", json!({}))), -32601);
    }
    client.close();
}

#[test]
fn a_cancelled_call_is_never_answered_and_progress_has_its_token() {
    let root = Root::new().haystack();
    let mut client = Client::settled(&root, "2025-03-26", &HAYSTACK);
    let mut long = call(1, "search_text", json!({"query": "needle"}));
    long["params"]["_meta"] = json!({"progressToken": "p"});
    client.send(&long);
    let told = client.line();
    assert_eq!(told["params"]["progressToken"], "p", "{told}");
    client.send(&cancel(1));
    client.send(&ask(2, "ping", json!({})));
    let mut next = client.line();
    while next.get("method").is_some() {
        next = client.line();
    }
    assert_eq!(next["id"], 2);
    client.close();
}
