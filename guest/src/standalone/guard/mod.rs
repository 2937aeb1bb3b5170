//! The rules of a root where the host knows none. Every path passes through
//! here: the policy is asked first, by the path alone; then it is followed name
//! by name, each looked at and opened without following a link. What the answers
//! mean to a tool is the same as below the native host.

mod change;
mod place;

use std::ops::ControlFlow;
use std::rc::Rc;

use preopen_contract::path;
use preopen_contract::policy::{Policy, Verdict};
use wasip2::filesystem::types::{Descriptor, DescriptorFlags, ErrorCode, OpenFlags, PathFlags};

use self::change::changed;
use self::place::{Place, enter};
pub(crate) use self::place::{fault, identity, sync};
use super::watch::Watch;
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

    /// Hands every entry that is served to `each`, until it breaks.
    pub(crate) fn entries(
        &self,
        base: &Descriptor,
        each: &mut dyn FnMut(Entry<'_>) -> ControlFlow<()>,
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
            let name = entry.name.as_str();
            if each(Entry { name, kind }).is_break() {
                return Ok(());
            }
        }
        if hidden && self.tells {
            let (name, kind) = ("", Kind::Other);
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
        self.whole_at_any_time(below)
    }

    /// The same, also for a call that is past its time.
    fn whole_at_any_time(&self, below: &str) -> Result<String, Fault> {
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
