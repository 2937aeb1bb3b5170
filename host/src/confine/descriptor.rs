//! A descriptor is a capability: an open file or directory, the path it stands
//! for below the root, and the rights it was opened with. What can be done
//! with one that is open stands here; how one comes to be stands in `open`.

use std::cell::Cell;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;

use preopen_contract::path;
use preopen_contract::policy::Policy;
use rustix::fs::FileType;
use rustix::io::Errno;
use sha2::{Digest, Sha256};
use wasmtime::component::Resource;
use wasmtime_wasi::p2::FsResult;
use wasmtime_wasi::p2::bindings::filesystem::types::ErrorCode;
use wasmtime_wasi::p2::bindings::sync::filesystem::types::{
    Datetime, Descriptor, DescriptorFlags, DescriptorStat, DescriptorType, MetadataHashValue,
};

use super::errno::{fail, refuse};
use super::listing::Reading;
use super::system::{self, Found, Time};
use super::temporaries::is_temporary;
use super::unfinished::Unfinished;
use super::{Confine, View, resolve};
use crate::layer::Layer;

/// The most that one read hands over, in bytes.
const READ_MAX: usize = 1 << 20;

/// An open file or directory.
#[derive(Debug)]
pub(super) struct Node {
    /// Shared with the listings of the directory that are under way.
    pub(super) file: Arc<OwnedFd>,
    /// Canonical and relative to the root; empty for the root.
    pub(super) path: String,
    pub(super) is_directory: bool,
    pub(super) rights: DescriptorFlags,
    /// What it was when it was opened, until something of it is read or
    /// written: whoever asks in between needs no newer answer.
    pub(super) opened: Cell<Option<Found>>,
    /// Of a directory: what its holder said of how it is used.
    pub(super) advised: Cell<Advised>,
    /// What is read of a directory and not yet read to its end.
    pub(super) listed: Option<Box<Reading>>,
    /// Set on a file this descriptor made, for as long as it is not complete:
    /// it goes with its descriptor.
    pub(super) unfinished: Option<Unfinished>,
}

/// How a directory is used, beyond what WASI has directories for.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Advised {
    /// It is read as if it were a file: [`View::read_entries`].
    pub(super) is_read: bool,
    /// Of what is told of a path below it only the kind is used:
    /// [`View::kind_below`].
    pub(super) kinds_only: bool,
}

impl Node {
    /// The directory for an operation on a path below it.
    pub(super) fn directory(&self) -> Result<BorrowedFd<'_>, ErrorCode> {
        if self.is_directory {
            Ok(self.file.as_fd())
        } else {
            Err(ErrorCode::NotDirectory)
        }
    }

    fn readable(&self) -> Result<BorrowedFd<'_>, ErrorCode> {
        self.holds(DescriptorFlags::READ)
    }

    fn holds(&self, right: DescriptorFlags) -> Result<BorrowedFd<'_>, ErrorCode> {
        if self.is_directory {
            Err(ErrorCode::IsDirectory)
        } else if self.rights.contains(right) || !Layer::Capability.holds() {
            Ok(self.file.as_fd())
        } else {
            Err(ErrorCode::BadDescriptor)
        }
    }

    /// The directory for an operation that changes an entry of it.
    pub(super) fn mutable(&self) -> Result<BorrowedFd<'_>, ErrorCode> {
        let directory = self.directory()?;
        let may = self.rights.contains(DescriptorFlags::MUTATE_DIRECTORY);
        if may || !Layer::Capability.holds() {
            Ok(directory)
        } else {
            Err(ErrorCode::ReadOnly)
        }
    }
}

impl Confine {
    /// Joins `below`, a path as a component spelled it, to the path of the
    /// directory it starts from, in a buffer that is handed back by
    /// [`Confine::keep`]. What is not in canonical form is refused.
    pub(super) fn join(&mut self, base: &str, below: &str) -> Result<String, ErrorCode> {
        let mut joined = std::mem::take(&mut self.scratch);
        joined.clear();
        joined.push_str(base);
        if !base.is_empty() {
            joined.push('/');
        }
        joined.push_str(below);
        if path::is_canonical(&joined) || !Layer::Capability.holds() {
            Ok(joined)
        } else {
            self.keep(joined);
            Err(ErrorCode::NotPermitted)
        }
    }

    /// Takes a buffer back.
    pub(super) fn keep(&mut self, buffer: String) {
        self.scratch = buffer;
    }
}

/// What a path names once it is joined and judged.
pub(super) struct Target {
    /// From the root.
    pub(super) whole: String,
    /// The directory the operation starts from.
    pub(super) base: Arc<OwnedFd>,
}

