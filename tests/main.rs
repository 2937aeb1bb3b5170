//! End to end: the real binary over real pipes, toolset core, protocol
//! 2026-07-28. The modules are named after what they hold the product to.

#![allow(clippy::unwrap_used)]

mod harness;

mod backlog;
mod cli;
mod cursors;
mod escape;
mod framing;
mod ids;
mod leaks;
mod lifecycle;
mod limits;
mod lockdown_session;
mod modern;
mod ordering;
mod policy;
mod progress;
mod races;
mod refusals;
mod regressions;
mod slow_disk;
mod temporaries;
mod tools_read;
mod tools_write;
mod write_attributes;
mod write_conditions;
mod write_interrupted;
