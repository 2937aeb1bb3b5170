//! The preopened directory as the tools see it: opening, listing, identity and
//! writing, over `wasi:filesystem`. Which paths are served the host decides;
//! here its error codes get the meaning it gives them.

use std::ops::{ControlFlow, Deref};

use preopen_contract::path::RelPath;
use wasip2::filesystem::preopens::get_directories;
use wasip2::filesystem::types::{
    Descriptor, DescriptorFlags, DescriptorType, ErrorCode, OpenFlags, PathFlags,
};

use crate::refusal::Refusal;
use crate::removal::Removable;
use crate::tree::{Directory, Entry, Fault, Kind};
use crate::walk::{Bounds, holds_file};

/// What tells whether a file is still the same one with the same content: the host's hash over
/// device, inode, size, and both times in nanoseconds.
pub(crate) type Identity = [u8; 16];

/// An open directory; its paths are canonical and relative to it.
#[derive(Debug)]
pub(crate) struct Dir(Descriptor);

/// A directory that a tool was asked for: the root is open already.
#[derive(Debug)]
pub(crate) enum Asked<'a> {
    Root(&'a Dir),
    Below(Dir),
}

/// An open regular file.
#[derive(Debug)]
pub(crate) struct File(Descriptor);

/// What changes with the content of an open file: while it is the same, so is the content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Version {
    /// In bytes.
    pub(crate) size: u64,
    /// Seconds and nanoseconds of the last modification and the last change of status.
    times: [Option<(u64, u32)>; 2],
}

/// The root that the host granted, if any.
pub(crate) fn granted() -> Option<Dir> {
    get_directories()
        .into_iter()
        .next()
        .map(|(descriptor, _)| Dir(descriptor))
}

impl From<ErrorCode> for Fault {
    fn from(code: ErrorCode) -> Self {
        match code {
            ErrorCode::NotPermitted => Self::Excluded,
            ErrorCode::Access => Self::NotIncluded,
            // Too long a name is none on this disk; links lead nowhere here.
            ErrorCode::NoEntry | ErrorCode::NameTooLong | ErrorCode::Loop => Self::Missing,
            // The host's code for it: no device is ever missing.
            ErrorCode::NoDevice => Self::RootGone,
            ErrorCode::IsDirectory => Self::IsDirectory,
            ErrorCode::NotDirectory => Self::NotDirectory,
            // The host's code for what the operating system denied: the two codes that would say
            // so are the policy's.
            ErrorCode::NotRecoverable => Self::Permission,
            ErrorCode::ReadOnly => Self::ReadOnly,
            ErrorCode::Exist => Self::Exists,
            ErrorCode::NotEmpty => Self::NotEmpty,
            ErrorCode::CrossDevice => Self::OtherDisk,
            ErrorCode::InsufficientSpace | ErrorCode::Quota => Self::NoSpace,
            ErrorCode::FileTooLarge => Self::TooLarge,
            ErrorCode::InsufficientMemory => Self::Exhausted,
            ErrorCode::Busy => Self::Busy,
            _ => Self::Other,
        }
    }
}

impl Dir {
    fn open(
        &self,
        path: &str,
        open: OpenFlags,
        rights: DescriptorFlags,
    ) -> Result<Descriptor, Fault> {
        Ok(self.0.open_at(PathFlags::empty(), path, open, rights)?)
    }

    /// Opens the file at `path` for reading.
    pub(crate) fn file(&self, path: &str) -> Result<File, Fault> {
        self.open(path, OpenFlags::empty(), DescriptorFlags::READ)
            .map(File)
    }

    /// Opens the file at `path` as one that may be changed, and changes nothing.
    pub(crate) fn writable_file(&self, path: &str) -> Result<File, Fault> {
        let rights = DescriptorFlags::READ | DescriptorFlags::WRITE;
        self.open(path, OpenFlags::empty(), rights).map(File)
    }

    /// Makes the file `path`, which must not exist.
    pub(crate) fn create(&self, path: &str) -> Result<File, Fault> {
        let open = OpenFlags::CREATE | OpenFlags::EXCLUSIVE;
        self.open(path, open, DescriptorFlags::WRITE).map(File)
    }

