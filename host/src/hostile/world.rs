//! The directory a hostile component is let into, and what lies beside it: one
//! of everything that must not be reached. It knows nothing of who tries.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};

use preopen_contract::policy::{RESERVED_PREFIX, RESERVED_SUFFIX};
use tempfile::TempDir;

use crate::root::Options;

/// What the files beside the root say; it must never come out.
pub const MARKER: &str = "OUTSIDE-MARKER";

/// What is served of it, and what is hidden.
const INCLUDE: [&str; 2] = ["**/*.txt", "*/**/*.txt"];
const EXCLUDE: [&str; 1] = ["hidden/**"];

/// A temporary directory with `root/`, which is served, and `outside/`, which
/// is not. Removed when dropped.
#[derive(Debug)]
pub struct World {
    base: TempDir,
}

impl World {
    /// Makes one.
    ///
    /// # Errors
    /// When the system's temporary directory cannot be written to.
    pub fn new() -> io::Result<Self> {
        let world = Self {
            base: tempfile::Builder::new().prefix("preopen-").tempdir()?,
        };
        let (root, outside) = (world.root(), world.outside());
        for directory in ["dir/deep", "empty", "hidden"] {
            fs::create_dir_all(root.join(directory))?;
        }
        fs::create_dir_all(outside.join("dir"))?;
        fs::write(outside.join("secret.txt"), MARKER)?;
        fs::write(outside.join("dir/f.txt"), MARKER)?;
        // What a killed process left where the rules hide everything.
        let left = format!("hidden/{RESERVED_PREFIX}{:032x}{RESERVED_SUFFIX}", 0);
        for file in [
            left.as_str(),
            "f.txt",
            "dir/f.txt",
            "dir/deep/f.txt",
            "hidden/f.txt",
            "not.included",
        ] {
            fs::write(root.join(file), "inside")?;
        }
        for (link, target) in [
            ("link.txt", "f.txt"),
            ("link-out.txt", "../outside/secret.txt"),
            ("link-dir.txt", "../outside/dir"),
            ("link-in.txt", "dir"),
            ("link-abs.txt", "/etc/passwd"),
            ("link-none.txt", "nothing"),
            ("link-loop.txt", "link-loop.txt"),
            ("link-chain.txt", "link-out.txt"),
            ("link-proc.txt", "/proc/self/cwd"),
            ("dir/up.txt", ".."),
        ] {
            symlink(target, root.join(link))?;
        }
        make_pipe(&root.join("pipe.txt"))?;
        UnixListener::bind(root.join("socket.txt"))?;
        Ok(world)
    }

    /// The directory that is served.
    #[must_use]
    pub fn root(&self) -> PathBuf {
        self.base.path().join("root")
    }

    /// The directory that is not.
    #[must_use]
    pub fn outside(&self) -> PathBuf {
        self.base.path().join("outside")
    }

    /// How the directory is served.
    #[must_use]
    pub fn options(&self) -> Options {
        Options {
            exclude: EXCLUDE.map(str::to_owned).to_vec(),
            ..Options::new(self.root(), INCLUDE)
        }
    }

    /// What must stay as it is: everything beside the root, and everything in
    /// it that is not served, with kind, mode and content.
    ///
    /// # Errors
    /// When something cannot be looked at.
    pub fn untouchable(&self) -> io::Result<BTreeMap<PathBuf, String>> {
        let mut seen = BTreeMap::new();
        for directory in [self.outside(), self.root().join("hidden")] {
            describe(&directory, &mut seen)?;
        }
        describe(&self.root().join("not.included"), &mut seen)?;
        // Nothing may come to be beside the two either.
        for entry in fs::read_dir(self.base.path())? {
            seen.insert(entry?.path(), "beside".to_owned());
        }
        Ok(seen)
    }

    /// Everything there is, in the root and beside it.
    ///
    /// # Errors
    /// When something cannot be looked at.
    pub fn everything(&self) -> io::Result<BTreeMap<PathBuf, String>> {
        let mut seen = BTreeMap::new();
        describe(self.base.path(), &mut seen)?;
        Ok(seen)
    }
}

/// Makes a named pipe.
#[cfg(target_os = "linux")]
pub(crate) fn make_pipe(path: &Path) -> io::Result<()> {
    use rustix::fs::{CWD, FileType, Mode, mknodat};
    let mode = Mode::from_raw_mode(0o600);
    Ok(mknodat(CWD, path, FileType::Fifo, mode, 0)?)
}

/// Makes a named pipe.
#[cfg(target_os = "macos")]
#[allow(unsafe_code)]
pub(crate) fn make_pipe(path: &Path) -> io::Result<()> {
    let path = std::ffi::CString::new(path.as_os_str().as_bytes())?;
    // SAFETY: the path is a C string, and lives until the call is over.
    match unsafe { libc::mkfifo(path.as_ptr(), 0o600) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

fn describe(path: &Path, seen: &mut BTreeMap<PathBuf, String>) -> io::Result<()> {
    let found = path.symlink_metadata()?;
    let kind = found.file_type();
    let holds = if kind.is_file() {
        fs::read_to_string(path)?
    } else if kind.is_symlink() {
        String::from_utf8_lossy(fs::read_link(path)?.as_os_str().as_bytes()).into_owned()
    } else {
        String::new()
    };
    let mode = found.permissions().mode();
    seen.insert(path.to_owned(), format!("{mode:o} {holds}"));
    if kind.is_dir() {
        for entry in fs::read_dir(path)? {
            describe(&entry?.path(), seen)?;
        }
    }
    Ok(())
}
