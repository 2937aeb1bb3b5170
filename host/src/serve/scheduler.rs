//! In which order calls run. Calls that only read run side by side; one that
//! changes something waits for the earlier ones and holds back the later ones,
//! so what was written is seen by every read that was sent after it. Some may
//! take long, and beside those there is room for short ones. It knows neither
//! what a call does nor how its answer is written.

use std::collections::{HashMap, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use preopen_contract::session::Call;

use crate::sandbox::{Control, Interruption};

/// Calls that wait at most; past that the client is not read from.
const MAX_CALLS: usize = 4096;

/// Bytes that calls hold which wait or run, those with little to hold and the
/// others counted apart; from there on none is taken. The call that gets there
/// is taken whole, however long it is.
const MAX_BYTES: usize = 16 << 20;

/// Bytes from which on a call holds much.
pub(super) const MUCH: usize = 64 << 10;

/// A call that waits for its turn.
#[derive(Debug)]
pub(super) struct Job {
    pub(super) call: Call,
    /// Whether it may change something.
    pub(super) changes: bool,
}

/// How a call runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pace {
    /// As long as a call may.
    Lasting,
    /// Beside as many lasting calls as there may be: if it turns out to take
    /// long, it is to be displaced and begins anew as one of them.
    Brief,
}

/// The calls of one connection.
pub(super) struct Scheduler {
    /// How many lasting calls run at a time.
    lasting: usize,
    state: Mutex<State>,
    /// There is something for a worker to do.
    work: Condvar,
    /// A call has ended.
    ended: Condvar,
}

#[derive(Default)]
struct State {
    queue: VecDeque<Job>,
    /// Calls that were displaced, in the order they came in: all before those
    /// in the queue.
    aside: VecDeque<Job>,
    held: Held,
    running: HashMap<u64, Running>,
    changing: bool,
    closed: bool,
    /// Who waits on either. Waking nobody is a system call all the same, and
    /// waking everybody costs more than a short call.
    idle_workers: usize,
    watchers: usize,
}

struct Running {
    control: Control,
    pace: Pace,
}

/// Bytes of the calls that wait and of those that run.
#[derive(Default)]
struct Held {
    little: usize,
    much: usize,
}

impl Held {
    fn of(&mut self, bytes: usize) -> &mut usize {
        match bytes < MUCH {
            true => &mut self.little,
            false => &mut self.much,
        }
    }

    fn take(&mut self, job: &Job) {
        *self.of(job.call.bytes) += job.call.bytes;
    }

    fn drop(&mut self, bytes: usize) {
        *self.of(bytes) -= bytes;
    }
}

impl State {
    fn has_room(&self, bytes: usize) -> bool {
        let held = match bytes < MUCH {
            true => self.held.little,
            false => self.held.much,
        };
        self.queue.len() + self.aside.len() < MAX_CALLS && held < MAX_BYTES
    }

    /// How the next call may run, if it may: the displaced ones come first, but
    /// only where they need not be displaced again.
    fn next_pace(&self, lasting: usize) -> Option<Pace> {
        if self.changing {
            return None;
        }
        let running = self.running.values();
        let has_place = running.filter(|call| call.pace == Pace::Lasting).count() < lasting;
        if has_place && !self.aside.is_empty() {
            return Some(Pace::Lasting);
        }
        let first = self.queue.front()?;
        if first.changes {
            let is_alone = self.running.is_empty() && self.aside.is_empty();
            return is_alone.then_some(Pace::Lasting);
        }
        Some(match has_place {
            true => Pace::Lasting,
            false => Pace::Brief,
        })
    }

    fn next(&mut self, lasting: usize) -> Option<(Job, Pace)> {
        let pace = self.next_pace(lasting)?;
        let displaced = match pace {
            Pace::Lasting => self.aside.pop_front(),
            Pace::Brief => None,
        };
        Some((displaced.or_else(|| self.queue.pop_front())?, pace))
    }

    fn waits(&self) -> bool {
        !self.queue.is_empty() || !self.aside.is_empty()
    }

    fn is_idle(&self) -> bool {
        !self.waits() && self.running.is_empty()
    }

