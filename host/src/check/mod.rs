//! `preopen-mcp check`: for each path, whether it is served, by which rule, and
//! what lies there. It asks the policy that the server asks, looks without
//! following a link, and opens no file. It is the operator's own command, so
//! unlike a tool it also tells what the rules hide.

mod look;
mod rules;
mod spelling;

use std::ffi::{OsStr, OsString};
use std::fmt::Write;
use std::os::fd::AsFd;

use preopen_mcp::path::RelPath;
use preopen_mcp::{Options, Root, RootError};

use self::look::{Found, Kind, look};
use self::rules::{Rules, Ruling};
use self::spelling::{Advice, Spellings};
use crate::{Failure, one_line, print};

/// Prints one line a path.
pub(crate) fn run(options: &Options, paths: &[OsString]) -> Result<(), Failure> {
    // The same checks as at the start of a server, so that what is said here
    // is what would be served.
    let root = Root::open(Options {
        read_only: true,
        ..options.clone()
    })?;
    let check = Check {
        rules: Rules::new(options).map_err(RootError::from)?,
        spellings: Spellings::of(&options.root),
        root,
        options,
    };
    let mut out = String::new();
    for path in paths {
        let shown = one_line(&path.to_string_lossy());
        // Writing to a string does not fail.
        let _ = writeln!(out, "{shown}: {}", one_line(&check.explain(path)));
    }
    print(out.as_bytes())
}

struct Check<'a> {
    rules: Rules<'a>,
    spellings: Spellings,
    root: Root,
    options: &'a Options,
}

impl Check<'_> {
    fn explain(&self, path: &OsStr) -> String {
        let Some(path) = path.to_str() else {
            return "not served: its name is not UTF-8, so no client can spell it".to_owned();
        };
        match RelPath::parse(path) {
            Ok(path) => self.verdict(&path),
            Err(error) => match self.spellings.advise(path, error) {
                Advice::Write(path) => {
                    let meant = self.spellings.meant(&path);
                    // Spelled from the working directory, as `./root/a.txt`.
                    let meant = meant.filter(|meant| !self.is_there(&path) && self.is_there(meant));
                    instead(&meant.unwrap_or(path))
                }
                Advice::Perhaps(path) if self.is_there(&path) => instead(&path),
                Advice::Perhaps(_) | Advice::Outside => {
                    "refused: it lies outside the root, where nothing is served".to_owned()
                }
                Advice::Rule(error) => format!("refused: {error}"),
            },
        }
    }

    fn verdict(&self, path: &RelPath) -> String {
        let found = look(self.root.as_fd(), path);
        if let Found::Directory { readable } = found {
            return self.directory(path, readable);
        }
        let there = self.describe(path, &found);
        let meant = self.meant(path, &found);
        match self.rules.file(path.as_str()) {
            // What is not there yet is served once it is.
            Ruling::Served(rule) if matches!(found, Found::File { .. } | Found::Missing(_)) => {
                format!("served, by {rule}; {there}{meant}")
            }
            Ruling::Served(rule) => {
                format!("not served: {there}; a file here would be, by {rule}")
            }
            Ruling::Hidden(why) => {
                let below = self.below(path, &found);
                format!("not served{why}; {there}{below}{meant}")
            }
        }
    }

    fn directory(&self, path: &RelPath, readable: bool) -> String {
        let what = if path.is_root() {
            "the root itself"
        } else {
            "a directory"
        };
        let denied = if readable {
            ""
        } else {
            ", which this user has no permission to list"
        };
        match self.rules.directory(path.as_str()) {
            Ruling::Served(rule) => {
                format!("served, as far as {rule} matches something below it; {what}{denied}")
            }
            Ruling::Hidden(why) => {
                format!("not served, nor is anything below it{why}; {what}{denied}")
            }
        }
    }

    /// That the name would do for a directory, where none is.
    fn below(&self, path: &RelPath, found: &Found) -> String {
        match (found, self.rules.directory(path.as_str())) {
            (Found::Missing(_), Ruling::Served(rule)) => {
                format!("; of a directory here, what {rule} matches below it would be served")
            }
            _ => String::new(),
        }
    }

    /// The path that may have been meant, where nothing is at this one.
    fn meant(&self, path: &RelPath, found: &Found) -> String {
        match (found, self.spellings.meant(path)) {
            (Found::Missing(_), Some(meant)) if self.is_there(&meant) => format!(
                "; paths are relative to the root, so perhaps {} is meant",
                spelled(&meant)
            ),
            _ => String::new(),
        }
    }

    fn is_there(&self, path: &RelPath) -> bool {
        matches!(
            look(self.root.as_fd(), path),
            Found::File { .. } | Found::Directory { .. } | Found::Special(_)
        )
    }

    fn describe(&self, path: &RelPath, found: &Found) -> String {
        match found {
            Found::File { size, readable } => self.file(*size, *readable),
            Found::Directory { .. } => "a directory".to_owned(),
            Found::Special(Kind::Link) => "a symbolic link, which is never followed".to_owned(),
            Found::Special(kind) => format!("{kind}, which is never opened"),
            Found::Behind(at, Kind::Link) => {
                format!("{at} is a symbolic link, which is never followed")
            }
            Found::Behind(at, kind) => format!("{at} is {kind}, so nothing lies below it"),
            Found::Missing(at) if at == path.as_str() => "nothing is there".to_owned(),
            Found::Missing(at) => format!("nothing is there, not even {at}"),
            Found::Denied(at) if at.is_empty() => {
                "this user has no permission to look into the root".to_owned()
            }
            Found::Denied(at) => format!("this user has no permission to look into {at}"),
            Found::Unknown(at, errno) => format!("{at} cannot be looked at ({errno})"),
        }
    }

    fn file(&self, size: u64, readable: bool) -> String {
        let mut text = match size {
            1 => "a regular file of 1 byte".to_owned(),
            size => format!("a regular file of {size} bytes"),
        };
        let limits = &self.options.limits;
        if size > limits.max_file_bytes {
            let limit = limits.shown("max-file-bytes");
            // Writing to a string does not fail.
            let _ = write!(
                text,
                ", too large to be read or searched: over --max-file-bytes {limit}"
            );
        }
        if !readable {
            text.push_str(", which this user has no permission to read");
        }
        text
    }
}

/// The path to write in place of one that is refused.
fn instead(path: &RelPath) -> String {
    format!(
        "refused: paths are relative to the root; write {}",
        spelled(path)
    )
}

fn spelled(path: &RelPath) -> &str {
    if path.is_root() { "." } else { path.as_str() }
}
