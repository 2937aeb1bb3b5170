//! What a process may have too little of to start, and which limit to raise.
//! It reads errors of the operating system and knows nothing of who met them.

use std::error::Error;
use std::io;

use rustix::io::Errno;
use thiserror::Error as ThisError;

/// A limit of the process that leaves it no room to start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ThisError)]
#[non_exhaustive]
pub enum Shortage {
    /// Not even a single instance fits.
    #[error("not enough address space for one call; raise the limit (ulimit -v) to at least 5 GiB")]
    AddressSpace,
    /// No more descriptors; calls take one for every level of directories.
    #[error("not enough file descriptors to start; raise the limit (ulimit -n) to at least 256")]
    Descriptors,
    /// No more threads; a stack that finds no address space is told the same way.
    #[error(
        "not enough threads to start; raise the limit on processes (ulimit -u), or lower --workers; under a tight ulimit -v, raise that"
    )]
    Threads,
    /// What instances are made from is kept in a file that no disk holds.
    #[error(
        "files may not be large enough to start; raise the limit (ulimit -f) to at least 1 MiB"
    )]
    FileSize,
}

impl Shortage {
    /// The shortage that `error` tells of, met while something starts.
    pub(crate) fn of(error: &io::Error) -> Option<Self> {
        Self::of_code(error.raw_os_error()?)
    }

    /// As [`Shortage::of`], for an error of the runtime.
    pub(crate) fn behind(error: &wasmtime::Error) -> Option<Self> {
        error.chain().find_map(Self::of_cause)
    }

    fn of_cause(cause: &(dyn Error + 'static)) -> Option<Self> {
        match cause.downcast_ref::<Errno>() {
            Some(errno) => Self::of_code(errno.raw_os_error()),
            None => Self::of(cause.downcast_ref()?),
        }
    }

    fn of_code(code: i32) -> Option<Self> {
        match Errno::from_raw_os_error(code) {
            Errno::NOMEM => Some(Self::AddressSpace),
            Errno::MFILE => Some(Self::Descriptors),
            Errno::AGAIN => Some(Self::Threads),
            Errno::FBIG => Some(Self::FileSize),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use rustix::io::Errno;

    use super::Shortage;

    #[test]
    fn an_error_tells_what_to_raise_wherever_it_comes_from() {
        for (errno, shortage) in [
            (Errno::NOMEM, Some(Shortage::AddressSpace)),
            (Errno::MFILE, Some(Shortage::Descriptors)),
            (Errno::AGAIN, Some(Shortage::Threads)),
            (Errno::FBIG, Some(Shortage::FileSize)),
            (Errno::IO, None),
        ] {
            assert_eq!(Shortage::of(&errno.into()), shortage);
            let wrapped = wasmtime::Error::new(errno).context("while starting");
            assert_eq!(Shortage::behind(&wrapped), shortage);
            let wrapped = wasmtime::Error::new(io::Error::from(errno)).context("while starting");
            assert_eq!(Shortage::behind(&wrapped), shortage);
        }
        assert_eq!(Shortage::of(&io::Error::other("no number")), None);
    }

    #[test]
    fn a_thread_that_finds_no_room_is_one_too_many() {
        // No address space is this large.
        let started = std::thread::Builder::new().stack_size(1 << 60).spawn(|| {});
        let error = started.expect_err("no thread");
        assert!(
            matches!(
                Shortage::of(&error),
                Some(Shortage::Threads | Shortage::AddressSpace)
            ),
            "{error}"
        );
    }
}
