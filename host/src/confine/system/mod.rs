//! What confinement asks of the operating system in a way of its own: how a
//! path is resolved, what a file is, what a directory lists. Each system has
//! a file, and all of them the same functions. It knows nothing of the policy.

#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "macos")]
mod macos;

use rustix::fs::RawMode;

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
