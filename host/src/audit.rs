//! The audit: a line of JSON for every tool call, for the operator. It holds what
//! was asked for and what became of it, never a content. Whatever happens to its
//! file, no call waits for it or fails with it.

use std::fmt;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use preopen_contract::json;
use preopen_contract::path::RelPath;
use preopen_contract::policy::{Policy, Rule, Verdict};
use preopen_contract::session::{Call, Outcome};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use thiserror::Error;

use crate::sandbox::Control;

/// The mode of a new file: paths are in it.
const MODE: u32 = 0o600;

/// Why there is no audit.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum AuditError {
    /// The file cannot be opened.
    #[error("cannot open {0}: {1}")]
    Unusable(PathBuf, io::Error),
    /// A link is there; where it leads could be in the root.
    #[error("{0} is a symbolic link; name the file itself")]
    Link(PathBuf),
    /// The file has another name, which could be in the root.
    #[error("{0} has more than one name (hard links)")]
    Names(PathBuf),
    /// A client could read the file, or put another in its place.
    #[error("{0} lies in the root, where a client could get at it")]
    InRoot(PathBuf),
}

/// Where the lines go.
#[derive(Debug)]
pub struct Audit(Mutex<Sink>);

#[derive(Debug)]
struct Sink {
    file: File,
    /// The last line is there in part: what follows begins a new one.
    torn: bool,
    /// Lines that were not written since the last that was.
    lost: u64,
}

/// What is told of a call.
#[derive(Debug, Serialize)]
pub(crate) struct Line {
    time: String,
    /// As the client gave it.
    id: Option<Box<RawValue>>,
    tool: String,
    /// As the client gave it, where the tool has such an argument.
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<String>,
    verdict: &'static str,
    /// The rule or the layer that decided, where it was not served.
    #[serde(skip_serializing_if = "Option::is_none")]
    by: Option<String>,
    /// Read or written.
    bytes: u64,
    /// Microseconds.
    us: u64,
    /// Lines before this one that the file did not take.
    #[serde(skip_serializing_if = "is_none")]
    lost: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for it")]
fn is_none(lost: &u64) -> bool {
    *lost == 0
}

#[derive(Default, Deserialize)]
struct Arguments {
    #[serde(default)]
    path: Option<String>,
}

impl Audit {
    /// Appends to `file`, which is made if it is not there; `root` is the
    /// directory that is served. What is not ready to be written to, such as a
    /// pipe that nobody reads, loses lines rather than keep anybody waiting.
    ///
    /// # Errors
    /// When the file lies in the root, or cannot be opened.
    pub fn open(file: &Path, root: &Path) -> Result<Self, AuditError> {
        let unusable = |error| AuditError::Unusable(file.to_owned(), error);
        let parent = match file.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        };
        let parent = parent.canonicalize().map_err(unusable)?;
        if root
            .canonicalize()
            .is_ok_and(|root| parent.starts_with(root))
        {
            return Err(AuditError::InRoot(file.to_owned()));
        }
        let opened = OpenOptions::new()
            .append(true)
            .create(true)
            .mode(MODE)
            .custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY | libc::O_NOFOLLOW)
            .open(file)
            .map_err(|error| match error.raw_os_error() {
                Some(libc::ELOOP) => AuditError::Link(file.to_owned()),
                _ => unusable(error),
            })?;
        let found = opened.metadata().map_err(unusable)?;
        if found.is_file() && found.nlink() > 1 {
            return Err(AuditError::Names(file.to_owned()));
        }
        Ok(Self(Mutex::new(Sink {
            file: opened,
            torn: false,
            lost: 0,
        })))
    }

    /// Writes a line.
    pub(crate) fn append(&self, line: &mut Line) {
        let mut sink = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        line.lost = sink.lost;
        sink.append(&line.to_string());
    }
}

impl Line {
    /// That of a call that has ended.
    pub(crate) fn of(
        policy: &Policy,
        call: &Call,
        outcome: &Outcome,
        control: &Control,
        took: Duration,
    ) -> Self {
        let arguments: Arguments = serde_json::from_str(&call.arguments).unwrap_or_default();
        let (verdict, by) = judge(policy, arguments.path.as_deref(), outcome, control);
        Self {
            time: humantime::format_rfc3339_millis(SystemTime::now()).to_string(),
            id: RawValue::from_string(call.ticket.id()).ok(),
            tool: call.name.clone(),
            path: arguments.path,
            verdict,
            by,
            bytes: control.bytes(),
            us: u64::try_from(took.as_micros()).unwrap_or(u64::MAX),
            lost: 0,
        }
    }
}

impl fmt::Display for Line {
    /// One line of JSON.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&json::text(self))
    }
}

impl Sink {
    fn append(&mut self, line: &str) {
        let end_of_torn = if self.torn { "\n" } else { "" };
        let bytes = format!("{end_of_torn}{line}\n").into_bytes();
        match self.file.write(&bytes) {
            Ok(written) if written == bytes.len() => {
                self.torn = false;
                self.lost = 0;
            }
            Ok(0) | Err(_) => self.lost += 1,
            Ok(_) => {
                self.torn = true;
                self.lost += 1;
            }
        }
    }
}

/// What became of a call, and which rule or layer decided.
fn judge(
    policy: &Policy,
    path: Option<&str>,
    outcome: &Outcome,
    control: &Control,
) -> (&'static str, Option<String>) {
    match outcome {
        Outcome::Result(result) if !result.is_error => ("served", None),
        Outcome::Result(_) => match control.limit() {
            Some(flag) => ("stopped", Some(format!("bounds: --{flag}"))),
            None => ("refused", Some(rule(policy, path))),
        },
        Outcome::UnknownTool(_) => (
            "refused",
            Some("protocol: there is no such tool".to_owned()),
        ),
        Outcome::Stopped => ("cancelled", None),
        Outcome::Internal => ("failed", None),
    }
}

/// The rule that hides the path, or else the tool itself.
fn rule(policy: &Policy, path: Option<&str>) -> String {
    let tool = || "tool".to_owned();
    let path = match path.map(RelPath::parse) {
        None => return tool(),
        Some(Err(_)) => return "capability: the path is not one below the root".to_owned(),
        Some(Ok(path)) => path,
    };
    if path.is_root() {
        return tool();
    }
    let enters = policy.directory(path.as_str()) == Verdict::Served;
    match policy.explain(path.as_str()) {
        (Verdict::Served, _) if enters => tool(),
        (Verdict::Served, _) => {
            "policy or tool: the rules hide a directory of this name".to_owned()
        }
        // As a directory it is served, so the tool may have its own reason.
        (_, None) if enters => "policy or tool: no --include matches it as a file".to_owned(),
        (_, Some(Rule::Exclude(glob))) => format!("policy: --exclude {glob}"),
        (_, Some(Rule::Blocked(name))) => format!("policy: {name} is blocked"),
        (_, Some(Rule::Reserved)) => "policy: the name is reserved".to_owned(),
        _ => "policy: no --include matches".to_owned(),
    }
}
