//! A long list of paths that is read once, in the order it was written: of each
//! only what differs from the one before is stored, and what was read is let go
//! of. It knows nothing of what the paths lead to.

use std::collections::VecDeque;

/// Bytes of text in a part of the list: parts are made and let go of whole, so that the list never
/// has to move.
const PART_BYTES: usize = 32 << 10;

/// Paths in a part at most.
const PART_PATHS: usize = 4 << 10;

/// A list of paths of at most 65,535 bytes each.
#[derive(Default)]
pub(crate) struct Paths {
    parts: VecDeque<Part>,
    /// The path written last.
    last: String,
    /// The path to read next, where it has been put together already.
    next: Option<String>,
    /// The path before it.
    before: String,
    /// Bytes and paths of the first part that have been read.
    read: (usize, usize),
}

struct Part {
    /// What each path adds to the one before.
    text: String,
    /// How many bytes it shares with the one before, and how many it adds.
    lengths: Vec<(u16, u16)>,
}

impl Paths {
    /// Adds `path` at the end.
    pub(crate) fn push(&mut self, path: &str) {
        let same = self.last.bytes().zip(path.bytes());
        let mut shared = same.take_while(|(one, other)| one == other).count();
        while !path.is_char_boundary(shared) {
            shared -= 1;
        }
        let added = path.get(shared..).unwrap_or_default();
        let full = |part: &Part| {
            part.text.len() + added.len() > PART_BYTES || part.lengths.len() == PART_PATHS
        };
        if self.parts.back().is_none_or(full) {
            self.parts.push_back(Part {
                text: String::with_capacity(PART_BYTES.max(added.len())),
                lengths: Vec::with_capacity(PART_PATHS / 2),
            });
        }
        if let Some(part) = self.parts.back_mut() {
            part.text.push_str(added);
            // No path is that long: the contract's are at most 1,024 bytes.
            let short = |length: usize| u16::try_from(length).unwrap_or(u16::MAX);
            part.lengths.push((short(shared), short(added.len())));
        }
        self.last.truncate(shared);
        self.last.push_str(added);
    }

    /// The path to read next; the same one until it is [taken](Self::advance).
    pub(crate) fn peek(&mut self) -> Option<&str> {
        if self.next.is_none() {
            let (bytes, paths) = self.read;
            let part = self.parts.front()?;
            let (shared, added) = part.lengths.get(paths).copied()?;
            let added = part.text.get(bytes..bytes + usize::from(added))?;
            let mut path = std::mem::take(&mut self.before);
            path.truncate(usize::from(shared));
            path.push_str(added);
            self.read = (bytes + added.len(), paths + 1);
            if self.read.1 == part.lengths.len() {
                self.parts.pop_front();
                self.read = (0, 0);
            }
            self.next = Some(path);
        }
        self.next.as_deref()
    }

    /// Goes on to the path behind.
    pub(crate) fn advance(&mut self) {
        if let Some(path) = self.next.take() {
            self.before = path;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{PART_BYTES, PART_PATHS, Paths};

    fn read(paths: &mut Paths) -> Vec<String> {
        let mut all = Vec::new();
        while let Some(path) = paths.peek() {
            all.push(path.to_owned());
            paths.advance();
        }
        all
    }

    proptest! {
        #[test]
        fn what_was_written_is_read(written in prop::collection::vec("[aé/b🙂]{0,12}", 0..80)) {
            let mut paths = Paths::default();
            for path in &written {
                paths.push(path);
            }
            prop_assert_eq!(read(&mut paths), written);
        }
    }

    #[test]
    fn a_list_of_many_parts_is_read_whole() {
        let written: Vec<String> = (0..3 * PART_PATHS)
            .map(|n| format!("directory/{n:05}"))
            .collect();
        let mut paths = Paths::default();
        written.iter().for_each(|path| paths.push(path));
        assert!(paths.parts.len() >= 3);
        assert_eq!(read(&mut paths), written);
        assert!(paths.parts.len() <= 1);

        let long: Vec<String> = (0..70)
            .map(|n| format!("{n:02}{}", "x".repeat(1000)))
            .collect();
        let mut paths = Paths::default();
        long.iter().for_each(|path| paths.push(path));
        assert!(
            paths.parts.len() > 1 && paths.parts.iter().all(|part| part.text.len() <= PART_BYTES)
        );
        assert_eq!(read(&mut paths), long);
    }

    #[test]
    fn a_path_is_read_again_until_it_is_taken() {
        let mut paths = Paths::default();
        paths.push("a/b");
        paths.push("a/c");
        assert_eq!((paths.peek(),), (Some("a/b"),));
        assert_eq!((paths.peek(),), (Some("a/b"),));
        paths.advance();
        assert_eq!(paths.peek(), Some("a/c"));
    }
}
