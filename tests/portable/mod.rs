//! The component on its own: what its file imports and exports, and what holds
//! of it beside what the other tests hold it to (see portable_suite.rs).

mod file;
mod session;
pub(crate) mod skipped;
mod start;
pub(crate) mod wasmtime;

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::OnceLock;

use crate::harness::portable::Portable;
use skipped::SKIPPED;

/// A host for the component, and the component compiled for it; says so for the
/// test that needs one where there is none.
fn host(test: &str) -> Option<Portable> {
    static CODE: OnceLock<PathBuf> = OnceLock::new();
    let host = wasmtime::find(test)?;
    let component = CODE.get_or_init(|| wasmtime::compile(&host, &wasmtime::component("portable")));
    Some(Portable {
        host: host.into(),
        component: OsString::from(component),
    })
}

#[test]
fn the_manual_gives_every_reason_for_which_a_test_is_left_out() {
    let manual = include_str!("../../docs/portability.md");
    for (reason, tests) in SKIPPED {
        assert!(manual.contains(&format!("**{reason}.**")), "{reason}");
        for test in *tests {
            let name = format!("`{}`", test.trim_end_matches("::"));
            assert!(manual.contains(&name), "{name}");
        }
    }
}
