//! Every text with which a tool says no: short, and saying what to do instead.
//! None of them can hold a path of the host or a message of its system.

use preopen_contract::path::PathError;
use thiserror::Error;

use crate::report::counted;
use crate::tree::Fault;

/// Why a tool refused or failed.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub(crate) enum Refusal {
    // Arguments.
    #[error("arguments are not valid JSON: {0}")]
    NotJson(String),
    #[error("arguments must be a JSON object")]
    NotAnObject,
    #[error("argument `{0}` is given twice; send it once")]
    Duplicate(&'static str),
    #[error("unknown argument `{name}`; this tool takes {known}")]
    Unknown { name: String, known: String },
    #[error("{0} is missing; it is required")]
    Required(&'static str),
    #[error("{0} must be a string")]
    NotAString(&'static str),
    #[error("{0} must be true or false, as a JSON boolean")]
    NotABoolean(&'static str),
    #[error("{0} must be an integer")]
    NotAnInteger(&'static str),
    #[error("limit must be at least 1")]
    LimitBelowOne,
    #[error("{0} must be a list of at most 64 strings, such as [\"rs\", \".tar.gz\"]")]
    NotAList(&'static str),
    #[error("{0} must be one line of 1 to 256 bytes")]
    Query(&'static str),
    #[error(transparent)]
    Path(#[from] PathError),

    // Cursors.
    #[error("cursor is not valid; leave it out to start again")]
    Cursor,
    #[error("cursor belongs to a different traversal; leave it out to start again")]
    OtherTraversal,
    #[error("the filesystem changed since this cursor was issued; start the traversal again")]
    Changed,

    // What a path leads to.
    #[error("path is not served by this root")]
    NotServed,
    #[error("path does not exist in this root")]
    Missing,
    #[error("path is a directory, not a file")]
    IsDirectory,
    #[error("path is a file, not a directory")]
    NotDirectory,
    #[error("the operating system does not allow this server to open the path")]
    Permission,
    #[error("the path could not be read; try again")]
    Unreadable,
    #[error("something below the path could not be read; try again, or start further down")]
    UnreadableBelow,
    #[error(
        "the root of this server was removed while it was served; the server has to be started again"
    )]
    RootGone,
    #[error("the file keeps changing; try again")]
    KeepsChanging,
    #[error("the server has too much open; try again later")]
    Exhausted,
    #[error("file has {size} bytes, more than {limit} are not read (--max-file-bytes)")]
    FileTooLarge { size: u64, limit: u64 },
    #[error("file is not UTF-8 text (byte {0}); binary content needs the workspace toolset")]
    NotText(u64),
    #[error("file is not UTF-8 text (byte {0}); read_file reads it with binary: true")]
    NotTextHere(u64),
    #[error("file is not UTF-8 text (byte {0}); read it with binary: true")]
    Binary(u64),
    #[error("file has {0} bytes, more than the memory of one call holds (--max-call-memory)")]
    OutOfMemory(u64),

    // Bounds of a walk.
    #[error(
        "more than {0} entries were visited; start at a path further down, or have --max-entries raised"
    )]
    TooManyEntries(u64),
    #[error("the root has more than {0} entries at its top level; have --max-entries raised")]
    TooManyAtTop(u64),
    #[error(
        "directories are nested more than {0} deep; start at a path further down, or have --max-depth raised"
    )]
    TooDeep(u64),

    // Writing.
    #[error(
        "path must be one basename for a file at the top of the root: [a-z0-9][a-z0-9._-]{{0,254}}, without directories"
    )]
    NotABasename,
    #[error("content has {size} bytes, more than {limit} are not written (--max-write-bytes)")]
    ContentTooLarge { size: u64, limit: u64 },
    #[error("if_hash must be `absent` or a content_hash: {0} and 64 lowercase hex digits")]
    IfHashForm(&'static str),
    #[error("path is hidden by an exclude rule of this root")]
    Excluded,
    #[error(
        "path is hidden by an exclude rule of this root, or for its name `{0}`, which --allow-blocked serves"
    )]
    Blocked(&'static str),
    #[error("no include rule of this root selects this path")]
    NotIncluded,
    #[error("no include rule of this root reaches its top level, where files are written")]
    NothingWritable,
    #[error(
        "path exists, and this server never overwrites (--write-mode create-new); choose another name"
    )]
    Exists,
    #[error("path exists, but if_hash is `absent`; nothing was changed")]
    NotAbsent,
    #[error("the present content does not have if_hash; read the file again, nothing was changed")]
    HashMismatch,
    #[error("path does not exist, so it cannot have if_hash; nothing was changed")]
    HashOfNothing,
    #[error("path exists and is not a regular file; choose another name")]
    NotRegular,
    #[error("the operating system does not allow this server to write the path")]
    NotWritable,
    #[error("this root is read-only")]
    ReadOnly,
    #[error("the disk is full or its quota used up; nothing was changed")]
    NoSpace,
    #[error("the disk does not take a file of this size; nothing was changed")]
    TooLargeForDisk,
    #[error("another process is writing to this root; nothing was changed, try again")]
    Busy,
    #[error("the file could not be written; nothing was changed")]
    Unwritten,
    #[error("a directory could not be made; nothing was changed")]
    Unmade,
    #[error("the file was written, but the disk did not confirm it; write it again")]
    Unconfirmed,
    #[error(
        "content is not base64 (byte {0}): RFC 4648, section 4, with padding; line breaks may stand in it"
    )]
    NotBase64(usize),
    #[error("a file or a link is in the way: `{0}` in this path is not a directory")]
    InTheWay(String),

    // Removing.
    #[error("if_hash must be a content_hash: {0} and 64 lowercase hex digits")]
    RemovalHashForm(&'static str),
    #[error("the root itself is never removed; name a directory in it")]
    RootStays,
    #[error(
        "path is a link, pipe, socket or device; it is removed only with the directory that it is in"
    )]
    Special,
    #[error("the directory is not empty; nothing was removed (force removes it with all it holds)")]
    NotEmpty,
    #[error(
        "the rules of this root hide something in the directory, or a name in it cannot be spelled; nothing was removed"
    )]
    HoldsHidden,
    #[error("the operating system does not allow this server to remove it; nothing was removed")]
    NotRemovable,
    #[error("the operating system has it in use, such as for a mount; nothing was removed")]
    InUse,
    #[error("it could not be removed; nothing was removed, try again")]
    Unremoved,
    #[error(
        "the directory holds too much to be looked through in one call; nothing was removed: remove directories in it first, or have --call-timeout raised"
    )]
    TooMuchToRemove,
    #[error(
        "not all of it is removed: {} then {why}; call again to go on",
        counted(*removed, "entry was,", "entries were,")
    )]
    RemovedInPart { removed: u64, why: &'static str },
}

