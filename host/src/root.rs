//! A root: one directory, checked and pinned, with everything the operator
//! chose about it. Nothing is served yet, and no component is known here.

use std::fmt;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hmac::{Hmac, KeyInit, Mac};
use preopen_contract::limits::Limits;
use preopen_contract::policy::{Policy, PolicyError};
use preopen_contract::session::Protocol;
use rustix::fs::{Dev, Mode, OFlags};
use rustix::io::Errno;
use sha2::Sha256;
use thiserror::Error;

use crate::confine::{Grant, NewFile, temporaries};
use crate::shortage::Shortage;

/// The least a cursor key may have, in bytes: as much as the MAC it keys.
pub const MIN_CURSOR_KEY_BYTES: usize = 32;

/// What writing does to a file that exists.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WriteMode {
    /// It is replaced, completely or not at all.
    #[default]
    Replace,
    /// It stays, and the write is refused.
    CreateNew,
}

/// How the hashes of contents are made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ContentHash {
    /// SHA-256, the same everywhere.
    #[default]
    Sha256,
    /// HMAC-SHA-256 under a secret of this process, derived for this root.
    HmacSha256,
}

/// Which set of tools is served.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Toolset {
    /// Items in pages, for programs.
    #[default]
    Core,
    /// Text for a reader, for desktop clients.
    Workspace,
    /// Both.
    All,
}

/// What to serve, and how.
#[derive(Clone, Debug)]
pub struct Options {
    /// The directory.
    pub root: PathBuf,
    /// Globs of what is served; at least one.
    pub include: Vec<String>,
    /// Globs of what is hidden all the same.
    pub exclude: Vec<String>,
    /// Serves also the names that toolset workspace blocks by default: programs,
    /// passwords and keys.
    pub allow_blocked: bool,
    /// Leaves only the tools that read, and opens the root without the right to write.
    pub read_only: bool,
    /// Which set of tools is served.
    pub toolset: Toolset,
    /// Which revisions of MCP are spoken.
    pub protocol: Protocol,
    /// Leaves only these tools; empty means all of the set.
    pub tools: Vec<String>,
    /// What writing does to a file that exists.
    pub write_mode: WriteMode,
    /// How the hashes of contents are made.
    pub content_hash: ContentHash,
    /// The key that signs cursors, at least [`MIN_CURSOR_KEY_BYTES`]; random if
    /// there is none. Processes that share it accept each other's cursors.
    pub cursor_key: Option<Vec<u8>>,
    /// The bounds in force.
    pub limits: Limits,
}

impl Options {
    /// Serves what `include` selects below `root`, with every default.
    pub fn new(
        root: impl Into<PathBuf>,
        include: impl IntoIterator<Item = impl Into<String>>,
    ) -> Self {
        Self {
            root: root.into(),
            include: include.into_iter().map(Into::into).collect(),
            exclude: Vec::new(),
            allow_blocked: false,
            read_only: false,
            toolset: Toolset::default(),
            protocol: Protocol::default(),
            tools: Vec::new(),
            write_mode: WriteMode::default(),
            content_hash: ContentHash::default(),
            cursor_key: None,
            limits: Limits::core(),
        }
    }
}

impl Options {
    /// What is served of the root.
    ///
    /// # Errors
    /// When a glob is refused, or there is none.
    pub fn policy(&self) -> Result<Policy, PolicyError> {
        let policy = Policy::new(&self.include, &self.exclude)?;
        Ok(match self.toolset {
            Toolset::Workspace | Toolset::All if !self.allow_blocked => policy.blocking(),
            _ => policy,
        })
    }
}

/// Why a root cannot be opened.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum RootError {
    /// Nothing is there.
    #[error("there is no directory at {0}")]
    Missing(PathBuf),
    /// Something else is there.
    #[error("{0} is not a directory")]
    NotADirectory(PathBuf),
    /// A link is there; which directory is served must not depend on it.
    #[error("{0} is a symbolic link; name the directory it points to")]
    Link(PathBuf),
    /// The operating system does not let this process open it.
    #[error("no permission to open {0}")]
    Denied(PathBuf),
    /// It cannot be opened for another reason.
    #[error("cannot open {0}: {1}")]
    Unusable(PathBuf, std::io::Error),
    /// A limit of the process leaves it no room.
    #[error(transparent)]
    Shortage(Shortage),
    /// A glob is refused, or there is none.
    #[error(transparent)]
    Policy(#[from] PolicyError),
    /// The key is shorter than [`MIN_CURSOR_KEY_BYTES`].
    #[error("the cursor key must have at least {MIN_CURSOR_KEY_BYTES} bytes")]
    ShortKey,
    /// The operating system gives no random bytes.
    #[error("the operating system gives no random bytes")]
    NoRandomness,
}

impl RootError {
    /// That the directory at `path` cannot be opened, or worked on.
    fn unusable(path: PathBuf, error: impl Into<std::io::Error>) -> Self {
        let error = error.into();
        match Shortage::of(&error) {
            Some(shortage) => Self::Shortage(shortage),
            None => Self::Unusable(path, error),
        }
    }

