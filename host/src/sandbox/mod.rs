//! The sandbox: one engine, one component, and a fresh instance for every
//! call, which gets a directory, four kinds of bounds and nothing else. It
//! knows what a tool call is, and neither the protocol nor what tools there are.

mod bounds;
mod clock;
mod embedded;
mod link;
mod pool;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use preopen_contract::limits::Limits;
use preopen_contract::session::{Outcome, ToolResult};
use thiserror::Error;
use wasmtime::component::{Linker, ResourceTable};
use wasmtime::{Engine, Store, UpdateDeadline};
use wasmtime_wasi::{WasiCtx, WasiCtxView, WasiView};

use self::bindings::exports::preopen::mcp::tools::{self, CallError, Settings, Toolset};
use self::bounds::Interruption;
use self::bounds::Memory;
pub(crate) use self::bounds::{Control, Listener};
use self::clock::Clock;
use self::pool::{Room, Slots};
use crate::confine::{Confine, Grant, View};
use crate::root::{Root, WriteMode};

pub(crate) use embedded::COMPONENT;

#[allow(missing_docs, unreachable_pub, clippy::all)]
mod bindings {
    wasmtime::component::bindgen!({
        path: "../wit",
        world: "guest",
    });
}

/// The most handles an instance may hold; the tools need one a directory level.
const MAX_HANDLES: usize = 4096;

/// Address space that must be left beside an instance, in bytes, where it is
/// scarce: stacks and heaps of the threads, and what calls bring along.
const HEADROOM: usize = 512 << 20;

/// Why the sandbox does not start.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SandboxError {
    /// Not even a single instance fits.
    #[error("not enough address space for one call; raise the limit (ulimit -v) to at least 5 GiB")]
    AddressSpace,
    /// The embedded code does not fit this engine or processor.
    #[error("the embedded component does not run on this machine: {0}")]
    Component(wasmtime::Error),
}

/// What the engine keeps for one instance.
struct State {
    wasi: WasiCtx,
    table: ResourceTable,
    confine: Confine,
    memory: Memory,
}

impl WasiView for State {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        WasiCtxView {
            ctx: &mut self.wasi,
            table: &mut self.table,
        }
    }
}

impl State {
    fn files(&mut self) -> View<'_> {
        View {
            confine: &mut self.confine,
            table: &mut self.table,
        }
    }
}

/// The component, ready to be instantiated.
pub(crate) struct Sandbox {
    engine: Engine,
    component: bindings::GuestPre<State>,
    grant: Arc<Grant>,
    settings: Settings,
    limits: Limits,
    slots: Slots,
    clock: Clock,
    stopping: Arc<AtomicBool>,
}

impl Sandbox {
    /// Loads the component for `calls` calls at a time, fewer where the
    /// address space has no room for that many.
    pub(crate) fn new(root: &Root, calls: usize) -> Result<Self, SandboxError> {
        let Room {
            engine,
            calls,
            on_demand,
        } = pool::engine(calls, &root.limits)?;
        let component = embedded::load(&engine).map_err(SandboxError::Component)?;
        let mut linker = Linker::new(&engine);
        link::imports(&mut linker, &component, &engine).map_err(SandboxError::Component)?;
        let component = linker
            .instantiate_pre(&component)
            .and_then(bindings::GuestPre::new)
            .map_err(SandboxError::Component)?;
        let sandbox = Self {
            clock: Clock::new(engine.clone()),
            engine,
            component,
            grant: Arc::clone(&root.grant),
            settings: settings(root),
            limits: root.limits.clone(),
            slots: Slots::new(calls),
            stopping: Arc::default(),
        };
        if on_demand {
            // Threads and answers need room beside the instance, later on.
            let mut headroom: Vec<u8> = Vec::new();
            let reserved = headroom.try_reserve_exact(HEADROOM);
            std::hint::black_box(&headroom);
            if reserved.is_err() || sandbox.list_tools().is_err() {
                return Err(SandboxError::AddressSpace);
            }
        }
        Ok(sandbox)
    }

