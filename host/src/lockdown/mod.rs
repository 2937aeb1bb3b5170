//! What the process itself gives up before it reads the first request, should
//! the WebAssembly sandbox ever fail: with Landlock every file but the root,
//! with seccomp programs, sockets, other processes and new machine code. Only
//! Linux has the two. It knows neither component nor protocol, and there is no
//! way back.

#[cfg(target_os = "linux")]
mod linux;
#[cfg(not(target_os = "linux"))]
mod other;

use std::fmt;
use std::os::fd::BorrowedFd;

use thiserror::Error;

#[cfg(target_os = "linux")]
use linux::give_up;
#[cfg(all(test, target_os = "linux"))]
pub(crate) use linux::{Threads, confine_calls, confine_files};
#[cfg(not(target_os = "linux"))]
use other::give_up;

/// How much the process insists on it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Lockdown {
    /// As much as this kernel offers.
    #[default]
    Auto,
    /// All of it, or the server does not start.
    Required,
    /// Nothing is given up.
    Off,
}

/// Why a process that insists on it does not start.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum LockdownError {
    /// The kernel has no Landlock, or too little of it.
    #[error("this kernel does not enforce Landlock for files (Linux 6.2 or later does)")]
    Landlock,
    /// The kernel refuses the filter of system calls.
    #[error("this kernel does not take a seccomp filter")]
    Seccomp,
    /// Only Linux has the two.
    #[error("this system has neither Landlock nor seccomp (Linux 6.2 or later does)")]
    System,
    /// Threads were running already; what they could do they still can.
    #[error("the process has started threads already")]
    Threads,
}

/// What holds from now on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Held {
    /// Landlock: the process opens nothing but the root.
    pub files: bool,
    /// Seccomp: no programs, sockets, other processes or new machine code.
    pub calls: bool,
}

impl fmt::Display for Held {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = |held| if held { "enforced" } else { "not available" };
        write!(
            formatter,
            "lockdown: files {} (Landlock), calls {} (seccomp)",
            state(self.files),
            state(self.calls)
        )
    }
}

/// Gives everything up but `root`. To be called before the process has a
/// second thread: Landlock holds for the caller and what it starts.
///
/// # Errors
/// Only where `lockdown` insists; see [`LockdownError`].
pub(crate) fn enter(
    lockdown: Lockdown,
    root: BorrowedFd<'_>,
    writable: bool,
) -> Result<Held, LockdownError> {
    match lockdown {
        Lockdown::Off => Ok(Held {
            files: false,
            calls: false,
        }),
        Lockdown::Auto => give_up(false, root, writable),
        Lockdown::Required => give_up(true, root, writable),
    }
}
