//! Whether files are below directories that stand beside each other, found out
//! with few of them opened: such directories are often alike, so the name that
//! the last one had a file under is asked for first. What is answered is what
//! opening and listing would say, whatever was guessed. It knows no tool.

use crate::refusal::Refusal;
use crate::tree::Directory;
use crate::walk::{Bounds, first_file};

use preopen_contract::path::MAX_PATH_BYTES;

/// How many paths are asked for in one directory.
const MOST: usize = 2;

/// After how many misses in a row directories are listed without asking does
/// not grow any more: to 2 to this power of them.
const MOST_MISSES: u32 = 6;

/// Where files were found in the directories so far.
#[derive(Debug, Default)]
pub(crate) struct Likely {
    /// Paths below such a directory, the likeliest first.
    paths: Vec<String>,
    /// Whether asking costs less than listing; not known before there is something to ask for.
    pays: Option<bool>,
    misses: u32,
    /// Directories still to be listed without asking.
    pause: u32,
    scratch: String,
}

impl Likely {
    /// Whether a file is anywhere below the directory `name` in `parent`, which lies `depth` below
    /// the start of the call. `prefix` is the length of its path with the slash behind it.
    pub(crate) fn holds_file<D: Directory>(
        &mut self,
        parent: &D,
        name: &str,
        prefix: usize,
        depth: usize,
        bounds: &mut Bounds,
    ) -> Result<bool, Refusal> {
        bounds.enter(depth)?;
        if self.guess(parent, name, prefix, bounds)? {
            return Ok(true);
        }
        let found = match parent.directory(name) {
            Ok(below) => first_file(&below, prefix, depth, bounds)?,
            Err(fault) => {
                Refusal::pass_over(fault)?;
                None
            }
        };
        let holds = found.is_some();
        if let Some(path) = found
            && !self.paths.contains(&path)
        {
            self.paths.truncate(MOST - 1);
            self.paths.insert(0, path);
        }
        Ok(holds)
    }

