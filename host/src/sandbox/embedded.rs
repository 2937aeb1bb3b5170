//! Machine code of components, and where it comes from: what the build left in
//! the program, and what the compiler made of a component of others. The only
//! unsafe code of the project.

#![allow(unsafe_code)]

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
use std::ptr::NonNull;
use std::sync::Arc;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
use std::sync::atomic::{AtomicBool, Ordering};

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
use rustix::io::Errno;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
use rustix::mm::{MprotectFlags, mprotect};
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
use thiserror::Error;
use wasmtime::component::Component;
use wasmtime::{CustomCodeMemory, Engine};

use crate::component;

/// The portable component.
pub(crate) static COMPONENT: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/guest.wasm"));

/// The same, compiled for this machine's kind of processor.
static GUEST: Embedded = Embedded::new(GUEST_CODE);
static GUEST_CODE: &Pages<[u8]> = &Pages(*include_bytes!(concat!(env!("OUT_DIR"), "/guest.cwasm")));

/// The component that tries to get out.
static HOSTILE: Embedded = Embedded::new(HOSTILE_CODE);
static HOSTILE_CODE: &Pages<[u8]> =
    &Pages(*include_bytes!(concat!(env!("OUT_DIR"), "/hostile.cwasm")));

/// Embedded code, and whether an engine has it where it lies.
struct Embedded {
    pages: &'static Pages<[u8]>,
    #[cfg(all(target_os = "linux", target_arch = "x86_64"))]
    taken: AtomicBool,
}

impl Embedded {
    const fn new(pages: &'static Pages<[u8]>) -> Self {
        Self {
            pages,
            #[cfg(all(target_os = "linux", target_arch = "x86_64"))]
            taken: AtomicBool::new(false),
        }
    }
}

/// Bytes that have their pages of memory for themselves.
#[repr(C, align(4096))]
struct Pages<T: ?Sized>(T);

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

/// Loads what is embedded: run where it lies, if possible, and copied elsewhere.
fn embedded(engine: &Engine, code: &'static Embedded) -> wasmtime::Result<Component> {
    // The engines of one process tell code apart by where it is, so one of them
    // gets the original.
    #[cfg(all(target_os = "linux", target_arch = "x86_64"))]
    if !code.taken.swap(true, Ordering::Relaxed) {
        // SAFETY: what holds of the bytes for `deserialize` below does here;
        // beyond that `deserialize_raw` asks that they stay where they are and
        // are never written to: they are an immutable static.
        return unsafe { Component::deserialize_raw(engine, NonNull::from(&code.pages.0)) };
    }
    // SAFETY: see `load`.
    unsafe { Component::deserialize(engine, &code.pages.0) }
}

/// How code is made executable, where that is not left to the engine: it would
/// copy what is embedded first.
pub(super) fn executable() -> Option<Arc<dyn CustomCodeMemory>> {
    #[cfg(all(target_os = "linux", target_arch = "x86_64"))]
    return Some(Arc::new(InPlace));
    #[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
    return None;
}

/// Another program's rule, such as PR_SET_MDWE (prctl(2)), is in the way.
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
#[derive(Debug, Error)]
#[error(
    "the system does not allow it to make code executable; allow that (MemoryDenyWriteExecute= of systemd, execmem of SELinux)"
)]
struct Forbidden;

/// Makes code executable in the place where it is.
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
struct InPlace;

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
impl CustomCodeMemory for InPlace {
    fn required_alignment(&self) -> usize {
        align_of::<Pages<u8>>()
    }

    fn publish_executable(&self, code: *const u8, length: usize) -> wasmtime::Result<()> {
        let rights = MprotectFlags::READ | MprotectFlags::EXEC;
        // SAFETY: the engine hands over whole pages that hold code it loaded,
        // either its own or those of `Pages`, which hold nothing else. They
        // stay readable, nobody writes to them any more, and nothing but the
        // engine jumps there.
        match unsafe { mprotect(code.cast_mut().cast(), length, rights) } {
            Err(Errno::ACCESS) => Err(Forbidden.into()),
            result => Ok(result?),
        }
    }

    /// What is embedded may be in use by another engine, and has no secrets;
    /// what an engine owns is unmapped after this.
    fn unpublish_executable(&self, _: *const u8, _: usize) -> wasmtime::Result<()> {
        Ok(())
    }
}

/// Loads a component. The engine checks that the code was made by the same
/// version under the same settings, for a processor like this one.
pub(super) fn load(engine: &Engine, source: Source<'_>) -> wasmtime::Result<Component> {
    let code = match source {
        Source::Guest => return embedded(engine, &GUEST),
        Source::Hostile => return embedded(engine, &HOSTILE),
        Source::Own(component) => component.code(),
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
