//! One line of input taken apart as far as JSON-RPC goes. Whatever is inside
//! `params` stays text here, so neither nesting nor odd numbers in there keep
//! the id from being read.

use serde::{Deserialize, Deserializer, de::IgnoredAny};
use serde_json::value::RawValue;

use super::id::RequestId;
use super::reply::Fault;
use crate::quoted::Brief;

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
        params: Option<Part<'a>>,
    },
    /// A request.
    Request {
        id: RequestId,
        method: String,
        params: Option<Part<'a>>,
    },
}

/// A value in a message, which is JSON.
#[derive(Clone, Copy)]
pub(super) struct Part<'a> {
    message: &'a Brief<'a>,
    /// Where something may be left out.
    brief: &'a RawValue,
}

impl<'a> Part<'a> {
    /// The part `brief` of a message, as it was read.
    pub(super) fn of(message: &'a Brief<'a>, brief: &'a RawValue) -> Self {
        Self { message, brief }
    }

    /// A part of this one, as it was read.
    pub(super) fn part(self, brief: &'a RawValue) -> Self {
        Self { brief, ..self }
    }

    /// Its text as it was sent.
    pub(super) fn get(self) -> &'a str {
        self.message.whole(self.brief.get())
    }

    /// Its text for reading it on.
    pub(super) fn brief(self) -> &'a str {
        self.brief.get()
    }

    /// Whether it is an object.
    pub(super) fn is_object(self) -> bool {
        self.brief().starts_with('{')
    }

    /// The string that it is, if it is one.
    pub(super) fn string(self) -> Option<String> {
        serde_json::from_str(self.get()).ok()
    }
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

fn ignored<'de, D: Deserializer<'de>>(deserializer: D) -> Result<bool, D::Error> {
    IgnoredAny::deserialize(deserializer).map(|_| true)
}

/// The message in a line, tolerating a byte-order mark and white space around
/// it (RFC 8259, sections 2 and 8.1); none if the line is not UTF-8.
pub(super) fn text(line: &[u8]) -> Option<&str> {
    let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
    let text = str::from_utf8(line).ok()?;
    Some(text.trim_matches([' ', '\t', '\r', '\n']))
}

/// What a line is that has no text.
pub(super) fn not_text() -> Incoming<'static> {
    Incoming::Invalid(Fault::parse("the message is not UTF-8"), None)
}

/// Takes one message apart that has nothing around it.
pub(super) fn read<'a>(message: &'a Brief<'a>) -> Incoming<'a> {
    let text = message.text();
    match text.bytes().next() {
        None => Incoming::Silence,
        Some(b'{') => match serde_json::from_str(text) {
            Ok(envelope) => classify(message, &envelope),
            // A member given twice: no telling which of the two was meant.
            Err(error) if error.is_data() && is_json(text) => Incoming::Invalid(
                Fault::invalid_request("a member of the message is given twice"),
                None,
            ),
            Err(_) => not_json(),
        },
        Some(b'[') if is_json(text) => Incoming::Batch(message.whole(text)),
        Some(_) if is_json(text) => {
            Incoming::Invalid(Fault::invalid_request("the message is not an object"), None)
        }
        Some(_) => not_json(),
    }
}

fn classify<'a>(message: &'a Brief<'a>, envelope: &Envelope<'a>) -> Incoming<'a> {
    let part = |brief: &'a RawValue| Part::of(message, brief);
    let id = match envelope.id.map(part).map(RequestId::read) {
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
    let version = envelope.jsonrpc.map(part).and_then(Part::string);
    if version.as_deref() != Some("2.0") {
        return Incoming::Invalid(Fault::invalid_request("jsonrpc must be \"2.0\""), id);
    }
    let Some(method) = part(method).string() else {
        return Incoming::Invalid(Fault::invalid_request("method must be a string"), id);
    };
    let params = envelope.params.map(part);
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
