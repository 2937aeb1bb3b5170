//! Walks below a directory: every file in byte order of whole paths, or only
//! whether there is one. The order streams: what is in memory are the names of
//! the directories on the current path. It opens no file and knows no tool.

use std::ops::ControlFlow;

use preopen_contract::path::{MAX_PATH_BYTES, is_segment};

use crate::names::Names;
use crate::refusal::Refusal;
use crate::tree::{Directory, Entry, Fault, Kind, Wanted};

/// What one call may visit, and what it visited.
#[derive(Clone, Debug)]
pub(crate) struct Bounds {
    max_entries: u64,
    max_depth: u64,
    visited: u64,
}

impl Bounds {
    /// `max_entries` counts entries of directories; `max_depth` directories below the one a walk
    /// starts at.
    pub(crate) const fn new(max_entries: u64, max_depth: u64) -> Self {
        Self {
            max_entries,
            max_depth,
            visited: 0,
        }
    }

    /// Counts an entry; breaks when it is one too many, which [`Self::check`] then reports.
    pub(crate) fn visit(&mut self) -> ControlFlow<()> {
        self.visited += 1;
        if self.visited > self.max_entries {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }

    pub(crate) const fn check(&self) -> Result<(), Refusal> {
        if self.visited > self.max_entries {
            Err(Refusal::TooManyEntries(self.max_entries))
        } else {
            Ok(())
        }
    }

    /// Whether a directory `depth` below the start may be entered.
    pub(crate) const fn enter(&self, depth: usize) -> Result<(), Refusal> {
        if depth as u64 > self.max_depth {
            Err(Refusal::TooDeep(self.max_depth))
        } else {
            Ok(())
        }
    }
}

/// The files and directories in `directory`, in no order. `prefix` is the length of its path with
/// the slash behind it: what is too long to be spelled does not exist.
///
/// The outer error ends the call, the inner one concerns this directory only.
pub(crate) fn list<D: Directory>(
    directory: &D,
    prefix: usize,
    bounds: &mut Bounds,
    wanted: Wanted,
    each: &mut dyn FnMut(Entry<'_>) -> ControlFlow<()>,
) -> Result<Result<(), Fault>, Refusal> {
    let listed = directory.entries(wanted, &mut |entry| {
        bounds.visit()?;
        let spelled = prefix + entry.name.len() <= MAX_PATH_BYTES && is_segment(entry.name);
        if spelled && entry.kind != Kind::Other {
            each(entry)
        } else {
            ControlFlow::Continue(())
        }
    });
    bounds.check()?;
    Ok(listed)
}

/// Whether a file is anywhere below `directory`, which lies `depth` below the start of the call.
/// Stops at the first one.
pub(crate) fn holds_file<D: Directory>(
    directory: &D,
    prefix: usize,
    depth: usize,
    bounds: &mut Bounds,
) -> Result<bool, Refusal> {
    first_file(directory, prefix, depth, bounds).map(|found| found.is_some())
}

/// The path below `directory` of the first file that is come to there, if there is any.
pub(crate) fn first_file<D: Directory>(
    directory: &D,
    prefix: usize,
    depth: usize,
    bounds: &mut Bounds,
) -> Result<Option<String>, Refusal> {
    let mut found = None;
    let mut below = Vec::new();
    let listed = list(directory, prefix, bounds, Wanted::Few, &mut |entry| {
        if entry.kind == Kind::File {
            found = Some(entry.name.to_owned());
            return ControlFlow::Break(());
        }
        below.push(entry.name.to_owned());
        ControlFlow::Continue(())
    })?;
    if found.is_some() {
        return Ok(found);
    }
    if let Err(fault) = listed {
        Refusal::pass_over(fault)?;
    }
    for mut name in below {
        bounds.enter(depth + 1)?;
        match directory.directory(&name) {
            Ok(child) => {
                let prefix = prefix + name.len() + 1;
                if let Some(path) = first_file(&child, prefix, depth + 1, bounds)? {
                    name.push('/');
                    name.push_str(&path);
                    return Ok(Some(name));
                }
            }
            Err(fault) => Refusal::pass_over(fault)?,
        }
    }
    Ok(None)
}

/// A file that a walk came to.
#[derive(Debug)]
pub(crate) struct Found<'a, D> {
    /// Its path from the root.
    pub(crate) path: &'a str,
    /// Its name in `directory`.
    pub(crate) name: &'a str,
    pub(crate) directory: &'a D,
}

struct Frame<D> {
    directory: D,
    /// Names still to come, in order; a directory's ends with a slash.
    names: Names,
    /// The length of this directory's path with the slash behind it.
    prefix: usize,
}

/// Every file below a directory, depth first, in byte order of whole paths.
pub(crate) struct Walk<'a, D> {
    bounds: &'a mut Bounds,
    frames: Vec<Frame<D>>,
    path: String,
}

