//! Systems without Landlock and seccomp: nothing is given up, and it is said so.

use std::os::fd::BorrowedFd;

use super::{Held, LockdownError};

/// Gives up nothing, which with `required` is an error.
pub(super) fn give_up(required: bool, _: BorrowedFd<'_>, _: bool) -> Result<Held, LockdownError> {
    if required {
        return Err(LockdownError::System);
    }
    Ok(Held {
        files: false,
        calls: false,
    })
}
