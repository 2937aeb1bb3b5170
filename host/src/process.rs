//! Serving as a process of its own: stdin and stdout are the connection, and
//! the process ends with it, with status 0, whoever ends it and however busy
//! it is.

use std::fs::File;
use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::AsFd;
use std::process::exit;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{Sender, channel};
use std::thread;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::retry_on_intr;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
use signal_hook::iterator::Signals;
use thiserror::Error;

use crate::lockdown::{Lockdown, LockdownError};
use crate::serve::{self, Events, GRACE};
use crate::server::Server;
use crate::shortage::Shortage;

/// How long calls may take to stop once they were told to.
const PATIENCE: Duration = Duration::from_secs(1);

/// What poll(2) is asked to hear of the other side closing. A hang-up is told
/// of unasked, but macOS looks only where something is asked for.
#[cfg(target_os = "linux")]
const HANG_UP: PollFlags = PollFlags::RDHUP;
#[cfg(target_os = "macos")]
const HANG_UP: PollFlags = PollFlags::HUP;

/// Why a process does not serve.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ProcessError {
    /// The process does not give up what it has to.
    #[error(transparent)]
    Lockdown(#[from] LockdownError),
    /// A limit of the process leaves it no room.
    #[error(transparent)]
    Shortage(Shortage),
    /// stdin cannot be read, or the system fails otherwise.
    #[error("cannot serve stdin and stdout: {0}")]
    Io(io::Error),
}

impl From<io::Error> for ProcessError {
    fn from(error: io::Error) -> Self {
        Shortage::of(&error).map_or(Self::Io(error), Self::Shortage)
    }
}

/// Readies the process for serving, before anything else is done: what it does
/// when it fails is an answer, never a text, and a write past the limit of a
/// file's size is an error like another.
///
/// # Errors
/// When the system takes no handler for a signal.
pub fn prepare() -> Result<(), ProcessError> {
    std::panic::set_hook(Box::new(|panic| crate::diagnostics::report(panic)));
    signal_hook::flag::register(SIGXFSZ, Arc::new(AtomicBool::new(false)))?;
    Ok(())
}

/// Serves stdin and stdout until one of them ends or a signal says so, after
/// giving up everything but the root.
///
/// # Errors
/// See [`ProcessError`].
pub fn serve(server: Server, lockdown: Lockdown) -> Result<(), ProcessError> {
    // What needs a pipe of its own gets it before the process gives that up.
    let signals = Signals::new([SIGTERM, SIGINT, SIGHUP])?;
    let held = server.lock_down(lockdown)?;
    match lockdown {
        Lockdown::Off => crate::diagnostics::report(&"lockdown: off, as it was asked for"),
        _ => crate::diagnostics::report(&held),
    }
    let server = Arc::new(server);
    end_on_signals(signals, Arc::clone(&server))?;
    // Unbuffered: what std puts around the two would copy every byte once more.
    let stdin = Patient(File::from(io::stdin().as_fd().try_clone_to_owned()?));
    let stdout = Patient(File::from(io::stdout().as_fd().try_clone_to_owned()?));
    let end_after_grace = end_after_grace()?;
    let events = Events {
        // The other side waits for as long as the process lives.
        input_ended: &|| {
            let _ = end_after_grace.send(());
        },
        input_closed: &|| is_closed(&io::stdin()),
        // Nobody is left to serve, so nothing that still waits matters.
        output_broken: &|| end(&server),
    };
    Ok(serve::connection(&server, stdin, stdout, &events)?)
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

/// What is sent to the result ends the process after the grace, even if an
/// answer cannot be written because nobody reads.
fn end_after_grace() -> io::Result<Sender<()>> {
    let (send, told) = channel();
    thread::Builder::new().name("end".into()).spawn(move || {
        if told.recv().is_ok() {
            thread::sleep(GRACE + PATIENCE / 2);
            exit(0);
        }
    })?;
    Ok(send)
}

/// Whether the other side has closed it, also where there is more to read.
fn is_closed(file: &impl AsFd) -> bool {
    let mut polled = [PollFd::new(file, HANG_UP)];
    let closed = PollFlags::HUP | HANG_UP | PollFlags::ERR;
    poll(&mut polled, Some(&Timespec::default())).is_ok() && polled[0].revents().intersects(closed)
}

/// A file that whoever started the process may have set not to block: it is
/// waited for all the same.
struct Patient(File);

impl Patient {
    fn until<T>(
        &mut self,
        ready: PollFlags,
        mut act: impl FnMut(&mut File) -> io::Result<T>,
    ) -> io::Result<T> {
        loop {
            match act(&mut self.0) {
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    let mut polled = [PollFd::new(&self.0, ready)];
                    retry_on_intr(|| poll(&mut polled, None))?;
                }
                result => return result,
            }
        }
    }
}

impl Read for Patient {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.until(PollFlags::IN, |file| file.read(buffer))
    }
}

impl Write for Patient {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.until(PollFlags::OUT, |file| file.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}
