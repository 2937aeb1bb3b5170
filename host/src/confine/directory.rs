//! Operations that change the entries of a directory: making and removing them,
//! and putting a finished temporary in a file's place. What lists them stands in
//! `listing`.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use preopen_contract::policy::{Policy, Verdict};
use rustix::fs::{FileType, Mode, OFlags, RawMode};
use rustix::io::Errno;
use wasmtime::component::Resource;
use wasmtime_wasi::p2::FsResult;
use wasmtime_wasi::p2::bindings::filesystem::types::ErrorCode;
use wasmtime_wasi::p2::bindings::sync::filesystem::types::Descriptor;

use super::descriptor::{Target, kind};
use super::errno::{fail, refuse};
use super::resolve::{self, Place};
use super::system::{self, Found};
use super::temporaries::{self, is_temporary};
use super::unfinished::{MODE, Made};
use super::{Grant, View};
use crate::layer::Layer;

/// Bits of a mode that a replaced file hands on; set-id bits are not among them.
const KEPT_MODE: RawMode = 0o777;

impl View<'_> {
    /// Makes a directory, with what the umask leaves of every right.
    pub(super) fn make_directory(
        &mut self,
        descriptor: &Resource<Descriptor>,
        below: &str,
    ) -> FsResult<()> {
        let judges = (Policy::directory as Judge, Policy::file as Judge);
        self.change(descriptor, below, judges, |place| {
            system::make_directory(place.directory(), place.name)
        })?;
        let Target { whole, .. } = self.target(descriptor, below)?;
        self.confine.made.push(whole);
        Ok(())
    }

    /// Removes a directory that is empty, but for what a process left in it
    /// when it died.
    pub(super) fn remove_directory(
        &mut self,
        descriptor: &Resource<Descriptor>,
        below: &str,
    ) -> FsResult<()> {
        let judges = (Policy::directory as Judge, Policy::file as Judge);
        self.change(descriptor, below, judges, |place| {
            let remove = || system::remove_directory(place.directory(), place.name);
            match remove() {
                Err(Errno::NOTEMPTY) if temporaries::empty(place) => remove(),
                result => result,
            }
        })
    }

    /// Removes the entry itself: of a link the link, never what it points to.
    pub(super) fn unlink(
        &mut self,
        descriptor: &Resource<Descriptor>,
        below: &str,
    ) -> FsResult<()> {
        self.change(descriptor, below, (changed, Policy::directory), |place| {
            system::unlink(place.directory(), place.name)
        })
    }

    /// Changes one entry, if the rights and the rules allow it: those for what
    /// it is to be, and those for what else may have its name. Its path leads
    /// from the root: a directory that was moved out while it was held is not
    /// where its path says, and nothing in it is changed.
    fn change(
        &mut self,
        descriptor: &Resource<Descriptor>,
        below: &str,
        (judge, otherwise): (Judge, Judge),
        operation: impl FnOnce(&Place<'_>) -> Result<(), Errno>,
    ) -> FsResult<()> {
        self.node(descriptor)?.mutable()?;
        let Target { whole, .. } = self.target(descriptor, below)?;
        let Grant { policy, root, .. } = &*self.confine.grant;
        refuse(judge(policy, &whole))?;
        let changed = Place::of(root.as_fd(), &whole).and_then(|place| operation(&place));
        let otherwise = refuse(otherwise(policy, &whole));
        self.confine.keep(whole);
        changed.map_err(|errno| match (errno, otherwise) {
            // What is of the other kind is only spoken of where that is served.
            (Errno::NOTDIR | Errno::ISDIR, Err(_)) => ErrorCode::NoEntry.into(),
            _ => fail(errno),
        })
    }

    /// Puts a temporary in a file's place. Nothing else is ever renamed: a
    /// rename of what is served could carry it to where it is not.
    pub(super) fn replace(
        &mut self,
        from: &Resource<Descriptor>,
        temporary: &str,
        to: &Resource<Descriptor>,
        below: &str,
    ) -> FsResult<()> {
        let otherwise = ErrorCode::Unsupported;
        self.place(from, temporary, to, below, otherwise, |old, new, made| {
            match new.stat() {
                Err(Errno::NOENT) => inherit_group(old, new, made)?,
                Err(errno) => return Err(errno),
                Ok(found) if kind(&found) == FileType::RegularFile => match made {
                    Some(made) => made.keep_attributes(&found)?,
                    None => keep_attributes(old, &found)?,
                },
                Ok(found) if kind(&found) == FileType::Directory => return Err(Errno::ISDIR),
                Ok(_) if !Layer::Policy.holds() => {}
                // A link, a pipe, a socket or a device is not there to be replaced.
                Ok(_) => return Err(Errno::NOENT),
            }
            system::rename(old.directory(), old.name, new.directory(), new.name)?;
            // It no longer stands where it was made.
            if let Some(made) = made {
                made.stays();
            }
            Ok(())
        })
    }

    /// Puts a temporary where nothing stands: it has its name in full or not at
    /// all, and nothing is ever overwritten. No other link is ever made.
    pub(super) fn put(
        &mut self,
        from: &Resource<Descriptor>,
        temporary: &str,
        to: &Resource<Descriptor>,
        below: &str,
    ) -> FsResult<()> {
        let otherwise = ErrorCode::NotPermitted;
        self.place(from, temporary, to, below, otherwise, |old, new, made| {
            inherit_group(old, new, made)?;
            system::put(old.directory(), old.name, new.directory(), new.name)
        })
    }

    /// Gives a temporary its name by `operation`, as far as the rules allow
    /// it; the answer is `otherwise` where it is no temporary.
    fn place(
        &mut self,
        from: &Resource<Descriptor>,
        temporary: &str,
        to: &Resource<Descriptor>,
        below: &str,
        otherwise: ErrorCode,
        operation: impl FnOnce(&Place<'_>, &Place<'_>, Option<&Made>) -> Result<(), Errno>,
    ) -> FsResult<()> {
        self.node(from)?.mutable()?;
        self.node(to)?.mutable()?;
        let source = self.target(from, temporary)?;
        let target = self.target(to, below)?;
        if !is_temporary(&source.whole) && Layer::Policy.holds() {
            return Err(otherwise.into());
        }
        let Grant { policy, root, .. } = &*self.confine.grant;
        refuse(changed(policy, &source.whole))?;
        refuse(policy.file(&target.whole))?;
        let old = Place::of(root.as_fd(), &source.whole).map_err(fail)?;
        let new = Place::of(root.as_fd(), &target.whole).map_err(fail)?;
        let made = self.confine.temporary(&source.whole);
        operation(&old, &new, made.as_deref()).map_err(|errno| match errno {
            // Another file system is mounted between the two.
            Errno::XDEV => ErrorCode::CrossDevice.into(),
            errno => fail(errno),
        })?;
        self.confine.counters.commit();
        Ok(())
    }
}

