//! Any bytes as the lines of a client, of either era: no line ends the session,
//! each leads to what a second reading of it demands, and whoever is answered
//! is answered once.

use std::collections::HashMap;

use preopen_contract::session::{
    Action, Call, Identity, Outcome, Protocol, Session, Ticket, ToolResult, Tools,
};

use super::answer::{Answer, Shape, TOOLS, elements, one_line};
use super::expected::{self, Asked, Connection, Era, Id, Judged, Line};
use super::json::Value;

/// A line that begins with one of these settles a request before it is taken.
const FINISH_OLDEST: u8 = 1;
const FINISH_NEWEST: u8 = 2;
const STOP_OLDEST: u8 = 3;

/// The most messages that a batch may hold.
const BATCH: usize = 256;

/// Takes `data` line by line in one session, and as one line in another.
pub(crate) fn check(data: &[u8]) {
    for protocol in [Protocol::Modern, Protocol::Legacy, Protocol::Both] {
        converse(protocol, data.split(|byte| *byte == b'\n'));
        converse(protocol, [data]);
    }
}

fn converse<'a>(protocol: Protocol, lines: impl IntoIterator<Item = &'a [u8]>) {
    let mut client = Client::new(protocol);
    for line in lines {
        match line.first() {
            Some(&FINISH_OLDEST) => client.settle(0, &outcome(line)),
            Some(&FINISH_NEWEST) => {
                client.settle(client.waiting.len().wrapping_sub(1), &outcome(line));
            }
            Some(&STOP_OLDEST) => client.settle(0, &Outcome::Stopped),
            _ => {}
        }
        if client.send(line).is_none() {
            return;
        }
    }
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

/// What a line must lead to.
#[derive(Debug)]
enum Due {
    Line(Answer),
    Array(Vec<Answer>),
    List(Id, Era),
    Call(Id, Era, expected::Call),
    Cancel(u64),
}

/// Where an answer belongs: a batch, and the place in it.
type Place = Option<(usize, usize)>;

/// A request that waits.
struct Waiting {
    id: Id,
    era: Era,
    place: Place,
    asked: Admitted,
}

enum Admitted {
    List(Ticket),
    Call(Call),
}

impl Waiting {
    fn serial(&self) -> u64 {
        match &self.asked {
            Admitted::List(ticket) => ticket.serial(),
            Admitted::Call(call) => call.ticket.serial(),
        }
    }
}

/// Both sides of one session.
struct Client {
    session: Session,
    connection: Connection,
    waiting: Vec<Waiting>,
    /// Who holds an id: the serial number, and where the answer belongs.
    in_flight: HashMap<Id, (u64, Place)>,
    /// The answers of each batch, as far as they are known: a place may stay
    /// empty. Those that are complete are gone.
    batches: HashMap<usize, Vec<Option<Option<Answer>>>>,
    last_batch: usize,
    last: u64,
}

impl Client {
    fn new(protocol: Protocol) -> Self {
        let identity = Identity {
            name: "a \"name\"".into(),
            version: "1\u{2028}\n".into(),
            instructions: "none".into(),
        };
        Self {
            session: Session::new(identity, protocol),
            connection: Connection {
                protocol,
                version: None,
            },
            waiting: Vec::new(),
            in_flight: HashMap::new(),
            batches: HashMap::new(),
            last_batch: 0,
            last: 0,
        }
    }

    /// Sends one line and checks what comes of it; none where the second
    /// reader could not tell, so that the two no longer agree on anything.
    fn send(&mut self, line: &[u8]) -> Option<()> {
        let mut actions = match self.session.receive(line) {
            Action::Many(actions) => actions,
            action => vec![action],
        }
        .into_iter()
        .filter(|action| !matches!(action, Action::Nothing));
        let has_batches = matches!(self.connection.version, Some("2024-11-05" | "2025-03-26"));
        match expected::line(line) {
            Line::Unknown => {
                actions.for_each(|action| match action {
                    Action::Reply(reply) => drop(one_line(&reply)),
                    action => drop(action),
                });
                return None;
            }
            Line::Blank => {}
            Line::Broken => {
                let due = Due::Line(Answer::Error(Some(-32700), None));
                self.meet(due, actions.next(), None, line);
            }
            Line::One(message) => self.message(&message, None, &mut actions, line),
            Line::Array(messages) if has_batches && (1..=BATCH).contains(&messages.len()) => {
                self.last_batch += 1;
                let batch = self.last_batch;
                // One place more, filled last, keeps it open until all were taken.
                let places = (0..=messages.len()).map(|_| None).collect();
                self.batches.insert(batch, places);
                for (at, message) in messages.iter().enumerate() {
                    self.message(message, Some((batch, at)), &mut actions, line);
                }
                let due = self.fill(Some((batch, messages.len())), None);
                self.meet_all(due, &mut actions, None, line);
            }
            Line::Array(_) => {
                let due = Due::Line(Answer::Error(Some(-32600), None));
                self.meet(due, actions.next(), None, line);
            }
        }
        let more: Vec<_> = actions.collect();
        assert!(more.is_empty(), "nothing more was due: {more:?}");
        Some(())
    }

    /// Takes one message, in a batch or alone.
    fn message(
        &mut self,
        message: &Value<'_>,
        place: Place,
        actions: &mut impl Iterator<Item = Action>,
        line: &[u8],
    ) {
        let due = match self.connection.judge(message) {
            Judged::Silence => self.fill(place, None),
            Judged::Invalid(code, id) => {
                let id = id.filter(|id| !self.in_flight.contains_key(id));
                self.fill(place, Some(Answer::Error(code, id)))
            }
            Judged::Notification(cancels) => {
                let own = self.fill(place, None);
                assert!(own.is_none(), "a batch is complete before its end");
                let Some((serial, place)) = cancels.and_then(|id| self.in_flight.remove(&id))
                else {
                    return;
                };
                self.meet(Due::Cancel(serial), actions.next(), None, line);
                // It may have been what a batch was waiting for.
                place.and_then(|place| self.fill(Some(place), None))
            }
            Judged::Request(id, era, asked) => {
                let asked = match (place, era, asked) {
                    (Some(_), Era::Modern, Ok(_)) | (Some(_), _, Ok(Asked::Initialize(_))) => {
                        Err(-32600)
                    }
                    (_, _, asked) => asked,
                };
                self.request(id, era, asked, place)
            }
        };
        self.meet_all(due, actions, place, line);
    }

    fn request(
        &mut self,
        id: Id,
        era: Era,
        asked: Result<Asked, i32>,
        place: Place,
    ) -> Option<Due> {
        if self.in_flight.contains_key(&id) {
            let code = if asked == Err(-32022) { -32022 } else { -32600 };
            return self.fill(place, Some(Answer::Error(Some(code), None)));
        }
        let shape = match asked {
            Err(code) => return self.fill(place, Some(Answer::Error(Some(code), Some(id)))),
            Ok(Asked::List) => return Some(Due::List(id, era)),
            Ok(Asked::Call(call)) => return Some(Due::Call(id, era, call)),
            Ok(Asked::Discover) => Shape::Discover,
            Ok(Asked::Ping) => Shape::Pong,
            Ok(Asked::Initialize(version)) => {
                self.connection.version = Some(version);
                Shape::Initialize(version)
            }
        };
        self.fill(place, Some(Answer::Result(id, shape)))
    }

    /// An answer, or none, at its place: what is due then.
    fn fill(&mut self, place: Place, answer: Option<Answer>) -> Option<Due> {
        let Some((batch, at)) = place else {
            return answer.map(Due::Line);
        };
        let places = self.batches.get_mut(&batch).expect("an open batch");
        assert!(places[at].is_none(), "a place is filled twice");
        places[at] = Some(answer);
        if places.iter().any(Option::is_none) {
            return None;
        }
        let answers: Vec<_> = self
            .batches
            .remove(&batch)?
            .into_iter()
            .flatten()
            .flatten()
            .collect();
        (!answers.is_empty()).then_some(Due::Array(answers))
    }

    fn meet_all(
        &mut self,
        due: Option<Due>,
        actions: &mut impl Iterator<Item = Action>,
        place: Place,
        line: &[u8],
    ) {
        if let Some(due) = due {
            self.meet(due, actions.next(), place, line);
        }
    }

    /// Checks that an action is what is due.
    fn meet(&mut self, due: Due, action: Option<Action>, place: Place, line: &[u8]) {
        match (due, action) {
            (due @ (Due::Line(_) | Due::Array(_)), Some(Action::Reply(reply))) => {
                check_line(&due, &reply)
            }
            (Due::List(id, era), Some(Action::List(ticket))) => {
                self.admit(id, era, place, Admitted::List(ticket));
            }
            (Due::Call(id, era, due), Some(Action::Call(call))) => {
                assert_eq!(call.name, due.name);
                assert_eq!(call.arguments, due.arguments);
                assert_eq!(call.progress_token, due.token);
                assert!(place.is_some() || call.bytes >= line.len());
                if let Some(token) = &call.progress_token {
                    self.progress(token);
                }
                self.admit(id, era, place, Admitted::Call(call));
            }
            (Due::Cancel(due), Some(Action::Cancel(serial))) => assert_eq!(serial, due),
            (due, action) => panic!("due is {due:?}, got {action:?}"),
        }
    }

    fn admit(&mut self, id: Id, era: Era, place: Place, asked: Admitted) {
        let waiting = Waiting {
            id,
            era,
            place,
            asked,
        };
        let serial = waiting.serial();
        assert!(serial > self.last, "a serial number was used again");
        self.last = serial;
        self.in_flight.insert(waiting.id.clone(), (serial, place));
        self.waiting.push(waiting);
    }

    /// Settles one request, twice: the second time there is nothing to say.
    fn settle(&mut self, at: usize, outcome: &Outcome) {
        if at >= self.waiting.len() {
            return;
        }
        let waiting = self.waiting.remove(at);
        let Waiting {
            id,
            era,
            place,
            asked,
        } = &waiting;
        let is_open = self
            .in_flight
            .get(id)
            .is_some_and(|(serial, _)| *serial == waiting.serial());
        let answer = match (asked, outcome) {
            (Admitted::List(_), _) => Some(Answer::Result(id.clone(), Shape::List(*era))),
            (_, Outcome::Stopped) => None,
            (_, Outcome::UnknownTool(_)) => Some(Answer::Error(Some(-32602), Some(id.clone()))),
            (_, Outcome::Internal) => Some(Answer::Error(Some(-32603), Some(id.clone()))),
            (_, Outcome::Result(result)) => {
                let shape = Shape::Call(*era, result.structured.is_some());
                Some(Answer::Result(id.clone(), shape))
            }
        };
        let due = if is_open {
            self.in_flight.remove(id);
            self.fill(*place, answer)
        } else {
            None
        };
        let tools = Tools::new(TOOLS);
        let finish = || match asked {
            Admitted::List(ticket) => self.session.list(ticket, &tools),
            Admitted::Call(call) => self.session.finish(&call.ticket, outcome),
        };
        match (due, finish()) {
            (None, None) => {}
            (Some(due), Some(reply)) => check_line(&due, &reply),
            (due, reply) => panic!("due is {due:?}, got {reply:?}"),
        }
        assert_eq!(finish(), None, "answered twice");
    }

    fn end(&mut self) {
        while !self.waiting.is_empty() {
            self.settle(0, &outcome(b"\x01\xe2\x80\xa8"));
        }
        assert!(self.in_flight.is_empty(), "an id is never free again");
        assert!(self.batches.is_empty(), "a batch is never complete");
        assert_eq!(self.session.held(), 0, "answers are kept for nobody");
    }

    fn progress(&self, token: &str) {
        let line = self.session.progress(token, 7, "a\u{2029}\n");
        let message = one_line(&line);
        let params = message.member("params").expect("parameters");
        let told = params.member("progressToken").expect("a token");
        assert_eq!(told.raw, token);
    }
}

fn check_line(due: &Due, reply: &str) {
    match due {
        Due::Line(answer) => answer.check(&one_line(reply)),
        Due::Array(answers) => {
            let told = elements(one_line(reply));
            assert_eq!(told.len(), answers.len(), "{reply}");
            for (answer, told) in answers.iter().zip(&told) {
                answer.check(told);
            }
        }
        other => panic!("due is {other:?}, got {reply}"),
    }
}
