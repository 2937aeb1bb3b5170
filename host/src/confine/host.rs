//! The generated traits of `wasi:filesystem`, one line an operation: which of
//! this module's functions answers it. What the product does not need stands
//! in `unused` and says no.

use std::cell::Cell;
use std::sync::Arc;

use wasmtime::component::Resource;
use wasmtime_wasi::p2::bindings::filesystem::preopens;
use wasmtime_wasi::p2::bindings::filesystem::types::ErrorCode;
use wasmtime_wasi::p2::bindings::sync::filesystem::types::{
    self, Advice, Descriptor, DescriptorFlags, DescriptorStat, DescriptorType, DirectoryEntry,
    DirectoryEntryStream, Filesize, MetadataHashValue, NewTimestamp, OpenFlags, PathFlags,
};
use wasmtime_wasi::p2::bindings::sync::io::streams::{self, InputStream, OutputStream};
use wasmtime_wasi::p2::{FsError, FsResult};

use super::descriptor::{Node, describe, fingerprint, identity, kind, type_of};
use super::errno::GONE;
use super::{View, resolve, unused};

impl preopens::Host for View<'_> {
    fn get_directories(&mut self) -> wasmtime::Result<Vec<(Resource<Descriptor>, String)>> {
        let grant = &self.confine.grant;
        let mut rights = DescriptorFlags::READ;
        if grant.writable {
            rights |= DescriptorFlags::MUTATE_DIRECTORY;
        }
        let root = Node {
            file: Arc::clone(&grant.root),
            path: String::new(),
            is_directory: true,
            rights,
            unfinished: None,
            opened: Cell::new(None),
            advised: Cell::default(),
            listed: None,
        };
        let root = self.table.push(root)?;
        Ok(vec![(Resource::new_own(root.rep()), "/".to_owned())])
    }
}

impl View<'_> {
    /// Where nothing was found, it may be because the root itself is gone.
    fn unless_gone<T>(&mut self, result: FsResult<T>) -> FsResult<T> {
        let seen = self.saw(result);
        self.or_gone(seen)
    }

    /// The same, where that nothing was found is taken note of already.
    fn or_gone<T>(&self, result: FsResult<T>) -> FsResult<T> {
        result.map_err(|error| match error.downcast_ref() {
            Some(ErrorCode::NoEntry) if self.root_is_gone() => GONE.into(),
            _ => error,
        })
    }

    /// Whether the root was removed: it has not even its own name any more.
    fn root_is_gone(&self) -> bool {
        resolve::stat(&*self.confine.grant.root).is_ok_and(|found| found.links == 0)
    }
}

impl types::Host for View<'_> {
    fn convert_error_code(&mut self, error: FsError) -> wasmtime::Result<types::ErrorCode> {
        error.downcast().map(|code: ErrorCode| code.into())
    }

    fn filesystem_error_code(
        &mut self,
        _: Resource<streams::Error>,
    ) -> wasmtime::Result<Option<types::ErrorCode>> {
        // No stream of a file is ever handed out, so no error is one's.
        Ok(None)
    }
}

impl View<'_> {
    /// What an operation gave. An error is something that was seen as well,
    /// and not of a kind that can be looked at again.
    fn saw<T>(&mut self, result: FsResult<T>) -> FsResult<T> {
        if result.is_err() {
            self.confine.seen.doubt();
        }
        result
    }
}

type Fd = Resource<Descriptor>;