    /// Opens the directory at `path` as one whose entries may be changed. What is listed of it ends
    /// with an entry without a name if something in it is not shown.
    pub(crate) fn mutable_directory(&self, path: &str) -> Result<Self, Fault> {
        let rights = DescriptorFlags::READ | DescriptorFlags::MUTATE_DIRECTORY;
        self.open(path, OpenFlags::DIRECTORY, rights).map(Self)
    }

    /// Makes the directory `path`, in one that is there.
    pub(crate) fn create_directory(&self, path: &str) -> Result<(), Fault> {
        Ok(self.0.create_directory_at(path)?)
    }

    /// Removes the directory `path`, which must be empty.
    pub(crate) fn remove_directory(&self, path: &str) -> Result<(), Fault> {
        Ok(self.0.remove_directory_at(path)?)
    }

    /// Whether a file or a directory is at `path`: anything else is missing.
    pub(crate) fn kind(&self, path: &str) -> Result<Kind, Fault> {
        Ok(kind(self.0.stat_at(PathFlags::empty(), path)?.type_))
    }

    /// The identity of what is at `path` now.
    pub(crate) fn identity(&self, path: &str) -> Result<Identity, Fault> {
        let hash = self.0.metadata_hash_at(PathFlags::empty(), path)?;
        Ok(identity(hash.upper, hash.lower))
    }

    /// Gives the file `from` the name `to`, replacing what has it.
    pub(crate) fn rename(&self, from: &str, to: &str) -> Result<(), Fault> {
        Ok(self.0.rename_at(from, &self.0, to)?)
    }

    /// Gives the finished temporary `from` the name `to`, which nothing may have.
    pub(crate) fn link(&self, from: &str, to: &str) -> Result<(), Fault> {
        Ok(self.0.link_at(PathFlags::empty(), from, &self.0, to)?)
    }

    /// Removes the file `path`.
    pub(crate) fn unlink(&self, path: &str) -> Result<(), Fault> {
        Ok(self.0.unlink_file_at(path)?)
    }

    /// Waits until names that were made or renamed in this directory are on the disk.
    pub(crate) fn sync(&self) -> Result<(), Fault> {
        Ok(self.0.sync()?)
    }

    /// Opens the directory that a reading tool was asked for.
    pub(crate) fn asked_directory(&self, path: &RelPath) -> Result<Asked<'_>, Refusal> {
        if path.is_root() {
            return Ok(Asked::Root(self));
        }
        let name = path.as_str();
        self.directory(name)
            .map(Asked::Below)
            .map_err(|fault| match fault {
                // A file is only spoken of where the rules serve it as one; and where they hide a
                // directory of this name, a file of it may still be served.
                Fault::NotDirectory | Fault::Excluded | Fault::NotIncluded
                    if matches!(self.file(name), Ok(_) | Err(Fault::Permission)) =>
                {
                    Refusal::NotDirectory
                }
                fault => Refusal::reading(fault),
            })
    }

    /// Says no where the rules hide the root itself, which a listing of it does not tell from an
    /// empty one.
    pub(crate) fn serves_something(&self) -> Result<(), Refusal> {
        self.directory(".").map(drop).map_err(Refusal::reading)
    }

    /// Opens the file that a tool was asked for to which every directory is there, also an empty one.
    pub(crate) fn asked_plain_file(&self, path: &RelPath) -> Result<File, Refusal> {
        if path.is_root() {
            return Err(Refusal::IsDirectory);
        }
        self.file(path.as_str()).map_err(|fault| match fault {
            // Rules that hide a file of this name may still serve a directory of it.
            Fault::Excluded | Fault::NotIncluded
                if matches!(
                    self.directory(path.as_str()),
                    Ok(_) | Err(Fault::Permission)
                ) =>
            {
                Refusal::IsDirectory
            }
            fault => Refusal::reading(fault),
        })
    }

    /// Opens the file that a reading tool was asked for.
    pub(crate) fn asked_file(&self, path: &RelPath, bounds: &mut Bounds) -> Result<File, Refusal> {
        if path.is_root() {
            return Err(Refusal::IsDirectory);
        }
        match self.file(path.as_str()) {
            Ok(file) => Ok(file),
            // Rules that hide a file of this name may still serve what is in a directory of it.
            Err(fault @ (Fault::IsDirectory | Fault::Excluded | Fault::NotIncluded)) => {
                Err(match self.directory(path.as_str()) {
                    Ok(found) if holds_file(&found, path.as_str().len() + 1, 0, bounds)? => {
                        Refusal::IsDirectory
                    }
                    // A directory that holds nothing served is not there.
                    _ if fault == Fault::IsDirectory => Refusal::Missing,
                    _ => Refusal::reading(fault),
                })
            }
            Err(fault) => Err(Refusal::reading(fault)),
        }
    }
}

