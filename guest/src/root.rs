//! The preopened directory as the tools see it: opening, listing, identity and
//! writing, over `wasi:filesystem`. Which paths are served the host decides;
//! here its error codes get the meaning it gives them.

use std::ops::ControlFlow;

use preopen_contract::path::RelPath;
use wasip2::filesystem::preopens::get_directories;
use wasip2::filesystem::types::{
    Descriptor, DescriptorFlags, DescriptorType, ErrorCode, OpenFlags, PathFlags,
};

use crate::refusal::Refusal;
use crate::tree::{Directory, Entry, Fault, Kind};
use crate::walk::{Bounds, holds_file};

/// What tells whether a file is still the same one with the same content: the host's hash over
/// device, inode, size, and both times in nanoseconds.
pub(crate) type Identity = [u8; 16];

/// An open directory; its paths are canonical and relative to it.
#[derive(Debug)]
pub(crate) struct Dir(Descriptor);

/// An open regular file.
#[derive(Debug)]
pub(crate) struct File(Descriptor);

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
            ErrorCode::IsDirectory => Self::IsDirectory,
            ErrorCode::NotDirectory => Self::NotDirectory,
            // The host's code for what the operating system denied: the two codes that would say
            // so are the policy's.
            ErrorCode::NotRecoverable => Self::Permission,
            ErrorCode::ReadOnly => Self::ReadOnly,
            ErrorCode::Exist => Self::Exists,
            ErrorCode::InsufficientSpace | ErrorCode::Quota => Self::NoSpace,
            ErrorCode::FileTooLarge => Self::TooLarge,
            ErrorCode::InsufficientMemory => Self::Exhausted,
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
    pub(crate) fn asked_directory(&self, path: &RelPath) -> Result<Self, Refusal> {
        let name = if path.is_root() { "." } else { path.as_str() };
        self.directory(name).map_err(|fault| match fault {
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
        let stream = self.0.read_directory()?;
        while let Some(entry) = stream.read_directory_entry()? {
            let kind = match entry.type_ {
                DescriptorType::RegularFile => Kind::File,
                DescriptorType::Directory => Kind::Directory,
                _ => Kind::Other,
            };
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

impl File {
    /// Its size in bytes.
    pub(crate) fn size(&self) -> Result<u64, Fault> {
        Ok(self.0.stat()?.size)
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

    /// Writes `content` to the beginning of the file and waits until it is on the disk.
    pub(crate) fn write(&self, content: &[u8]) -> Result<(), Fault> {
        let mut rest = content;
        while !rest.is_empty() {
            let offset = (content.len() - rest.len()) as u64;
            let written = self.0.write(rest, offset)?;
            rest = match usize::try_from(written) {
                Ok(written @ 1..) => rest.get(written..).ok_or(Fault::Other)?,
                _ => return Err(Fault::Other),
            };
        }
        Ok(self.0.sync()?)
    }
}

fn identity(upper: u64, lower: u64) -> Identity {
    (u128::from(upper) << 64 | u128::from(lower)).to_be_bytes()
}
