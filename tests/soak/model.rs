//! The part of the root that nobody but the client changes, as it must be by
//! now: every path with what it is and holds. It knows what is hidden, and no
//! tool.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::FileTypeExt;
use std::path::Path;
use std::rc::Rc;

use crate::harness::Root;

/// Every path of this part begins so, and no other one in the root does.
pub(super) const OWN: &str = "own";

/// What the rules of the server hide, in globs; see [`is_hidden`].
pub(super) const EXCLUDE: &str = "**/hid-*";

/// What a hidden file holds; it may stand in no answer.
pub(super) const HIDDEN_CONTENT: &str = "hidden-content";

/// A regular file.
#[derive(Clone, Debug)]
pub(super) struct File {
    pub(super) content: Rc<[u8]>,
    /// Another one after every write, whatever was written.
    pub(super) version: u64,
}

/// What has a path.
#[derive(Clone, Debug)]
enum Node {
    Directory,
    File(File),
    /// A link or a pipe: not there for a client, but removed with its directory.
    Special,
    /// Not served.
    Hidden,
}

/// What a path leads to, for a client.
#[derive(Clone, Copy, Debug)]
pub(super) enum Place<'m> {
    Root,
    Hidden,
    File(&'m File),
    Directory,
    Special,
    /// Also what would lie behind a file or a link.
    Missing,
}

/// The paths that the client alone changes.
#[derive(Debug, Default)]
pub(super) struct Model {
    nodes: BTreeMap<String, Node>,
    version: u64,
}

/// Whether the rules of the server hide `path`, of which nothing need be there.
pub(super) fn is_hidden(path: &str) -> bool {
    path.split('/')
        .any(|name| name.starts_with("hid-") || matches!(name, ".env" | "hosts"))
}

/// The directory that `path` stands in; empty for the root.
pub(super) fn parent(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(parent, _)| parent)
}

/// The last name of `path`.
pub(super) fn name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// `a`, `a/b`, `a/b/c` of `a/b/c`.
fn prefixes(path: &str) -> impl Iterator<Item = &str> {
    let ends = path.match_indices('/').map(|(at, _)| at);
    ends.chain([path.len()]).map(|end| &path[..end])
}

impl Model {
    /// What a client finds at `path`.
    pub(super) fn place(&self, path: &str) -> Place<'_> {
        match self.nodes.get(path) {
            _ if path.is_empty() => Place::Root,
            _ if is_hidden(path) => Place::Hidden,
            None => Place::Missing,
            Some(Node::Directory) => Place::Directory,
            Some(Node::File(file)) => Place::File(file),
            Some(Node::Special) => Place::Special,
            Some(Node::Hidden) => Place::Hidden,
        }
    }

    /// Everything below `directory`, hidden or not, in byte order of whole paths; of the root,
    /// whose path is empty, everything.
    fn below(&self, directory: &str) -> impl Iterator<Item = (&str, &Node)> {
        let prefix = match directory {
            "" => String::new(),
            directory => format!("{directory}/"),
        };
        self.nodes
            .range(prefix.clone()..)
            .take_while(move |(path, _)| path.starts_with(&prefix))
            .map(|(path, node)| (path.as_str(), node))
    }

    /// The files below `directory` that a client sees.
    pub(super) fn files(&self, directory: &str) -> impl Iterator<Item = (&str, &File)> {
        self.below(directory).filter_map(|(path, node)| match node {
            Node::File(file) if !is_hidden(path) => Some((path, file)),
            _ => None,
        })
    }

    /// The directories below `directory` that a client sees.
    pub(super) fn directories(&self, directory: &str) -> impl Iterator<Item = &str> {
        self.below(directory)
            .filter(|(path, node)| matches!(node, Node::Directory) && !is_hidden(path))
            .map(|(path, _)| path)
    }

    /// Whether nothing at all is in `directory`.
    pub(super) fn is_empty(&self, directory: &str) -> bool {
        self.below(directory).next().is_none()
    }

    /// Whether something below `directory` is hidden.
    pub(super) fn hides(&self, directory: &str) -> bool {
        self.below(directory)
            .any(|(_, node)| matches!(node, Node::Hidden))
    }

    /// Every path, hidden or not.
    pub(super) fn paths(&self) -> impl ExactSizeIterator<Item = &str> {
        self.nodes.keys().map(String::as_str)
    }

    /// The first name on the way to `path`, itself included, that is no directory.
    pub(super) fn obstacle<'p>(&self, path: &'p str) -> Option<&'p str> {
        prefixes(path)
            .find(|prefix| matches!(self.nodes.get(*prefix), Some(Node::File(_) | Node::Special)))
            .map(name)
    }

    /// Makes the directory `path` and those above it; the answer is how many were missing.
    pub(super) fn make(&mut self, path: &str) -> usize {
        let before = self.nodes.len();
        if !path.is_empty() {
            for prefix in prefixes(path) {
                self.nodes
                    .entry(prefix.to_owned())
                    .or_insert(Node::Directory);
            }
        }
        self.nodes.len() - before
    }

    /// Writes a file; its directory is there.
    pub(super) fn write(&mut self, path: &str, content: &[u8]) {
        self.version += 1;
        let (content, version) = (content.into(), self.version);
        let file = Node::File(File { content, version });
        self.nodes.insert(path.to_owned(), file);
    }

    /// Whether anything has this path.
    pub(super) fn holds(&self, path: &str) -> bool {
        self.nodes.contains_key(path)
    }

    /// Takes note of a link or a pipe.
    pub(super) fn put_special(&mut self, path: &str) {
        self.nodes.insert(path.to_owned(), Node::Special);
    }

    /// Takes note of a hidden file.
    pub(super) fn hide(&mut self, path: &str) {
        self.nodes.insert(path.to_owned(), Node::Hidden);
    }

    /// Removes `path` with everything below it; the answer is how many entries that were.
    pub(super) fn remove(&mut self, path: &str) -> usize {
        let mut gone: Vec<String> = self.below(path).map(|(path, _)| path.to_owned()).collect();
        gone.push(path.to_owned());
        gone.iter()
            .filter(|path| self.nodes.remove(*path).is_some())
            .count()
    }

    /// Fails unless the disk holds exactly this.
    pub(super) fn check_disk(&self, root: &Root) {
        let mut expected: Vec<(String, Option<Vec<u8>>)> = Vec::new();
        for (path, node) in &self.nodes {
            let content = match node {
                Node::File(file) => Some(file.content.to_vec()),
                Node::Hidden => Some(HIDDEN_CONTENT.into()),
                Node::Directory | Node::Special => None,
            };
            expected.push((path.clone(), content));
        }
        let mut found = Vec::new();
        for name in root.names() {
            if name.starts_with(OWN) {
                visit(root, name, &mut found);
            }
        }
        found.sort();
        assert_eq!(found, expected, "what lies on the disk");
    }
}

fn visit(root: &Root, path: String, found: &mut Vec<(String, Option<Vec<u8>>)>) {
    let whole = root.at(&path);
    let kind = fs::symlink_metadata(&whole).expect("metadata").file_type();
    if kind.is_dir() {
        for entry in fs::read_dir(&whole).expect("a directory") {
            let name = entry.expect("an entry").file_name();
            let below = Path::new(&path).join(name);
            visit(root, below.to_str().expect("UTF-8").to_owned(), found);
        }
    }
    let content = kind.is_file().then(|| fs::read(&whole).expect("a file"));
    assert!(content.is_some() || kind.is_dir() || kind.is_symlink() || kind.is_fifo());
    found.push((path, content));
}
