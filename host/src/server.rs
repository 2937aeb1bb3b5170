//! A server: a root and the sandbox that works on it. It answers single
//! messages and serves connections; how many of either is up to who holds it.

use std::collections::HashMap;
use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::thread;
use std::time::Duration;

use preopen_contract::about;
use preopen_contract::limits::Limits;
use preopen_contract::session::{Call, Outcome, Protocol, Session, Tools};
use serde_json::Value;
use thiserror::Error;

use crate::audit::{Audit, Line};
use crate::component::{self, Component, ComponentError};
use crate::diagnostics;
use crate::lockdown::{self, Held, Lockdown, LockdownError};
use crate::root::{Root, Toolset};
use crate::sandbox::{Control, Remains, Sandbox, SandboxError, Source};
use crate::serve::{self, Events};
use crate::shortage::Shortage;

/// Why a server does not start.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ServerError {
    /// The sandbox does not start.
    #[error(transparent)]
    Sandbox(#[from] SandboxError),
    /// The component of others is not served.
    #[error(transparent)]
    Component(#[from] ComponentError),
    /// A tool was asked for that there is not, with those there are.
    #[error("there is no tool {0:?}; there are {1}")]
    NoSuchTool(String, String),
    /// A tool was asked for that writes, of a root without the right to.
    #[error("{0} writes, so --read-only leaves it out")]
    WritingTool(String),
    /// The component does not say which tools it has.
    #[error("the embedded component does not list its tools: {0}")]
    Tools(String),
}

impl ServerError {
    /// The command line's flag that the error is about, without its dashes.
    #[must_use]
    pub fn flag(&self) -> Option<&'static str> {
        match self {
            Self::NoSuchTool(..) | Self::WritingTool(_) => Some("tools"),
            Self::Component(_) => Some("component"),
            Self::Sandbox(_) | Self::Tools(_) => None,
        }
    }
}

/// The tools served: their definitions, and which of them change something.
struct Catalogue {
    tools: Tools,
    changes: HashMap<String, bool>,
}

impl Catalogue {
    /// Reads what our own component lists.
    fn read(listed: wasmtime::Result<String>) -> Result<Self, ServerError> {
        let failed = |error: &wasmtime::Error| ServerError::Tools(error.root_cause().to_string());
        Self::of(Self::listed(listed, failed)?)
    }

    /// Reads what a component of others lists, and leaves what may be served
    /// of it: `only` these tools, if any, and `read_only` ones.
    fn read_foreign(
        listed: wasmtime::Result<String>,
        only: &[String],
        read_only: bool,
    ) -> Result<Self, ServerError> {
        let json = Self::listed(listed, |error| ComponentError::listing(error).into())?;
        Self::of(component::definitions(&json, only, read_only)?)
    }

    fn listed(
        listed: wasmtime::Result<String>,
        otherwise: impl FnOnce(&wasmtime::Error) -> ServerError,
    ) -> Result<String, ServerError> {
        listed.map_err(|error| match Shortage::behind(&error) {
            Some(shortage) => SandboxError::Shortage(shortage).into(),
            None => otherwise(&error),
        })
    }

    fn of(json: String) -> Result<Self, ServerError> {
        let tools: Vec<Value> =
            serde_json::from_str(&json).map_err(|error| ServerError::Tools(error.to_string()))?;
        let changes = tools
            .iter()
            .filter_map(|tool| {
                let reads = tool["annotations"]["readOnlyHint"] == Value::Bool(true);
                Some((tool["name"].as_str()?.to_owned(), !reads))
            })
            .collect();
        Ok(Self {
            tools: Tools::new(json),
            changes,
        })
    }

    /// Why `tool` is not served, where these are all there are.
    fn missing(&self, tool: &str, writable: bool) -> ServerError {
        if self.changes.contains_key(tool) {
            return ServerError::WritingTool(tool.to_owned());
        }
        let served =
            |(name, changes): (&String, &bool)| (writable || !changes).then(|| name.clone());
        let mut names: Vec<String> = self.changes.iter().filter_map(served).collect();
        names.sort_unstable();
        ServerError::NoSuchTool(tool.to_owned(), names.join(", "))
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
    protocol: Protocol,
    /// Its tools answer in pages, and a model is told so.
    pages: bool,
    audit: Option<Audit>,
    catalogue: Catalogue,
}

impl Server {
    /// Starts the sandbox and lists its tools; nothing is served yet.
    ///
    /// # Errors
    /// When the sandbox does not start or work here, or a tool was chosen that
    /// there is not; see [`ServerError`].
    pub fn new(root: Root) -> Result<Self, ServerError> {
        let sandbox = Sandbox::new(&root, calls(&root), Source::Guest)?;
        let catalogue = Catalogue::read(sandbox.list_tools())?;
        Self::of(root, sandbox, catalogue, |sandbox| {
            Catalogue::read(sandbox.list_all_tools())
        })
    }

