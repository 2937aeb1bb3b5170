//! The kernel resolves every path, in one step, below a directory that is
//! open already: no check here is about a name that might mean something else
//! a moment later. It knows nothing of the policy.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::fs::{AtFlags, Mode, OFlags, ResolveFlags, Statx, StatxFlags, openat2, statx};
use rustix::io::Errno;

/// How often an open is tried again that a concurrent rename interrupted:
/// openat2(2) asks for that after EAGAIN.
const TRIES: usize = 64;

/// Opens `path` below `directory`, following no link at any component.
pub(super) fn open(
    directory: impl AsFd,
    path: &str,
    flags: OFlags,
    mode: Mode,
) -> Result<OwnedFd, Errno> {
    let mut flags = flags | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    // Nothing is opened that could block; openat2(2) refuses flags that mean
    // nothing together with O_PATH.
    if !flags.contains(OFlags::PATH) {
        flags |= OFlags::NONBLOCK | OFlags::NOCTTY;
    }
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    let mut result = Err(Errno::AGAIN);
    for _ in 0..TRIES {
        result = openat2(directory.as_fd(), path, flags, mode, resolve);
        if !matches!(result, Err(Errno::AGAIN | Errno::INTR)) {
            break;
        }
    }
    result
}

/// The directory that holds the last name of a path, and that name.
pub(super) struct Place<'a> {
    parent: Option<OwnedFd>,
    base: BorrowedFd<'a>,
    /// One name, without a slash.
    pub(super) name: &'a str,
}

impl<'a> Place<'a> {
    /// Finds `path`, which is canonical, below `base`.
    pub(super) fn of(base: BorrowedFd<'a>, path: &'a str) -> Result<Self, Errno> {
        let Some((parent, name)) = path.rsplit_once('/') else {
            return Ok(Self {
                parent: None,
                base,
                name: path,
            });
        };
        let flags = OFlags::PATH | OFlags::DIRECTORY;
        // Below what is no directory there is nothing.
        let parent = open(base, parent, flags, Mode::empty()).map_err(|errno| match errno {
            Errno::NOTDIR => Errno::NOENT,
            errno => errno,
        })?;
        Ok(Self {
            parent: Some(parent),
            base,
            name,
        })
    }

    /// The directory the name stands in.
    pub(super) fn directory(&self) -> BorrowedFd<'_> {
        self.parent.as_ref().map_or(self.base, AsFd::as_fd)
    }

    /// What stands under the name, if anything; a link is a link.
    pub(super) fn stat(&self) -> Result<Statx, Errno> {
        statx(
            self.directory(),
            self.name,
            AtFlags::SYMLINK_NOFOLLOW,
            StatxFlags::BASIC_STATS,
        )
    }
}

/// What an open descriptor is.
pub(super) fn stat(descriptor: impl AsFd) -> Result<Statx, Errno> {
    statx(descriptor, "", AtFlags::EMPTY_PATH, StatxFlags::BASIC_STATS)
}
