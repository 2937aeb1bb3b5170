//! One line of input taken apart as far as JSON-RPC goes. Whatever is inside
//! `params` stays text here, so neither nesting nor odd numbers in there keep
//! the id from being read.

use serde::{Deserialize, Deserializer, de::IgnoredAny};
use serde_json::value::RawValue;

use super::id::RequestId;
use super::reply::Fault;

/// What a line turned out to be.
pub(super) enum Incoming<'a> {
    /// Blank, or a response: nothing that could be answered.
    Silence,
    /// An array: several messages, where there are batches. It is JSON.
    Batch(&'a str),
    /// No request; the error to answer with, under the id if it has one.
    Invalid(Fault, Option<RequestId>),
    /// A message without an id.
    Notification {
        method: String,
        params: Option<&'a RawValue>,
    },
    /// A request.
    Request {
        id: RequestId,
        method: String,
        params: Option<&'a RawValue>,
    },
}

#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(borrow, default, deserialize_with = "present")]
    jsonrpc: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    id: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    method: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    params: Option<&'a RawValue>,
    #[serde(default, deserialize_with = "ignored")]
    result: bool,
    #[serde(default, deserialize_with = "ignored")]
    error: bool,
}

/// Tells a member that is null from one that is absent.
pub(super) fn present<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<&'de RawValue>, D::Error> {
    Deserialize::deserialize(deserializer).map(Some)
}

/// The string a member is, if it is one.
pub(super) fn string(raw: &RawValue) -> Option<String> {
    serde_json::from_str(raw.get()).ok()
}

fn ignored<'de, D: Deserializer<'de>>(deserializer: D) -> Result<bool, D::Error> {
    IgnoredAny::deserialize(deserializer).map(|_| true)
}

/// Takes one line apart, tolerating a byte-order mark and white space around
/// the message (RFC 8259, sections 2 and 8.1).
pub(super) fn parse(line: &[u8]) -> Incoming<'_> {
    let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
    let Ok(text) = str::from_utf8(line) else {
        return Incoming::Invalid(Fault::parse("the message is not UTF-8"), None);
    };
    read(text.trim_matches([' ', '\t', '\r', '\n']))
}

/// Takes one message apart that has nothing around it.
pub(super) fn read(text: &str) -> Incoming<'_> {
    match text.bytes().next() {
        None => Incoming::Silence,
        Some(b'{') => match serde_json::from_str(text) {
            Ok(envelope) => classify(&envelope),
            // A member given twice: no telling which of the two was meant.
            Err(error) if error.is_data() && is_json(text) => Incoming::Invalid(
                Fault::invalid_request("a member of the message is given twice"),
                None,
            ),
            Err(_) => not_json(),
        },
        Some(b'[') if is_json(text) => Incoming::Batch(text),
        Some(_) if is_json(text) => {
            Incoming::Invalid(Fault::invalid_request("the message is not an object"), None)
        }
        Some(_) => not_json(),
    }
}

fn classify<'a>(envelope: &Envelope<'a>) -> Incoming<'a> {
    let id = match envelope.id.map(RequestId::read) {
        Some(None) if envelope.method.is_some() => {
            return Incoming::Invalid(
                Fault::invalid_request("id must be a string or an integer"),
                None,
            );
        }
        Some(id) => id,
        None => None,
    };
    let Some(method) = envelope.method else {
        if envelope.result || envelope.error {
            return Incoming::Silence;
        }
        return Incoming::Invalid(Fault::invalid_request("the message has no method"), id);
    };
    if envelope.jsonrpc.and_then(string).as_deref() != Some("2.0") {
        return Incoming::Invalid(Fault::invalid_request("jsonrpc must be \"2.0\""), id);
    }
    let Some(method) = string(method) else {
        return Incoming::Invalid(Fault::invalid_request("method must be a string"), id);
    };
    let params = envelope.params;
    match id {
        Some(id) => Incoming::Request { id, method, params },
        None => Incoming::Notification { method, params },
    }
}

fn is_json(text: &str) -> bool {
    serde_json::from_str::<IgnoredAny>(text).is_ok()
}

fn not_json() -> Incoming<'static> {
    Incoming::Invalid(Fault::parse("the message is not JSON"), None)
}
