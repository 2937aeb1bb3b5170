//! What is to be done about a line: what the session asks of whoever drives it.

use super::era::Era;
use super::id::RequestId;

/// What to do about a line.
#[derive(Debug)]
pub enum Action {
    /// Nothing, and nothing is to be answered.
    Nothing,
    /// Write this line; its LF is included.
    Reply(String),
    /// Write what [`Session::list`](super::Session::list) makes of the tools served.
    List(Ticket),
    /// Run this tool call, then write what [`Session::finish`](super::Session::finish) says.
    Call(Call),
    /// Stop the call whose ticket has this serial number; it gets no answer.
    Cancel(u64),
    /// Do these one after the other; none of them is of this kind.
    Many(Vec<Action>),
}

impl Action {
    /// What does all of these.
    pub(super) fn all(mut actions: Vec<Self>) -> Self {
        match actions.len() {
            0 | 1 => actions.pop().unwrap_or(Self::Nothing),
            _ => Self::Many(actions),
        }
    }
}

/// A request that waits for its answer.
#[derive(Debug)]
pub struct Ticket {
    pub(super) id: RequestId,
    pub(super) serial: u64,
    pub(super) era: Era,
}

impl Ticket {
    /// A number no other request of this session has, also where a client uses
    /// an id again.
    #[must_use]
    pub fn serial(&self) -> u64 {
        self.serial
    }

    /// The request's id, as JSON.
    #[must_use]
    pub fn id(&self) -> String {
        self.id.json()
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
