//! Where the components come from: built by cargo, once a run, or put together
//! from bytes. None of them is part of the product.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use crate::harness::Root;

const TARGET: &str = "wasm32-wasip2";

/// A directory that stays between runs.
pub(crate) fn scratch() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("components")
}

/// The component of `examples/custom-tool`, built as its README says.
pub(crate) fn count_words() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| {
        let mut build = cargo("examples/custom-tool");
        build.args(["build", "--release"]);
        ready(run(build).join("release/count_words.wasm"))
    })
}

/// The component of `tests/contrary`.
pub(crate) fn contrary() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| {
        let mut build = cargo("tests/contrary");
        build.args(["rustc", "--release", "--crate-type", "cdylib"]);
        ready(run(build).join("release/preopen_contrary.wasm"))
    })
}

/// A cargo run below the repository that inherits nothing of the one that runs
/// these tests but where its home is.
fn cargo(directory: &str) -> Command {
    let mut command = Command::new(env!("CARGO"));
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        let own = (text.starts_with("CARGO") && text != "CARGO_HOME")
            || (text.starts_with("RUST") && !text.starts_with("RUSTUP"));
        if own {
            command.env_remove(&name);
        }
    }
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    command.current_dir(repository.join(directory));
    command
}

/// Runs `build` into the directory that stays, and returns where the target's
/// results are.
fn run(mut build: Command) -> PathBuf {
    let directory = scratch().join("target");
    build
        .args(["--locked", "--target", TARGET, "--target-dir"])
        .arg(&directory);
    let status = build.status().expect("cargo runs");
    assert!(status.success(), "{build:?}: {status}");
    directory.join(TARGET)
}

/// Serves `component` once, so that its code is in the cache: the first time
/// takes as long as the machine takes, and no test waits that long.
fn ready(component: PathBuf) -> PathBuf {
    let root = Root::new();
    let mut serve = Command::new(env!("CARGO_BIN_EXE_preopen-mcp"));
    serve
        .env("XDG_CACHE_HOME", scratch().join("cache"))
        .arg("--root")
        .arg(root.path())
        .args(["--include", "**", "--component"])
        .arg(&component);
    let served = serve.stdin(Stdio::null()).output().expect("it starts");
    assert!(served.status.success(), "{served:?}");
    component
}

/// A component that imports an instance of this name, with nothing in it.
pub(crate) fn importing(name: &str) -> Vec<u8> {
    let mut import = vec![1, 0, name.len() as u8];
    import.extend(name.as_bytes());
    import.extend([5, 0]);
    component(&[(7, &[1, 0x42, 0]), (10, &import)])
}

/// A component that exports an instance of this name, with nothing in it.
pub(crate) fn exporting(name: &str) -> Vec<u8> {
    let mut export = vec![1, 0, name.len() as u8];
    export.extend(name.as_bytes());
    export.extend([5, 0, 0]);
    component(&[(5, &[1, 1, 0]), (11, &export)])
}

/// A component that exports the tools as functions that take and return nothing.
pub(crate) fn exporting_other_functions() -> Vec<u8> {
    // A type, a function of it, its export as `f`, and its body: nothing.
    let mut module = b"\0asm\x01\0\0\0".to_vec();
    module.extend([1, 4, 1, 0x60, 0, 0, 3, 2, 1, 0, 7, 5, 1, 1, b'f', 0, 0]);
    module.extend([10, 4, 1, 2, 0, 0x0b]);
    let mut instance = vec![1, 1, 2];
    for name in ["list-tools", "call-tool"] {
        instance.extend([0, name.len() as u8]);
        instance.extend(name.as_bytes());
        instance.extend([1, 0]);
    }
    let name = "preopen:mcp/tools@0.1.0";
    let mut export = vec![1, 0, name.len() as u8];
    export.extend(name.as_bytes());
    export.extend([5, 0, 0]);
    component(&[
        (1, &module),
        (2, &[1, 0, 0, 0]),
        (6, &[1, 0, 0, 1, 0, 1, b'f']),
        (7, &[1, 0x40, 0, 1, 0]),
        (8, &[1, 0, 0, 0, 0, 0]),
        (5, &instance),
        (11, &export),
    ])
}

/// A component of these sections, by their numbers.
pub(crate) fn component(sections: &[(u8, &[u8])]) -> Vec<u8> {
    let mut bytes = b"\0asm\x0d\0\x01\0".to_vec();
    for (number, content) in sections {
        bytes.extend([*number, content.len() as u8]);
        bytes.extend(*content);
    }
    bytes
}
