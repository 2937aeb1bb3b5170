//! The thread that hashes, and what is left to it.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;

use super::Hash;

/// How many contents wait for the thread; a further one is hashed by whoever
/// has it.
const MAX_TASKS: usize = 4;

/// Stack of the thread, which calls nothing but the hash.
const STACK: usize = 128 << 10;

/// What the thread does.
#[derive(Debug)]
pub(super) struct Task {
    pub(super) hash: Hash,
    pub(super) pieces: Vec<Vec<u8>>,
}

impl Task {
    /// The hash with the pieces.
    pub(super) fn hashed(mut self) -> Hash {
        for piece in &self.pieces {
            self.hash.update(piece);
        }
        self.hash
    }
}

/// A task, until it is done; then its hash.
#[derive(Debug)]
pub(super) struct Slot {
    state: Mutex<State>,
    /// The hash is there, or never will be.
    over: Condvar,
}

#[derive(Debug)]
enum State {
    Waits(Box<Task>),
    /// The thread has it, and whether its hash is waited for: waking nobody is a
    /// system call all the same.
    Runs {
        awaited: bool,
    },
    Done(Hash),
    /// The hash was taken, or lost with the thread.
    Over,
}

impl Slot {
    fn new(task: Box<Task>) -> Arc<Self> {
        Arc::new(Self {
            state: Mutex::new(State::Waits(task)),
            over: Condvar::new(),
        })
    }

    /// The hash, once it is there; none if the thread ended before. A task that
    /// the thread has not come to is done here: it may have no processor.
    pub(super) fn take(&self) -> Option<Hash> {
        let mut state = lock(&self.state);
        loop {
            match std::mem::replace(&mut *state, State::Over) {
                State::Waits(task) => {
                    drop(state);
                    return Some(task.hashed());
                }
                State::Runs { .. } => *state = State::Runs { awaited: true },
                State::Done(hash) => return Some(hash),
                State::Over => return None,
            }
            state = self
                .over
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Does the task, unless somebody else has.
    fn run(&self) {
        let mut state = lock(&self.state);
        let before = std::mem::replace(&mut *state, State::Runs { awaited: false });
        let State::Waits(task) = before else {
            *state = before;
            return;
        };
        drop(state);
        let ends = Ends(self);
        let hash = task.hashed();
        ends.with(State::Done(hash));
    }

    fn end(&self, end: State) {
        let mut state = lock(&self.state);
        let before = std::mem::replace(&mut *state, end);
        drop(state);
        if matches!(before, State::Runs { awaited: true }) {
            self.over.notify_one();
        }
    }
}

/// Whoever waits for a task hears of its end, however it ends.
struct Ends<'a>(&'a Slot);

impl Ends<'_> {
    fn with(self, end: State) {
        self.0.end(end);
        std::mem::forget(self);
    }
}

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        self.0.end(State::Over);
    }
}

/// The tasks that wait for the thread.
#[derive(Default)]
struct Tasks {
    waiting: Mutex<VecDeque<Arc<Slot>>>,
    come: Condvar,
}

impl Tasks {
    /// Leaves a task to the thread, unless many are left to it.
    fn give(&self, task: Box<Task>) -> Result<Arc<Slot>, Box<Task>> {
        let mut waiting = lock(&self.waiting);
        if waiting.len() >= MAX_TASKS {
            return Err(task);
        }
        let slot = Slot::new(task);
        waiting.push_back(Arc::clone(&slot));
        drop(waiting);
        self.come.notify_one();
        Ok(slot)
    }

    /// What the thread does, for ever.
    fn run(&self) {
        loop {
            let waiting = lock(&self.waiting);
            let waiting = self.come.wait_while(waiting, |waiting| waiting.is_empty());
            let slot = waiting.unwrap_or_else(PoisonError::into_inner).pop_front();
            if let Some(slot) = slot {
                slot.run();
            }
        }
    }
}

/// Leaves a task to the thread, which is started with the first one; gives it
/// back where that is impossible, or many are left to it.
pub(super) fn give(task: Box<Task>) -> Result<Arc<Slot>, Box<Task>> {
    static TASKS: OnceLock<Option<Arc<Tasks>>> = OnceLock::new();
    let start = || {
        let tasks = Arc::<Tasks>::default();
        let thread = thread::Builder::new().name("hasher".into());
        let work = Arc::clone(&tasks);
        let started = thread.stack_size(STACK).spawn(move || work.run());
        started.ok().map(|_| tasks)
    };
    match TASKS.get_or_init(start) {
        Some(tasks) => tasks.give(task),
        None => Err(task),
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::{Ends, Hash, MAX_TASKS, Slot, State, Task, Tasks, lock};

    fn task() -> Box<Task> {
        Box::new(Task {
            hash: Hash::new(None),
            pieces: vec![b"abc".to_vec()],
        })
    }

    fn expected() -> Option<String> {
        Some(task().hashed().finish())
    }

    #[test]
    fn a_task_is_done_by_the_thread_or_by_who_wants_the_hash() {
        let slot = Slot::new(task());
        slot.run();
        assert_eq!(slot.take().map(Hash::finish), expected());
        let slot = Slot::new(task());
        assert_eq!(slot.take().map(Hash::finish), expected());
        // It has gone, and the thread finds nothing to do.
        slot.run();
        assert!(slot.take().is_none());
    }

    #[test]
    fn whoever_waits_hears_of_the_end() {
        for ends in [true, false] {
            let slot = Slot::new(task());
            *lock(&slot.state) = State::Runs { awaited: false };
            thread::scope(|scope| {
                let waits = scope.spawn(|| slot.take().map(Hash::finish));
                let end = Ends(&slot);
                match ends {
                    true => end.with(State::Done(task().hashed())),
                    false => drop(end),
                }
                let heard = waits.join().expect("no panic");
                assert_eq!(heard, expected().filter(|_| ends));
            });
        }
    }

    #[test]
    fn no_more_is_left_to_the_thread_than_it_may_have() {
        let tasks = Tasks::default();
        for _ in 0..MAX_TASKS {
            assert!(tasks.give(task()).is_ok());
        }
        assert!(tasks.give(task()).is_err());
    }
}
