//! What can be reached at all, by which spelling and with which flags.

use std::fs;

use wasmtime_wasi::p2::bindings::filesystem::types::ErrorCode;
use wasmtime_wasi::p2::bindings::sync::filesystem::types::{
    DescriptorFlags, HostDescriptor as _, OpenFlags, PathFlags,
};

use crate::hostile::MARKER;

use super::{MUTATE, READ, WRITE, World, code, fd, open, temporary};

both_ways! {
    nothing_of_the_table_is_opened_read_or_described
    nothing_of_the_table_is_entered_made_or_removed_as_a_directory
    only_an_entry_that_is_served_is_unlinked_and_never_what_it_points_to
    every_combination_of_flags_opens_only_what_it_says
    a_descriptor_does_no_more_than_it_was_opened_for
    a_read_only_root_changes_nothing
    handles_that_were_never_given_are_no_descriptors
}

/// Every way to name something that must not be reached, and the error for it.
const REFUSED: &[(&str, ErrorCode)] = &[
    ("", ErrorCode::NotPermitted),
    ("/", ErrorCode::NotPermitted),
    ("/etc/passwd", ErrorCode::NotPermitted),
    ("..", ErrorCode::NotPermitted),
    ("../outside/secret.txt", ErrorCode::NotPermitted),
    ("dir/../../outside/secret.txt", ErrorCode::NotPermitted),
    ("dir/..", ErrorCode::NotPermitted),
    ("./f.txt", ErrorCode::NotPermitted),
    ("dir/./f.txt", ErrorCode::NotPermitted),
    ("f.txt/", ErrorCode::NotPermitted),
    ("dir//f.txt", ErrorCode::NotPermitted),
    ("f.txt\0x", ErrorCode::NotPermitted),
    ("dir\\f.txt", ErrorCode::NotPermitted),
    ("hidden/f.txt", ErrorCode::NotPermitted),
    ("hidden/missing.txt", ErrorCode::NotPermitted),
    ("not.included", ErrorCode::Access),
    ("missing.included", ErrorCode::Access),
    ("missing.txt", ErrorCode::NoEntry),
    ("F.TXT", ErrorCode::Access),
    ("link.txt", ErrorCode::NoEntry),
    ("link-out.txt", ErrorCode::NoEntry),
    ("link-dir.txt", ErrorCode::NoEntry),
    ("link-dir.txt/f.txt", ErrorCode::NoEntry),
    ("link-in.txt/f.txt", ErrorCode::NoEntry),
    ("link-abs.txt", ErrorCode::NoEntry),
    ("link-none.txt", ErrorCode::NoEntry),
    ("link-loop.txt", ErrorCode::NoEntry),
    ("link-proc.txt/f.txt", ErrorCode::NoEntry),
    ("pipe.txt", ErrorCode::NoEntry),
    ("socket.txt", ErrorCode::NoEntry),
];

fn nothing_of_the_table_is_opened_read_or_described() {
    let world = World::new(true);
    let before = world.picture();
    world.enter(|view, root| {
        for (path, expected) in REFUSED {
            for rights in [READ, WRITE, READ | WRITE] {
                let result = open(view, root, path, OpenFlags::empty(), rights);
                assert_eq!(result.err(), Some(*expected), "open {path:?} {rights:?}");
            }
            let stat = view.stat_at(fd(root), PathFlags::SYMLINK_FOLLOW, (*path).into());
            assert!(code(stat).is_err(), "stat {path:?}");
            let hash = view.metadata_hash_at(fd(root), PathFlags::SYMLINK_FOLLOW, (*path).into());
            assert!(code(hash).is_err(), "hash {path:?}");
        }
    });
    assert_eq!(world.picture(), before);
}

fn nothing_of_the_table_is_entered_made_or_removed_as_a_directory() {
    let world = World::new(true);
    let before = world.picture();
    world.enter(|view, root| {
        for (path, _) in REFUSED {
            let path = *path;
            assert!(
                open(view, root, path, OpenFlags::DIRECTORY, READ).is_err(),
                "enter {path:?}"
            );
            assert!(
                code(view.remove_directory_at(fd(root), path.into())).is_err(),
                "rmdir {path:?}"
            );
            // Names that are free, and where something served could come to be.
            if !path.starts_with("missing") && path != "F.TXT" {
                assert!(
                    code(view.create_directory_at(fd(root), path.into())).is_err(),
                    "mkdir {path:?}"
                );
            }
        }
    });
    assert_eq!(world.picture(), before);
}

fn only_an_entry_that_is_served_is_unlinked_and_never_what_it_points_to() {
    let world = World::new(true);
    let outside = fs::read_to_string(world.outside().join("secret.txt")).unwrap();
    world.enter(|view, root| {
        for (path, expected) in REFUSED {
            let result = code(view.unlink_file_at(fd(root), (*path).into()));
            let an_entry = path.starts_with("link")
                || path.ends_with("pipe.txt")
                || path.ends_with("socket.txt");
            if an_entry && !path.contains('/') {
                assert_eq!(result, Ok(()), "{path:?}");
            } else {
                assert_eq!(result, Err(*expected), "{path:?}");
            }
        }
    });
    assert_eq!(
        fs::read_to_string(world.outside().join("secret.txt")).unwrap(),
        outside
    );
    assert_eq!(
        fs::read_to_string(world.outside().join("dir/f.txt")).unwrap(),
        MARKER
    );
    assert_eq!(
        fs::read_to_string(world.root().join("f.txt")).unwrap(),
        "inside"
    );
}

