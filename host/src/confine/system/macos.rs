//! macOS: a path is always walked. There is no way to hold a file without
//! opening it, so a directory on the way has to be readable, not only
//! searchable. Listings come from readdir(3), each from a descriptor of its own.

use std::ffi::CStr;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::sync::Arc;

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, RenameFlags, Stat, major, minor};
use rustix::io::Errno;

use super::calls::{call, link};
use super::{Found, Time};
use crate::confine::faults::{self, Kind};
use crate::confine::walk;

/// With it a file is opened that is only to be held.
pub(crate) const HOLD: OFlags = OFlags::RDONLY;

/// The most bytes of entries that are taken between two looks at the clock.
pub(crate) const BATCH: usize = 32 << 10;

/// What an entry is counted as beside its name, in bytes: what other systems
/// need for it.
const ENTRY: usize = 24;

/// The longest name on most disks, in bytes.
const LONGEST: usize = 255;

/// `flags`, and with them those by which opening never blocks.
pub(crate) fn without_waiting(flags: OFlags) -> OFlags {
    flags | OFlags::NONBLOCK | OFlags::NOCTTY
}

/// Opens `path` below `directory`, following no link.
pub(crate) fn open(
    directory: BorrowedFd<'_>,
    path: &str,
    flags: OFlags,
    mode: Mode,
) -> Result<OwnedFd, Errno> {
    walk::open(directory, path, flags, mode)
}

/// What an open descriptor is.
pub(crate) fn stat(descriptor: BorrowedFd<'_>) -> Result<Found, Errno> {
    call(Kind::Stat, || rustix::fs::fstat(descriptor)).map(Found::from)
}

/// What `name` is in `directory`; a link is a link.
pub(crate) fn stat_at(directory: BorrowedFd<'_>, name: &str) -> Result<Found, Errno> {
    let flags = AtFlags::SYMLINK_NOFOLLOW;
    call(Kind::Stat, || rustix::fs::statat(directory, name, flags)).map(Found::from)
}

impl From<Stat> for Found {
    fn from(found: Stat) -> Self {
        let time = |seconds: i64, nanoseconds: i64| Time {
            seconds,
            nanoseconds: u32::try_from(nanoseconds).unwrap_or(0),
        };
        Self {
            device: (major(found.st_dev), minor(found.st_dev)),
            inode: found.st_ino,
            mode: found.st_mode,
            links: u64::from(found.st_nlink),
            owner: found.st_uid,
            group: found.st_gid,
            size: u64::try_from(found.st_size).unwrap_or(0),
            accessed: time(found.st_atime, found.st_atime_nsec),
            modified: time(found.st_mtime, found.st_mtime_nsec),
            changed: time(found.st_ctime, found.st_ctime_nsec),
        }
    }
}

/// A listing of a directory under way.
#[derive(Debug)]
pub(crate) struct Listing {
    directory: Dir,
}

impl Listing {
    /// Lists what `again` opens, which is `directory` once more: readdir(3)
    /// closes in the end what it reads.
    pub(crate) fn shared(
        _: &Arc<OwnedFd>,
        again: impl FnOnce() -> Result<OwnedFd, Errno>,
    ) -> Result<Self, Errno> {
        Self::new(again()?)
    }

    /// Lists a directory that was opened for it.
    pub(crate) fn new(directory: OwnedFd) -> Result<Self, Errno> {
        let directory = Dir::new(directory)?;
        Ok(Self { directory })
    }

    /// Takes a batch of entries, which need at most `size` bytes, and hands them
    /// to `each`, with the directory and a kind that may be unknown. Says
    /// whether there are more.
    pub(crate) fn batch(
        &mut self,
        size: usize,
        mut each: impl FnMut(BorrowedFd<'_>, &CStr, FileType),
    ) -> Result<bool, Errno> {
        call(Kind::List, || Ok(()))?;
        let mut taken = 0;
        // One more could be as long as a name can be.
        while taken + ENTRY + LONGEST <= size {
            let Some(entry) = self.directory.read() else {
                return Ok(false);
            };
            let entry = entry?;
            let kind = faults::told(entry.file_type());
            taken += ENTRY + entry.file_name().to_bytes().len();
            each(self.directory.fd()?, entry.file_name(), kind);
        }
        Ok(true)
    }
}

/// Removes a name that is not a directory's.
pub(crate) fn unlink(directory: BorrowedFd<'_>, name: &str) -> Result<(), Errno> {
    let unlink = || rustix::fs::unlinkat(directory, name, AtFlags::empty());
    match call(Kind::Unlink, unlink) {
        // unlink(2) says of a directory what it says of a file that is not one's own.
        Err(Errno::PERM) if is_directory(directory, name) => Err(Errno::ISDIR),
        result => result,
    }
}

fn is_directory(directory: BorrowedFd<'_>, name: &str) -> bool {
    stat_at(directory, name)
        .is_ok_and(|found| FileType::from_raw_mode(found.mode) == FileType::Directory)
}

/// Gives the file `old` in `from` the name `new` in `to`, if nothing has it.
pub(crate) fn put(
    from: BorrowedFd<'_>,
    old: &str,
    to: BorrowedFd<'_>,
    new: &str,
) -> Result<(), Errno> {
    let flags = RenameFlags::NOREPLACE;
    let rename = || rustix::fs::renameat_with(from, old, to, new, flags);
    match call(Kind::Rename, rename) {
        // A file system that cannot rename this way may be able to link.
        Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => link(from, old, to, new),
        result => result,
    }
}

/// Returns once what was written is on disk: fsync(2) alone leaves it in the
/// drive's own memory. Where a file system cannot do more, that has to do.
pub(crate) fn sync(descriptor: BorrowedFd<'_>) -> Result<(), Errno> {
    call(Kind::Sync, || {
        match rustix::fs::fcntl_fullfsync(descriptor) {
            Err(Errno::NOTSUP | Errno::OPNOTSUPP | Errno::INVAL | Errno::NOTTY) => {
                rustix::fs::fsync(descriptor)
            }
            result => result,
        }
    })
}