impl types::HostDescriptor for View<'_> {
    fn open_at(
        &mut self,
        directory: Fd,
        _: PathFlags,
        path: String,
        open: OpenFlags,
        rights: DescriptorFlags,
    ) -> FsResult<Fd> {
        if open.contains(OpenFlags::CREATE) {
            self.confine.seen.doubt();
        }
        let opened = self.open_below(&directory, &path, open, rights);
        self.unless_gone(opened)
    }

    fn read(&mut self, file: Fd, length: Filesize, offset: Filesize) -> FsResult<(Vec<u8>, bool)> {
        if self
            .node(&file)
            .is_ok_and(|node| node.advised.get().is_read)
        {
            let read = self.read_entries(&file, length, offset);
            return self.unless_gone(read);
        }
        let known = self
            .node(&file)
            .is_ok_and(|node| self.confine.seen.knows(&node.path));
        let read = self.read_at(&file, length, offset);
        if !known {
            self.confine.seen.doubt();
        }
        self.saw(read)
    }

    fn write(&mut self, file: Fd, bytes: Vec<u8>, offset: Filesize) -> FsResult<Filesize> {
        self.confine.seen.doubt();
        self.write_at(&file, bytes, offset)
    }

    fn sync(&mut self, descriptor: Fd) -> FsResult<()> {
        self.flush(&descriptor)
    }

    fn sync_data(&mut self, descriptor: Fd) -> FsResult<()> {
        self.flush(&descriptor)
    }

    fn read_directory(&mut self, directory: Fd) -> FsResult<Resource<DirectoryEntryStream>> {
        let listed = self.list(&directory);
        self.saw(listed)
    }

    fn create_directory_at(&mut self, directory: Fd, path: String) -> FsResult<()> {
        self.confine.seen.doubt();
        let made = self.make_directory(&directory, &path);
        self.unless_gone(made)
    }

    fn remove_directory_at(&mut self, directory: Fd, path: String) -> FsResult<()> {
        self.confine.seen.doubt();
        let removed = self.remove_directory(&directory, &path);
        self.unless_gone(removed)
    }

    fn unlink_file_at(&mut self, directory: Fd, path: String) -> FsResult<()> {
        self.confine.seen.doubt();
        let removed = self.unlink(&directory, &path);
        self.unless_gone(removed)
    }

    fn rename_at(&mut self, from: Fd, old: String, to: Fd, new: String) -> FsResult<()> {
        self.confine.seen.doubt();
        let placed = self.replace(&from, &old, &to, &new);
        self.unless_gone(placed)
    }

    fn get_flags(&mut self, descriptor: Fd) -> FsResult<DescriptorFlags> {
        Ok(self.node(&descriptor)?.rights)
    }

    fn get_type(&mut self, descriptor: Fd) -> FsResult<DescriptorType> {
        let found = self.stat_open(&descriptor);
        self.saw(found).map(|found| type_of(kind(&found)))
    }

    fn stat(&mut self, descriptor: Fd) -> FsResult<DescriptorStat> {
        let found = self.stat_open(&descriptor);
        self.saw(found).map(|found| describe(&found))
    }

    fn stat_at(&mut self, directory: Fd, _: PathFlags, path: String) -> FsResult<DescriptorStat> {
        let kinds_only = self
            .node(&directory)
            .is_ok_and(|node| node.advised.get().kinds_only);
        let found = match kinds_only {
            true => self.kind_below(&directory, &path),
            false => {
                let found = self.stat_below(&directory, &path);
                self.saw(found)
            }
        };
        self.or_gone(found).map(|found| describe(&found))
    }

    fn metadata_hash(&mut self, descriptor: Fd) -> FsResult<MetadataHashValue> {
        let found = self.stat_open(&descriptor);
        self.saw(found).map(|found| fingerprint(&found))
    }

    fn metadata_hash_at(
        &mut self,
        directory: Fd,
        _: PathFlags,
        path: String,
    ) -> FsResult<MetadataHashValue> {
        let found = self.stat_below(&directory, &path);
        self.unless_gone(found).map(|found| fingerprint(&found))
    }

    fn is_same_object(&mut self, one: Fd, other: Fd) -> wasmtime::Result<bool> {
        let (Ok(one), Ok(other)) = (self.stat_open(&one), self.stat_open(&other)) else {
            self.confine.seen.doubt();
            return Ok(false);
        };
        Ok(identity(&one) == identity(&other))
    }

    fn advise(&mut self, descriptor: Fd, _: Filesize, _: Filesize, advice: Advice) -> FsResult<()> {
        let node = self.node(&descriptor)?;
        if !node.is_directory {
            return unused::unsupported();
        }
        let mut advised = node.advised.get();
        match advice {
            Advice::Sequential => advised.is_read = true,
            Advice::NoReuse => advised.kinds_only = true,
            _ => return unused::unsupported(),
        }
        node.advised.set(advised);
        Ok(())
    }

    fn set_size(&mut self, _: Fd, _: Filesize) -> FsResult<()> {
        unused::unsupported()
    }

    fn set_times(&mut self, _: Fd, _: NewTimestamp, _: NewTimestamp) -> FsResult<()> {
        unused::unsupported()
    }

    fn set_times_at(
        &mut self,
        _: Fd,
        _: PathFlags,
        _: String,
        _: NewTimestamp,
        _: NewTimestamp,
    ) -> FsResult<()> {
        unused::unsupported()
    }

    fn link_at(
        &mut self,
        from: Fd,
        _: PathFlags,
        old: String,
        to: Fd,
        new: String,
    ) -> FsResult<()> {
        self.confine.seen.doubt();
        let placed = self.put(&from, &old, &to, &new);
        self.unless_gone(placed)
    }

    fn symlink_at(&mut self, _: Fd, _: String, _: String) -> FsResult<()> {
        unused::not_permitted()
    }

    fn readlink_at(&mut self, _: Fd, _: String) -> FsResult<String> {
        unused::not_permitted()
    }

    fn read_via_stream(&mut self, _: Fd, _: Filesize) -> FsResult<Resource<InputStream>> {
        unused::unsupported()
    }

    fn write_via_stream(&mut self, _: Fd, _: Filesize) -> FsResult<Resource<OutputStream>> {
        unused::unsupported()
    }

    fn append_via_stream(&mut self, _: Fd) -> FsResult<Resource<OutputStream>> {
        unused::unsupported()
    }

    fn drop(&mut self, descriptor: Fd) -> wasmtime::Result<()> {
        self.table
            .delete(Resource::<Node>::new_own(descriptor.rep()))?;
        Ok(())
    }
}

impl types::HostDirectoryEntryStream for View<'_> {
    fn read_directory_entry(
        &mut self,
        stream: Resource<DirectoryEntryStream>,
    ) -> FsResult<Option<DirectoryEntry>> {
        let next = self.next_entry(&stream);
        self.unless_gone(next)
    }

    fn drop(&mut self, stream: Resource<DirectoryEntryStream>) -> wasmtime::Result<()> {
        self.close_list(&stream);
        Ok(())
    }
}