    /// What every instance gets.
    pub(crate) fn grant(&self) -> &Grant {
        &self.grant
    }

    /// How many calls run at the same time.
    pub(crate) fn calls(&self) -> usize {
        self.slots.count()
    }

    /// The definitions of the tools served, a JSON array. No clock runs: this
    /// may be asked before the process has a second thread.
    pub(crate) fn list_tools(&self) -> wasmtime::Result<String> {
        let control = Control::new(self.limits.call_timeout, None);
        let (result, _) = self.run(&control, |tools, store| {
            tools.call_list_tools(store, &self.settings)
        });
        result
    }

    /// Runs one tool call in an instance of its own.
    pub(crate) fn call(&self, name: &str, arguments: &str, control: &Control) -> Outcome {
        let _ticking = self.clock.run();
        let (result, memory_ran_out) = self.run(control, |tools, store| {
            tools.call_call_tool(store, &self.settings, name, arguments)
        });
        match result {
            Ok(Ok(answer)) => Outcome::Result(ToolResult {
                structured: answer.structured,
                text: answer.text,
                is_error: answer.is_error,
            }),
            Ok(Err(CallError::UnknownTool)) => Outcome::UnknownTool(name.to_owned()),
            Ok(Err(CallError::NoRoot)) => Outcome::Internal,
            Err(_) if control.interruption() == Some(Interruption::TimedOut) => {
                self.past("call-timeout", "took longer than")
            }
            Err(_) if control.interruption() == Some(Interruption::Cancelled) => Outcome::Stopped,
            Err(_) if memory_ran_out => self.past("max-call-memory", "needed more memory than"),
            Err(error) => {
                crate::diagnostics::report(&format_args!("{name} was stopped: {error:#}"));
                Outcome::Internal
            }
        }
    }

    /// The refusal of a call that went past a limit.
    fn past(&self, flag: &str, what: &str) -> Outcome {
        let limit = self.limits.shown(flag);
        Outcome::Result(ToolResult::refusal(format!(
            "the call {what} {limit} and was stopped (--{flag}); ask for less at a time"
        )))
    }

    /// Stops every call, now and from now on, and waits until they have ended
    /// or `patience` is over.
    pub(crate) fn stop(&self, patience: Duration) {
        self.stopping.store(true, Ordering::SeqCst);
        self.slots.wait_for_all(patience);
    }

    /// Instantiates, runs `call`, and throws the instance away. Says whether
    /// the instance asked for more memory than it may have.
    fn run<T>(
        &self,
        control: &Control,
        call: impl FnOnce(&tools::Guest, &mut Store<State>) -> wasmtime::Result<T>,
    ) -> (wasmtime::Result<T>, bool) {
        let _slot = self.slots.take();
        let mut table = ResourceTable::new();
        table.set_max_capacity(MAX_HANDLES);
        let state = State {
            // Empty environment, no arguments, stdin at its end, stdout and
            // stderr to nowhere: that is what the library begins with.
            wasi: WasiCtx::builder().build(),
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
        let result = self
            .component
            .instantiate(&mut store)
            .and_then(|guest| call(guest.preopen_mcp_tools(), &mut store));
        (result, store.data().memory.ran_out())
    }
}

fn settings(root: &Root) -> Settings {
    let limits = &root.limits;
    Settings {
        toolset: Toolset::Core,
        only: root.tools.clone(),
        read_only: !root.grant.writable,
        write_mode: match root.write_mode {
            WriteMode::Replace => tools::WriteMode::Replace,
            WriteMode::CreateNew => tools::WriteMode::CreateNew,
        },
        limits: tools::Limits {
            max_file_bytes: limits.max_file_bytes,
            max_write_bytes: limits.max_write_bytes,
            max_result_bytes: limits.max_result_bytes,
            max_scan_bytes: limits.max_scan_bytes,
            max_entries: limits.max_entries,
            max_depth: limits.max_depth,
        },
        cursor_key: root.cursor_key.to_vec(),
        hash_key: root.hash_key.map(|key| key.to_vec()),
        root_writable: root.grant.policy.reaches_top_level(),
    }
}
