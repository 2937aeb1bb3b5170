//! The slow and obvious way to resolve a path: one name after the other, each
//! below the directory that the one before opened, following no link. It
//! serves where the kernel cannot resolve a path in one step, and in debug
//! builds it checks what the kernel found. It knows nothing of the policy.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

#[cfg(debug_assertions)]
use rustix::fs::Statx;
use rustix::fs::{Mode, OFlags, openat};
use rustix::io::Errno;

#[cfg(debug_assertions)]
use super::descriptor::identity;
#[cfg(debug_assertions)]
use super::resolve;
use crate::layer::Layer;

/// Opens `path` below `directory` with `flags`, of which those for the names
/// on the way are derived. What openat2(2) refuses for leading out of the
/// directory is refused with the same error.
pub(super) fn open(
    directory: BorrowedFd<'_>,
    path: &str,
    flags: OFlags,
    mode: Mode,
) -> Result<OwnedFd, Errno> {
    if Layer::Capability.holds() && (path.starts_with('/') || path.split('/').any(|s| s == "..")) {
        return Err(Errno::XDEV);
    }
    let Some((parents, last)) = path.rsplit_once('/') else {
        return openat(directory, path, flags, mode);
    };
    let entering = (flags & OFlags::NOFOLLOW) | OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let mut held: Option<OwnedFd> = None;
    if path.starts_with('/') {
        held = Some(openat(directory, "/", entering, Mode::empty())?);
    }
    for name in parents.split('/').filter(|name| !name.is_empty()) {
        let from = held.as_ref().map_or(directory, AsFd::as_fd);
        held = Some(openat(from, name, entering, Mode::empty())?);
    }
    let from = held.as_ref().map_or(directory, AsFd::as_fd);
    openat(from, last, flags, mode)
}

/// How often the two ways are compared before they count as different. Names
/// that change in between make them differ now and then, never every time.
#[cfg(debug_assertions)]
const COMPARISONS: usize = 256;

/// Panics when walking to `path` leads to another file than `found`, the one
/// that the kernel opened, and goes on doing so.
#[cfg(debug_assertions)]
pub(super) fn assert_agrees(directory: BorrowedFd<'_>, path: &str, found: &OwnedFd) {
    if !(Layer::Capability.holds() && Layer::Policy.holds()) {
        return;
    }
    let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let walked = || match open(directory, path, flags, Mode::empty()) {
        // No answer is no other answer.
        Err(Errno::MFILE | Errno::NFILE | Errno::NOMEM | Errno::INTR) => None,
        Err(errno) => Some(Err(errno)),
        Ok(file) => Some(resolve::stat(file).map(|found| identity(&found))),
    };
    let agrees = |found: Result<Statx, Errno>| {
        let walked = walked();
        found.is_err() || walked.is_none_or(|walked| walked == found.map(|found| identity(&found)))
    };
    let again = || resolve::in_one_step(directory, path, flags, Mode::empty());
    assert!(
        agrees(resolve::stat(found))
            || (0..COMPARISONS).any(|_| agrees(again().and_then(resolve::stat))),
        "two ways to resolve one path lead to two files"
    );
}

#[cfg(test)]
thread_local! {
    static FORCED: std::cell::Cell<bool> = const { std::cell::Cell::new(false) };
}

/// Whether this thread does without the kernel's own way.
#[cfg(test)]
pub(super) fn is_forced() -> bool {
    FORCED.get()
}

/// Does `work` on a thread that does without the kernel's own way.
#[cfg(test)]
pub(crate) fn forced(work: impl FnOnce() + Send) {
    std::thread::scope(|scope| {
        let work = || {
            FORCED.set(true);
            work();
        };
        if let Err(panic) = scope.spawn(work).join() {
            std::panic::resume_unwind(panic);
        }
    });
}
