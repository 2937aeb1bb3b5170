//! The bounds of one call: its time, its memory, and whether somebody wants it
//! stopped or wants to hear how far it is. They are enforced and observed from
//! outside; the component cannot look away.

use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use wasmtime::ResourceLimiter;

use crate::confine::Counters;

/// The most elements a table of the component may have; it uses one for its
/// functions and never grows it.
const MAX_TABLE_ELEMENTS: usize = 20_000;

/// Why a call was stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Interruption {
    /// It ran past its time.
    TimedOut = 1,
    /// Somebody asked for it.
    Cancelled = 2,
    /// It was given little time, took more, and is to begin anew.
    Displaced = 3,
}

/// Time between two reports of progress, at least: ten a second are enough.
const REPORT_EVERY: Duration = Duration::from_millis(100);

/// Who hears how far a call is: entries seen, and bytes read or written.
pub(crate) type Listener = Box<dyn Fn(u64, u64) + Send + Sync>;

/// The handle on a call, shared by who runs it and who may stop it.
#[derive(Clone)]
pub(crate) struct Control {
    shared: Arc<Shared>,
}

struct Shared {
    deadline: Instant,
    /// When a call that is only given little time has had it.
    brief: Option<Instant>,
    interruption: AtomicU8,
    limit: OnceLock<&'static str>,
    counters: Arc<Counters>,
    listener: Option<Listener>,
    reported: Mutex<Reported>,
}

/// The last report: when, and what.
struct Reported {
    at: Instant,
    counted: (u64, u64),
}

impl Control {
    /// A call that may take `timeout` milliseconds from now.
    pub(crate) fn new(timeout: u64, listener: Option<Listener>) -> Self {
        Self::begin(timeout, None, listener)
    }

    /// A call that is displaced once it has taken `brief`, unless it has
    /// changed something by then. Nobody hears how far it is: it may have to
    /// count once more.
    pub(crate) fn brief(timeout: u64, brief: Duration) -> Self {
        Self::begin(timeout, Some(brief), None)
    }

    fn begin(timeout: u64, brief: Option<Duration>, listener: Option<Listener>) -> Self {
        let now = Instant::now();
        let deadline = now + Duration::from_millis(timeout);
        Self {
            shared: Arc::new(Shared {
                deadline,
                brief: brief.map(|brief| now + brief),
                interruption: AtomicU8::new(0),
                limit: OnceLock::new(),
                counters: Arc::new(Counters::until(deadline)),
                listener,
                reported: Mutex::new(Reported {
                    at: now,
                    counted: (0, 0),
                }),
            }),
        }
    }

    /// Asks for the call to be stopped; it is within a tick of the clock.
    pub(crate) fn cancel(&self) {
        self.interrupt(Interruption::Cancelled);
    }

    /// Why the call was stopped, if it was.
    pub(crate) fn interruption(&self) -> Option<Interruption> {
        match self.shared.interruption.load(Ordering::Acquire) {
            1 => Some(Interruption::TimedOut),
            2 => Some(Interruption::Cancelled),
            3 => Some(Interruption::Displaced),
            _ => None,
        }
    }

    /// Whether the call has to stop now. One that has changed a file already is
    /// left to say so.
    pub(crate) fn check(&self) -> Option<Interruption> {
        if self.shared.counters.is_committed() {
            return None;
        }
        let now = Instant::now();
        if now >= self.shared.deadline {
            self.interrupt(Interruption::TimedOut);
        }
        if self.shared.brief.is_some_and(|until| now >= until) {
            self.interrupt(Interruption::Displaced);
        }
        if self.interruption().is_none() {
            self.report(now);
        }
        self.interruption()
    }

    /// Tells the listener if it is time and there is something new. The call
    /// stands still meanwhile, so nothing is told after its end.
    fn report(&self, now: Instant) {
        let Some(listener) = &self.shared.listener else {
            return;
        };
        let mut last = self
            .shared
            .reported
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let counted = self.shared.counters.read();
        if now >= last.at + REPORT_EVERY && counted != last.counted {
            *last = Reported { at: now, counted };
            listener(counted.0, counted.1);
        }
    }

    /// Takes note that the call went past the limit of this flag.
    pub(super) fn went_past(&self, flag: &'static str) {
        let _ = self.shared.limit.set(flag);
    }

    /// The flag of the limit that ended the call, without its dashes.
    pub(crate) fn limit(&self) -> Option<&'static str> {
        self.shared.limit.get().copied()
    }

    /// Bytes read so far, and those written that have become a file.
    pub(crate) fn bytes(&self) -> u64 {
        self.shared.counters.kept()
    }

    pub(super) fn counters(&self) -> &Arc<Counters> {
        &self.shared.counters
    }

    /// The first reason stays, unless it was none to end the call for good.
    fn interrupt(&self, why: Interruption) {
        let displaced = Interruption::Displaced as u8;
        let _ =
            self.shared
                .interruption
                .fetch_update(Ordering::AcqRel, Ordering::Acquire, |before| {
                    (before == 0 || before == displaced).then_some(why as u8)
                });
        self.shared.counters.stop();
    }
}

/// The memory of one instance, all its linear memories together.
#[derive(Debug)]
pub(super) struct Memory {
    limit: usize,
    used: usize,
    ran_out: bool,
}

impl Memory {
    pub(super) fn new(limit: u64) -> Self {
        Self {
            limit: usize::try_from(limit).unwrap_or(usize::MAX),
            used: 0,
            ran_out: false,
        }
    }

    /// Bytes of all its memories.
    pub(super) fn used(&self) -> usize {
        self.used
    }

    /// Whether more was asked for than there may be.
    pub(super) fn ran_out(&self) -> bool {
        self.ran_out
    }
}

impl ResourceLimiter for Memory {
    fn memory_growing(
        &mut self,
        current: usize,
        desired: usize,
        maximum: Option<usize>,
    ) -> wasmtime::Result<bool> {
        let used = self.used + desired.saturating_sub(current);
        if used > self.limit || maximum.is_some_and(|maximum| desired > maximum) {
            self.ran_out = true;
            return Ok(false);
        }
        self.used = used;
        Ok(true)
    }

    fn table_growing(
        &mut self,
        _: usize,
        desired: usize,
        _: Option<usize>,
    ) -> wasmtime::Result<bool> {
        Ok(desired <= MAX_TABLE_ELEMENTS)
    }
}
