//! End to end: the real binary over real pipes, toolset core, protocol
//! 2026-07-28. The modules are named after what they hold the product to.

#![allow(clippy::unwrap_used)]

mod harness;

mod cursors;
mod escape;
mod framing;
mod ids;
mod modern;
mod policy;
mod refusals;
mod temporaries;
mod tools_read;
mod tools_write;
