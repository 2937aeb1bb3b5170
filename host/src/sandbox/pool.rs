//! The engine with room for a number of instances prepared in advance, and who
//! waits for one. Room is address space, not memory: what an instance does not
//! touch costs nothing.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use preopen_contract::limits::Limits;
use wasmtime::{Config, Enabled, Engine, InstanceAllocationStrategy, PoolingAllocationConfig};

use super::{embedded, parked};
use crate::engine;
use crate::shortage::Shortage;

/// Core modules, memories and tables a component may consist of; ours has one
/// module of its own and small ones around it.
const PER_COMPONENT: u32 = 8;

/// Memory that an instance's slot keeps between calls, in bytes: the stack, the
/// data and the heap of a short call, so that it need not be handed back to the
/// system and taken again.
const KEEP: usize = 1 << 20;

/// An engine and how many instances it has room for.
pub(super) struct Room {
    pub(super) engine: Engine,
    pub(super) calls: usize,
    /// Instances beside those of calls, for traversals that go on.
    pub(super) kept: usize,
    /// Nothing is set aside: whether an instance fits shows when one is made.
    pub(super) on_demand: bool,
}

/// Room for `calls` instances and some that are kept or, where the address space is too small for
/// that, for one: set aside if possible, else taken for every call anew.
pub(super) fn engine(calls: usize, limits: &Limits) -> Result<Room, Shortage> {
    for (calls, kept) in [(calls, parked::PLACES), (calls, 0), (1, 0)] {
        let mut config = config();
        let pool = pool(calls + kept, limits);
        config.allocation_strategy(InstanceAllocationStrategy::Pooling(pool));
        match Engine::new(&config) {
            Ok(engine) => {
                return Ok(Room {
                    engine,
                    calls,
                    kept,
                    on_demand: false,
                });
            }
            Err(error) => {
                crate::diagnostics::report(&format_args!("no room for {calls} calls: {error:#}"));
            }
        }
    }
    let mut config = config();
    config.allocation_strategy(InstanceAllocationStrategy::OnDemand);
    Engine::new(&config)
        .map(|engine| Room {
            engine,
            calls: 1,
            kept: 0,
            on_demand: true,
        })
        .map_err(|error| Shortage::behind(&error).unwrap_or(Shortage::AddressSpace))
}

/// The engine's settings, with what does not concern the compiler.
fn config() -> Config {
    let mut config = engine::config();
    config.with_custom_code_memory(embedded::executable());
    config
}

fn pool(instances: usize, limits: &Limits) -> PoolingAllocationConfig {
    let instances = u32::try_from(instances).unwrap_or(u32::MAX);
    let parts = instances.saturating_mul(PER_COMPONENT);
    let mut pool = PoolingAllocationConfig::default();
    pool.total_component_instances(instances)
        .total_core_instances(parts)
        .total_memories(instances)
        .total_tables(parts)
        .max_memories_per_component(1)
        .max_tables_per_component(PER_COMPONENT)
        .max_core_instances_per_component(PER_COMPONENT)
        // Calls are made on the stacks of threads; none is set aside for others.
        .total_stacks(1)
        .max_memory_size(usize::try_from(limits.max_call_memory).unwrap_or(usize::MAX))
        .linear_memory_keep_resident(KEEP)
        .table_keep_resident(KEEP)
        // Where the kernel can say which pages were written (Linux 6.7), only
        // those are cleared.
        .pagemap_scan(Enabled::Auto)
        .max_unused_warm_slots(instances);
    pool
}

/// Who may have an instance now.
pub(super) struct Slots {
    count: usize,
    state: Mutex<Free>,
    freed: Condvar,
}

struct Free {
    slots: usize,
    /// How many wait for one.
    waiting: usize,
    /// How many wait until nobody has any.
    watching: usize,
}

/// The right to one instance.
pub(super) struct Slot(Arc<Slots>);

impl Slots {
    pub(super) fn new(count: usize) -> Arc<Self> {
        Arc::new(Self {
            count,
            state: Mutex::new(Free {
                slots: count,
                waiting: 0,
                watching: 0,
            }),
            freed: Condvar::new(),
        })
    }

    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// Waits until an instance may be had.
    pub(super) fn take(self: &Arc<Self>) -> Slot {
        let mut state = self.lock();
        state.waiting += 1;
        let mut state = self
            .freed
            .wait_while(state, |state| state.slots == 0)
            .unwrap_or_else(PoisonError::into_inner);
        state.waiting -= 1;
        state.slots -= 1;
        Slot(Arc::clone(self))
    }

    /// An instance that nobody waits for, if there is one.
    pub(super) fn spare(self: &Arc<Self>) -> Option<Slot> {
        let mut state = self.lock();
        (state.slots > state.waiting).then(|| {
            state.slots -= 1;
            Slot(Arc::clone(self))
        })
    }

    /// Waits until nobody has an instance, but no longer than `patience`.
    pub(super) fn wait_for_all(&self, patience: Duration) {
        let mut state = self.lock();
        state.watching += 1;
        let (mut state, _) = self
            .freed
            .wait_timeout_while(state, patience, |state| state.slots < self.count)
            .unwrap_or_else(PoisonError::into_inner);
        state.watching -= 1;
    }

    fn lock(&self) -> MutexGuard<'_, Free> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        state.slots += 1;
        // To wake up nobody is a system call as well.
        if state.waiting + state.watching > 0 {
            drop(state);
            self.0.freed.notify_all();
        }
    }
}
