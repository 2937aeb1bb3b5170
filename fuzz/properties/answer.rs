//! What an answer must be, and whether a line is it: one line, JSON-RPC, and
//! under the id that was sent in the spelling it was sent in.

use super::expected::{Era, Id};
use super::json::{self, Kind, Value};

/// An answer that is due.
#[derive(Debug)]
pub(crate) enum Answer {
    /// An error; its code, if it can be only one.
    Error(Option<i32>, Option<Id>),
    Result(Id, Shape),
}

/// What is in a result.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Shape {
    Discover,
    Pong,
    Initialize(&'static str),
    List(Era),
    /// Whether the tool's answer has a structure.
    Call(Era, bool),
}

/// A tool with every member a definition can have.
pub(crate) const TOOLS: &str = r#"[{"name":"t","title":"T","description":"d","inputSchema":{},"outputSchema":{},"annotations":{}}]"#;

/// A line of the server's: one line, and JSON.
pub(crate) fn one_line(line: &str) -> Value<'_> {
    let text = line.strip_suffix('\n').expect("a line end");
    assert!(
        !text.contains(['\n', '\r', '\u{2028}', '\u{2029}']),
        "more than one line: {line:?}"
    );
    json::read(text).expect("JSON")
}

/// The elements of an array.
pub(crate) fn elements(value: Value<'_>) -> Vec<Value<'_>> {
    match value.kind {
        Kind::Array(elements) => elements,
        _ => panic!("no array: {}", value.raw),
    }
}

impl Answer {
    /// Checks that `message` is this answer and nothing besides.
    pub(crate) fn check(&self, message: &Value<'_>) {
        let raw = message.raw;
        let text = |name| message.member(name).and_then(Value::text);
        assert_eq!(text("jsonrpc"), Some("2.0"), "{raw}");
        let (id, what) = match self {
            Self::Error(_, id) => (id.as_ref(), "error"),
            Self::Result(id, _) => (Some(id), "result"),
        };
        let told = message
            .member("id")
            .map(|told| Id::read(told).expect("an id"));
        assert_eq!(told.as_ref(), id, "{raw}");
        let members = message.members().expect("an object");
        let names = members.iter().filter_map(|(name, _)| name.as_deref());
        let expected = ["jsonrpc", "id", what];
        let expected = expected
            .into_iter()
            .filter(|name| *name != "id" || id.is_some());
        assert!(names.eq(expected), "{raw}");
        let content = message.member(what).expect("the last member");
        match self {
            Self::Error(code, _) => error(content, *code),
            Self::Result(_, shape) => shape.check(content),
        }
    }
}

fn error(error: &Value<'_>, code: Option<i32>) {
    let message = error.member("message").and_then(Value::text);
    assert!(
        message.is_some_and(|text| !text.is_empty()),
        "{}",
        error.raw
    );
    let told: i32 = error
        .member("code")
        .expect("a code")
        .raw
        .parse()
        .expect("an integer");
    assert_eq!(told, code.unwrap_or(told), "{}", error.raw);
}

impl Shape {
    fn check(self, result: &Value<'_>) {
        let has = |name| result.member(name).is_some();
        let era = match self {
            Self::Discover => Era::Modern,
            Self::Pong | Self::Initialize(_) => Era::Legacy(""),
            Self::List(era) | Self::Call(era, _) => era,
        };
        let is_complete = result.member("resultType").and_then(Value::text) == Some("complete");
        assert_eq!(is_complete, era == Era::Modern, "{}", result.raw);
        match self {
            Self::Discover => assert!(has("supportedVersions"), "{}", result.raw),
            Self::Pong => assert_eq!(result.raw, "{}"),
            Self::Initialize(version) => {
                let spoken = result.member("protocolVersion").and_then(Value::text);
                assert_eq!(spoken, Some(version));
            }
            Self::List(era) => list(result.member("tools").expect("tools"), era),
            Self::Call(era, is_structured) => {
                let shown = is_structured && era.is_since("2025-06-18");
                assert_eq!(has("structuredContent"), shown, "{}", result.raw);
                assert!(has("content") && has("isError"), "{}", result.raw);
            }
        }
    }
}

fn list(tools: &Value<'_>, era: Era) {
    let tools = elements(json::read(tools.raw).expect("JSON"));
    let [tool] = &tools[..] else {
        panic!("{} tools in place of one", tools.len());
    };
    for (name, since) in [
        ("name", ""),
        ("inputSchema", ""),
        ("annotations", "2025-03-26"),
        ("title", "2025-06-18"),
        ("outputSchema", "2025-06-18"),
    ] {
        assert_eq!(
            tool.member(name).is_some(),
            era.is_since(since),
            "{name} for {era:?}"
        );
    }
}

impl Era {
    /// Whether it is of this version or a later one.
    fn is_since(self, version: &str) -> bool {
        match self {
            Self::Modern => true,
            Self::Legacy(own) => own >= version,
        }
    }
}
