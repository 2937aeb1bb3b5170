//! Who does what there is to do. All threads are alike: one has the turn to
//! read, the others run calls or wait, and there is one more than may run
//! calls, so that there is always one to read. It knows neither what is read
//! nor what a call does nor how its answer is written.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use preopen_contract::session::Call;

use super::order::{Calls, Job, Pace};
use super::turn::Turn;
use crate::sandbox::{Control, Interruption};

/// What the threads of a connection do.
pub(super) trait Hands {
    /// Reads and does what it has read, until the turn is somebody else's or
    /// there is nothing more to read.
    fn read(&self);

    /// A call starts: its time runs from now on.
    fn begin(&self, call: &Call, pace: Pace) -> Control;

    /// Runs a call; hands it back if it was displaced. A panic in here ends
    /// that call and nothing else.
    fn run(&self, job: Job, control: &Control) -> Option<Job>;

    /// A call that was displaced does not begin anew: it was cancelled just
    /// then. A panic in here has no other effect.
    fn dropped(&self, job: Job);
}

/// The calls of one connection, and the threads that are there for it.
pub(super) struct Scheduler {
    /// Time between two looks at who has the turn to read.
    tick: Duration,
    state: Mutex<State>,
    /// There is something to do.
    work: Condvar,
    /// The same for the thread that looks at every tick, which is woken last.
    watch: Condvar,
    /// A call has ended.
    ended: Condvar,
}

struct State {
    calls: Calls,
    turn: Turn,
    closed: bool,
    /// Who waits on each: waking nobody is a system call all the same, and
    /// waking everybody costs more than a short call.
    sleeping: usize,
    watchers: usize,
    /// Somebody was woken and is on the way. It wakes the next one if there is
    /// more to do.
    called: bool,
}

impl State {
    fn has_room(&self, bytes: usize, elsewhere: impl Fn() -> bool) -> bool {
        self.calls.has_room(bytes) && elsewhere()
    }
}

impl Scheduler {
    /// A scheduler that runs so many calls at a time. It takes one thread more.
    pub(super) fn new(places: usize, tick: Duration) -> Self {
        let state = State {
            calls: Calls::new(places),
            turn: Turn::new(),
            closed: false,
            sleeping: 0,
            watchers: 0,
            called: false,
        };
        Self {
            tick,
            state: Mutex::new(state),
            work: Condvar::new(),
            watch: Condvar::new(),
            ended: Condvar::new(),
        }
    }

    /// From now on somebody reads: all threads are there.
    pub(super) fn open(&self) {
        self.lock().turn.begin();
        self.work.notify_one();
    }

    /// What a thread does, until the scheduler is closed and no call is left.
    pub(super) fn work(&self, hands: &impl Hands) {
        let mut state = self.lock();
        loop {
            if state.turn.take() {
                drop(state);
                hands.read();
                state = self.lock();
            } else if let Some((job, pace)) = state.calls.next() {
                state = self.run(state, job, pace, hands);
            } else if state.closed && !state.calls.waits() {
                return;
            } else {
                state = self.rest(state);
            }
        }
    }

    /// Runs the calls that may run, on the thread with the turn to read, until
    /// there are none or somebody else reads; whether the turn is still its own.
    pub(super) fn help(&self, hands: &impl Hands) -> bool {
        let mut state = self.lock();
        let mut next = state.calls.next();
        if next.is_none() {
            return true;
        }
        let absence = state.turn.leave();
        while let Some((job, pace)) = next {
            state = self.run(state, job, pace, hands);
            next = state.calls.next();
        }
        state.turn.resume(absence)
    }

    /// Does something else on the thread with the turn to read, in the place
    /// of a call; whether the turn is still its own then. Nothing is done where
    /// that would leave no place for a call.
    pub(super) fn help_with(&self, work: impl FnOnce()) -> Option<bool> {
        let mut state = self.lock();
        if !state.calls.lend() {
            return None;
        }
        let absence = state.turn.leave();
        self.call(&mut state);
        drop(state);
        work();
        state = self.lock();
        state.calls.give_back();
        Some(state.turn.resume(absence))
    }

    /// Puts a call at the end of the line. Whoever has the turn sees to it,
    /// with [`Scheduler::help`] or [`Scheduler::rouse`].
    pub(super) fn push(&self, job: Job) {
        self.lock().calls.push(job);
    }

    /// Has others begin with what waits, while the thread with the turn to read
    /// is about to run one of these itself.
    pub(super) fn rouse(&self) {
        let mut state = self.lock();
        if state.calls.want_another(1) {
            self.call(&mut state);
        }
    }

    /// Waits for `patience` at most until there is room for a call of so many
    /// bytes, here and wherever `elsewhere` looks; whether there is. What is
    /// elsewhere must go as calls end.
    pub(super) fn wait_for_room(
        &self,
        bytes: usize,
        patience: Duration,
        elsewhere: impl Fn() -> bool,
    ) -> bool {
        let mut state = self.lock();
        if state.has_room(bytes, &elsewhere) {
            return true;
        }
        // Also those that are for whoever has the turn, which does nothing now.
        if state.calls.next_pace().is_some() {
            self.wake(&mut state);
        }
        state.watchers += 1;
        let (mut state, waited) = self
            .ended
            .wait_timeout_while(state, patience, |state| !state.has_room(bytes, &elsewhere))
            .unwrap_or_else(PoisonError::into_inner);
        state.watchers -= 1;
        !waited.timed_out()
    }

