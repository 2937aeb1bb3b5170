//! What a message asks for, judged a second time from the whole of it as a
//! tree: the order of the checks and their codes are those of JSON-RPC 2.0 and
//! of each revision of MCP.

use preopen_contract::session::{PROTOCOL_VERSION, Protocol};

use super::json::{self, Kind, Trouble, Value};

const VERSION: &str = "io.modelcontextprotocol/protocolVersion";
const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
const LEGACY: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];
const NEWEST: &str = LEGACY[3];

/// The id of a request: a string by what it says, an integer by its digits.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Id {
    Text(String),
    Integer(String),
}

impl Id {
    pub(crate) fn read(value: &Value<'_>) -> Option<Self> {
        match &value.kind {
            Kind::Text(text) => text.clone().map(Self::Text),
            Kind::Number if value.raw.contains(['.', 'e', 'E']) => None,
            Kind::Number => Some(Self::Integer(value.raw.to_owned())),
            _ => None,
        }
    }

    /// As JSON.
    pub(crate) fn written(&self) -> String {
        match self {
            Self::Text(text) => preopen_contract::json::text(text),
            Self::Integer(digits) => digits.clone(),
        }
    }
}

/// A line, taken apart.
pub(crate) enum Line<'a> {
    /// The second reader cannot tell.
    Unknown,
    Blank,
    Broken,
    One(Value<'a>),
    Array(Vec<Value<'a>>),
}

/// The revision that a request is of: the modern one, or a legacy one by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Era {
    Modern,
    Legacy(&'static str),
}

/// A message, judged.
pub(crate) enum Judged {
    Silence,
    /// No request; the code, if there is only one, and the id.
    Invalid(Option<i32>, Option<Id>),
    /// A cancellation, where it names a request.
    Notification(Option<Id>),
    /// What it asks for, or the code of the error.
    Request(Id, Era, Result<Asked, i32>),
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Asked {
    Discover,
    Ping,
    /// And the version that is spoken from now on.
    Initialize(&'static str),
    List,
    Call(Call),
}

/// A call that is in order.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Call {
    pub(crate) name: String,
    pub(crate) arguments: String,
    pub(crate) token: Option<String>,
}

pub(crate) fn line(line: &[u8]) -> Line<'_> {
    let line = line.strip_prefix("\u{feff}".as_bytes()).unwrap_or(line);
    let Ok(text) = str::from_utf8(line) else {
        return Line::Broken;
    };
    if text.trim_matches([' ', '\t', '\r', '\n']).is_empty() {
        return Line::Blank;
    }
    match json::read(text) {
        Err(Trouble::TooDeep) => Line::Unknown,
        Err(Trouble::NotJson) => Line::Broken,
        Ok(Value {
            kind: Kind::Array(elements),
            ..
        }) => Line::Array(elements),
        Ok(message) => Line::One(message),
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

/// A connection, as far as it matters to what is asked for.
#[derive(Clone, Copy)]
pub(crate) struct Connection {
    pub(crate) protocol: Protocol,
    /// The version of the last handshake.
    pub(crate) version: Option<&'static str>,
}

impl Connection {
    pub(crate) fn judge(self, message: &Value<'_>) -> Judged {
        if message.members().is_none() {
            return Judged::Invalid(Some(-32600), None);
        }
        let known = ["jsonrpc", "id", "method", "params", "result", "error"];
        if is_misnamed(message) {
            // Not JSON or a member given twice: whichever is found first.
            return Judged::Invalid(None, None);
        }
        if is_ambiguous(message, &known) {
            return Judged::Invalid(Some(-32600), None);
        }
        let member = |name| message.member(name);
        let sent = member("id");
        let id = sent.and_then(Id::read);
        let invalid = Judged::Invalid(Some(-32600), id.clone());
        let Some(method) = member("method") else {
            let is_response = member("result").or(member("error")).is_some();
            return if is_response {
                Judged::Silence
            } else {
                invalid
            };
        };
        let is_2 = member("jsonrpc").and_then(Value::text) == Some("2.0");
        let (true, Some(method)) = (is_2, method.text()) else {
            return invalid;
        };
        match id {
            Some(id) => self.request(id, method, member("params")),
            None if sent.is_some() => invalid,
            None => Judged::Notification(cancelled(method, member("params"))),
        }
    }

    fn request(self, id: Id, method: &str, params: Option<&Value<'_>>) -> Judged {
        let sent = Sent::read(params, self.version.is_some());
        let is_modern = match self.protocol {
            Protocol::Modern => true,
            Protocol::Legacy => false,
            Protocol::Both => sent.as_ref().is_some_and(|sent| {
                let names_itself = [VERSION, CAPABILITIES]
                    .iter()
                    .any(|name| sent.said(name).is_some());
                method == "server/discover" || names_itself
            }),
        };
        if is_modern {
            let asked = sent.map_or(Err(-32602), |sent| modern(method, &sent));
            Judged::Request(id, Era::Modern, asked)
        } else {
            let era = Era::Legacy(self.version.unwrap_or(NEWEST));
            Judged::Request(id, era, self.legacy(method, sent))
        }
    }

    fn legacy(self, method: &str, sent: Option<Sent<'_, '_>>) -> Result<Asked, i32> {
        let families = [
            "logging/",
            "resources/",
            "prompts/",
            "completion/",
            "roots/",
        ];
        let is_known =
            method == "server/discover" || families.iter().any(|f| method.starts_with(f));
        match (method, sent) {
            ("initialize", sent) => {
                let asked =
                    sent.and_then(|sent| sent.param("protocolVersion")?.text().map(str::to_owned));
                let spoken = LEGACY
                    .iter()
                    .find(|version| Some(**version) == asked.as_deref());
                Ok(Asked::Initialize(spoken.unwrap_or(&NEWEST)))
            }
            ("ping", _) => Ok(Asked::Ping),
            ("tools/list" | "tools/call", None) => Err(-32602),
            ("tools/list", Some(sent)) => sent.list(),
            ("tools/call", Some(sent)) => sent.call(),
            _ if self.version.is_none() && !is_known => Err(-32600),
            _ => Err(-32601),
        }
    }
}

fn cancelled(method: &str, params: Option<&Value<'_>>) -> Option<Id> {
    params
        .filter(|params| method == "notifications/cancelled" && !is_ambiguous(params, &PARAMS))
        .and_then(|params| params.member("requestId"))
        .and_then(Id::read)
}

fn modern(method: &str, sent: &Sent<'_, '_>) -> Result<Asked, i32> {
    match sent.said(VERSION).map(Value::text) {
        None if method == "initialize" => return Err(-32022),
        None | Some(None) => return Err(-32602),
        Some(Some(version)) if version != PROTOCOL_VERSION => return Err(-32022),
        Some(Some(_)) => {}
    }
    if sent.said(CAPABILITIES).and_then(Value::members).is_none() {
        return Err(-32602);
    }
    match method {
        "server/discover" => Ok(Asked::Discover),
        "tools/list" => sent.list(),
        "tools/call" => sent.call(),
        _ => Err(-32601),
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

/// The parameters of a request.
struct Sent<'a, 't> {
    params: Option<&'a Value<'t>>,
    meta: Option<&'a Value<'t>>,
}

impl<'a, 't> Sent<'a, 't> {
    /// None where they are no objects, or one is ambiguous.
    fn read(params: Option<&'a Value<'t>>, null_is_nothing: bool) -> Option<Self> {
        let given = |value: &&Value<'_>| !(null_is_nothing && value.raw == "null");
        let in_order = |object: Option<&Value<'_>>, names: &[&str]| {
            object.is_none_or(|object| object.members().is_some() && !is_ambiguous(object, names))
        };
        let params = params.filter(given);
        let meta = params
            .and_then(|params| params.member("_meta"))
            .filter(given);
        let is_well =
            in_order(params, &PARAMS) && in_order(meta, &[VERSION, CAPABILITIES, "progressToken"]);
        is_well.then_some(Self { params, meta })
    }

    fn param(&self, name: &str) -> Option<&'a Value<'t>> {
        self.params.and_then(|params| params.member(name))
    }

    fn said(&self, name: &str) -> Option<&'a Value<'t>> {
        self.meta.and_then(|meta| meta.member(name))
    }

    fn list(&self) -> Result<Asked, i32> {
        match self.param("cursor") {
            Some(cursor) if cursor.raw != "null" => Err(-32602),
            _ => Ok(Asked::List),
        }
    }

    fn call(&self) -> Result<Asked, i32> {
        let arguments = match self.param("arguments") {
            None => Some("{}"),
            Some(arguments) if arguments.raw == "null" => Some("{}"),
            Some(arguments) => arguments.members().map(|_| arguments.raw),
        };
        let name = self.param("name").and_then(Value::text);
        let (Some(name), Some(arguments)) = (name, arguments) else {
            return Err(-32602);
        };
        let token = self.said("progressToken").and_then(Id::read);
        Ok(Asked::Call(Call {
            name: name.to_owned(),
            arguments: arguments.to_owned(),
            token: token
                .map(|token| token.written())
                .filter(|token| token.len() <= 256),
        }))
    }
}
