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
pub(crate) struct Portable {
    /// The wasmtime command line.
    pub(crate) host: OsString,
    /// The component, compiled for it.
    pub(crate) component: OsString,
}

impl Portable {
    /// What this run is told to start; nothing where it is the program itself.
    pub(super) fn get() -> Option<Self> {
        Some(Self {
            host: env::var_os(HOST)?,
            component: env::var_os(COMPONENT)?,
        })
    }

    /// Has `host` start the component with `root` as its only directory, and
    /// with these arguments of the program, as far as they are for a component.
    pub(super) fn start(&self, host: &mut Command, root: &Path, arguments: &[OsString]) {
        let mut own = Vec::new();
        // The tests run as users who have no place for a cache.
        host.args(["run", "-C", "cache=n", "--allow-precompiled"]);
        let mut arguments = arguments.iter();
        while let Some(argument) = arguments.next() {
            match argument.to_str() {
                // It does one thing at a time however many may be done.
                Some("--workers") => {
                    arguments.next();
                }
                // This one is the host's to keep to.
                Some("--max-call-memory") => {
                    let memory = arguments.next().and_then(|memory| memory.to_str());
                    let memory = bytes(memory.expect("an amount of memory"));
                    host.args(["-W", &format!("max-memory-size={memory}")]);
                }
                _ => own.push(argument),
            }
        }
        let mut grant = root.as_os_str().to_owned();
        grant.push("::/");
        host.arg("--dir").arg(grant).arg(&self.component).args(own);
    }
}

/// So many bytes as the program's own flags spell them.
fn bytes(text: &str) -> u64 {
    let (digits, scale) = match text.strip_suffix("MiB") {
        Some(digits) => (digits, 1 << 20),
        None => (text, 1),
    };
    digits.parse::<u64>().expect("a number") * scale
}
