//! The directories that a path needs: which are missing, what is in the way,
//! and making them one by one. They are made for something; unless that is
//! kept, what was made goes again, as far as it is empty.

use crate::refusal::Refusal;
use crate::root::Dir;
use crate::tree::{Directory, Fault, Kind};

/// How much of a name a refusal repeats, in characters.
const SHOWN_NAME: usize = 64;

/// Directories that were made. Dropped, they are removed again.
#[derive(Debug)]
pub(crate) struct Parents<'a> {
    root: &'a Dir,
    /// From the root down.
    made: Vec<&'a str>,
}

impl<'a> Parents<'a> {
    /// Makes the directory `path`, with every one above it that is missing.
    pub(crate) fn make(root: &'a Dir, path: &'a str) -> Result<Self, Refusal> {
        let mut parents = Self {
            root,
            made: Vec::new(),
        };
        for directory in missing(root, path)? {
            match root.create_directory(directory) {
                Ok(()) => parents.made.push(directory),
                Err(Fault::Exists) if root.kind(directory) == Ok(Kind::Directory) => {}
                Err(Fault::Exists) => return Err(in_the_way(directory)),
                Err(fault) => return Err(Refusal::making(fault)),
            }
        }
        Ok(parents)
    }

    /// Leaves them where they are; says which were made.
    pub(crate) fn keep(mut self) -> Vec<&'a str> {
        std::mem::take(&mut self.made)
    }
}

impl Drop for Parents<'_> {
    fn drop(&mut self) {
        for directory in self.made.iter().rev() {
            // What somebody has put something into is theirs by now, and so is all above it.
            if self.root.remove_directory(directory).is_err() {
                break;
            }
        }
    }
}

/// Which directories `path` needs that are not there, from the root down.
pub(crate) fn missing<'p>(root: &Dir, path: &'p str) -> Result<Vec<&'p str>, Refusal> {
    if path.is_empty() {
        return Ok(Vec::new());
    }
    match root.directory(path) {
        // Mostly all are there.
        Ok(_) => return Ok(Vec::new()),
        // Above what is hidden nothing is made, not even for a moment.
        Err(fault @ (Fault::Excluded | Fault::NotIncluded)) => return Err(Refusal::writing(fault)),
        Err(_) => {}
    }
    let mut prefixes = prefixes(path);
    while let Some(directory) = prefixes.next() {
        match root.kind(directory) {
            Ok(Kind::Directory) => {}
            Ok(_) => return Err(in_the_way(directory)),
            Err(Fault::Missing) => return Ok(std::iter::once(directory).chain(prefixes).collect()),
            Err(fault) => return Err(Refusal::making(fault)),
        }
    }
    Ok(Vec::new())
}

/// The directory that `path` stands in; empty for the root.
pub(crate) fn parent(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(parent, _)| parent)
}

fn in_the_way(path: &str) -> Refusal {
    let name = path.rsplit('/').next().unwrap_or(path);
    // One short line, whatever the name is.
    let shown = name.chars().take(SHOWN_NAME);
    let shown = shown.map(|c| if c.is_control() { '\u{fffd}' } else { c });
    Refusal::InTheWay(shown.collect())
}

/// `a`, `a/b`, `a/b/c` of `a/b/c`.
fn prefixes(path: &str) -> impl Iterator<Item = &str> {
    let ends = path.match_indices('/').map(|(at, _)| at);
    ends.chain([path.len()]).filter_map(|end| path.get(..end))
}

#[cfg(test)]
mod tests {
    use super::{parent, prefixes};

    #[test]
    fn prefixes_are_every_directory_from_the_root_down() {
        assert_eq!(prefixes("a").collect::<Vec<_>>(), ["a"]);
        assert_eq!(
            prefixes("a/bé/c").collect::<Vec<_>>(),
            ["a", "a/bé", "a/bé/c"]
        );
    }

    #[test]
    fn the_parent_of_a_name_in_the_root_is_the_root() {
        assert_eq!((parent("a"), parent("a/b/c")), ("", "a/b"));
    }
}
