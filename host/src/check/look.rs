//! What lies at a path below the root, seen without following a link and
//! without opening a file: name by name from the root's own descriptor. It
//! knows nothing of rules.

use std::fmt;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use preopen_mcp::path::RelPath;
use rustix::fs::{Access, AtFlags, FileType, Mode, OFlags, accessat, openat, statat};
use rustix::io::Errno;

/// How a directory on the way is held: without being opened for anything, where
/// the system can do that.
#[cfg(target_os = "linux")]
const HOLD: OFlags = OFlags::PATH;
#[cfg(target_os = "macos")]
const HOLD: OFlags = OFlags::RDONLY;

/// What lies at a path.
#[derive(Debug)]
pub(super) enum Found {
    /// A regular file of so many bytes, which this user may read or not.
    File { size: u64, readable: bool },
    /// A directory, which this user may list and enter or not.
    Directory { readable: bool },
    /// Something that is never served.
    Special(Kind),
    /// Nothing: the name before it, at this path, is no directory.
    Behind(String, Kind),
    /// Nothing: there is no such name, here or already at this path before it.
    Missing(String),
    /// This user may not look into the directory at this path; empty is the root.
    Denied(String),
    /// The system gave another error, at this path.
    Unknown(String, Errno),
}

/// What is no directory.
#[derive(Clone, Copy, Debug)]
pub(super) enum Kind {
    File,
    Link,
    Pipe,
    Socket,
    CharacterDevice,
    BlockDevice,
    /// Of a kind that the system has no name for.
    Other,
}

impl fmt::Display for Kind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::File => "a regular file",
            Self::Link => "a symbolic link",
            Self::Pipe => "a named pipe",
            Self::Socket => "a socket",
            Self::CharacterDevice => "a character device",
            Self::BlockDevice => "a block device",
            Self::Other => "neither a file nor a directory",
        })
    }
}

/// Looks what lies at `path`.
pub(super) fn look(root: BorrowedFd<'_>, path: &RelPath) -> Found {
    let mut directory: Option<OwnedFd> = None;
    let mut at = String::new();
    let mut names = path.segments().peekable();
    while let Some(name) = names.next() {
        let parent = directory.as_ref().map_or(root, AsFd::as_fd);
        let found = match statat(parent, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(found) => found,
            // Searching the directory is denied, not the name in it.
            Err(Errno::ACCESS) => return Found::Denied(at),
            Err(errno) => {
                extend(&mut at, name);
                return match errno {
                    Errno::NOENT | Errno::NAMETOOLONG => Found::Missing(at),
                    errno => Found::Unknown(at, errno),
                };
            }
        };
        let kind = match FileType::from_raw_mode(found.st_mode) {
            FileType::Directory => {
                if names.peek().is_none() {
                    let readable = may(parent, name, Access::READ_OK | Access::EXEC_OK);
                    return Found::Directory { readable };
                }
                extend(&mut at, name);
                let flags = HOLD | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
                directory = match openat(parent, name, flags, Mode::empty()) {
                    Ok(directory) => Some(directory),
                    Err(Errno::ACCESS) => return Found::Denied(at),
                    Err(errno) => return Found::Unknown(at, errno),
                };
                continue;
            }
            FileType::RegularFile => Kind::File,
            FileType::Symlink => Kind::Link,
            FileType::Fifo => Kind::Pipe,
            FileType::Socket => Kind::Socket,
            FileType::CharacterDevice => Kind::CharacterDevice,
            FileType::BlockDevice => Kind::BlockDevice,
            FileType::Unknown => Kind::Other,
        };
        if names.peek().is_some() {
            extend(&mut at, name);
            return Found::Behind(at, kind);
        }
        return match kind {
            Kind::File => Found::File {
                size: u64::try_from(found.st_size).unwrap_or_default(),
                readable: may(parent, name, Access::READ_OK),
            },
            kind => Found::Special(kind),
        };
    }
    Found::Directory {
        readable: may(root, ".", Access::READ_OK | Access::EXEC_OK),
    }
}

fn extend(path: &mut String, name: &str) {
    if !path.is_empty() {
        path.push('/');
    }
    path.push_str(name);
}

/// Whether this user may; a kernel that cannot say without following a link is
/// not asked further.
fn may(parent: BorrowedFd<'_>, name: &str, access: Access) -> bool {
    let flags = AtFlags::EACCESS | AtFlags::SYMLINK_NOFOLLOW;
    !matches!(
        accessat(parent, name, access, flags),
        Err(Errno::ACCESS | Errno::PERM)
    )
}
