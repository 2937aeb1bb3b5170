//! Instances that are kept after their call, for the next page of the same
//! traversal: a traversal, not a call, is what such an instance is for. There
//! are few of them and the oldest goes first; what is gone costs a new walk and
//! nothing else. It knows nothing of files.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use memchr::memmem;

use super::Ready;

/// How many there are at most.
pub(super) const PLACES: usize = 4;

/// The most memory an instance may have that is kept, in bytes.
pub(super) const MAX_MEMORY: usize = 32 << 20;

/// The longest text that an instance may be kept for, in bytes. It is looked
/// for in the arguments of calls.
pub(super) const MAX_CURSOR: usize = 1024;

/// An instance, and the call it is kept for.
pub(super) struct Parked {
    pub(super) ready: Ready,
    pub(super) tool: String,
    /// What the arguments hold.
    pub(super) cursor: String,
}

impl Parked {
    fn is_for(&self, tool: &str, arguments: &str) -> bool {
        self.tool == tool && memmem::find(arguments.as_bytes(), self.cursor.as_bytes()).is_some()
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

    /// Whether one is kept for this call.
    pub(super) fn has(&self, tool: &str, arguments: &str) -> bool {
        self.lock()
            .iter()
            .any(|parked| parked.is_for(tool, arguments))
    }

    /// The one that is kept for this call, if it is still there.
    pub(super) fn take(&self, tool: &str, arguments: &str) -> Option<Parked> {
        let mut all = self.lock();
        let at = all
            .iter()
            .position(|parked| parked.is_for(tool, arguments))?;
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