fn every_combination_of_flags_opens_only_what_it_says() {
    let world = World::new(true);
    let before = world.picture();
    let all_open = [
        OpenFlags::CREATE,
        OpenFlags::DIRECTORY,
        OpenFlags::EXCLUSIVE,
        OpenFlags::TRUNCATE,
    ];
    let all_rights = [
        READ,
        WRITE,
        MUTATE,
        DescriptorFlags::FILE_INTEGRITY_SYNC,
        DescriptorFlags::DATA_INTEGRITY_SYNC,
        DescriptorFlags::REQUESTED_WRITE_SYNC,
    ];
    world.enter(|view, root| {
        for open_bits in 0..1 << all_open.len() {
            for rights_bits in 0..1 << all_rights.len() {
                let pick = |bits: u32, at: usize| bits >> at & 1 == 1;
                let flags = (0..all_open.len())
                    .filter(|at| pick(open_bits, *at))
                    .fold(OpenFlags::empty(), |flags, at| flags | all_open[at]);
                let rights = (0..all_rights.len())
                    .filter(|at| pick(rights_bits, *at))
                    .fold(DescriptorFlags::empty(), |rights, at| {
                        rights | all_rights[at]
                    });
                for path in ["f.txt", "dir", "link-out.txt", "pipe.txt"] {
                    let opened = open(view, root, path, flags, rights).is_ok();
                    let expected = match path {
                        "f.txt" => {
                            flags == OpenFlags::empty()
                                && rights != DescriptorFlags::empty()
                                && (READ | WRITE).contains(rights)
                        }
                        "dir" => {
                            flags == OpenFlags::DIRECTORY
                                && rights.contains(READ)
                                && (READ | MUTATE).contains(rights)
                        }
                        _ => false,
                    };
                    assert_eq!(opened, expected, "{path} {flags:?} {rights:?}");
                }
            }
        }
    });
    assert_eq!(world.picture(), before);
}

fn a_descriptor_does_no_more_than_it_was_opened_for() {
    let world = World::new(true);
    world.enter(|view, root| {
        let reads = open(view, root, "f.txt", OpenFlags::empty(), READ).unwrap();
        let writes = open(view, root, "f.txt", OpenFlags::empty(), WRITE).unwrap();
        assert_eq!(
            code(view.write(fd(reads), b"x".to_vec(), 0)),
            Err(ErrorCode::BadDescriptor)
        );
        assert_eq!(code(view.sync(fd(reads))), Err(ErrorCode::BadDescriptor));
        assert_eq!(
            code(view.read(fd(writes), 1, 0)),
            Err(ErrorCode::BadDescriptor)
        );
        assert_eq!(code(view.read(fd(root), 1, 0)), Err(ErrorCode::IsDirectory));
        assert_eq!(
            code(view.read_directory(fd(reads))).err(),
            Some(ErrorCode::NotDirectory)
        );
        // What was opened to read stays so for all that is opened from it.
        let directory = open(view, root, "dir", OpenFlags::DIRECTORY, READ).unwrap();
        assert_eq!(
            open(view, directory, "f.txt", OpenFlags::empty(), WRITE),
            Err(ErrorCode::ReadOnly)
        );
        assert_eq!(
            open(view, directory, "deep", OpenFlags::DIRECTORY, READ | MUTATE),
            Err(ErrorCode::ReadOnly)
        );
        assert_eq!(
            code(view.unlink_file_at(fd(directory), "f.txt".into())),
            Err(ErrorCode::ReadOnly)
        );
        // A path from a directory may not leave it, not even for the root.
        assert_eq!(
            open(view, directory, "../f.txt", OpenFlags::empty(), READ),
            Err(ErrorCode::NotPermitted)
        );
        assert_eq!(
            open(view, reads, "f.txt", OpenFlags::empty(), READ),
            Err(ErrorCode::NotDirectory)
        );
    });
}

fn a_read_only_root_changes_nothing() {
    let world = World::new(false);
    let before = world.picture();
    world.enter(|view, root| {
        let exclusive = OpenFlags::CREATE | OpenFlags::EXCLUSIVE;
        for path in ["f.txt", "new.txt", &temporary()] {
            assert_eq!(
                open(view, root, path, OpenFlags::empty(), WRITE),
                Err(ErrorCode::ReadOnly)
            );
            assert_eq!(
                open(view, root, path, exclusive, WRITE),
                Err(ErrorCode::ReadOnly)
            );
        }
        assert_eq!(
            open(view, root, "dir", OpenFlags::DIRECTORY, READ | MUTATE),
            Err(ErrorCode::ReadOnly)
        );
        let changes = [
            code(view.create_directory_at(fd(root), "new".into())),
            code(view.remove_directory_at(fd(root), "empty".into())),
            code(view.unlink_file_at(fd(root), "f.txt".into())),
            code(view.rename_at(fd(root), temporary(), fd(root), "f.txt".into())),
        ];
        assert_eq!(changes, [Err(ErrorCode::ReadOnly); 4]);
    });
    assert_eq!(world.picture(), before);
}

fn handles_that_were_never_given_are_no_descriptors() {
    World::new(true).enter(|view, root| {
        for rep in [root + 1, 77, u32::MAX - 1] {
            assert_eq!(
                code(view.read(fd(rep), 1, 0)),
                Err(ErrorCode::BadDescriptor)
            );
            assert_eq!(
                code(view.stat(fd(rep))).err(),
                Some(ErrorCode::BadDescriptor)
            );
            assert_eq!(
                open(view, rep, "f.txt", OpenFlags::empty(), READ),
                Err(ErrorCode::BadDescriptor)
            );
        }
    });
}
