//! Linux: a path is resolved by openat2(2) in one step, or where the kernel
//! has no such call, walked. In debug builds the two check each other. What a
//! file is comes from statx(2), and listings straight from getdents64(2).

use std::ffi::CStr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::{Arc, OnceLock};

use rustix::fs::{
    AtFlags, FileType, Mode, OFlags, RawDir, RawMode, RenameFlags, ResolveFlags, SeekFrom, Statx,
    StatxFlags, StatxTimestamp, openat2, renameat_with, statx,
};
use rustix::io::Errno;

use super::calls::{call, link};
use super::{Found, Time};
#[cfg(debug_assertions)]
use crate::confine::descriptor::identity;
use crate::confine::faults::{self, Kind};
use crate::confine::walk;
use crate::layer::Layer;

/// With it a file is held, without being opened for anything.
pub(crate) const HOLD: OFlags = OFlags::PATH;

/// How often an open is tried again that a concurrent rename interrupted:
/// openat2(2) asks for that after EAGAIN.
const TRIES: usize = 64;

/// The most bytes of entries that are worth taking from the kernel at a time.
pub(crate) const BATCH: usize = 32 << 10;

/// `flags`, and with them those by which opening never blocks.
pub(crate) fn without_waiting(flags: OFlags) -> OFlags {
    // openat2(2) refuses flags that mean nothing together with O_PATH.
    if flags.contains(HOLD) {
        flags
    } else {
        flags | OFlags::NONBLOCK | OFlags::NOCTTY
    }
}

/// Opens `path` below `directory`, following no link.
pub(crate) fn open(
    directory: BorrowedFd<'_>,
    path: &str,
    flags: OFlags,
    mode: Mode,
) -> Result<OwnedFd, Errno> {
    if !kernel_resolves(directory) {
        return walk::open(directory, path, flags, mode);
    }
    let file = in_one_step(directory, path, flags, mode)?;
    #[cfg(debug_assertions)]
    faults::aside(|| assert_agrees(directory, path, &file));
    Ok(file)
}

/// Lets the kernel resolve the whole path.
fn in_one_step(
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
        result = call(Kind::Open, || {
            openat2(directory, path, flags, mode, resolve)
        });
        if !matches!(result, Err(Errno::AGAIN)) {
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
        let flags = HOLD | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let asked = openat2(directory, ".", flags, Mode::empty(), ResolveFlags::BENEATH);
        !matches!(asked, Err(Errno::NOSYS | Errno::PERM))
    })
}

/// How often the two ways are compared before they count as different. Names
/// that change in between make them differ now and then, never every time.
#[cfg(debug_assertions)]
const COMPARISONS: usize = 256;

/// Panics when walking to `path` leads to another file than `found`, the one
/// that the kernel opened, and goes on doing so.
#[cfg(debug_assertions)]
fn assert_agrees(directory: BorrowedFd<'_>, path: &str, found: &OwnedFd) {
    if !(Layer::Capability.holds() && Layer::Policy.holds()) {
        return;
    }
    let flags = HOLD | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let walked = || match walk::open(directory, path, flags, Mode::empty()) {
        // No answer is no other answer.
        Err(Errno::MFILE | Errno::NFILE | Errno::NOMEM | Errno::INTR) => None,
        Err(errno) => Some(Err(errno)),
        Ok(file) => Some(stat(file.as_fd()).map(|found| identity(&found))),
    };
    let agrees = |found: Result<Found, Errno>| {
        let walked = walked();
        found.is_err() || walked.is_none_or(|walked| walked == found.map(|found| identity(&found)))
    };
    let again = || in_one_step(directory, path, flags, Mode::empty());
    assert!(
        agrees(stat(found.as_fd()))
            || (0..COMPARISONS).any(|_| agrees(again().and_then(|file| stat(file.as_fd())))),
        "two ways to resolve one path lead to two files"
    );
}

