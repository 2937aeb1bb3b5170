//! The lines the server writes, and the texts of the protocol's own errors.
//! Lines are spliced from JSON text that is known to be valid, so a long answer
//! is copied once and never parsed again. What is in a result is not known here.

use super::PROTOCOL_VERSION;
use super::id::RequestId;
use crate::json;

/// Characters of what a client sent that an error repeats: enough to know it
/// by, and too few to make much of little.
const SHOWN_CHARS: usize = 64;

/// Bytes of the version a client asked for that come back as data.
const REQUESTED_BYTES: usize = 256;

/// What a tool answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolResult {
    /// JSON text for `structuredContent`, as [`json::append`] writes it.
    pub structured: Option<String>,
    /// The text block; where it is absent the text is `structured`.
    pub text: Option<String>,
    /// Whether the tool refused or failed.
    pub is_error: bool,
}

impl ToolResult {
    /// A refusal with this text.
    #[must_use]
    pub fn refusal(text: impl Into<String>) -> Self {
        Self {
            structured: None,
            text: Some(text.into()),
            is_error: true,
        }
    }
}

/// How a call ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The tool answered, or refused.
    Result(ToolResult),
    /// No tool of this name is served.
    UnknownTool(String),
    /// The call was stopped because nobody waits for it any more.
    Stopped,
    /// The server failed; nothing of the reason is for the client.
    Internal,
}

/// The code of a version that is not spoken (MCP 2026-07-28).
const UNSUPPORTED_VERSION: i32 = -32022;

/// An error of the protocol: code, message, and data as JSON.
#[derive(Debug)]
pub(super) struct Fault {
    code: i32,
    message: String,
    data: Option<String>,
}

impl Fault {
    fn new(code: i32, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            data: None,
        }
    }

    pub(super) fn parse(message: &str) -> Self {
        Self::new(-32700, message)
    }

    pub(super) fn invalid_request(message: impl Into<String>) -> Self {
        Self::new(-32600, message)
    }

    /// A method that is none of `methods`.
    pub(super) fn method_not_found(methods: &str) -> Self {
        Self::new(
            -32601,
            format!("no such method; this server offers {methods}"),
        )
    }

    pub(super) fn invalid_params(message: impl Into<String>) -> Self {
        Self::new(-32602, message)
    }

    pub(super) fn internal() -> Self {
        Self::new(
            -32603,
            "the server failed at this call; other calls are not affected",
        )
    }

    pub(super) fn unknown_tool(name: &str) -> Self {
        Self::invalid_params(format!("there is no tool named {}", shown(name)))
    }

    /// The version of a request that is not spoken here.
    pub(super) fn unsupported_version(requested: &str) -> Self {
        Self::version(
            requested,
            format!(
                "protocol version {} is not spoken here; send {PROTOCOL_VERSION}",
                shown(requested)
            ),
        )
    }

    /// A client of the handshake era: most show their user the message alone.
    pub(super) fn handshake(requested: &str) -> Self {
        Self::version(
            requested,
            format!(
                "this server speaks MCP {PROTOCOL_VERSION} only, which has no initialize handshake; use a client of that revision"
            ),
        )
    }

    fn version(requested: &str, message: String) -> Self {
        let mut data = format!("{{\"supported\":[\"{PROTOCOL_VERSION}\"],\"requested\":");
        json::append(
            &mut data,
            &requested[..requested.floor_char_boundary(REQUESTED_BYTES)],
        );
        data.push('}');
        Self {
            data: Some(data),
            ..Self::new(UNSUPPORTED_VERSION, message)
        }
    }

    /// Whether the request is of a version that is not spoken here, so that
    /// nothing else about it can be judged.
    pub(super) fn is_about_version(&self) -> bool {
        self.code == UNSUPPORTED_VERSION
    }
}

/// What a client sent, in quotes: its beginning, and nothing that a terminal
/// would obey.
fn shown(text: &str) -> String {
    match text.char_indices().nth(SHOWN_CHARS) {
        Some((end, _)) => format!("{:?}", format!("{}…", &text[..end])),
        None => format!("{text:?}"),
    }
}

/// The line of an error; without an id where the request's could not be read.
pub(super) fn error(id: Option<&RequestId>, fault: &Fault) -> String {
    let mut out = String::from("{\"jsonrpc\":\"2.0\"");
    if let Some(id) = id {
        out.push_str(",\"id\":");
        id.append(&mut out);
    }
    out.push_str(",\"error\":{\"code\":");
    out.push_str(&fault.code.to_string());
    out.push_str(",\"message\":");
    json::append(&mut out, &fault.message);
    if let Some(data) = &fault.data {
        out.push_str(",\"data\":");
        out.push_str(data);
    }
    out.push_str("}}\n");
    out
}

/// The line of a result, which is JSON already.
pub(super) fn result(id: &RequestId, result: &str) -> String {
    result_of(id, result.len(), |out| out.push_str(result))
}

/// The line of a result that `append` adds, as JSON of about so many bytes: a
/// long one is written once.
pub(super) fn result_of(id: &RequestId, bytes: usize, append: impl FnOnce(&mut String)) -> String {
    let mut out = String::with_capacity(bytes + 128);
    out.push_str("{\"jsonrpc\":\"2.0\",\"id\":");
    id.append(&mut out);
    out.push_str(",\"result\":");
    append(&mut out);
    out.push_str("}\n");
    out
}

/// The line of a batch, from the lines of its answers.
pub(super) fn array(answers: impl ExactSizeIterator<Item = String>, bytes: usize) -> String {
    let mut out = String::with_capacity(bytes + answers.len() + 2);
    for (at, answer) in answers.enumerate() {
        out.push(if at == 0 { '[' } else { ',' });
        out.push_str(answer.trim_end_matches('\n'));
    }
    out.push_str("]\n");
    out
}

/// A `notifications/progress`; `token` is JSON.
pub(super) fn progress(token: &str, progress: u64, message: &str) -> String {
    let mut out = String::from(
        "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{\"progressToken\":",
    );
    out.push_str(token);
    out.push_str(",\"progress\":");
    out.push_str(&progress.to_string());
    out.push_str(",\"message\":");
    json::append(&mut out, message);
    out.push_str("}}\n");
    out
}
