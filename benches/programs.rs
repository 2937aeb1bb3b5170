//! The programs that the server is compared with: the least a line server can
//! be, ripgrep, and what every system has. It builds what is not there, runs
//! them through a pipe, and knows nothing of the server.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};

use crate::measure::{CLIENT, SERVER, on_core};

/// The version of ripgrep that is built where it is not there yet.
const RIPGREP: &str = "15.2.0";

/// Compiles the baseline's line server into `place`.
pub(crate) fn echo(place: &Path) -> Result<PathBuf> {
    let program = place.join("echo");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../benches/baseline/echo.rs");
    let status = Command::new("rustc")
        .args(["-O", "--edition", "2024", "-o"])
        .arg(&program)
        .arg(source)
        .status()
        .context("cannot run rustc")?;
    ensure!(status.success(), "rustc failed on the baseline ({status})");
    Ok(program)
}

/// The program ripgrep and its version: the pinned one, built once into
/// `target/tools`, or else whichever is installed. None, said aloud, if there is
/// neither.
pub(crate) fn ripgrep() -> Option<(PathBuf, String)> {
    let tools = Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name("tools");
    let pinned = tools.join("bin").join("rg");
    if version(&pinned).is_none_or(|version| !version.contains(RIPGREP)) {
        eprintln!("building ripgrep {RIPGREP} into target/tools, once");
        let installed = Command::new(env!("CARGO"))
            .args(["install", "ripgrep", "--locked", "--force", "--quiet"])
            .args(["--version", &format!("={RIPGREP}")])
            .arg("--root")
            .arg(&tools)
            .status();
        if !installed.is_ok_and(|status| status.success()) {
            eprintln!("cannot build ripgrep {RIPGREP}; trying the one that is installed");
        }
    }
    let found = [pinned, PathBuf::from("rg")]
        .into_iter()
        .find_map(|program| version(&program).map(|version| (program, version)));
    if found.is_none() {
        eprintln!("NO RIPGREP: the rows that compare with it are not measured");
    }
    found
}

fn version(program: &Path) -> Option<String> {
    let output = Command::new(program).arg("--version").output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let line = text.lines().next()?;
    line.starts_with("ripgrep ").then(|| line.to_owned())
}

/// ripgrep on one thread for the literal `needle` in every file below
/// `directory`: no configuration, no ignore files, hidden files as well, and no
/// look for binary files, of which the server's search of text knows nothing
/// either. It prints what an answer holds: path, number of the line, line.
pub(crate) fn search(ripgrep: &Path, options: &[&str], needle: &str, directory: &Path) -> Command {
    let mut command = Command::new(ripgrep);
    command
        .args(["--no-config", "-j1", "--fixed-strings", "--no-ignore"])
        .args(["--hidden", "--text", "--no-heading", "--line-number"])
        .args(["--with-filename", "--color", "never"])
        .args(options)
        .args(["-e", needle, "--"])
        .arg(directory);
    command
}

/// What a program writes to its standard output.
pub(crate) fn output(command: &mut Command) -> Result<String> {
    let output = command
        .output()
        .with_context(|| format!("cannot run {command:?}"))?;
    ensure!(
        output.status.success(),
        "{command:?} failed: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    Ok(String::from_utf8(output.stdout)?)
}

/// Runs a program on the core of the servers, reads its standard output through
/// a pipe to the end, and waits for its own: the bytes, and the time of it all.
pub(crate) fn run(command: &mut Command, buffer: &mut [u8]) -> Result<(u64, Duration)> {
    let (mut child, start) = on_core(SERVER, || {
        let start = Instant::now();
        let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn();
        Ok((child.context("cannot run a program")?, start))
    })?;
    on_core(CLIENT, || {
        let mut output = child.stdout.take().context("stdout is a pipe")?;
        let mut bytes = 0;
        loop {
            match output.read(buffer)? {
                0 => break,
                read => bytes += read as u64,
            }
        }
        let status = child.wait()?;
        let took = start.elapsed();
        ensure!(status.success(), "{command:?} failed ({status})");
        Ok((bytes, took))
    })
}
