//! In which order calls run. Calls that only read run side by side; one that
//! changes something waits for the earlier ones and holds back the later ones,
//! so what was written is seen by every read that was sent after it. It knows
//! neither what a call does nor how its answer is written.

use std::collections::{HashMap, VecDeque};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use preopen_contract::session::Call;

use crate::sandbox::Control;

/// Calls that wait at most; past that the client is not read from.
const MAX_CALLS: usize = 4096;

/// Bytes that calls hold which wait or run; from there on the client is not
/// read from. The call that gets there is taken whole, however long it is.
const MAX_BYTES: usize = 32 << 20;

/// A call that waits for its turn.
#[derive(Debug)]
pub(super) struct Job {
    pub(super) call: Call,
    /// Whether it may change something.
    pub(super) changes: bool,
}

/// The calls of one connection.
#[derive(Default)]
pub(super) struct Scheduler {
    state: Mutex<State>,
    /// There is something for a worker to do.
    work: Condvar,
    /// A call has ended.
    ended: Condvar,
}

#[derive(Default)]
struct State {
    queue: VecDeque<Job>,
    /// Of the calls that wait and of those that run.
    bytes: usize,
    running: HashMap<u64, Control>,
    changing: bool,
    closed: bool,
    /// Who waits on either. Waking nobody is a system call all the same, and
    /// waking everybody costs more than a short call.
    idle_workers: usize,
    watchers: usize,
}

impl State {
    fn has_room(&self) -> bool {
        self.queue.len() < MAX_CALLS && self.bytes < MAX_BYTES
    }

    /// Whether the next call may run beside those that do.
    fn is_next_free(&self) -> bool {
        self.queue
            .front()
            .is_some_and(|first| !self.changing && (!first.changes || self.running.is_empty()))
    }

    fn is_idle(&self) -> bool {
        self.queue.is_empty() && self.running.is_empty()
    }
}

impl Scheduler {
    /// Puts a call at the end of the line.
    pub(super) fn push(&self, job: Job) {
        let mut state = self.lock();
        state.bytes += job.call.bytes;
        state.queue.push_back(job);
        let wakes = state.idle_workers > 0;
        drop(state);
        if wakes {
            self.work.notify_one();
        }
    }

    /// Waits for `patience` at most until there is room for another call, here
    /// and wherever `elsewhere` looks; whether there is. What is elsewhere must
    /// go as calls end.
    pub(super) fn wait_for_room(&self, patience: Duration, elsewhere: impl Fn() -> bool) -> bool {
        let mut state = self.lock();
        let has_room = |state: &State| state.has_room() && elsewhere();
        if has_room(&state) {
            return true;
        }
        state.watchers += 1;
        let (mut state, waited) = self
            .ended
            .wait_timeout_while(state, patience, |state| !has_room(state))
            .unwrap_or_else(PoisonError::into_inner);
        state.watchers -= 1;
        !waited.timed_out()
    }

    /// Runs calls, one after the other, until the scheduler is closed and no
    /// call is left. `begin` is asked as a call starts: its time runs from then.
    pub(super) fn work(&self, begin: impl Fn(&Call) -> Control, run: impl Fn(Job, &Control)) {
        let mut state = self.lock();
        loop {
            if state.is_next_free()
                && let Some(job) = state.queue.pop_front()
            {
                let (serial, bytes) = (job.call.ticket.serial(), job.call.bytes);
                let control = begin(&job.call);
                state.running.insert(serial, control.clone());
                state.changing = job.changes;
                self.wake_next(&state);
                drop(state);
                run(job, &control);
                state = self.lock();
                state.running.remove(&serial);
                state.bytes -= bytes;
                // Whatever ran just now, nothing that changes does any more:
                // such a call runs alone.
                state.changing = false;
                if state.watchers > 0 {
                    self.ended.notify_all();
                }
            } else if state.closed && state.queue.is_empty() {
                return;
            } else {
                state.idle_workers += 1;
                state = self
                    .work
                    .wait(state)
                    .unwrap_or_else(PoisonError::into_inner);
                state.idle_workers -= 1;
            }
        }
    }

    /// Passes on that there is more to do, or that there never will be.
    fn wake_next(&self, state: &State) {
        if state.closed {
            self.work.notify_all();
        } else if state.idle_workers > 0 && state.is_next_free() {
            self.work.notify_one();
        }
    }

    /// Stops a call: one that runs is interrupted, one that waits is handed back.
    pub(super) fn cancel(&self, serial: u64) -> Option<Job> {
        let mut dropped = None;
        let mut state = self.lock();
        if let Some(control) = state.running.get(&serial) {
            control.cancel();
        } else if let Some(at) = state
            .queue
            .iter()
            .position(|job| job.call.ticket.serial() == serial)
            && let Some(job) = state.queue.remove(at)
        {
            state.bytes -= job.call.bytes;
            dropped = Some(job);
        }
        self.work.notify_all();
        self.ended.notify_all();
        dropped
    }

    /// Lets workers go once nothing is left to do. What has not ended after
    /// `grace` is stopped; what has not begun is handed back.
    pub(super) fn close(&self, grace: Duration) -> VecDeque<Job> {
        let deadline = Instant::now() + grace;
        let mut state = self.lock();
        state.closed = true;
        self.work.notify_all();
        state.watchers += 1;
        while !state.is_idle() {
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
        let dropped = std::mem::take(&mut state.queue);
        state.bytes -= dropped.iter().map(|job| job.call.bytes).sum::<usize>();
        for control in state.running.values() {
            control.cancel();
        }
        self.work.notify_all();
        dropped
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