impl<'a, D: Directory> Walk<'a, D> {
    /// Starts at `directory`, whose path from the root is `path`; the root's is empty.
    pub(crate) fn new(directory: D, path: &str, bounds: &'a mut Bounds) -> Result<Self, Refusal> {
        let mut path = path.to_owned();
        if !path.is_empty() {
            path.push('/');
        }
        let names = sorted(&directory, path.len(), bounds)?.map_err(Refusal::reading)?;
        Ok(Self {
            bounds,
            frames: vec![Frame {
                directory,
                names,
                prefix: path.len(),
            }],
            path,
        })
    }

    /// The next file. Directories that vanished or cannot be opened are passed over.
    pub(crate) fn next(&mut self) -> Result<Option<Found<'_, D>>, Refusal> {
        loop {
            let depth = self.frames.len();
            let Some(frame) = self.frames.last_mut() else {
                return Ok(None);
            };
            let Frame {
                directory, names, ..
            } = frame;
            self.path.truncate(frame.prefix);
            let Some(name) = names.next() else {
                self.frames.pop();
                continue;
            };
            self.path.push_str(name);
            let Some(name) = name.strip_suffix('/') else {
                break;
            };
            self.bounds.enter(depth)?;
            let prefix = self.path.len();
            let opened = match directory.directory(name) {
                Ok(directory) => {
                    sorted(&directory, prefix, self.bounds)?.map(|names| (directory, names))
                }
                Err(fault) => Err(fault),
            };
            match opened {
                Ok((directory, names)) => self.frames.push(Frame {
                    directory,
                    names,
                    prefix,
                }),
                Err(fault) => Refusal::pass_over(fault)?,
            }
        }
        Ok(self.frames.last().map(|frame| Found {
            path: &self.path,
            name: &self.path[frame.prefix..],
            directory: &frame.directory,
        }))
    }
}

