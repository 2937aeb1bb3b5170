//! Any bytes as the lines of a client: no line ends the session, each leads to
//! what `expected` makes of it, and whoever is answered is answered once.

use std::collections::HashMap;

use preopen_contract::session::{
    Action, Call, Identity, Outcome, Protocol, Session, Ticket, ToolResult, Tools,
};

use super::expected::{Expected, Id, expected, id};
use super::json::{self, Kind, Value};

/// A line that begins with one of these settles a request before it is taken.
const FINISH_OLDEST: u8 = 1;
const FINISH_NEWEST: u8 = 2;
const STOP_OLDEST: u8 = 3;

/// Takes `data` line by line in one session, and as one line in another.
pub(crate) fn check(data: &[u8]) {
    let mut client = Client::new();
    for line in data.split(|byte| *byte == b'\n') {
        match line.first() {
            Some(&FINISH_OLDEST) => client.settle(0, &outcome(line)),
            Some(&FINISH_NEWEST) => {
                client.settle(client.waiting.len().wrapping_sub(1), &outcome(line));
            }
            Some(&STOP_OLDEST) => client.settle(0, &Outcome::Stopped),
            _ => {}
        }
        client.send(line);
    }
    client.end();

    let mut client = Client::new();
    client.send(data);
    client.end();
}

/// How a call ends, with text of the client's in it.
fn outcome(line: &[u8]) -> Outcome {
    let text = String::from_utf8_lossy(line).into_owned();
    match line.get(1) {
        Some(b'u') => Outcome::UnknownTool(text),
        Some(b'i') => Outcome::Internal,
        Some(b'r') => Outcome::Result(ToolResult::refusal(text)),
        _ => Outcome::Result(ToolResult {
            structured: Some(preopen_contract::json::text(&[text])),
            text: None,
            is_error: false,
        }),
    }
}

enum Waiting {
    List(Ticket),
    Call(Call),
}

impl Waiting {
    fn ticket(&self) -> &Ticket {
        match self {
            Self::List(ticket) => ticket,
            Self::Call(call) => &call.ticket,
        }
    }
}

/// Both sides of one session.
struct Client {
    session: Session,
    waiting: Vec<(Id, Waiting)>,
    /// The serial number of what holds an id.
    in_flight: HashMap<Id, u64>,
    last: u64,
}

impl Client {
    fn new() -> Self {
        let identity = Identity {
            name: "a \"name\"".into(),
            version: "1\u{2028}\n".into(),
            instructions: "none".into(),
        };
        Self {
            session: Session::new(identity, Protocol::Modern),
            waiting: Vec::new(),
            in_flight: HashMap::new(),
            last: 0,
        }
    }

    fn send(&mut self, line: &[u8]) {
        let action = self.session.receive(line);
        let expected = match expected(line) {
            Expected::Discover(id) | Expected::List(id) | Expected::Call(id, _)
                if self.in_flight.contains_key(&id) =>
            {
                Expected::Error(-32600, None)
            }
            Expected::Error(code, Some(id)) if self.in_flight.contains_key(&id) => {
                Expected::Error(if code == -32022 { code } else { -32600 }, None)
            }
            Expected::Cancel(id) if !self.in_flight.contains_key(&id) => Expected::Silence,
            expected => expected,
        };
        match (expected, action) {
            (Expected::Unknown, action) => self.unknown(action),
            (Expected::Silence, Action::Nothing) => {}
            (Expected::Error(code, id), Action::Reply(reply)) => {
                let told = error(&reply, id.as_ref());
                assert_eq!(told, code, "{reply}");
            }
            (Expected::Discover(id), Action::Reply(reply)) => result(&reply, &id),
            (Expected::List(id), Action::List(ticket)) => self.admit(id, Waiting::List(ticket)),
            (Expected::Call(id, expected), Action::Call(call)) => {
                assert_eq!(call.name, expected.name);
                assert_eq!(call.arguments, expected.arguments);
                let token = expected.token.as_ref().map(Id::written);
                assert_eq!(call.progress_token, token);
                assert!(call.bytes >= line.len());
                if let Some(token) = &call.progress_token {
                    self.progress(token);
                }
                self.admit(id, Waiting::Call(call));
            }
            (Expected::Cancel(id), Action::Cancel(serial)) => {
                assert_eq!(self.in_flight.remove(&id), Some(serial));
            }
            (expected, action) => panic!("expected {expected:?}, got {action:?}"),
        }
    }

