//! The rules of a root where the host knows none. Every path passes through
//! here: the policy is asked first, by the path alone; then it is followed name
//! by name, each looked at and opened without following a link. What the answers
//! mean to a tool is the same as below the native host.

use std::ops::ControlFlow;
use std::rc::Rc;

use preopen_contract::path;
use preopen_contract::policy::{Policy, Verdict, is_reserved};
use wasip2::filesystem::types::{
    Descriptor, DescriptorFlags, DescriptorStat, ErrorCode, MetadataHashValue, OpenFlags, PathFlags,
};

use super::watch::Watch;
use crate::digest::Fields;
use crate::parents::parent;
use crate::root::{Identity, kind, listing};
use crate::tree::{Entry, Fault, Kind};

/// What is served of a root, and what watches over the calls that work on it.
#[derive(Debug)]
pub(crate) struct Guard {
    policy: Policy,
    writable: bool,
    pub(crate) watch: Watch,
}

/// A directory as the guard sees it.
#[derive(Debug)]
pub(crate) struct Scope {
    guard: Rc<Guard>,
    /// Canonical and relative to the root; empty for the root.
    path: String,
    /// Whether a listing of it ends with an entry without a name if something is not shown.
    tells: bool,
}

/// What the rules say of a path.
type Judge = fn(&Policy, &str) -> Verdict;

impl Guard {
    /// Serves what the policy does; `writable` unless nothing may be changed.
    pub(super) fn new(policy: Policy, writable: bool) -> Self {
        Self {
            policy,
            writable,
            watch: Watch::default(),
        }
    }

    fn may_change(&self) -> Result<(), Fault> {
        match self.writable {
            true => Ok(()),
            false => Err(Fault::ReadOnly),
        }
    }

    fn serves(&self, judge: Judge, whole: &str) -> Result<(), Fault> {
        match judge(&self.policy, whole) {
            Verdict::Served => Ok(()),
            Verdict::Excluded => Err(Fault::Excluded),
            Verdict::NotIncluded => Err(Fault::NotIncluded),
        }
    }
}

impl Scope {
    /// The root.
    pub(crate) fn root(guard: Rc<Guard>) -> Self {
        Self {
            guard,
            path: String::new(),
            tells: false,
        }
    }

    /// What watches over what is opened here.
    pub(crate) fn guard(&self) -> Rc<Guard> {
        Rc::clone(&self.guard)
    }

    /// The directory `below` this one, opened with `rights`.
    pub(crate) fn below(&self, below: &str, rights: DescriptorFlags) -> Self {
        let path = match below {
            "." => self.path.clone(),
            below => self.join(below),
        };
        Self {
            guard: self.guard(),
            // The root itself is never removed.
            tells: rights.contains(DescriptorFlags::MUTATE_DIRECTORY) && !path.is_empty(),
            path,
        }
    }

    pub(crate) fn open(
        &self,
        base: &Descriptor,
        below: &str,
        open: OpenFlags,
        rights: DescriptorFlags,
    ) -> Result<Descriptor, Fault> {
        let change = DescriptorFlags::WRITE | DescriptorFlags::MUTATE_DIRECTORY;
        if rights.intersects(change) {
            self.guard.may_change()?;
        }
        if open.contains(OpenFlags::DIRECTORY) {
            self.open_directory(base, below)
        } else {
            self.open_file(base, below, open, rights)
        }
    }

    fn open_directory(&self, base: &Descriptor, below: &str) -> Result<Descriptor, Fault> {
        if below == "." {
            self.guard.serves(Policy::directory, &self.path)?;
            return enter(base, ".");
        }
        let whole = self.whole(below)?;
        self.guard.serves(Policy::directory, &whole)?;
        let place = self.place(base, below)?;
        match place.kind()? {
            Kind::Directory => enter(place.directory(), place.name),
            // Served as a directory, there as a file: said only if the file is served.
            Kind::File if self.guard.policy.file(&whole) == Verdict::Served => {
                Err(Fault::NotDirectory)
            }
            _ => Err(Fault::Missing),
        }
    }