/// The names in `directory`, a directory's with the slash that follows it in the paths below, so
/// that sorting names sorts whole paths.
pub(crate) fn sorted<D: Directory>(
    directory: &D,
    prefix: usize,
    bounds: &mut Bounds,
) -> Result<Result<Names, Fault>, Refusal> {
    let mut names = Names::new();
    let listed = list(directory, prefix, bounds, Wanted::All, &mut |entry| {
        let slash = if entry.kind == Kind::Directory {
            "/"
        } else {
            ""
        };
        names.push(entry.kind, entry.name, slash);
        ControlFlow::Continue(())
    })?;
    Ok(listed.map(|()| {
        names.sort();
        names
    }))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Bounds, Walk, holds_file};
    use crate::refusal::Refusal;
    use crate::tree::memory::Tree;

    fn walk(paths: &[&str], start: &str, bounds: &mut Bounds) -> Result<Vec<String>, Refusal> {
        let mut walk = Walk::new(Tree::of(paths), start, bounds)?;
        let mut found = Vec::new();
        while let Some(file) = walk.next()? {
            assert!(file.path.ends_with(file.name) && !file.name.contains('/'));
            found.push(file.path.to_owned());
        }
        Ok(found)
    }

    fn ample() -> Bounds {
        Bounds::new(1000, 64)
    }

    #[test]
    fn whole_paths_come_in_byte_order() {
        let paths = ["a/z", "a.txt", "a-b", "a0", "b/c/d", "b/c.d", "l@", "x!"];
        let found = walk(&paths, "", &mut ample()).expect("in bounds");
        assert_eq!(found, ["a-b", "a.txt", "a/z", "a0", "b/c.d", "b/c/d"]);
    }

    #[test]
    fn paths_begin_at_the_root() {
        let found = walk(&["x/y"], "in/here", &mut ample()).expect("in bounds");
        assert_eq!(found, ["in/here/x/y"]);
    }

    #[test]
    fn what_is_too_long_to_spell_does_not_exist() {
        let start = "d".repeat(1020);
        let found = walk(&["abc", "abcd"], &start, &mut ample()).expect("in bounds");
        assert_eq!(found, [format!("{start}/abc")]);
    }

    #[test]
    fn entries_are_bounded_links_too() {
        let paths = ["a", "b", "c@"];
        assert!(walk(&paths, "", &mut Bounds::new(3, 64)).is_ok());
        assert_eq!(
            walk(&paths, "", &mut Bounds::new(2, 64)),
            Err(Refusal::TooManyEntries(2))
        );
    }

    #[test]
    fn depth_is_bounded() {
        let paths = ["a/b/c"];
        assert!(walk(&paths, "", &mut Bounds::new(9, 2)).is_ok());
        assert_eq!(
            walk(&paths, "", &mut Bounds::new(9, 1)),
            Err(Refusal::TooDeep(1))
        );
        assert_eq!(
            holds_file(&Tree::of(&paths), 0, 0, &mut Bounds::new(9, 1)),
            Err(Refusal::TooDeep(1))
        );
    }

    #[test]
    fn nothing_is_passed_over_for_want_of_descriptors() {
        let paths = ["a/b?", "a/c"];
        assert_eq!(walk(&paths, "", &mut ample()), Err(Refusal::Exhausted));
        assert_eq!(
            holds_file(&Tree::of(&["a/b?"]), 0, 0, &mut ample()),
            Err(Refusal::Exhausted)
        );
    }

    #[test]
    fn only_a_file_makes_a_directory_hold_something() {
        let holds = |paths: &[&str]| holds_file(&Tree::of(paths), 0, 0, &mut ample());
        assert_eq!(holds(&[]), Ok(false));
        assert_eq!(holds(&["a/b/", "c/", "l@", "x!"]), Ok(false));
        assert_eq!(holds(&["a/b/", "c/d/e"]), Ok(true));
    }

    #[test]
    fn the_first_file_ends_the_search_for_one() {
        let tree = Tree::of(&["a/1", "a/2", "a/3", "z"]);
        assert_eq!(holds_file(&tree, 0, 0, &mut Bounds::new(1, 64)), Ok(true));
    }

    proptest! {
        #[test]
        fn a_walk_is_the_sorted_list(paths in prop::collection::btree_set("[a-c./-]{1,8}", 0..30)) {
            // Paths that are canonical, and none a directory of another one.
            let mut kept: Vec<&str> = Vec::new();
            for path in paths.iter().map(String::as_str).filter(|path| preopen_contract::path::is_canonical(path)) {
                let clash = |other: &&str| {
                    path.starts_with(&format!("{other}/")) || other.starts_with(&format!("{path}/"))
                };
                if !kept.iter().any(clash) {
                    kept.push(path);
                }
            }
            let found = walk(&kept, "", &mut ample()).expect("in bounds");
            kept.sort_unstable();
            prop_assert_eq!(found, kept);
        }
    }
}
