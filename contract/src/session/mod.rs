//! The protocol as a machine without I/O: a line comes in, an [`Action`] goes
//! out; the outcome of a call comes in, a line goes out. It knows JSON-RPC and
//! MCP, and neither threads, pipes nor what a tool does. The native host and
//! the component on its own drive the very same code.

mod action;
mod batch;
mod era;
mod id;
mod legacy;
mod message;
mod modern;
mod reply;
mod request;
mod results;
mod state;
mod tools;

use std::sync::{Mutex, MutexGuard, PoisonError};

pub use action::{Action, Call, Ticket};
use batch::{Batch, Place};
pub use era::Protocol;
use era::{Era, Version};
pub use id::RequestId;
use message::{Incoming, Part};
use reply::Fault;
pub use reply::{Outcome, ToolResult};
use request::{Null, Request, Sent};
use state::State;
pub use tools::Tools;

use crate::quoted::Brief;

/// The revision of the modern era.
pub const PROTOCOL_VERSION: &str = "2026-07-28";

/// Who the server says it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// The program's name.
    pub name: String,
    /// The program's version.
    pub version: String,
    /// What a model should know before it calls the first tool.
    pub instructions: String,
}

/// One connection. Revision 2026-07-28 remembers nothing of a request but that
/// it is in flight; the earlier ones settle on a version as well, and some of
/// them gather the answers of a batch.
#[derive(Debug)]
pub struct Session {
    identity: Identity,
    protocol: Protocol,
    state: Mutex<State>,
}

impl Session {
    /// A connection on which nothing was said yet.
    #[must_use]
    pub fn new(identity: Identity, protocol: Protocol) -> Self {
        Self {
            identity,
            protocol,
            state: Mutex::default(),
        }
    }

    /// Takes one line, with or without its line end. Lines are taken one after
    /// the other; everything else may happen meanwhile.
    #[must_use]
    pub fn receive(&self, line: &[u8]) -> Action {
        let Some(text) = message::text(line) else {
            return self.message(message::not_text(), line.len(), None);
        };
        match message::read(&Brief::of(text)) {
            Incoming::Batch(array) if self.has_batches() => self.batch(array),
            incoming => self.message(incoming, line.len(), None),
        }
    }

    fn has_batches(&self) -> bool {
        self.lock().version.is_some_and(Version::has_batches)
    }

    /// Takes the messages of a batch. Its line is written when the last answer
    /// is known, be it in here.
    fn batch(&self, array: &str) -> Action {
        let messages = match batch::split(array) {
            Ok(messages) => messages,
            Err(fault) => return Action::Reply(reply::error(None, &fault)),
        };
        // One place more than there are messages: filled last, it keeps the
        // batch open until each of them was taken.
        let places = messages.len() + 1;
        let batch = self.lock().begin(places);
        let mut actions = Vec::new();
        for (at, message) in messages.iter().enumerate() {
            let message = message.get();
            let place = Some(Place { batch, at });
            let brief = Brief::of(message);
            match self.message(message::read(&brief), message.len(), place) {
                Action::Nothing => {}
                Action::Many(more) => actions.extend(more),
                action => actions.push(action),
            }
        }
        let at = messages.len();
        let line = self.lock().fill(Place { batch, at }, None);
        actions.extend(line.map(Action::Reply));
        Action::all(actions)
    }

    /// Takes a message of so many bytes, whose answer belongs to `place`.
    fn message(&self, incoming: Incoming<'_>, bytes: usize, place: Option<Place>) -> Action {
        match incoming {
            Incoming::Silence => self.answer(place, None),
            Incoming::Batch(_) => {
                let fault = Fault::invalid_request(if place.is_none() {
                    "batches are not served; send one message a line"
                } else {
                    "the message is not an object"
                });
                self.answer(place, Some(reply::error(None, &fault)))
            }
            Incoming::Invalid(fault, id) => {
                let id = id.filter(|id| !self.lock().is_in_flight(id));
                self.answer(place, Some(reply::error(id.as_ref(), &fault)))
            }
            Incoming::Notification { method, params } => {
                // Its place in a batch stays empty.
                let _ = self.answer(place, None);
                self.notification(&method, params)
            }
            Incoming::Request { id, method, params } => {
                let (era, judged) = self.judge(&method, params);
                let judged = match place {
                    None => judged,
                    Some(_) => judged.and_then(|request| batched(era, request)),
                };
                self.request(id, era, judged, bytes, place)
            }
        }
    }

    /// Which era a request is of, and what it asks for.
    fn judge(&self, method: &str, params: Option<Part<'_>>) -> (Era, Result<Request, Fault>) {
        let version = self.lock().version;
        let null = match version {
            None => Null::Wrong,
            Some(_) => Null::Absent,
        };
        let sent = Sent::read(params, null);
        let is_modern = match self.protocol {
            Protocol::Modern => true,
            Protocol::Legacy => false,
            Protocol::Both => sent
                .as_ref()
                .is_ok_and(|sent| modern::is_meant(method, sent)),
        };
        if is_modern {
            let judged = sent.and_then(|sent| modern::request(&self.identity, method, &sent));
            (Era::Modern, judged)
        } else {
            let era = Era::Legacy(version.unwrap_or(Version::NEWEST));
            (era, legacy::request(version, method, sent))
        }
    }

