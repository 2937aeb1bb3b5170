//! Machine code of components, and where it comes from: what the build left in
//! the program, and what the compiler made of a component of others. The only
//! unsafe code of the project.

#![allow(unsafe_code)]

use wasmtime::Engine;
use wasmtime::component::Component;

use crate::component;

/// The portable component.
pub(crate) static COMPONENT: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/guest.wasm"));

/// The same, compiled for this machine's kind of processor.
static GUEST: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/guest.cwasm"));

/// The component that tries to get out.
static HOSTILE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/hostile.cwasm"));

/// Components that each import one thing, by name: for the tests.
#[cfg(test)]
pub(super) static IMPORTS: &[(&str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/imports.rs"));

/// Where a component's code comes from.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Source<'a> {
    /// The tools.
    Guest,
    /// Tools of others.
    Own(&'a component::Component),
    /// The one that tries to get out.
    Hostile,
    /// The one of [`IMPORTS`] at this place.
    #[cfg(test)]
    Import(usize),
}

/// Loads a component. The engine checks that the code was made by the same
/// version under the same settings, for a processor like this one.
pub(super) fn load(engine: &Engine, source: Source<'_>) -> wasmtime::Result<Component> {
    let code = match source {
        Source::Guest => GUEST,
        Source::Own(component) => component.code(),
        Source::Hostile => HOSTILE,
        #[cfg(test)]
        Source::Import(at) => IMPORTS[at].1,
    };
    // SAFETY: `deserialize` runs what it is given, so the bytes must come from
    // `Engine::precompile_component` and be unchanged. What is embedded was
    // written by this package's own build script with that function and is part
    // of the executable: nobody can change it who could not change the program.
    // The code of a `component::Component` was made with that function in this
    // process, or in an earlier one of the same user, who alone can write to the
    // file it was kept in; `component::cache` sees to that, and that the file is
    // whole. Nobody can change it who could not change the user's programs.
    unsafe { Component::deserialize(engine, code) }
}
