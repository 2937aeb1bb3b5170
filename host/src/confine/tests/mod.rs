//! Confinement alone: the calls of `wasi:filesystem` as a component could make
//! them, on real directories, without a component and without the tools.

#![allow(clippy::unwrap_used)]

/// Runs each of these functions as two tests: as the kernel resolves paths in
/// one step, and name by name, as without openat2.
macro_rules! both_ways {
    ($($name:ident)*) => {
        mod in_one_step {
            $(#[test] fn $name() { super::$name(); })*
        }
        mod name_by_name {
            $(#[test] fn $name() { crate::confine::walk::forced(super::$name); })*
        }
    };
}

mod entries;
mod kinds;
mod reach;
mod seen;
mod writing;

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use preopen_contract::policy::{Policy, RESERVED_PREFIX, RESERVED_SUFFIX};
use wasmtime::component::{Resource, ResourceTable};
use wasmtime_wasi::p2::FsResult;
use wasmtime_wasi::p2::bindings::filesystem::preopens::Host as _;
use wasmtime_wasi::p2::bindings::filesystem::types::ErrorCode;
use wasmtime_wasi::p2::bindings::sync::filesystem::types::{
    Descriptor, DescriptorFlags, HostDescriptor as _, OpenFlags, PathFlags,
};

use super::{Confine, Counters, Grant, NewFile, View};
use crate::hostile;

const READ: DescriptorFlags = DescriptorFlags::READ;
const WRITE: DescriptorFlags = DescriptorFlags::WRITE;
const MUTATE: DescriptorFlags = DescriptorFlags::MUTATE_DIRECTORY;

/// A root with one of everything, and a directory beside it.
struct World {
    inner: hostile::World,
    writable: bool,
}

fn temporary() -> String {
    format!("{RESERVED_PREFIX}{:032x}{RESERVED_SUFFIX}", 7)
}

impl World {
    fn new(writable: bool) -> Self {
        Self {
            inner: hostile::World::new().unwrap(),
            writable,
        }
    }

    fn root(&self) -> PathBuf {
        self.inner.root()
    }

    fn outside(&self) -> PathBuf {
        self.inner.outside()
    }

    /// Every entry under the root and beside it, with what it holds.
    fn picture(&self) -> BTreeMap<PathBuf, String> {
        self.inner.everything().unwrap()
    }

    fn confine(&self) -> Confine {
        let options = self.inner.options();
        let root = fs::File::open(self.root()).unwrap().into();
        let policy = Policy::new(&options.include, &options.exclude).unwrap();
        let grant = Grant::new(root, policy, self.writable, NewFile::Private);
        let deadline = Instant::now() + Duration::from_secs(60);
        Confine::new(Arc::new(grant), Arc::new(Counters::until(deadline)))
    }

    /// Runs `work` as an instance would, with its root handle.
    fn enter<T>(&self, work: impl FnOnce(&mut View<'_>, u32) -> T) -> T {
        let (mut confine, mut table) = (self.confine(), ResourceTable::new());
        let mut view = View {
            confine: &mut confine,
            table: &mut table,
        };
        let root = view.get_directories().unwrap().remove(0).0.rep();
        work(&mut view, root)
    }
}

fn fd(rep: u32) -> Resource<Descriptor> {
    Resource::new_borrow(rep)
}

fn open(
    view: &mut View<'_>,
    base: u32,
    path: &str,
    flags: OpenFlags,
    rights: DescriptorFlags,
) -> Result<u32, ErrorCode> {
    code(view.open_at(
        fd(base),
        PathFlags::SYMLINK_FOLLOW,
        path.into(),
        flags,
        rights,
    ))
    .map(|descriptor| descriptor.rep())
}

fn code<T>(result: FsResult<T>) -> Result<T, ErrorCode> {
    result.map_err(|error| error.downcast().expect("an error code, not a trap"))
}
