//! What a directory is seen to hold: the entries that are served, each by
//! itself, as WASI has it, or many at a time to who said that it will read the
//! directory. It knows nothing of who lists and why.

use std::collections::VecDeque;
use std::os::fd::BorrowedFd;

use preopen_contract::entries::{self, LEAST};
use preopen_contract::path::{self, MAX_PATH_BYTES};
use preopen_contract::policy::Verdict;
use rustix::fs::{FileType, Mode, OFlags};
use rustix::io::Errno;
use wasmtime::component::Resource;
use wasmtime::format_err;
use wasmtime_wasi::p2::bindings::filesystem::types::ErrorCode;
use wasmtime_wasi::p2::bindings::sync::filesystem::types::{
    Descriptor, DescriptorFlags, DirectoryEntry, DirectoryEntryStream,
};
use wasmtime_wasi::p2::{FsError, FsResult};

use super::descriptor::{Node, kind, type_of};
use super::errno::{fail, refuse};
use super::resolve::{self, Place};
use super::system::{self, Listing};
use super::{Confine, View, temporaries};
use crate::layer::Layer;

/// The most bytes of entries that are handed over at a time.
const MOST: usize = system::BATCH;

/// The served entries of a directory, as they come from the system.
#[derive(Debug)]
struct Entries {
    listing: Listing,
    path: String,
    ended: bool,
    hidden: Hidden,
}

/// What a listing does with entries that are not shown. Whoever may change a
/// directory finds out that there are some, by trying to remove it; so that
/// nobody removes half a tree first, a last entry without a name says so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Hidden {
    /// Nothing is said of them: the directory was opened to read.
    Untold,
    /// None so far.
    None,
    /// There are some.
    Some,
}

impl Entries {
    /// Takes a batch of at most `size` bytes from the system and hands what is
    /// served of it to `each`.
    fn take(
        &mut self,
        confine: &mut Confine,
        size: usize,
        mut each: impl FnMut(FileType, &str),
    ) -> FsResult<()> {
        // However much is hidden, a call is stopped as any other.
        if confine.counters.has_to_stop() {
            return Err(FsError::trap(format_err!("stopped while listing")));
        }
        let Self {
            listing,
            path,
            ended,
            hidden,
        } = self;
        let policy = &confine.grant.policy;
        let whole = &mut confine.scratch;
        whole.clear();
        whole.push_str(path);
        if !path.is_empty() {
            whole.push('/');
        }
        let prefix = whole.len();
        let mut failed = Ok(());
        let more = listing.batch(size, |directory, bytes, kind| {
            let mut shown = matches!(bytes.to_bytes(), b"." | b"..");
            if let Ok(name) = bytes.to_str()
                && is_spelled(prefix, name)
            {
                let kind = match known(directory, name, kind) {
                    Ok(kind) => kind,
                    Err(errno) => {
                        failed = failed.and(Err(errno));
                        return;
                    }
                };
                whole.truncate(prefix);
                whole.push_str(name);
                let verdict = match kind {
                    FileType::Directory => policy.directory(whole),
                    _ => policy.file(whole),
                };
                if verdict == Verdict::Served || !Layer::Policy.holds() {
                    each(kind, name);
                    shown = true;
                }
                // What a process left when it died goes with the directory.
                shown |= *hidden == Hidden::None && temporaries::is_left(directory, name);
            }
            if !shown && *hidden == Hidden::None {
                *hidden = Hidden::Some;
            }
        });
        *ended = match more {
            // The directory was removed while it was listed; the root never is.
            Err(Errno::NOENT) if !path.is_empty() => true,
            more => !more.map_err(fail)?,
        };
        failed.map_err(fail)?;
        if *ended && *hidden == Hidden::Some {
            *hidden = Hidden::Untold;
            each(FileType::Unknown, "");
        }
        Ok(())
    }
}

/// Whether `name` can be spelled in a directory whose path takes so many bytes,
/// with the slash behind it: whether the two make a canonical path.
fn is_spelled(prefix: usize, name: &str) -> bool {
    let is_canonical = || match prefix {
        0 => path::is_canonical(name),
        _ => prefix + name.len() <= MAX_PATH_BYTES,
    };
    path::is_segment(name) && (is_canonical() || !Layer::Capability.holds())
}

/// The kind of an entry, also where the file system does not say it in passing.
/// It is unknown of what has gone meanwhile.
fn known(directory: BorrowedFd<'_>, name: &str, told: FileType) -> Result<FileType, Errno> {
    if told != FileType::Unknown {
        return Ok(told);
    }
    match Place::named(directory, name).stat() {
        Err(Errno::NOENT) => Ok(FileType::Unknown),
        found => found.map(|found| kind(&found)),
    }
}

/// A listing whose entries are asked for one by one.
#[derive(Debug)]
struct Stream {
    entries: Entries,
    ready: VecDeque<DirectoryEntry>,
    /// How much is taken next: little at first, since of many directories
    /// nobody asks for more than one entry.
    size: usize,
}

