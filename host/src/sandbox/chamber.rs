//! What every instance runs in, whatever component it is of: an engine, a
//! directory, and bounds on time, memory and handles. It knows no interface a
//! component exports, so it treats ours and a hostile one alike.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use preopen_contract::limits::Limits;
use wasmtime::component::{InstancePre, Linker, ResourceTable};
use wasmtime::{Engine, Store, UpdateDeadline};
use wasmtime_wasi::{WasiCtx, WasiCtxView, WasiView};

use super::SandboxError;
use super::bounds::{Control, Memory};
use super::clock::{self, Clock, Ticking};
use super::embedded::{self, Source};
use super::link;
use super::parked;
use super::pool::{self, Room, Slot, Slots};
use crate::confine::{Confine, Grant, View};
use crate::hasher::Written;

/// The most handles an instance may hold; the tools need one a directory level.
const MAX_HANDLES: usize = 4096;

/// What the engine keeps for one instance.
pub(crate) struct State {
    /// Made when it is first asked for: most calls use files alone.
    wasi: Option<WasiCtx>,
    pub(super) table: ResourceTable,
    confine: Confine,
    memory: Memory,
    control: Control,
    stopping: Arc<AtomicBool>,
}

impl WasiView for State {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        WasiCtxView {
            // Empty environment, no arguments, stdin at its end, stdout and
            // stderr to nowhere: that is what the library begins with.
            ctx: self.wasi.get_or_insert_with(|| WasiCtx::builder().build()),
            table: &mut self.table,
        }
    }
}

impl State {
    pub(super) fn files(&mut self) -> View<'_> {
        View {
            confine: &mut self.confine,
            table: &mut self.table,
        }
    }
}

/// A store for one instance, under every bound.
pub(crate) struct Cell {
    pub(crate) store: Store<State>,
    // Given back last; none while it is kept and no call uses it.
    slot: Option<Slot>,
}

impl Cell {
    /// Whether it is worth keeping: it has little memory, and what it has seen
    /// of the files can be looked at again.
    pub(super) fn can_be_kept(&mut self) -> bool {
        let state = self.store.data_mut();
        state.memory.used() <= parked::MAX_MEMORY && state.confine.can_be_held()
    }

    /// Whether what it has seen of the files is unchanged.
    pub(super) fn is_unchanged(&self) -> bool {
        self.store.data().confine.is_unchanged()
    }

    /// Gives up the right to run, or takes it up.
    pub(super) fn swap_slot(&mut self, slot: Option<Slot>) -> Option<Slot> {
        std::mem::replace(&mut self.slot, slot)
    }

    /// From here on it works for the call that `control` is of.
    pub(crate) fn begin(&mut self, control: &Control) {
        let state = self.store.data_mut();
        state.control = control.clone();
        state.confine.count(Arc::clone(control.counters()));
    }

    /// From here on what it writes is hashed, with a key if there is one.
    pub(super) fn hash_writes(&mut self, key: Option<&[u8]>) {
        self.store.data_mut().confine.written = Some(Written::new(key));
    }

    /// Takes note of how the work ended: what ended by itself leaves what it made.
    pub(crate) fn end<T>(&mut self, result: wasmtime::Result<T>) -> Ended<T> {
        if result.is_ok() {
            self.store.data_mut().confine.done();
        }
        Ended {
            result,
            memory_ran_out: self.memory_ran_out(),
            written: self.store.data_mut().confine.written.take().map(Box::new),
        }
    }

    /// Whether it asked for more memory than it may have.
    pub(crate) fn memory_ran_out(&self) -> bool {
        self.store.data().memory.ran_out()
    }
}

/// How the work in an instance ended.
pub(crate) struct Ended<T> {
    pub(crate) result: wasmtime::Result<T>,
    /// It asked for more memory than it may have.
    pub(crate) memory_ran_out: bool,
    /// The hash of what it wrote, if it was asked for.
    pub(super) written: Option<Box<Written>>,
}

/// Where instances are made, used once and thrown away.
pub(crate) struct Chamber {
    engine: Engine,
    grant: Arc<Grant>,
    limits: Limits,
    slots: Arc<Slots>,
    clock: Clock,
    stopping: Arc<AtomicBool>,
    kept: usize,
    on_demand: bool,
}

