//! What `confine` must answer, from the rules alone: the spelling first, then
//! the policy by the path, then what is there.

mod change;
mod open;

use std::collections::BTreeMap;

use preopen_contract::path::is_canonical;
use preopen_contract::policy::{Policy, Verdict, is_reserved};
use wasmtime_wasi::p2::bindings::filesystem::types::ErrorCode;
use wasmtime_wasi::p2::bindings::sync::filesystem::types::{DescriptorFlags, DescriptorType};

use super::operation::{self, Operation, handle};
use super::tree::{Id, Thing, Tree};
use super::{Answer, Given, real};

/// The rights of a descriptor.
const READ: DescriptorFlags = DescriptorFlags::READ;
const WRITE: DescriptorFlags = DescriptorFlags::WRITE;
const MUTATE: DescriptorFlags = DescriptorFlags::MUTATE_DIRECTORY;

/// A handle that is held.
#[derive(Clone, Debug)]
struct Held {
    id: Id,
    path: String,
    rights: DescriptorFlags,
    unfinished: Option<Unfinished>,
}

/// A file that goes with its handle unless it is finished.
#[derive(Clone, Debug)]
struct Unfinished {
    base: Id,
    name: String,
    turn: Option<Turn>,
}

/// One taking of a directory's lock.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Turn {
    number: usize,
    directory: Id,
}

pub(super) struct Model {
    policy: Policy,
    tree: Tree,
    held: Vec<Held>,
    turn: Option<Turn>,
    turns: usize,
}

fn refuse(verdict: Verdict) -> Result<(), ErrorCode> {
    match verdict {
        Verdict::Served => Ok(()),
        Verdict::Excluded => Err(ErrorCode::NotPermitted),
        Verdict::NotIncluded => Err(ErrorCode::Access),
    }
}

/// What holds for a file that is made, moved or removed: a temporary is where
/// files are served.
fn changed(policy: &Policy, whole: &str) -> Verdict {
    let parent = whole.rsplit_once('/').map_or("", |(parent, _)| parent);
    match is_temporary(whole) {
        true => policy.directory(parent),
        false => policy.file(whole),
    }
}

fn is_temporary(path: &str) -> bool {
    path.split('/').next_back().is_some_and(is_reserved)
}

fn join(base: &Held, below: &str) -> Result<String, ErrorCode> {
    let whole = match base.path.as_str() {
        "" => below.to_owned(),
        path => format!("{path}/{below}"),
    };
    if is_canonical(&whole) {
        Ok(whole)
    } else {
        Err(ErrorCode::NotPermitted)
    }
}

impl Model {
    pub(super) fn new(policy: Policy, writable: bool) -> Self {
        let mut tree = Tree::new();
        for (path, holds) in real::CONTENT {
            let place = tree
                .place(Tree::ROOT, path)
                .expect("a directory before what is in it");
            tree.make(place, thing(*holds)).expect("nothing twice");
        }
        let root = Held {
            id: Tree::ROOT,
            path: String::new(),
            rights: if writable { READ | MUTATE } else { READ },
            unfinished: None,
        };
        Self {
            policy,
            tree,
            held: vec![root],
            turn: None,
            turns: 0,
        }
    }

    pub(super) fn picture(&self) -> BTreeMap<String, String> {
        let mut seen = BTreeMap::new();
        self.tree.picture(Tree::ROOT, "", &mut seen);
        seen
    }

    /// Drops every handle in its turn.
    pub(super) fn close(&mut self) {
        while !self.held.is_empty() {
            let last = self.held.remove(0);
            self.drop(&last);
        }
    }

    pub(super) fn answer(&mut self, operation: &Operation) -> Answer {
        use Operation as Op;
        match operation {
            Op::Open(from, path, flags, rights) => {
                let held = self.open(*from, path, *flags, *rights)?;
                self.held.push(held);
                Ok(Given::Nothing)
            }
            Op::Drop(which) => {
                if self.held.len() > 1 {
                    let held = self.held.remove(1 + which % (self.held.len() - 1));
                    self.drop(&held);
                }
                Ok(Given::Nothing)
            }
            Op::Read(file, length, offset) => self.read(*file, *length, *offset),
            Op::Write(file, bytes, offset) => self.write(*file, bytes, *offset),
            Op::Sync(which) => self.sync(*which),
            Op::List(directory) => self.list(*directory),
            Op::MakeDirectory(from, path) => {
                let place = self.change(*from, path, Policy::directory)?;
                self.tree.make(place, Thing::Directory(BTreeMap::new()))?;
                Ok(Given::Nothing)
            }
            Op::RemoveDirectory(from, path) => self.remove_directory(*from, path),
            Op::Unlink(from, path) => self.unlink(*from, path),
            Op::Rename(from, old, to, new) => self.replace(*from, old, *to, new),
            Op::Link(from, old, to, new) => self.put(*from, old, *to, new),
            Op::Stat(from, path) => self.stat(*from, path),
            Op::StatOpen(which) => Ok(self.describe(self.held(*which).id)),
            Op::Rights(which) => Ok(Given::Rights(self.held(*which).rights)),
            Op::Same(one, other) => Ok(Given::Same(self.held(*one).id == self.held(*other).id)),
            Op::Symlink(..) | Op::ReadLink(..) => Err(ErrorCode::NotPermitted),
            Op::SetSize(..) => Err(ErrorCode::Unsupported),
            Op::Appears(path, what) => self.appears(path, *what),
            Op::Disappears(path) => {
                let place = self.tree.place(Tree::ROOT, path)?;
                self.tree.remove_all(place).map(|()| Given::Nothing)
            }
            Op::Moves(old, new) => self.moves(old, new),
        }
    }

