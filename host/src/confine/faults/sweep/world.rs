//! The root that calls meet their faults in, the server of it, and what is
//! found on disk afterwards.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use tempfile::TempDir;

use crate::confine::temporaries::is_temporary;
use crate::root::{Options, Root, Toolset};
use crate::server::Server;

/// What `f.txt` holds.
pub(super) const OLD: &str = "one\nneedle two\nthree\n";

/// A name of a temporary.
pub(super) const LEFT: &str = ".preopen-mcp-00000000000000000000000000000007.tmp";

/// Somebody who is not the superuser.
const NOBODY: u32 = 65_534;

/// What a call was answered with.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Answer {
    /// The whole result.
    Given(Value),
    /// The text.
    Refused(String),
}

/// What is below the root: by its path the mode and, of a file, the content.
pub(super) type Picture = BTreeMap<String, String>;

/// A root and a server of it.
pub(super) struct World {
    base: TempDir,
    toolset: Toolset,
    server: Server,
    first: Picture,
}

impl World {
    pub(super) fn new(toolset: Toolset) -> Self {
        let base = directory();
        fill(&base.path().join("root"));
        let server = serve(&base.path().join("root"), toolset);
        let mut world = Self {
            base,
            toolset,
            server,
            first: Picture::new(),
        };
        // What the start sweeps is put back.
        world.first = world.picture();
        world
    }

    fn root(&self) -> PathBuf {
        self.base.path().join("root")
    }

    /// Calls a tool.
    pub(super) fn call(&self, tool: &str, arguments: &Value) -> Answer {
        let request = json!({
            "jsonrpc": "2.0", "id": 1, "method": "tools/call",
            "params": {
                "name": tool,
                "arguments": arguments,
                "_meta": {
                    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                    "io.modelcontextprotocol/clientCapabilities": {},
                },
            },
        });
        let line = self.server.handle(request.to_string().as_bytes());
        let line = line.expect("an answer");
        let above = self.base.path().to_str().expect("a UTF-8 path");
        assert!(!line.contains(above), "a path of the host: {line}");
        let mut answer: Value = serde_json::from_str(&line).expect("JSON");
        let result = answer["result"].take();
        assert!(result.is_object(), "no result: {line}");
        match result["isError"] == true {
            true => {
                let text = result["content"][0]["text"].as_str().expect("a text");
                Answer::Refused(text.to_owned())
            }
            false => Answer::Given(result),
        }
    }

    /// What is there now.
    pub(super) fn picture(&self) -> Picture {
        let mut picture = Picture::new();
        look(&self.root(), "", &mut picture);
        picture
    }

    /// Makes everything as it was at first.
    pub(super) fn restore(&self) {
        if self.picture() != self.first {
            for entry in fs::read_dir(self.root()).expect("the root") {
                let path = entry.expect("an entry").path();
                match path.is_dir() {
                    true => fs::remove_dir_all(path).expect("removed"),
                    false => fs::remove_file(path).expect("removed"),
                }
            }
            fill(&self.root());
        }
    }

    /// What a server that starts now leaves of the root's own temporaries.
    pub(super) fn after_a_start(&self) -> Picture {
        drop(serve(&self.root(), self.toolset));
        self.picture()
    }

    /// How many descriptors of something below the root are open.
    pub(super) fn descriptors(&self) -> usize {
        descriptors(&self.root())
    }

    /// Ends the server; where its root was.
    pub(super) fn close(self) -> PathBuf {
        self.root()
    }
}

/// How many descriptors of this process are of something below a directory;
/// none where the system does not say.
pub(super) fn descriptors(directory: &Path) -> usize {
    let Ok(all) = fs::read_dir("/proc/self/fd") else {
        return 0;
    };
    // Other tests open and close theirs meanwhile.
    all.flatten()
        .filter_map(|entry| fs::read_link(entry.path()).ok())
        .filter(|path| path.starts_with(directory))
        .count()
}

/// Of `picture`, what is no temporary.
pub(super) fn without_temporaries(picture: &Picture) -> Picture {
    let kept = picture.iter().filter(|(path, _)| !is_temporary(path));
    kept.map(|(path, what)| (path.clone(), what.clone()))
        .collect()
}

/// A directory in memory, where there is one: a disk would be waited for.
fn directory() -> TempDir {
    let mut builder = tempfile::Builder::new();
    builder.prefix("preopen-faults-");
    builder
        .tempdir_in("/dev/shm")
        .or_else(|_| builder.tempdir())
        .expect("a directory")
}

fn serve(root: &Path, toolset: Toolset) -> Server {
    let options = Options {
        toolset,
        ..Options::new(root, ["**"])
    };
    let root = Root::open(options).expect("a root");
    Server::new(root).expect("a server")
}

fn fill(root: &Path) {
    for directory in ["d/e", "empty", "left"] {
        fs::create_dir_all(root.join(directory)).expect("a directory");
    }
    let long = "a line of a file that is read in pages\n".repeat(600);
    let left = format!("left/{LEFT}");
    for (path, content) in [
        ("f.txt", OLD),
        ("long.txt", &long),
        ("d/g.txt", "needle in a file\n"),
        ("d/e/h.txt", "deep needle\n"),
        ("d/e/i.txt", "hay\n"),
        (&left, "half"),
    ] {
        fs::write(root.join(path), content).expect("a file");
    }
    let mode = fs::Permissions::from_mode(0o640);
    fs::set_permissions(root.join("f.txt"), mode).expect("a mode");
    // Only the superuser has to give files back to whom they belong.
    let _ = std::os::unix::fs::chown(root.join("f.txt"), Some(NOBODY), Some(NOBODY));
}

fn look(directory: &Path, prefix: &str, picture: &mut Picture) {
    for entry in fs::read_dir(directory).expect("a directory") {
        let entry = entry.expect("an entry");
        let path = format!("{prefix}{}", entry.file_name().to_str().expect("UTF-8"));
        let found = entry.metadata().expect("metadata");
        let mode = found.permissions().mode();
        if found.is_dir() {
            look(&entry.path(), &format!("{path}/"), picture);
            picture.insert(path, format!("{mode:o}"));
        } else {
            let content = fs::read_to_string(entry.path()).expect("a file");
            // What is long is told by its length and its end.
            let cut = content.len().saturating_sub(40);
            let content = format!("{cut} {}", content.get(cut..).expect("ASCII"));
            picture.insert(path, format!("{mode:o} {content}"));
        }
    }
}

/// The content hash of a text.
pub(super) fn hash(text: &str) -> String {
    let digits = Sha256::digest(text)
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect::<String>();
    format!("sha256:{digits}")
}