impl Directory for Dir {
    fn entries(&self, each: &mut dyn FnMut(Entry) -> ControlFlow<()>) -> Result<(), Fault> {
        // Some hosts grant a root that has to be opened once more before it can be listed.
        let (_open, stream) = match self.0.read_directory() {
            Ok(stream) => (None, stream),
            Err(code) => {
                let open = self.directory(".").map_err(|_| code)?;
                let stream = open.0.read_directory()?;
                (Some(open), stream)
            }
        };
        while let Some(entry) = stream.read_directory_entry()? {
            let kind = kind(entry.type_);
            let name = entry.name;
            if each(Entry { name, kind }).is_break() {
                break;
            }
        }
        Ok(())
    }

    fn directory(&self, name: &str) -> Result<Self, Fault> {
        self.open(name, OpenFlags::DIRECTORY, DescriptorFlags::READ)
            .map(Self)
    }
}

impl Removable for Dir {
    fn enter(&self, name: &str) -> Result<Self, Fault> {
        self.mutable_directory(name)
    }

    fn unlink(&self, name: &str) -> Result<(), Fault> {
        self.unlink(name)
    }

    fn remove_directory(&self, name: &str) -> Result<(), Fault> {
        self.remove_directory(name)
    }
}

impl Deref for Asked<'_> {
    type Target = Dir;

    fn deref(&self) -> &Dir {
        match self {
            Self::Root(root) => root,
            Self::Below(directory) => directory,
        }
    }
}

impl Directory for Asked<'_> {
    fn entries(&self, each: &mut dyn FnMut(Entry) -> ControlFlow<()>) -> Result<(), Fault> {
        (**self).entries(each)
    }

    fn directory(&self, name: &str) -> Result<Self, Fault> {
        (**self).directory(name).map(Self::Below)
    }
}

impl File {
    /// Its size in bytes.
    pub(crate) fn size(&self) -> Result<u64, Fault> {
        Ok(self.0.stat()?.size)
    }

    /// Its size and times now. Asking costs the host less than [`Self::identity`].
    pub(crate) fn version(&self) -> Result<Version, Fault> {
        let stat = self.0.stat()?;
        let times = [
            stat.data_modification_timestamp,
            stat.status_change_timestamp,
        ];
        Ok(Version {
            size: stat.size,
            times: times.map(|time| time.map(|time| (time.seconds, time.nanoseconds))),
        })
    }

    /// Its identity now, as [`Dir::identity`] gives it.
    pub(crate) fn identity(&self) -> Result<Identity, Fault> {
        let hash = self.0.metadata_hash()?;
        Ok(identity(hash.upper, hash.lower))
    }

    /// At most `len` bytes from `offset`, and whether the end of the file was reached. The host
    /// may give fewer than asked, never none before the end.
    pub(crate) fn read(&self, offset: u64, len: u64) -> Result<(Vec<u8>, bool), Fault> {
        Ok(self.0.read(len, offset)?)
    }

    /// Writes `content` at `offset`.
    pub(crate) fn write(&self, content: &[u8], mut offset: u64) -> Result<(), Fault> {
        let mut rest = content;
        while !rest.is_empty() {
            let written = self.0.write(rest, offset)?;
            offset += written;
            rest = match usize::try_from(written) {
                Ok(written @ 1..) => rest.get(written..).ok_or(Fault::Other)?,
                _ => return Err(Fault::Other),
            };
        }
        Ok(())
    }

    /// Waits until it is on the disk.
    pub(crate) fn sync(&self) -> Result<(), Fault> {
        Ok(self.0.sync()?)
    }
}

const fn kind(kind: DescriptorType) -> Kind {
    match kind {
        DescriptorType::RegularFile => Kind::File,
        DescriptorType::Directory => Kind::Directory,
        _ => Kind::Other,
    }
}

fn identity(upper: u64, lower: u64) -> Identity {
    (u128::from(upper) << 64 | u128::from(lower)).to_be_bytes()
}
