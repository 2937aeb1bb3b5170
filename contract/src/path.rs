//! The relative-path contract: which spellings name something below the root,
//! and the one form they are brought into. It never looks at a disk; a path
//! that breaks the contract is refused and never resolved.

use std::fmt;

use thiserror::Error;

/// The longest path, in bytes, in the form that [`RelPath::parse`] gives it.
pub const MAX_PATH_BYTES: usize = 1024;

/// The one text for every path that breaks the contract: what to send instead.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error(
    "paths are relative to the root: send names joined by `/`, such as lib/a.ts (no leading `/`, no `.` or `..`, no `\\`, no drive prefix, no NUL, at most {MAX_PATH_BYTES} bytes)"
)]
pub struct PathError;

/// A path below the root in its canonical form: segments joined by single
/// slashes, the root itself as the empty string.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RelPath(String);

impl RelPath {
    /// The root itself.
    #[must_use]
    pub const fn root() -> Self {
        Self(String::new())
    }

    /// Reads a path as a client spells it. Doubled and trailing slashes are
    /// dropped; `""`, `"."`, `"./"` and `"/"` are the root.
    ///
    /// # Errors
    /// For anything absolute, a `.` or `..` segment, NUL, `\`, a drive prefix
    /// such as `C:`, or more than [`MAX_PATH_BYTES`].
    pub fn parse(text: &str) -> Result<Self, PathError> {
        if matches!(text, "" | "." | "./" | "/") {
            return Ok(Self::root());
        }
        if text.starts_with('/') {
            return Err(PathError);
        }
        if is_canonical(text) {
            return Ok(Self(text.to_owned()));
        }
        let mut canonical = String::with_capacity(text.len().min(MAX_PATH_BYTES));
        for segment in text.split('/').filter(|segment| !segment.is_empty()) {
            if canonical.len() + segment.len() > MAX_PATH_BYTES {
                return Err(PathError);
            }
            if !canonical.is_empty() {
                canonical.push('/');
            }
            canonical.push_str(segment);
        }
        if is_canonical(&canonical) {
            Ok(Self(canonical))
        } else {
            Err(PathError)
        }
    }

    /// The canonical text; empty for the root.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether this is the root itself.
    #[must_use]
    pub fn is_root(&self) -> bool {
        self.0.is_empty()
    }

    /// The names from the root down.
    pub fn segments(&self) -> impl Iterator<Item = &str> {
        segments(&self.0)
    }

    /// The last name; none for the root.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        self.0.rsplit('/').next().filter(|name| !name.is_empty())
    }
}

impl fmt::Display for RelPath {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// The names of a canonical path from the root down; none for the root.
pub fn segments(canonical: &str) -> impl Iterator<Item = &str> {
    canonical.split('/').filter(|segment| !segment.is_empty())
}

/// Whether `text` is exactly the form [`RelPath::parse`] would give it. The
/// root, the empty string, is not: where it is allowed the caller says so.
#[must_use]
pub fn is_canonical(text: &str) -> bool {
    text.len() <= MAX_PATH_BYTES && !has_drive_prefix(text) && text.split('/').all(is_segment)
}

/// Whether `name` can be a segment of a path. A name on disk for which this is
/// false (or a first one with a drive prefix) cannot be spelled by any client
/// and so does not exist for one.
#[must_use]
pub fn is_segment(name: &str) -> bool {
    !matches!(name, "" | "." | "..") && !name.bytes().any(|byte| matches!(byte, 0 | b'/' | b'\\'))
}

fn has_drive_prefix(text: &str) -> bool {
    matches!(text.as_bytes(), [letter, b':', ..] if letter.is_ascii_alphabetic())
}

#[cfg(test)]
mod tests {
    use super::{MAX_PATH_BYTES, PathError, RelPath, is_canonical};

    macro_rules! paths {
        ($($name:ident: $text:expr => $expected:expr;)+) => {$(
            #[test]
            fn $name() {
                let expected: Result<&str, PathError> = $expected;
                assert_eq!(RelPath::parse($text).as_ref().map(RelPath::as_str), expected.as_ref().copied());
            }
        )+};
    }

    paths! {
        nothing_is_the_root: "" => Ok("");
        dot_is_the_root: "." => Ok("");
        dot_slash_is_the_root: "./" => Ok("");
        slash_is_the_root: "/" => Ok("");
        a_name: "a.txt" => Ok("a.txt");
        names_joined: "lib/deep/a.ts" => Ok("lib/deep/a.ts");
        trailing_slash_is_dropped: "f.txt/" => Ok("f.txt");
        doubled_slashes_are_dropped: "a//b///" => Ok("a/b");
        ordinary_punctuation: "my dir/it's 100% #1 – café 🙂.txt" => Ok("my dir/it's 100% #1 – café 🙂.txt");
        three_dots_are_a_name: "..." => Ok("...");
        a_dash_first: "-rf" => Ok("-rf");
        a_colon_later: "ab:c" => Ok("ab:c");
        a_drive_below: "a/C:/b" => Ok("a/C:/b");
        absolute: "/etc/passwd" => Err(PathError);
        two_slashes: "//" => Err(PathError);
        network_share: "//host/share" => Err(PathError);
        dot_first: "./a.txt" => Err(PathError);
        dot_inside: "a/./b" => Err(PathError);
        dot_last: "a/." => Err(PathError);
        parent: ".." => Err(PathError);
        parent_first: "../a" => Err(PathError);
        parent_inside: "a/../b" => Err(PathError);
        parent_behind_missing: "no/../../secret.txt" => Err(PathError);
        parent_last: "a/.." => Err(PathError);
        parent_with_slashes: "a//..//" => Err(PathError);
        nul: "a\0b" => Err(PathError);
        backslash: "lib\\a.txt" => Err(PathError);
        drive: "C:\\notes" => Err(PathError);
        drive_with_slash: "c:/notes" => Err(PathError);
        drive_alone: "Z:" => Err(PathError);
    }

    #[test]
    fn the_length_is_that_of_the_canonical_form() {
        let longest = "a".repeat(MAX_PATH_BYTES);
        assert!(RelPath::parse(&longest).is_ok());
        assert!(RelPath::parse(&format!("{longest}///")).is_ok());
        assert_eq!(RelPath::parse(&format!("{longest}b")), Err(PathError));
        assert_eq!(RelPath::parse(&"a/".repeat(MAX_PATH_BYTES)), Err(PathError));
    }

    #[test]
    fn segments_and_name() {
        let path = RelPath::parse("a/b/c.txt").expect("valid");
        assert_eq!(path.segments().collect::<Vec<_>>(), ["a", "b", "c.txt"]);
        assert_eq!(path.name(), Some("c.txt"));
        assert_eq!(RelPath::root().segments().count(), 0);
        assert_eq!(RelPath::root().name(), None);
    }

    #[test]
    fn the_root_is_not_canonical_by_itself() {
        assert!(!is_canonical(""));
    }
}
