//! How a path becomes a descriptor. The policy is asked first, by the path
//! alone; then the kernel opens; then the open descriptor itself says what it
//! is. Only what the product needs is possible: reading and writing a regular
//! file, entering a directory, and making a new file that was not there.

use std::cell::Cell;
use std::os::fd::AsFd;
use std::sync::Arc;

use preopen_contract::policy::Verdict;
use rustix::fs::{FileType, Mode, OFlags};
use rustix::io::Errno;
use wasmtime::component::Resource;
use wasmtime_wasi::p2::FsResult;
use wasmtime_wasi::p2::bindings::filesystem::types::ErrorCode;
use wasmtime_wasi::p2::bindings::sync::filesystem::types::{
    Descriptor, DescriptorFlags, OpenFlags,
};

use super::descriptor::{Node, Target, kind};
use super::directory::changed;
use super::errno::{code, refuse};
use super::resolve::{self, Place};
use super::system::Found;
use super::{Grant, View};
use crate::layer::Layer;

impl Grant {
    /// What holds for `whole` when it is opened as a file. A temporary is
    /// only ever made, next to files that are served; it is never found.
    fn judge_file(&self, whole: &str, makes: bool) -> Result<(), ErrorCode> {
        refuse(match makes {
            true => changed(&self.policy, whole),
            false => self.policy.file(whole),
        })
    }
}

impl View<'_> {
    pub(super) fn open_below(
        &mut self,
        descriptor: &Resource<Descriptor>,
        below: &str,
        open: OpenFlags,
        rights: DescriptorFlags,
    ) -> FsResult<Resource<Descriptor>> {
        let node = if open.contains(OpenFlags::DIRECTORY) {
            self.open_directory(descriptor, below, open, rights)?
        } else {
            self.open_file(descriptor, below, open, rights)?
        };
        self.push(node)
    }

    fn open_directory(
        &mut self,
        descriptor: &Resource<Descriptor>,
        below: &str,
        open: OpenFlags,
        rights: DescriptorFlags,
    ) -> Result<Node, ErrorCode> {
        let mutate = rights.contains(DescriptorFlags::MUTATE_DIRECTORY);
        let known = DescriptorFlags::READ | DescriptorFlags::MUTATE_DIRECTORY;
        let supported = open == OpenFlags::DIRECTORY
            && rights.contains(DescriptorFlags::READ)
            && known.contains(rights);
        if !supported {
            return Err(ErrorCode::Unsupported);
        }
        let from = self.node(descriptor)?;
        from.directory()?;
        if mutate {
            from.mutable()?;
        }
        // WASI has no other way to open a directory that is open already.
        let (path, base, name) = if below == "." {
            (from.path.clone(), Arc::clone(&from.file), ".")
        } else {
            let Target { whole, base } = self.target(descriptor, below)?;
            (whole, base, below)
        };
        refuse(self.confine.grant.policy.directory(&path))?;
        let flags = OFlags::RDONLY | OFlags::DIRECTORY;
        let file = match resolve::open(&base, name, flags, Mode::empty()) {
            // Served as a directory, there as a file: said only if the file is served.
            Err(Errno::NOTDIR) => {
                let served = self.confine.grant.policy.file(&path) == Verdict::Served;
                return Err(if served && is_regular(&base, name).map_err(code)? {
                    ErrorCode::NotDirectory
                } else {
                    ErrorCode::NoEntry
                });
            }
            result => result.map_err(code)?,
        };
        Ok(Node {
            file: Arc::new(file),
            path,
            is_directory: true,
            rights,
            unfinished: None,
            opened: Cell::new(None),
            advised: Cell::default(),
            listed: None,
        })
    }

    fn open_file(
        &mut self,
        descriptor: &Resource<Descriptor>,
        below: &str,
        open: OpenFlags,
        rights: DescriptorFlags,
    ) -> Result<Node, ErrorCode> {
        let makes = open.contains(OpenFlags::CREATE);
        let read = rights.contains(DescriptorFlags::READ);
        let write = rights.contains(DescriptorFlags::WRITE);
        // Truncating and making-or-opening are how files get torn or lost.
        let known = DescriptorFlags::READ | DescriptorFlags::WRITE;
        let supported = (open == OpenFlags::empty()
            || open == OpenFlags::CREATE | OpenFlags::EXCLUSIVE)
            && known.contains(rights)
            && (read || write)
            && (write || !makes);
        if !supported {
            return Err(ErrorCode::Unsupported);
        }
        if write {
            self.node(descriptor)?.mutable()?;
        }
        let Target { whole, base } = self.target(descriptor, below)?;
        self.confine.grant.judge_file(&whole, makes)?;
        // What changes something is found from the root: a directory that was
        // moved out while it was held is not where its path says.
        let (base, name) = match write {
            true => (Arc::clone(&self.confine.grant.root), whole.as_str()),
            false => (base, below),
        };
        let access = match (read, write) {
            (true, true) => OFlags::RDWR,
            (false, true) => OFlags::WRONLY,
            _ => OFlags::RDONLY,
        };
        let mut opened = None;
        let result = if makes {
            let made = self.confine.make(base, name, access);
            made.map(|made| (Arc::clone(made.file()), Some(made)))
        } else {
            // Opening a pipe or a device does something by itself, so what is
            // no regular file is not opened; what was put there just then is
            // let go of unread.
            Place::of(base.as_fd(), name)
                .and_then(|place| place.stat())
                .and_then(|found| regular(&found))
                .and_then(|()| resolve::open(&base, name, access, Mode::empty()))
                .and_then(|file| {
                    let found = resolve::stat(&file)?;
                    opened = (!write).then_some(found);
                    regular(&found).map(|()| (Arc::new(file), None))
                })
        };
        match result {
            Ok((file, unfinished)) => Ok(Node {
                file,
                unfinished,
                path: whole,
                is_directory: false,
                rights,
                opened: Cell::new(opened),
                advised: Cell::default(),
                listed: None,
            }),
            // Served as a file, there as a directory: said only if that is served.
            Err(Errno::ISDIR) if self.confine.grant.policy.directory(&whole) != Verdict::Served => {
                Err(ErrorCode::NoEntry)
            }
            // Below a file there is nothing.
            Err(Errno::NOTDIR) => Err(ErrorCode::NoEntry),
            Err(errno) => Err(code(errno)),
        }
    }
}

/// Whether it is a regular file.
pub(super) fn regular(found: &Found) -> Result<(), Errno> {
    match kind(found) {
        FileType::RegularFile => Ok(()),
        FileType::Directory => Err(Errno::ISDIR),
        _ if !Layer::Policy.holds() => Ok(()),
        _ => Err(Errno::NOENT),
    }
}

fn is_regular(base: impl AsFd, below: &str) -> Result<bool, Errno> {
    let found = Place::of(base.as_fd(), below)?.stat()?;
    Ok(regular(&found).is_ok())
}
