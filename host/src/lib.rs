//! A filesystem MCP server whose confinement is structural.
//!
//! A [`Root`] is one directory, opened and pinned. A [`Server`] grants it, and
//! nothing else, to a WebAssembly component that implements the tools, in a
//! fresh instance for every call. Below the tools, every path the component
//! uses is judged by the policy and resolved by the kernel without following a
//! link.
//!
//! A request flows `serve` (lines, order) → `sandbox` (an instance) →
//! `confine` (files), and its answer flows back.

#![deny(unsafe_code)]

#[cfg(not(any(target_os = "linux", target_os = "macos")))]
compile_error!("preopen-mcp is for Linux and macOS");

mod audit;
mod component;
mod confine;
mod engine;
mod hasher;
mod layer;
mod lockdown;
mod root;
mod sandbox;
mod serve;
mod server;
mod shortage;

pub mod diagnostics;
#[cfg(fuzzing)]
#[doc(hidden)]
pub mod fuzzing;
pub mod hostile;
pub mod process;

pub use audit::{Audit, AuditError};
pub use component::{Component, ComponentError};
pub use lockdown::{Held, Lockdown, LockdownError};
pub use preopen_contract::session::{PROTOCOL_VERSION, Protocol};
pub use preopen_contract::{limits, path, policy};
pub use root::{ContentHash, MIN_CURSOR_KEY_BYTES, Options, Root, RootError, Toolset, WriteMode};
pub use sandbox::SandboxError;
pub use server::{Server, ServerError};
pub use shortage::Shortage;

/// The portable component: the file that `preopen-mcp guest` writes.
#[must_use]
pub fn component() -> &'static [u8] {
    sandbox::COMPONENT
}
