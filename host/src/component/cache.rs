//! Code that was compiled before, kept in files of the user. Who can write one
//! can run code as the user, so nobody else may, and no component can: the
//! directory has a reserved name, below which no server opens or makes anything.

use std::fs::{DirBuilder, File};
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use preopen_contract::hash::hex;
use preopen_contract::policy::{RESERVED_PREFIX, RESERVED_SUFFIX};
use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags};
use sha2::{Digest, Sha256};
use thiserror::Error;

/// What code is found by: a digest of everything it depends on.
pub(super) type Key = [u8; DIGEST];

/// Bytes of a SHA-256.
const DIGEST: usize = 32;

/// Between the two halves of a reserved name.
const DIGITS: &str = "00000000000000000000000000000000";

/// Why there is no cache.
#[derive(Debug, Error)]
pub(super) enum CacheError {
    #[error("there is neither XDG_CACHE_HOME nor a home directory")]
    Nowhere,
    #[error("{0} lies in the root, where a client could get at it")]
    InRoot(PathBuf),
    #[error("{0}: {1}")]
    Unusable(PathBuf, io::Error),
}

/// Why a file or directory of the cache is not trusted.
#[derive(Debug, Error)]
enum Unfit {
    #[error("it is neither a directory nor a regular file")]
    Kind,
    #[error("it belongs to somebody else")]
    Owner,
    #[error("others can write to it")]
    Writable,
    #[error("it is damaged")]
    Damaged,
}

impl From<Unfit> for io::Error {
    fn from(unfit: Unfit) -> Self {
        Self::other(unfit)
    }
}

/// A directory that only the user can write to.
pub(super) struct Cache(OwnedFd);

impl Cache {
    /// The user's, unless it lies in `root`.
    pub(super) fn of_user(root: &Path) -> Result<Self, CacheError> {
        let set = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
        let base = set
            // The specification has relative paths ignored (XDG base directories).
            .filter(|path| path.is_absolute())
            .or_else(|| std::env::home_dir().map(|home| home.join(".cache")))
            .filter(|path| path.is_absolute())
            .ok_or(CacheError::Nowhere)?
            .join(env!("CARGO_PKG_NAME"));
        Self::open(&base, root)
    }

    fn open(base: &Path, root: &Path) -> Result<Self, CacheError> {
        let unusable = |error| CacheError::Unusable(base.to_owned(), error);
        let name = format!("{RESERVED_PREFIX}{DIGITS}{RESERVED_SUFFIX}");
        let path = base.join(&name);
        let root = root.canonicalize().map_err(unusable)?;
        // What is not there yet will lie where the part that is there does.
        let real = path.ancestors().find_map(|path| path.canonicalize().ok());
        if real.is_none_or(|real| real.starts_with(root)) {
            return Err(CacheError::InRoot(base.to_owned()));
        }
        let mut make = DirBuilder::new();
        make.recursive(true).mode(0o700);
        make.create(&path).map_err(unusable)?;
        let outer = directory(CWD, base).map_err(unusable)?;
        directory(&outer, Path::new(&name))
            .map(Self)
            .map_err(unusable)
    }

    /// The code kept under `key`, if it is there, whole and the user's alone.
    pub(super) fn take(&self, key: &Key) -> Option<Vec<u8>> {
        match self.read(key) {
            Ok(code) => Some(code),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => {
                crate::diagnostics::report(&format_args!("component: not from the cache: {error}"));
                None
            }
        }
    }

    fn read(&self, key: &Key) -> io::Result<Vec<u8>> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = rustix::fs::openat(&self.0, name(key), flags, Mode::empty())?;
        own(&file, FileType::RegularFile)?;
        let mut bytes = Vec::new();
        File::from(file).read_to_end(&mut bytes)?;
        match bytes.split_first_chunk() {
            Some((stored, code)) if *stored == digest(key, code) => Ok(code.to_vec()),
            _ => Err(Unfit::Damaged.into()),
        }
    }

    /// Keeps `code` under `key`: in full, in the place of what was there, or
    /// not at all.
    pub(super) fn put(&self, key: &Key, code: &[u8]) -> io::Result<()> {
        let mut random = [0; 8];
        getrandom::fill(&mut random).map_err(io::Error::other)?;
        let (name, temporary) = (name(key), format!("{}.new", name(&random)));
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        let file = rustix::fs::openat(&self.0, &temporary, flags, Mode::RUSR | Mode::WUSR)?;
        let mut file = File::from(file);
        let written = file
            .write_all(&digest(key, code))
            .and_then(|()| file.write_all(code))
            .and_then(|()| Ok(rustix::fs::renameat(&self.0, &temporary, &self.0, name)?));
        if written.is_err() {
            let _ = rustix::fs::unlinkat(&self.0, &temporary, AtFlags::empty());
        }
        written
    }
}

/// What stands before the code: a file that was cut short, damaged or renamed
/// does not fit it. It is no signature; who may write is what protects the code.
fn digest(key: &Key, code: &[u8]) -> [u8; DIGEST] {
    Sha256::new()
        .chain_update(key)
        .chain_update(code)
        .finalize()
        .into()
}

fn name(bytes: &[u8]) -> String {
    let mut name = String::new();
    hex(&mut name, bytes);
    name
}

fn directory(at: impl AsFd, path: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let opened = rustix::fs::openat(at, path, flags, Mode::empty())?;
    own(&opened, FileType::Directory)?;
    Ok(opened)
}

/// Makes sure that it belongs to the user, and only the user can write to it.
fn own(file: &OwnedFd, kind: FileType) -> io::Result<()> {
    let stat = rustix::fs::fstat(file)?;
    match () {
        () if FileType::from_raw_mode(stat.st_mode) != kind => Err(Unfit::Kind.into()),
        () if stat.st_uid != rustix::process::geteuid().as_raw() => Err(Unfit::Owner.into()),
        () if Mode::from_raw_mode(stat.st_mode).intersects(Mode::WGRP | Mode::WOTH) => {
            Err(Unfit::Writable.into())
        }
        () => Ok(()),
    }
}
