//! Temporaries, the files they become, and who waits for whom.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use rustix::fs::Mode;
use rustix::io::Errno;
use wasmtime::component::Resource;
use wasmtime_wasi::p2::bindings::filesystem::types::ErrorCode;
use wasmtime_wasi::p2::bindings::sync::filesystem::types::{
    self, Descriptor, HostDescriptor as _, HostDirectoryEntryStream as _, OpenFlags, PathFlags,
};

use crate::hostile::MARKER;

use super::{MUTATE, READ, WRITE, World, code, fd, open, temporary};
use crate::confine::faults::{self, Effect, Fault, Kind};
use crate::hasher::{Hash, Written};

both_ways! {
    nothing_changes_in_a_directory_that_was_moved_out_while_it_was_held
    a_temporary_takes_a_files_place_with_its_mode_and_is_gone
    a_temporary_is_put_only_where_nothing_stands
    a_pipe_is_not_even_opened
    who_replaces_files_in_a_directory_waits_for_the_one_before
    an_unfinished_file_goes_with_its_descriptor
    a_finished_file_stays
    what_was_left_goes_and_what_is_held_stays
    the_hash_is_over_what_was_written_to_the_file_made_last
    what_is_known_of_a_temporary_is_forgotten_when_it_changes
    replacing_a_file_with_the_same_attributes_takes_so_many_calls
}

fn make(view: &mut super::View<'_>, root: u32) -> u32 {
    let exclusive = OpenFlags::CREATE | OpenFlags::EXCLUSIVE;
    open(view, root, &temporary(), exclusive, WRITE).unwrap()
}

fn close(view: &mut super::View<'_>, file: u32) {
    types::HostDescriptor::drop(view, Resource::new_own(file)).unwrap();
}

fn the_hash_is_over_what_was_written_to_the_file_made_last() {
    let world = World::new(true);
    world.enter(|view, root| {
        view.confine.written = Some(Written::new(None));
        let one = make(view, root);
        assert_eq!(code(view.write(fd(one), b"other".to_vec(), 0)), Ok(5));
        code(view.sync(fd(one))).unwrap();
        close(view, one);
        let two = make(view, root);
        assert_eq!(code(view.write(fd(two), b"a".to_vec(), 0)), Ok(1));
        code(view.sync(fd(two))).unwrap();
        // Of what is written in parts, only what was counts.
        let short = Fault {
            kind: Kind::Write,
            nth: 1,
            lasting: false,
            effect: Effect::MovesAtMost(1),
        };
        let (wrote, _) = faults::during(&[short], || view.write(fd(two), b"bx".to_vec(), 1));
        assert_eq!(code(wrote), Ok(1));
        assert_eq!(code(view.write(fd(two), b"c".to_vec(), 2)), Ok(1));
        let hash = view.confine.written.take().and_then(Written::finish);
        let mut expected = Hash::new(None);
        expected.update(b"abc");
        assert_eq!(hash.unwrap().finish(), expected.finish());
    });
}

fn what_is_known_of_a_temporary_is_forgotten_when_it_changes() {
    let world = World::new(true);
    let target = world.root().join("f.txt");
    let mode = || target.metadata().unwrap().permissions().mode() & 0o7777;
    let set = |mode| fs::set_permissions(&target, fs::Permissions::from_mode(mode)).unwrap();
    world.enter(|view, root| {
        make(view, root);
        let replace = |view: &mut super::View<'_>| {
            code(view.rename_at(fd(root), temporary(), fd(root), "f.txt".into()))
        };
        set(0o640);
        let fails = Fault {
            kind: Kind::Rename,
            nth: 1,
            lasting: false,
            effect: Effect::Fails(Errno::IO),
        };
        let (failed, _) = faults::during(&[fails], || replace(view));
        assert_eq!(failed, Err(ErrorCode::Io));
        // As it was made, but for what that has changed.
        set(0o600);
        assert_eq!(replace(view), Ok(()));
    });
    assert_eq!(mode(), 0o600);
}

fn replacing_a_file_with_the_same_attributes_takes_so_many_calls() {
    let world = World::new(true);
    let target = world.root().join("f.txt");
    fs::set_permissions(&target, fs::Permissions::from_mode(0o600)).unwrap();
    world.enter(|view, root| {
        let ((), seen) = faults::during(&[], || {
            let file = make(view, root);
            code(view.write(fd(file), b"new".to_vec(), 0)).unwrap();
            code(view.sync(fd(file))).unwrap();
            code(view.rename_at(fd(root), temporary(), fd(root), "f.txt".into())).unwrap();
            close(view, file);
        });
        // What was made is locked and looked at, and so is what it replaces; its
        // mode is right already, and nobody looks for it afterwards.
        let expected = [
            (Kind::Stat, 2),
            (Kind::Lock, 2),
            (Kind::SetMode, 0),
            (Kind::SetOwner, 0),
            (Kind::Write, 1),
            (Kind::Sync, 1),
            (Kind::Rename, 1),
            (Kind::Unlink, 0),
        ];
        for (kind, count) in expected {
            assert_eq!(seen.count(kind), count, "{kind:?}");
        }
    });
    assert_eq!(fs::read_to_string(&target).unwrap(), "new");
}

