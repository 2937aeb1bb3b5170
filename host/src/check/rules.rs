//! Which rule decides about a path, as a file and as a directory. It asks the
//! policy that the server asks, and looks at no disk.

use preopen_mcp::Options;
use preopen_mcp::policy::{Policy, PolicyError, Rule, Verdict, is_reserved};

/// The patterns of a server.
pub(super) struct Rules<'a> {
    policy: Policy,
    include: &'a [String],
    exclude: &'a [String],
}

/// What the rules say, and by which of them.
pub(super) enum Ruling {
    /// Served, by this include pattern.
    Served(String),
    /// Not served, and why.
    Hidden(String),
}

impl<'a> Rules<'a> {
    pub(super) fn new(options: &'a Options) -> Result<Self, PolicyError> {
        Ok(Self {
            policy: options.policy()?,
            include: &options.include,
            exclude: &options.exclude,
        })
    }

    /// Of `path` as a file.
    pub(super) fn file(&self, path: &str) -> Ruling {
        match self.policy.explain(path) {
            (Verdict::Served, Some(Rule::Include(glob))) => Ruling::Served(include(glob)),
            (Verdict::Served, _) => Ruling::Served("the rules".to_owned()),
            (_, Some(Rule::Exclude(glob))) => Ruling::Hidden(excluded(glob)),
            (_, Some(Rule::Reserved)) => Ruling::Hidden(RESERVED.to_owned()),
            (_, Some(Rule::Blocked(name))) => Ruling::Hidden(blocked(name)),
            _ => Ruling::Hidden(": no --include pattern matches it".to_owned()),
        }
    }

    /// Of `path` as a directory, so of what lies below it; empty is the root.
    pub(super) fn directory(&self, path: &str) -> Ruling {
        match self.policy.directory(path) {
            Verdict::Served => {
                let reaches = |glob: &&String| {
                    Policy::new(&[glob], &[])
                        .is_ok_and(|policy| policy.directory(path) == Verdict::Served)
                };
                let glob = self.include.iter().find(reaches);
                Ruling::Served(glob.map_or_else(|| "the rules".to_owned(), |glob| include(glob)))
            }
            Verdict::Excluded if path.split('/').any(is_reserved) => {
                Ruling::Hidden(RESERVED.to_owned())
            }
            Verdict::Excluded => {
                let hides = |glob: &&String| {
                    Policy::new(&["**"], &[glob.as_str()])
                        .is_ok_and(|policy| policy.directory(path) == Verdict::Excluded)
                };
                match (self.exclude.iter().find(hides), self.policy.explain(path)) {
                    (_, (_, Some(Rule::Blocked(name)))) => Ruling::Hidden(blocked(name)),
                    (glob, _) => Ruling::Hidden(excluded(glob.map_or("", |glob| glob))),
                }
            }
            Verdict::NotIncluded => {
                Ruling::Hidden(": no --include pattern matches anything below it".to_owned())
            }
        }
    }
}

const RESERVED: &str = ": the name is reserved for files that are being written";

fn include(glob: &str) -> String {
    format!("--include {glob}")
}

fn blocked(name: &str) -> String {
    format!(": {name} is blocked by default; --allow-blocked serves it")
}

fn excluded(glob: &str) -> String {
    format!(", by --exclude {glob}")
}
