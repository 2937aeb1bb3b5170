//! What a walk needs of a directory, and what can go wrong with one: no WASI
//! type, so that walks are tested on a tree in memory.

use std::ops::ControlFlow;

/// Why the host did not do what was asked of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// An exclude rule hides the path, whether it exists or not.
    Excluded,
    /// No include rule reaches the path, whether it exists or not.
    NotIncluded,
    /// The root itself was removed.
    RootGone,
    /// Nothing of that name, or something that is neither file nor directory.
    Missing,
    /// A file was asked for, and a directory is there.
    IsDirectory,
    /// A directory was asked for, or passed through, and a file is there.
    NotDirectory,
    /// The operating system denied it.
    Permission,
    /// The root was granted without write rights.
    ReadOnly,
    /// Something of that name is there already.
    Exists,
    /// The directory still holds something.
    NotEmpty,
    /// The two names of a renaming are on different filesystems.
    OtherDisk,
    /// No space or no quota left.
    NoSpace,
    /// Past the largest file the filesystem takes.
    TooLarge,
    /// The server has no more descriptors or memory.
    Exhausted,
    /// Somebody else has it, or a lock on it.
    Busy,
    /// It changed again and again while it was read.
    Changing,
    /// Anything else.
    Other,
}

impl Fault {
    /// Whether the disk failed, or the server is at its end: what is there is not known.
    pub(crate) const fn is_failure(self) -> bool {
        match self {
            Self::Excluded
            | Self::NotIncluded
            | Self::Missing
            | Self::IsDirectory
            | Self::NotDirectory
            | Self::Permission
            | Self::Changing => false,
            Self::RootGone
            | Self::ReadOnly
            | Self::Exists
            | Self::NotEmpty
            | Self::OtherDisk
            | Self::NoSpace
            | Self::TooLarge
            | Self::Exhausted
            | Self::Busy
            | Self::Other => true,
        }
    }
}

/// What a directory entry is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    File,
    Directory,
    /// A link, pipe, socket or device: the tools never name it.
    Other,
}

impl Kind {
    /// The word for it in results; what is neither file nor directory never stands in one.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::File => "file",
            Self::Directory => "directory",
            Self::Other => "other",
        }
    }
}

/// One entry of a directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Entry<'a> {
    pub(crate) name: &'a str,
    pub(crate) kind: Kind,
}

/// How many entries are wanted of a directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// Most likely all of them.
    All,
    /// Most likely a few.
    Few,
}

/// An open directory.
pub(crate) trait Directory: Sized {
    /// Hands every served entry to `each`, in any order, until it breaks. How many it will take is
    /// said by `wanted`, and changes nothing but what it costs.
    fn entries(
        &self,
        wanted: Wanted,
        each: &mut dyn FnMut(Entry<'_>) -> ControlFlow<()>,
    ) -> Result<(), Fault>;

    /// Opens the directory `name` in this one.
    fn directory(&self, name: &str) -> Result<Self, Fault>;

    /// Whether [`Self::has_file`] is to be asked below this one: it may cost more than listing.
    fn asking_pays(&self) -> bool {
        false
    }

    /// Whether a served file is at `path`, canonical and relative to this one. What could not be
    /// found out is no.
    fn has_file(&self, _path: &str) -> bool {
        false
    }
}

/// A tree in memory, for tests.
#[cfg(test)]
pub(crate) mod memory {
    use std::collections::BTreeMap;
    use std::ops::ControlFlow;

    use super::{Directory, Entry, Fault, Kind, Wanted};

    /// A directory: names, and what each leads to.
    #[derive(Clone, Debug, Default)]
    pub(crate) struct Tree(BTreeMap<String, Node>);

    #[derive(Clone, Debug)]
    enum Node {
        File,
        Link,
        Closed,
        Exhausted,
        Directory(Tree),
    }

    impl Tree {
        /// A tree of `paths`: files, directories (`a/`), links (`a@`), and directories that
        /// cannot be opened (`a!`) or for which there is no descriptor (`a?`).
        pub(crate) fn of(paths: &[&str]) -> Self {
            let mut tree = Self::default();
            for path in paths {
                let mut at = &mut tree;
                let mut rest = *path;
                while let Some((name, below)) = rest.split_once('/') {
                    let node =
                        at.0.entry(name.to_owned())
                            .or_insert_with(|| Node::Directory(Self::default()));
                    let Node::Directory(next) = node else {
                        panic!("{name} is a file");
                    };
                    at = next;
                    rest = below;
                }
                if let Some(name) = rest.strip_suffix('@') {
                    at.0.insert(name.to_owned(), Node::Link);
                } else if let Some(name) = rest.strip_suffix('!') {
                    at.0.insert(name.to_owned(), Node::Closed);
                } else if let Some(name) = rest.strip_suffix('?') {
                    at.0.insert(name.to_owned(), Node::Exhausted);
                } else if !rest.is_empty() {
                    at.0.insert(rest.to_owned(), Node::File);
                }
            }
            tree
        }
    }

    impl Directory for Tree {
        fn entries(
            &self,
            _: Wanted,
            each: &mut dyn FnMut(Entry<'_>) -> ControlFlow<()>,
        ) -> Result<(), Fault> {
            // Backwards, since the order of a directory is not to be relied on.
            for (name, node) in self.0.iter().rev() {
                let kind = match node {
                    Node::File => Kind::File,
                    Node::Link => Kind::Other,
                    Node::Closed | Node::Exhausted | Node::Directory(_) => Kind::Directory,
                };
                if each(Entry { name, kind }).is_break() {
                    break;
                }
            }
            Ok(())
        }

        fn directory(&self, name: &str) -> Result<Self, Fault> {
            match self.0.get(name) {
                Some(Node::Directory(tree)) => Ok(tree.clone()),
                Some(Node::Closed) => Err(Fault::Permission),
                Some(Node::Exhausted) => Err(Fault::Exhausted),
                Some(Node::File) => Err(Fault::NotDirectory),
                Some(Node::Link) | None => Err(Fault::Missing),
            }
        }

        fn asking_pays(&self) -> bool {
            true
        }

        fn has_file(&self, path: &str) -> bool {
            match path.split_once('/') {
                None => matches!(self.0.get(path), Some(Node::File)),
                Some((name, below)) => self.directory(name).is_ok_and(|tree| tree.has_file(below)),
            }
        }
    }
}
