//! Include and exclude globs: which paths are served. Decides by the path
//! alone; it never looks at a disk and knows neither flags nor tools.
//!
//! # Patterns
//!
//! A pattern is matched against the whole path from the root, name by name,
//! and is case-sensitive. A name that starts with a dot is nothing special.
//!
//! | written | matches |
//! |---|---|
//! | `**` as a whole segment | any number of names, also none; as the last segment at least one |
//! | `*` | any run of characters within one name, also none |
//! | `?` | one character |
//! | `[ab]`, `[a-z]` | one of these characters |
//! | `[!ab]`, also `[^ab]` | one character that is none of these |
//! | `{a,b}` | either; may nest, hold `/`, and have an empty choice |
//! | `dir/` | what `dir/**` matches |
//!
//! Braces are expanded first, as text; each result is a pattern by itself,
//! but no `**` may come of it that was not written.
//! Within a class everything but its `]` is literal, and a `]` that comes
//! first is, too: `[[]`, `[]]`, `[{]`, `[*]`. There is no other escape.
//!
//! # Rules
//!
//! An include pattern must match the path of the file itself. An exclude
//! pattern hides what it matches and, where that is a directory, everything
//! in it; exclude wins. So, for a directory `dir`:
//!
//! | pattern | as include serves | as exclude hides |
//! |---|---|---|
//! | `dir` | a file of that name at the top level | it and all in it, at the top level |
//! | `dir/`, `dir/**` | all in it, at any depth | it and all in it (but not a file `dir`) |
//! | `**/dir` | files of that name, anywhere | it and all in it, anywhere |
//! | `**/dir/**` | all in it, anywhere | it and all in it, anywhere (but not a file `dir`) |
//!
//! The names of this product's own temporaries ([`is_reserved`]) are excluded
//! whatever the patterns say.

mod blocked;
mod braces;
mod error;
mod name;
mod pattern;

pub use blocked::{BLOCKED_EXTENSIONS, BLOCKED_NAMES, blocked};
pub use error::{MAX_ALTERNATIVES, MAX_PATTERN_BYTES, PatternError, PolicyError};

use pattern::Pattern;

/// How the names of this product's own temporaries start.
pub const RESERVED_PREFIX: &str = ".preopen-mcp-";
/// How the names of this product's own temporaries end.
pub const RESERVED_SUFFIX: &str = ".tmp";
/// How many hexadecimal digits stand between the two.
const RESERVED_DIGITS: usize = 32;

/// What the rules say of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// An include rule reaches it and nothing hides it.
    Served,
    /// An exclude rule, or its reserved name, hides it.
    Excluded,
    /// No include rule reaches it.
    NotIncluded,
}

