//! Request ids: a string or an integer of any size, which comes back exactly
//! as it was sent. `"1"` and `1` are two ids.

use serde_json::value::RawValue;

use crate::json;

/// The id of a request (JSON-RPC 2.0, section 4; MCP `RequestId`).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum RequestId {
    /// A string, without its quotes and escapes.
    String(String),
    /// An integer's digits as they were sent: it need not fit any machine type.
    Integer(String),
}

impl RequestId {
    /// Reads an id; nothing for null, a fraction, an exponent or any other type.
    pub(super) fn read(raw: &RawValue) -> Option<Self> {
        let text = raw.get();
        if text.starts_with('"') {
            return serde_json::from_str(text).ok().map(Self::String);
        }
        let digits = text.strip_prefix('-').unwrap_or(text);
        (!digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()))
            .then(|| Self::Integer(text.to_owned()))
    }

    /// Appends the id as JSON.
    pub(super) fn append(&self, out: &mut String) {
        match self {
            Self::String(text) => json::append(out, text),
            Self::Integer(digits) => out.push_str(digits),
        }
    }
}