    fn open_file(
        &self,
        base: &Descriptor,
        below: &str,
        open: OpenFlags,
        rights: DescriptorFlags,
    ) -> Result<Descriptor, Fault> {
        let whole = self.whole(below)?;
        let makes = open.contains(OpenFlags::CREATE);
        // A temporary is only ever made, next to files that are served; it is never found.
        let judge = match makes {
            true => changed,
            false => Policy::file,
        };
        self.guard.serves(judge, &whole)?;
        let place = self.place(base, below)?;
        if !makes {
            // Opening a pipe or a device does something by itself.
            self.regular(&whole, place.kind()?)?;
        }
        let flags = PathFlags::empty();
        let opened = place.directory().open_at(flags, place.name, open, rights);
        let opened = opened.map_err(fault)?;
        // What was put there just then is let go of unread.
        let found = kind(opened.get_type().map_err(fault)?);
        self.regular(&whole, found)?;
        Ok(opened)
    }

    /// Whether `found`, at `whole`, is a file; of a directory is only spoken where it is served.
    fn regular(&self, whole: &str, found: Kind) -> Result<(), Fault> {
        match found {
            Kind::File => Ok(()),
            Kind::Directory if self.guard.policy.directory(whole) == Verdict::Served => {
                Err(Fault::IsDirectory)
            }
            _ => Err(Fault::Missing),
        }
    }

    /// Whether a file or a directory is at `below`: anything else is missing.
    pub(crate) fn kind(&self, base: &Descriptor, below: &str) -> Result<Kind, Fault> {
        let place = self.look(base, below)?;
        let found = place.kind()?;
        self.is_served(below, found).map(|()| found)
    }

    /// What [`identity`] makes of what is at `below`.
    pub(crate) fn identity(&self, base: &Descriptor, below: &str) -> Result<Identity, Fault> {
        let place = self.look(base, below)?;
        let stat = place.stat()?;
        self.is_served(below, kind(stat.type_))?;
        let hash = place
            .directory()
            .metadata_hash_at(PathFlags::empty(), place.name)
            .map_err(fault)?;
        Ok(identity(&hash, &stat))
    }

    fn look<'a>(&self, base: &'a Descriptor, below: &'a str) -> Result<Place<'a>, Fault> {
        let whole = self.whole(below)?;
        let directory = self.guard.policy.directory(&whole) == Verdict::Served;
        if !directory {
            self.guard.serves(Policy::file, &whole)?;
        }
        self.place(base, below)
    }

    fn is_served(&self, below: &str, found: Kind) -> Result<(), Fault> {
        let whole = self.join(below);
        let verdict = match found {
            Kind::File => self.guard.policy.file(&whole),
            Kind::Directory => self.guard.policy.directory(&whole),
            Kind::Other => return Err(Fault::Missing),
        };
        match verdict {
            Verdict::Served => Ok(()),
            _ => Err(Fault::Missing),
        }
    }

    pub(crate) fn create_directory(&self, base: &Descriptor, below: &str) -> Result<(), Fault> {
        let judges = (Policy::directory as Judge, Policy::file as Judge);
        self.change(base, below, judges, |place| {
            place.directory().create_directory_at(place.name)
        })
    }

    pub(crate) fn remove_directory(&self, base: &Descriptor, below: &str) -> Result<(), Fault> {
        self.change(base, below, (Policy::directory, Policy::file), |place| {
            place.directory().remove_directory_at(place.name)
        })
    }

    /// Removes the entry itself: of a link the link, never what it points to.
    pub(crate) fn unlink(&self, base: &Descriptor, below: &str) -> Result<(), Fault> {
        self.change(base, below, (changed, Policy::directory), |place| {
            place.directory().unlink_file_at(place.name)
        })
    }

