//! The sandbox: one engine, one component, and a fresh instance for every
//! call, which gets a directory, four kinds of bounds and nothing else. It
//! knows what a tool call is, and neither the protocol nor what tools there are.

mod bounds;
mod chamber;
mod clock;
mod embedded;
mod hashing;
mod link;
mod outcome;
mod parked;
mod pool;
mod settings;
mod streams;
mod waiting;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use preopen_contract::session::Outcome;
use thiserror::Error;
use wasmtime::{Store, format_err};

use self::bindings::exports::preopen::mcp::tools::{self, CallError, Settings};
pub(crate) use self::bounds::{Control, Interruption, Listener};
pub(crate) use self::chamber::{Cell, Chamber, Ended, State};
pub(crate) use self::embedded::{COMPONENT, Source};
use self::parked::{Lot, Parked};
use crate::confine::Grant;
use crate::root::Root;
use crate::shortage::Shortage;

#[allow(missing_docs, unreachable_pub, clippy::all)]
mod bindings {
    wasmtime::component::bindgen!({
        path: "../wit",
        world: "guest",
    });
}

/// Time for listing the tools, in milliseconds; it takes none to speak of.
const LISTING_TIME: u64 = 30_000;

/// Address space that must be left beside an instance, in bytes, where it is
/// scarce: stacks and heaps of the threads, and what calls bring along.
const HEADROOM: usize = 512 << 20;

/// Why the sandbox does not start.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SandboxError {
    /// A limit of the process leaves it no room.
    #[error(transparent)]
    Shortage(#[from] Shortage),
    /// The code does not fit this engine or processor, or the component does
    /// not fit in here.
    #[error("the embedded component does not run on this machine: {0}")]
    Component(wasmtime::Error),
}

impl From<wasmtime::Error> for SandboxError {
    fn from(error: wasmtime::Error) -> Self {
        Shortage::behind(&error).map_or(Self::Component(error), Self::Shortage)
    }
}

/// The tools' component, ready to be instantiated.
pub(crate) struct Sandbox {
    chamber: Chamber,
    component: bindings::GuestPre<State>,
    settings: Settings,
    /// It is not ours: what it says is looked at before it is passed on.
    foreign: bool,
    /// The same, for an instance whose files have not changed.
    going_on: Settings,
    /// Instances that no call has used yet, made while nobody waited.
    ready: Mutex<Vec<Ready>>,
    /// Instances that are kept for the next page.
    lot: Lot,
}

/// An instance that no call uses.
struct Ready {
    guest: bindings::Guest,
    cell: Cell,
}

/// What is left of a call. Clearing it up can wait until the call is answered;
/// then the instance for the next one is made.
pub(crate) struct Remains<'a> {
    sandbox: &'a Sandbox,
    cell: Option<Cell>,
    makes_another: bool,
}

impl Drop for Remains<'_> {
    fn drop(&mut self) {
        drop(self.cell.take());
        if self.makes_another {
            self.sandbox.prepare();
        }
    }
}

impl Sandbox {
    /// Loads a component with tools for `calls` calls at a time, fewer where
    /// the address space has no room for that many.
    pub(crate) fn new(root: &Root, calls: usize, source: Source<'_>) -> Result<Self, SandboxError> {
        let chamber = Chamber::new(Arc::clone(&root.grant), root.limits.clone(), calls)?;
        let component = chamber.load(source).and_then(bindings::GuestPre::new)?;
        let settings = settings::of(root);
        let sandbox = Self {
            going_on: Settings {
                files_unchanged: true,
                ..settings.clone()
            },
            lot: Lot::new(chamber.kept()),
            chamber,
            component,
            settings,
            foreign: matches!(source, Source::Own(_)),
            ready: Mutex::default(),
        };
        if sandbox.chamber.is_on_demand() {
            // Threads and answers need room beside the instance, later on.
            let mut headroom: Vec<u8> = Vec::new();
            let reserved = headroom.try_reserve_exact(HEADROOM);
            std::hint::black_box(&headroom);
            if reserved.is_err() {
                return Err(Shortage::AddressSpace.into());
            }
            sandbox
                .list_tools()
                .map_err(|error| Shortage::behind(&error).unwrap_or(Shortage::AddressSpace))?;
        }
        Ok(sandbox)
    }

    /// What every instance gets.
    pub(crate) fn grant(&self) -> &Grant {
        self.chamber.grant()
    }

    /// How many calls run at the same time.
    pub(crate) fn calls(&self) -> usize {
        self.chamber.calls()
    }

    /// Stops every call, now and from now on, and waits until they have ended
    /// or `patience` is over.
    pub(crate) fn stop(&self, patience: Duration) {
        self.chamber.forbid();
        self.ready().clear();
        self.lot.clear();
        self.chamber.wait_for_all(patience);
    }

    /// The definitions of the tools served, a JSON array. No clock runs for our
    /// own component, and none is left afterwards: this may be asked before the
    /// process has a second thread.
    pub(crate) fn list_tools(&self) -> wasmtime::Result<String> {
        self.list(&self.settings)
    }

    /// The same of all tools there are, whatever the operator chose.
    pub(crate) fn list_all_tools(&self) -> wasmtime::Result<String> {
        self.list(&Settings {
            only: Vec::new(),
            read_only: false,
            ..self.settings.clone()
        })
    }

