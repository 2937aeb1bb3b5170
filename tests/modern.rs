//! The modern era, revision 2026-07-28, sentence by sentence. Source: the wire
//! document, "Modern".

use jsonschema::Draft;
use serde_json::{Value, json};

use crate::harness::{HAYSTACK, Launch, Root, Server, call, cancel, modern, request};

const VERSION: &str = "io.modelcontextprotocol/protocolVersion";
const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";

/// `_meta` with one member set, or left out.
fn meta(name: &str, value: Option<Value>) -> Value {
    let mut meta = modern();
    let members = meta.as_object_mut().unwrap();
    match value {
        Some(value) => members.insert(name.to_owned(), value),
        None => members.remove(name),
    };
    meta
}

fn with_meta(method: &str, params: Value, meta: Value) -> Value {
    let mut message = request(1, method, params);
    message["params"]["_meta"] = meta;
    message
}

fn older(method: &str, params: Value) -> Value {
    with_meta(method, params, meta(VERSION, Some(json!("2025-11-25"))))
}

macro_rules! errors {
    ($($name:ident: $message:expr => $code:expr, $part:expr;)+) => {$(
        #[test]
        fn $name() {
            let root = Root::new();
            let mut server = Server::new(&root);
            // First, and again when other requests have gone before.
            for _ in 0..2 {
                let message = server.exchange(&$message);
                let text = message.error_text($code);
                assert!(text.contains($part), "`{}` is missing: {text}", $part);
                server.tools();
            }
            server.close();
        }
    )+};
}

errors! {
    no_params_names_the_version: json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}) => -32602, VERSION;
    no_meta_names_the_version: json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}) => -32602, VERSION;
    no_meta_is_judged_before_an_unknown_method: json!({"jsonrpc": "2.0", "id": 1, "method": "no/such", "params": {}}) => -32602, VERSION;
    no_version_is_named: with_meta("tools/list", json!({}), meta(VERSION, None)) => -32602, VERSION;
    a_version_of_another_type_is_named: with_meta("tools/list", json!({}), meta(VERSION, Some(json!(7)))) => -32602, VERSION;
    no_capabilities_are_named: with_meta("tools/list", json!({}), meta(CAPABILITIES, None)) => -32602, CAPABILITIES;
    capabilities_null_are_named: with_meta("tools/list", json!({}), meta(CAPABILITIES, Some(Value::Null))) => -32602, CAPABILITIES;
    capabilities_of_another_type_are_named: with_meta("tools/call", json!({"name": "list_directory"}), meta(CAPABILITIES, Some(json!("x")))) => -32602, CAPABILITIES;
    no_capabilities_on_an_unknown_method_are_named: with_meta("no/such", json!({}), meta(CAPABILITIES, None)) => -32602, CAPABILITIES;
    an_older_version_is_not_spoken: older("tools/list", json!({})) => -32022, "2026-07-28";
    an_older_version_comes_before_an_unknown_method: older("no/such", json!({})) => -32022, "2026-07-28";
    an_older_version_comes_before_an_unknown_tool: older("tools/call", json!({"name": "nope"})) => -32022, "2026-07-28";
    an_older_version_comes_before_missing_capabilities: json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": {"io.modelcontextprotocol/protocolVersion": "1900-01-01"}}}) => -32022, "2026-07-28";
    an_older_version_comes_before_a_cursor: older("tools/list", json!({"cursor": "x"})) => -32022, "2026-07-28";
    an_older_version_comes_before_initialize: older("initialize", json!({})) => -32022, "2026-07-28";
    initialize_of_a_legacy_client_names_the_version: initialize(json!("2025-11-25")) => -32022, "2026-07-28";
    initialize_asking_for_the_modern_version_is_refused_too: initialize(json!("2026-07-28")) => -32022, "2026-07-28";
    initialize_without_params_is_refused_the_same_way: json!({"jsonrpc": "2.0", "id": 0, "method": "initialize"}) => -32022, "2026-07-28";
    initialize_with_a_version_of_another_type_names_it: with_meta("initialize", json!({}), meta(VERSION, Some(json!(7)))) => -32602, VERSION;
    initialize_with_modern_meta_is_unknown: request(1, "initialize", json!({})) => -32601, "";
    ping_with_modern_meta_is_unknown: request(1, "ping", json!({})) => -32601, "";
    set_level_is_unknown: request(1, "logging/setLevel", json!({"level": "debug"})) => -32601, "";
    listen_is_not_offered: request(1, "subscriptions/listen", json!({})) => -32601, "";
    resources_are_unknown: request(1, "resources/list", json!({})) => -32601, "";
    templates_are_unknown: request(1, "resources/templates/list", json!({})) => -32601, "";
    prompts_are_unknown: request(1, "prompts/list", json!({})) => -32601, "";
    roots_are_unknown: request(1, "roots/list", json!({})) => -32601, "";
    completion_is_unknown: request(1, "completion/complete", json!({})) => -32601, "";
    an_unknown_method: request(1, "nope", json!({})) => -32601, "";
    an_empty_method: request(1, "", json!({})) => -32601, "";
    a_method_in_other_case: request(1, "Tools/List", json!({})) => -32601, "";
    a_method_with_a_blank: request(1, "tools/list ", json!({})) => -32601, "";
    a_notification_name_with_an_id: request(1, "notifications/initialized", json!({})) => -32601, "";
    a_list_cursor_was_never_issued: request(1, "tools/list", json!({"cursor": "bogus"})) => -32602, "cursor";
    an_empty_list_cursor_was_never_issued: request(1, "tools/list", json!({"cursor": ""})) => -32602, "cursor";
    a_list_cursor_of_another_type: request(1, "tools/list", json!({"cursor": 7})) => -32602, "cursor";
    an_unknown_tool: call(1, "nope", json!({})) => -32602, "";
    a_tool_in_other_case: call(1, "LIST_DIRECTORY", json!({})) => -32602, "";
    a_tool_without_a_name: request(1, "tools/call", json!({"arguments": {}})) => -32602, "name";
    a_tool_name_of_another_type: request(1, "tools/call", json!({"name": 7, "arguments": {}})) => -32602, "name";
    arguments_as_an_array: call(1, "list_directory", json!([])) => -32602, "arguments";
    arguments_as_a_string: call(1, "list_directory", json!("x")) => -32602, "arguments";
    arguments_as_a_number: call(1, "list_directory", json!(1)) => -32602, "arguments";
}

