//! The same operations on a real directory, through the calls that a component
//! makes, and by somebody else who shares the directory.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use preopen_contract::entries;
use preopen_contract::policy::Policy;
use tempfile::TempDir;
use wasmtime::component::{Resource, ResourceTable};
use wasmtime_wasi::p2::FsResult;
use wasmtime_wasi::p2::bindings::filesystem::preopens::Host as _;
use wasmtime_wasi::p2::bindings::filesystem::types::ErrorCode;
use wasmtime_wasi::p2::bindings::sync::filesystem::types::{
    Advice, Descriptor, DescriptorFlags, DescriptorStat, DescriptorType, HostDescriptor,
    HostDirectoryEntryStream, OpenFlags, PathFlags,
};

use super::operation::{Operation, TEMPORARIES, Thing, handle};
use super::{Answer, Given, in_brief};
use crate::confine::{Confine, Counters, Grant, NewFile, View};

/// What every file says at first, and its mode.
pub(super) const INSIDE: &[u8] = b"inside";
pub(super) const MODE: u32 = 0o640;
const OUTSIDE: &[u8] = b"outside";

/// What there is at first, directories before what is in them.
pub(super) const CONTENT: &[(&str, Thing)] = &[
    ("a.txt", Thing::File),
    ("b.txt", Thing::File),
    ("plain", Thing::File),
    ("d", Thing::Directory),
    ("d/a.txt", Thing::File),
    ("d/e", Thing::Directory),
    ("d/e/a.txt", Thing::File),
    ("d/up.txt", Thing::Link("..")),
    ("dir.txt", Thing::Directory),
    ("dir.txt/a.txt", Thing::File),
    ("hidden", Thing::Directory),
    ("hidden/a.txt", Thing::File),
    ("hidden/d", Thing::Directory),
    (
        "hidden/.preopen-mcp-00000000000000000000000000000001.tmp",
        Thing::File,
    ),
    ("in.txt", Thing::Link("d")),
    ("out.txt", Thing::Link("../outside/a.txt")),
    ("out", Thing::Link("../outside")),
    ("pipe.txt", Thing::Pipe),
    (TEMPORARIES[1], Thing::File),
];

/// One instance with a root of its own. Fields are dropped in this order.
pub(super) struct Real {
    table: ResourceTable,
    confine: Confine,
    held: Vec<u32>,
    base: TempDir,
}

fn fd(rep: u32) -> Resource<Descriptor> {
    Resource::new_borrow(rep)
}

fn code<T>(result: FsResult<T>) -> Result<T, ErrorCode> {
    result.map_err(|error| error.downcast().expect("an error code, not a trap"))
}

fn put(root: &Path, path: &str, thing: Thing) {
    let path = root.join(path);
    match thing {
        Thing::File => {
            fs::write(&path, INSIDE).expect("written");
            fs::set_permissions(&path, fs::Permissions::from_mode(MODE)).expect("a mode");
        }
        Thing::Directory => fs::create_dir(path).expect("a directory"),
        Thing::Link(target) => symlink(target, path).expect("a link"),
        Thing::Pipe => crate::hostile::make_pipe(&path).expect("a pipe"),
    }
}

impl Real {
    pub(super) fn new(policy: Policy, writable: bool) -> Self {
        let base = tempfile::Builder::new().prefix("preopen-").tempdir();
        let base = base.expect("a temporary directory");
        let (root, outside) = (base.path().join("root"), base.path().join("outside"));
        for directory in [&root, &outside] {
            fs::create_dir(directory).expect("a directory");
        }
        fs::write(outside.join("a.txt"), OUTSIDE).expect("written");
        for (path, thing) in CONTENT {
            put(&root, path, *thing);
        }
        let opened = fs::File::open(&root).expect("the root").into();
        let grant = Grant::new(opened, policy, writable, NewFile::Private);
        let deadline = Instant::now() + Duration::from_secs(600);
        let mut real = Self {
            table: ResourceTable::new(),
            confine: Confine::new(Arc::new(grant), Arc::new(Counters::until(deadline))),
            held: Vec::new(),
            base,
        };
        let root = real.view().get_directories().expect("the root").remove(0).0;
        real.held.push(root.rep());
        real
    }