impl View<'_> {
    pub(super) fn node(&self, descriptor: &Resource<Descriptor>) -> Result<&Node, ErrorCode> {
        self.table
            .get(&Resource::<Node>::new_borrow(descriptor.rep()))
            .map_err(|_| ErrorCode::BadDescriptor)
    }

    pub(super) fn push(&mut self, node: Node) -> FsResult<Resource<Descriptor>> {
        let resource = self
            .table
            .push(node)
            .map_err(|_| ErrorCode::InsufficientMemory)?;
        Ok(Resource::new_own(resource.rep()))
    }

    /// The path that `below` names from `descriptor`, which must be a directory.
    pub(super) fn target(
        &mut self,
        descriptor: &Resource<Descriptor>,
        below: &str,
    ) -> Result<Target, ErrorCode> {
        let node = self
            .table
            .get(&Resource::<Node>::new_borrow(descriptor.rep()))
            .map_err(|_| ErrorCode::BadDescriptor)?;
        node.directory()?;
        let base = Arc::clone(&node.file);
        let whole = self.confine.join(&node.path, below)?;
        Ok(Target { whole, base })
    }

    pub(super) fn read_at(
        &mut self,
        descriptor: &Resource<Descriptor>,
        length: u64,
        offset: u64,
    ) -> FsResult<(Vec<u8>, bool)> {
        let node = self.node(descriptor)?;
        let file = node.readable()?;
        let length = usize::try_from(length).map_or(READ_MAX, |length| length.min(READ_MAX));
        if length == 0 {
            return Ok((Vec::new(), false));
        }
        node.opened.set(None);
        let mut bytes = Vec::with_capacity(length);
        let mut at_end = false;
        // That less comes than was asked for is not the end: the disk may have
        // failed behind it, which only the next read says.
        while !at_end && bytes.len() < length {
            let from = offset.saturating_add(bytes.len() as u64);
            at_end = system::read(file, &mut bytes, from).map_err(fail)? == 0;
        }
        self.confine.counters.moved(bytes.len());
        Ok((bytes, at_end))
    }

    pub(super) fn write_at(
        &mut self,
        descriptor: &Resource<Descriptor>,
        mut bytes: Vec<u8>,
        offset: u64,
    ) -> FsResult<u64> {
        let file = self.node(descriptor)?.holds(DescriptorFlags::WRITE)?;
        let written = system::write(file, &bytes, offset).map_err(fail)?;
        self.confine.counters.wrote(written);
        if let Some(hash) = &mut self.confine.written {
            bytes.truncate(written);
            hash.add(bytes);
        }
        Ok(written as u64)
    }

    pub(super) fn flush(&mut self, descriptor: &Resource<Descriptor>) -> FsResult<()> {
        // The processor has nothing else to do while the disk has.
        if let Some(hash) = &mut self.confine.written {
            hash.begin();
        }
        let node = self.node(descriptor)?;
        let right = if node.is_directory {
            DescriptorFlags::MUTATE_DIRECTORY
        } else {
            DescriptorFlags::WRITE
        };
        if !node.rights.contains(right) {
            return Err(ErrorCode::BadDescriptor.into());
        }
        match system::sync(node.file.as_fd()) {
            // Some file systems cannot sync a directory and say so.
            Err(Errno::INVAL) if node.is_directory => {}
            result => result.map_err(fail)?,
        }
        // On disk in full, a file is finished; a temporary only once it is renamed.
        let handle = Resource::<Node>::new_borrow(descriptor.rep());
        if let Ok(node) = self.table.get_mut(&handle)
            && !is_temporary(&node.path)
            && let Some(unfinished) = node.unfinished.take()
        {
            unfinished.finish();
        }
        Ok(())
    }

    pub(super) fn stat_open(&mut self, descriptor: &Resource<Descriptor>) -> FsResult<Found> {
        let node = self
            .table
            .get(&Resource::<Node>::new_borrow(descriptor.rep()))
            .map_err(|_| ErrorCode::BadDescriptor)?;
        let found = match node.opened.get() {
            Some(found) => found,
            None => resolve::stat(&*node.file).map_err(fail)?,
        };
        self.confine.seen.look(&node.path, &found);
        Ok(found)
    }

    /// What stands at a path: only regular files and directories are there.
    pub(super) fn stat_below(
        &mut self,
        descriptor: &Resource<Descriptor>,
        below: &str,
    ) -> FsResult<Found> {
        if below == "." {
            return self.stat_open(descriptor);
        }
        let Target { whole, base } = self.target(descriptor, below)?;
        let served = Served::at(&self.confine.grant.policy, &whole)?;
        let found = resolve::Place::of(base.as_fd(), below)
            .and_then(|place| place.stat())
            .map_err(fail)?;
        self.confine.seen.look(&whole, &found);
        self.confine.keep(whole);
        served.admit(found)
    }

    /// The same for who uses nothing of it but the kind. What kind of thing has
    /// a name, or that none has, is the same for as long as the directories on
    /// the way are: so these are what was seen, and all of it.
    pub(super) fn kind_below(
        &mut self,
        descriptor: &Resource<Descriptor>,
        below: &str,
    ) -> FsResult<Found> {
        if below == "." {
            return self.stat_open(descriptor);
        }
        let Target { whole, base } = self.target(descriptor, below)?;
        let served = Served::at(&self.confine.grant.policy, &whole)?;
        let found = super::kinds::asked_for(&mut self.confine.seen, base.as_fd(), below, &whole);
        if found.is_err() {
            self.confine.seen.doubt();
        }
        self.confine.keep(whole);
        let found = found.map_err(fail)?.ok_or(ErrorCode::NoEntry)?;
        served.admit(found)
    }
}

