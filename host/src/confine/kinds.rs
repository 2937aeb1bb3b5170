//! Of what kind the things are that have a name, for those who use nothing else
//! of them. It knows no handle and no rule.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

use super::resolve::{self, Place};
use super::seen::Seen;
use super::system::Found;

/// What has the name that `below` ends with, found as if each directory on the
/// way were listed: one that may not be read has nothing in it. What is told
/// depends on the states of these directories alone.
pub(super) fn asked_for(
    seen: &mut Seen,
    base: BorrowedFd<'_>,
    below: &str,
    whole: &str,
) -> Result<Option<Found>, Errno> {
    let nothing = |errno| match errno {
        Errno::NOENT | Errno::NOTDIR => Ok(None),
        errno => Err(errno),
    };
    let (mut opened, mut rest) = (None, below);
    loop {
        let directory = opened.as_ref().map_or(base, OwnedFd::as_fd);
        let path = whole[..whole.len() - rest.len()].trim_end_matches('/');
        if seen.is_certain() && !seen.knows(path) {
            seen.list(path, &resolve::stat(directory)?);
        }
        let Some((next, behind)) = rest.split_once('/') else {
            let found = Place::named(directory, rest).stat();
            return found.map_or_else(nothing, |found| Ok(Some(found)));
        };
        let flags = OFlags::RDONLY | OFlags::DIRECTORY;
        match resolve::open(directory, next, flags, Mode::empty()) {
            Ok(next) => opened = Some(next),
            Err(errno) => return nothing(errno),
        }
        rest = behind;
    }
}