/// What an open descriptor is.
pub(crate) fn stat(descriptor: BorrowedFd<'_>) -> Result<Found, Errno> {
    let (flags, mask) = (AtFlags::EMPTY_PATH, StatxFlags::BASIC_STATS);
    call(Kind::Stat, || statx(descriptor, "", flags, mask)).map(Found::from)
}

/// What `name` is in `directory`; a link is a link.
pub(crate) fn stat_at(directory: BorrowedFd<'_>, name: &str) -> Result<Found, Errno> {
    let (flags, mask) = (AtFlags::SYMLINK_NOFOLLOW, StatxFlags::BASIC_STATS);
    call(Kind::Stat, || statx(directory, name, flags, mask)).map(Found::from)
}

impl From<Statx> for Found {
    fn from(found: Statx) -> Self {
        let time = |time: StatxTimestamp| Time {
            seconds: time.tv_sec,
            nanoseconds: time.tv_nsec,
        };
        Self {
            device: (found.stx_dev_major, found.stx_dev_minor),
            inode: found.stx_ino,
            mode: RawMode::from(found.stx_mode),
            links: u64::from(found.stx_nlink),
            owner: found.stx_uid,
            group: found.stx_gid,
            size: found.stx_size,
            accessed: time(found.stx_atime),
            modified: time(found.stx_mtime),
            changed: time(found.stx_ctime),
        }
    }
}

/// A listing of a directory under way.
#[derive(Debug)]
pub(crate) struct Listing {
    directory: Arc<OwnedFd>,
    buffer: Vec<u8>,
}

impl Listing {
    /// Lists `directory`, or what `again` opens, which is the same directory
    /// once more. A listing moves the offset of what it reads, so it needs one
    /// that nobody else is listing: this one, if it is held once.
    pub(crate) fn shared(
        directory: &Arc<OwnedFd>,
        again: impl FnOnce() -> Result<OwnedFd, Errno>,
    ) -> Result<Self, Errno> {
        if Arc::strong_count(directory) != 1 {
            return Self::new(again()?);
        }
        call(Kind::Rewind, || {
            rustix::fs::seek(directory, SeekFrom::Start(0))
        })?;
        Ok(Self::of(Arc::clone(directory)))
    }

    /// Lists a directory that was opened for it.
    pub(crate) fn new(directory: OwnedFd) -> Result<Self, Errno> {
        Ok(Self::of(Arc::new(directory)))
    }

    fn of(directory: Arc<OwnedFd>) -> Self {
        Self {
            directory,
            buffer: Vec::new(),
        }
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
        self.buffer.reserve(size);
        let buffer = &mut self.buffer.spare_capacity_mut()[..size];
        let directory = self.directory.as_fd();
        let mut batch = RawDir::new(directory, buffer);
        loop {
            let entry = match batch.next() {
                None => return Ok(false),
                Some(Err(Errno::INTR)) => continue,
                Some(entry) => entry?,
            };
            let kind = faults::told(entry.file_type());
            each(directory, entry.file_name(), kind);
            if batch.is_buffer_empty() {
                return Ok(true);
            }
        }
    }
}

/// Removes a name that is not a directory's.
pub(crate) fn unlink(directory: BorrowedFd<'_>, name: &str) -> Result<(), Errno> {
    call(Kind::Unlink, || {
        rustix::fs::unlinkat(directory, name, AtFlags::empty())
    })
}

/// Gives the file `old` in `from` the name `new` in `to`, if nothing has it.
pub(crate) fn put(
    from: BorrowedFd<'_>,
    old: &str,
    to: BorrowedFd<'_>,
    new: &str,
) -> Result<(), Errno> {
    let flags = RenameFlags::NOREPLACE;
    match call(Kind::Rename, || renameat_with(from, old, to, new, flags)) {
        // A file system that cannot rename this way may be able to link.
        Err(Errno::INVAL | Errno::NOSYS) => link(from, old, to, new),
        result => result,
    }
}

/// Returns once what was written is on disk.
pub(crate) fn sync(descriptor: BorrowedFd<'_>) -> Result<(), Errno> {
    call(Kind::Sync, || rustix::fs::fsync(descriptor))
}
