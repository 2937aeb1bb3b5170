//! A server: a root and the sandbox that works on it. It answers single
//! messages and serves connections; how many of either is up to who holds it.

use std::collections::HashMap;
use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::sync::OnceLock;
use std::thread;
use std::time::Duration;

use preopen_contract::limits::Limits;
use preopen_contract::session::{Identity, Outcome, Session};
use serde_json::Value;
use thiserror::Error;

use crate::lockdown::{self, Held, Lockdown, LockdownError};
use crate::root::Root;
use crate::sandbox::{Control, Sandbox, SandboxError};
use crate::serve::{self, Events};

/// What a model is told before it calls the first tool.
const INSTRUCTIONS: &str = "These tools work on the files of one directory, the root. Paths are relative to it, with / between names; links, and files the rules hide, do not exist. Lists, searches and reads come in pages: pass next_cursor back as cursor, with the same arguments, until it is null.";

/// Why a server does not start.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ServerError {
    /// The sandbox does not start.
    #[error(transparent)]
    Sandbox(#[from] SandboxError),
    /// A tool was asked for that there is not, or not in a read-only root.
    #[error("there is no tool {0:?} to serve here")]
    NoSuchTool(String),
}

impl ServerError {
    /// The command line's flag that the error is about, without its dashes.
    #[must_use]
    pub fn flag(&self) -> Option<&'static str> {
        match self {
            Self::NoSuchTool(..) => Some("tools"),
            Self::Sandbox(_) => None,
        }
    }
}

/// The tools served: their definitions, and which of them change something.
pub(crate) struct Catalogue {
    json: String,
    changes: HashMap<String, bool>,
}

impl Catalogue {
    fn read(json: String) -> Option<Self> {
        let tools: Vec<Value> = serde_json::from_str(&json).ok()?;
        let changes = tools
            .iter()
            .filter_map(|tool| {
                let reads = tool["annotations"]["readOnlyHint"] == Value::Bool(true);
                Some((tool["name"].as_str()?.to_owned(), !reads))
            })
            .collect();
        Some(Self { json, changes })
    }

    /// A JSON array of definitions.
    pub(crate) fn json(&self) -> &str {
        &self.json
    }
}

/// Serves one root.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use preopen_mcp::{Options, Root, Server};
///
/// let directory = tempfile::tempdir()?;
/// let server = Server::new(Root::open(Options::new(directory.path(), ["**"]))?)?;
/// assert!(server.handle(b"not a message").is_some_and(|line| line.contains("-32700")));
/// # Ok(())
/// # }
/// ```
pub struct Server {
    sandbox: Sandbox,
    limits: Limits,
    catalogue: OnceLock<Option<Catalogue>>,
}

impl Server {
    /// Starts the sandbox; nothing is served yet.
    ///
    /// # Errors
    /// When the sandbox does not start here, or a tool was chosen that there is
    /// not; see [`ServerError`].
    pub fn new(root: Root) -> Result<Self, ServerError> {
        let calls = match usize::try_from(root.limits.workers) {
            Ok(0) | Err(_) => thread::available_parallelism().map_or(1, usize::from),
            Ok(workers) => workers,
        };
        let server = Self {
            sandbox: Sandbox::new(&root, calls)?,
            limits: root.limits,
            catalogue: OnceLock::new(),
        };
        for tool in &root.tools {
            if server.changes(tool).is_err() {
                return Err(ServerError::NoSuchTool(tool.clone()));
            }
        }
        Ok(server)
    }

    /// Serves one connection until `reader` ends: one JSON-RPC message a line.
    /// What is in flight then has two seconds to finish.
    ///
    /// # Errors
    /// When `reader` fails, or no thread can be started. That the other side
    /// stops reading is no error: it ends the connection.
    pub fn serve<R: Read, W: Write + Send>(&self, reader: R, writer: W) -> io::Result<()> {
        let events = Events {
            input_ended: &|| {},
            output_broken: &|| {},
        };
        serve::connection(self, reader, writer, &events)
    }

    /// [`Server::serve`] for a program that ends when its connection does.
    pub(crate) fn serve_process<R: Read, W: Write + Send>(
        &self,
        reader: R,
        writer: W,
        events: &Events<'_>,
    ) -> io::Result<()> {
        serve::connection(self, reader, writer, events)
    }

    /// Answers one message on its own; nothing for a message that has no
    /// answer. The line ends in LF.
    #[must_use]
    pub fn handle(&self, message: &[u8]) -> Option<String> {
        serve::message(self, message)
    }

    /// Gives up, for the whole process and for good, everything but the root:
    /// other files (Landlock), programs, sockets, other processes and new
    /// machine code (seccomp). To be called before the process has a second
    /// thread. Says what holds.
    ///
    /// # Errors
    /// Only where `lockdown` insists; see [`LockdownError`].
    pub fn lock_down(&self, lockdown: Lockdown) -> Result<Held, LockdownError> {
        let grant = self.sandbox.grant();
        lockdown::enter(lockdown, grant.root.as_fd(), grant.writable)
    }

    pub(crate) fn session(&self) -> Session {
        Session::new(Identity {
            name: env!("CARGO_PKG_NAME").to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            instructions: INSTRUCTIONS.to_owned(),
        })
    }

    /// The tools served; nothing when the component fails to say.
    pub(crate) fn catalogue(&self) -> Option<&Catalogue> {
        self.catalogue
            .get_or_init(|| match self.sandbox.list_tools() {
                Ok(json) => Catalogue::read(json),
                Err(error) => {
                    crate::diagnostics::report(&format_args!("no list of tools: {error:#}"));
                    None
                }
            })
            .as_ref()
    }

    /// Whether the tool may change something.
    ///
    /// # Errors
    /// How a call of it ends if it cannot even begin.
    pub(crate) fn changes(&self, tool: &str) -> Result<bool, Outcome> {
        let catalogue = self.catalogue().ok_or(Outcome::Internal)?;
        let changes = catalogue.changes.get(tool).copied();
        changes.ok_or_else(|| Outcome::UnknownTool(tool.to_owned()))
    }

    pub(crate) fn call(&self, tool: &str, arguments: &str, control: &Control) -> Outcome {
        self.sandbox.call(tool, arguments, control)
    }

    /// How many calls run at the same time.
    pub(crate) fn calls(&self) -> usize {
        self.sandbox.calls()
    }

    /// The bounds in force.
    pub(crate) fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Stops every call, now and from now on, and waits until they have ended
    /// or `patience` is over.
    pub(crate) fn stop(&self, patience: Duration) {
        self.sandbox.stop(patience);
    }
}
