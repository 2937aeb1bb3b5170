//! Listing entries, and the operations on them that are not to be had.

use std::collections::BTreeMap;
use std::fs;

use preopen_contract::entries;
use wasmtime::component::Resource;
use wasmtime_wasi::p2::bindings::filesystem::types::ErrorCode;
use wasmtime_wasi::p2::bindings::sync::filesystem::types::{
    Advice, DescriptorType, HostDescriptor as _, HostDirectoryEntryStream as _, NewTimestamp,
    OpenFlags, PathFlags,
};

use super::{READ, View, WRITE, World, code, fd, open, temporary};

both_ways! {
    links_times_sizes_and_streams_are_not_to_be_had
    a_listing_shows_what_is_served_and_nothing_else
    a_directory_is_read_in_parts_from_one_to_the_next
    only_who_said_so_reads_a_directory
    a_reading_and_a_listing_do_not_disturb_each_other
    two_listings_of_one_directory_do_not_disturb_each_other
    a_file_that_changes_has_another_fingerprint
}

fn links_times_sizes_and_streams_are_not_to_be_had() {
    let world = World::new(true);
    let before = world.picture();
    world.enter(|view, root| {
        let file = open(view, root, "f.txt", OpenFlags::empty(), READ | WRITE).unwrap();
        let now = || NewTimestamp::Now;
        let refused = [
            code(view.link_at(
                fd(root),
                PathFlags::empty(),
                "f.txt".into(),
                fd(root),
                "g.txt".into(),
            )),
            code(view.symlink_at(fd(root), "../outside".into(), "g.txt".into())),
            code(view.readlink_at(fd(root), "link.txt".into())).map(|_| ()),
        ];
        assert_eq!(refused, [Err(ErrorCode::NotPermitted); 3]);
        let unsupported = [
            code(view.set_size(fd(file), 0)),
            code(view.set_times(fd(file), now(), now())),
            code(view.set_times_at(fd(root), PathFlags::empty(), "f.txt".into(), now(), now())),
            code(view.read_via_stream(fd(file), 0)).map(|_| ()),
            code(view.write_via_stream(fd(file), 0)).map(|_| ()),
            code(view.append_via_stream(fd(file))).map(|_| ()),
            code(view.rename_at(fd(root), "f.txt".into(), fd(root), "g.txt".into())),
        ];
        assert_eq!(unsupported, [Err(ErrorCode::Unsupported); 7]);
    });
    assert_eq!(world.picture(), before);
}

fn a_listing_shows_what_is_served_and_nothing_else() {
    let world = World::new(true);
    fs::write(world.root().join(temporary()), "left over").unwrap();
    fs::write(world.root().join("back\\slash.txt"), "").unwrap();
    let not_utf8 = std::os::unix::ffi::OsStrExt::from_bytes(b"\xff.txt");
    fs::write(world.root().join::<&std::ffi::OsStr>(not_utf8), "").unwrap();
    let listed: BTreeMap<String, DescriptorType> = world.enter(|view, root| {
        let stream = code(view.read_directory(fd(root))).unwrap().rep();
        let mut seen = BTreeMap::new();
        while let Some(entry) =
            code(view.read_directory_entry(Resource::new_borrow(stream))).unwrap()
        {
            assert!(seen.insert(entry.name, entry.type_).is_none());
        }
        seen
    });
    let read: BTreeMap<String, entries::Kind> = world.enter(|view, root| {
        to_be_read(view, root);
        let (bytes, ended) = code(view.read(fd(root), 1 << 20, 0)).unwrap();
        assert!(ended);
        names(&bytes)
            .into_iter()
            .map(|(kind, name)| (name, kind))
            .collect()
    });
    assert!(read.keys().eq(listed.keys()));
    for (name, kind) in &read {
        let other = !matches!(
            listed[name],
            DescriptorType::RegularFile | DescriptorType::Directory
        );
        assert_eq!(
            *kind == entries::Kind::Directory,
            listed[name] == DescriptorType::Directory
        );
        assert_eq!(*kind == entries::Kind::Other, other, "{name}");
    }
    let mut expected = BTreeMap::from([
        ("f.txt".to_owned(), DescriptorType::RegularFile),
        ("dir".to_owned(), DescriptorType::Directory),
        ("empty".to_owned(), DescriptorType::Directory),
        ("pipe.txt".to_owned(), DescriptorType::Fifo),
        ("socket.txt".to_owned(), DescriptorType::Socket),
    ]);
    for entry in fs::read_dir(world.root()).unwrap() {
        let entry = entry.unwrap();
        if entry.file_type().unwrap().is_symlink() {
            let name = entry.file_name().into_string().unwrap();
            expected.insert(name, DescriptorType::SymbolicLink);
        }
    }
    assert_eq!(listed, expected);
}

