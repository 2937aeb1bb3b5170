//! Include and exclude globs: which paths are served. Decides by the path
//! alone; it never looks at a disk.

mod error;

pub use error::{MAX_ALTERNATIVES, MAX_PATTERN_BYTES, PatternError, PolicyError};

/// How the names of this product's own temporaries start.
pub const RESERVED_PREFIX: &str = ".preopen-mcp-";
/// How the names of this product's own temporaries end.
pub const RESERVED_SUFFIX: &str = ".tmp";

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
}

/// The include and exclude patterns of one server.
#[derive(Clone, Debug)]
pub struct Policy {
    include: usize,
}

impl Policy {
    /// Compiles the patterns of both lists.
    ///
    /// # Errors
    /// When there is no include pattern, or a pattern is malformed or can never match a path below the root.
    pub fn new<S: AsRef<str>>(include: &[S], _exclude: &[S]) -> Result<Self, PolicyError> {
        if include.is_empty() {
            return Err(PolicyError::NoInclude);
        }
        Ok(Self {
            include: include.len(),
        })
    }

    /// The verdict for `path` (canonical, not empty) as anything that is not a directory.
    #[must_use]
    pub fn file(&self, path: &str) -> Verdict {
        self.explain(path).0
    }

    /// The verdict for `path` (canonical; empty for the root) as a directory:
    /// [`Verdict::Served`] when something below it could be served.
    #[must_use]
    pub fn directory(&self, _path: &str) -> Verdict {
        Verdict::NotIncluded
    }

    /// The verdict of [`Policy::file`] and the rule that decided it, if one did.
    #[must_use]
    pub fn explain(&self, _path: &str) -> (Verdict, Option<Rule<'_>>) {
        (Verdict::NotIncluded, None)
    }

    /// Whether any name at the root's own top level can be served; when not,
    /// writing there is always refused.
    #[must_use]
    pub fn reaches_top_level(&self) -> bool {
        self.include == 0
    }
}

/// Whether `name` is one of this product's temporaries:
/// [`RESERVED_PREFIX`], 32 lower-case hexadecimal digits, [`RESERVED_SUFFIX`].
#[must_use]
pub fn is_reserved(name: &str) -> bool {
    name.strip_prefix(RESERVED_PREFIX)
        .and_then(|rest| rest.strip_suffix(RESERVED_SUFFIX))
        .is_some_and(|digits| {
            digits.len() == 32
                && digits
                    .bytes()
                    .all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
        })
}