fn what_was_left_goes_and_what_is_held_stays() {
    let world = World::new(true);
    let left = world.root().join("empty").join(temporary());
    let held = fs::File::create(&left).unwrap();
    let hidden = |view: &mut super::View<'_>, root| {
        let rights = READ | MUTATE;
        let directory = open(view, root, "empty", OpenFlags::DIRECTORY, rights).unwrap();
        let stream = code(view.read_directory(fd(directory))).unwrap();
        code(view.read_directory_entry(stream)).unwrap()
    };
    let remove =
        |view: &mut super::View<'_>, root| code(view.remove_directory_at(fd(root), "empty".into()));
    let write = |view: &mut super::View<'_>, root, name: &str| {
        let exclusive = OpenFlags::CREATE | OpenFlags::EXCLUSIVE;
        open(view, root, &format!("empty/{name}"), exclusive, WRITE).unwrap();
    };
    let other = temporary().replace("7.tmp", "8.tmp");
    held.lock().unwrap();
    world.enter(|view, root| {
        assert_eq!(hidden(view, root).unwrap().name, "");
        assert_eq!(remove(view, root), Err(ErrorCode::NotEmpty));
        write(view, root, &other);
        assert!(left.exists());
    });
    held.unlock().unwrap();
    world.enter(|view, root| {
        assert!(hidden(view, root).is_none());
        // Whoever writes there removes it.
        write(view, root, &other);
        assert!(!left.exists());
    });
    fs::write(&left, "half").unwrap();
    // Beside what is no temporary it stays: nothing is removed of what cannot be.
    fs::write(world.root().join("empty/not.included"), "").unwrap();
    world.enter(|view, root| {
        assert_eq!(remove(view, root), Err(ErrorCode::NotEmpty));
        assert!(left.exists());
    });
    fs::remove_file(world.root().join("empty/not.included")).unwrap();
    world.enter(|view, root| assert_eq!(remove(view, root), Ok(())));
    assert!(!world.root().join("empty").exists());
}

fn a_temporary_takes_a_files_place_with_its_mode_and_is_gone() {
    let world = World::new(true);
    let target = world.root().join("f.txt");
    fs::set_permissions(&target, fs::Permissions::from_mode(0o640)).unwrap();
    world.enter(|view, root| {
        let exclusive = OpenFlags::CREATE | OpenFlags::EXCLUSIVE;
        let file = open(view, root, &temporary(), exclusive, WRITE).unwrap();
        assert_eq!(code(view.write(fd(file), b"new".to_vec(), 0)), Ok(3));
        code(view.sync(fd(file))).unwrap();
        // It cannot be found again by its name, only put in its place.
        assert!(open(view, root, &temporary(), OpenFlags::empty(), READ).is_err());
        for target in [
            "hidden/f.txt",
            "not.included",
            "dir",
            "link-out.txt",
            "pipe.txt",
            "../outside/f.txt",
        ] {
            let result = view.rename_at(fd(root), temporary(), fd(root), target.into());
            assert!(code(result).is_err(), "{target}");
        }
        code(view.rename_at(fd(root), temporary(), fd(root), "f.txt".into())).unwrap();
    });
    assert_eq!(fs::read_to_string(&target).unwrap(), "new");
    assert_eq!(
        target.metadata().unwrap().permissions().mode() & 0o7777,
        0o640
    );
    assert!(!world.root().join(temporary()).exists());
    assert_eq!(
        fs::read_to_string(world.outside().join("secret.txt")).unwrap(),
        MARKER
    );
}

fn a_temporary_is_put_only_where_nothing_stands() {
    let world = World::new(true);
    world.enter(|view, root| {
        let exclusive = OpenFlags::CREATE | OpenFlags::EXCLUSIVE;
        let file = open(view, root, &temporary(), exclusive, WRITE).unwrap();
        code(view.write(fd(file), b"new".to_vec(), 0)).unwrap();
        code(view.sync(fd(file))).unwrap();
        let mut put = |to: &str| {
            let flags = PathFlags::empty();
            code(view.link_at(fd(root), flags, temporary(), fd(root), to.into()))
        };
        for taken in ["f.txt", "link.txt", "link-none.txt", "pipe.txt"] {
            assert_eq!(put(taken), Err(ErrorCode::Exist), "{taken}");
        }
        assert_eq!(put("hidden/new.txt"), Err(ErrorCode::NotPermitted));
        assert_eq!(put("new.included"), Err(ErrorCode::Access));
        assert_eq!(put("../outside/new.txt"), Err(ErrorCode::NotPermitted));
        assert_eq!(put("new.txt"), Ok(()));
    });
    let root = world.root();
    assert_eq!(fs::read_to_string(root.join("new.txt")).unwrap(), "new");
    assert_eq!(fs::read_to_string(root.join("f.txt")).unwrap(), "inside");
    assert!(!root.join(temporary()).exists());
}