    fn view(&mut self) -> View<'_> {
        View {
            confine: &mut self.confine,
            table: &mut self.table,
        }
    }

    fn root(&self) -> PathBuf {
        self.base.path().join("root")
    }

    /// Everything below the root.
    pub(super) fn picture(&self) -> BTreeMap<String, String> {
        let mut seen = BTreeMap::new();
        describe(&self.root(), "", &mut seen);
        seen
    }

    /// Everything beside it.
    pub(super) fn outside(&self) -> BTreeMap<String, String> {
        let mut seen = BTreeMap::new();
        describe(&self.base.path().join("outside"), "outside", &mut seen);
        for entry in fs::read_dir(self.base.path()).expect("a directory") {
            let name = entry.expect("an entry").file_name();
            seen.insert(name.to_string_lossy().into_owned(), "beside".to_owned());
        }
        seen
    }

    /// Drops every handle in its turn.
    pub(super) fn close(&mut self) {
        for rep in std::mem::take(&mut self.held) {
            self.drop(rep);
        }
        assert!(self.table.is_empty(), "a handle is left");
    }

    fn drop(&mut self, rep: u32) {
        let own = Resource::<Descriptor>::new_own(rep);
        HostDescriptor::drop(&mut self.view(), own).expect("a handle that was held");
    }

    fn held(&self, which: usize) -> Resource<Descriptor> {
        fd(self.held[handle(which, self.held.len())])
    }

    pub(super) fn answer(&mut self, operation: &Operation) -> Answer {
        use Operation as Op;
        let follow = PathFlags::SYMLINK_FOLLOW;
        let held = |which: &usize| self.held(*which);
        let nothing = |result: FsResult<()>| code(result).map(|()| Given::Nothing);
        match operation {
            Op::Open(from, path, flags, rights) => {
                let from = held(from);
                let opened = self
                    .view()
                    .open_at(from, follow, path.clone(), *flags, *rights);
                self.held.push(code(opened)?.rep());
                Ok(Given::Nothing)
            }
            Op::Drop(which) => {
                if self.held.len() > 1 {
                    let rep = self.held.remove(1 + which % (self.held.len() - 1));
                    self.drop(rep);
                }
                Ok(Given::Nothing)
            }
            Op::Read(file, length, offset) => {
                let file = held(file);
                let read = code(self.view().read(file, *length, *offset));
                read.map(|(bytes, at_end)| Given::Read(bytes, at_end))
            }
            Op::Write(file, bytes, offset) => {
                let file = held(file);
                code(self.view().write(file, bytes.clone(), *offset)).map(Given::Wrote)
            }
            Op::Sync(which) => {
                let which = held(which);
                nothing(self.view().sync(which))
            }
            Op::List(directory) => {
                let (one, other) = (held(directory), held(directory));
                let listed = self.list(one);
                let read = self.read_to_end(other);
                let brief = listed.as_ref().map(|listed| in_brief(listed.clone()));
                assert_eq!(read.as_ref(), brief.as_ref().map_err(|code| *code));
                listed
            }
            Op::MakeDirectory(from, path) => {
                let from = held(from);
                nothing(self.view().create_directory_at(from, path.clone()))
            }
            Op::RemoveDirectory(from, path) => {
                let from = held(from);
                nothing(self.view().remove_directory_at(from, path.clone()))
            }
            Op::Unlink(from, path) => {
                let from = held(from);
                nothing(self.view().unlink_file_at(from, path.clone()))
            }
            Op::Rename(from, old, to, new) => {
                let (from, to) = (held(from), held(to));
                nothing(self.view().rename_at(from, old.clone(), to, new.clone()))
            }
            Op::Link(from, old, to, new) => {
                let (from, to) = (held(from), held(to));
                nothing(
                    self.view()
                        .link_at(from, follow, old.clone(), to, new.clone()),
                )
            }
            Op::Stat(from, path) => {
                let (one, other) = (held(from), held(from));
                let stat = code(self.view().stat_at(one, follow, path.clone()));
                let hash = code(self.view().metadata_hash_at(other, follow, path.clone()));
                assert_eq!(hash.map(|_| ()).err(), stat.as_ref().err().copied());
                stat.map(|stat| described(&stat))
            }
            Op::StatOpen(which) => {
                let (one, other) = (held(which), held(which));
                let stat = code(self.view().stat(one))?;
                assert_eq!(code(self.view().get_type(other)), Ok(stat.type_));
                Ok(described(&stat))
            }
            Op::Rights(which) => {
                let which = held(which);
                code(self.view().get_flags(which)).map(Given::Rights)
            }
            Op::Same(one, other) => {
                let (one, other) = (held(one), held(other));
                Ok(Given::Same(
                    self.view().is_same_object(one, other).expect("no trap"),
                ))
            }
            Op::Symlink(from, old, new) => {
                let from = held(from);
                nothing(self.view().symlink_at(from, old.clone(), new.clone()))
            }
            Op::ReadLink(from, path) => {
                let from = held(from);
                code(self.view().readlink_at(from, path.clone())).map(|_| Given::Nothing)
            }
            Op::SetSize(which) => {
                let which = held(which);
                nothing(self.view().set_size(which, 0))
            }
            Op::Appears(..) | Op::Disappears(..) | Op::Moves(..) => unreachable!("no call"),
        }
    }

    fn list(&mut self, directory: Resource<Descriptor>) -> Answer {
        let mut view = self.view();
        let stream = code(view.read_directory(directory))?;
        let mut seen = BTreeMap::new();
        while let Some(entry) = code(view.read_directory_entry(Resource::new_borrow(stream.rep())))?
        {
            let twice = seen.insert(entry.name, entry.type_);
            assert_eq!(twice, None, "an entry is listed twice");
        }
        HostDirectoryEntryStream::drop(&mut view, stream).expect("a listing that was held");
        Ok(Given::Listed(seen))
    }

    /// Reads a directory in parts as small as they may be.
    fn read_to_end(&mut self, directory: Resource<Descriptor>) -> Answer {
        // A handle of its own, which alone is read in this way.
        let mut view = self.view();
        let rights = code(view.get_flags(fd(directory.rep())))?;
        let rights = rights & DescriptorFlags::MUTATE_DIRECTORY | DescriptorFlags::READ;
        let none = PathFlags::empty();
        let own = code(view.open_at(directory, none, ".".into(), OpenFlags::DIRECTORY, rights))?;
        code(view.advise(fd(own.rep()), 0, 0, Advice::Sequential))?;
        let mut all = Vec::new();
        loop {
            let length = entries::LEAST as u64;
            let (bytes, at_end) = code(view.read(fd(own.rep()), length, all.len() as u64))?;
            all.extend(bytes);
            if at_end {
                HostDescriptor::drop(&mut view, own).expect("a handle that was held");
                return Ok(entries_of(all));
            }
        }
    }

    /// What somebody else does, who can.
    pub(super) fn others(&self, operation: &Operation) {
        let root = self.root();
        match operation {
            Operation::Appears(path, thing) => put(&root, path, *thing),
            Operation::Disappears(path) => {
                let path = root.join(path);
                let is_directory = path.symlink_metadata().expect("something").is_dir();
                let removed = match is_directory {
                    true => fs::remove_dir_all(path),
                    false => fs::remove_file(path),
                };
                removed.expect("removed");
            }
            Operation::Moves(old, new) => {
                fs::rename(root.join(old), root.join(new)).expect("moved")
            }
            _ => unreachable!("a call"),
        }
    }
}