    fn list(&self, settings: &Settings) -> wasmtime::Result<String> {
        if !self.foreign {
            let control = Control::new(LISTING_TIME, None);
            return self.list_within(settings, &control).result;
        }
        let limits = self.chamber.limits();
        let control = Control::new(limits.call_timeout, None);
        let listed = self
            .chamber
            .keep_time_for(|| self.list_within(settings, &control))?;
        control.check();
        listed.result.map_err(|error| {
            let past = match control.interruption() {
                Some(_) => "call-timeout",
                None if listed.memory_ran_out => "max-call-memory",
                None => return error,
            };
            format_err!("it took more than {} (--{past})", limits.shown(past))
        })
    }

    fn list_within(&self, settings: &Settings, control: &Control) -> Ended<String> {
        self.enter(control, |tools, store| {
            tools.call_list_tools(store, settings)
        })
    }

    /// Runs one tool call: in an instance of its own, or where it goes on with
    /// a traversal, in the one that is kept for that.
    pub(crate) fn call(
        &self,
        name: &str,
        arguments: &str,
        control: &Control,
    ) -> (Outcome, Remains<'_>) {
        let _ticking = self.chamber.keep_time();
        let (mut used, mut went_on) = (None, false);
        let ended = self.work(name, arguments, control, &mut used, &mut went_on);
        let mut remains = Remains {
            sandbox: self,
            cell: None,
            // One that went on with a traversal took none away.
            makes_another: !went_on,
        };
        // What a call that failed leaves behind is gone before anybody hears of it.
        if let (Ok(Ok(answer)), Some(used)) = (&ended.result, used) {
            remains.cell = match &answer.kept_for {
                Some(cursor) => self.keep(name, cursor, used),
                None => Some(used.cell),
            };
        }
        (self.outcome(name, control, ended), remains)
    }

    fn work(
        &self,
        name: &str,
        arguments: &str,
        control: &Control,
        used: &mut Option<Ready>,
        went_on: &mut bool,
    ) -> Ended<Result<tools::ToolResult, CallError>> {
        let (ready, settings) = match self.kept(name, arguments) {
            Some(kept) => {
                *went_on = true;
                (kept, &self.going_on)
            }
            None => match self.fresh() {
                Ok(fresh) => (fresh, &self.settings),
                Err(ended) => return ended,
            },
        };
        let Ready { guest, cell } = used.insert(ready);
        cell.begin(control);
        cell.hash_writes(self.settings.hash_key.as_deref());
        let tools = guest.preopen_mcp_tools();
        let result = tools.call_call_tool(&mut cell.store, settings, name, arguments);
        cell.end(result)
    }

    /// An instance that no call has used.
    fn fresh<T>(&self) -> Result<Ready, Ended<T>> {
        let ready = self.ready().pop();
        ready.map_or_else(|| self.make(self.chamber.cell()), Ok)
    }

    /// The instance that was kept for this call, if what it saw is unchanged.
    fn kept(&self, name: &str, arguments: &str) -> Option<Ready> {
        let cursor = self.lot.cursor(name, arguments)?;
        // An instance only ever runs with the right to; one that was made ahead
        // may have the last.
        let slot = self.chamber.spare_slot().unwrap_or_else(|| {
            let ahead = self.ready().pop();
            ahead
                .and_then(|mut ready| ready.cell.swap_slot(None))
                .unwrap_or_else(|| self.chamber.slot())
        });
        let mut kept = self.lot.take(&cursor)?.ready;
        kept.cell.swap_slot(Some(slot));
        kept.cell.is_unchanged().then_some(kept)
    }

    /// Keeps an instance for the call that `cursor` is sent with, if that is
    /// possible; what is left of it otherwise.
    fn keep(&self, name: &str, cursor: &str, mut used: Ready) -> Option<Cell> {
        let possible =
            self.lot.has_places() && cursor.len() <= parked::MAX_CURSOR && used.cell.can_be_kept();
        if !possible {
            return Some(used.cell);
        }
        // Given back once there is room for another instance again.
        let slot = used.cell.swap_slot(None);
        self.lot.park(Parked {
            ready: used,
            tool: name.to_owned(),
            cursor: cursor.into(),
        });
        drop(slot);
        None
    }

    fn make<T>(&self, mut cell: Cell) -> Result<Ready, Ended<T>> {
        match self.component.instantiate(&mut cell.store) {
            Ok(guest) => Ok(Ready { guest, cell }),
            Err(error) => Err(Ended {
                result: Err(error),
                memory_ran_out: cell.memory_ran_out(),
                written: None,
            }),
        }
    }

    /// Makes an instance for the next call, if there is room for one that
    /// nobody waits for.
    fn prepare(&self) {
        if let Some(cell) = self.chamber.spare_cell()
            && let Ok(ready) = self.make::<()>(cell)
        {
            self.ready().push(ready);
        }
    }

    fn ready(&self) -> MutexGuard<'_, Vec<Ready>> {
        self.ready.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn enter<T>(
        &self,
        control: &Control,
        call: impl FnOnce(&tools::Guest, &mut Store<State>) -> wasmtime::Result<T>,
    ) -> Ended<T> {
        self.chamber.enter(control, |store| {
            let guest = self.component.instantiate(&mut *store)?;
            call(guest.preopen_mcp_tools(), store)
        })
    }
}
