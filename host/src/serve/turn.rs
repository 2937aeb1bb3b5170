//! Whose turn it is to read. The thread that has it also does what it has read,
//! so that a short call is handed to nobody; one that is away for longer than a
//! tick loses the turn to whoever watches, and nobody watches where nothing
//! happens. It knows no threads and nothing of what is read.

use std::time::Duration;

/// Time between two looks at who has the turn. It is taken from who was away at
/// both, so what the client sends meanwhile waits for two of these at most.
pub(super) const TICK: Duration = Duration::from_millis(2);

/// Looks at which nothing has happened, after which nobody looks any more:
/// waking somebody for each of many short calls would cost what it is to save.
const LINGER: u32 = 50;

/// The turn to read, of which there is one.
#[derive(Debug)]
pub(super) struct Turn {
    holder: Holder,
    /// How often a holder has left to do something else.
    absences: u64,
    /// The same at the last look.
    seen: u64,
    /// Looks since something happened.
    quiet: u32,
    /// Somebody looks at every tick.
    watched: bool,
}

/// What the thread with the turn does.
#[derive(Debug, PartialEq, Eq)]
enum Holder {
    /// There is none, and there is to be.
    Wanted,
    /// There is none, and there is to be none: it has not begun or is over.
    Unwanted,
    /// It reads.
    Reads,
    /// It does what it has read.
    Away,
}

/// Goes with the turn while its holder does something else.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Absence(u64);

impl Turn {
    /// One that nobody may take yet.
    pub(super) fn new() -> Self {
        Self {
            holder: Holder::Unwanted,
            absences: 0,
            seen: 0,
            quiet: LINGER,
            watched: false,
        }
    }

    /// From now on somebody is to read.
    pub(super) fn begin(&mut self) {
        self.holder = Holder::Wanted;
    }

    /// From now on nobody is to read.
    pub(super) fn end(&mut self) {
        self.holder = Holder::Unwanted;
    }

    /// Takes the turn if somebody is wanted who does.
    pub(super) fn take(&mut self) -> bool {
        let is_wanted = self.holder == Holder::Wanted;
        if is_wanted {
            self.holder = Holder::Reads;
        }
        is_wanted
    }

    /// Its holder is about to do something else.
    pub(super) fn leave(&mut self) -> Absence {
        self.holder = Holder::Away;
        self.absences += 1;
        self.quiet = 0;
        Absence(self.absences)
    }

    /// Its holder reads on, unless somebody has taken the turn; whether it does.
    pub(super) fn resume(&mut self, absence: Absence) -> bool {
        let is_kept = self.holder == Holder::Away && Absence(self.absences) == absence;
        if is_kept {
            self.holder = Holder::Reads;
        }
        is_kept
    }

    /// Whether somebody is to look at every tick, and nobody does.
    pub(super) fn wants_watch(&self) -> bool {
        !self.watched && self.quiet < LINGER && self.holder != Holder::Unwanted
    }

    /// The same, and it is worth waking somebody for it.
    pub(super) fn lacks_watch(&self) -> bool {
        !self.watched && self.holder == Holder::Away
    }

    /// Whether somebody looks at every tick.
    pub(super) fn is_watched(&self) -> bool {
        self.watched
    }

    /// Somebody begins to look at every tick, or no longer does.
    pub(super) fn watch(&mut self, watched: bool) {
        self.watched = watched;
    }

    /// A look, one tick after the last: takes the turn from who is away since.
    pub(super) fn look(&mut self) {
        if self.seen != self.absences {
            self.seen = self.absences;
        } else if self.holder == Holder::Away {
            self.holder = Holder::Wanted;
        } else {
            self.quiet += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{LINGER, Turn};

    /// A turn that somebody has.
    fn taken() -> Turn {
        let mut turn = Turn::new();
        assert!(!turn.take());
        turn.begin();
        assert!(turn.take());
        turn
    }

    #[test]
    fn one_at_a_time_has_the_turn_until_it_is_over() {
        let mut turn = taken();
        assert!(!turn.take());
        let absence = turn.leave();
        assert!(!turn.take());
        assert!(turn.resume(absence));
        turn.end();
        assert!(!turn.take());
        assert!(!turn.wants_watch());
    }

    #[test]
    fn who_is_away_at_two_looks_has_lost_the_turn() {
        let mut turn = taken();
        let absence = turn.leave();
        turn.look();
        assert!(!turn.take());
        turn.look();
        assert!(turn.take());
        assert!(!turn.resume(absence));
        // Nor does it get the turn back while the next one is away.
        let next = turn.leave();
        assert!(!turn.resume(absence));
        assert!(turn.resume(next));
    }

    #[test]
    fn who_was_back_meanwhile_keeps_the_turn() {
        let mut turn = taken();
        for _ in 0..3 {
            let absence = turn.leave();
            turn.look();
            assert!(turn.resume(absence));
        }
        turn.look();
        assert!(!turn.take());
    }

    #[test]
    fn nobody_looks_where_nothing_happens() {
        let mut turn = taken();
        assert!(!turn.wants_watch());
        for _ in 0..2 {
            let absence = turn.leave();
            assert!(turn.wants_watch() && turn.lacks_watch());
            turn.watch(true);
            assert!(!turn.wants_watch() && !turn.lacks_watch());
            turn.watch(false);
            assert!(turn.resume(absence));
            assert!(!turn.lacks_watch());
            let looks = std::iter::repeat_with(|| turn.look());
            let taken = usize::try_from(LINGER).expect("few") + 1;
            assert_eq!(looks.take(taken).count(), taken);
            assert!(!turn.wants_watch());
        }
    }
}
