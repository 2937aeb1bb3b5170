//! How a component is built, so that it comes out the same to the byte wherever
//! that is done: shared by the build script and the test that holds it to it.
//! It knows neither what the component is for nor what becomes of it.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What components are built for.
pub(crate) const TARGET: &str = "wasm32-wasip2";

/// SIMD, and a stack that is small enough for an instance's slot to keep.
const FLAGS: [&str; 2] = [
    "-Ctarget-feature=+simd128",
    "-Clink-arg=-zstack-size=262144",
];

/// Where cargo keeps what it has downloaded.
pub(crate) fn home() -> PathBuf {
    let named = env::var_os("CARGO_HOME").map(PathBuf::from);
    named.unwrap_or_else(|| env::home_dir().unwrap_or_default().join(".cargo"))
}

/// A cargo run that builds the component `package` of `workspace` below
/// `target`, of what is in `home`; [`built`] is the file it leaves.
pub(crate) fn component(workspace: &Path, home: &Path, package: &str, target: &Path) -> Command {
    let mut flags: Vec<String> = FLAGS.map(String::from).to_vec();
    for (from, to) in renamed(workspace, home) {
        flags.push(format!("--remap-path-prefix={}={to}", from.display()));
    }
    let mut command = cargo(workspace, package, "component", target);
    command
        .args(["--target", TARGET, "--crate-type", "cdylib"])
        .env("CARGO_HOME", home)
        // The one form in which a flag may hold a space.
        .env("CARGO_ENCODED_RUSTFLAGS", flags.join("\x1f"));
    command
}

/// The component that a run of [`component`] leaves.
pub(crate) fn built(package: &str, target: &Path) -> PathBuf {
    let file = format!("{}.wasm", package.replace('-', "_"));
    target.join(TARGET).join("component").join(file)
}

/// A cargo run that inherits nothing of this one: neither its target directory
/// (two runs on one would wait for each other forever) nor flags or wrappers.
pub(crate) fn cargo(workspace: &Path, package: &str, profile: &str, target: &Path) -> Command {
    let mut command = Command::new(env::var("CARGO").unwrap_or_else(|_| "cargo".into()));
    for (name, _) in env::vars_os() {
        let text = name.to_string_lossy();
        let own = (text.starts_with("CARGO") && text != "CARGO_HOME")
            || (text.starts_with("RUST") && !text.starts_with("RUSTUP"));
        if own {
            command.env_remove(&name);
        }
    }
    command
        .args(["rustc", "--locked"])
        .args(["--package", package, "--profile", profile, "--target-dir"])
        .arg(target)
        .current_dir(workspace);
    command
}

/// The folders whose names panic messages would carry into the component, and
/// what stands there instead: the sources, those of other packages, and the
/// standard library's where they are installed.
fn renamed(workspace: &Path, home: &Path) -> Vec<(PathBuf, String)> {
    let mut renamed = vec![(workspace.to_owned(), ".".to_owned())];
    let registries = std::fs::read_dir(home.join("registry/src"));
    for registry in registries.into_iter().flatten().flatten() {
        renamed.push((registry.path(), "registry".to_owned()));
    }
    let sysroot = ask(workspace, &["--print", "sysroot"]);
    let version = ask(workspace, &["--verbose", "--version"]);
    let commit = version
        .lines()
        .find_map(|line| line.strip_prefix("commit-hash: "));
    if let Some(commit) = commit {
        let library = Path::new(sysroot.trim()).join("lib/rustlib/src/rust");
        renamed.push((library, format!("/rustc/{commit}")));
    }
    renamed
}

/// What the compiler of `workspace` answers; nothing if it cannot be asked.
pub(crate) fn ask(workspace: &Path, question: &[&str]) -> String {
    let compiler = env::var("RUSTC").unwrap_or_else(|_| "rustc".into());
    let asked = Command::new(compiler)
        .args(question)
        .current_dir(workspace)
        .output();
    asked.map_or_else(
        |_| String::new(),
        |answer| String::from_utf8_lossy(&answer.stdout).into_owned(),
    )
}
