//! Advances the engine's epoch while calls run, so that one that runs on is
//! asked whether it still may. With no call running the thread sleeps for good:
//! an idle server uses no processor time.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

use wasmtime::Engine;

use super::Sandbox;

/// Time between two looks at a running call.
const TICK: Duration = Duration::from_millis(10);

/// Ticks without a call after which the thread goes to sleep: waking it up for
/// every short call would cost more than the call.
const IDLE_TICKS: u32 = 50;

/// How long a thread that has ended may still be seen.
const PATIENCE: Duration = Duration::from_secs(1);

/// The stack of the thread, which does next to nothing.
const STACK: usize = 64 << 10;

/// The clock of one engine.
pub(super) struct Clock {
    engine: Engine,
    shared: Arc<Shared>,
    thread: OnceLock<Thread>,
    starting: Mutex<()>,
}

#[derive(Default)]
struct Shared {
    running: AtomicUsize,
    asleep: AtomicBool,
    stopped: AtomicBool,
}

/// Keeps the clock going.
pub(crate) struct Ticking<'a>(&'a Clock);

impl Drop for Ticking<'_> {
    fn drop(&mut self) {
        self.0.shared.running.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Clock {
    pub(super) fn new(engine: Engine) -> Self {
        Self {
            engine,
            shared: Arc::default(),
            thread: OnceLock::new(),
            starting: Mutex::new(()),
        }
    }

    /// Keeps time until the result is dropped. Whether there is a thread to
    /// keep it [`Sandbox::start_clock`] says.
    pub(super) fn run(&self) -> Ticking<'_> {
        self.shared.running.fetch_add(1, Ordering::SeqCst);
        let thread = self.start(STACK);
        if self.shared.asleep.swap(false, Ordering::SeqCst)
            && let Ok(thread) = thread
        {
            thread.unpark();
        }
        Ticking(self)
    }

    /// The thread, started unless it runs; one that could not be started is
    /// tried again.
    fn start(&self, stack: usize) -> io::Result<&Thread> {
        if let Some(thread) = self.thread.get() {
            return Ok(thread);
        }
        let _alone = self.starting.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(thread) = self.thread.get() {
            return Ok(thread);
        }
        let (engine, shared) = (self.engine.clone(), Arc::clone(&self.shared));
        let handle = thread::Builder::new()
            .name("clock".into())
            .stack_size(stack)
            .spawn(move || tick(&engine, &shared))?;
        Ok(self.thread.get_or_init(|| handle.thread().clone()))
    }
}

impl Sandbox {
    /// Makes sure that there is a clock, without which no call could be
    /// stopped: its thread runs from now on.
    ///
    /// # Errors
    /// When no thread can be started.
    pub(crate) fn start_clock(&self) -> io::Result<()> {
        self.chamber.keep_time().0.start(STACK).map(drop)
    }
}

/// Advances the epoch while `work` is done. Other than by a [`Clock`] the thread
/// is gone afterwards: a process that is yet to give up its rights may have none.
///
/// # Errors
/// When no thread can be started.
pub(super) fn run_for<T>(engine: &Engine, work: impl FnOnce() -> T) -> io::Result<T> {
    let before = threads();
    let result = thread::scope(|scope| {
        let (working, done) = channel::<()>();
        let tick = move || {
            while done.recv_timeout(TICK) == Err(RecvTimeoutError::Timeout) {
                engine.increment_epoch();
            }
        };
        let thread = thread::Builder::new().name("clock".into());
        let thread = thread.stack_size(STACK).spawn_scoped(scope, tick)?;
        let result = work();
        drop(working);
        // It cannot panic; if it did, it has ended all the same.
        let _ = thread.join();
        Ok(result)
    });
    // The kernel shows a thread for a moment longer than it can be waited for.
    let patience = Instant::now() + PATIENCE;
    while threads() > before && Instant::now() < patience {
        thread::yield_now();
    }
    result
}

/// How many threads the process has, as far as the system tells.
fn threads() -> usize {
    std::fs::read_dir("/proc/self/task").map_or(0, Iterator::count)
}

impl Drop for Clock {
    fn drop(&mut self) {
        self.shared.stopped.store(true, Ordering::SeqCst);
        if let Some(thread) = self.thread.get() {
            thread.unpark();
        }
    }
}

fn tick(engine: &Engine, shared: &Shared) {
    let mut idle = 0;
    while !shared.stopped.load(Ordering::SeqCst) {
        if shared.running.load(Ordering::SeqCst) > 0 {
            idle = 0;
        } else {
            idle += 1;
        }
        if idle > IDLE_TICKS {
            shared.asleep.store(true, Ordering::SeqCst);
            // A call that began just before saw a clock that was awake.
            while shared.asleep.load(Ordering::SeqCst)
                && shared.running.load(Ordering::SeqCst) == 0
                && !shared.stopped.load(Ordering::SeqCst)
            {
                thread::park();
            }
            shared.asleep.store(false, Ordering::SeqCst);
            idle = 0;
        }
        thread::park_timeout(TICK);
        engine.increment_epoch();
    }
}

#[cfg(test)]
mod tests {
    use super::{Clock, STACK};

    #[test]
    fn a_clock_that_could_not_be_started_is_started_later() {
        let clock = Clock::new(wasmtime::Engine::default());
        // No address space is this large.
        assert!(clock.start(1 << 60).is_err());
        let first = clock.start(STACK).expect("a thread").id();
        assert_eq!(clock.start(STACK).expect("the same thread").id(), first);
    }
}