impl Chamber {
    /// Room for `calls` instances at a time, fewer where the address space has
    /// no room for that many.
    pub(crate) fn new(
        grant: Arc<Grant>,
        limits: Limits,
        calls: usize,
    ) -> Result<Self, SandboxError> {
        let Room {
            engine,
            calls,
            kept,
            on_demand,
        } = pool::engine(calls, &limits)?;
        Ok(Self {
            clock: Clock::new(engine.clone()),
            engine,
            grant,
            limits,
            slots: Slots::new(calls),
            kept,
            stopping: Arc::default(),
            on_demand,
        })
    }

    /// Loads a component and links what it imports, if all of it is granted.
    pub(crate) fn load(&self, source: Source<'_>) -> wasmtime::Result<InstancePre<State>> {
        let component = embedded::load(&self.engine, source)?;
        let mut linker = Linker::new(&self.engine);
        link::imports(&mut linker, &component, &self.engine)?;
        linker.instantiate_pre(&component)
    }

    /// What every instance gets.
    pub(crate) fn grant(&self) -> &Grant {
        &self.grant
    }

    /// The bounds in force.
    pub(crate) fn limits(&self) -> &Limits {
        &self.limits
    }

    /// How many instances there can be at a time.
    pub(crate) fn calls(&self) -> usize {
        self.slots.count()
    }

    /// How many instances can be kept beside them.
    pub(super) fn kept(&self) -> usize {
        self.kept
    }

    /// Whether it shows only when an instance is made that there is room for it.
    pub(super) fn is_on_demand(&self) -> bool {
        self.on_demand
    }

    /// Keeps the clock going by which calls are stopped, until it is dropped.
    pub(crate) fn keep_time(&self) -> Ticking<'_> {
        self.clock.run()
    }

    /// Keeps time while `work` is done; the thread for it ends with that.
    ///
    /// # Errors
    /// When no thread can be started.
    pub(super) fn keep_time_for<T>(&self, work: impl FnOnce() -> T) -> io::Result<T> {
        clock::run_for(&self.engine, work)
    }

    /// Stops every call, now and from now on.
    pub(crate) fn forbid(&self) {
        self.stopping.store(true, Ordering::SeqCst);
    }

    /// Waits until all instances are gone or `patience` is over.
    pub(crate) fn wait_for_all(&self, patience: Duration) {
        self.slots.wait_for_all(patience);
    }

    /// Does `work` in a store of its own and throws it away.
    pub(crate) fn enter<T>(
        &self,
        control: &Control,
        work: impl FnOnce(&mut Store<State>) -> wasmtime::Result<T>,
    ) -> Ended<T> {
        let mut cell = self.cell();
        cell.begin(control);
        let result = work(&mut cell.store);
        cell.end(result)
    }

    /// A store for one instance, once there is room for it.
    pub(crate) fn cell(&self) -> Cell {
        self.furnish(self.slot())
    }

    /// The right to one instance, once it can be had.
    pub(super) fn slot(&self) -> Slot {
        self.slots.take()
    }

    /// The same, if nobody waits for it.
    pub(super) fn spare_slot(&self) -> Option<Slot> {
        self.slots.spare()
    }

    /// A store that nobody waits for, if there is room and a future for it.
    pub(crate) fn spare_cell(&self) -> Option<Cell> {
        if self.stopping.load(Ordering::SeqCst) {
            return None;
        }
        self.slots.spare().map(|slot| self.furnish(slot))
    }

    pub(super) fn furnish(&self, slot: Slot) -> Cell {
        let mut table = ResourceTable::new();
        table.set_max_capacity(MAX_HANDLES);
        // Until a call begins: making an instance takes no time to speak of.
        let control = Control::new(self.limits.call_timeout, None);
        let state = State {
            wasi: None,
            table,
            confine: Confine::new(Arc::clone(&self.grant), Arc::clone(control.counters())),
            memory: Memory::new(self.limits.max_call_memory),
            control,
            stopping: Arc::clone(&self.stopping),
        };
        let mut store = Store::new(&self.engine, state);
        store.limiter(|state| &mut state.memory);
        // What crosses the boundary at once is copied: as much as an instance can
        // hold, or what the runtime allows anyway.
        let memory = usize::try_from(self.limits.max_call_memory).unwrap_or(usize::MAX);
        store.set_hostcall_fuel(memory.max(store.hostcall_fuel()));
        store.set_epoch_deadline(1);
        store.epoch_deadline_callback(|store| {
            let State {
                control, stopping, ..
            } = store.data();
            if stopping.load(Ordering::SeqCst) {
                control.cancel();
            }
            Ok(match control.check() {
                Some(_) => UpdateDeadline::Interrupt,
                None => UpdateDeadline::Continue(1),
            })
        });
        Cell {
            store,
            slot: Some(slot),
        }
    }
}