    /// Whether one of the paths leads to a file below `name`.
    fn guess<D: Directory>(
        &mut self,
        parent: &D,
        name: &str,
        prefix: usize,
        bounds: &mut Bounds,
    ) -> Result<bool, Refusal> {
        if self.paths.is_empty() || !*self.pays.get_or_insert_with(|| parent.asking_pays()) {
            return Ok(false);
        }
        if self.pause > 0 {
            self.pause -= 1;
            return Ok(false);
        }
        for at in 0..self.paths.len() {
            let path = &self.paths[at];
            // What is too long to be spelled does not exist.
            if prefix + path.len() > MAX_PATH_BYTES {
                continue;
            }
            self.scratch.clear();
            self.scratch.push_str(name);
            self.scratch.push('/');
            self.scratch.push_str(path);
            if parent.has_file(&self.scratch) {
                // As the first that a listing had shown.
                let _ = bounds.visit();
                bounds.check()?;
                self.paths[..=at].rotate_right(1);
                self.misses = 0;
                return Ok(true);
            }
        }
        self.misses = (self.misses + 1).min(MOST_MISSES);
        self.pause = (1 << self.misses) - 1;
        Ok(false)
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::ops::ControlFlow;
    use std::rc::Rc;

    use proptest::prelude::*;

    use super::Likely;
    use crate::refusal::Refusal;
    use crate::tree::memory::Tree;
    use crate::tree::{Directory, Entry, Fault, Kind, Wanted};
    use crate::walk::{Bounds, holds_file};

    /// A tree that counts how often it is asked, and how many directories of it are opened.
    struct Counted {
        tree: Tree,
        pays: bool,
        asked: Rc<Cell<usize>>,
        opened: Rc<Cell<usize>>,
    }

    impl Counted {
        fn of(paths: &[&str], pays: bool) -> Self {
            Self {
                tree: Tree::of(paths),
                pays,
                asked: Rc::default(),
                opened: Rc::default(),
            }
        }
    }

    impl Directory for Counted {
        fn entries(
            &self,
            wanted: Wanted,
            each: &mut dyn FnMut(Entry<'_>) -> ControlFlow<()>,
        ) -> Result<(), Fault> {
            self.tree.entries(wanted, each)
        }

        fn directory(&self, name: &str) -> Result<Self, Fault> {
            self.opened.set(self.opened.get() + 1);
            Ok(Self {
                tree: self.tree.directory(name)?,
                pays: self.pays,
                asked: Rc::clone(&self.asked),
                opened: Rc::clone(&self.opened),
            })
        }

        fn asking_pays(&self) -> bool {
            self.pays
        }

        fn has_file(&self, path: &str) -> bool {
            self.asked.set(self.asked.get() + 1);
            self.tree.has_file(path)
        }
    }

    fn ample() -> Bounds {
        Bounds::new(10_000, 64)
    }

    /// The directories at the top that hold a file; how often was asked and opened.
    fn holding(counted: &Counted, bounds: &mut Bounds) -> Result<Vec<String>, Refusal> {
        let mut names = Vec::new();
        let listed = counted.entries(Wanted::All, &mut |entry| {
            if entry.kind == Kind::Directory {
                names.push(entry.name.to_owned());
            }
            ControlFlow::Continue(())
        });
        listed.expect("a directory");
        names.sort_unstable();
        let mut likely = Likely::default();
        let mut held = Vec::new();
        for name in names {
            if likely.holds_file(counted, &name, name.len() + 1, 1, bounds)? {
                held.push(name);
            }
        }
        Ok(held)
    }

    #[test]
    fn of_directories_that_are_alike_one_is_opened() {
        let paths = ["a/f", "b/e", "b/f", "c/f", "c/z/", "d/f"];
        let counted = Counted::of(&paths, true);
        let held = holding(&counted, &mut ample()).expect("in bounds");
        assert_eq!(held, ["a", "b", "c", "d"]);
        assert_eq!((counted.opened.get(), counted.asked.get()), (1, 3));
    }

    #[test]
    fn so_it_is_where_files_lie_deeper() {
        let counted = Counted::of(&["a/s/f", "b/s/f", "c/s/f"], true);
        let held = holding(&counted, &mut ample()).expect("in bounds");
        assert_eq!(held, ["a", "b", "c"]);
        assert_eq!((counted.opened.get(), counted.asked.get()), (2, 2));
    }

    #[test]
    fn directories_of_two_sorts_by_turns_are_guessed_as_well() {
        let names: Vec<String> = (0..40)
            .map(|number| format!("{number:02}/{}", ["x", "y"][number % 2]))
            .collect();
        let paths: Vec<&str> = names.iter().map(String::as_str).collect();
        let counted = Counted::of(&paths, true);
        let held = holding(&counted, &mut ample()).expect("in bounds");
        assert_eq!(held.len(), 40);
        assert!(counted.opened.get() <= 4, "{}", counted.opened.get());
    }

    #[test]
    fn who_guesses_wrong_stops_asking() {
        let names: Vec<String> = (0..200)
            .map(|number| format!("{number}/{number}"))
            .collect();
        let paths: Vec<&str> = names.iter().map(String::as_str).collect();
        let counted = Counted::of(&paths, true);
        let held = holding(&counted, &mut ample()).expect("in bounds");
        assert_eq!((held.len(), counted.opened.get()), (200, 200));
        assert!(counted.asked.get() < 20, "{}", counted.asked.get());
    }

    #[test]
    fn nothing_is_asked_where_that_costs_more() {
        let counted = Counted::of(&["a/f", "b/f"], false);
        assert_eq!(holding(&counted, &mut ample()).expect("in bounds").len(), 2);
        assert_eq!((counted.opened.get(), counted.asked.get()), (2, 0));
    }

    #[test]
    fn what_was_guessed_is_an_entry_that_was_visited() {
        let counted = Counted::of(&["a/f", "b/f", "c/f"], true);
        assert!(holding(&counted, &mut Bounds::new(3, 64)).is_ok());
        let refused = holding(&counted, &mut Bounds::new(2, 64));
        assert_eq!(refused, Err(Refusal::TooManyEntries(2)));
    }

    #[test]
    fn what_was_guessed_wrong_is_not() {
        let paths = ["a/f", "b/g", "c/h", "d/i"];
        for pays in [true, false] {
            let counted = Counted::of(&paths, pays);
            assert!(holding(&counted, &mut Bounds::new(4, 64)).is_ok());
            let refused = holding(&counted, &mut Bounds::new(3, 64));
            assert_eq!(refused, Err(Refusal::TooManyEntries(3)));
        }
    }

    #[test]
    fn what_would_be_too_long_is_not_guessed() {
        let counted = Counted::of(&["a/ff", "b/ff"], true);
        let mut likely = Likely::default();
        let mut holds = |name, prefix| likely.holds_file(&counted, name, prefix, 1, &mut ample());
        assert_eq!(holds("a", 1022), Ok(true));
        assert_eq!(holds("b", 1023), Ok(false));
        assert_eq!(counted.asked.get(), 0);
    }

    proptest! {
        #[test]
        fn guessing_changes_no_answer(
            paths in prop::collection::btree_set("[a-f]/([xy]/)?([p-r][@!]?)?", 0..40),
            pays in any::<bool>(),
        ) {
            // None of which is there as something else.
            let mut kept: Vec<&str> = Vec::new();
            for path in &paths {
                let bare = |path: &str| path.trim_end_matches(['@', '!']).to_owned();
                if !kept.iter().any(|other| bare(other) == bare(path)) {
                    kept.push(path);
                }
            }
            let counted = Counted::of(&kept, pays);
            let held = holding(&counted, &mut ample()).expect("in bounds");
            for name in ["a", "b", "c", "d", "e", "f"] {
                let below = counted.tree.directory(name);
                let listed = below.is_ok_and(|below| {
                    holds_file(&below, name.len() + 1, 1, &mut ample()) == Ok(true)
                });
                prop_assert_eq!(held.iter().any(|one| one == name), listed, "{}", name);
            }
        }
    }
}