/// Removes a directory that is empty.
pub(super) fn remove(grant: &Grant, path: &str) -> Result<(), Errno> {
    let place = Place::of(grant.root.as_fd(), path)?;
    system::remove_directory(place.directory(), place.name)
}

/// What the rules say of a path.
type Judge = fn(&Policy, &str) -> Verdict;

/// What holds for a file that is made, moved or removed. A temporary is where
/// files are served, so it is judged by its directory.
pub(super) fn changed(policy: &Policy, whole: &str) -> Verdict {
    let (parent, name) = whole.rsplit_once('/').unwrap_or(("", whole));
    match is_temporary(name) {
        true => policy.directory(parent),
        false => policy.file(whole),
    }
}

/// Gives the temporary the group that a file made in its new directory would
/// have: that of the directory, where its set-group-id bit says so (inode(7)).
fn inherit_group(temporary: &Place<'_>, new: &Place<'_>, made: Option<&Made>) -> Result<(), Errno> {
    let directory = resolve::stat(new.directory())?;
    if !Mode::from_raw_mode(directory.mode).contains(Mode::SGID) {
        return Ok(());
    }
    let give = |file: BorrowedFd<'_>| {
        // Without membership it stays with its maker's.
        system::give(file, None, Some(directory.group))
    };
    match made {
        Some(made) => {
            made.changes();
            give(made.file().as_fd())
        }
        None => give(open(temporary)?.as_fd()),
    }
}

/// Gives the temporary the mode of the file it is about to replace, and its
/// owner and group as far as the process may.
fn keep_attributes(temporary: &Place<'_>, found: &Found) -> Result<(), Errno> {
    let file = open(temporary)?;
    let own = resolve::stat(&file)?;
    assimilate(file.as_fd(), &own, found)
}

impl Made {
    /// The same through the descriptor that it was made with: in most cases it
    /// is known to have all of it.
    fn keep_attributes(&self, found: &Found) -> Result<(), Errno> {
        let own = self.found()?;
        let of = |found: &Found| (found.owner, found.group, found.mode & MODE);
        let (owner, group, mode) = of(found);
        if of(&own) == (owner, group, mode & KEPT_MODE) {
            return Ok(());
        }
        self.changes();
        assimilate(self.file().as_fd(), &own, found)
    }
}

fn assimilate(file: BorrowedFd<'_>, own: &Found, found: &Found) -> Result<(), Errno> {
    if own.owner != found.owner {
        system::give(file, Some(found.owner), None)?;
    }
    if own.group != found.group {
        system::give(file, None, Some(found.group))?;
    }
    system::set_mode(file, found.mode & KEPT_MODE)
}

/// Opens a temporary to change what is said of it.
fn open(temporary: &Place<'_>) -> Result<OwnedFd, Errno> {
    let Place { name, .. } = temporary;
    resolve::open(temporary.directory(), name, OFlags::WRONLY, Mode::empty())
}
