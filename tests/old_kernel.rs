//! The end-to-end tests once more, as on a Linux before 5.6: without openat2,
//! so that paths are resolved name by name. A filter takes the call away from
//! this process and from every server it starts.

#![allow(clippy::unwrap_used)]
#![cfg(target_os = "linux")]

#[path = "main.rs"]
mod end_to_end;

use std::sync::Once;

use rustix::fs::{CWD, Mode, OFlags, ResolveFlags};
use seccompiler::{BpfProgram, SeccompAction, SeccompFilter, TargetArch};

use end_to_end::{framing, harness, legacy, tools_read, tools_write, workspace_search};

/// Takes the call away, once and for good.
fn age() {
    static AGED: Once = Once::new();
    AGED.call_once(|| {
        let missing = SeccompAction::Errno(libc::ENOSYS.unsigned_abs());
        let rules = [(libc::SYS_openat2, vec![])].into();
        let arch: TargetArch = std::env::consts::ARCH.try_into().unwrap();
        let filter = SeccompFilter::new(rules, SeccompAction::Allow, missing, arch).unwrap();
        let program: BpfProgram = filter.try_into().unwrap();
        seccompiler::apply_filter_all_threads(&program).unwrap();
    });
}

#[test]
fn the_call_is_gone() {
    age();
    let opened = rustix::fs::openat2(CWD, ".", OFlags::PATH, Mode::empty(), ResolveFlags::BENEATH);
    assert_eq!(opened.unwrap_err(), rustix::io::Errno::NOSYS);
}
