//! What a line must lead to, judged a second time from the whole message as a
//! tree: the order of the checks and their codes are those of JSON-RPC 2.0 and
//! of MCP 2026-07-28.

use preopen_contract::session::PROTOCOL_VERSION;

use super::json::{self, Kind, Trouble, Value};

const VERSION: &str = "io.modelcontextprotocol/protocolVersion";
const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";

/// The id of a request: a string by what it says, an integer by its digits.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Id {
    Text(String),
    Integer(String),
}

impl Id {
    /// As JSON.
    pub(crate) fn written(&self) -> String {
        match self {
            Self::Text(text) => preopen_contract::json::text(text),
            Self::Integer(digits) => digits.clone(),
        }
    }
}

/// What must become of a line, as long as its id is not in flight.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Expected {
    /// Anything: the second reader cannot tell.
    Unknown,
    Silence,
    Error(i32, Option<Id>),
    Discover(Id),
    List(Id),
    Call(Id, Call),
    Cancel(Id),
}

/// A call that is in order.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Call {
    pub(crate) name: String,
    pub(crate) arguments: String,
    pub(crate) token: Option<Id>,
}

pub(crate) fn id(value: &Value<'_>) -> Option<Id> {
    match &value.kind {
        Kind::Text(text) => text.clone().map(Id::Text),
        Kind::Number if value.raw.contains(['.', 'e', 'E']) => None,
        Kind::Number => Some(Id::Integer(value.raw.to_owned())),
        _ => None,
    }
}

/// Whether one of `names` is there twice, or a name is no text.
fn is_ambiguous(object: &Value<'_>, names: &[&str]) -> bool {
    let members = object.members().unwrap_or_default();
    let count = |name: &str| {
        let same = |(other, _): &&(Option<String>, Value<'_>)| other.as_deref() == Some(name);
        members.iter().filter(same).count()
    };
    is_misnamed(object) || names.iter().any(|name| count(name) > 1)
}

fn is_misnamed(object: &Value<'_>) -> bool {
    let members = object.members().unwrap_or_default();
    members.iter().any(|(name, _)| name.is_none())
}

/// What must become of `line`.
pub(crate) fn expected(line: &[u8]) -> Expected {
    let line = line.strip_prefix("\u{feff}".as_bytes()).unwrap_or(line);
    let Ok(text) = str::from_utf8(line) else {
        return Expected::Error(-32700, None);
    };
    if text.trim_matches([' ', '\t', '\r', '\n']).is_empty() {
        return Expected::Silence;
    }
    match json::read(text) {
        Err(Trouble::TooDeep) => Expected::Unknown,
        Err(Trouble::NotJson) => Expected::Error(-32700, None),
        Ok(message) => judge(&message),
    }
}

fn judge(message: &Value<'_>) -> Expected {
    if message.members().is_none() {
        return Expected::Error(-32600, None);
    }
    let known = ["jsonrpc", "id", "method", "params", "result", "error"];
    if is_misnamed(message) {
        // Which of the two is found first depends on where they stand.
        return Expected::Unknown;
    }
    if is_ambiguous(message, &known) {
        return Expected::Error(-32600, None);
    }
    let member = |name| message.member(name);
    let sent = member("id");
    let id = sent.and_then(id);
    let invalid = Expected::Error(-32600, id.clone());
    let Some(method) = member("method") else {
        let is_response = member("result").or(member("error")).is_some();
        return if is_response {
            Expected::Silence
        } else {
            invalid
        };
    };
    let is_2 = member("jsonrpc").and_then(Value::text) == Some("2.0");
    let (true, Some(method)) = (is_2, method.text()) else {
        return invalid;
    };
    match id {
        Some(id) => request(id, method, member("params")),
        None if sent.is_some() => invalid,
        None => notification(method, member("params")),
    }
}

const PARAMS: [&str; 6] = [
    "_meta",
    "name",
    "arguments",
    "cursor",
    "requestId",
    "protocolVersion",
];

fn notification(method: &str, params: Option<&Value<'_>>) -> Expected {
    params
        .filter(|params| method == "notifications/cancelled" && !is_ambiguous(params, &PARAMS))
        .and_then(|params| params.member("requestId"))
        .and_then(id)
        .map_or(Expected::Silence, Expected::Cancel)
}

fn request(id: Id, method: &str, params: Option<&Value<'_>>) -> Expected {
    let refused = |code, id| Expected::Error(code, Some(id));
    let in_order = |object: Option<&Value<'_>>, names: &[&str]| {
        object.is_none_or(|object| object.members().is_some() && !is_ambiguous(object, names))
    };
    let param = |name| params.and_then(|params| params.member(name));
    let meta = param("_meta");
    let said = |name| meta.and_then(|meta| meta.member(name));
    if !in_order(params, &PARAMS) || !in_order(meta, &[VERSION, CAPABILITIES, "progressToken"]) {
        return refused(-32602, id);
    }
    match said(VERSION) {
        None if method == "initialize" => return refused(-32022, id),
        None => return refused(-32602, id),
        Some(version) => match version.text() {
            None => return refused(-32602, id),
            Some(text) if text != PROTOCOL_VERSION => return refused(-32022, id),
            Some(_) => {}
        },
    }
    if said(CAPABILITIES).and_then(Value::members).is_none() {
        return refused(-32602, id);
    }
    match method {
        "server/discover" => Expected::Discover(id),
        "tools/list" if param("cursor").is_some_and(|cursor| cursor.raw != "null") => {
            refused(-32602, id)
        }
        "tools/list" => Expected::List(id),
        "tools/call" => {
            let arguments = match param("arguments") {
                None => Some("{}"),
                Some(arguments) if arguments.raw == "null" => Some("{}"),
                Some(arguments) => arguments.members().map(|_| arguments.raw),
            };
            let (Some(name), Some(arguments)) = (param("name").and_then(Value::text), arguments)
            else {
                return refused(-32602, id);
            };
            let token = said("progressToken")
                .and_then(self::id)
                .filter(|token| token.written().len() <= 256);
            let call = Call {
                name: name.to_owned(),
                arguments: arguments.to_owned(),
                token,
            };
            Expected::Call(id, call)
        }
        _ => refused(-32601, id),
    }
}
