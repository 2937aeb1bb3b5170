//! Components of others: from a file to code that the sandbox loads, and what
//! is demanded of what they say. It knows neither what tools they have nor the
//! protocol. Only a build with the feature `compiler` compiles any.

#[cfg(not(feature = "compiler"))]
mod absent;
#[cfg(feature = "compiler")]
mod cache;
#[cfg(feature = "compiler")]
mod compile;
mod vetted;

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use thiserror::Error;
use wasmtime::Trap;

#[cfg(not(feature = "compiler"))]
use absent::compiled;
#[cfg(feature = "compiler")]
use compile::compiled;
pub(crate) use vetted::{definitions, result, size};

/// The largest file that is taken for a component, in bytes.
const MAX_BYTES: u64 = 256 << 20;

/// How a WebAssembly module begins, and how a component does.
const MODULE: &[u8] = b"\0asm\x01\0\0\0";
const COMPONENT: &[u8] = b"\0asm\x0d\0\x01\0";

/// Why a component is not served.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ComponentError {
    /// This build has no compiler.
    #[error(
        "this build has no compiler; get one that has with: cargo build --release --package preopen-mcp --features compiler"
    )]
    NoCompiler,
    /// The file cannot be read.
    #[error("cannot read {0}: {1}")]
    Unreadable(PathBuf, io::Error),
    /// The file is not WebAssembly at all.
    #[error("it is not a WebAssembly component")]
    NotWebAssembly,
    /// The file is WebAssembly of the other kind.
    #[error("it is a WebAssembly module and not a component; build it for wasm32-wasip2")]
    Module,
    /// The compiler refuses it.
    #[error("it cannot be compiled: {0}")]
    Invalid(String),
    /// It imports what is not granted, or does not export the tools.
    #[error("{0}")]
    Unfit(String),
    /// It does not say which tools it has, or not as MCP has it.
    #[error("it does not list its tools: {0}")]
    Tools(String),
}

impl ComponentError {
    /// That a component cannot be let in, and why the runtime says so.
    pub(crate) fn unfit(error: &wasmtime::Error) -> Self {
        Self::Unfit(format!("{error:#}"))
    }

    /// That it did not list its tools, and what ended it: a trap, or that its
    /// functions are of other types.
    pub(crate) fn listing(error: &wasmtime::Error) -> Self {
        Self::Tools(match error.downcast_ref::<Trap>() {
            Some(trap) => trap.to_string(),
            None => format!("{error:#}"),
        })
    }
}

/// A component, compiled for this machine.
#[derive(Debug)]
pub struct Component {
    /// What the compiler made, in this process or in an earlier one of the
    /// same user: nothing else may ever get here, as it is run.
    code: Vec<u8>,
}

impl Component {
    /// Compiles `wasm`, a component in binary form. It takes about a second
    /// for a megabyte, and no other thread.
    ///
    /// # Errors
    /// When it is not a valid component, or this build has no compiler.
    pub fn compile(wasm: &[u8]) -> Result<Self, ComponentError> {
        Self::of(wasm, None)
    }

    /// Compiles the component in `file`, or takes its code from the user's
    /// cache: `preopen-mcp` in `$XDG_CACHE_HOME`, by default `~/.cache`. Where
    /// that lies in `root`, the directory that is served, it is not used.
    ///
    /// # Errors
    /// When the file cannot be read, and as [`Component::compile`].
    pub fn open(file: &Path, root: &Path) -> Result<Self, ComponentError> {
        let wasm = read(file).map_err(|error| ComponentError::Unreadable(file.into(), error))?;
        Self::of(&wasm, Some(root))
    }

    fn of(wasm: &[u8], root: Option<&Path>) -> Result<Self, ComponentError> {
        if wasm.starts_with(MODULE) {
            return Err(ComponentError::Module);
        }
        if !wasm.starts_with(COMPONENT) {
            return Err(ComponentError::NotWebAssembly);
        }
        Ok(Self {
            code: compiled(wasm, root)?,
        })
    }

    /// Its machine code.
    pub(crate) fn code(&self) -> &[u8] {
        &self.code
    }
}

fn read(file: &Path) -> io::Result<Vec<u8>> {
    // A pipe would keep the program waiting for somebody to write into it.
    let opened = File::options()
        .read(true)
        .custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY)
        .open(file)?;
    if !opened.metadata()?.is_file() {
        return Err(io::Error::other("it is not a regular file"));
    }
    let mut bytes = Vec::new();
    opened.take(MAX_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(io::Error::other("it is larger than 256 MiB"));
    }
    Ok(bytes)
}
