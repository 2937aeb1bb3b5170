//! The state of a file or directory in a form that can be compared: which one
//! it is, and when it was last changed.

use std::time::{SystemTime, UNIX_EPOCH};

use crate::confine::system::Found;

/// Times of change are taken from a clock that moves in ticks, of ten
/// milliseconds at most: within one a second change leaves no trace. In
/// nanoseconds, with room to spare.
const TICK: i128 = 50_000_000;

/// Which object, and its state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stamp {
    device: (u32, u32),
    inode: u64,
    size: u64,
    modified: i128,
    changed: i128,
}

impl Stamp {
    pub(super) fn of(found: &Found) -> Self {
        Self {
            device: found.device,
            inode: found.inode,
            size: found.size,
            modified: nanoseconds(found.modified.seconds, found.modified.nanoseconds),
            changed: nanoseconds(found.changed.seconds, found.changed.nanoseconds),
        }
    }

    /// Whether both are of the same object, in whatever state.
    pub(super) fn is_of_the_same(&self, other: &Self) -> bool {
        (self.device, self.inode) == (other.device, other.inode)
    }
}

/// Whether the last change lies so far back that another one from now on would
/// show.
pub(super) fn is_settled(found: &Found) -> bool {
    let stamp = Stamp::of(found);
    now() - stamp.changed.max(stamp.modified) > TICK
}

fn now() -> i128 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let now = now.map_or(0, |now| i128::try_from(now.as_nanos()).unwrap_or(0));
    #[cfg(test)]
    let now = now + super::tests::ahead();
    now
}

fn nanoseconds(seconds: i64, nanoseconds: u32) -> i128 {
    i128::from(seconds) * 1_000_000_000 + i128::from(nanoseconds)
}