/// A listing that is read as if it were a file.
#[derive(Debug)]
pub(super) struct Reading {
    entries: Entries,
    /// How many bytes of it were read.
    at: u64,
}

impl View<'_> {
    /// Begins to list a directory.
    fn begin(&mut self, descriptor: &Resource<Descriptor>) -> FsResult<Entries> {
        let handle = Resource::<Node>::new_borrow(descriptor.rep());
        let node = self
            .table
            .get(&handle)
            .map_err(|_| ErrorCode::BadDescriptor)?;
        node.directory()?;
        // The root itself is never removed.
        let changes = node.rights.contains(DescriptorFlags::MUTATE_DIRECTORY);
        let hidden = match changes && !node.path.is_empty() {
            true => Hidden::None,
            false => Hidden::Untold,
        };
        refuse(self.confine.grant.policy.directory(&node.path))?;
        let found = resolve::stat(&*node.file).map_err(fail)?;
        self.confine.seen.list(&node.path, &found);
        let again = || {
            let flags = OFlags::RDONLY | OFlags::DIRECTORY;
            resolve::open(&node.file, ".", flags, Mode::empty())
        };
        Ok(Entries {
            listing: Listing::shared(&node.file, again).map_err(fail)?,
            path: node.path.clone(),
            ended: false,
            hidden,
        })
    }

    /// The entries of a directory in the form of [`entries`], from the
    /// beginning or from where the last reading ended; and whether these are
    /// the last.
    pub(super) fn read_entries(
        &mut self,
        descriptor: &Resource<Descriptor>,
        length: u64,
        offset: u64,
    ) -> FsResult<(Vec<u8>, bool)> {
        let length = usize::try_from(length).map_or(MOST, |length| length.min(MOST));
        if length < LEAST {
            return Err(ErrorCode::Invalid.into());
        }
        let handle = || Resource::<Node>::new_borrow(descriptor.rep());
        let node = self.table.get_mut(&handle());
        let under_way = node.ok().and_then(|node| node.listed.take());
        let mut reading = match (offset, under_way) {
            (0, _) => Box::new(Reading {
                entries: self.begin(descriptor)?,
                at: 0,
            }),
            (_, Some(reading)) if reading.at == offset => reading,
            _ => return Err(ErrorCode::Invalid.into()),
        };
        let mut bytes = Vec::with_capacity(length);
        let mut count = 0;
        // What the system says of an entry takes more bytes than what is said here.
        while let room = length.saturating_sub(bytes.len())
            && room >= LEAST
            && !reading.entries.ended
        {
            reading.entries.take(self.confine, room, |kind, name| {
                entries::append(&mut bytes, told(kind), name);
                count += u64::from(!name.is_empty());
            })?;
        }
        self.confine.counters.showed_entries(count);
        let ended = reading.entries.ended;
        reading.at += bytes.len() as u64;
        if let (false, Ok(node)) = (ended, self.table.get_mut(&handle())) {
            node.listed = Some(reading);
        }
        Ok((bytes, ended))
    }

    pub(super) fn list(
        &mut self,
        descriptor: &Resource<Descriptor>,
    ) -> FsResult<Resource<DirectoryEntryStream>> {
        let stream = Stream {
            entries: self.begin(descriptor)?,
            ready: VecDeque::new(),
            size: LEAST,
        };
        let resource = self
            .table
            .push(stream)
            .map_err(|_| ErrorCode::InsufficientMemory)?;
        Ok(Resource::new_own(resource.rep()))
    }

    pub(super) fn next_entry(
        &mut self,
        stream: &Resource<DirectoryEntryStream>,
    ) -> FsResult<Option<DirectoryEntry>> {
        let Stream {
            entries,
            ready,
            size,
        } = self
            .table
            .get_mut(&Resource::<Stream>::new_borrow(stream.rep()))
            .map_err(|_| ErrorCode::BadDescriptor)?;
        while ready.is_empty() && !entries.ended {
            let keep = |kind, name: &str| {
                ready.push_back(DirectoryEntry {
                    type_: type_of(kind),
                    name: name.to_owned(),
                });
            };
            entries.take(self.confine, *size, keep)?;
            *size = MOST;
        }
        let next = ready.pop_front();
        if next.as_ref().is_some_and(|entry| !entry.name.is_empty()) {
            self.confine.counters.showed_entries(1);
        }
        Ok(next)
    }

    pub(super) fn close_list(&mut self, stream: &Resource<DirectoryEntryStream>) {
        // A handle that is not there has nothing to close.
        let _ = self.table.delete(Resource::<Stream>::new_own(stream.rep()));
    }
}

/// What is said of an entry's kind.
fn told(kind: FileType) -> entries::Kind {
    match kind {
        FileType::RegularFile => entries::Kind::File,
        FileType::Directory => entries::Kind::Directory,
        _ => entries::Kind::Other,
    }
}