    /// The command line's flag that the error is about, without its dashes.
    #[must_use]
    pub fn flag(&self) -> Option<&'static str> {
        match self {
            Self::Missing(_)
            | Self::NotADirectory(_)
            | Self::Link(_)
            | Self::Denied(_)
            | Self::Unusable(..) => Some("root"),
            Self::Policy(error) if error.is_include() => Some("include"),
            Self::Policy(_) => Some("exclude"),
            Self::ShortKey => Some("cursor-key-file"),
            Self::Shortage(_) | Self::NoRandomness => None,
        }
    }
}

/// A directory that is open, with what the operator chose about it.
pub struct Root {
    pub(crate) grant: Arc<Grant>,
    pub(crate) cursor_key: [u8; 32],
    pub(crate) hash_key: Option<[u8; 32]>,
    pub(crate) toolset: Toolset,
    pub(crate) protocol: Protocol,
    pub(crate) tools: Vec<String>,
    pub(crate) write_mode: WriteMode,
    pub(crate) limits: Limits,
}

impl fmt::Debug for Root {
    /// Leaves the keys out.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Root")
            .field("grant", &self.grant)
            .field("tools", &self.tools)
            .field("write_mode", &self.write_mode)
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}

impl Root {
    /// Checks the options and opens the directory. From here on the directory
    /// itself is served, whatever its name comes to mean.
    ///
    /// # Errors
    /// When the directory or a glob or the key is refused; see [`RootError`].
    pub fn open(options: Options) -> Result<Self, RootError> {
        let policy = options.policy()?;
        let secret = random()?;
        if options
            .cursor_key
            .as_ref()
            .is_some_and(|key| key.len() < MIN_CURSOR_KEY_BYTES)
        {
            return Err(RootError::ShortKey);
        }
        let root = open_directory(&options.root)?;
        let unusable = |errno: Errno| RootError::unusable(options.root.clone(), errno);
        let found = rustix::fs::fstat(&root).map_err(unusable)?;
        let scope = Scope {
            device: found.st_dev,
            inode: found.st_ino,
            options: &options,
        };
        let cursor_key = scope.derive(options.cursor_key.as_deref().unwrap_or(&secret), "cursor");
        let hash_key = (options.content_hash == ContentHash::HmacSha256)
            .then(|| scope.derive(&secret, "content hash"));
        let new_file = match options.toolset {
            Toolset::Core => NewFile::Private,
            Toolset::Workspace | Toolset::All => NewFile::Shared,
        };
        let grant = Grant::new(root, policy, !options.read_only, new_file);
        if grant.writable {
            temporaries::sweep(grant.root.as_fd(), || false).map_err(unusable)?;
        }
        Ok(Self {
            grant: Arc::new(grant),
            cursor_key,
            hash_key,
            toolset: options.toolset,
            protocol: options.protocol,
            tools: options.tools,
            write_mode: options.write_mode,
            limits: options.limits,
        })
    }

    /// Whether a file at the root's own top level can be served at all: if
    /// not, writing is always refused.
    #[must_use]
    pub fn reaches_top_level(&self) -> bool {
        self.grant.policy.reaches_top_level()
    }
}

impl AsFd for Root {
    /// The directory itself, to look at what is in it.
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.grant.root.as_fd()
    }
}

fn random() -> Result<[u8; 32], RootError> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).map_err(|_| RootError::NoRandomness)?;
    Ok(bytes)
}

/// What a key is derived for: cursors of another root, or of one under other
/// rules, must not be taken for one's own.
struct Scope<'a> {
    device: Dev,
    inode: u64,
    options: &'a Options,
}

impl Scope<'_> {
    fn derive(&self, secret: &[u8], purpose: &str) -> [u8; 32] {
        // HMAC takes a key of any length (RFC 2104, section 2).
        let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(secret) else {
            unreachable!("HMAC refused a key");
        };
        mac.update(purpose.as_bytes());
        mac.update(&self.device.to_le_bytes());
        mac.update(&self.inode.to_le_bytes());
        for globs in [&self.options.include, &self.options.exclude] {
            mac.update(&(globs.len() as u64).to_le_bytes());
            for glob in globs {
                mac.update(&(glob.len() as u64).to_le_bytes());
                mac.update(glob.as_bytes());
            }
        }
        mac.finalize().into_bytes().into()
    }
}

fn open_directory(path: &Path) -> Result<OwnedFd, RootError> {
    // A trailing slash would have the link followed; the components drop it.
    let path: PathBuf = path.components().collect();
    let path = if path.as_os_str().is_empty() {
        PathBuf::from(".")
    } else {
        path
    };
    let kind = path
        .symlink_metadata()
        .map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound => RootError::Missing(path.clone()),
            std::io::ErrorKind::NotADirectory => RootError::Missing(path.clone()),
            std::io::ErrorKind::PermissionDenied => RootError::Denied(path.clone()),
            _ => RootError::unusable(path.clone(), error),
        })?
        .file_type();
    if kind.is_symlink() {
        return Err(RootError::Link(path));
    }
    if !kind.is_dir() {
        return Err(RootError::NotADirectory(path));
    }
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    rustix::fs::open(&path, flags, Mode::empty()).map_err(|errno| match errno {
        Errno::ACCESS | Errno::PERM => RootError::Denied(path),
        errno => RootError::unusable(path, errno),
    })
}
