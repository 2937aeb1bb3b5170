//! What reading an open directory gives, where the host lets it be read: the
//! entries that are served, many at a time, each a letter for its kind, its
//! name, and a NUL. Asking for entries one by one costs a call for each.

use memchr::memchr;

/// The fewest bytes to ask for, which have room for any entry.
pub const LEAST: usize = 512;

/// What an entry is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// Anything else, or nothing that is shown: then the name is empty.
    Other,
}

impl Kind {
    const fn letter(self) -> u8 {
        match self {
            Self::File => b'-',
            Self::Directory => b'd',
            Self::Other => b'?',
        }
    }

    const fn of(letter: u8) -> Option<Self> {
        match letter {
            b'-' => Some(Self::File),
            b'd' => Some(Self::Directory),
            b'?' => Some(Self::Other),
            _ => None,
        }
    }
}

/// Appends an entry; `name` holds no NUL.
pub fn append(out: &mut Vec<u8>, kind: Kind, name: &str) {
    out.push(kind.letter());
    out.extend_from_slice(name.as_bytes());
    out.push(0);
}

/// The entries of `text`, up to where it is not of this form.
pub fn parse(text: &str) -> impl Iterator<Item = (Kind, &str)> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let kind = Kind::of(*rest.as_bytes().first()?)?;
        let end = memchr(0, rest.as_bytes())?;
        let name = rest.get(1..end)?;
        rest = rest.get(end + 1..)?;
        Some((kind, name))
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Kind, append, parse};

    proptest! {
        #[test]
        fn what_is_appended_is_what_is_parsed(
            entries in prop::collection::vec(
                (prop::sample::select(vec![Kind::File, Kind::Directory, Kind::Other]), "[^\0]{0,20}"),
                0..20,
            ),
        ) {
            let mut bytes = Vec::new();
            for (kind, name) in &entries {
                append(&mut bytes, *kind, name);
            }
            let text = String::from_utf8(bytes).expect("names are text");
            let parsed: Vec<(Kind, String)> = parse(&text).map(|(kind, name)| (kind, name.to_owned())).collect();
            prop_assert_eq!(parsed, entries);
        }

        #[test]
        fn nothing_is_made_of_what_is_not_of_the_form(text in "[-d?xé\0]{0,20}") {
            let mut again = Vec::new();
            for (kind, name) in parse(&text) {
                append(&mut again, kind, name);
            }
            prop_assert!(text.as_bytes().starts_with(&again));
        }
    }
}
