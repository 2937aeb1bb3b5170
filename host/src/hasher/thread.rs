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

/// Where the thread leaves a hash.
#[derive(Debug, Default)]
pub(super) struct Slot {
    state: Mutex<Left>,
    left: Condvar,
}

#[derive(Debug, Default)]
struct Left {
    hash: Option<Hash>,
    /// Nothing more will be left.
    over: bool,
    /// Waking nobody is a system call all the same.
    awaited: bool,
}

impl Slot {
    /// The hash, once it is there; none if the thread ended before.
    pub(super) fn take(&self) -> Option<Hash> {
        let mut state = lock(&self.state);
        state.awaited = true;
        let wait = |state: &mut Left| !state.over;
        let state = self.left.wait_while(state, wait);
        state.unwrap_or_else(PoisonError::into_inner).hash.take()
    }
}

/// A place for a hash, from the side that leaves it: dropped, it is over.
struct Leaves(Arc<Slot>);

impl Leaves {
    fn leave(self, hash: Hash) {
        lock(&self.0.state).hash = Some(hash);
    }
}

impl Drop for Leaves {
    fn drop(&mut self) {
        let mut state = lock(&self.0.state);
        state.over = true;
        let awaited = state.awaited;
        drop(state);
        if awaited {
            self.0.left.notify_one();
        }
    }
}

/// The tasks that wait for the thread.
#[derive(Default)]
struct Tasks {
    waiting: Mutex<VecDeque<(Box<Task>, Leaves)>>,
    come: Condvar,
}

impl Tasks {
    /// Leaves a task to the thread, unless many are left to it.
    fn give(&self, task: Box<Task>) -> Result<Arc<Slot>, Box<Task>> {
        let mut waiting = lock(&self.waiting);
        if waiting.len() >= MAX_TASKS {
            return Err(task);
        }
        let slot = Arc::default();
        waiting.push_back((task, Leaves(Arc::clone(&slot))));
        drop(waiting);
        self.come.notify_one();
        Ok(slot)
    }

    /// What the thread does, for ever.
    fn run(&self) {
        loop {
            let waiting = self
                .come
                .wait_while(lock(&self.waiting), |waiting| waiting.is_empty());
            let task = waiting.unwrap_or_else(PoisonError::into_inner).pop_front();
            if let Some((task, leaves)) = task {
                leaves.leave(task.hashed());
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
    use std::sync::Arc;
    use std::thread;

    use super::{Hash, Leaves, MAX_TASKS, Slot, Task, Tasks};

    #[test]
    fn whoever_waits_hears_that_there_will_be_no_hash() {
        let slot = Arc::<Slot>::default();
        let leaves = Leaves(Arc::clone(&slot));
        thread::scope(|scope| {
            let waits = scope.spawn(|| slot.take().is_none());
            drop(leaves);
            assert!(waits.join().expect("no panic"));
        });
    }

    #[test]
    fn no_more_is_left_to_the_thread_than_it_may_have() {
        let tasks = Tasks::default();
        let task = || {
            Box::new(Task {
                hash: Hash::new(None),
                pieces: Vec::new(),
            })
        };
        for _ in 0..MAX_TASKS {
            assert!(tasks.give(task()).is_ok());
        }
        assert!(tasks.give(task()).is_err());
    }
}
