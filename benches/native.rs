//! What the same work takes without a server: plain system calls in this
//! process. It checks nothing and grants everything, so it is the floor, not a
//! rival.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::Result;
use ignore::WalkBuilder;

/// The paths of all files below `directory`, in the order in which they come, by
/// one thread and without looking for ignore files.
pub(crate) fn walk(directory: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let walk = WalkBuilder::new(directory)
        .standard_filters(false)
        .threads(1)
        .build();
    for entry in walk {
        let entry = entry?;
        if entry.file_type().is_some_and(|kind| kind.is_file()) {
            found.push(entry.into_path());
        }
    }
    Ok(found)
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
