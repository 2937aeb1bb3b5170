//! What the same work takes without a server: plain system calls in this
//! process, with buffers that are made once. It checks nothing and grants
//! everything, so it is the floor, not a rival.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use memchr::memmem::Finder;

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

/// Opens, reads and searches every file; how often the needle is there.
pub(crate) fn scan(
    files: &[PathBuf],
    needle: &Finder<'_>,
    buffer: &mut Vec<u8>,
) -> io::Result<usize> {
    let mut found = 0;
    for file in files {
        buffer.clear();
        File::open(file)?.read_to_end(buffer)?;
        found += needle.find_iter(buffer).count();
    }
    Ok(found)
}

/// Every file below `directory` whose path holds `part`.
pub(crate) fn walk(directory: &Path, part: &str, found: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        let path = entry.path();
        if entry.file_type()?.is_dir() {
            walk(&path, part, found)?;
        } else if path.to_str().is_some_and(|path| path.contains(part)) {
            found.push(path);
        }
    }
    Ok(())
}

/// Replaces `name` in `directory` so that a power cut leaves the old or the new.
pub(crate) fn write(directory: &Path, name: &str, content: &[u8]) -> io::Result<()> {
    let temporary = directory.join(".new");
    let mut file = File::create(&temporary)?;
    file.write_all(content)?;
    file.sync_all()?;
    fs::rename(&temporary, directory.join(name))?;
    File::open(directory)?.sync_all()
}
