//! What the program says on stderr: nothing, unless it was asked to with `-v`.
//! A stderr that is closed, or full and never read, stops nothing.

use std::fmt::Display;
use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};

static VERBOSE: AtomicBool = AtomicBool::new(false);

/// Turns diagnostics on, for the whole process.
pub fn enable() {
    VERBOSE.store(true, Ordering::Relaxed);
}

/// Writes one line of diagnostics, if they are on.
pub(crate) fn report(what: &dyn Display) {
    if VERBOSE.load(Ordering::Relaxed) {
        line(what);
    }
}

/// Writes one line, whether diagnostics are on or not.
pub fn line(what: &dyn Display) {
    // `eprintln!` would panic when stderr is closed.
    let _ = writeln!(std::io::stderr(), "preopen-mcp: {what}");
}
