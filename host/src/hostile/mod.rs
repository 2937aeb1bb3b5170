//! A component that wants out, let into a sandbox like any other: the same
//! engine, the same links, the same confinement, the same bounds. What it may
//! achieve stands in a table that names, for each attempt, what stops it.

mod expected;
mod world;

use std::fmt;

use wasmtime::component::InstancePre;

pub use crate::layer::Layer;
pub use expected::{EXPECTED, Ends, Expected};
#[cfg(any(test, fuzzing))]
pub(crate) use world::make_pipe;
pub use world::{MARKER, World};

use self::bindings::exports::preopen::hostile::attempts::Outcome;
use crate::root::Root;
use crate::sandbox::{Chamber, Control, Interruption, SandboxError, Source, State};

#[allow(missing_docs, unreachable_pub, clippy::all)]
mod bindings {
    wasmtime::component::bindgen!({
        path: "../tests/hostile/wit",
        world: "hostile",
    });
}

/// One thing the component tries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attempt {
    /// Its name.
    pub name: String,
    /// What is tried, in a line.
    pub what: String,
}

/// How an attempt ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    /// The host said no; with the names of the errors.
    Refused(String),
    /// It got something it must not have.
    Got(String),
    /// What it was given is of no use to it.
    Harmless(String),
    /// It ran past its time.
    TimedOut,
    /// It asked for more memory than it may have.
    OutOfMemory,
    /// It did what ends an instance: overran its stack, exited, panicked.
    Trapped,
}

impl fmt::Display for Ending {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(codes) => write!(formatter, "refused: {codes}"),
            Self::Got(what) => write!(formatter, "GOT {what}"),
            Self::Harmless(what) => write!(formatter, "{what}"),
            Self::TimedOut => formatter.write_str("stopped: out of time"),
            Self::OutOfMemory => formatter.write_str("stopped: out of memory"),
            Self::Trapped => formatter.write_str("stopped: its instance ended"),
        }
    }
}

/// The hostile component, ready to be let in.
pub struct Hostile {
    chamber: Chamber,
    component: bindings::HostilePre<State>,
}

impl Hostile {
    /// Loads it for `root`.
    ///
    /// # Errors
    /// When the sandbox does not start here.
    pub fn new(root: &Root) -> Result<Self, SandboxError> {
        let chamber = Chamber::new(root.grant.clone(), root.limits.clone(), 1)?;
        let component = chamber
            .load(Source::Hostile)
            .and_then(|component: InstancePre<State>| bindings::HostilePre::new(component))
            .map_err(SandboxError::Component)?;
        Ok(Self { chamber, component })
    }

    /// Everything it tries, in its order.
    ///
    /// # Errors
    /// When the component fails to say.
    pub fn attempts(&self) -> Result<Vec<Attempt>, SandboxError> {
        let control = Control::new(self.chamber.limits().call_timeout, None);
        let listed = self.chamber.enter(&control, |store| {
            let component = self.component.instantiate(&mut *store)?;
            component.preopen_hostile_attempts().call_all(store)
        });
        let attempts = listed.result.map_err(SandboxError::Component)?;
        Ok(attempts
            .into_iter()
            .map(|attempt| Attempt {
                name: attempt.name,
                what: attempt.what,
            })
            .collect())
    }

    /// Lets it make one attempt, in an instance of its own.
    #[must_use]
    pub fn run(&self, name: &str) -> Ending {
        let _ticking = self.chamber.keep_time();
        let control = Control::new(self.chamber.limits().call_timeout, None);
        let ended = self.chamber.enter(&control, |store| {
            let component = self.component.instantiate(&mut *store)?;
            component.preopen_hostile_attempts().call_run(store, name)
        });
        if ended.result.is_err() {
            // It may have been stopped in the middle of a host call.
            control.check();
        }
        match ended.result {
            Ok(Outcome::Refused(codes)) => Ending::Refused(codes),
            Ok(Outcome::Got(what)) => Ending::Got(what),
            Ok(Outcome::Harmless(what)) => Ending::Harmless(what),
            Err(_) if control.interruption() == Some(Interruption::TimedOut) => Ending::TimedOut,
            Err(_) if ended.memory_ran_out => Ending::OutOfMemory,
            Err(_) => Ending::Trapped,
        }
    }
}

#[cfg(test)]
mod tests;
