//! A file system in memory, as far as it matters here: names that stand for
//! things, and things that outlive their names for as long as they are held.

use std::collections::BTreeMap;

use wasmtime_wasi::p2::bindings::filesystem::types::ErrorCode;
use wasmtime_wasi::p2::bindings::sync::filesystem::types::DescriptorType;

/// The longest name, in bytes.
const NAME: usize = 255;

/// Which thing it is.
pub(super) type Id = usize;

#[derive(Debug)]
pub(super) enum Thing {
    File { content: Vec<u8>, mode: u32 },
    Directory(BTreeMap<String, Id>),
    Link(&'static str),
    Pipe,
}

#[derive(Debug)]
pub(super) struct Tree {
    things: Vec<Thing>,
    /// Directories that were removed: nothing is ever in them again.
    removed: Vec<Id>,
}

/// Where a name stands, whether or not something is there.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place<'a> {
    pub(super) directory: Id,
    pub(super) name: &'a str,
}

impl Tree {
    pub(super) const ROOT: Id = 0;

    pub(super) fn new() -> Self {
        Self {
            things: vec![Thing::Directory(BTreeMap::new())],
            removed: Vec::new(),
        }
    }

    pub(super) fn thing(&self, id: Id) -> &Thing {
        &self.things[id]
    }

    pub(super) fn thing_mut(&mut self, id: Id) -> &mut Thing {
        &mut self.things[id]
    }

    pub(super) fn kind(&self, id: Id) -> DescriptorType {
        match self.thing(id) {
            Thing::File { .. } => DescriptorType::RegularFile,
            Thing::Directory(_) => DescriptorType::Directory,
            Thing::Link(_) => DescriptorType::SymbolicLink,
            Thing::Pipe => DescriptorType::Fifo,
        }
    }

    pub(super) fn is_directory(&self, id: Id) -> bool {
        self.kind(id) == DescriptorType::Directory
    }

    pub(super) fn is_file(&self, id: Id) -> bool {
        self.kind(id) == DescriptorType::RegularFile
    }

    pub(super) fn entries(&self, id: Id) -> &BTreeMap<String, Id> {
        match self.thing(id) {
            Thing::Directory(entries) => entries,
            other => panic!("not a directory: {other:?}"),
        }
    }

    fn entries_mut(&mut self, id: Id) -> &mut BTreeMap<String, Id> {
        match self.thing_mut(id) {
            Thing::Directory(entries) => entries,
            other => panic!("not a directory: {other:?}"),
        }
    }

    /// Where the last name of `path` stands below `base`: every name before it
    /// must be one of a directory, and no link is one.
    pub(super) fn place<'a>(&self, base: Id, path: &'a str) -> Result<Place<'a>, ErrorCode> {
        let mut names: Vec<&str> = path.split('/').collect();
        let name = names.pop().expect("a path has a name");
        let mut directory = base;
        for name in names {
            directory = self.at(Place { directory, name })?;
            if !self.is_directory(directory) {
                return Err(ErrorCode::NoEntry);
            }
        }
        Ok(Place { directory, name })
    }

    pub(super) fn is_removed(&self, id: Id) -> bool {
        self.removed.contains(&id)
    }

    /// What stands there.
    pub(super) fn at(&self, place: Place<'_>) -> Result<Id, ErrorCode> {
        if self.is_removed(place.directory) {
            return Err(ErrorCode::NoEntry);
        }
        if place.name.len() > NAME {
            return Err(ErrorCode::NameTooLong);
        }
        let found = self.entries(place.directory).get(place.name);
        found.copied().ok_or(ErrorCode::NoEntry)
    }

    /// What stands at `path` below `base`.
    pub(super) fn find(&self, base: Id, path: &str) -> Result<Id, ErrorCode> {
        self.place(base, path).and_then(|place| self.at(place))
    }

    /// Puts something new where nothing is.
    pub(super) fn make(&mut self, place: Place<'_>, thing: Thing) -> Result<Id, ErrorCode> {
        match self.at(place) {
            Ok(_) => return Err(ErrorCode::Exist),
            Err(ErrorCode::NoEntry) if !self.is_removed(place.directory) => {}
            Err(code) => return Err(code),
        }
        let id = self.things.len();
        self.things.push(thing);
        self.put(place, id);
        Ok(id)
    }

    /// Gives a thing this name, whatever had it.
    pub(super) fn put(&mut self, place: Place<'_>, id: Id) {
        self.entries_mut(place.directory)
            .insert(place.name.to_owned(), id);
    }

    /// Takes the name away.
    pub(super) fn take(&mut self, place: Place<'_>) -> Result<Id, ErrorCode> {
        let id = self.at(place)?;
        self.entries_mut(place.directory).remove(place.name);
        Ok(id)
    }

    /// Removes what stands there with all that is in it.
    pub(super) fn remove_all(&mut self, place: Place<'_>) -> Result<(), ErrorCode> {
        let id = self.take(place)?;
        let mut left = vec![id];
        while let Some(id) = left.pop() {
            if let Thing::Directory(entries) = self.thing_mut(id) {
                left.extend(std::mem::take(entries).into_values());
                self.removed.push(id);
            }
        }
        Ok(())
    }

    /// Whether `inner` is `outer` or stands somewhere in it.
    pub(super) fn holds(&self, outer: Id, inner: Id) -> bool {
        let is_directory = self.is_directory(outer);
        outer == inner
            || is_directory
                && self
                    .entries(outer)
                    .values()
                    .any(|id| self.holds(*id, inner))
    }

    /// Everything below `id` by its path from there.
    pub(super) fn picture(&self, id: Id, path: &str, seen: &mut BTreeMap<String, String>) {
        for (name, id) in self.entries(id) {
            let whole = if path.is_empty() {
                name.clone()
            } else {
                format!("{path}/{name}")
            };
            let holds = match self.thing(*id) {
                Thing::File { content, mode } => format!("{mode:o} {content:?}"),
                Thing::Directory(_) => "directory".to_owned(),
                Thing::Link(target) => format!("to {target}"),
                Thing::Pipe => "pipe".to_owned(),
            };
            seen.insert(whole.clone(), holds);
            if self.is_directory(*id) {
                self.picture(*id, &whole, seen);
            }
        }
    }
}
