//! The protocol as a machine without I/O: a line comes in, an [`Action`] goes
//! out; the outcome of a call comes in, a line goes out. It knows JSON-RPC and
//! MCP, and neither threads, pipes nor what a tool does. The native host and
//! the component on its own drive the very same code.

mod id;
mod message;
mod modern;
mod reply;

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

pub use id::RequestId;
use message::Incoming;
use reply::Fault;
pub use reply::{Outcome, ToolResult};

/// The one protocol revision spoken here.
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

/// What to do about a line.
#[derive(Debug)]
pub enum Action {
    /// Nothing, and nothing is to be answered.
    Nothing,
    /// Write this line; its LF is included.
    Reply(String),
    /// Write what [`Session::list`] makes of the tools served.
    List(Ticket),
    /// Run this tool call, then write what [`Session::finish`] says.
    Call(Call),
    /// Stop the call whose ticket has this serial number; it gets no answer.
    Cancel(u64),
}

/// A request that waits for its answer.
#[derive(Debug)]
pub struct Ticket {
    id: RequestId,
    serial: u64,
}

impl Ticket {
    /// A number no other request of this session has, also where a client uses
    /// an id again.
    #[must_use]
    pub fn serial(&self) -> u64 {
        self.serial
    }
}

/// A tool call as the client asked for it.
#[derive(Debug)]
pub struct Call {
    /// What to answer to.
    pub ticket: Ticket,
    /// The tool's name, known or not.
    pub name: String,
    /// The text of a JSON object, at any nesting depth.
    pub arguments: String,
    /// The token under which the client wants to hear of progress, as JSON; at
    /// most 256 bytes.
    pub progress_token: Option<String>,
    /// What the call holds until it is answered, in bytes: its line, and its id
    /// once more for the answer.
    pub bytes: usize,
}

/// One connection. Revision 2026-07-28 remembers nothing of a request but that
/// it is in flight, so that is all there is in here.
#[derive(Debug)]
pub struct Session {
    identity: Identity,
    in_flight: Mutex<InFlight>,
}

#[derive(Debug, Default)]
struct InFlight {
    serials: HashMap<RequestId, u64>,
    last: u64,
}

impl Session {
    /// A connection on which nothing was said yet.
    #[must_use]
    pub fn new(identity: Identity) -> Self {
        Self {
            identity,
            in_flight: Mutex::default(),
        }
    }

    /// Takes one line, with or without its line end. Lines are taken one after
    /// the other; everything else may happen meanwhile.
    #[must_use]
    pub fn receive(&self, line: &[u8]) -> Action {
        match message::parse(line) {
            Incoming::Silence => Action::Nothing,
            Incoming::Invalid(fault, id) => {
                let id = id.filter(|id| !self.is_in_flight(id));
                Action::Reply(reply::error(id.as_ref(), &fault))
            }
            Incoming::Notification { method, params } => self.notification(&method, params),
            Incoming::Request { id, method, params } => {
                let judged = modern::request(&self.identity, &method, params);
                self.request(id, judged, line.len())
            }
        }
    }

    fn request(
        &self,
        id: RequestId,
        judged: Result<modern::Request, Fault>,
        bytes: usize,
    ) -> Action {
        if self.is_in_flight(&id) {
            let fault = judged
                .err()
                .filter(Fault::is_about_version)
                .unwrap_or_else(|| {
                    Fault::invalid_request("a request with this id is still in flight")
                });
            return Action::Reply(reply::error(None, &fault));
        }
        match judged {
            Err(fault) => Action::Reply(reply::error(Some(&id), &fault)),
            Ok(modern::Request::Answer(result)) => Action::Reply(reply::result(&id, &result)),
            Ok(modern::Request::List) => self.admit(id, Action::List),
            Ok(modern::Request::Call(call)) => {
                let bytes = bytes + id.bytes();
                self.admit(id, |ticket| {
                    Action::Call(Call {
                        ticket,
                        name: call.name,
                        arguments: call.arguments,
                        progress_token: call.progress_token,
                        bytes,
                    })
                })
            }
        }
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

    /// The answer to `tools/list`; `tools` is a JSON array of definitions.
    #[must_use]
    pub fn list(&self, ticket: &Ticket, tools: &str) -> Option<String> {
        self.settle(ticket)
            .then(|| reply::result(&ticket.id, &reply::list(&self.identity, tools)))
    }

    /// The answer to a call; nothing when it was cancelled or stopped.
    #[must_use]
    pub fn finish(&self, ticket: &Ticket, outcome: &Outcome) -> Option<String> {
        let id = &ticket.id;
        self.settle(ticket).then_some(())?;
        match outcome {
            Outcome::Result(result) => {
                Some(reply::result(id, &reply::tool(&self.identity, result)))
            }
            Outcome::UnknownTool(name) => Some(reply::error(Some(id), &Fault::unknown_tool(name))),
            Outcome::Internal => Some(reply::error(Some(id), &Fault::internal())),
            Outcome::Stopped => None,
        }
    }

    /// A word on how far a call is, for the client that gave `token`, which is
    /// JSON. `progress` must be more than the last time.
    #[must_use]
    pub fn progress(&self, token: &str, progress: u64, message: &str) -> String {
        reply::progress(token, progress, message)
    }

    /// Whether the id's one answer is still to come, so that no error may have it.
    fn is_in_flight(&self, id: &RequestId) -> bool {
        self.lock().serials.contains_key(id)
    }

    /// Takes note of a request in flight. Only [`Session::receive`] does, one
    /// line at a time, so the id is still free.
    fn admit(&self, id: RequestId, action: impl FnOnce(Ticket) -> Action) -> Action {
        let mut in_flight = self.lock();
        in_flight.last += 1;
        let serial = in_flight.last;
        in_flight.serials.insert(id.clone(), serial);
        drop(in_flight);
        action(Ticket { id, serial })
    }

    /// Whether the request is still to be answered; it no longer is afterwards.
    fn settle(&self, ticket: &Ticket) -> bool {
        let mut in_flight = self.lock();
        if in_flight.serials.get(&ticket.id) == Some(&ticket.serial) {
            in_flight.serials.remove(&ticket.id);
            true
        } else {
            false
        }
    }

    fn notification(&self, method: &str, params: Option<&serde_json::value::RawValue>) -> Action {
        if method != "notifications/cancelled" {
            return Action::Nothing;
        }
        modern::cancelled(params)
            .and_then(|id| self.lock().serials.remove(&id))
            .map_or(Action::Nothing, Action::Cancel)
    }

    fn lock(&self) -> MutexGuard<'_, InFlight> {
        // Nothing in here panics half-way through a change.
        self.in_flight
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests;
