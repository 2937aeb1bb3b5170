//! A clock that can be read and not waited on. A wait would happen in the host,
//! where a call's time does not reach it, so whoever asks for one is stopped.

use std::sync::LazyLock;
use std::time::{Duration, Instant};

use wasmtime::component::{HasData, Resource};
use wasmtime::format_err;
use wasmtime_wasi::p2::DynPollable;
use wasmtime_wasi::p2::bindings::clocks::monotonic_clock::Host;

/// Where this process began to count.
static START: LazyLock<Instant> = LazyLock::new(Instant::now);

fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

fn refused() -> wasmtime::Error {
    format_err!("waiting is not granted")
}

/// The clock of every instance.
pub(super) struct Watch;

impl HasData for Watch {
    type Data<'a> = Self;
}

impl Host for Watch {
    fn now(&mut self) -> wasmtime::Result<u64> {
        Ok(nanoseconds(START.elapsed()))
    }

    fn resolution(&mut self) -> wasmtime::Result<u64> {
        Ok(1)
    }

    fn subscribe_instant(&mut self, _: u64) -> wasmtime::Result<Resource<DynPollable>> {
        Err(refused())
    }

    fn subscribe_duration(&mut self, _: u64) -> wasmtime::Result<Resource<DynPollable>> {
        Err(refused())
    }
}