    /// Puts a call that was displaced where it waits to begin anew.
    fn put_aside(&mut self, job: Job) {
        let serial = job.call.ticket.serial();
        let at = self
            .aside
            .partition_point(|other| other.call.ticket.serial() < serial);
        self.aside.insert(at, job);
    }

    /// Takes a call out that waits.
    fn withdraw(&mut self, serial: u64) -> Option<Job> {
        let find = |jobs: &mut VecDeque<Job>| {
            let at = jobs
                .iter()
                .position(|job| job.call.ticket.serial() == serial)?;
            jobs.remove(at)
        };
        let job = find(&mut self.aside).or_else(|| find(&mut self.queue))?;
        self.held.drop(job.call.bytes);
        Some(job)
    }
}

impl Scheduler {
    /// A scheduler that runs so many lasting calls at a time. Any further
    /// worker is for brief ones.
    pub(super) fn new(lasting: usize) -> Self {
        Self {
            lasting,
            state: Mutex::default(),
            work: Condvar::new(),
            ended: Condvar::new(),
        }
    }

    /// Puts a call at the end of the line.
    pub(super) fn push(&self, job: Job) {
        let mut state = self.lock();
        state.held.take(&job);
        state.queue.push_back(job);
        let wakes = state.idle_workers > 0;
        drop(state);
        if wakes {
            self.work.notify_one();
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
        let has_room = |state: &State| state.has_room(bytes) && elsewhere();
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
    /// `run` hands back a call that was displaced. One that was cancelled just
    /// then does not begin anew and goes to `dropped`. A panic in either ends
    /// that call and nothing else.
    pub(super) fn work(
        &self,
        begin: impl Fn(&Call, Pace) -> Control,
        run: impl Fn(Job, &Control) -> Option<Job>,
        dropped: impl Fn(Job),
    ) {
        let mut state = self.lock();
        loop {
            if let Some((job, pace)) = state.next(self.lasting) {
                let (serial, bytes) = (job.call.ticket.serial(), job.call.bytes);
                let control = begin(&job.call, pace);
                let running = Running {
                    control: control.clone(),
                    pace,
                };
                state.running.insert(serial, running);
                state.changing = job.changes;
                self.wake_next(&state);
                drop(state);
                let displaced = catch_unwind(AssertUnwindSafe(|| run(job, &control)));
                state = self.lock();
                state.running.remove(&serial);
                // Whatever ran just now, nothing that changes does any more:
                // such a call runs alone.
                state.changing = false;
                let is_wanted = control.interruption() == Some(Interruption::Displaced);
                match displaced {
                    Ok(Some(job)) if is_wanted => {
                        state.put_aside(job);
                        continue;
                    }
                    Ok(Some(job)) => {
                        drop(state);
                        let _ = catch_unwind(AssertUnwindSafe(|| dropped(job)));
                        state = self.lock();
                    }
                    _ => {}
                }
                state.held.drop(bytes);
                if state.watchers > 0 {
                    self.ended.notify_all();
                }
            } else if state.closed && !state.waits() {
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
        } else if state.idle_workers > 0 && state.next_pace(self.lasting).is_some() {
            self.work.notify_one();
        }
    }

    /// Stops a call: one that runs is interrupted, one that waits is handed back.
    pub(super) fn cancel(&self, serial: u64) -> Option<Job> {
        let mut state = self.lock();
        let dropped = match state.running.get(&serial) {
            Some(running) => {
                running.control.cancel();
                None
            }
            None => state.withdraw(serial),
        };
        self.work.notify_all();
        self.ended.notify_all();
        dropped
    }

    /// Lets workers go once nothing is left to do. What has not ended after
    /// `grace` is stopped; what has not begun is handed back.
    pub(super) fn close(&self, grace: Duration) -> Vec<Job> {
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
        let mut dropped = Vec::from(std::mem::take(&mut state.aside));
        dropped.extend(std::mem::take(&mut state.queue));
        for job in &dropped {
            state.held.drop(job.call.bytes);
        }
        for running in state.running.values() {
            running.control.cancel();
        }
        self.work.notify_all();
        dropped
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
