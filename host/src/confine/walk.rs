//! The slow and obvious way to resolve a path: one name after the other, each
//! below the directory that the one before opened, following no link. It
//! serves where the kernel cannot resolve a path in one step, and in debug
//! builds it checks what the kernel found. It knows nothing of the policy.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

use super::system::{HOLD, open_at};
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
        return open_at(directory, path, flags, mode);
    };
    let entering = (flags & OFlags::NOFOLLOW) | HOLD | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let mut held: Option<OwnedFd> = None;
    if path.starts_with('/') {
        held = Some(open_at(directory, "/", entering, Mode::empty())?);
    }
    for name in parents.split('/').filter(|name| !name.is_empty()) {
        let from = held.as_ref().map_or(directory, AsFd::as_fd);
        held = Some(open_at(from, name, entering, Mode::empty())?);
    }
    let from = held.as_ref().map_or(directory, AsFd::as_fd);
    open_at(from, last, flags, mode)
}

#[cfg(test)]
thread_local! {
    static FORCED: std::cell::Cell<bool> = const { std::cell::Cell::new(false) };
}

/// Whether this thread does without the kernel's own way.
#[cfg(all(test, target_os = "linux"))]
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
