//! Removes what is in a directory, in two passes: the first looks at all of it
//! and removes nothing, the second removes entry by entry, deepest first. Each
//! directory is held open and its entries named in it alone, so whatever is
//! swapped meanwhile, nothing else is reached. No WASI type is known here.

use std::ops::ControlFlow;

use crate::refusal::Refusal;
use crate::tree::{Directory, Entry, Fault, Kind, Wanted};
use crate::walk::Bounds;

/// How many entries are taken from a listing before they are removed.
const BATCH: usize = 1024;
/// How often a directory is listed again although nothing of it could be removed: somebody may be
/// changing it just then.
const PATIENCE: u32 = 16;

/// An open directory whose entries may be removed. What is listed of it ends with an entry without
/// a name if something in it is not shown.
pub(crate) trait Removable: Directory {
    /// Opens the directory `name` in this one as another such.
    fn enter(&self, name: &str) -> Result<Self, Fault>;

    /// Removes the entry `name`, which is no directory: of a link the link itself.
    fn unlink(&self, name: &str) -> Result<(), Fault>;

    /// Removes the empty directory `name`.
    fn remove_directory(&self, name: &str) -> Result<(), Fault>;
}

/// Looks at everything in `directory`: all of it is shown, and it is within `bounds` and the time
/// until `is_late`.
pub(crate) fn look<D: Removable>(
    directory: D,
    bounds: &mut Bounds,
    is_late: &dyn Fn() -> bool,
) -> Result<(), Refusal> {
    let names = subdirectories(&directory, bounds, is_late)?;
    let mut levels = vec![(directory, names)];
    while let Some((directory, names)) = levels.last_mut() {
        let Some(name) = names.pop() else {
            levels.pop();
            continue;
        };
        match directory.enter(&name) {
            Ok(below) => {
                bounds.enter(levels.len())?;
                let names = subdirectories(&below, bounds, is_late)?;
                levels.push((below, names));
            }
            // It went away, or is no directory any more.
            Err(Fault::Missing | Fault::NotDirectory) => {}
            Err(fault) => return Err(Refusal::removing(fault)),
        }
    }
    Ok(())
}

fn subdirectories<D: Removable>(
    directory: &D,
    bounds: &mut Bounds,
    is_late: &dyn Fn() -> bool,
) -> Result<Vec<String>, Refusal> {
    let mut names = Vec::new();
    let mut hidden = false;
    let mut seen = 0;
    let mut late = is_late();
    let listed = directory.entries(Wanted::All, &mut |Entry { name, kind }| {
        hidden |= name.is_empty();
        seen += 1;
        late |= seen % BATCH == 0 && is_late();
        if hidden || late {
            return ControlFlow::Break(());
        }
        bounds.visit()?;
        if kind == Kind::Directory {
            names.push(name.to_owned());
        }
        ControlFlow::Continue(())
    });
    bounds.check()?;
    listed.map_err(Refusal::removing)?;
    match (hidden, late) {
        (true, _) => Err(Refusal::HoldsHidden),
        (_, true) => Err(Refusal::TooMuchToRemove),
        _ => Ok(names),
    }
}

/// Why a removal ended before its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    /// Its time was over.
    Late,
    /// Something appeared that is not shown.
    Hidden,
    /// It became deeper than may be entered.
    Deep,
    Fault(Fault),
}

impl Stop {
    /// What is said of it once `removed` entries are gone.
    pub(crate) fn refusal(self, removed: u64) -> Refusal {
        let why = match (self, removed) {
            (Self::Late, 0) => return Refusal::TooMuchToRemove,
            (Self::Hidden, 0) => return Refusal::HoldsHidden,
            (Self::Fault(fault), 0) => return Refusal::removing(fault),
            (Self::Deep, 0) => return Refusal::Unremoved,
            (Self::Late, _) => "the time of this call was over",
            (Self::Hidden, _) => "something was put there that the rules of this root hide",
            (Self::Deep | Self::Fault(Fault::NotEmpty | Fault::Other), _) => {
                "it kept changing or failed"
            }
            (Self::Fault(Fault::Permission), _) => "the operating system did not allow the next",
            (Self::Fault(Fault::Busy), _) => "the operating system had the next in use",
            (Self::Fault(Fault::Exhausted), _) => "the server had too much open",
            (Self::Fault(_), _) => "the next could not be removed",
        };
        Refusal::RemovedInPart { removed, why }
    }
}

/// A directory that is being emptied.
struct Level<D> {
    directory: D,
    /// Its name in the one above.
    name: String,
    /// Entries of it that are still to be removed.
    batch: Vec<(String, Kind)>,
    /// How many entries were removed in all when it was listed last.
    before: u64,
    /// How often it has been listed in vain.
    fruitless: u32,
}

impl<D: Removable> Level<D> {
    const fn new(directory: D, name: String) -> Self {
        Self {
            directory,
            name,
            batch: Vec::new(),
            before: 0,
            fruitless: 0,
        }
    }

    /// Takes the next entries. False: there are none, the directory is empty.
    fn list(&mut self, removed: u64) -> Result<bool, Stop> {
        let batch = &mut self.batch;
        let listed = self.directory.entries(Wanted::All, &mut |entry| {
            batch.push((entry.name.to_owned(), entry.kind));
            match batch.len() < BATCH {
                true => ControlFlow::Continue(()),
                false => ControlFlow::Break(()),
            }
        });
        listed.map_err(Stop::Fault)?;
        if batch.iter().any(|(name, _)| name.is_empty()) {
            return Err(Stop::Hidden);
        }
        match self.before == removed {
            true => self.fruitless += 1,
            false => self.fruitless = 0,
        }
        self.before = removed;
        if self.fruitless > PATIENCE {
            return Err(Stop::Fault(Fault::Other));
        }
        Ok(!batch.is_empty())
    }
}

/// Removes everything in `directory`, entering at most `max_depth` directories below one another,
/// and counts in `removed` what is gone, also when it stops.
pub(crate) fn empty<D: Removable>(
    directory: D,
    max_depth: u64,
    removed: &mut u64,
    is_late: &dyn Fn() -> bool,
) -> Result<(), Stop> {
    let mut levels = vec![Level::new(directory, String::new())];
    while let Some(level) = levels.last_mut() {
        if is_late() {
            return Err(Stop::Late);
        }
        let Some((name, kind)) = level.batch.pop() else {
            if !level.list(*removed)? {
                let name = std::mem::take(&mut level.name);
                levels.pop();
                if let Some(above) = levels.last() {
                    count(above.directory.remove_directory(&name), removed)?;
                }
            }
            continue;
        };
        if kind != Kind::Directory {
            count(level.directory.unlink(&name), removed)?;
            continue;
        }
        match level.directory.enter(&name) {
            Ok(_) if levels.len() as u64 > max_depth => return Err(Stop::Deep),
            Ok(below) => levels.push(Level::new(below, name)),
            Err(Fault::Missing | Fault::NotDirectory) => {}
            Err(fault) => return Err(Stop::Fault(fault)),
        }
    }
    Ok(())
}

/// Counts what was removed. What went by itself or became something else meanwhile is for the next
/// listing to show.
fn count(result: Result<(), Fault>, removed: &mut u64) -> Result<(), Stop> {
    match result {
        Ok(()) => *removed += 1,
        Err(Fault::Missing | Fault::NotDirectory | Fault::IsDirectory | Fault::NotEmpty) => {}
        Err(fault) => return Err(Stop::Fault(fault)),
    }
    Ok(())
}

#[cfg(test)]
mod tests;
