//! The names of a directory's entries, all in one piece of memory: a list of
//! many names costs two allocations, and sorting it moves no text. It knows
//! nothing of what the names lead to.

use crate::tree::Kind;

/// Room for the entries of most directories, at first.
const ENTRIES: usize = 32;

/// Names that are read from the first to the last.
#[derive(Debug, Default)]
pub(crate) struct Names {
    text: String,
    names: Vec<Name>,
    /// How many have been read.
    read: usize,
}

#[derive(Clone, Copy, Debug)]
struct Name {
    /// What decides most comparisons: see [`Names::sort`].
    key: u64,
    start: u32,
    length: u16,
    kind: Kind,
}

impl Names {
    /// None yet, with room for some.
    pub(crate) fn new() -> Self {
        Self {
            text: String::with_capacity(16 * ENTRIES),
            names: Vec::with_capacity(ENTRIES),
            read: 0,
        }
    }

    /// Adds a name, made of two parts. One that is too long for a path is not one of any.
    pub(crate) fn push(&mut self, kind: Kind, name: &str, behind: &str) {
        let length = u16::try_from(name.len() + behind.len());
        let (Ok(length), Ok(start)) = (length, u32::try_from(self.text.len())) else {
            return;
        };
        self.text.push_str(name);
        self.text.push_str(behind);
        self.names.push(Name {
            key: 0,
            start,
            length,
            kind,
        });
    }

    /// Sorts the names by their bytes. Comparing them is what costs most, and names in one directory
    /// often begin alike: so eight bytes behind what all of them share are compared first, as a
    /// number.
    pub(crate) fn sort(&mut self) {
        let text = self.text.as_bytes();
        let bytes = |name: &Name| {
            let start = name.start as usize;
            text.get(start..start + usize::from(name.length))
                .unwrap_or_default()
        };
        let shared = match self.names.split_first() {
            None => 0,
            Some((first, rest)) => {
                let first = bytes(first);
                rest.iter().fold(first.len(), |shared, name| {
                    let same = first.iter().zip(bytes(name)).take(shared);
                    same.take_while(|(one, other)| one == other).count()
                })
            }
        };
        for name in &mut self.names {
            let mut key = [0; 8];
            let differing = bytes(name).get(shared..).unwrap_or_default();
            key.iter_mut()
                .zip(differing)
                .for_each(|(to, from)| *to = *from);
            name.key = u64::from_be_bytes(key);
        }
        self.names.sort_unstable_by(|one, other| {
            let keys = one.key.cmp(&other.key);
            keys.then_with(|| bytes(one).cmp(bytes(other)))
        });
    }

    /// Lets go of the names that `keep` does not want; before the first is read.
    pub(crate) fn retain(&mut self, mut keep: impl FnMut(Kind, &str) -> bool) {
        let text = &self.text;
        self.names.retain(|name| keep(name.kind, name.of(text)));
    }

    /// Reads the next name, if there is one.
    pub(crate) fn next(&mut self) -> Option<&str> {
        let name = self.names.get(self.read)?;
        self.read += 1;
        Some(name.of(&self.text))
    }

    /// Goes on behind so many names, without reading them.
    pub(crate) fn skip(&mut self, count: usize) {
        self.read = self.read.saturating_add(count).min(self.names.len());
    }

    /// All names, also those that were read.
    pub(crate) fn all(&self) -> impl Iterator<Item = (Kind, &str)> {
        self.names
            .iter()
            .map(|name| (name.kind, name.of(&self.text)))
    }

    /// How many are still to be read.
    pub(crate) const fn left(&self) -> usize {
        self.names.len() - self.read
    }

    /// The names that are still to be read.
    pub(crate) fn rest(&self) -> impl Iterator<Item = (Kind, &str)> {
        let rest = self.names.get(self.read..).unwrap_or_default();
        rest.iter().map(|name| (name.kind, name.of(&self.text)))
    }
}

impl Name {
    fn of<'a>(&self, text: &'a str) -> &'a str {
        let start = self.start as usize;
        text.get(start..start + usize::from(self.length))
            .unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::Names;
    use crate::tree::Kind;

    fn all(mut names: Names) -> Vec<String> {
        std::iter::from_fn(|| names.next().map(str::to_owned)).collect()
    }

    proptest! {
        #[test]
        fn names_are_in_the_order_of_their_bytes(listed in prop::collection::vec("(a|longer/)?[ab/é]{0,12}", 0..20)) {
            let mut names = Names::new();
            for name in &listed {
                names.push(Kind::File, name, "");
            }
            names.sort();
            let mut sorted = listed;
            sorted.sort_unstable();
            prop_assert_eq!(all(names), sorted);
        }
    }

    fn three() -> Names {
        let mut names = Names::new();
        names.push(Kind::Directory, "b", "/");
        names.push(Kind::File, "c", "");
        names.push(Kind::File, "a", "");
        names
    }

    #[test]
    fn a_name_keeps_its_kind_and_what_stands_behind_it() {
        let mut names = three();
        names.sort();
        let read: Vec<(Kind, &str)> = names.rest().collect();
        let expected = [
            (Kind::File, "a"),
            (Kind::Directory, "b/"),
            (Kind::File, "c"),
        ];
        assert_eq!(read, expected);
    }

    #[test]
    fn what_is_not_wanted_goes() {
        let mut names = three();
        names.retain(|kind, name| kind == Kind::Directory || name == "a");
        assert_eq!(all(names), ["b/", "a"]);
    }

    #[test]
    fn what_was_read_or_skipped_is_not_read_again() {
        let mut names = three();
        assert_eq!(names.next(), Some("b/"));
        names.skip(1);
        assert_eq!(
            names.rest().map(|(_, name)| name).collect::<Vec<_>>(),
            ["a"]
        );
        names.skip(9);
        assert_eq!((names.left(), names.next()), (0, None));
    }

    #[test]
    fn no_path_is_as_long_as_what_is_left_out() {
        let mut names = Names::new();
        names.push(Kind::File, &"x".repeat(70_000), "");
        names.push(Kind::File, "y", "");
        assert_eq!(all(names), ["y"]);
    }
}
