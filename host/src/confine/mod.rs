//! `wasi:filesystem` as this project grants it, in place of the library's own:
//! no link is followed at any component, only regular files and directories
//! are opened, and only what the policy serves exists. It knows neither tools
//! nor the protocol; whatever a component asks for passes through here.

mod descriptor;
mod directory;
mod errno;
pub(crate) mod faults;
mod host;
mod kinds;
mod listing;
mod open;
mod resolve;
mod seen;
pub(crate) mod system;
pub(crate) mod temporaries;
mod unfinished;
mod unused;
mod walk;

#[cfg(any(test, fuzzing))]
pub(crate) mod sequence;
#[cfg(test)]
mod tests;

#[cfg(target_os = "linux")]
pub(crate) use seen::WATCH_GROUP;
#[cfg(test)]
pub(crate) use seen::clock_ahead;
pub(crate) use seen::{Seen, Surroundings};
#[cfg(test)]
pub(crate) use walk::forced;

use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::time::Instant;

use preopen_contract::policy::Policy;
use rustix::fs::Mode;
use wasmtime::component::{HasData, Linker, ResourceTable};
use wasmtime_wasi::p2::bindings::filesystem::preopens;
use wasmtime_wasi::p2::bindings::sync::filesystem::types;

use crate::hasher::Written;

/// One directory and what may be done below it: all that a component gets.
#[derive(Debug)]
pub(crate) struct Grant {
    /// The root, opened once and pinned: renaming it changes nothing.
    pub(crate) root: Arc<OwnedFd>,
    /// What is served below it.
    pub(crate) policy: Policy,
    /// Whether anything below it may be changed at all.
    pub(crate) writable: bool,
    /// Whose the files are that are made.
    pub(crate) new_file: NewFile,
    /// Where the root stands.
    pub(crate) around: Surroundings,
}

/// Who may do something with a file that is made, and was not there before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NewFile {
    /// The user alone, whatever the umask is, until the user says otherwise.
    Private,
    /// Whom the umask leaves it to, as with any program's.
    Shared,
}

impl NewFile {
    /// The mode to make it with.
    pub(crate) const fn mode(self) -> Mode {
        match self {
            Self::Private => Mode::RUSR.union(Mode::WUSR),
            Self::Shared => Mode::from_raw_mode(0o666),
        }
    }
}

impl Grant {
    /// Of `root`, before the process gives up its rights.
    pub(crate) fn new(root: OwnedFd, policy: Policy, writable: bool, new_file: NewFile) -> Self {
        Self {
            around: Surroundings::of(root.as_fd()),
            root: Arc::new(root),
            policy,
            writable,
            new_file,
        }
    }
}

/// What passed through on behalf of one call, and until when it may.
#[derive(Debug)]
pub(crate) struct Counters {
    entries: AtomicU64,
    bytes: AtomicU64,
    /// Of those the ones written, which count for nothing unless it was committed.
    written: AtomicU64,
    deadline: Instant,
    stopped: AtomicBool,
    committed: AtomicBool,
}

impl Counters {
    /// For a call that has until `deadline`.
    pub(crate) fn until(deadline: Instant) -> Self {
        Self {
            entries: AtomicU64::new(0),
            bytes: AtomicU64::new(0),
            written: AtomicU64::new(0),
            deadline,
            stopped: AtomicBool::new(false),
            committed: AtomicBool::new(false),
        }
    }

    /// Directory entries handed out and bytes read or written so far.
    pub(crate) fn read(&self) -> (u64, u64) {
        (
            self.entries.load(Ordering::Relaxed),
            self.bytes.load(Ordering::Relaxed),
        )
    }

    /// Bytes read, and those written that have become a file.
    pub(crate) fn kept(&self) -> u64 {
        let bytes = self.bytes.load(Ordering::Relaxed);
        match self.is_committed() {
            true => bytes,
            false => bytes - self.written.load(Ordering::Relaxed),
        }
    }

