//! A client that settles on a version first. It holds every line it reads
//! against the schema of the newest of these revisions.

use std::path::Path;
use std::sync::OnceLock;

use jsonschema::Validator;
use serde_json::{Value, json};

use crate::harness::{Launch, MARKER, Process, Root};

/// A legacy request.
pub(crate) fn ask(id: impl Into<Value>, method: &str, params: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id.into(), "method": method, "params": params})
}

/// A legacy `tools/call`.
pub(crate) fn call(id: impl Into<Value>, tool: &str, arguments: Value) -> Value {
    let params = json!({"name": tool, "arguments": arguments});
    ask(id, "tools/call", params)
}

pub(crate) fn initialize(id: impl Into<Value>, version: &str) -> Value {
    let client = json!({"name": "preopen-tests", "version": "1"});
    let params = json!({"protocolVersion": version, "capabilities": {}, "clientInfo": client});
    ask(id, "initialize", params)
}

/// A client of the legacy era. Every line it reads is held against the schema.
pub(crate) struct Client(pub(crate) Process);

impl Client {
    pub(crate) fn new(root: &Root, protocol: &str, arguments: &[&str]) -> Self {
        let launch = Launch::new(root).args(["--protocol", protocol]);
        Self(launch.args(arguments.iter().copied()).spawn())
    }

    /// One that has settled on this version.
    pub(crate) fn settled(root: &Root, version: &str, arguments: &[&str]) -> Self {
        let mut client = Self::new(root, "both", arguments);
        let result = client.result(&initialize("init", version));
        assert_eq!(result["protocolVersion"], version);
        client.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        client
    }

    pub(crate) fn send(&mut self, message: &Value) {
        self.0.write(format!("{message}\n").as_bytes());
    }

    /// The next line.
    pub(crate) fn line(&self) -> Value {
        self.try_line().expect("the server has not ended")
    }

    /// The next line; none at the end of the output.
    pub(crate) fn try_line(&self) -> Option<Value> {
        let line = String::from_utf8(self.0.line()?).expect("a line is UTF-8");
        assert!(line.ends_with('\n') && !line.contains(MARKER), "{line}");
        let value: Value = serde_json::from_str(&line).expect("a line is JSON");
        match value.as_array() {
            Some(answers) => {
                assert!(!answers.is_empty(), "an empty batch");
                answers.iter().for_each(check);
            }
            None => check(&value),
        }
        Some(value)
    }

    /// Sends a message; the next line must answer it.
    pub(crate) fn exchange(&mut self, message: &Value) -> Value {
        self.send(message);
        let answer = self.line();
        assert_eq!(answer["id"], message["id"], "{answer}");
        answer
    }

    pub(crate) fn result(&mut self, message: &Value) -> Value {
        let answer = self.exchange(message);
        let result = answer.get("result");
        result
            .unwrap_or_else(|| panic!("refused: {answer}"))
            .clone()
    }

    pub(crate) fn code(&mut self, message: &Value) -> Value {
        self.exchange(message)["error"]["code"].clone()
    }

    /// Ends the input; the server must exit 0 with an empty stderr and nothing
    /// left to say.
    pub(crate) fn close(mut self) {
        drop(self.0.take_stdin());
        assert_eq!(self.try_line(), None);
        let exit = self.0.wait();
        assert_eq!((exit.code, exit.stderr.as_str()), (Some(0), ""));
    }
}

/// Holds a message against the schema of the newest legacy revision, where a
/// copy of the specification lies beside the repository.
fn check(message: &Value) {
    static SPEC: OnceLock<Option<Value>> = OnceLock::new();
    let Some(spec) = SPEC.get_or_init(load) else {
        return;
    };
    let has = |name: &str| message["result"].get(name).is_some();
    let definitions = if message.get("method").is_some() {
        vec![("ProgressNotification", message)]
    } else if message.get("error").is_some() {
        vec![("JSONRPCErrorResponse", message)]
    } else {
        let result = if has("resultType") {
            // Modern results have tests of their own.
            "Result"
        } else if has("protocolVersion") {
            "InitializeResult"
        } else if has("tools") {
            "ListToolsResult"
        } else if has("content") {
            "CallToolResult"
        } else {
            assert_eq!(message["result"], json!({}));
            "EmptyResult"
        };
        vec![
            ("JSONRPCResultResponse", message),
            (result, &message["result"]),
        ]
    };
    for (name, value) in definitions {
        fits(&validator(spec, name), value);
    }
}

fn fits(schema: &Validator, value: &Value) {
    let errors: Vec<String> = schema
        .iter_errors(value)
        .map(|error| error.to_string())
        .collect();
    assert!(errors.is_empty(), "{errors:?}\n{value}");
}

fn validator(spec: &Value, name: &str) -> Validator {
    let schema = json!({"$ref": format!("#/$defs/{name}"), "$defs": spec["$defs"]});
    jsonschema::validator_for(&schema).expect("a valid schema")
}

fn load() -> Option<Value> {
    let path =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/spec/mcp-2025-11-25.schema.json");
    match std::fs::read_to_string(path) {
        Ok(text) => Some(serde_json::from_str(&text).expect("the specification's schema is JSON")),
        Err(_) => {
            eprintln!(
                "SKIPPED: legacy lines are not held against their schema, which is not there"
            );
            None
        }
    }
}
