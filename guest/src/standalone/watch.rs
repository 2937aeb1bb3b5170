//! What keeps time over a call where the host does not, and counts what
//! passes through for whoever wants to hear how far it is. It knows no tool.

use std::cell::{Cell, RefCell};
use std::fmt;
use std::time::{Duration, Instant};

use crate::tree::Fault;

/// Between two words on how far a call is.
const TELL_EVERY: Duration = Duration::from_millis(100);

/// Hears of the directory entries and the bytes that a call has seen so far.
pub(super) type Listener = Box<dyn FnMut(u64, u64)>;

/// Watches over one call after the other.
#[derive(Default)]
pub(crate) struct Watch {
    deadline: Cell<Option<Instant>>,
    late: Cell<bool>,
    committed: Cell<bool>,
    entries: Cell<u64>,
    bytes: Cell<u64>,
    listener: RefCell<Option<(Listener, Instant)>>,
}

impl fmt::Debug for Watch {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Watch").finish_non_exhaustive()
    }
}

impl Watch {
    /// Watches over a call that has so much time.
    pub(super) fn begin(&self, time: Duration, listener: Option<Listener>) {
        let now = Instant::now();
        self.deadline.set(now.checked_add(time));
        self.late.set(false);
        self.committed.set(false);
        self.entries.set(0);
        self.bytes.set(0);
        *self.listener.borrow_mut() = listener.map(|listener| (listener, now));
    }

    /// Ends it; whether the call was stopped because its time was over.
    pub(super) fn end(&self) -> bool {
        self.deadline.set(None);
        *self.listener.borrow_mut() = None;
        self.late.get()
    }

    /// Fails where the time of the call is over, unless it has done what it was for: from there
    /// on its answer must say so. The fault is one that no tool goes on after.
    pub(super) fn check(&self) -> Result<(), Fault> {
        let Some(deadline) = self.deadline.get() else {
            return Ok(());
        };
        let now = Instant::now();
        if now >= deadline && !self.committed.get() {
            self.late.set(true);
            return Err(Fault::Exhausted);
        }
        if let Some((listener, told)) = &mut *self.listener.borrow_mut()
            && now.duration_since(*told) >= TELL_EVERY
        {
            *told = now;
            listener(self.entries.get(), self.bytes.get());
        }
        Ok(())
    }

    /// The call has put a file in its place.
    pub(super) fn commit(&self) {
        self.committed.set(true);
    }

    /// An entry of a directory was shown.
    pub(super) fn showed_entry(&self) -> Result<(), Fault> {
        self.entries.set(self.entries.get() + 1);
        self.check()
    }

    /// So many bytes of a file were read or written.
    pub(crate) fn moved(&self, bytes: usize) -> Result<(), Fault> {
        self.bytes.set(self.bytes.get() + bytes as u64);
        self.check()
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::rc::Rc;
    use std::time::Duration;

    use super::Watch;
    use crate::tree::Fault;

    #[test]
    fn a_call_without_time_left_is_stopped() {
        let watch = Watch::default();
        watch.begin(Duration::ZERO, None);
        assert_eq!(watch.moved(1), Err(Fault::Exhausted));
        assert!(watch.end());
        watch.begin(Duration::from_secs(600), None);
        assert_eq!(watch.moved(1), Ok(()));
        assert!(!watch.end());
    }

    #[test]
    fn what_a_call_was_for_is_not_stopped_half_way() {
        let watch = Watch::default();
        watch.begin(Duration::ZERO, None);
        watch.commit();
        assert_eq!(watch.showed_entry(), Ok(()));
        assert!(!watch.end());
    }

    #[test]
    fn nobody_is_told_of_a_call_that_takes_no_time() {
        let told = Rc::new(RefCell::new(Vec::new()));
        let hears = Rc::clone(&told);
        let watch = Watch::default();
        let listener = move |entries, bytes| hears.borrow_mut().push((entries, bytes));
        watch.begin(Duration::from_secs(600), Some(Box::new(listener)));
        assert_eq!(watch.showed_entry(), Ok(()));
        assert!(told.borrow().is_empty());
    }
}
