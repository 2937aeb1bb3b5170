//! Request ids: a string or an integer of any size, which comes back exactly
//! as it was sent. `"1"` and `1` are two ids.

use std::sync::Arc;

use super::message::Part;
use crate::json;

/// The id of a request (JSON-RPC 2.0, section 4; MCP `RequestId`). A copy shares
/// the text: nothing bounds its length but that of a line.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum RequestId {
    /// A string, without its quotes and escapes.
    String(Arc<str>),
    /// An integer's digits as they were sent: it need not fit any machine type.
    Integer(Arc<str>),
}

impl RequestId {
    /// Reads an id; nothing for null, a fraction, an exponent or any other type.
    pub(super) fn read(part: Part<'_>) -> Option<Self> {
        let text = part.get();
        if text.starts_with('"') {
            let text: String = serde_json::from_str(text).ok()?;
            return Some(Self::String(text.into()));
        }
        let digits = text.strip_prefix('-').unwrap_or(text);
        (!digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()))
            .then(|| Self::Integer(text.into()))
    }

    /// Appends the id as JSON.
    pub(super) fn append(&self, out: &mut String) {
        match self {
            Self::String(text) => {
                json::quote(out, text);
            }
            Self::Integer(digits) => out.push_str(digits),
        }
    }

    /// The id as one line of JSON, however it was escaped when it was sent.
    pub(super) fn json(&self) -> String {
        let mut out = String::new();
        self.append(&mut out);
        out
    }

    /// How many bytes [`RequestId::append`] appends.
    pub(super) fn bytes(&self) -> usize {
        match self {
            Self::String(text) => json::text(&**text).len(),
            Self::Integer(digits) => digits.len(),
        }
    }
}