fn two_listings_of_one_directory_do_not_disturb_each_other() {
    let world = World::new(true);
    for number in 0..100 {
        fs::write(world.root().join(format!("dir/{number}.txt")), "").unwrap();
    }
    world.enter(|view, root| {
        let directory = open(view, root, "dir", OpenFlags::DIRECTORY, READ).unwrap();
        let streams = [0; 2].map(|_| code(view.read_directory(fd(directory))).unwrap().rep());
        let mut counts = [0; 2];
        for _ in 0..102 {
            for (stream, count) in streams.iter().zip(&mut counts) {
                let next = code(view.read_directory_entry(Resource::new_borrow(*stream)));
                *count += usize::from(next.unwrap().is_some());
            }
        }
        // A hundred, one that was there, and a directory below.
        assert_eq!(counts, [102; 2]);
    });
}

fn to_be_read(view: &mut View<'_>, directory: u32) {
    view.advise(fd(directory), 0, 0, Advice::Sequential)
        .unwrap();
}

fn names(bytes: &[u8]) -> Vec<(entries::Kind, String)> {
    let text = std::str::from_utf8(bytes).unwrap();
    entries::parse(text)
        .map(|(kind, name)| (kind, name.to_owned()))
        .collect()
}

/// A directory with this many files in it, and the handle of it.
fn full(world: &World, view: &mut View<'_>, root: u32, files: usize) -> u32 {
    for number in 0..files {
        fs::write(world.root().join(format!("empty/{number}.txt")), "").unwrap();
    }
    open(view, root, "empty", OpenFlags::DIRECTORY, READ).unwrap()
}

fn a_directory_is_read_in_parts_from_one_to_the_next() {
    let world = World::new(true);
    world.enter(|view, root| {
        let directory = full(&world, view, root, 100);
        to_be_read(view, directory);
        let least = entries::LEAST as u64;
        let mut all = Vec::new();
        let mut parts = 0;
        loop {
            let (bytes, ended) = code(view.read(fd(directory), least, all.len() as u64)).unwrap();
            assert!(bytes.len() as u64 <= least);
            all.extend(bytes);
            parts += 1;
            if ended {
                break;
            }
        }
        assert!(parts > 2);
        let mut found = names(&all);
        found.sort_by(|one, other| one.1.cmp(&other.1));
        found.dedup();
        assert_eq!(found.len(), 100);
        // What was read to its end is read again from the beginning only.
        let again = code(view.read(fd(directory), least, all.len() as u64));
        assert_eq!(again, Err(ErrorCode::Invalid));
        let first = code(view.read(fd(directory), least, 0)).unwrap().0;
        assert_eq!(first, all[..first.len()]);
        // And goes on from where it was, or not at all.
        for offset in [1, first.len() as u64 + 1, u64::MAX] {
            assert_eq!(
                code(view.read(fd(directory), least, offset)),
                Err(ErrorCode::Invalid)
            );
        }
        assert_eq!(
            code(view.read(fd(directory), least - 1, 0)),
            Err(ErrorCode::Invalid)
        );
    });
}

fn only_who_said_so_reads_a_directory() {
    World::new(true).enter(|view, root| {
        let directory = open(view, root, "dir", OpenFlags::DIRECTORY, READ).unwrap();
        to_be_read(view, root);
        let read = code(view.read(fd(directory), 1 << 20, 0));
        assert_eq!(read, Err(ErrorCode::IsDirectory));
        code(view.read(fd(root), 1 << 20, 0)).unwrap();
    });
}

fn a_reading_and_a_listing_do_not_disturb_each_other() {
    let world = World::new(true);
    world.enter(|view, root| {
        let directory = full(&world, view, root, 100);
        to_be_read(view, directory);
        let stream = code(view.read_directory(fd(directory))).unwrap().rep();
        let mut listed = 0;
        let mut next = |view: &mut View<'_>| {
            let entry = code(view.read_directory_entry(Resource::new_borrow(stream))).unwrap();
            listed += usize::from(entry.is_some());
            entry.is_some()
        };
        let (mut read, mut ended) = (Vec::new(), false);
        while !ended {
            let part = code(view.read(fd(directory), entries::LEAST as u64, read.len() as u64));
            let (bytes, last) = part.unwrap();
            read.extend(bytes);
            ended = last;
            for _ in 0..7 {
                next(view);
            }
        }
        while next(view) {}
        assert_eq!((names(&read).len(), listed), (100, 100));
    });
}

fn a_file_that_changes_has_another_fingerprint() {
    let world = World::new(true);
    world.enter(|view, root| {
        let mut hash = |path: &str| {
            let hash =
                code(view.metadata_hash_at(fd(root), PathFlags::empty(), path.into())).unwrap();
            (hash.lower, hash.upper)
        };
        let first = hash("f.txt");
        assert_eq!(hash("f.txt"), first);
        assert_ne!(hash("dir/f.txt"), first);
        // The same content and the same size, but not the same file.
        fs::write(world.root().join("other"), "inside").unwrap();
        fs::rename(world.root().join("other"), world.root().join("f.txt")).unwrap();
        assert_ne!(hash("f.txt"), first);
    });
}
