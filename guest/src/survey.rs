//! A walk for readers: files and directories below one, in order, and a count
//! of what it could not look into. Where a walk for programs fails as a whole,
//! this one goes on and says how much is missing.

use crate::names::Names;
use crate::refusal::Refusal;
use crate::tree::Directory;
use crate::walk::{Bounds, sorted};

/// Directories that a survey did not look into, and why.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Unseen {
    /// They could not be read.
    pub(crate) unreadable: u64,
    /// They are nested too deep.
    pub(crate) too_deep: u64,
    /// The call had visited as many entries as it may.
    pub(crate) past_entries: u64,
}

impl Unseen {
    /// Whether a limit kept the survey from looking further.
    pub(crate) const fn cut(&self) -> bool {
        self.too_deep > 0 || self.past_entries > 0
    }
}

/// What a survey comes to. Paths are from the root.
#[derive(Debug)]
pub(crate) enum Step<'a, D> {
    File {
        path: &'a str,
        /// The name in `directory`.
        name: &'a str,
        directory: &'a D,
    },
    /// A directory, before anything in it.
    Enter,
    /// The directory that was entered last and not left, after everything in it. One that was not
    /// looked into is left at once.
    Leave { path: &'a str, seen: bool },
}

struct Frame<D> {
    /// None for a directory that was not looked into.
    directory: Option<D>,
    /// Names still to come, in order; a directory's ends with a slash.
    names: Names,
    /// The length of this directory's path with the slash behind it.
    prefix: usize,
}

/// Everything below a directory, depth first, files in byte order of whole paths.
pub(crate) struct Survey<'a, D> {
    bounds: &'a mut Bounds,
    frames: Vec<Frame<D>>,
    path: String,
    /// What was not looked into so far.
    pub(crate) unseen: Unseen,
    /// Directories are entered only down to here.
    max_depth: usize,
}

impl<'a, D: Directory> Survey<'a, D> {
    /// Starts at `directory`, whose path from the root is `path`; the root's is empty. Directories
    /// `max_depth` below it are named, and not entered nor counted as unseen.
    pub(crate) fn new(
        directory: D,
        path: &str,
        max_depth: usize,
        bounds: &'a mut Bounds,
    ) -> Result<Self, Refusal> {
        let mut path = path.to_owned();
        if !path.is_empty() {
            path.push('/');
        }
        let names = sorted(&directory, path.len(), bounds)?.map_err(Refusal::reading)?;
        Ok(Self {
            bounds,
            frames: vec![Frame {
                directory: Some(directory),
                names,
                prefix: path.len(),
            }],
            path,
            unseen: Unseen::default(),
            max_depth,
        })
    }

