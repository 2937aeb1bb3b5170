//! Why a pattern is refused, in words that say what to change. The flag that
//! brought the pattern is the caller's to name.

use std::fmt;

use thiserror::Error;

/// The longest pattern, in bytes, before its braces are expanded.
pub const MAX_PATTERN_BYTES: usize = 1024;
/// The most spellings that the braces of one pattern may stand for.
pub const MAX_ALTERNATIVES: usize = 256;
/// How much of a pattern its error repeats, in characters.
const SHOWN: usize = 60;

/// Patterns that make no policy.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum PolicyError {
    /// There is no include pattern at all, so nothing would be served.
    #[error("no pattern is given, so nothing would be served; give `**` to serve everything")]
    NoInclude,
    /// One pattern is refused.
    #[error("`{}` {problem}", Shown(.pattern))]
    Pattern {
        /// Whether it stands in the include list.
        include: bool,
        /// The pattern, as the operator wrote it.
        pattern: String,
        /// What is wrong with it.
        problem: PatternError,
    },
}

impl PolicyError {
    /// Whether the include list is at fault; otherwise the exclude list is.
    #[must_use]
    pub fn is_include(&self) -> bool {
        match self {
            Self::NoInclude => true,
            Self::Pattern { include, .. } => *include,
        }
    }
}

/// What is wrong with one pattern. The text goes on from the pattern itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum PatternError {
    /// It has no characters, or its braces can stand for none.
    #[error("can be empty; give `**` to match everything")]
    Empty,
    /// It is longer than [`MAX_PATTERN_BYTES`].
    #[error("is longer than {MAX_PATTERN_BYTES} bytes; shorten or split it")]
    TooLong,
    /// It starts with a slash.
    #[error("starts with `/`; patterns are relative to the root, so remove it")]
    Absolute,
    /// It starts with a letter and a colon.
    #[error("starts with a drive prefix; patterns are relative to the root, so remove it")]
    Drive,
    /// A segment is `.` or `..`.
    #[error("has a `.` or `..` segment, which no path has; remove it")]
    Dots,
    /// Two slashes follow each other.
    #[error("has an empty name between two slashes; remove one slash")]
    EmptySegment,
    /// It has a backslash.
    #[error("has a backslash; use / between names; [x] takes x literally")]
    Backslash,
    /// It has a NUL character.
    #[error("has a NUL character, which no path has; remove it")]
    Nul,
    /// Two stars stand in a segment that is not `**`.
    #[error("has stars side by side; `**` must stand alone between slashes")]
    Stars,
    /// A class does not end before the next slash.
    #[error("has a `[` without its `]` in the same name; [[] takes it literally")]
    OpenClass,
    /// A class has a range whose end comes before its start.
    #[error("has a range in `[]` that runs backwards; swap its ends")]
    BackwardRange,
    /// A class has a POSIX name such as `[:alpha:]`.
    #[error("has a named class such as [:alpha:]; list the characters, as in [a-z]")]
    NamedClass,
    /// A brace is never closed.
    #[error("has a `{{` without its `}}`; [{{] takes it literally")]
    OpenBrace,
    /// A brace is closed that was not opened.
    #[error("has a `}}` without its `{{`; [}}] takes it literally")]
    StrayBrace,
    /// Braces hold nothing.
    #[error("has `{{}}` with nothing in it; remove it, or [{{] takes a brace literally")]
    NoAlternatives,
    /// Its braces stand for more than [`MAX_ALTERNATIVES`] patterns.
    #[error("stands for more than {MAX_ALTERNATIVES} alternatives; split it")]
    TooManyAlternatives,
}

/// A pattern cut and escaped to fit on one line.
struct Shown<'a>(&'a str);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, character) in self.0.chars().enumerate() {
            if index == SHOWN {
                return formatter.write_str("…");
            }
            if character.is_control() {
                write!(formatter, "{}", character.escape_default())?;
            } else {
                write!(formatter, "{character}")?;
            }
        }
        Ok(())
    }
}
