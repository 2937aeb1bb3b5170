//! What an instance may have done for the host to say later that nothing it
//! has seen has changed: it may have looked, and found everything it asked for.

use wasmtime_wasi::p2::bindings::sync::filesystem::types::{
    Advice, HostDescriptor as _, HostDirectoryEntryStream as _, OpenFlags, PathFlags,
};

use super::{READ, View, WRITE, World, fd, open, temporary};
use crate::confine::clock_ahead;

/// Whether an instance that lists the root and then does this can be held to
/// what it has seen.
fn can_be_held(after: impl FnOnce(&mut View<'_>, u32)) -> bool {
    clock_ahead(1_000_000_000);
    World::new(true).enter(|view, root| {
        let stream = view.read_directory(fd(root)).unwrap();
        while view
            .read_directory_entry(wasmtime::component::Resource::new_borrow(stream.rep()))
            .unwrap()
            .is_some()
        {}
        after(view, root);
        view.confine.can_be_held()
    })
}

#[test]
fn looking_is_held() {
    assert!(can_be_held(|_, _| {}));
    assert!(can_be_held(|view, root| {
        view.stat_at(fd(root), PathFlags::empty(), "f.txt".into())
            .unwrap();
        let file = open(view, root, "f.txt", OpenFlags::empty(), READ).unwrap();
        view.read(fd(file), 10, 0).unwrap();
        view.metadata_hash(fd(file)).unwrap();
    }));
}

#[test]
fn what_was_read_of_a_directory_is_held() {
    clock_ahead(1_000_000_000);
    let world = World::new(true);
    world.enter(|view, root| {
        let directory = open(view, root, "dir", OpenFlags::DIRECTORY, READ).unwrap();
        view.advise(fd(directory), 0, 0, Advice::Sequential)
            .unwrap();
        view.read(fd(directory), 1 << 10, 0).unwrap();
        assert!(view.confine.can_be_held() && view.confine.is_unchanged());
        std::fs::write(world.root().join("dir/new.txt"), "").unwrap();
        assert!(!view.confine.is_unchanged());
    });
}

#[test]
fn what_was_read_without_a_look_is_not() {
    assert!(!can_be_held(|view, root| {
        let file = open(view, root, "f.txt", OpenFlags::empty(), READ).unwrap();
        view.read(fd(file), 10, 0).unwrap();
    }));
}

#[test]
fn an_error_is_something_that_was_seen() {
    let missing = || "missing".to_owned();
    let none = PathFlags::empty();
    assert!(!can_be_held(|view, root| {
        open(view, root, "missing", OpenFlags::empty(), READ).unwrap_err();
    }));
    assert!(!can_be_held(|view, root| {
        open(view, root, "missing", OpenFlags::DIRECTORY, READ).unwrap_err();
    }));
    assert!(!can_be_held(|view, root| drop(
        view.stat_at(fd(root), none, missing()).unwrap_err()
    )));
    assert!(!can_be_held(|view, root| {
        drop(
            view.metadata_hash_at(fd(root), none, missing())
                .unwrap_err(),
        );
    }));
    assert!(!can_be_held(|view, root| {
        let file = open(view, root, "f.txt", OpenFlags::empty(), READ).unwrap();
        drop(view.read_directory(fd(file)).unwrap_err());
    }));
}

#[test]
fn a_change_is_not_held() {
    let made = OpenFlags::CREATE | OpenFlags::EXCLUSIVE;
    assert!(!can_be_held(|view, root| {
        open(view, root, &temporary(), made, WRITE).unwrap();
    }));
    assert!(!can_be_held(|view, root| {
        let file = open(view, root, "f.txt", OpenFlags::empty(), READ | WRITE).unwrap();
        view.write(fd(file), b"x".to_vec(), 0).unwrap();
    }));
    assert!(!can_be_held(|view, root| view
        .unlink_file_at(fd(root), "f.txt".into())
        .unwrap()));
    assert!(!can_be_held(|view, root| view
        .create_directory_at(fd(root), "d".into())
        .unwrap()));
    assert!(!can_be_held(|view, root| {
        drop(
            view.remove_directory_at(fd(root), "f.txt".into())
                .unwrap_err(),
        );
    }));
    assert!(!can_be_held(|view, root| {
        drop(
            view.rename_at(fd(root), "f.txt".into(), fd(root), "g".into())
                .unwrap_err(),
        );
    }));
    assert!(!can_be_held(|view, root| {
        drop(
            view.link_at(
                fd(root),
                PathFlags::empty(),
                "f.txt".into(),
                fd(root),
                "g".into(),
            )
            .unwrap_err(),
        );
    }));
}
