//! The schemas every line is held against: the protocol's own, where a copy of
//! the specification lies beside the repository, and each tool's outputSchema
//! as the server declares it.

use std::collections::HashMap;
use std::path::Path;
use std::sync::OnceLock;

use jsonschema::Validator;
use serde_json::{Value, json};

use super::{Launch, Root};

/// Fails unless `value` fits `schema`.
fn fits(schema: &Validator, value: &Value, what: &str) {
    let errors: Vec<String> = schema
        .iter_errors(value)
        .map(|error| error.to_string())
        .collect();
    assert!(
        errors.is_empty(),
        "{what} does not fit its schema: {errors:?}\n{value}"
    );
}

/// Holds a line against the definition of the specification that it should fit.
pub(super) fn check_message(message: &Value) {
    static SPEC: OnceLock<Option<HashMap<&str, Validator>>> = OnceLock::new();
    let Some(spec) = SPEC.get_or_init(load) else {
        return;
    };
    let result = message.get("result");
    let definition = if message.get("method").is_some() {
        "ProgressNotification"
    } else if result.is_some_and(|result| result.get("content").is_some()) {
        "CallToolResultResponse"
    } else if result.is_some_and(|result| result.get("tools").is_some()) {
        "ListToolsResultResponse"
    } else if result.is_some() {
        "DiscoverResultResponse"
    } else if message["error"]["code"] == -32022 {
        "UnsupportedProtocolVersionError"
    } else {
        "JSONRPCErrorResponse"
    };
    fits(&spec[definition], message, definition);
}

fn load() -> Option<HashMap<&'static str, Validator>> {
    let path =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/spec/mcp-2026-07-28.schema.json");
    let Ok(text) = std::fs::read_to_string(&path) else {
        eprintln!(
            "SKIPPED: lines are not held against the specification's schema, which is not there"
        );
        return None;
    };
    let spec: Value = serde_json::from_str(&text).expect("the specification's schema is JSON");
    let names = [
        "ProgressNotification",
        "CallToolResultResponse",
        "ListToolsResultResponse",
        "DiscoverResultResponse",
        "UnsupportedProtocolVersionError",
        "JSONRPCErrorResponse",
    ];
    let validators = names.map(|name| {
        let schema = json!({"$ref": format!("#/$defs/{name}"), "$defs": spec["$defs"]});
        (
            name,
            jsonschema::validator_for(&schema).expect("a valid schema"),
        )
    });
    Some(HashMap::from(validators))
}

/// Holds `structured` against the outputSchema of `tool`; without one there is
/// no structured answer. `keyed` says that
/// content hashes are keyed, which is the one flag the schemas depend on.
pub(super) fn check_output(tool: &str, keyed: bool, structured: &Value) {
    static PLAIN: OnceLock<HashMap<String, Validator>> = OnceLock::new();
    static KEYED: OnceLock<HashMap<String, Validator>> = OnceLock::new();
    let schemas = if keyed {
        KEYED.get_or_init(|| declared(&["--content-hash", "hmac-sha256"]))
    } else {
        PLAIN.get_or_init(|| declared(&[]))
    };
    match schemas.get(tool) {
        Some(schema) => fits(schema, structured, tool),
        None => assert!(structured.is_null(), "{tool} declares no outputSchema"),
    }
}

fn declared(arguments: &[&str]) -> HashMap<String, Validator> {
    let root = Root::new();
    let mut server = Launch::new(&root)
        .args(["--toolset", "all"])
        .args(arguments.iter().copied())
        .start();
    let tools = server.tools();
    let schemas = tools.iter().filter_map(|tool| {
        let name = tool["name"].as_str().expect("a name").to_owned();
        let schema = tool.get("outputSchema")?;
        let schema = jsonschema::validator_for(schema).expect("a valid outputSchema");
        Some((name, schema))
    });
    schemas.collect()
}
