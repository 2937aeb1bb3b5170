//! Every path is resolved below a directory that is open already, by the
//! kernel in one step, or where the kernel has no call for that, in steps that
//! follow no link: no check here is about a name that might mean something
//! else a moment later. It knows nothing of the policy.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

use super::system::{self, Found, HOLD};
use crate::layer::Layer;

/// Opens `path` below `directory`, following no link at any component.
pub(super) fn open(
    directory: impl AsFd,
    path: &str,
    flags: OFlags,
    mode: Mode,
) -> Result<OwnedFd, Errno> {
    let directory = directory.as_fd();
    let mut flags = flags | OFlags::CLOEXEC;
    if Layer::Policy.holds() {
        flags |= OFlags::NOFOLLOW;
    }
    // Nothing is opened that could block.
    let flags = system::without_waiting(flags);
    system::open(directory, path, flags, mode)
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
            return Ok(Self::named(base, path));
        };
        let flags = HOLD | OFlags::DIRECTORY;
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

    /// The one name `name` in `directory`.
    pub(super) const fn named(directory: BorrowedFd<'a>, name: &'a str) -> Self {
        Self {
            parent: None,
            base: directory,
            name,
        }
    }

    /// Where the last name of `path` is, when `directory` is known to hold it.
    pub(super) fn directly(directory: BorrowedFd<'a>, path: &'a str) -> Self {
        Self::named(directory, path.rsplit('/').next().unwrap_or(path))
    }

    /// The directory the name stands in.
    pub(super) fn directory(&self) -> BorrowedFd<'_> {
        self.parent.as_ref().map_or(self.base, AsFd::as_fd)
    }

    /// What stands under the name, if anything; a link is a link.
    pub(super) fn stat(&self) -> Result<Found, Errno> {
        if !Layer::Policy.holds() {
            return stat(open(self.directory(), self.name, HOLD, Mode::empty())?);
        }
        system::stat_at(self.directory(), self.name)
    }
}

/// What an open descriptor is.
pub(super) fn stat(descriptor: impl AsFd) -> Result<Found, Errno> {
    system::stat(descriptor.as_fd())
}
