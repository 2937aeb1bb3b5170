//! What the operating system's errors are called on the other side. A link, a
//! pipe, a socket or a device is not there; that the system denied something
//! is told apart from what the policy denies.

use preopen_contract::policy::Verdict;
use rustix::io::Errno;
use wasmtime_wasi::p2::FsError;
use wasmtime_wasi::p2::bindings::filesystem::types::ErrorCode;

use crate::layer::Layer;

/// The operating system's own denial: `access` and `not-permitted` are the
/// policy's, so that a component can tell them apart.
pub(super) const DENIED: ErrorCode = ErrorCode::NotRecoverable;

/// That the root itself was removed, where nothing else could be found: no
/// device is ever missing.
pub(super) const GONE: ErrorCode = ErrorCode::NoDevice;

/// The error for what the policy does not serve; nothing when it is served.
pub(super) fn refuse(verdict: Verdict) -> Result<(), ErrorCode> {
    match verdict {
        _ if !Layer::Policy.holds() => Ok(()),
        Verdict::Served => Ok(()),
        Verdict::Excluded => Err(ErrorCode::NotPermitted),
        Verdict::NotIncluded => Err(ErrorCode::Access),
    }
}

/// `errno` as a component sees it.
pub(super) fn code(errno: Errno) -> ErrorCode {
    match errno {
        // A link met on the way (openat2(2), RESOLVE_NO_SYMLINKS), and what
        // opening a socket, a pipe without a reader or a bare device gives.
        Errno::NOENT | Errno::LOOP | Errno::NXIO | Errno::NODEV | Errno::OPNOTSUPP => {
            ErrorCode::NoEntry
        }
        Errno::ACCESS | Errno::PERM => DENIED,
        Errno::NOTDIR => ErrorCode::NotDirectory,
        Errno::ISDIR => ErrorCode::IsDirectory,
        Errno::EXIST => ErrorCode::Exist,
        Errno::NOTEMPTY => ErrorCode::NotEmpty,
        Errno::NAMETOOLONG => ErrorCode::NameTooLong,
        Errno::NOSPC => ErrorCode::InsufficientSpace,
        Errno::DQUOT => ErrorCode::Quota,
        Errno::FBIG => ErrorCode::FileTooLarge,
        Errno::ROFS => ErrorCode::ReadOnly,
        Errno::MFILE | Errno::NFILE | Errno::NOMEM => ErrorCode::InsufficientMemory,
        Errno::BUSY | Errno::TXTBSY | Errno::AGAIN => ErrorCode::Busy,
        // Resolution left the root: a directory was moved out during the call.
        Errno::XDEV => ErrorCode::NotPermitted,
        _ => ErrorCode::Io,
    }
}

/// `errno` as the error of an operation.
pub(super) fn fail(errno: Errno) -> FsError {
    code(errno).into()
}