    fn request(
        &self,
        id: RequestId,
        era: Era,
        judged: Result<Request, Fault>,
        bytes: usize,
        place: Option<Place>,
    ) -> Action {
        if self.lock().is_in_flight(&id) {
            let fault = judged
                .err()
                .filter(Fault::is_about_version)
                .unwrap_or_else(|| {
                    Fault::invalid_request("a request with this id is still in flight")
                });
            return self.answer(place, Some(reply::error(None, &fault)));
        }
        let result = match judged {
            Err(fault) => return self.answer(place, Some(reply::error(Some(&id), &fault))),
            Ok(Request::Answer(result)) => result,
            Ok(Request::Initialize(version)) => {
                self.lock().version = Some(version);
                results::initialize(&self.identity, version)
            }
            Ok(Request::List) => return Action::List(self.admit(id, era, place)),
            Ok(Request::Call(call)) => {
                let bytes = bytes + id.bytes();
                return Action::Call(Call {
                    ticket: self.admit(id, era, place),
                    name: call.name,
                    arguments: call.arguments,
                    progress_token: call.progress_token,
                    bytes,
                });
            }
        };
        self.answer(place, Some(reply::result(&id, &result)))
    }

    /// Answers at once, or not at all.
    fn answer(&self, place: Option<Place>, line: Option<String>) -> Action {
        let line = match place {
            Some(place) => self.lock().fill(place, line),
            None => line,
        };
        line.map_or(Action::Nothing, Action::Reply)
    }

    /// The error for a line that was longer than the host keeps.
    #[must_use]
    pub fn too_long(&self, limit: &str) -> String {
        reply::error(
            None,
            &Fault::invalid_request(format!(
                "the message is longer than {limit} (--max-request-bytes)"
            )),
        )
    }

    /// The answer to `tools/list`: the line to write, as [`Session::finish`] says.
    #[must_use]
    pub fn list(&self, ticket: &Ticket, tools: &Tools) -> Option<String> {
        self.settle(ticket, || {
            let tools = tools.of(ticket.era);
            let result = results::list(&self.identity, ticket.era, tools);
            Some(reply::result(&ticket.id, &result))
        })
    }

    /// The line to write when a call has ended: its answer, or that of the whole
    /// batch if this was the last of it. There is none when the call was
    /// cancelled or stopped, or others of the batch are still to come.
    #[must_use]
    pub fn finish(&self, ticket: &Ticket, outcome: &Outcome) -> Option<String> {
        let id = &ticket.id;
        self.settle(ticket, || match outcome {
            Outcome::Result(result) => {
                let bytes = results::tool_bytes(result);
                Some(reply::result_of(id, bytes, |out| {
                    results::tool(out, &self.identity, ticket.era, result);
                }))
            }
            Outcome::UnknownTool(name) => Some(reply::error(Some(id), &Fault::unknown_tool(name))),
            Outcome::Internal => Some(reply::error(Some(id), &Fault::internal())),
            Outcome::Stopped => None,
        })
    }

    /// Bytes of answers that wait for the rest of their batch. They go as calls
    /// end; as long as there are many, no more lines should be taken.
    #[must_use]
    pub fn held(&self) -> usize {
        self.lock().held()
    }

    /// A word on how far a call is, for the client that gave `token`, which is
    /// JSON. `progress` must be more than the last time.
    #[must_use]
    pub fn progress(&self, token: &str, progress: u64, message: &str) -> String {
        reply::progress(token, progress, message)
    }

    /// Takes note of a request in flight. Only [`Session::receive`] does, one
    /// line at a time, so the id is still free.
    fn admit(&self, id: RequestId, era: Era, place: Option<Place>) -> Ticket {
        let serial = self.lock().admit(id.clone(), place);
        Ticket { id, serial, era }
    }

    /// The error for a message at which the server itself failed.
    #[must_use]
    pub fn failed(&self) -> String {
        reply::error(None, &Fault::internal())
    }

    /// Gives a request the answer that `answer` makes, if it is still to have
    /// one; the line to write. Making it may take long: a request that is
    /// cancelled meanwhile has none, and one whose answer cannot be made can
    /// still be given another.
    fn settle(&self, ticket: &Ticket, answer: impl FnOnce() -> Option<String>) -> Option<String> {
        if !self.lock().is_open(&ticket.id, ticket.serial) {
            return None;
        }
        let line = answer();
        let mut state = self.lock();
        let request = state.settle(&ticket.id, ticket.serial)?;
        let Some(place) = request.place else {
            return line;
        };
        let line = line.map(|line| {
            if state.has_room(place, line.len()) {
                line
            } else {
                reply::error(Some(&ticket.id), &Batch::no_room())
            }
        });
        state.fill(place, line)
    }

    fn notification(&self, method: &str, params: Option<Part<'_>>) -> Action {
        if method != "notifications/cancelled" {
            return Action::Nothing;
        }
        let Some(id) = request::cancelled(params) else {
            return Action::Nothing;
        };
        let mut state = self.lock();
        let Some(cancelled) = state.withdraw(&id) else {
            return Action::Nothing;
        };
        let line = cancelled.place.and_then(|place| state.fill(place, None));
        let mut actions = vec![Action::Cancel(cancelled.serial)];
        actions.extend(line.map(Action::Reply));
        Action::all(actions)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Nothing in here panics half-way through a change.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A request inside a batch, if it may be there.
fn batched(era: Era, request: Request) -> Result<Request, Fault> {
    match (era, &request) {
        (Era::Modern, _) => Err(Fault::invalid_request(format!(
            "revision {PROTOCOL_VERSION} has no batches; send the request on a line of its own"
        ))),
        (Era::Legacy(_), Request::Initialize(_)) => Err(Fault::invalid_request(
            "initialize must not be part of a batch",
        )),
        (Era::Legacy(_), _) => Ok(request),
    }
}

#[cfg(test)]
mod tests;
