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

use component::{TARGET, ask, built, cargo, component, home};

#[path = "build/component.rs"]
mod component;

/// The tools, and the component that tries to get out; package and file name.
const COMPONENTS: [(&str, &str); 2] = [("preopen-guest", "guest"), ("preopen-hostile", "hostile")];

/// Everything the results depend on, relative to the workspace.
const SOURCES: [&str; 10] = [
    "Cargo.toml",
    "Cargo.lock",
    "rust-toolchain.toml",
    "contract",
    "guest",
    "host/build",
    "host/src/engine.rs",
    "precompile",
    "tests/hostile",
    "wit",
];

fn main() -> Result<(), Box<dyn Error>> {
    let out = PathBuf::from(env::var("OUT_DIR")?);
    let package = PathBuf::from(env::var("CARGO_MANIFEST_DIR")?);
    let workspace = package.parent().unwrap_or(&package).to_owned();
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
        let mut component = component(&workspace, &home(), package, &shared.join("guest"));
        finish(start(&mut component)?, "building a component")?;
    }
    finish(building, "building the compiler for the components")?;

    let mut compile = Command::new(compiler.join("precompile/preopen-precompile"));
    compile.arg(env::var("TARGET")?);
    for (package, name) in COMPONENTS {
        let wasm = built(package, &shared.join("guest"));
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
    let library = ask(workspace, &["--print", "target-libdir", "--target", TARGET]);
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
