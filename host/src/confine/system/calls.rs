//! The system calls of confinement that are the same on every system, one
//! function each, and the one way in which any of them is made: what a signal
//! interrupted is asked for again, and tests can make it fail.

use std::os::fd::{BorrowedFd, OwnedFd};

use rustix::buffer::spare_capacity;
use rustix::fs::{AtFlags, FlockOperation, Gid, Mode, OFlags, RawMode, Uid};
use rustix::io::Errno;

use crate::confine::faults::{self, Kind};

/// How often a call is made that a signal interrupts each time.
const TRIES: usize = 64;

/// Makes a call.
pub(super) fn call<T>(
    kind: Kind,
    mut operation: impl FnMut() -> Result<T, Errno>,
) -> Result<T, Errno> {
    let mut result = Err(Errno::INTR);
    for _ in 0..TRIES {
        result = faults::meet(kind).and_then(|()| operation());
        if !matches!(result, Err(Errno::INTR)) {
            break;
        }
    }
    result
}

/// Opens `name` in `directory`.
pub(crate) fn open_at(
    directory: BorrowedFd<'_>,
    name: &str,
    flags: OFlags,
    mode: Mode,
) -> Result<OwnedFd, Errno> {
    call(Kind::Open, || {
        rustix::fs::openat(directory, name, flags, mode)
    })
}

/// Appends to `bytes` what is at `offset`, at most as much as it has room for.
/// Says how much; nothing is the end of the file.
pub(crate) fn read(file: BorrowedFd<'_>, bytes: &mut Vec<u8>, offset: u64) -> Result<usize, Errno> {
    call(Kind::Read, || match faults::most(Kind::Read) {
        None => rustix::io::pread(file, spare_capacity(bytes), offset),
        Some(most) => {
            let mut part = vec![0; most.min(bytes.capacity() - bytes.len())];
            let read = rustix::io::pread(file, &mut part[..], offset)?;
            bytes.extend_from_slice(&part[..read]);
            Ok(read)
        }
    })
}

/// Writes bytes at `offset`; says how many.
pub(crate) fn write(file: BorrowedFd<'_>, bytes: &[u8], offset: u64) -> Result<usize, Errno> {
    call(Kind::Write, || {
        let most = faults::most(Kind::Write).unwrap_or(bytes.len());
        rustix::io::pwrite(file, &bytes[..most.min(bytes.len())], offset)
    })
}

/// Takes the lock of an open file or directory, if nobody has it.
pub(crate) fn lock(file: BorrowedFd<'_>) -> Result<(), Errno> {
    call(Kind::Lock, || {
        rustix::fs::flock(file, FlockOperation::NonBlockingLockExclusive)
    })
}

/// Sets the permissions of an open file.
pub(crate) fn set_mode(file: BorrowedFd<'_>, mode: RawMode) -> Result<(), Errno> {
    let mode = Mode::from_raw_mode(mode);
    call(Kind::SetMode, || rustix::fs::fchmod(file, mode))
}

/// Gives an open file to an owner or a group, as far as this process may: that
/// takes a privilege, or membership.
pub(crate) fn give(
    file: BorrowedFd<'_>,
    owner: Option<u32>,
    group: Option<u32>,
) -> Result<(), Errno> {
    let (owner, group) = (owner.map(Uid::from_raw), group.map(Gid::from_raw));
    match call(Kind::SetOwner, || rustix::fs::fchown(file, owner, group)) {
        // Not everybody may, not everybody is known here, and not every file
        // system knows owners.
        Err(Errno::PERM | Errno::ACCESS | Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => Ok(()),
        Err(errno) if errno == Errno::NOTSUP => Ok(()),
        result => result,
    }
}

/// Gives the file `old` in `from` the name `new` in `to`, whatever had it.
pub(crate) fn rename(
    from: BorrowedFd<'_>,
    old: &str,
    to: BorrowedFd<'_>,
    new: &str,
) -> Result<(), Errno> {
    call(Kind::Rename, || rustix::fs::renameat(from, old, to, new))
}

/// Gives the file `old` in `from` another name.
pub(super) fn link(
    from: BorrowedFd<'_>,
    old: &str,
    to: BorrowedFd<'_>,
    new: &str,
) -> Result<(), Errno> {
    call(Kind::Link, || {
        rustix::fs::linkat(from, old, to, new, AtFlags::empty())
    })
}

/// Makes a directory, with what the umask leaves of every right.
pub(crate) fn make_directory(directory: BorrowedFd<'_>, name: &str) -> Result<(), Errno> {
    let mode = Mode::from_raw_mode(0o777);
    call(Kind::MakeDirectory, || {
        rustix::fs::mkdirat(directory, name, mode)
    })
}

/// Removes a directory that is empty.
pub(crate) fn remove_directory(directory: BorrowedFd<'_>, name: &str) -> Result<(), Errno> {
    call(Kind::RemoveDirectory, || {
        rustix::fs::unlinkat(directory, name, AtFlags::REMOVEDIR)
    })
}
