//! Builds the components for wasm32-wasip2, compiles them to machine code and
//! leaves both forms in OUT_DIR for the server to embed.
//!
//! Compiler and component are built by cargo runs of their own, in a target
//! directory that every profile shares: the compiler is the longest part of a
//! build, and this way it is built once.

use std::env;
use std::error::Error;
use std::ffi::OsStr;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};

const TARGET: &str = "wasm32-wasip2";

/// The tools, and the component that tries to get out; package and file name.
const COMPONENTS: [(&str, &str); 2] = [("preopen-guest", "guest"), ("preopen-hostile", "hostile")];

/// SIMD, and a stack that is small enough for an instance's slot to keep.
const COMPONENT_FLAGS: &str = "-Ctarget-feature=+simd128 -Clink-arg=-zstack-size=262144";

/// Everything the results depend on, relative to the workspace.
const SOURCES: [&str; 9] = [
    "Cargo.toml",
    "Cargo.lock",
    "rust-toolchain.toml",
    "contract",
    "guest",
    "host/src/engine.rs",
    "precompile",
    "tests/hostile",
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
    let compiler = shared.join("precompile");
    let mut building = cargo(&workspace, "preopen-precompile", "precompile", &compiler);
    let building = start(&mut building)?;
    for (package, _) in COMPONENTS {
        let mut component = cargo(&workspace, package, "component", &shared.join("guest"));
        component
            .args(["--target", TARGET, "--crate-type", "cdylib"])
            .env("RUSTFLAGS", COMPONENT_FLAGS);
        finish(start(&mut component)?, "building a component")?;
    }
    finish(building, "building the compiler for the components")?;

    let mut compile = Command::new(compiler.join("precompile/preopen-precompile"));
    compile.arg(env::var("TARGET")?);
    for (package, name) in COMPONENTS {
        let file = package.replace('-', "_");
        let wasm = shared.join(format!("guest/{TARGET}/component/{file}.wasm"));
        std::fs::copy(&wasm, out.join(format!("{name}.wasm")))?;
        compile.arg(&wasm).arg(out.join(format!("{name}.cwasm")));
    }
    let mut table = String::new();
    for (name, text) in imports(&workspace)? {
        let code = out.join(format!("imports-{name}.cwasm"));
        compile.arg(text).arg(&code);
        writeln!(table, "({name:?}, include_bytes!({code:?}) as &[u8]),")?;
    }
    std::fs::write(out.join("imports.rs"), format!("&[{table}]"))?;
    finish(start(&mut compile)?, "compiling the components")
}

/// The components that each import something the host does not grant, for its
/// tests: name and file.
fn imports(workspace: &Path) -> Result<Vec<(String, PathBuf)>, Box<dyn Error>> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(workspace.join("tests/hostile/imports"))? {
        let path = entry?.path();
        if let Some(name) = path.file_stem().and_then(OsStr::to_str) {
            found.push((name.to_owned(), path.clone()));
        }
    }
    found.sort();
    Ok(found)
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
