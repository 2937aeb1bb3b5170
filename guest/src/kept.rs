//! What an instance keeps of a traversal for its next page, so that the page
//! need not repeat the walk. It is only taken up where the host vouches that
//! nothing changed, and only for the cursor it was kept for; without it a page
//! has the same answer. It knows no tool.

use std::cell::RefCell;
use std::vec;

use crate::cursor::{Cursor, Traversal};
use crate::digest::STATE;
use crate::names::Names;
use crate::paths::Paths;
use crate::root::{File, Identity, Version};

/// What is still to come of a traversal.
pub(crate) enum Kept {
    /// The entries of a directory.
    Entries(Names),
    /// Paths that match.
    Paths(Paths),
    /// Files to scan, and what each was when the state was taken.
    Files(Paths, vec::IntoIter<Identity>),
    /// A file that is read, and what it was when the state was taken.
    File(File, Version),
}

/// The traversal that is kept: an instance has one at a time.
struct Slot {
    /// The cursor it is kept for, what that is of, and what it says.
    text: String,
    traversal: Traversal,
    cursor: Cursor,
    kept: Kept,
}

thread_local! {
    static SLOT: RefCell<Option<Slot>> = const { RefCell::new(None) };
}

/// Lets go of what is kept, if anything.
pub(crate) fn forget() {
    SLOT.take();
}

/// Keeps `kept` for the page that `text` asks for, in place of what was kept before: `text` is the
/// `cursor` of `traversal` that was just issued.
pub(crate) fn keep(text: String, traversal: Traversal, cursor: Cursor, kept: Kept) {
    SLOT.set(Some(Slot {
        text,
        traversal,
        cursor,
        kept,
    }));
}

/// What the cursor `text` says, if something is kept for it and it is of `traversal`. This instance
/// has signed it itself, so its signature needs no look.
pub(crate) fn issued(text: &str, traversal: &Traversal) -> Option<Cursor> {
    SLOT.with_borrow(|slot| {
        slot.as_ref()
            .filter(|slot| slot.text == text && slot.traversal == *traversal)
            .map(|slot| slot.cursor)
    })
}

/// What was kept for the cursor `text`, and the state it was issued in.
pub(crate) fn take(text: &str) -> Option<([u8; STATE], Kept)> {
    SLOT.take()
        .filter(|slot| slot.text == text)
        .map(|slot| (slot.cursor.state, slot.kept))
}

/// The cursor that something is kept for.
pub(crate) fn cursor() -> Option<String> {
    SLOT.with_borrow(|slot| slot.as_ref().map(|slot| slot.text.clone()))
}

#[cfg(test)]
mod tests {
    use super::{Kept, cursor, forget, issued, take};
    use crate::cursor::{Cursor, Traversal};
    use crate::paths::Paths;

    fn traversal() -> Traversal {
        Traversal::new(1, &["path"])
    }

    fn keep(text: &str, state: u8) {
        let cursor = Cursor {
            state: [state; 32],
            position: [0; 3],
        };
        super::keep(
            text.to_owned(),
            traversal(),
            cursor,
            Kept::Paths(Paths::default()),
        );
    }

    #[test]
    fn one_traversal_is_kept_for_one_cursor() {
        assert!(take("first").is_none() && cursor().is_none());
        keep("first", 1);
        keep("second", 2);
        assert_eq!(cursor().as_deref(), Some("second"));
        assert!(matches!(take("second"), Some(([2, ..], Kept::Paths(_)))));
        assert!(take("second").is_none());
        keep("third", 3);
        assert!(take("first").is_none());
        keep("fourth", 4);
        forget();
        assert!(cursor().is_none());
    }

    #[test]
    fn what_was_issued_is_only_taken_for_it_whole_and_in_its_traversal() {
        assert_eq!(issued("text", &traversal()), None);
        keep("text", 1);
        let cursor = issued("text", &traversal()).expect("the cursor");
        assert_eq!(cursor.state, [1; 32]);
        for other in ["", "tex", "text ", "Text"] {
            assert_eq!(issued(other, &traversal()), None);
        }
        for other in [
            Traversal::new(2, &["path"]),
            Traversal::new(1, &["other"]),
            Traversal::new(1, &["path", ""]),
        ] {
            assert_eq!(issued("text", &other), None);
        }
        assert!(take("text").is_some());
        assert_eq!(issued("text", &traversal()), None);
    }
}