    /// Changes one entry, if the rules allow it: those for what it is to be, and those for what
    /// else may have its name.
    fn change(
        &self,
        base: &Descriptor,
        below: &str,
        (judge, otherwise): (Judge, Judge),
        operation: impl FnOnce(&Place<'_>) -> Result<(), ErrorCode>,
    ) -> Result<(), Fault> {
        self.guard.may_change()?;
        let whole = self.whole(below)?;
        self.guard.serves(judge, &whole)?;
        let place = self.place(base, below)?;
        operation(&place).map_err(|code| match fault(code) {
            // What is of the other kind is only spoken of where that is served.
            Fault::NotDirectory | Fault::IsDirectory
                if self.guard.serves(otherwise, &whole).is_err() =>
            {
                Fault::Missing
            }
            fault => fault,
        })
    }

    /// Puts a temporary in a file's place. Nothing else is ever renamed.
    pub(crate) fn replace(
        &self,
        base: &Descriptor,
        temporary: &str,
        below: &str,
    ) -> Result<(), Fault> {
        let (whole, old, new) = self.places(base, temporary, below)?;
        match new.kind() {
            Err(Fault::Missing) => {}
            // A link, a pipe, a socket or a device is not there to be replaced.
            found => self.regular(&whole, found?)?,
        }
        old.directory()
            .rename_at(old.name, new.directory(), new.name)
            .map_err(|code| misplaced(code, temporary, below))?;
        self.guard.watch.commit();
        Ok(())
    }

    /// Puts a temporary where nothing stands. No other link is ever made.
    pub(crate) fn put(&self, base: &Descriptor, temporary: &str, below: &str) -> Result<(), Fault> {
        let (_, old, new) = self.places(base, temporary, below)?;
        old.directory()
            .link_at(PathFlags::empty(), old.name, new.directory(), new.name)
            .map_err(|code| misplaced(code, temporary, below))?;
        self.guard.watch.commit();
        Ok(())
    }

    fn places<'a>(
        &self,
        base: &'a Descriptor,
        temporary: &'a str,
        below: &'a str,
    ) -> Result<(String, Place<'a>, Place<'a>), Fault> {
        self.guard.may_change()?;
        let source = self.whole(temporary)?;
        let target = self.whole(below)?;
        if !is_reserved(source.rsplit('/').next().unwrap_or(&source)) {
            return Err(Fault::Excluded);
        }
        self.guard.serves(changed, &source)?;
        self.guard.serves(Policy::file, &target)?;
        let old = self.place(base, temporary)?;
        let new = self.place(base, below)?;
        Ok((target, old, new))
    }

    /// Hands every entry that is served to `each`, until it breaks.
    pub(crate) fn entries(
        &self,
        base: &Descriptor,
        each: &mut dyn FnMut(Entry) -> ControlFlow<()>,
    ) -> Result<(), Fault> {
        self.guard.serves(Policy::directory, &self.path)?;
        self.guard.watch.check()?;
        let (_open, stream) = listing(base).map_err(fault)?;
        let mut hidden = false;
        loop {
            let entry = match stream.read_directory_entry() {
                Ok(Some(entry)) => entry,
                Ok(None) => break,
                // A name that is not UTF-8.
                Err(ErrorCode::IllegalByteSequence) => {
                    hidden = true;
                    continue;
                }
                // It went while the directory was listed.
                Err(ErrorCode::NoEntry) => continue,
                Err(code) => return Err(fault(code)),
            };
            if matches!(entry.name.as_str(), "." | "..") {
                continue;
            }
            let kind = kind(entry.type_);
            if !self.shows(&entry.name, kind) {
                self.guard.watch.check()?;
                hidden = true;
                continue;
            }
            self.guard.watch.showed_entry()?;
            let name = entry.name;
            if each(Entry { name, kind }).is_break() {
                return Ok(());
            }
        }
        if hidden && self.tells {
            let (name, kind) = (String::new(), Kind::Other);
            let _ = each(Entry { name, kind });
        }
        Ok(())
    }

    fn shows(&self, name: &str, kind: Kind) -> bool {
        let whole = self.join(name);
        let policy = &self.guard.policy;
        path::is_segment(name)
            && path::is_canonical(&whole)
            && Verdict::Served
                == match kind {
                    Kind::Directory => policy.directory(&whole),
                    Kind::File | Kind::Other => policy.file(&whole),
                }
    }

    /// The path from the root; one that is not in canonical form is refused.
    fn whole(&self, below: &str) -> Result<String, Fault> {
        self.guard.watch.check()?;
        let whole = self.join(below);
        match path::is_canonical(&whole) {
            true => Ok(whole),
            false => Err(Fault::Excluded),
        }
    }

    fn join(&self, below: &str) -> String {
        match self.path.as_str() {
            "" => below.to_owned(),
            path => format!("{path}/{below}"),
        }
    }

