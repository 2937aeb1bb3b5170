//! The component as the build left it: as it is, for other hosts, and as
//! machine code for this one. The only unsafe code of the project.

#![allow(unsafe_code)]

use wasmtime::Engine;
use wasmtime::component::Component;

/// The portable component.
pub(crate) static COMPONENT: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/guest.wasm"));

/// The same, compiled for this machine's kind of processor.
static GUEST: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/guest.cwasm"));

/// The component that tries to get out.
static HOSTILE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/hostile.cwasm"));

/// Components that each import one thing, by name: for the tests.
#[cfg(test)]
pub(super) static IMPORTS: &[(&str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/imports.rs"));

/// A component the build embedded.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Embedded {
    /// The tools.
    Guest,
    /// The one that tries to get out.
    Hostile,
    /// The one of [`IMPORTS`] at this place.
    #[cfg(test)]
    Import(usize),
}

/// Loads a component. The engine checks that the code was made by the same
/// version under the same settings, for a processor like this one.
pub(super) fn load(engine: &Engine, component: Embedded) -> wasmtime::Result<Component> {
    let code = match component {
        Embedded::Guest => GUEST,
        Embedded::Hostile => HOSTILE,
        #[cfg(test)]
        Embedded::Import(at) => IMPORTS[at].1,
    };
    // SAFETY: `deserialize` runs what it is given, so the bytes must come from
    // `Engine::precompile_component` and be unchanged. These were written by
    // this package's own build script with that function and are part of the
    // executable: nobody can change them who could not change the program.
    unsafe { Component::deserialize(engine, code) }
}
