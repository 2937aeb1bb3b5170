//! How a server is started. It knows flags by name only.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::Command;

use serde_json::{Value, json};

use super::checks::Checks;
use super::portable::Portable;
use super::process::{Process, binary, piped};
use super::{HAYSTACK, Root, Server, call};

/// How a server is started: `--root R --include '**'` unless changed.
pub(crate) struct Launch {
    /// What starts it, without its arguments.
    command: Command,
    /// The root as it is spelled.
    root: PathBuf,
    /// Includes nothing by itself: the command does.
    is_workspace: bool,
    includes: Vec<OsString>,
    arguments: Vec<OsString>,
    above: String,
    /// Where the component is served without the program.
    portable: Option<Portable>,
}

impl Launch {
    /// A server of this root.
    pub(crate) fn new(root: &Root) -> Self {
        Self::at(root, root.path())
    }

    /// A server of this root as desktop clients start one: `workspace --root R`.
    pub(crate) fn workspace(root: &Root) -> Self {
        Self {
            is_workspace: true,
            ..Self::new(root)
        }
    }

    /// A server of this root, spelled otherwise.
    pub(crate) fn at(root: &Root, spelled: impl Into<PathBuf>) -> Self {
        Self::by(binary(), root, spelled.into())
    }

    /// A server of this root, started by another program, whose command line
    /// is complete but for what it starts.
    pub(crate) fn under(mut program: Command, root: &Root) -> Self {
        program.arg(binary().get_program());
        Self::by(piped(program), root, root.path())
    }

    /// A server of this root, started by a shell that does this first.
    pub(crate) fn after(script: &str, root: &Root) -> Self {
        let mut shell = Command::new("sh");
        shell.args(["-c", &format!(r#"{script} && exec "$0" "$@""#)]);
        Self::under(shell, root)
    }

    fn by(command: Command, root: &Root, spelled: PathBuf) -> Self {
        let above = root.above().to_str().expect("a UTF-8 path").to_owned();
        Self {
            command,
            root: spelled,
            is_workspace: false,
            includes: Vec::new(),
            arguments: Vec::new(),
            above,
            portable: Portable::get(),
        }
    }

    /// The component on its own in place of the program.
    pub(crate) fn on(mut self, portable: Portable) -> Self {
        self.command = piped(Command::new(&portable.host));
        self.portable = Some(portable);
        self
    }

    /// Includes these instead of everything.
    pub(crate) fn include(mut self, globs: &[&str]) -> Self {
        self.includes.extend(globs.iter().map(Into::into));
        self
    }

    /// Excludes these.
    pub(crate) fn exclude(mut self, globs: &[&str]) -> Self {
        for glob in globs {
            self.arguments.extend(["--exclude".into(), glob.into()]);
        }
        self
    }

    /// Adds arguments as they are.
    pub(crate) fn args<A: Into<OsString>>(
        mut self,
        arguments: impl IntoIterator<Item = A>,
    ) -> Self {
        self.arguments.extend(arguments.into_iter().map(Into::into));
        self
    }

    /// Changes how the process itself is started.
    pub(crate) fn with(mut self, change: impl FnOnce(&mut Command) -> &mut Command) -> Self {
        let _ = change(&mut self.command);
        self
    }

    /// Starts it without talking to it.
    pub(crate) fn spawn(mut self) -> Process {
        if self.includes.is_empty() && !self.is_workspace {
            self.includes.push("**".into());
        }
        let mut arguments: Vec<OsString> = Vec::new();
        for glob in self.includes {
            arguments.extend(["--include".into(), glob]);
        }
        arguments.append(&mut self.arguments);
        match &self.portable {
            None => {
                if self.is_workspace {
                    self.command.arg("workspace");
                }
                self.command.arg("--root").arg(&self.root).args(arguments);
            }
            Some(portable) => {
                if self.is_workspace && !arguments.iter().any(|flag| flag == "--toolset") {
                    arguments.extend(["--toolset".into(), "workspace".into()]);
                }
                portable.start(&mut self.command, &self.root, &arguments);
            }
        }
        Process::spawn(self.command)
    }

    /// Starts it and sends, under this id, a call that goes on for many seconds.
    /// The root needs a [`Root::haystack`].
    pub(crate) fn busy(self, id: impl Into<Value>) -> Server {
        let mut server = self.args(HAYSTACK).start();
        server.send(&call(id, "search_text", json!({"query": "needle"})));
        server
    }

    /// Starts it.
    pub(crate) fn start(self) -> Server {
        let keyed = self
            .arguments
            .iter()
            .any(|argument| argument == "hmac-sha256");
        let checks = Checks::new(self.above.clone(), keyed);
        Server::over(self.spawn(), checks)
    }
}
