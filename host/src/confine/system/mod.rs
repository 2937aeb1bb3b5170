//! Every system call that confinement makes. What each system has a way of its
//! own for stands in a file of that system, with the same functions in all of
//! them: how a path is resolved, what a file is, what a directory lists. What
//! is the same everywhere stands in `calls`. It knows nothing of the policy.

mod calls;
#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "macos")]
mod macos;

use rustix::fs::RawMode;

pub(crate) use calls::*;
#[cfg(target_os = "linux")]
pub(crate) use linux::*;
#[cfg(target_os = "macos")]
pub(crate) use macos::*;

/// What an object of a file system is, and in which state.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Found {
    /// Major and minor number of the device it is on.
    pub(crate) device: (u32, u32),
    pub(crate) inode: u64,
    /// Its type and its permissions.
    pub(crate) mode: RawMode,
    /// How many names it has.
    pub(crate) links: u64,
    pub(crate) owner: u32,
    pub(crate) group: u32,
    /// In bytes.
    pub(crate) size: u64,
    /// When it was last read.
    pub(crate) accessed: Time,
    /// When its content was last changed.
    pub(crate) modified: Time,
    /// When anything about it was last changed.
    pub(crate) changed: Time,
}

/// A time since 1970, as exact as the file system keeps it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Time {
    pub(crate) seconds: i64,
    pub(crate) nanoseconds: u32,
}