fn a_pipe_is_not_even_opened() {
    let world = World::new(true);
    let flags = rustix::fs::OFlags::RDONLY | rustix::fs::OFlags::NONBLOCK;
    let pipe = rustix::fs::open(world.root().join("pipe.txt"), flags, Mode::empty()).unwrap();
    world.enter(|view, root| {
        for rights in [WRITE, READ | WRITE] {
            let opened = open(view, root, "pipe.txt", OpenFlags::empty(), rights);
            assert_eq!(opened, Err(ErrorCode::NoEntry));
        }
    });
    // A reader is told to hang up once a writer has come and gone.
    let mut seen = [rustix::event::PollFd::new(
        &pipe,
        rustix::event::PollFlags::IN,
    )];
    let now = rustix::event::Timespec::default();
    assert_eq!(rustix::event::poll(&mut seen, Some(&now)).unwrap(), 0);
}

fn who_replaces_files_in_a_directory_waits_for_the_one_before() {
    let world = World::new(true);
    let other = fs::File::open(world.root()).unwrap();
    let exclusive = OpenFlags::CREATE | OpenFlags::EXCLUSIVE;
    other.lock().unwrap();
    world.enter(|view, root| {
        // It gives up in time where the lock is never given back.
        let refused = open(view, root, &temporary(), exclusive, WRITE);
        assert_eq!(refused, Err(ErrorCode::Busy));
    });
    other.unlock().unwrap();
    world.enter(|view, root| {
        let file = open(view, root, &temporary(), exclusive, WRITE).unwrap();
        assert!(
            other.try_lock().is_err(),
            "not locked while a file is being replaced"
        );
        let file = Resource::<Descriptor>::new_own(file);
        types::HostDescriptor::drop(view, file).unwrap();
        assert!(other.try_lock().is_ok());
    });
}

fn an_unfinished_file_goes_with_its_descriptor() {
    let world = World::new(true);
    let before = world.picture();
    world.enter(|view, root| {
        for name in ["new.txt", &temporary()] {
            let exclusive = OpenFlags::CREATE | OpenFlags::EXCLUSIVE;
            let file = open(view, root, name, exclusive, WRITE).unwrap();
            code(view.write(fd(file), b"half".to_vec(), 0)).unwrap();
        }
    });
    assert_eq!(world.picture(), before);
}

fn a_finished_file_stays() {
    let world = World::new(true);
    world.enter(|view, root| {
        let exclusive = OpenFlags::CREATE | OpenFlags::EXCLUSIVE;
        let file = open(view, root, "dir/new.txt", exclusive, WRITE).unwrap();
        code(view.write(fd(file), b"whole".to_vec(), 0)).unwrap();
        code(view.sync(fd(file))).unwrap();
        assert_eq!(
            open(view, root, "dir/new.txt", exclusive, WRITE),
            Err(ErrorCode::Exist)
        );
    });
    let file = world.root().join("dir/new.txt");
    assert_eq!(fs::read_to_string(&file).unwrap(), "whole");
    assert_eq!(
        file.metadata().unwrap().permissions().mode() & 0o7777,
        0o600
    );
}

/// Whoever moves a directory out of the root takes it away from those who hold it.
fn nothing_changes_in_a_directory_that_was_moved_out_while_it_was_held() {
    for to in ["outside", "root/hidden"] {
        let world = World::new(true);
        let moved = world.root().parent().unwrap().join(to).join("moved");
        world.enter(|view, root| {
            let held = open(view, root, "dir", OpenFlags::DIRECTORY, READ | MUTATE).unwrap();
            fs::rename(world.root().join("dir"), &moved).unwrap();
            let gone = Err(ErrorCode::NoEntry);
            assert_eq!(code(view.unlink_file_at(fd(held), "f.txt".into())), gone);
            assert_eq!(code(view.create_directory_at(fd(held), "new".into())), gone);
            assert_eq!(
                code(view.remove_directory_at(fd(held), "deep".into())),
                gone
            );
            let write = open(view, held, "f.txt", OpenFlags::empty(), WRITE);
            assert_eq!(write, Err(ErrorCode::NoEntry));
            for name in ["new.txt".to_owned(), temporary()] {
                let new = OpenFlags::CREATE | OpenFlags::EXCLUSIVE;
                assert_eq!(open(view, held, &name, new, WRITE), gone.map(|()| 0));
            }
        });
        assert_eq!(fs::read(moved.join("f.txt")).unwrap(), b"inside");
        assert_eq!(fs::read_dir(&moved).unwrap().count(), 3);
    }
}