/// The entries that were read of a directory.
fn entries_of(bytes: Vec<u8>) -> Given {
    let text = String::from_utf8(bytes).expect("names are text");
    let mut seen = BTreeMap::new();
    for (kind, name) in entries::parse(&text) {
        let kind = match kind {
            entries::Kind::File => DescriptorType::RegularFile,
            entries::Kind::Directory => DescriptorType::Directory,
            entries::Kind::Other => DescriptorType::Unknown,
        };
        let twice = seen.insert(name.to_owned(), kind);
        assert_eq!(twice, None, "an entry is read twice");
    }
    Given::Listed(seen)
}

fn described(stat: &DescriptorStat) -> Given {
    let size = (stat.type_ == DescriptorType::RegularFile).then_some(stat.size);
    Given::Described(stat.type_, size)
}

fn describe(directory: &Path, path: &str, seen: &mut BTreeMap<String, String>) {
    for entry in fs::read_dir(directory).expect("a directory") {
        let entry = entry.expect("an entry");
        let name = entry.file_name().into_string().expect("a name of ours");
        let whole = if path.is_empty() {
            name
        } else {
            format!("{path}/{name}")
        };
        let kind = entry.file_type().expect("a kind");
        let holds = if kind.is_file() {
            let mode = entry.metadata().expect("a mode").permissions().mode() & 0o7777;
            let content = fs::read(entry.path()).expect("its content");
            format!("{mode:o} {content:?}")
        } else if kind.is_dir() {
            "directory".to_owned()
        } else if kind.is_symlink() {
            let target = fs::read_link(entry.path()).expect("a target");
            format!("to {}", target.display())
        } else {
            "pipe".to_owned()
        };
        seen.insert(whole.clone(), holds);
        if kind.is_dir() {
            describe(&entry.path(), &whole, seen);
        }
    }
}
