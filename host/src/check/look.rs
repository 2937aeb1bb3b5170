//! What lies at a path below the root, seen without following a link and
//! without opening a file: name by name from the root's own descriptor. It
//! knows nothing of rules.

use std::fmt;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use preopen_mcp::path::RelPath;
use rustix::fs::{Access, AtFlags, FileType, Mode, OFlags, Stat, accessat, openat};
use rustix::io::Errno;

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
        let (held, found) = match stand_at(parent, name) {
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
                directory = match enter(parent, name, held) {
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

/// What has `name`, held without being opened.
#[cfg(target_os = "linux")]
type Held = OwnedFd;

/// Nothing: a file that is not opened cannot be held here.
#[cfg(target_os = "macos")]
type Held = ();

/// What has `name`, and what it is. A link is a link.
#[cfg(target_os = "linux")]
fn stand_at(parent: BorrowedFd<'_>, name: &str) -> Result<(Held, Stat), Errno> {
    let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let file = openat(parent, name, flags, Mode::empty())?;
    let found = rustix::fs::fstat(&file)?;
    Ok((file, found))
}

/// What `name` is. A link is a link.
#[cfg(target_os = "macos")]
fn stand_at(parent: BorrowedFd<'_>, name: &str) -> Result<(Held, Stat), Errno> {
    let found = rustix::fs::statat(parent, name, AtFlags::SYMLINK_NOFOLLOW)?;
    Ok(((), found))
}

/// The directory `name`, to look what is in it.
#[cfg(target_os = "linux")]
fn enter(_: BorrowedFd<'_>, _: &str, held: Held) -> Result<OwnedFd, Errno> {
    Ok(held)
}

/// The directory `name`, to look what is in it.
#[cfg(target_os = "macos")]
fn enter(parent: BorrowedFd<'_>, name: &str, (): Held) -> Result<OwnedFd, Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    openat(parent, name, flags, Mode::empty())
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