    /// Stops a call: one that runs is interrupted, one that waits is handed back.
    pub(super) fn cancel(&self, serial: u64) -> Option<Job> {
        let mut state = self.lock();
        if let Some(control) = state.calls.running(serial) {
            control.cancel();
            return None;
        }
        let dropped = state.calls.withdraw(serial);
        // What waited for it may run now.
        self.call(&mut state);
        dropped
    }

    /// Ends the turn to read, and lets threads go once nothing is left to do.
    /// What has not ended after `grace` is stopped; what has not begun is
    /// handed back.
    pub(super) fn close(&self, grace: Duration) -> Vec<Job> {
        let deadline = Instant::now() + grace;
        let mut state = self.lock();
        state.closed = true;
        state.turn.end();
        self.call(&mut state);
        state.watchers += 1;
        while !state.calls.is_idle() {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            state = self
                .ended
                .wait_timeout(state, left)
                .unwrap_or_else(PoisonError::into_inner)
                .0;
        }
        let dropped = state.calls.withdraw_all();
        state.calls.all_running().for_each(Control::cancel);
        self.call(&mut state);
        dropped
    }

    /// Runs a call that is next. The lock is not held meanwhile.
    fn run<'a>(
        &'a self,
        mut state: MutexGuard<'a, State>,
        job: Job,
        pace: Pace,
        hands: &impl Hands,
    ) -> MutexGuard<'a, State> {
        let serial = job.serial();
        let control = hands.begin(&job.call, pace);
        state.calls.begin(&job, pace, control.clone());
        self.call(&mut state);
        drop(state);
        let displaced = catch_unwind(AssertUnwindSafe(|| hands.run(job, &control)));
        if let Ok(Some(job)) = displaced {
            let mut state = self.lock();
            if control.interruption() == Some(Interruption::Displaced) {
                state.calls.put_aside(job);
                return state;
            }
            drop(state);
            let _ = catch_unwind(AssertUnwindSafe(|| hands.dropped(job)));
        }
        let mut state = self.lock();
        state.calls.end(serial);
        if state.watchers > 0 {
            self.ended.notify_all();
        }
        state
    }

    /// Waits until there may be something to do.
    fn rest<'a>(&'a self, mut state: MutexGuard<'a, State>) -> MutexGuard<'a, State> {
        if state.turn.wants_watch() {
            state.turn.watch(true);
            let (mut state, waited) = self
                .watch
                .wait_timeout(state, self.tick)
                .unwrap_or_else(PoisonError::into_inner);
            state.turn.watch(false);
            state.called = false;
            if waited.timed_out() {
                state.turn.look();
            }
            return state;
        }
        state.sleeping += 1;
        state = self
            .work
            .wait(state)
            .unwrap_or_else(PoisonError::into_inner);
        state.sleeping -= 1;
        state.called = false;
        state
    }

    /// Wakes somebody if there is something to do for one more, or everybody if
    /// there never will be. Calls for which there is no processor are left to
    /// who has the turn to read, or to who takes it.
    fn call(&self, state: &mut State) {
        if state.closed {
            self.work.notify_all();
            self.watch.notify_all();
        } else if state.calls.want_another(0) || state.turn.lacks_watch() {
            self.wake(state);
        }
    }

    /// Wakes somebody who rests, unless somebody is on the way.
    fn wake(&self, state: &mut State) {
        if state.called {
            return;
        }
        if state.sleeping > 0 {
            state.called = true;
            self.work.notify_one();
        } else if state.turn.is_watched() {
            state.called = true;
            self.watch.notify_one();
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::thread;
    use std::time::Duration;

    use preopen_contract::session::Call;

    use super::{Hands, Scheduler};
    use crate::sandbox::Control;
    use crate::serve::order::tests::jobs;
    use crate::serve::order::{Job, Pace};

    /// No wait here is meant to come to its end.
    const PATIENCE: Duration = Duration::from_secs(60);

    /// Counts the calls that ran.
    struct Counts(AtomicUsize);

    impl Hands for Counts {
        fn read(&self) {}

        fn begin(&self, _: &Call, _: Pace) -> Control {
            Control::new(0, None)
        }

        fn run(&self, _: Job, _: &Control) -> Option<Job> {
            self.0.fetch_add(1, Ordering::SeqCst);
            None
        }

        fn dropped(&self, _: Job) {}
    }

    /// With one worker nobody but the thread that takes lines was to run these,
    /// and that one waits for room, which there is only once they have run.
    #[test]
    fn who_waits_for_room_does_not_wait_for_itself() {
        let (scheduler, ran) = (Scheduler::new(2, PATIENCE), Counts(AtomicUsize::new(0)));
        thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| scheduler.work(&ran));
            }
            let mut in_time = true;
            for (count, job) in (1..).zip(jobs(100)) {
                scheduler.push(job);
                let has_run = || ran.0.load(Ordering::SeqCst) == count;
                in_time = in_time && scheduler.wait_for_room(0, PATIENCE, has_run);
            }
            scheduler.close(Duration::ZERO);
            assert!(in_time);
        });
    }
}