    fn held(&self, which: usize) -> &Held {
        &self.held[handle(which, self.held.len())]
    }

    fn directory(&self, which: usize) -> Result<&Held, ErrorCode> {
        let held = self.held(which);
        if self.tree.is_directory(held.id) {
            Ok(held)
        } else {
            Err(ErrorCode::NotDirectory)
        }
    }

    fn mutable(&self, which: usize) -> Result<&Held, ErrorCode> {
        let held = self.directory(which)?;
        if held.rights.contains(MUTATE) {
            Ok(held)
        } else {
            Err(ErrorCode::ReadOnly)
        }
    }

    fn file(&self, which: usize, right: DescriptorFlags) -> Result<Id, ErrorCode> {
        let held = self.held(which);
        if self.tree.is_directory(held.id) {
            Err(ErrorCode::IsDirectory)
        } else if held.rights.contains(right) {
            Ok(held.id)
        } else {
            Err(ErrorCode::BadDescriptor)
        }
    }

    fn describe(&self, id: Id) -> Given {
        let size = match self.tree.thing(id) {
            Thing::File { content, .. } => Some(content.len() as u64),
            _ => None,
        };
        Given::Described(self.tree.kind(id), size)
    }

    fn read(&self, which: usize, length: u64, offset: u64) -> Answer {
        let id = self.file(which, READ)?;
        let Thing::File { content, .. } = self.tree.thing(id) else {
            return Err(ErrorCode::Io);
        };
        if length == 0 {
            return Ok(Given::Read(Vec::new(), false));
        }
        if offset > i64::MAX as u64 {
            return Err(ErrorCode::Io);
        }
        let bytes: Vec<u8> = content
            .iter()
            .copied()
            .skip(offset as usize)
            .take(length.min(1 << 20) as usize)
            .collect();
        let at_end = (bytes.len() as u64) < length.min(1 << 20);
        Ok(Given::Read(bytes, at_end))
    }

    fn write(&mut self, which: usize, bytes: &[u8], offset: u64) -> Answer {
        let id = self.file(which, WRITE)?;
        let Thing::File { content, .. } = self.tree.thing_mut(id) else {
            return Err(ErrorCode::Io);
        };
        if offset > i64::MAX as u64 {
            return Err(ErrorCode::Io);
        }
        if !bytes.is_empty() {
            let (start, end) = (offset as usize, offset as usize + bytes.len());
            content.resize(content.len().max(end), 0);
            content[start..end].copy_from_slice(bytes);
        }
        Ok(Given::Wrote(bytes.len() as u64))
    }

    fn sync(&mut self, which: usize) -> Answer {
        let held = self.held(which);
        let right = if self.tree.is_directory(held.id) {
            MUTATE
        } else {
            WRITE
        };
        if !held.rights.contains(right) {
            return Err(ErrorCode::BadDescriptor);
        }
        if !is_temporary(&held.path) {
            let at = handle(which, self.held.len());
            self.held[at].unfinished = None;
        }
        Ok(Given::Nothing)
    }

    fn list(&self, which: usize) -> Answer {
        let directory = self.directory(which)?;
        refuse(self.policy.directory(&directory.path))?;
        let entries = self.tree.entries(directory.id);
        let mut shown: BTreeMap<_, _> = entries
            .iter()
            .filter_map(|(name, id)| {
                let whole = join(directory, name).ok()?;
                let verdict = match self.tree.is_directory(*id) {
                    true => self.policy.directory(&whole),
                    false => self.policy.file(&whole),
                };
                (verdict == Verdict::Served).then(|| (name.clone(), self.tree.kind(*id)))
            })
            .collect();
        // Who could remove the directory is told that it is not empty.
        let removable = directory.rights.contains(MUTATE) && !directory.path.is_empty();
        let left = entries.iter().filter(|(name, id)| self.is_left(name, **id));
        if removable && shown.len() < entries.len() - left.count() {
            shown.insert(String::new(), DescriptorType::Unknown);
        }
        Ok(Given::Listed(shown))
    }

    /// Whether it is a temporary that nobody is writing.
    fn is_left(&self, name: &str, id: Id) -> bool {
        let is_locked = |held: &Held| held.id == id && is_temporary(&held.path);
        is_reserved(name) && self.tree.is_file(id) && !self.held.iter().any(is_locked)
    }

    fn stat(&self, from: usize, path: &str) -> Answer {
        if path == "." {
            return Ok(self.describe(self.held(from).id));
        }
        let base = self.directory(from)?;
        let whole = join(base, path)?;
        let (file, directory) = (self.policy.file(&whole), self.policy.directory(&whole));
        if directory != Verdict::Served {
            refuse(file)?;
        }
        let id = self.tree.find(base.id, path)?;
        let verdict = match self.tree.kind(id) {
            DescriptorType::RegularFile => file,
            DescriptorType::Directory => directory,
            _ => Verdict::Excluded,
        };
        if verdict == Verdict::Served {
            Ok(self.describe(id))
        } else {
            Err(ErrorCode::NoEntry)
        }
    }
}

/// What stands there at first, or comes to be.
fn thing(what: operation::Thing) -> Thing {
    match what {
        operation::Thing::File => Thing::File {
            content: real::INSIDE.to_vec(),
            mode: real::MODE,
        },
        operation::Thing::Directory => Thing::Directory(BTreeMap::new()),
        operation::Thing::Link(target) => Thing::Link(target),
        operation::Thing::Pipe => Thing::Pipe,
    }
}
