//! Instances that are kept after their call, for the next page of the same
//! traversal: a traversal, not a call, is what such an instance is for. There
//! are few of them and the oldest goes first; what is gone costs a new walk and
//! nothing else. It knows nothing of files.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use memchr::memmem;

use super::Ready;

/// How many there are at most.
pub(super) const PLACES: usize = 4;

/// The most memory an instance may have that is kept, in bytes.
pub(super) const MAX_MEMORY: usize = 32 << 20;

/// The longest text that an instance may be kept for, in bytes. It is looked
/// for in the arguments of calls.
pub(super) const MAX_CURSOR: usize = 1024;

/// How much of a cursor is looked for first, in bytes.
const END: usize = 16;

/// An instance, and the call it is kept for.
pub(super) struct Parked {
    pub(super) ready: Ready,
    pub(super) tool: String,
    /// What the arguments hold.
    pub(super) cursor: Arc<str>,
}

impl Parked {
    fn is_for(&self, tool: &str, arguments: &str) -> bool {
        // The end of a cursor is what differs most, and short enough to be
        // looked for without much preparation.
        let end = self.cursor.len().saturating_sub(END);
        let Some((start, end)) = self.cursor.split_at_checked(end) else {
            return false;
        };
        let arguments = arguments.as_bytes();
        self.tool == tool
            && memmem::find_iter(arguments, end.as_bytes())
                .any(|at| arguments[..at].ends_with(start.as_bytes()))
    }
}

/// Where they stand.
pub(super) struct Lot {
    places: usize,
    parked: Mutex<VecDeque<Parked>>,
}

impl Lot {
    /// One with so many places, [`PLACES`] at most.
    pub(super) fn new(places: usize) -> Self {
        Self {
            places,
            parked: Mutex::default(),
        }
    }

    /// Whether it has any.
    pub(super) fn has_places(&self) -> bool {
        self.places > 0
    }

    /// Keeps one, and lets go of the oldest if that is one too many.
    pub(super) fn park(&self, parked: Parked) {
        let mut all = self.lock();
        all.push_back(parked);
        let surplus = (all.len() > self.places).then(|| all.pop_front());
        drop(all);
        drop(surplus);
    }

    /// The cursor that one is kept for, if it is for this call.
    pub(super) fn cursor(&self, tool: &str, arguments: &str) -> Option<Arc<str>> {
        let all = self.lock();
        let found = all.iter().find(|parked| parked.is_for(tool, arguments))?;
        Some(Arc::clone(&found.cursor))
    }

    /// The one that is kept for this cursor, if it is still there.
    pub(super) fn take(&self, cursor: &Arc<str>) -> Option<Parked> {
        let mut all = self.lock();
        let same = |parked: &Parked| Arc::ptr_eq(&parked.cursor, cursor);
        let at = all.iter().position(same)?;
        all.remove(at)
    }

    /// Lets go of all.
    pub(super) fn clear(&self) {
        let all = std::mem::take(&mut *self.lock());
        drop(all);
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<Parked>> {
        self.parked.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests;
