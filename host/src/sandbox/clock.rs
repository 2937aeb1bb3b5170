//! Advances the engine's epoch while calls run, so that one that runs on is
//! asked whether it still may. With no call running the thread sleeps for good:
//! an idle server uses no processor time.

use std::sync::Arc;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::{self, Thread};
use std::time::Duration;

use wasmtime::Engine;

/// Time between two looks at a running call.
const TICK: Duration = Duration::from_millis(10);

/// Ticks without a call after which the thread goes to sleep: waking it up for
/// every short call would cost more than the call.
const IDLE_TICKS: u32 = 50;

/// The stack of the thread, which does next to nothing.
const STACK: usize = 64 << 10;

/// The clock of one engine.
pub(super) struct Clock {
    engine: Engine,
    shared: Arc<Shared>,
    thread: OnceLock<Option<Thread>>,
}

#[derive(Default)]
struct Shared {
    running: AtomicUsize,
    asleep: AtomicBool,
    stopped: AtomicBool,
}

/// Keeps the clock going.
pub(crate) struct Ticking<'a>(&'a Shared);

impl Drop for Ticking<'_> {
    fn drop(&mut self) {
        self.0.running.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Clock {
    pub(super) fn new(engine: Engine) -> Self {
        Self {
            engine,
            shared: Arc::default(),
            thread: OnceLock::new(),
        }
    }

    /// Keeps time until the result is dropped.
    pub(super) fn run(&self) -> Ticking<'_> {
        self.shared.running.fetch_add(1, Ordering::SeqCst);
        let thread = self.thread.get_or_init(|| self.start());
        if self.shared.asleep.swap(false, Ordering::SeqCst)
            && let Some(thread) = thread
        {
            thread.unpark();
        }
        Ticking(&self.shared)
    }

    fn start(&self) -> Option<Thread> {
        let (engine, shared) = (self.engine.clone(), Arc::clone(&self.shared));
        thread::Builder::new()
            .name("clock".into())
            .stack_size(STACK)
            .spawn(move || tick(&engine, &shared))
            .ok()
            .map(|handle| handle.thread().clone())
    }
}

impl Drop for Clock {
    fn drop(&mut self) {
        self.shared.stopped.store(true, Ordering::SeqCst);
        if let Some(Some(thread)) = self.thread.get() {
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
