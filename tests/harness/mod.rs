//! What every end-to-end test stands on: a root to fill, the real binary over
//! real pipes, and the checks that hold for every line it writes. The harness
//! knows the wire and no product internals.

mod answer;
mod checks;
mod disk;
mod launch;
pub(crate) mod portable;
mod process;
mod root;
mod schema;
mod server;
mod trace;
mod user;

use std::time::Duration;

use sha2::{Digest, Sha256};

pub(crate) use answer::{Answer, Message};
pub(crate) use disk::Disk;
pub(crate) use launch::Launch;
pub(crate) use process::{Exit, Process, run, run_from};
pub(crate) use root::{HAYSTACK, MARKER, Root, make_pipe};
pub(crate) use server::{Server, call, cancel, modern, request};
pub(crate) use trace::{Trace, traced};
pub(crate) use user::{NOBODY, ordinary, superuser};

/// How long a test waits for what must happen. Nothing is measured by it: a
/// wait that reaches it fails the test.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// A content hash as the tools spell it.
pub(crate) fn sha256(bytes: impl AsRef<[u8]>) -> String {
    let digits: String = Sha256::digest(bytes)
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    format!("sha256:{digits}")
}