    /// Finds `below`, which is canonical: each directory on the way is opened from the one before.
    fn place<'a>(&self, base: &'a Descriptor, below: &'a str) -> Result<Place<'a>, Fault> {
        let mut place = Place {
            parent: None,
            base,
            name: below,
        };
        while let Some((name, rest)) = place.name.split_once('/') {
            place.name = name;
            // Below what is no directory there is nothing.
            let next = match place.kind()? {
                Kind::Directory => enter(place.directory(), name),
                _ => Err(Fault::Missing),
            };
            place.parent = Some(next.map_err(|fault| match fault {
                Fault::NotDirectory => Fault::Missing,
                fault => fault,
            })?);
            place.name = rest;
        }
        Ok(place)
    }
}

/// The directory that holds the last name of a path, and that name.
struct Place<'a> {
    parent: Option<Descriptor>,
    base: &'a Descriptor,
    /// One name, without a slash.
    name: &'a str,
}

impl Place<'_> {
    /// The directory the name stands in.
    fn directory(&self) -> &Descriptor {
        self.parent.as_ref().unwrap_or(self.base)
    }

    /// What stands under the name, if anything; a link is a link.
    fn stat(&self) -> Result<DescriptorStat, Fault> {
        self.directory()
            .stat_at(PathFlags::empty(), self.name)
            .map_err(fault)
    }

    fn kind(&self) -> Result<Kind, Fault> {
        Ok(kind(self.stat()?.type_))
    }
}

/// Opens a directory that was looked at; should a link stand there by now, it is not followed.
fn enter(from: &Descriptor, name: &str) -> Result<Descriptor, Fault> {
    let (open, rights) = (OpenFlags::DIRECTORY, DescriptorFlags::READ);
    from.open_at(PathFlags::empty(), name, open, rights)
        .map_err(fault)
}

/// What holds for a file that is made, moved or removed. A temporary is where files are served,
/// so it is judged by its directory.
fn changed(policy: &Policy, whole: &str) -> Verdict {
    match is_reserved(whole.rsplit('/').next().unwrap_or(whole)) {
        true => policy.directory(parent(whole)),
        false => policy.file(whole),
    }
}

/// What an error of a host that knows no rules means.
pub(crate) fn fault(code: ErrorCode) -> Fault {
    match code {
        ErrorCode::NotPermitted | ErrorCode::Access => Fault::Permission,
        ErrorCode::NotRecoverable | ErrorCode::NoDevice => Fault::Other,
        code => Fault::from(code),
    }
}

/// The same where a file was to get another name. Hosts exist that do not say when the two are on
/// different filesystems, which they can only be in different directories.
fn misplaced(code: ErrorCode, from: &str, to: &str) -> Fault {
    match fault(code) {
        Fault::Other if parent(from) != parent(to) => Fault::OtherDisk,
        fault => fault,
    }
}

/// Identity and state of a file: the host's hash may be about its place alone.
pub(crate) fn identity(hash: &MetadataHashValue, stat: &DescriptorStat) -> Identity {
    let mut fields = Fields::default();
    fields.add(&hash.upper.to_le_bytes());
    fields.add(&hash.lower.to_le_bytes());
    fields.add(&stat.size.to_le_bytes());
    let times = [
        stat.data_modification_timestamp,
        stat.status_change_timestamp,
    ];
    for time in times.into_iter().flatten() {
        fields.add(&time.seconds.to_le_bytes());
        fields.add(&time.nanoseconds.to_le_bytes());
    }
    let mut short = Identity::default();
    for (to, from) in short.iter_mut().zip(fields.finish()) {
        *to = from;
    }
    short
}

/// Waits until the names in a directory are on the disk, as far as the host can: some cannot sync
/// a directory, or not the one they granted, and say so.
pub(crate) fn sync(directory: &Descriptor) -> Result<(), Fault> {
    let cannot = |code| {
        matches!(
            code,
            ErrorCode::Invalid | ErrorCode::Unsupported | ErrorCode::BadDescriptor
        )
    };
    match directory.sync() {
        Err(code) if cannot(code) => match enter(directory, ".")?.sync() {
            Err(code) if cannot(code) => Ok(()),
            synced => synced.map_err(fault),
        },
        synced => synced.map_err(fault),
    }
}
