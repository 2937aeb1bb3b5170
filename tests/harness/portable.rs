//! Whether the servers of this run are the component on its own, and how such
//! a one is started: by a host that grants it the root and knows nothing else.

use std::env;
use std::ffi::OsString;
use std::path::Path;
use std::process::Command;

/// Names the host in the environment of a run: the wasmtime command line.
pub(crate) const HOST: &str = "PREOPEN_MCP_TEST_HOST";
/// Names the component, compiled for that host.
pub(crate) const COMPONENT: &str = "PREOPEN_MCP_TEST_COMPONENT";

/// A host for the component, and the component.
pub(super) struct Portable {
    pub(super) host: OsString,
    component: OsString,
}

impl Portable {
    /// What this run is told to start; nothing where it is the program itself.
    pub(super) fn get() -> Option<Self> {
        Some(Self {
            host: env::var_os(HOST)?,
            component: env::var_os(COMPONENT)?,
        })
    }

    /// Has `host` start the component with `root` as its only directory; the
    /// component's own arguments follow.
    pub(super) fn start(&self, host: &mut Command, root: &Path) {
        let mut grant = root.as_os_str().to_owned();
        grant.push("::/");
        host.args(["run", "--allow-precompiled", "--dir"])
            .arg(grant)
            .arg(&self.component);
    }
}
