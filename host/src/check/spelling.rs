//! Paths that name nothing below the root as they are spelled, and what to
//! write instead. Everything here is about the text alone: no link is followed
//! to find out what was meant.

use std::path::{Component, Path, PathBuf};

use preopen_mcp::path::{PathError, RelPath};

/// The spellings of the root that a path may begin with.
pub(super) struct Spellings(Vec<PathBuf>);

/// What is to be said of a path that is refused.
pub(super) enum Advice {
    /// Write this; empty is the root.
    Write(RelPath),
    /// This, if something is there: else it lies outside.
    Perhaps(RelPath),
    /// It lies outside the root.
    Outside,
    /// The rule for paths.
    Rule(PathError),
}

impl Spellings {
    /// Of the root at `root`: as it was given, seen from `/`, and without links.
    pub(super) fn of(root: &Path) -> Self {
        let mut all = vec![root.to_owned()];
        all.extend(std::path::absolute(root));
        all.extend(root.canonicalize());
        Self(all)
    }

    /// What a refused path should have been.
    pub(super) fn advise(&self, path: &str, error: PathError) -> Advice {
        if path.starts_with('/') {
            return match self.below(path) {
                Some(below) => below,
                None => match resolve(Path::new(path.trim_start_matches('/'))) {
                    Some(path) if !path.is_root() => Advice::Perhaps(path),
                    _ => Advice::Outside,
                },
            };
        }
        if path.contains('\\') {
            return match RelPath::parse(&path.replace('\\', "/")) {
                Ok(path) => Advice::Write(path),
                Err(error) => Advice::Rule(error),
            };
        }
        match resolve(Path::new(path)) {
            Some(path) => Advice::Write(path),
            None if path.split('/').any(|name| name == "..") => {
                self.below(path).unwrap_or(Advice::Outside)
            }
            None => Advice::Rule(error),
        }
    }

    /// What a path that is fine, but leads nowhere, may have been meant for: one
    /// that counts from where the root counts from.
    pub(super) fn meant(&self, path: &RelPath) -> Option<RelPath> {
        match self.below(path.as_str())? {
            Advice::Write(meant) => Some(meant),
            _ => None,
        }
    }

    /// What is left of `path` behind a spelling of the root.
    fn below(&self, path: &str) -> Option<Advice> {
        let path = Path::new(path);
        let rest = self.0.iter().find_map(|root| {
            // Of `.` every path would be below.
            let root = root.strip_prefix(".").unwrap_or(root);
            (!root.as_os_str().is_empty())
                .then(|| path.strip_prefix(root).ok())
                .flatten()
        })?;
        Some(resolve(rest).map_or(Advice::Outside, Advice::Write))
    }
}

/// The path without `.` and `..`, if it does not lead out.
fn resolve(path: &Path) -> Option<RelPath> {
    let mut names: Vec<&str> = Vec::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => drop(names.pop()?),
            Component::Normal(name) => names.push(name.to_str()?),
            Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    RelPath::parse(&names.join("/")).ok()
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use preopen_mcp::path::{PathError, RelPath};

    use super::{Advice, Spellings};

    #[test]
    fn a_refused_path_gets_the_one_that_was_meant() {
        let spellings = Spellings(vec![PathBuf::from("./notes"), PathBuf::from("/srv/notes")]);
        for (path, meant) in [
            ("/srv/notes/a.md", Ok("a.md")),
            ("/srv//notes/./lib/a.md", Ok("lib/a.md")),
            ("/srv/notes/lib/../a.md", Ok("a.md")),
            ("/srv/notes", Ok("")),
            ("/srv/notes/", Ok("")),
            ("/srv/notes/../x", Err("outside")),
            ("/srv/notes2/a.md", Err("perhaps srv/notes2/a.md")),
            ("/a.md", Err("perhaps a.md")),
            ("//", Err("outside")),
            ("/..", Err("outside")),
            ("./a.md", Ok("a.md")),
            ("lib/../a.md", Ok("a.md")),
            ("lib/..", Ok("")),
            ("../x", Err("outside")),
            ("lib\\a.md", Ok("lib/a.md")),
            ("..\\a.md", Err("rule")),
            ("C:\\a.md", Err("rule")),
            ("C:/a.md", Err("rule")),
        ] {
            assert!(RelPath::parse(path).is_err(), "{path}");
            let advice = match spellings.advise(path, PathError) {
                Advice::Write(path) => Ok(path.to_string()),
                Advice::Perhaps(path) => Err(format!("perhaps {path}")),
                Advice::Outside => Err("outside".to_owned()),
                Advice::Rule(_) => Err("rule".to_owned()),
            };
            let expected = meant.map(str::to_owned).map_err(str::to_owned);
            assert_eq!(advice, expected, "{path}");
        }
    }

    #[test]
    fn a_path_that_begins_with_the_root_may_be_meant_for_one_below_it() {
        let meant = |root: &str, path: &str| {
            let path = RelPath::parse(path).expect("a path");
            let meant = Spellings(vec![PathBuf::from(root)]).meant(&path);
            meant.map(|path| path.to_string())
        };
        assert_eq!(meant("notes", "notes/a.md").as_deref(), Some("a.md"));
        assert_eq!(meant("./notes/", "notes/a.md").as_deref(), Some("a.md"));
        assert_eq!(meant("notes", "notes").as_deref(), Some(""));
        assert_eq!(meant("notes", "a.md"), None);
        assert_eq!(meant(".", "a.md"), None);
    }

    #[test]
    fn a_root_is_known_by_its_place() {
        let Spellings(all) = Spellings::of(Path::new("."));
        assert!(all.iter().any(|root| root.is_absolute()));
    }
}
