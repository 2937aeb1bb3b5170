//! Serving as a process of its own: stdin and stdout are the connection, and
//! the process ends with it, with status 0, whoever ends it and however busy
//! it is.

use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::process::exit;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread;
use std::time::Duration;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
use signal_hook::iterator::Signals;
use thiserror::Error;

use crate::lockdown::{Lockdown, LockdownError};
use crate::serve::{Events, GRACE};
use crate::server::Server;

/// How long calls may take to stop once they were told to.
const PATIENCE: Duration = Duration::from_secs(1);

/// Why a process does not serve.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ProcessError {
    /// The process does not give up what it has to.
    #[error(transparent)]
    Lockdown(#[from] LockdownError),
    /// stdin cannot be read, or no thread can be started.
    #[error("cannot serve stdin and stdout: {0}")]
    Io(#[from] io::Error),
}

/// Serves stdin and stdout until one of them ends or a signal says so, after
/// giving up everything but the root.
///
/// # Errors
/// See [`ProcessError`].
pub fn serve(server: Server, lockdown: Lockdown) -> Result<(), ProcessError> {
    // What this process does when it fails is an answer, never a text.
    std::panic::set_hook(Box::new(|panic| crate::diagnostics::report(panic)));
    // A write past the file-size limit is an error like another.
    signal_hook::flag::register(SIGXFSZ, Arc::new(AtomicBool::new(false)))?;
    // What needs a pipe of its own gets it before the process gives that up.
    let signals = Signals::new([SIGTERM, SIGINT, SIGHUP])?;
    let held = server.lock_down(lockdown)?;
    crate::diagnostics::report(&held);
    let server = Arc::new(server);
    end_on_signals(signals, Arc::clone(&server))?;
    // Unbuffered: what std puts around the two would copy every byte once more.
    let stdin = File::from(io::stdin().as_fd().try_clone_to_owned()?);
    let stdout = File::from(io::stdout().as_fd().try_clone_to_owned()?);
    let events = Events {
        input_ended: &end_after_grace,
        // Nobody is left to serve, so nothing that still waits matters.
        output_broken: &|| end(&server),
    };
    Ok(server.serve_process(stdin, stdout, &events)?)
}

/// Stops what runs and ends the process.
fn end(server: &Server) -> ! {
    server.stop(PATIENCE);
    exit(0)
}

fn end_on_signals(mut signals: Signals, server: Arc<Server>) -> io::Result<()> {
    thread::Builder::new()
        .name("signals".into())
        .spawn(move || {
            if signals.forever().next().is_some() {
                end(&server);
            }
        })?;
    Ok(())
}

/// Ends the process even if an answer cannot be written because nobody reads.
fn end_after_grace() {
    // Without a thread the end comes when the last answer is written.
    let _ = thread::Builder::new().name("end".into()).spawn(|| {
        thread::sleep(GRACE + PATIENCE / 2);
        exit(0);
    });
}
