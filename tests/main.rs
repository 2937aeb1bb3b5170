//! End to end: the real binary over real pipes, toolset core, protocol
//! 2026-07-28. The modules are named after what they hold the product to.

#![allow(clippy::unwrap_used)]

pub(crate) mod harness;

mod alike;
mod alone;
mod audit;
mod audit_kept;
mod backlog;
mod batches;
mod cancelling;
mod check;
mod cli;
mod cursors;
mod demo;
mod disk_full;
mod escape;
mod faults;
pub(crate) mod framing;
mod ids;
mod leaks;
pub(crate) mod legacy;
mod lifecycle;
mod limits;
mod lockdown_session;
mod modern;
mod ordering;
mod policy;
mod portable;
mod progress;
mod pruned;
mod races;
mod refusals;
mod regressions;
mod scheduling;
mod shared_key;
mod shortage;
mod slow_disk;
mod soak;
mod temporaries;
pub(crate) mod tools_read;
pub(crate) mod tools_write;
mod turns;
mod workspace_changing;
mod workspace_content;
mod workspace_delete;
mod workspace_large;
mod workspace_list;
mod workspace_races;
mod workspace_read;
pub(crate) mod workspace_search;
mod workspace_skipped;
mod workspace_start;
mod workspace_texts;
mod workspace_write;
mod write_attributes;
mod write_conditions;
mod write_interrupted;

/// Nothing: this run is on the kernel that is there.
#[allow(dead_code, reason = "old_kernel.rs includes this file and has its own")]
fn age() {}
