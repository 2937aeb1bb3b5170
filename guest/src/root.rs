//! The preopened directory as the tools see it: opening, listing, identity and
//! writing, over `wasi:filesystem`. Which paths are served the host decides,
//! and its error codes get the meaning it gives them; where the host knows no
//! rules, every path goes through the guard of the component on its own.

mod entries;
mod file;

use std::ops::{ControlFlow, Deref};
use std::rc::Rc;

use preopen_contract::path::RelPath;
use wasip2::filesystem::preopens::get_directories;
use wasip2::filesystem::types::{
    Advice, Descriptor, DescriptorFlags, ErrorCode, MetadataHashValue, OpenFlags, PathFlags,
};

pub(crate) use self::entries::{kind, listing};
pub(crate) use self::file::{File, Identity, Version};
use crate::refusal::Refusal;
use crate::removal::Removable;
use crate::standalone::guard::{self, Guard, Scope};
use crate::tree::{Directory, Entry, Fault, Kind, Wanted};
use crate::walk::{Bounds, holds_file};

/// An open directory; its paths are canonical and relative to it.
#[derive(Debug)]
pub(crate) struct Dir {
    descriptor: Descriptor,
    /// What keeps to the rules where the host does not; none below a host that does.
    scope: Option<Scope>,
}

/// A directory that a tool was asked for: the root is open already.
#[derive(Debug)]
pub(crate) enum Asked<'a> {
    Root(&'a Dir),
    Below(Dir),
}

/// The root that the host granted, if any; the rules are the host's.
pub(crate) fn granted() -> Option<Dir> {
    let (descriptor, _) = get_directories().into_iter().next()?;
    Some(Dir {
        descriptor,
        scope: None,
    })
}

