//! What the program says on stderr: nothing, unless it was asked to with `-v`
//! or, for a line of every call, `-vv`. A stderr that is closed, or full and
//! never read, stops nothing: what it does not take at once is not said.

use std::fmt::Display;
use std::io::{self, Write};
use std::sync::atomic::{AtomicU8, Ordering};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

/// The most that a pipe which is ready takes without waiting, in bytes: POSIX
/// promises 512, Linux and macOS keep 4096 and 512 (pipe(7), PIPE_BUF).
const MAX_BYTES: usize = if cfg!(target_os = "linux") { 4096 } else { 512 };

static LEVEL: AtomicU8 = AtomicU8::new(0);

/// Turns diagnostics on, for the whole process: from level 2 on also a line for
/// every call.
pub fn enable(level: u8) {
    LEVEL.store(level, Ordering::Relaxed);
}

/// Whether every call is told.
pub(crate) fn tells_calls() -> bool {
    LEVEL.load(Ordering::Relaxed) > 1
}

/// Writes one line of diagnostics, if they are on.
pub(crate) fn report(what: &dyn Display) {
    if LEVEL.load(Ordering::Relaxed) > 0 {
        line(what);
    }
}

/// Writes one line, whether diagnostics are on or not.
pub fn line(what: &dyn Display) {
    let mut text = format!("preopen-mcp: {what}");
    text.truncate(text.floor_char_boundary(MAX_BYTES - 1));
    text.push('\n');
    // Whoever else has a line must not take the room in between.
    let mut stderr = io::stderr().lock();
    let mut polled = [PollFd::new(&stderr, PollFlags::OUT)];
    let ready = poll(&mut polled, Some(&Timespec::default())).is_ok()
        && polled[0].revents().contains(PollFlags::OUT);
    if ready {
        // `eprintln!` would panic when stderr is closed.
        let _ = stderr.write_all(text.as_bytes());
    }
}