    fn admit(&mut self, id: Id, waiting: Waiting) {
        let serial = waiting.ticket().serial();
        assert!(serial > self.last, "a serial number was used again");
        self.last = serial;
        self.in_flight.insert(id.clone(), serial);
        self.waiting.push((id, waiting));
    }

    /// Settles one request, twice: the second time there is nothing to say.
    fn settle(&mut self, at: usize, outcome: &Outcome) {
        if at >= self.waiting.len() {
            return;
        }
        let (id, waiting) = self.waiting.remove(at);
        let serial = waiting.ticket().serial();
        let is_open = self.in_flight.get(&id) == Some(&serial);
        if is_open {
            self.in_flight.remove(&id);
        }
        let finish = || match &waiting {
            Waiting::List(ticket) => self.session.list(ticket, &Tools::new("[]")),
            Waiting::Call(call) => self.session.finish(&call.ticket, outcome),
        };
        let is_silent = matches!((&waiting, outcome), (Waiting::Call(_), Outcome::Stopped));
        let reply = finish();
        assert_eq!(reply.is_some(), is_open && !is_silent);
        assert_eq!(finish(), None, "answered twice");
        match (reply, &waiting, outcome) {
            (None, ..) => {}
            (Some(reply), Waiting::Call(_), Outcome::UnknownTool(_)) => {
                assert_eq!(error(&reply, Some(&id)), -32602);
            }
            (Some(reply), Waiting::Call(_), Outcome::Internal) => {
                assert_eq!(error(&reply, Some(&id)), -32603);
            }
            (Some(reply), ..) => result(&reply, &id),
        }
    }

    fn end(&mut self) {
        while !self.waiting.is_empty() {
            self.settle(0, &outcome(b"\x01\xe2\x80\xa8"));
        }
        assert!(self.in_flight.is_empty(), "an id is never free again");
    }

    fn progress(&self, token: &str) {
        let line = self.session.progress(token, 7, "a\u{2029}\n");
        let message = one_line(&line);
        let params = message.member("params").expect("parameters");
        let told = params.member("progressToken").expect("a token");
        assert_eq!(told.raw, token);
    }

    /// The one rule for what nobody can judge: an answer is a message.
    fn unknown(&mut self, action: Action) {
        match action {
            Action::Reply(reply) => drop(one_line(&reply)),
            Action::List(ticket) => drop(self.session.list(&ticket, &Tools::new("[]"))),
            Action::Call(call) => drop(self.session.finish(&call.ticket, &Outcome::Stopped)),
            Action::Cancel(serial) => self.in_flight.retain(|_, other| *other != serial),
            Action::Many(actions) => actions.into_iter().for_each(|action| self.unknown(action)),
            Action::Nothing => {}
        }
    }
}

/// A line of the server's: one line, and one JSON-RPC message.
fn one_line(line: &str) -> Value<'_> {
    let text = line.strip_suffix('\n').expect("a line end");
    assert!(
        !text.contains(['\n', '\r', '\u{2028}', '\u{2029}']),
        "more than one line: {line:?}"
    );
    let message = json::read(text).expect("JSON");
    assert_eq!(
        message.member("jsonrpc").and_then(Value::text),
        Some("2.0"),
        "{line}"
    );
    message
}

/// An answer under the id that was sent, and nothing besides `what`.
fn answer<'a>(line: &'a str, sent: Option<&Id>, what: &str) -> Value<'a> {
    let mut message = one_line(line);
    let told = message.member("id").map(|told| id(told).expect("an id"));
    assert_eq!(told.as_ref(), sent, "{line}");
    let Kind::Object(members) = &mut message.kind else {
        panic!("no object: {line}");
    };
    let names: Vec<_> = members
        .iter()
        .map(|(name, _)| name.as_deref().expect("text"))
        .collect();
    let expected = ["jsonrpc", "id", what];
    let expected = expected
        .iter()
        .filter(|name| **name != "id" || sent.is_some());
    assert!(names.iter().eq(expected), "{line}");
    members.pop().expect("members").1
}

fn result(line: &str, id: &Id) {
    let result = answer(line, Some(id), "result");
    let complete = result.member("resultType").and_then(Value::text);
    assert_eq!(complete, Some("complete"), "{line}");
}

/// The code of an error.
fn error(line: &str, id: Option<&Id>) -> i32 {
    let error = answer(line, id, "error");
    let message = error.member("message").and_then(Value::text);
    assert!(message.is_some_and(|text| !text.is_empty()), "{line}");
    let code = error.member("code").expect("a code");
    code.raw.parse().expect("an integer")
}