fn initialize(version: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "old", "version": "1"},
    }})
}

#[test]
fn params_that_are_no_object_are_refused_under_the_id() {
    let root = Root::new();
    let mut server = Server::new(&root);
    for params in [json!([]), json!([1]), json!("x"), json!(7), Value::Null] {
        let message = server.exchange(
            &json!({"jsonrpc": "2.0", "id": 8, "method": "tools/list", "params": params}),
        );
        let code = message.json["error"]["code"].as_i64();
        assert!(matches!(code, Some(-32600 | -32602)), "{}", message.line);
    }
    server.close();
}

#[test]
fn meta_that_is_no_object_is_refused() {
    let root = Root::new();
    let mut server = Server::new(&root);
    for bad in [json!([]), json!("x"), json!(1), Value::Null] {
        server
            .exchange(&with_meta("tools/list", json!({}), bad))
            .error(-32602);
    }
    server.close();
}

#[test]
fn a_version_not_spoken_is_told_what_was_asked_and_what_is_spoken() {
    let root = Root::new();
    let mut server = Server::new(&root);
    for asked in ["1900-01-01", "2099-01-01", "2025-11-25", "", "2026-07-28 "] {
        let message = server.exchange(&with_meta(
            "server/discover",
            json!({}),
            meta(VERSION, Some(json!(asked))),
        ));
        let data = &message.error(-32022)["data"];
        assert_eq!(
            data,
            &json!({"supported": ["2026-07-28"], "requested": asked})
        );
    }
    let message = server.exchange(&initialize(json!("2025-06-18")));
    assert_eq!(
        message.error(-32022)["data"]["supported"],
        json!(["2026-07-28"])
    );
    server.alive();
    server.close();
}

#[test]
fn nothing_is_remembered_after_a_thousand_requests() {
    let root = Root::new();
    let mut server = Server::new(&root);
    server.send_all(
        &(0..1000)
            .map(|id| request(id, "server/discover", json!({})))
            .collect::<Vec<_>>(),
    );
    for id in 0..1000 {
        server.answer(id).result();
    }
    server
        .exchange(&json!({"jsonrpc": "2.0", "id": "late", "method": "tools/list", "params": {}}))
        .error(-32602);
    server
        .exchange(&older("tools/list", json!({})))
        .error(-32022);
    server.close();
}

#[test]
fn client_info_and_other_meta_are_optional() {
    let root = Root::new();
    let mut server = Server::new(&root);
    server
        .exchange(&with_meta(
            "tools/list",
            json!({}),
            meta("io.modelcontextprotocol/clientInfo", None),
        ))
        .result();
    let mut more = meta(
        "traceparent",
        Some(json!(
            "00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01"
        )),
    );
    more[CAPABILITIES] = json!({"sampling": {}, "unknown": 1});
    more["com.example/x"] = json!([1]);
    server
        .exchange(&with_meta("tools/list", json!({}), more))
        .result();
    server.close();
}

#[test]
fn discover_says_what_is_spoken_and_how_to_use_it() {
    let root = Root::new();
    let mut server = Server::new(&root);
    let message = server.request("server/discover", json!({}));
    let result = message.result();
    assert_eq!(result["supportedVersions"], json!(["2026-07-28"]));
    assert_eq!(result["capabilities"], json!({"tools": {}}));
    assert!(!result["instructions"].as_str().unwrap().is_empty());
    assert_eq!(result["ttlMs"], 3_600_000);
    server.close();
}

