//! What changes the entries of a directory: making and removing them, and
//! putting a finished temporary in a file's place, as far as the rules allow it.

use preopen_contract::policy::{Policy, Verdict, is_reserved};
use wasip2::filesystem::types::{Descriptor, ErrorCode, PathFlags};

use super::place::{Place, fault};
use super::{Judge, Scope};
use crate::parents::parent;
use crate::tree::Fault;

impl Scope {
    pub(crate) fn create_directory(&self, base: &Descriptor, below: &str) -> Result<(), Fault> {
        self.guard.watch.check()?;
        let judges = (Policy::directory as Judge, Policy::file as Judge);
        self.change(base, below, judges, |place| {
            place.directory().create_directory_at(place.name)
        })
    }

    pub(crate) fn remove_directory(&self, base: &Descriptor, below: &str) -> Result<(), Fault> {
        // At any time: a call that is late still takes away what it made, and one that removes a
        // tree is stopped where it lists the next directory.
        self.change(base, below, (Policy::directory, Policy::file), |place| {
            place.directory().remove_directory_at(place.name)
        })
    }

    /// Removes the entry itself: of a link the link, never what it points to.
    pub(crate) fn unlink(&self, base: &Descriptor, below: &str) -> Result<(), Fault> {
        // A call that is late still takes away what it made.
        if !is_reserved(below.rsplit('/').next().unwrap_or(below)) {
            self.guard.watch.check()?;
        }
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
        let whole = self.whole_at_any_time(below)?;
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
}

/// What holds for a file that is made, moved or removed. A temporary is where files are served,
/// so it is judged by its directory.
pub(super) fn changed(policy: &Policy, whole: &str) -> Verdict {
    match is_reserved(whole.rsplit('/').next().unwrap_or(whole)) {
        true => policy.directory(parent(whole)),
        false => policy.file(whole),
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