    /// Whether the call has done what it was for: from here on it is not
    /// stopped any more, for its answer must say so.
    pub(crate) fn is_committed(&self) -> bool {
        self.committed.load(Ordering::Relaxed)
    }

    fn commit(&self) {
        self.committed.store(true, Ordering::Relaxed);
    }

    /// Takes note that nobody waits for the call any more.
    pub(crate) fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
    }

    /// Whether work in here that goes on for long has to end.
    fn has_to_stop(&self) -> bool {
        self.stopped.load(Ordering::Relaxed) || self.is_late()
    }

    fn is_late(&self) -> bool {
        Instant::now() >= self.deadline
    }

    /// Only what a component is shown counts: progress tells of nothing else.
    fn showed_entries(&self, count: u64) {
        self.entries.fetch_add(count, Ordering::Relaxed);
    }

    fn moved(&self, bytes: usize) {
        self.bytes.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    fn wrote(&self, bytes: usize) {
        self.moved(bytes);
        self.written.fetch_add(bytes as u64, Ordering::Relaxed);
    }
}

/// The state of one instance.
#[derive(Debug)]
pub(crate) struct Confine {
    grant: Arc<Grant>,
    counters: Arc<Counters>,
    /// Where paths are joined, so that most operations allocate nothing.
    scratch: String,
    /// The directory it has locked, as long as a temporary of it is open.
    turn: Weak<unfinished::Lock>,
    /// The file that it made last, as long as that is open.
    latest: Weak<unfinished::Made>,
    /// Directories it has made for a call that is not done yet.
    made: Vec<String>,
    /// The hash of what it writes, if anybody wants it.
    pub(crate) written: Option<Written>,
    seen: Seen,
}

impl Confine {
    /// Whether it can be told later if all that was seen is unchanged.
    pub(crate) fn can_be_held(&mut self) -> bool {
        self.seen.can_be_held(&self.grant.root, &self.grant.around)
    }

    /// Whether all that was seen is unchanged.
    pub(crate) fn is_unchanged(&self) -> bool {
        self.seen.is_unchanged(&self.grant.root, &self.grant.around)
    }

    /// Counts for another call from here on.
    pub(crate) fn count(&mut self, counters: Arc<Counters>) {
        self.counters = counters;
    }

    /// Takes note that the call is done: what it made stays.
    pub(crate) fn done(&mut self) {
        self.made.clear();
    }

    pub(crate) fn new(grant: Arc<Grant>, counters: Arc<Counters>) -> Self {
        Self {
            grant,
            counters,
            scratch: String::new(),
            turn: Weak::new(),
            latest: Weak::new(),
            seen: Seen::default(),
            made: Vec::new(),
            written: None,
        }
    }
}

impl Drop for Confine {
    /// A call that was stopped half-way has changed nothing: the directories it
    /// made for something go, as its temporaries do.
    fn drop(&mut self) {
        if self.counters.is_committed() {
            return;
        }
        for path in self.made.iter().rev() {
            // What somebody has put something into is theirs by now, and so is all above it.
            if directory::remove(&self.grant, path).is_err() {
                break;
            }
        }
    }
}

/// The state of one instance together with its handles.
pub(crate) struct View<'a> {
    pub(crate) confine: &'a mut Confine,
    pub(crate) table: &'a mut ResourceTable,
}

struct Lend;

impl HasData for Lend {
    type Data<'a> = View<'a>;
}

/// Links `wasi:filesystem/types`.
pub(crate) fn link_types<T: 'static>(
    linker: &mut Linker<T>,
    view: fn(&mut T) -> View<'_>,
) -> wasmtime::Result<()> {
    types::add_to_linker::<T, Lend>(linker, view)
}

/// Links `wasi:filesystem/preopens`.
pub(crate) fn link_preopens<T: 'static>(
    linker: &mut Linker<T>,
    view: fn(&mut T) -> View<'_>,
) -> wasmtime::Result<()> {
    preopens::add_to_linker::<T, Lend>(linker, view)
}