/// As what the rules serve a path, and why not.
struct Served {
    file: Result<(), ErrorCode>,
    directory: Result<(), ErrorCode>,
}

impl Served {
    /// The error is that of a file, where the path is served as nothing.
    fn at(policy: &Policy, whole: &str) -> Result<Self, ErrorCode> {
        let (file, directory) = (policy.file(whole), policy.directory(whole));
        let (file, directory) = (refuse(file), refuse(directory));
        if directory.is_err() {
            file?;
        }
        Ok(Self { file, directory })
    }

    /// What was found there, if it is of a kind that is served.
    fn admit(&self, found: Found) -> FsResult<Found> {
        let served = match kind(&found) {
            FileType::RegularFile => self.file.is_ok(),
            FileType::Directory => self.directory.is_ok(),
            _ => !Layer::Policy.holds(),
        };
        if served {
            Ok(found)
        } else {
            Err(ErrorCode::NoEntry.into())
        }
    }
}

/// Which object it is: its device and its number there.
pub(super) fn identity(found: &Found) -> ((u32, u32), u64) {
    (found.device, found.inode)
}

/// What kind of thing it is.
pub(super) fn kind(found: &Found) -> FileType {
    FileType::from_raw_mode(found.mode)
}

/// What was found, in WASI's terms.
pub(super) fn describe(found: &Found) -> DescriptorStat {
    let time = |time: Time| {
        Some(Datetime {
            seconds: u64::try_from(time.seconds).unwrap_or(0),
            nanoseconds: time.nanoseconds,
        })
    };
    DescriptorStat {
        type_: type_of(kind(found)),
        link_count: found.links,
        size: found.size,
        data_access_timestamp: time(found.accessed),
        data_modification_timestamp: time(found.modified),
        status_change_timestamp: time(found.changed),
    }
}

/// A file type in WASI's terms.
pub(super) fn type_of(kind: FileType) -> DescriptorType {
    match kind {
        FileType::RegularFile => DescriptorType::RegularFile,
        FileType::Directory => DescriptorType::Directory,
        FileType::Symlink => DescriptorType::SymbolicLink,
        FileType::Fifo => DescriptorType::Fifo,
        FileType::Socket => DescriptorType::Socket,
        FileType::BlockDevice => DescriptorType::BlockDevice,
        FileType::CharacterDevice => DescriptorType::CharacterDevice,
        FileType::Unknown => DescriptorType::Unknown,
    }
}

/// Identity and state of a file in 128 bits: device, inode, size, and both
/// times in nanoseconds. It differs whenever the file does, and says nothing
/// of what went in.
pub(super) fn fingerprint(found: &Found) -> MetadataHashValue {
    let mut hash = Sha256::new();
    let (major, minor) = found.device;
    hash.update(major.to_le_bytes());
    hash.update(minor.to_le_bytes());
    hash.update(found.inode.to_le_bytes());
    hash.update(found.size.to_le_bytes());
    for time in [found.modified, found.changed] {
        hash.update(time.seconds.to_le_bytes());
        hash.update(time.nanoseconds.to_le_bytes());
    }
    let digest: [u8; 32] = hash.finalize().into();
    let half = |at: usize| {
        let mut bytes = [0; 8];
        bytes.copy_from_slice(&digest[at..at + 8]);
        u64::from_le_bytes(bytes)
    };
    MetadataHashValue {
        lower: half(0),
        upper: half(8),
    }
}
