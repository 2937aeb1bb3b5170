//! One message of the server, already checked, and what tests ask of it.

use serde_json::Value;

/// A line as it came, and as JSON.
#[derive(Clone, Debug)]
pub(crate) struct Message {
    /// The line without its LF.
    pub(crate) line: String,
    /// The parsed line.
    pub(crate) json: Value,
}

impl Message {
    /// The `result` member; an error fails the test.
    pub(crate) fn result(&self) -> &Value {
        self.json
            .get("result")
            .unwrap_or_else(|| panic!("not a result: {}", self.line))
    }

    /// The `error` member, which must have this code.
    pub(crate) fn error(&self, code: i64) -> &Value {
        let error = self
            .json
            .get("error")
            .unwrap_or_else(|| panic!("not an error: {}", self.line));
        assert_eq!(error["code"], code, "{}", self.line);
        error
    }

    /// The message of an error with this code.
    pub(crate) fn error_text(&self, code: i64) -> &str {
        self.error(code)["message"].as_str().expect("a message")
    }

    /// An error with this code that carries no id at all.
    pub(crate) fn error_without_id(&self, code: i64) {
        self.error(code);
        assert_eq!(self.json.get("id"), None, "{}", self.line);
    }
}

/// The answer to one `tools/call`.
#[derive(Clone, Debug)]
pub(crate) struct Answer(pub(crate) Message);

impl Answer {
    /// What a successful call returned.
    pub(crate) fn value(&self) -> &Value {
        let result = self.0.result();
        assert_ne!(result["isError"], true, "refused: {}", self.0.line);
        &result["structuredContent"]
    }

    /// The text for a reader of a successful call.
    pub(crate) fn said(&self) -> &str {
        self.value();
        self.0.result()["content"][0]["text"]
            .as_str()
            .expect("a text block")
    }

    /// The items of a page.
    pub(crate) fn items(&self) -> &[Value] {
        self.value()["items"].as_array().expect("items")
    }

    /// One text member of every item.
    pub(crate) fn column(&self, name: &str) -> Vec<&str> {
        self.items()
            .iter()
            .map(|item| item[name].as_str().expect("a text member"))
            .collect()
    }

    /// The paths of the items.
    pub(crate) fn paths(&self) -> Vec<&str> {
        self.column("path")
    }

    /// The texts of the items, joined.
    pub(crate) fn text(&self) -> String {
        self.column("text").concat()
    }

    /// The cursor to the next page, if there is one.
    pub(crate) fn next_cursor(&self) -> Option<&str> {
        self.value()["next_cursor"].as_str()
    }

    /// The cursor to the next page, which must be there.
    pub(crate) fn cursor(&self) -> String {
        self.next_cursor().expect("a next page").to_owned()
    }

    /// The hash of what was returned or written.
    pub(crate) fn hash(&self) -> &str {
        self.value()["content_hash"]
            .as_str()
            .expect("a content_hash")
    }

    /// The one line that says why the tool refused.
    pub(crate) fn refusal(&self) -> &str {
        let result = self.0.result();
        assert_eq!(result["isError"], true, "served: {}", self.0.line);
        result["content"][0]["text"].as_str().expect("a text block")
    }

    /// Fails unless the tool refused with exactly this text.
    #[track_caller]
    pub(crate) fn refused(&self, text: &str) {
        assert_eq!(self.refusal(), text);
    }

    /// Fails unless the tool refused with a text that names every one of these.
    #[track_caller]
    pub(crate) fn refused_naming(&self, parts: &[&str]) {
        let refusal = self.refusal();
        for part in parts {
            assert!(refusal.contains(part), "`{part}` is missing: {refusal}");
        }
    }
}