#[test]
fn the_list_is_the_same_each_time_and_in_each_process() {
    let root = Root::new();
    let mut lists = Vec::new();
    for _ in 0..2 {
        let mut server = Server::new(&root);
        lists.push(server.tools());
        server
            .call("write_text_file", json!({"path": "w.txt", "content": "x"}))
            .value();
        lists.push(server.tools());
        server.close();
    }
    assert!(lists.windows(2).all(|pair| pair[0] == pair[1]));
    let names: Vec<&str> = lists[0]
        .iter()
        .map(|tool| tool["name"].as_str().unwrap())
        .collect();
    assert_eq!(
        names,
        [
            "list_directory",
            "search_files",
            "search_text",
            "read_text_file",
            "write_text_file"
        ]
    );
}

#[test]
fn annotations_say_the_truth() {
    let root = Root::new();
    let mut server = Server::new(&root);
    for tool in server.tools() {
        let notes = &tool["annotations"];
        let writes = tool["name"] == "write_text_file";
        assert_eq!(notes["readOnlyHint"], !writes, "{tool}");
        assert_eq!(notes["openWorldHint"], false, "{tool}");
        assert_eq!(notes["idempotentHint"], true, "{tool}");
        assert_eq!(notes["destructiveHint"], writes, "{tool}");
    }
    server.close();
}

#[test]
fn create_new_is_not_destructive() {
    let root = Root::new();
    let mut server = Launch::new(&root)
        .args(["--write-mode", "create-new"])
        .start();
    let tools = server.tools();
    let write = tools
        .iter()
        .find(|tool| tool["name"] == "write_text_file")
        .unwrap();
    assert_eq!(write["annotations"]["destructiveHint"], false);
    server.close();
}

#[test]
fn every_schema_is_plain_and_described() {
    fn check(schema: &Value, at: &str) {
        let members = schema
            .as_object()
            .unwrap_or_else(|| panic!("{at} is no object"));
        for banned in ["$ref", "$defs", "$schema", "definitions"] {
            assert!(!members.contains_key(banned), "{at} has {banned}");
        }
        if schema["type"] == "array" {
            check(
                schema
                    .get("items")
                    .unwrap_or_else(|| panic!("{at} has no items")),
                at,
            );
        }
        for (name, property) in schema["properties"].as_object().into_iter().flatten() {
            let at = format!("{at}.{name}");
            assert!(
                property["description"]
                    .as_str()
                    .is_some_and(|text| !text.is_empty()),
                "{at} is not described"
            );
            check(property, &at);
        }
    }
    let root = Root::new();
    let mut server = Server::new(&root);
    for tool in server.tools() {
        assert!(
            tool["description"]
                .as_str()
                .is_some_and(|text| !text.is_empty())
        );
        for name in ["inputSchema", "outputSchema"] {
            let schema = &tool[name];
            assert_eq!(schema["type"], "object");
            jsonschema::options()
                .with_draft(Draft::Draft202012)
                .build(schema)
                .expect("a valid schema");
            check(schema, &format!("{}.{name}", tool["name"]));
        }
    }
    server.close();
}

#[test]
fn absent_arguments_count_as_none() {
    let root = Root::new().file("a.txt", "x");
    let mut server = Server::new(&root);
    let message = server.request("tools/call", json!({"name": "list_directory"}));
    assert_eq!(
        message.result()["structuredContent"]["items"][0]["path"],
        "a.txt"
    );
    server.close();
}

#[test]
fn members_of_a_call_nobody_asked_for_are_ignored() {
    let root = Root::new();
    let mut server = Server::new(&root);
    let params = json!({"name": "list_directory", "arguments": {}, "inputResponses": {"x": {"action": "accept"}}, "requestState": "made up"});
    server.request("tools/call", params).result();
    server.close();
}

#[test]
fn arguments_that_do_not_fit_are_a_result_the_model_can_act_on() {
    let root = Root::new().file("a.txt", "x");
    let mut server = Server::new(&root);
    for (tool, arguments, part) in [
        ("read_text_file", json!({}), "path"),
        ("read_text_file", json!({"path": []}), "path"),
        ("list_directory", json!({"limit": 0}), "limit"),
        ("list_directory", json!({"limit": 1.5}), "limit"),
        ("list_directory", json!({"no_such": 1}), "no_such"),
        ("search_text", json!({}), "query"),
        ("write_text_file", json!({"path": "a.txt"}), "content"),
        (
            "write_text_file",
            json!({"path": "a.txt", "content": 7}),
            "content",
        ),
    ] {
        server.call(tool, arguments).refused_naming(&[part]);
    }
    server.close();
}

#[test]
fn a_cancelled_call_is_stopped_and_never_answered() {
    let root = Root::new().haystack();
    let mut server = Launch::new(&root)
        .args(HAYSTACK)
        .args(["--workers", "1"])
        .start();
    for id in ["c1", "c2", "c3"] {
        server.send(&call(id, "search_text", json!({"query": "needle"})));
        server.send(&cancel(id));
    }
    // One worker only: this is answered because the calls before it were stopped.
    server
        .exchange(&call(
            "after",
            "read_text_file",
            json!({"path": "hay/0", "limit": 1}),
        ))
        .result();
    assert_eq!(server.close().len(), 0);
}
