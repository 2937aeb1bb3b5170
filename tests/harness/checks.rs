//! What holds for every line the server writes, whatever the input was.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use super::{MARKER, Message, schema};

/// The tools whose text is their structured answer; those of the other set have
/// one for a reader.
const CORE: [&str; 5] = [
    "list_directory",
    "search_files",
    "search_text",
    "read_text_file",
    "write_text_file",
];

/// What must be remembered to judge a line.
#[derive(Debug, Default)]
pub(super) struct Checks {
    /// Tools of calls that were sent, by the JSON text of their id.
    tools: HashMap<String, String>,
    /// Ids the harness made up itself and has had an answer for.
    answered: HashSet<String>,
    /// Content hashes are keyed.
    keyed: bool,
    /// The path above the root, which no line may contain.
    above: String,
}

impl Checks {
    /// For a server whose root lies in the directory `above`.
    pub(super) fn new(above: String, keyed: bool) -> Self {
        Self {
            above,
            keyed,
            ..Self::default()
        }
    }

    /// Remembers a message that is sent.
    pub(super) fn note(&mut self, message: &Value) {
        if message["method"] == "tools/call"
            && let Some(tool) = message["params"]["name"].as_str()
        {
            self.tools
                .insert(message["id"].to_string(), tool.to_owned());
        }
    }

    /// Reads a line and fails unless it keeps every promise.
    pub(super) fn read(&mut self, mut line: Vec<u8>) -> Message {
        assert_eq!(line.pop(), Some(b'\n'), "a line without LF");
        let line = String::from_utf8(line).expect("a line is UTF-8");
        assert!(
            !line.contains(['\r', '\u{2028}', '\u{2029}']),
            "a raw line separator: {line}"
        );
        assert!(!line.contains(MARKER), "the outside text came out: {line}");
        assert!(
            !line.contains(&self.above),
            "the host path came out: {line}"
        );
        let json: Value = serde_json::from_str(&line).expect("a line is JSON");
        assert_eq!(json["jsonrpc"], "2.0", "{line}");
        let message = Message { line, json };
        self.check_envelope(&message);
        schema::check_message(&message.json);
        message
    }

    fn check_envelope(&mut self, message: &Message) {
        let Message { line, json } = message;
        let mut names: Vec<&str> = json
            .as_object()
            .expect("an object")
            .keys()
            .map(String::as_str)
            .collect();
        names.sort_unstable();
        match names.as_slice() {
            ["id", "jsonrpc", "result"] => self.check_result(message),
            ["error", "jsonrpc"] | ["error", "id", "jsonrpc"] => {
                let error = &json["error"];
                let text = error["message"].as_str().expect("an error message");
                assert!(
                    error["code"].is_i64() && !text.is_empty() && !text.contains('\n'),
                    "{line}"
                );
            }
            ["jsonrpc", "method", "params"] => {
                assert_eq!(json["method"], "notifications/progress", "{line}")
            }
            _ => panic!("neither answer nor notification: {line}"),
        }
        if let Some(id) = json.get("id") {
            assert!(id.is_string() || id.is_number(), "{line}");
            if let Some(id) = id.as_str().filter(|id| id.starts_with("harness-")) {
                assert!(
                    self.answered.insert(id.to_owned()),
                    "answered twice: {line}"
                );
            }
        }
    }

    fn check_result(&self, message: &Message) {
        let Message { line, json } = message;
        let result = &json["result"];
        assert_eq!(result["resultType"], "complete", "{line}");
        let info = &result["_meta"]["io.modelcontextprotocol/serverInfo"];
        assert_eq!(info["name"], "preopen-mcp", "{line}");
        assert!(info["version"].is_string(), "{line}");
        if result.get("content").is_some() {
            return self.check_call(message);
        }
        assert!(
            result["ttlMs"].is_u64() && result["cacheScope"] == "public",
            "{line}"
        );
        assert!(
            result.get("tools").is_some() || result.get("supportedVersions").is_some(),
            "{line}"
        );
    }

    fn check_call(&self, message: &Message) {
        let Message { line, json } = message;
        let result = &json["result"];
        let content = result["content"].as_array().expect("content");
        let [block] = content.as_slice() else {
            panic!("not one block: {line}")
        };
        assert_eq!(block["type"], "text", "{line}");
        let text = block["text"].as_str().expect("a text");
        if result["isError"] == true {
            assert!(
                !text.is_empty() && !text.contains('\n') && text.len() <= 400,
                "not one short line: {line}"
            );
            assert_eq!(result.get("structuredContent"), None, "{line}");
            return;
        }
        let structured = &result["structuredContent"];
        let id = json["id"].to_string();
        let tool = self.tools.get(&id);
        if tool.is_none_or(|tool| CORE.contains(&tool.as_str())) {
            let same: Value = serde_json::from_str(text).expect("the text block is JSON");
            assert_eq!(
                &same, structured,
                "the text block is not the structured answer"
            );
        } else {
            assert!(!text.is_empty(), "nothing to read: {line}");
        }
        if let Some(tool) = tool {
            schema::check_output(tool, self.keyed, structured);
        }
    }
}
