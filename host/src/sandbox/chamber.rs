//! What every instance runs in, whatever component it is of: an engine, a
//! directory, and bounds on time, memory and handles. It knows no interface a
//! component exports, so it treats ours and a hostile one alike.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use preopen_contract::limits::Limits;
use wasmtime::component::{InstancePre, Linker, ResourceTable};
use wasmtime::{Engine, Store, UpdateDeadline};
use wasmtime_wasi::{WasiCtx, WasiCtxView, WasiView};

use super::SandboxError;
use super::bounds::{Control, Memory};
use super::clock::{Clock, Ticking};
use super::embedded::{self, Embedded};
use super::link;
use super::pool::{self, Room, Slots};
use crate::confine::{Confine, Grant, View};

/// The most handles an instance may hold; the tools need one a directory level.
const MAX_HANDLES: usize = 4096;

/// What the engine keeps for one instance.
pub(crate) struct State {
    /// Made when it is first asked for: most calls use files alone.
    wasi: Option<WasiCtx>,
    pub(super) table: ResourceTable,
    confine: Confine,
    memory: Memory,
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

/// How the work in an instance ended.
pub(crate) struct Ended<T> {
    pub(crate) result: wasmtime::Result<T>,
    /// It asked for more memory than it may have.
    pub(crate) memory_ran_out: bool,
}

/// Where instances are made, used once and thrown away.
pub(crate) struct Chamber {
    engine: Engine,
    grant: Arc<Grant>,
    limits: Limits,
    slots: Slots,
    clock: Clock,
    stopping: Arc<AtomicBool>,
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
            on_demand,
        } = pool::engine(calls, &limits)?;
        Ok(Self {
            clock: Clock::new(engine.clone()),
            engine,
            grant,
            limits,
            slots: Slots::new(calls),
            stopping: Arc::default(),
            on_demand,
        })
    }

    /// Loads an embedded component and links what it imports, if all of it is granted.
    pub(crate) fn load(&self, component: Embedded) -> wasmtime::Result<InstancePre<State>> {
        let component = embedded::load(&self.engine, component)?;
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

    /// Whether it shows only when an instance is made that there is room for it.
    pub(super) fn is_on_demand(&self) -> bool {
        self.on_demand
    }

    /// Keeps the clock going by which calls are stopped, until it is dropped.
    pub(crate) fn keep_time(&self) -> Ticking<'_> {
        self.clock.run()
    }

    /// Stops every call, now and from now on, and waits until they have ended
    /// or `patience` is over.
    pub(crate) fn stop(&self, patience: Duration) {
        self.stopping.store(true, Ordering::SeqCst);
        self.slots.wait_for_all(patience);
    }

    /// Does `work` in a store of its own, under every bound, and throws it away.
    pub(crate) fn enter<T>(
        &self,
        control: &Control,
        work: impl FnOnce(&mut Store<State>) -> wasmtime::Result<T>,
    ) -> Ended<T> {
        let _slot = self.slots.take();
        let mut table = ResourceTable::new();
        table.set_max_capacity(MAX_HANDLES);
        let state = State {
            wasi: None,
            table,
            confine: Confine::new(Arc::clone(&self.grant), Arc::clone(control.counters())),
            memory: Memory::new(self.limits.max_call_memory),
        };
        let mut store = Store::new(&self.engine, state);
        store.limiter(|state| &mut state.memory);
        store.set_epoch_deadline(1);
        let (watched, stopping) = (control.clone(), Arc::clone(&self.stopping));
        store.epoch_deadline_callback(move |_| {
            if stopping.load(Ordering::SeqCst) {
                watched.cancel();
            }
            Ok(match watched.check() {
                Some(_) => UpdateDeadline::Interrupt,
                None => UpdateDeadline::Continue(1),
            })
        });
        let result = work(&mut store);
        Ended {
            result,
            memory_ran_out: store.data().memory.ran_out(),
        }
    }
}
