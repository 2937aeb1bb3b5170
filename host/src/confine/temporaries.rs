//! Temporaries: which names are theirs, and what becomes of those that a
//! process left behind when it died. One that is being written is locked by its
//! writer; nobody holds one that was left.

use std::ffi::CStr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use preopen_contract::policy::is_reserved;
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

use super::open::regular;
use super::resolve::{self, Place};
use super::system::{self, Listing};

/// Whether a path's last name is one of a temporary.
pub(crate) fn is_temporary(whole: &str) -> bool {
    is_reserved(whole.rsplit('/').next().unwrap_or(whole))
}

/// Removes those left in `directory`, as far as it gets before `is_late`. What
/// cannot be opened, locked or removed is left for its owner.
///
/// # Errors
/// When the directory cannot be listed.
pub(crate) fn sweep(directory: BorrowedFd<'_>, is_late: impl Fn() -> bool) -> Result<(), Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY;
    let mut listing = Listing::new(resolve::open(directory, ".", flags, Mode::empty())?)?;
    let mut left = Vec::new();
    let mut find = |name: &CStr| {
        let name = name.to_str().ok().filter(|name| is_reserved(name));
        left.extend(name.map(str::to_owned));
    };
    while listing.batch(system::BATCH, |_, name, _| find(name))? && !is_late() {}
    for name in &left {
        remove(directory, name);
    }
    Ok(())
}

/// Empties the directory at `place` if there is nothing in it but what was
/// left; says whether it is empty then.
pub(super) fn empty(place: &Place<'_>) -> bool {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY;
    let Ok(directory) = resolve::open(place.directory(), place.name, flags, Mode::empty()) else {
        return false;
    };
    let directory = directory.as_fd();
    let all = |names: Vec<String>, each: fn(BorrowedFd<'_>, &str) -> bool| {
        names
            .iter()
            .all(|name| each(directory, name))
            .then_some(names)
    };
    let names = names(directory).ok().and_then(|names| all(names, is_left));
    names.and_then(|names| all(names, remove)).is_some()
}

/// The names in a directory, as long as all of them are those of temporaries.
fn names(directory: BorrowedFd<'_>) -> Result<Vec<String>, Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY;
    let mut listing = Listing::new(resolve::open(directory, ".", flags, Mode::empty())?)?;
    let mut names = Vec::new();
    let mut others = false;
    loop {
        let more = listing.batch(system::BATCH, |_, name, _| match name.to_str() {
            Ok("." | "..") => {}
            Ok(name) if is_reserved(name) => names.push(name.to_owned()),
            _ => others = true,
        })?;
        if others {
            return Err(Errno::NOTEMPTY);
        }
        if !more {
            return Ok(names);
        }
    }
}

/// Whether it is one that was left.
pub(super) fn is_left(directory: BorrowedFd<'_>, name: &str) -> bool {
    is_reserved(name) && hold(directory, name).is_ok()
}

/// Removes it if it is one that was left; says whether it is gone.
fn remove(directory: BorrowedFd<'_>, name: &str) -> bool {
    hold(directory, name).is_ok_and(|_held| system::unlink(directory, name).is_ok())
}

/// Takes the lock that its writer would have.
fn hold(directory: BorrowedFd<'_>, name: &str) -> Result<OwnedFd, Errno> {
    regular(&system::stat_at(directory, name)?)?;
    let file = resolve::open(directory, name, OFlags::RDONLY, Mode::empty())?;
    regular(&resolve::stat(&file)?)?;
    system::lock(file.as_fd())?;
    Ok(file)
}