/// The same, of a host that knows no rules: `guard` keeps to them.
pub(crate) fn guarded(guard: Rc<Guard>) -> Option<Dir> {
    Some(Dir {
        scope: Some(Scope::root(guard)),
        ..granted()?
    })
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
        match &self.scope {
            None => {
                let open_with = |rights| {
                    self.descriptor
                        .open_at(PathFlags::empty(), path, open, rights)
                };
                match open_with(rights) {
                    // A host that knows no such right has no rules that could hide anything.
                    Err(ErrorCode::Unsupported) => {
                        Ok(open_with(rights - DescriptorFlags::MUTATE_DIRECTORY)?)
                    }
                    opened => Ok(opened?),
                }
            }
            Some(scope) => scope.open(&self.descriptor, path, open, rights),
        }
    }

    fn open_file(
        &self,
        path: &str,
        open: OpenFlags,
        rights: DescriptorFlags,
    ) -> Result<File, Fault> {
        Ok(File {
            descriptor: self.open(path, open, rights)?,
            guard: self.scope.as_ref().map(Scope::guard),
        })
    }

    fn open_directory(&self, path: &str, rights: DescriptorFlags) -> Result<Self, Fault> {
        Ok(Self {
            descriptor: self.open(path, OpenFlags::DIRECTORY, rights)?,
            scope: self.scope.as_ref().map(|scope| scope.below(path, rights)),
        })
    }

    /// Opens the file at `path` for reading.
    pub(crate) fn file(&self, path: &str) -> Result<File, Fault> {
        self.open_file(path, OpenFlags::empty(), DescriptorFlags::READ)
    }

    /// Opens the file at `path` as one that may be changed, and changes nothing.
    pub(crate) fn writable_file(&self, path: &str) -> Result<File, Fault> {
        let rights = DescriptorFlags::READ | DescriptorFlags::WRITE;
        self.open_file(path, OpenFlags::empty(), rights)
    }

    /// Makes the file `path`, which must not exist.
    pub(crate) fn create(&self, path: &str) -> Result<File, Fault> {
        let open = OpenFlags::CREATE | OpenFlags::EXCLUSIVE;
        self.open_file(path, open, DescriptorFlags::WRITE)
    }

    /// Opens the directory at `path` as one whose entries may be changed. What is listed of it ends
    /// with an entry without a name if something in it is not shown.
    pub(crate) fn mutable_directory(&self, path: &str) -> Result<Self, Fault> {
        self.open_directory(
            path,
            DescriptorFlags::READ | DescriptorFlags::MUTATE_DIRECTORY,
        )
    }

    /// Makes the directory `path`, in one that is there.
    pub(crate) fn create_directory(&self, path: &str) -> Result<(), Fault> {
        match &self.scope {
            None => Ok(self.descriptor.create_directory_at(path)?),
            Some(scope) => scope.create_directory(&self.descriptor, path),
        }
    }

    /// Removes the directory `path`, which must be empty.
    pub(crate) fn remove_directory(&self, path: &str) -> Result<(), Fault> {
        match &self.scope {
            None => Ok(self.descriptor.remove_directory_at(path)?),
            Some(scope) => scope.remove_directory(&self.descriptor, path),
        }
    }

    /// Whether a file or a directory is at `path`: anything else is missing.
    pub(crate) fn kind(&self, path: &str) -> Result<Kind, Fault> {
        match &self.scope {
            None => {
                let stat = self.descriptor.stat_at(PathFlags::empty(), path)?;
                Ok(kind(stat.type_))
            }
            Some(scope) => scope.kind(&self.descriptor, path),
        }
    }

    /// The identity of what is at `path` now.
    pub(crate) fn identity(&self, path: &str) -> Result<Identity, Fault> {
        match &self.scope {
            None => {
                let hash = self.descriptor.metadata_hash_at(PathFlags::empty(), path)?;
                Ok(identity(&hash))
            }
            Some(scope) => scope.identity(&self.descriptor, path),
        }
    }

    /// Gives the file `from` the name `to`, replacing what has it.
    pub(crate) fn rename(&self, from: &str, to: &str) -> Result<(), Fault> {
        match &self.scope {
            None => Ok(self.descriptor.rename_at(from, &self.descriptor, to)?),
            Some(scope) => scope.replace(&self.descriptor, from, to),
        }
    }

    /// Gives the finished temporary `from` the name `to`, which nothing may have.
    pub(crate) fn link(&self, from: &str, to: &str) -> Result<(), Fault> {
        match &self.scope {
            None => {
                let flags = PathFlags::empty();
                Ok(self.descriptor.link_at(flags, from, &self.descriptor, to)?)
            }
            Some(scope) => scope.put(&self.descriptor, from, to),
        }
    }

    /// Removes the file `path`.
    pub(crate) fn unlink(&self, path: &str) -> Result<(), Fault> {
        match &self.scope {
            None => Ok(self.descriptor.unlink_file_at(path)?),
            Some(scope) => scope.unlink(&self.descriptor, path),
        }
    }

    /// Waits until names that were made or renamed in this directory are on the disk.
    pub(crate) fn sync(&self) -> Result<(), Fault> {
        match &self.scope {
            None => match self.descriptor.sync() {
                // As with listing: not before it has been opened once more.
                Err(ErrorCode::Invalid) => Ok(self.directory(".")?.descriptor.sync()?),
                synced => Ok(synced?),
            },
            Some(_) => guard::sync(&self.descriptor),
        }
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
                Fault::NotDirectory | Fault::Excluded | Fault::NotIncluded => {
                    match self.file(name) {
                        Ok(_) | Err(Fault::Permission) => Refusal::NotDirectory,
                        Err(failure) if failure.is_failure() => Refusal::reading(failure),
                        Err(_) => Refusal::reading(fault),
                    }
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
                    Err(fault) if fault.is_failure() || fault == Fault::Permission => {
                        Refusal::reading(fault)
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
    fn entries(
        &self,
        wanted: Wanted,
        each: &mut dyn FnMut(Entry<'_>) -> ControlFlow<()>,
    ) -> Result<(), Fault> {
        match &self.scope {
            None => entries::all(&self.descriptor, wanted, each),
            Some(scope) => scope.entries(&self.descriptor, each),
        }
    }

    fn directory(&self, name: &str) -> Result<Self, Fault> {
        self.open_directory(name, DescriptorFlags::READ)
    }

    fn asking_pays(&self) -> bool {
        // Of what a path is only the kind is used: a host that keeps to the rules takes note of no
        // more then. Another one is told nothing about directories, and each of its paths is
        // followed name by name.
        self.scope.is_none() && self.descriptor.advise(0, 0, Advice::NoReuse).is_ok()
    }

    fn has_file(&self, path: &str) -> bool {
        self.kind(path) == Ok(Kind::File)
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
    fn entries(
        &self,
        wanted: Wanted,
        each: &mut dyn FnMut(Entry<'_>) -> ControlFlow<()>,
    ) -> Result<(), Fault> {
        (**self).entries(wanted, each)
    }

    fn directory(&self, name: &str) -> Result<Self, Fault> {
        (**self).directory(name).map(Self::Below)
    }

    fn asking_pays(&self) -> bool {
        (**self).asking_pays()
    }

    fn has_file(&self, path: &str) -> bool {
        (**self).has_file(path)
    }
}

fn identity(hash: &MetadataHashValue) -> Identity {
    (u128::from(hash.upper) << 64 | u128::from(hash.lower)).to_be_bytes()
}
