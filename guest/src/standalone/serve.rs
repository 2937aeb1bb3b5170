//! A connection over stdin and stdout: a line comes in, is answered in full,
//! and only then is the next one read. The protocol is the contract's, the
//! tools are the component's; here they meet.

use std::collections::HashSet;
use std::rc::Rc;
use std::time::Duration;

use preopen_contract::about;
use preopen_contract::framing::{Frame, Lines};
use preopen_contract::limits::Limits;
use preopen_contract::session::{Action, Call, Outcome, Session, ToolResult, Tools};
use wasip2::random::random::get_random_bytes;

use super::guard::Guard;
use super::leftovers;
use super::options::Options;
use super::stdio::{Closed, Input, Output};
use super::watch::Listener;
use crate::bindings::exports::preopen::mcp::tools::{self as interface, CallError, Settings};
use crate::root::{self, Dir};
use crate::tools;

/// The length of a key, in bytes: that of the hash it keys.
const KEY_BYTES: u64 = 32;

/// A root that is served, and the session with whoever asks.
pub(super) struct Server {
    session: Rc<Session>,
    tools: Tools,
    settings: Settings,
    limits: Limits,
    root: Dir,
    guard: Rc<Guard>,
    output: Rc<Output>,
}

impl Server {
    /// Checks what is asked for; nothing is served yet. The error is one line.
    pub(super) fn new(options: Options) -> Result<Self, String> {
        let settings = settings(&options);
        if let Some(problem) = missing_tool(&settings) {
            return Err(format!("--tools: {problem}"));
        }
        let guard = Rc::new(Guard::new(options.policy, !options.read_only));
        let root = root::guarded(Rc::clone(&guard)).ok_or(
            "no directory is granted; grant the one to serve, as in wasmtime run --dir DIR::/",
        )?;
        if !options.read_only {
            leftovers::remove();
        }
        let pages = options.toolset != interface::Toolset::Workspace;
        let identity = about::identity(env!("CARGO_PKG_VERSION"), pages);
        Ok(Self {
            session: Rc::new(Session::new(identity, options.protocol)),
            tools: Tools::new(tools::definitions(&settings)),
            settings,
            limits: options.limits,
            root,
            guard,
            output: Rc::new(Output::stdout()),
        })
    }

    /// Whether a tool that writes to the top level is served for nothing.
    pub(super) fn can_write_nothing(&self) -> bool {
        let writes =
            !self.settings.read_only && self.settings.toolset != interface::Toolset::Workspace;
        writes && !self.settings.root_writable
    }

    /// Serves until stdin ends, or nobody reads any more.
    pub(super) fn serve(&self) {
        let input = Input::open();
        let mut lines = Lines::new(self.limits.max_request_bytes);
        while let Some(bytes) = input.read() {
            let mut rest = bytes.as_slice();
            while !rest.is_empty() {
                let (taken, frame) = lines.take(rest);
                rest = rest.get(taken..).unwrap_or_default();
                if frame.is_some_and(|frame| self.receive(frame).is_err()) {
                    return;
                }
            }
        }
        if let Some(frame) = lines.end() {
            // Nobody is left to hear that it cannot be written.
            let _ = self.receive(frame);
        }
    }

    fn receive(&self, frame: Frame) -> Result<(), Closed> {
        let actions = match frame {
            Frame::TooLong => {
                let limit = self.limits.shown("max-request-bytes");
                return self.output.write(&self.session.too_long(&limit));
            }
            Frame::Line(line) => match self.session.receive(&line) {
                Action::Many(actions) => actions,
                action => vec![action],
            },
        };
        // What a batch itself cancels never runs.
        let cancelled: HashSet<u64> = actions
            .iter()
            .filter_map(|action| match action {
                Action::Cancel(serial) => Some(*serial),
                _ => None,
            })
            .collect();
        for action in actions {
            let line = match action {
                // The session makes none inside another one.
                Action::Nothing | Action::Cancel(_) | Action::Many(_) => None,
                Action::Reply(line) => Some(line),
                Action::List(ticket) => self.session.list(&ticket, &self.tools),
                Action::Call(Call {
                    ticket,
                    name,
                    arguments,
                    progress_token,
                    ..
                }) => {
                    let outcome = match cancelled.contains(&ticket.serial()) {
                        true => Outcome::Stopped,
                        false => self.call(name, arguments, progress_token),
                    };
                    self.session.finish(&ticket, &outcome)
                }
            };
            if let Some(line) = line {
                self.output.write(&line)?;
            }
        }
        Ok(())
    }

    fn call(&self, name: String, arguments: String, progress_token: Option<String>) -> Outcome {
        let time = Duration::from_millis(self.limits.call_timeout);
        let listener = progress_token.map(|token| self.listener(token));
        self.guard.watch.begin(time, listener);
        let answer = crate::respond(&self.settings, &name, Some(&self.root), arguments);
        let was_late = self.guard.watch.end();
        match answer {
            _ if was_late => {
                let limit = self.limits.shown("call-timeout");
                Outcome::Result(ToolResult::refusal(super::late(&limit)))
            }
            Ok(result) => Outcome::Result(ToolResult {
                structured: result.structured,
                text: result.text,
                is_error: result.is_error,
            }),
            Err(CallError::UnknownTool) => Outcome::UnknownTool(name),
            Err(CallError::NoRoot | CallError::BadRules) => Outcome::Internal,
        }
    }

    /// Who is told how far a call is: the client, if it asked for it.
    fn listener(&self, token: String) -> Listener {
        let (session, output) = (Rc::clone(&self.session), Rc::clone(&self.output));
        Box::new(move |entries, bytes| {
            let message = format!("{entries} entries seen, {bytes} bytes read or written");
            // Whether anybody reads, the answer will tell.
            let _ = output.write(&session.progress(&token, entries + bytes, &message));
        })
    }
}

fn settings(options: &Options) -> Settings {
    let limits = &options.limits;
    Settings {
        toolset: options.toolset,
        only: options.tools.clone(),
        read_only: options.read_only,
        write_mode: options.write_mode,
        limits: interface::Limits {
            max_file_bytes: limits.max_file_bytes,
            max_write_bytes: limits.max_write_bytes,
            max_result_bytes: limits.max_result_bytes,
            max_scan_bytes: limits.max_scan_bytes,
            max_entries: limits.max_entries,
            max_depth: limits.max_depth,
            call_timeout: limits.call_timeout,
        },
        cursor_key: get_random_bytes(KEY_BYTES),
        hash_key: options.keyed.then(|| get_random_bytes(KEY_BYTES)),
        root_writable: options.policy.reaches_top_level(),
        files_unchanged: false,
        host_hashes: false,
        rules: None,
    }
}

/// What is wrong with the choice of tools, if anything.
fn missing_tool(settings: &Settings) -> Option<String> {
    let all = |read_only| Settings {
        only: Vec::new(),
        read_only,
        ..settings.clone()
    };
    let served = all(settings.read_only);
    let missing = settings
        .only
        .iter()
        .find(|name| tools::find(&served, name).is_none())?;
    if tools::find(&all(false), missing).is_some() {
        return Some(format!("{missing} writes, so --read-only leaves it out"));
    }
    let mut names: Vec<&str> = tools::names(&served).collect();
    names.sort_unstable();
    Some(format!(
        "there is no tool {missing:?}; there are {}",
        names.join(", ")
    ))
}
