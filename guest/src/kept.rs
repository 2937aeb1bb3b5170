//! What an instance keeps of a traversal for its next page, so that the page
//! need not repeat the walk. It is only taken up where the host vouches that
//! nothing changed, and only for the cursor it was kept for; without it a page
//! has the same answer. It knows no tool.

use std::cell::RefCell;
use std::vec;

use crate::digest::STATE;
use crate::paths::Paths;
use crate::root::{File, Identity, Version};
use crate::tree::Kind;

/// What is still to come of a traversal.
pub(crate) enum Kept {
    /// The entries of a directory.
    Entries(vec::IntoIter<(Kind, String)>),
    /// Paths that match.
    Paths(Paths),
    /// Files to scan, and what each was when the state was taken.
    Files(Paths, vec::IntoIter<Identity>),
    /// A file that is read, and what it was when the state was taken.
    File(File, Version),
}

/// The traversal that is kept: an instance has one at a time.
struct Slot {
    cursor: String,
    state: [u8; STATE],
    kept: Kept,
}

thread_local! {
    static SLOT: RefCell<Option<Slot>> = const { RefCell::new(None) };
}

/// Lets go of what is kept, if anything.
pub(crate) fn forget() {
    SLOT.take();
}

/// Keeps `kept` for the page that `cursor` asks for, in place of what was kept before.
pub(crate) fn keep(cursor: String, state: [u8; STATE], kept: Kept) {
    SLOT.set(Some(Slot {
        cursor,
        state,
        kept,
    }));
}

/// What was kept for `cursor`, and the state it was issued in.
pub(crate) fn take(cursor: &str) -> Option<([u8; STATE], Kept)> {
    SLOT.take()
        .filter(|slot| slot.cursor == cursor)
        .map(|slot| (slot.state, slot.kept))
}

/// The cursor that something is kept for.
pub(crate) fn cursor() -> Option<String> {
    SLOT.with_borrow(|slot| slot.as_ref().map(|slot| slot.cursor.clone()))
}

#[cfg(test)]
mod tests {
    use super::{Kept, cursor, forget, keep, take};
    use crate::paths::Paths;

    #[test]
    fn one_traversal_is_kept_for_one_cursor() {
        assert!(take("first").is_none() && cursor().is_none());
        keep("first".to_owned(), [1; 32], Kept::Paths(Paths::default()));
        keep("second".to_owned(), [2; 32], Kept::Paths(Paths::default()));
        assert_eq!(cursor().as_deref(), Some("second"));
        assert!(matches!(take("second"), Some(([2, ..], Kept::Paths(_)))));
        assert!(take("second").is_none());
        keep("third".to_owned(), [3; 32], Kept::Paths(Paths::default()));
        assert!(take("first").is_none());
        keep("fourth".to_owned(), [4; 32], Kept::Paths(Paths::default()));
        forget();
        assert!(cursor().is_none());
    }
}