    /// The next step; none at the end.
    pub(crate) fn next(&mut self) -> Result<Option<Step<'_, D>>, Refusal> {
        let depth = self.frames.len();
        let Some(frame) = self.frames.last_mut() else {
            return Ok(None);
        };
        self.path.truncate(frame.prefix);
        let prefix = frame.prefix;
        let Some(name) = frame.names.next() else {
            let seen = frame.directory.is_some();
            self.frames.pop();
            return Ok((depth > 1).then(|| Step::Leave {
                path: self.path.trim_end_matches('/'),
                seen,
            }));
        };
        self.path.push_str(name);
        let Some(name) = name.strip_suffix('/').map(str::to_owned) else {
            let directory = self
                .frames
                .last()
                .and_then(|frame| frame.directory.as_ref());
            return Ok(directory.map(|directory| Step::File {
                path: &self.path,
                name: &self.path[prefix..],
                directory,
            }));
        };
        let (directory, names) = match self.enter(&name, depth)? {
            Some((directory, names)) => (Some(directory), names),
            None => (None, Names::default()),
        };
        self.frames.push(Frame {
            directory,
            names,
            prefix: self.path.len(),
        });
        Ok(Some(Step::Enter))
    }

    /// Opens and lists the directory `name`, which is at the end of the path, if it can be.
    fn enter(&mut self, name: &str, depth: usize) -> Result<Option<(D, Names)>, Refusal> {
        let parent = self
            .frames
            .last()
            .and_then(|frame| frame.directory.as_ref());
        let Some(parent) = parent.filter(|_| depth <= self.max_depth) else {
            return Ok(None);
        };
        if self.unseen.past_entries > 0 {
            self.unseen.past_entries += 1;
            return Ok(None);
        }
        if self.bounds.enter(depth).is_err() {
            self.unseen.too_deep += 1;
            return Ok(None);
        }
        let listed = parent.directory(name).map(|directory| {
            let names = sorted(&directory, self.path.len(), self.bounds);
            (directory, names)
        });
        match listed {
            Ok((directory, Ok(Ok(names)))) => return Ok(Some((directory, names))),
            Ok((_, Err(Refusal::TooManyEntries(_)))) => self.unseen.past_entries += 1,
            Ok((_, Err(refusal))) => return Err(refusal),
            Ok((_, Ok(Err(fault)))) | Err(fault) => {
                Refusal::count(fault)?;
                self.unseen.unreadable += 1;
            }
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::{Step, Survey, Unseen};
    use crate::refusal::Refusal;
    use crate::tree::memory::Tree;
    use crate::walk::Bounds;

    fn steps(
        paths: &[&str],
        max_depth: usize,
        mut bounds: Bounds,
    ) -> Result<(Vec<String>, Unseen), Refusal> {
        let mut survey = Survey::new(Tree::of(paths), "", max_depth, &mut bounds)?;
        let mut found = Vec::new();
        while let Some(step) = survey.next()? {
            found.push(match step {
                Step::File { path, name, .. } => {
                    assert!(path.ends_with(name) && !name.contains('/'));
                    path.to_owned()
                }
                Step::Enter => "+".to_owned(),
                Step::Leave { path, seen } => format!("{}{path}", if seen { "-" } else { "!" }),
            });
        }
        Ok((found, survey.unseen))
    }

    fn ample() -> Bounds {
        Bounds::new(1000, 64)
    }

    #[test]
    fn directories_are_entered_and_left() {
        let paths = ["a/z", "a.txt", "b/c/d", "b/e/", "l@"];
        let (found, unseen) = steps(&paths, 99, ample()).expect("in bounds");
        let expected = [
            "a.txt", "+", "a/z", "-a", "+", "+", "b/c/d", "-b/c", "+", "-b/e", "-b",
        ];
        assert_eq!(found, expected);
        assert_eq!(unseen, Unseen::default());
    }

    #[test]
    fn what_cannot_be_read_is_counted() {
        let (found, unseen) = steps(&["a/x!", "b"], 99, ample()).expect("in bounds");
        assert_eq!(found, ["+", "+", "!a/x", "-a", "b"]);
        assert_eq!(unseen.unreadable, 1);
        assert!(!unseen.cut());
    }

    #[test]
    fn nothing_is_passed_over_for_want_of_descriptors() {
        assert_eq!(steps(&["a?"], 99, ample()), Err(Refusal::Exhausted));
    }

    #[test]
    fn what_is_nested_too_deep_is_named_and_counted() {
        let (found, unseen) = steps(&["a/b/c"], 99, Bounds::new(9, 1)).expect("one level");
        assert_eq!(found, ["+", "+", "!a/b", "-a"]);
        assert_eq!(unseen.too_deep, 1);
        assert!(unseen.cut());
    }

    #[test]
    fn what_was_not_asked_for_is_not_missed() {
        let (found, unseen) = steps(&["a/b", "c"], 0, ample()).expect("in bounds");
        assert_eq!(found, ["+", "!a", "c"]);
        assert_eq!(unseen, Unseen::default());
    }

    #[test]
    fn too_many_entries_end_the_looking_and_not_the_listing() {
        let paths = ["a/1", "b/1", "b/2", "c/d/e", "z"];
        let (found, unseen) = steps(&paths, 99, Bounds::new(6, 64)).expect("the first level");
        assert_eq!(found, ["+", "a/1", "-a", "+", "!b", "+", "!c", "z"]);
        assert_eq!(unseen.past_entries, 2);
        assert_eq!(
            steps(&paths, 99, Bounds::new(3, 64)),
            Err(Refusal::TooManyEntries(3))
        );
    }
}
