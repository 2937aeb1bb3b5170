//! What every end-to-end test stands on: a root to fill, the real binary over
//! real pipes, and the checks that hold for every line it writes. The harness
//! knows the wire and no product internals.

mod answer;
mod checks;
mod launch;
mod process;
mod root;
mod schema;
mod server;

use std::time::Duration;

pub(crate) use answer::{Answer, Message};
pub(crate) use launch::Launch;
pub(crate) use process::{Exit, Process, run, run_from};
pub(crate) use root::{HAYSTACK, MARKER, Root};
pub(crate) use server::{Server, call, modern, request};

/// How long a test waits for what must happen. Nothing is measured by it: a
/// wait that reaches it fails the test.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// Whether this process is the superuser, whom file modes do not bind; says so
/// once for the test that it makes pointless.
pub(crate) fn superuser(test: &str) -> bool {
    let superuser = rustix::process::geteuid().is_root();
    if superuser {
        eprintln!("SKIPPED {test}: it needs an ordinary user");
    }
    superuser
}