    /// The same with the tools of `component` in the place of ours: under the
    /// same confinement, bounds and order.
    ///
    /// # Errors
    /// As [`Server::new`], and when the component imports what is not granted,
    /// does not export the interface, or does not list its tools.
    pub fn with_component(root: Root, component: &Component) -> Result<Self, ServerError> {
        let sandbox = Sandbox::new(&root, calls(&root), Source::Own(component));
        let sandbox = sandbox.map_err(|error| match error {
            SandboxError::Component(error) => ComponentError::unfit(&error).into(),
            shortage => ServerError::Sandbox(shortage),
        })?;
        let read_only = !root.grant.writable;
        let catalogue = Catalogue::read_foreign(sandbox.list_tools(), &root.tools, read_only)?;
        let all = |sandbox: &Sandbox| Catalogue::read_foreign(sandbox.list_all_tools(), &[], false);
        Ok(Self {
            pages: false,
            ..Self::of(root, sandbox, catalogue, all)?
        })
    }

    fn of(
        root: Root,
        sandbox: Sandbox,
        catalogue: Catalogue,
        all: impl FnOnce(&Sandbox) -> Result<Catalogue, ServerError>,
    ) -> Result<Self, ServerError> {
        for tool in &root.tools {
            if !catalogue.changes.contains_key(tool) {
                return Err(all(&sandbox)?.missing(tool, root.grant.writable));
            }
        }
        Ok(Self {
            sandbox,
            limits: root.limits,
            protocol: root.protocol,
            pages: root.toolset != Toolset::Workspace,
            audit: None,
            catalogue,
        })
    }

    /// Serves one connection until `reader` ends: one JSON-RPC message a line.
    /// What is in flight then has two seconds to finish. Both ends are used on
    /// threads that are started for it, also the reading one.
    ///
    /// # Errors
    /// When `reader` fails, or no thread can be started. That the other side
    /// stops reading is no error: it ends the connection.
    pub fn serve<R: Read + Send, W: Write + Send>(&self, reader: R, writer: W) -> io::Result<()> {
        let events = Events {
            input_ended: &|| {},
            input_closed: &|| false,
            output_broken: &|| {},
        };
        serve::connection(self, reader, writer, &events)
    }

    /// Answers one message on its own; nothing for a message that has no
    /// answer. The line ends in LF.
    #[must_use]
    pub fn handle(&self, message: &[u8]) -> Option<String> {
        serve::message(self, message)
    }

    /// Writes a line of every call from here on.
    pub fn audit(&mut self, audit: Audit) {
        self.audit = Some(audit);
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
        let identity = about::identity(env!("CARGO_PKG_VERSION"), self.pages);
        Session::new(identity, self.protocol)
    }

    /// The definitions of the tools served.
    pub(crate) fn tools(&self) -> &Tools {
        &self.catalogue.tools
    }

    /// Whether the tool may change something; nothing for a tool there is not.
    pub(crate) fn changes(&self, tool: &str) -> Option<bool> {
        self.catalogue.changes.get(tool).copied()
    }

    /// Makes sure that calls can be stopped.
    ///
    /// # Errors
    /// When no thread can be started that keeps time.
    pub(crate) fn start_clock(&self) -> io::Result<()> {
        self.sandbox.start_clock()
    }

    pub(crate) fn call(
        &self,
        tool: &str,
        arguments: &str,
        control: &Control,
    ) -> (Outcome, Remains<'_>) {
        self.sandbox.call(tool, arguments, control)
    }

    /// Takes note of a call that has ended, where there is an audit.
    pub(crate) fn record(&self, call: &Call, outcome: &Outcome, control: &Control, took: Duration) {
        let tells = diagnostics::tells_calls();
        if self.audit.is_none() && !tells {
            return;
        }
        let policy = &self.sandbox.grant().policy;
        let mut line = Line::of(policy, call, outcome, control, took);
        if tells {
            diagnostics::report(&line);
        }
        if let Some(audit) = &self.audit {
            audit.append(&mut line);
        }
    }

    /// How many calls there is room for.
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

/// How many calls there is to be room for: those the operator wants at a time,
/// and a short one beside them.
fn calls(root: &Root) -> usize {
    let workers = match usize::try_from(root.limits.workers) {
        Ok(0) | Err(_) => thread::available_parallelism().map_or(1, usize::from),
        Ok(workers) => workers,
    };
    workers + serve::BESIDE
}

#[cfg(test)]
mod tests {
    use super::{Server, ServerError};
    use crate::root::{Options, Root, Toolset};

    #[test]
    fn a_component_that_cannot_list_its_tools_is_an_error_of_the_start() {
        let directory = tempfile::tempdir().expect("a directory");
        let start = |pages: u64| {
            let mut options = Options::new(directory.path(), ["**"]);
            // The more tools, the more memory their definitions take.
            options.toolset = Toolset::All;
            let mut root = Root::open(options).expect("a root");
            root.limits.max_call_memory = pages << 16;
            Server::new(root).err()
        };
        // The least memory in which an instance can be had leaves it none to work with.
        let error = (1..32)
            .filter_map(start)
            .find(|error| !matches!(error, ServerError::Sandbox(_)))
            .expect("an error");
        assert!(matches!(error, ServerError::Tools(_)), "{error}");
        let text = error.to_string();
        assert!(!text.contains('\n') && text.len() < 200, "{text}");
    }
}
