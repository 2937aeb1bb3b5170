//! What both sides of preopen-mcp agree on: the path contract, the policy of
//! globs, every limit, and the protocol as a machine without I/O.
//!
//! Nothing here opens a file, reads a clock or knows what a component is, so
//! the native host and the component drive the very same code.

#![forbid(unsafe_code)]

pub mod about;
pub mod entries;
pub mod flags;
pub mod framing;
pub mod hash;
pub mod json;
pub mod limits;
pub mod path;
pub mod policy;
pub mod quoted;
pub mod session;
