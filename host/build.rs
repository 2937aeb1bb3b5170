//! Builds the component for wasm32-wasip2, compiles it to machine code and
//! leaves both in OUT_DIR for the server to embed.
//!
//! Compiler and component are built by cargo runs of their own, in a target
//! directory that every profile shares: the compiler is the longest part of a
//! build, and this way it is built once.

use std::env;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};

const TARGET: &str = "wasm32-wasip2";

/// Everything the two results depend on, relative to the workspace.
const SOURCES: [&str; 8] = [
    "Cargo.toml",
    "Cargo.lock",
    "rust-toolchain.toml",
    "contract",
    "guest",
    "host/src/engine.rs",
    "precompile",
    "wit",
];

fn main() -> Result<(), Box<dyn Error>> {
    let out = PathBuf::from(env::var("OUT_DIR")?);
    let workspace = Path::new(&env::var("CARGO_MANIFEST_DIR")?).join("..");
    for source in SOURCES {
        println!(
            "cargo::rerun-if-changed={}",
            workspace.join(source).display()
        );
    }
    // OUT_DIR is TARGET/PROFILE/build/PACKAGE/out.
    let shared = out.ancestors().nth(4).unwrap_or(&out).join("component");

    add_target(&workspace)?;
    let mut guest = cargo(
        &workspace,
        "preopen-guest",
        "component",
        &shared.join("guest"),
    );
    guest
        .args(["--target", TARGET, "--crate-type", "cdylib"])
        .env("RUSTFLAGS", "-Ctarget-feature=+simd128");
    let mut compiler = cargo(
        &workspace,
        "preopen-precompile",
        "precompile",
        &shared.join("precompile"),
    );
    let (guest, compiler) = (start(&mut guest)?, start(&mut compiler)?);
    finish(guest, "building the component")?;
    finish(compiler, "building the compiler for the component")?;

    let component = shared.join(format!("guest/{TARGET}/component/preopen_guest.wasm"));
    std::fs::copy(&component, out.join("guest.wasm"))?;
    let compile = Command::new(shared.join("precompile/precompile/preopen-precompile"))
        .arg(&component)
        .arg(out.join("guest.cwasm"))
        .arg(env::var("TARGET")?)
        .spawn()?;
    finish(compile, "compiling the component")
}

/// Makes sure that the component's target is installed.
fn add_target(workspace: &Path) -> Result<(), Box<dyn Error>> {
    let rustc = env::var("RUSTC").unwrap_or_else(|_| "rustc".into());
    let library = Command::new(&rustc)
        .args(["--print", "target-libdir", "--target", TARGET])
        .output()?;
    let library = String::from_utf8(library.stdout)?;
    if Path::new(library.trim()).exists() {
        return Ok(());
    }
    let added = Command::new("rustup")
        .args(["target", "add", TARGET])
        .current_dir(workspace)
        .status();
    match added {
        Ok(status) if status.success() => Ok(()),
        _ => Err(format!("the target {TARGET} is missing; run this and build again:\n\n    rustup target add {TARGET}\n").into()),
    }
}

/// A cargo run that inherits nothing of this one: neither its target directory
/// (two runs on one would wait for each other forever) nor flags or wrappers.
fn cargo(workspace: &Path, package: &str, profile: &str, target: &Path) -> Command {
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
        .args([
            "rustc",
            "--locked",
            "--package",
            package,
            "--profile",
            profile,
        ])
        .arg("--target-dir")
        .arg(target)
        .current_dir(workspace);
    command
}

fn start(command: &mut Command) -> Result<Child, Box<dyn Error>> {
    command
        .spawn()
        .map_err(|error| format!("cannot run {command:?}: {error}").into())
}

fn finish(mut child: Child, what: &str) -> Result<(), Box<dyn Error>> {
    let status = child.wait()?;
    if status.success() {
        Ok(())
    } else {
        Err(format!("{what} failed ({status})").into())
    }
}
