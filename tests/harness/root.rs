//! A temporary directory to serve, and beside it one that must never be seen.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

/// What `outside/secret.txt` holds; no byte the server writes may contain it.
pub(crate) const MARKER: &str = "SECRET-7f3a-outside-marker";

/// The arguments with which one search call reads all of [`Root::haystack`].
pub(crate) const HAYSTACK: [&str; 4] = ["--max-scan-bytes", "1024GiB", "--call-timeout", "600s"];

/// Makes a named pipe, in a way that every system has.
pub(crate) fn make_pipe(path: &Path) {
    let made = Command::new("mkfifo")
        .arg("-m")
        .arg("700")
        .arg(path)
        .status();
    assert!(made.is_ok_and(|status| status.success()), "no pipe");
}

/// `root/`, which is served, and `outside/`, which is not.
pub(crate) struct Root {
    temp: TempDir,
}

impl Root {
    /// An empty root; `outside/secret.txt` holds [`MARKER`].
    pub(crate) fn new() -> Self {
        let temp = tempfile::Builder::new()
            .prefix("preopen-test-")
            .tempdir()
            .expect("a temporary directory");
        fs::create_dir(temp.path().join("root")).expect("root");
        fs::create_dir(temp.path().join("outside")).expect("outside");
        fs::write(
            temp.path().join("outside/secret.txt"),
            format!("{MARKER}\n"),
        )
        .expect("secret");
        Self { temp }
    }

    /// The directory above both; its text may stand in nothing that is answered.
    pub(crate) fn above(&self) -> &Path {
        self.temp.path()
    }

    /// The served directory.
    pub(crate) fn path(&self) -> PathBuf {
        self.temp.path().join("root")
    }

    /// A path below the served directory.
    pub(crate) fn at(&self, relative: &str) -> PathBuf {
        self.path().join(relative)
    }

    /// A path below the directory that is not served.
    pub(crate) fn outside(&self, relative: &str) -> PathBuf {
        self.temp.path().join("outside").join(relative)
    }

    /// Adds a file, with its parents.
    pub(crate) fn file(self, relative: impl AsRef<str>, content: impl AsRef<[u8]>) -> Self {
        self.write(relative.as_ref(), content);
        self
    }

    /// Adds a directory, with its parents.
    pub(crate) fn dir(self, relative: &str) -> Self {
        fs::create_dir_all(self.at(relative)).expect("a directory");
        self
    }

    /// Adds a symbolic link with exactly this target.
    pub(crate) fn link(self, relative: &str, target: impl AsRef<Path>) -> Self {
        symlink(target, self.with_parent(relative)).expect("a symbolic link");
        self
    }

    /// Adds a second name for a file of `outside/`.
    pub(crate) fn hard_link(self, relative: &str, outside: &str) -> Self {
        fs::hard_link(self.outside(outside), self.with_parent(relative)).expect("a hard link");
        self
    }

    /// Adds a named pipe.
    pub(crate) fn fifo(self, relative: &str) -> Self {
        make_pipe(&self.with_parent(relative));
        self
    }

    /// Adds a socket that nobody listens on any more.
    pub(crate) fn socket(self, relative: &str) -> Self {
        UnixListener::bind(self.with_parent(relative)).expect("a socket");
        self
    }

    /// Adds so much text under `hay/` that a search for what is not there runs
    /// for many seconds: one file of 8 MiB under 4,000 names, 31 GiB to scan.
    /// Start the server with [`HAYSTACK`].
    pub(crate) fn haystack(self) -> Self {
        self.write(
            "hay/0",
            "hay and more hay in a line of hay\n".repeat(8 << 20 >> 5),
        );
        for name in 1..4000 {
            fs::hard_link(self.at("hay/0"), self.at(&format!("hay/{name}"))).expect("a hard link");
        }
        self
    }

    /// Writes a file, as something other than the server would.
    pub(crate) fn write(&self, relative: &str, content: impl AsRef<[u8]>) {
        fs::write(self.with_parent(relative), content).expect("a file");
    }

    /// What a file holds on disk.
    pub(crate) fn read(&self, relative: &str) -> Vec<u8> {
        fs::read(self.at(relative)).expect("a readable file")
    }

    /// The permission bits of a file or directory.
    pub(crate) fn mode(&self, relative: &str) -> u32 {
        fs::metadata(self.at(relative)).expect("metadata").mode() & 0o7777
    }

    /// Sets the permission bits.
    pub(crate) fn chmod(&self, relative: &str, mode: u32) {
        fs::set_permissions(self.at(relative), fs::Permissions::from_mode(mode)).expect("chmod");
    }

    /// The names in the served directory itself, sorted.
    pub(crate) fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(self.path())
            .expect("the root")
            .map(|entry| {
                entry
                    .expect("an entry")
                    .file_name()
                    .to_string_lossy()
                    .into_owned()
            })
            .collect();
        names.sort();
        names
    }

    /// Everything below `above()`: path, kind and mode, size and content, and
    /// the time of the last change. Equal before and after means that nothing
    /// was changed anywhere, not even for a moment.
    pub(crate) fn census(&self) -> Vec<String> {
        self.visit(|meta| format!("{}.{}", meta.mtime(), meta.mtime_nsec()))
    }

    /// As [`Root::census`], without times: a file that came and went is not seen.
    pub(crate) fn contents(&self) -> Vec<String> {
        self.visit(|_| String::new())
    }

    fn visit(&self, time: impl Fn(&fs::Metadata) -> String) -> Vec<String> {
        let mut out = Vec::new();
        let mut left = vec![self.above().to_owned()];
        while let Some(path) = left.pop() {
            let meta = fs::symlink_metadata(&path).expect("metadata");
            let content = if meta.is_file() {
                fs::read(&path).unwrap_or_default()
            } else {
                Vec::new()
            };
            let content = String::from_utf8_lossy(&content);
            let (mode, size, time) = (meta.mode(), meta.len(), time(&meta));
            out.push(format!(
                "{} {mode:o} {size} {time} {content:?}",
                path.display()
            ));
            if meta.is_dir() {
                let below = fs::read_dir(&path).expect("a directory");
                left.extend(below.map(|entry| entry.expect("an entry").path()));
            }
        }
        out.sort();
        out
    }

    fn with_parent(&self, relative: &str) -> PathBuf {
        let path = self.at(relative);
        fs::create_dir_all(path.parent().expect("a parent")).expect("parents");
        path
    }
}
