//! The program: reads the command line, starts what it asks for, and turns
//! what goes wrong into one line and an exit status.

mod check;
mod cli;
mod demo;
mod usage;

use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

use preopen_contract::about;
use preopen_mcp::process::{self, ProcessError};
use preopen_mcp::{
    Audit, AuditError, Component, ComponentError, Lockdown, Options, Root, RootError, Server,
    ServerError, Toolset, diagnostics,
};

use cli::Invocation;
use usage::UsageError;

/// A command line or configuration that cannot be served (EX_USAGE, sysexits.h).
const USAGE: u8 = 64;

/// Something else that is not here or does not work (EX_UNAVAILABLE).
const UNAVAILABLE: u8 = 69;

/// Why the program ends, and with which status.
#[derive(Debug)]
struct Failure {
    status: u8,
    text: String,
}

impl From<UsageError> for Failure {
    fn from(UsageError(text): UsageError) -> Self {
        Self {
            status: USAGE,
            text,
        }
    }
}

impl From<RootError> for Failure {
    fn from(error: RootError) -> Self {
        Self::about(error.flag(), &error)
    }
}

impl From<ServerError> for Failure {
    fn from(error: ServerError) -> Self {
        Self::about(error.flag(), &error)
    }
}

impl From<ComponentError> for Failure {
    fn from(error: ComponentError) -> Self {
        ServerError::from(error).into()
    }
}

impl From<AuditError> for Failure {
    fn from(error: AuditError) -> Self {
        Self::about(Some("audit"), &error)
    }
}

impl From<ProcessError> for Failure {
    fn from(error: ProcessError) -> Self {
        let flag = matches!(error, ProcessError::Lockdown(_)).then_some("lockdown");
        Self::about(flag, &error)
    }
}

impl From<anyhow::Error> for Failure {
    fn from(error: anyhow::Error) -> Self {
        Self::about(None, &format_args!("{error:#}"))
    }
}

impl Failure {
    fn about(flag: Option<&str>, error: &dyn std::fmt::Display) -> Self {
        match flag {
            Some(flag) => Self {
                status: USAGE,
                text: format!("--{flag}: {error}"),
            },
            None => Self {
                status: UNAVAILABLE,
                text: error.to_string(),
            },
        }
    }
}

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            diagnostics::line(&one_line(&failure.text));
            ExitCode::from(failure.status)
        }
    }
}

fn run() -> Result<(), Failure> {
    match cli::parse(std::env::args_os().skip(1))? {
        Invocation::Serve {
            options,
            component,
            audit,
            lockdown,
            verbose,
        } => {
            diagnostics::enable(verbose);
            serve(*options, component.as_deref(), audit.as_deref(), lockdown)
        }
        Invocation::Check { options, paths } => check::run(&options, &paths),
        Invocation::Demo => Ok(demo::run()?),
        Invocation::Guest => print(preopen_mcp::component()),
        Invocation::Print(text) => print(text.as_bytes()),
    }
}

fn serve(
    options: Options,
    component: Option<&Path>,
    audit: Option<&Path>,
    lockdown: Lockdown,
) -> Result<(), Failure> {
    process::prepare()?;
    let directory = options.root.clone();
    // What tools of others write, and where, is not known.
    let writes = component.is_none() && !options.read_only && options.toolset != Toolset::Workspace;
    let root = Root::open(options)?;
    if writes && !root.reaches_top_level() {
        diagnostics::line(&about::NOTHING_WRITABLE);
    }
    let mut server = match component {
        Some(file) => Server::with_component(root, &Component::open(file, &directory)?)?,
        None => Server::new(root)?,
    };
    if let Some(file) = audit {
        server.audit(Audit::open(file, &directory)?);
    }
    Ok(process::serve(server, lockdown)?)
}

/// `text` without what would make it more than one line, or move a cursor: a
/// path that an operator names may hold anything.
fn one_line(text: &str) -> String {
    text.chars().fold(String::new(), |mut line, character| {
        if character.is_control() {
            line.extend(character.escape_debug());
        } else {
            line.push(character);
        }
        line
    })
}

/// Writes to stdout; that nobody reads it is no failure.
fn print(bytes: &[u8]) -> Result<(), Failure> {
    let mut stdout = std::io::stdout().lock();
    match stdout.write_all(bytes).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(anyhow::Error::new(error)
                .context("cannot write to stdout")
                .into())
        }
        _ => Ok(()),
    }
}
