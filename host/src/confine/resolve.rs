//! Every path is resolved below a directory that is open already, by the
//! kernel in one step, or where the kernel has no call for that, in steps that
//! follow no link: no check here is about a name that might mean something
//! else a moment later. It knows nothing of the policy.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::OnceLock;

use rustix::fs::{AtFlags, Mode, OFlags, ResolveFlags, Statx, StatxFlags, openat2, statx};
use rustix::io::Errno;

use super::walk;
use crate::layer::Layer;

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
    let directory = directory.as_fd();
    let mut flags = flags | OFlags::CLOEXEC;
    if Layer::Policy.holds() {
        flags |= OFlags::NOFOLLOW;
    }
    // Nothing is opened that could block; openat2(2) refuses flags that mean
    // nothing together with O_PATH.
    if !flags.contains(OFlags::PATH) {
        flags |= OFlags::NONBLOCK | OFlags::NOCTTY;
    }
    if !kernel_resolves(directory) {
        return walk::open(directory, path, flags, mode);
    }
    let file = in_one_step(directory, path, flags, mode)?;
    #[cfg(debug_assertions)]
    walk::assert_agrees(directory, path, &file);
    Ok(file)
}

/// Lets the kernel resolve the whole path.
pub(super) fn in_one_step(
    directory: BorrowedFd<'_>,
    path: &str,
    flags: OFlags,
    mode: Mode,
) -> Result<OwnedFd, Errno> {
    let mut resolve = ResolveFlags::empty();
    if Layer::Capability.holds() {
        resolve |= ResolveFlags::BENEATH;
    }
    if Layer::Policy.holds() {
        resolve |= ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    }
    let mut result = Err(Errno::AGAIN);
    for _ in 0..TRIES {
        result = openat2(directory, path, flags, mode, resolve);
        if !matches!(result, Err(Errno::AGAIN | Errno::INTR)) {
            break;
        }
    }
    result
}

/// Whether the kernel has openat2 (Linux 5.6), and what is between it and this
/// process, such as the filter of a container, knows it too. Asked once.
fn kernel_resolves(directory: BorrowedFd<'_>) -> bool {
    static ANSWER: OnceLock<bool> = OnceLock::new();
    #[cfg(test)]
    if walk::is_forced() {
        return false;
    }
    *ANSWER.get_or_init(|| {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let asked = openat2(directory, ".", flags, Mode::empty(), ResolveFlags::BENEATH);
        !matches!(asked, Err(Errno::NOSYS | Errno::PERM))
    })
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
        if !Layer::Policy.holds() {
            return stat(open(
                self.directory(),
                self.name,
                OFlags::PATH,
                Mode::empty(),
            )?);
        }
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