/// The rule that decided a verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule<'a> {
    /// An include pattern, as the operator wrote it.
    Include(&'a str),
    /// An exclude pattern, as the operator wrote it.
    Exclude(&'a str),
    /// A name in the path is one of this product's temporaries.
    Reserved,
    /// A name or extension in the path is one that workspaces do not serve.
    Blocked(&'static str),
}

/// The include and exclude patterns of one server. Asking it takes no heap.
#[derive(Clone, Debug)]
pub struct Policy {
    include: Vec<Pattern>,
    exclude: Vec<Pattern>,
    blocks: bool,
}

impl Policy {
    /// Compiles the patterns of both lists.
    ///
    /// # Errors
    /// When there is no include pattern, or a pattern is malformed or can
    /// never match a path below the root; the first one of these, the include
    /// list before the exclude list.
    pub fn new<S: AsRef<str>>(include: &[S], exclude: &[S]) -> Result<Self, PolicyError> {
        if include.is_empty() {
            return Err(PolicyError::NoInclude);
        }
        Ok(Self {
            include: compile(include, true)?,
            exclude: compile(exclude, false)?,
            blocks: false,
        })
    }

    /// The same, without what workspaces do not serve by default:
    /// [`BLOCKED_NAMES`] and [`BLOCKED_EXTENSIONS`].
    #[must_use]
    pub fn blocking(self) -> Self {
        Self {
            blocks: true,
            ..self
        }
    }

    /// The verdict for `path` (canonical, not empty) as anything that is not a
    /// directory.
    #[must_use]
    pub fn file(&self, path: &str) -> Verdict {
        self.explain(path).0
    }

    /// The verdict for `path` (canonical; empty for the root) as a directory:
    /// [`Verdict::Served`] when something below it could be served, so it is
    /// for every directory that a served file is in.
    #[must_use]
    pub fn directory(&self, path: &str) -> Verdict {
        let hidden = |pattern: &Pattern| {
            pattern.hides_directory(path) || path.is_empty() && pattern.hides_everything()
        };
        let blocked = || self.blocks && blocked::directory(path).is_some();
        if has_reserved(path) || blocked() || self.exclude.iter().any(hidden) {
            Verdict::Excluded
        } else if leads_out(path) {
            Verdict::NotIncluded
        } else if self
            .include
            .iter()
            .any(|pattern| pattern.reaches_below(path))
        {
            Verdict::Served
        } else {
            Verdict::NotIncluded
        }
    }

    /// The verdict of [`Policy::file`] and the rule that decided it, if one
    /// did: the first of its list, in the order the patterns were given.
    #[must_use]
    pub fn explain(&self, path: &str) -> (Verdict, Option<Rule<'_>>) {
        if has_reserved(path) {
            return (Verdict::Excluded, Some(Rule::Reserved));
        }
        if self.blocks
            && let Some(name) = blocked::file(path)
        {
            return (Verdict::Excluded, Some(Rule::Blocked(name)));
        }
        if let Some(pattern) = self.exclude.iter().find(|pattern| pattern.hides(path)) {
            return (Verdict::Excluded, Some(Rule::Exclude(pattern.text())));
        }
        if leads_out(path) {
            return (Verdict::NotIncluded, None);
        }
        match self.include.iter().find(|pattern| pattern.matches(path)) {
            Some(pattern) => (Verdict::Served, Some(Rule::Include(pattern.text()))),
            None => (Verdict::NotIncluded, None),
        }
    }

    /// Whether any name at the root's own top level can be served. False means
    /// that writing there is always refused; true does not promise a name
    /// where an include with a wildcard meets excludes that hide all it matches.
    #[must_use]
    pub fn reaches_top_level(&self) -> bool {
        self.directory("") == Verdict::Served
            && self
                .include
                .iter()
                .any(|pattern| pattern.reaches_top_level(|name| self.file(name) == Verdict::Served))
    }
}

fn compile<S: AsRef<str>>(list: &[S], include: bool) -> Result<Vec<Pattern>, PolicyError> {
    list.iter()
        .map(AsRef::as_ref)
        .map(|text| {
            Pattern::parse(text).map_err(|problem| PolicyError::Pattern {
                include,
                pattern: text.to_owned(),
                problem,
            })
        })
        .collect()
}

fn has_reserved(path: &str) -> bool {
    // Most paths are shorter than a reserved name alone.
    path.len() >= RESERVED_PREFIX.len() + RESERVED_DIGITS + RESERVED_SUFFIX.len()
        && path.split('/').any(is_reserved)
}

/// Whether `path` begins at another root or goes up anywhere. Canonical paths
/// never do; should one that is not get this far, no rule serves it.
fn leads_out(path: &str) -> bool {
    let bytes = path.as_bytes();
    bytes.first() == Some(&b'/')
        || bytes.windows(2).any(|pair| pair == b"..") && path.split('/').any(|name| name == "..")
}

/// Whether `name` is one of this product's temporaries:
/// [`RESERVED_PREFIX`], 32 lower-case hexadecimal digits, [`RESERVED_SUFFIX`].
#[must_use]
pub fn is_reserved(name: &str) -> bool {
    name.strip_prefix(RESERVED_PREFIX)
        .and_then(|rest| rest.strip_suffix(RESERVED_SUFFIX))
        .is_some_and(|digits| {
            digits.len() == RESERVED_DIGITS
                && digits
                    .bytes()
                    .all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
        })
}