impl Refusal {
    /// Whether a walk may pass over what it met and say nothing of it: what went meanwhile, or is
    /// not for this server to open. Where a disk fails or the server is at its end, files that are
    /// there would seem not to be.
    pub(crate) const fn pass_over(fault: Fault) -> Result<(), Self> {
        match fault {
            Fault::Exhausted => Err(Self::Exhausted),
            Fault::RootGone => Err(Self::RootGone),
            fault if fault.is_failure() => Err(Self::UnreadableBelow),
            _ => Ok(()),
        }
    }

    /// Whether a walk may pass over what it met and count it, so that its answer tells of it.
    pub(crate) const fn count(fault: Fault) -> Result<(), Self> {
        match fault {
            Fault::Exhausted => Err(Self::Exhausted),
            Fault::RootGone => Err(Self::RootGone),
            _ => Ok(()),
        }
    }

    /// What a reading tool says: it never tells apart the rules that hide a path.
    pub(crate) fn reading(fault: Fault) -> Self {
        match fault {
            Fault::Excluded | Fault::NotIncluded => Self::NotServed,
            Fault::Missing | Fault::NotDirectory => Self::Missing,
            Fault::IsDirectory => Self::IsDirectory,
            Fault::Permission => Self::Permission,
            Fault::Exhausted => Self::Exhausted,
            Fault::RootGone => Self::RootGone,
            Fault::Changing => Self::KeepsChanging,
            Fault::ReadOnly
            | Fault::Exists
            | Fault::NotEmpty
            | Fault::OtherDisk
            | Fault::NoSpace
            | Fault::TooLarge
            | Fault::Busy
            | Fault::Other => Self::Unreadable,
        }
    }

    /// What a writing tool says: it names the rule, so that the caller can pick another path.
    pub(crate) fn writing(fault: Fault) -> Self {
        match fault {
            Fault::Excluded => Self::Excluded,
            Fault::NotIncluded => Self::NotIncluded,
            Fault::IsDirectory | Fault::NotDirectory => Self::NotRegular,
            Fault::Permission => Self::NotWritable,
            Fault::ReadOnly => Self::ReadOnly,
            Fault::NoSpace => Self::NoSpace,
            Fault::TooLarge => Self::TooLargeForDisk,
            Fault::Exhausted => Self::Exhausted,
            Fault::RootGone => Self::RootGone,
            // Of a file that is there: a program that runs, or a mount.
            Fault::Exists
            | Fault::NotEmpty
            | Fault::OtherDisk
            | Fault::Missing
            | Fault::Changing
            | Fault::Busy
            | Fault::Other => Self::Unwritten,
        }
    }

    /// What is said where a directory cannot be made.
    pub(crate) fn making(fault: Fault) -> Self {
        match Self::writing(fault) {
            Self::Unwritten => Self::Unmade,
            refusal => refusal,
        }
    }

    /// What a removing tool says; it names the rule as [`Self::writing`] does.
    pub(crate) fn removing(fault: Fault) -> Self {
        match fault {
            Fault::Missing => Self::Missing,
            Fault::IsDirectory => Self::IsDirectory,
            Fault::NotDirectory => Self::NotDirectory,
            Fault::NotEmpty => Self::NotEmpty,
            Fault::Permission => Self::NotRemovable,
            Fault::Busy => Self::InUse,
            Fault::Excluded
            | Fault::NotIncluded
            | Fault::ReadOnly
            | Fault::Exhausted
            | Fault::RootGone => Self::writing(fault),
            Fault::Exists
            | Fault::NoSpace
            | Fault::TooLarge
            | Fault::OtherDisk
            | Fault::Changing
            | Fault::Other => Self::Unremoved,
        }
    }
}
