//! Who uses nothing of a path but its kind depends on the directory it stands
//! in, and on nothing else: whatever happens to that is noticed, what happens
//! to the file is not.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use wasmtime_wasi::p2::bindings::filesystem::types::ErrorCode;
use wasmtime_wasi::p2::bindings::sync::filesystem::types::{
    Advice, DescriptorType, HostDescriptor as _, OpenFlags, PathFlags,
};

use super::{READ, View, World, code, fd, open};
use crate::confine::clock_ahead;
use crate::confine::faults::{self, Kind};

/// Says that only kinds are used of what the root tells.
fn kinds_only(view: &mut View<'_>, root: u32) {
    view.advise(fd(root), 0, 0, Advice::NoReuse).unwrap();
}

fn kind(view: &mut View<'_>, root: u32, path: &str) -> Result<DescriptorType, ErrorCode> {
    code(view.stat_at(fd(root), PathFlags::empty(), path.into())).map(|found| found.type_)
}

/// Whether an instance that asked for the kinds of `paths` could be held to
/// what it saw, and whether that was called unchanged after `change`.
fn outlasts(paths: &[&str], change: impl FnOnce(&Path)) -> (bool, bool) {
    clock_ahead(1_000_000_000);
    let world = World::new(true);
    world.enter(|view, root| {
        kinds_only(view, root);
        for path in paths {
            let _ = kind(view, root, path);
        }
        let held = view.confine.can_be_held();
        assert_eq!(view.confine.is_unchanged(), held, "before");
        change(&world.root());
        (held, view.confine.is_unchanged())
    })
}

#[test]
fn whatever_happens_to_the_name_is_noticed() {
    let changes: [fn(&Path); 6] = [
        |root| fs::remove_file(root.join("dir/f.txt")).unwrap(),
        |root| {
            fs::rename(root.join("dir/f.txt"), root.join("dir/g.txt")).unwrap();
            symlink("g.txt", root.join("dir/f.txt")).unwrap();
        },
        |root| {
            fs::remove_file(root.join("dir/f.txt")).unwrap();
            fs::create_dir(root.join("dir/f.txt")).unwrap();
        },
        |root| {
            fs::rename(root.join("dir"), root.join("../dir")).unwrap();
            symlink("../dir", root.join("dir")).unwrap();
        },
        |root| fs::rename(root.join("dir"), root.join("empty/dir")).unwrap(),
        |root| {
            fs::rename(root.join("dir"), root.join("other")).unwrap();
            fs::create_dir(root.join("dir")).unwrap();
            fs::hard_link(root.join("other/f.txt"), root.join("dir/f.txt")).unwrap();
        },
    ];
    for (number, change) in changes.into_iter().enumerate() {
        let outcome = outlasts(&["dir/f.txt"], change);
        assert_eq!(outcome, (true, false), "change {number}");
    }
}

#[test]
fn what_happens_to_the_file_is_not() {
    let edit = |root: &Path| fs::write(root.join("dir/f.txt"), "something longer").unwrap();
    assert_eq!(outlasts(&["dir/f.txt"], edit), (true, true));
    // Who did not say so may have used its size.
    clock_ahead(1_000_000_000);
    let world = World::new(true);
    world.enter(|view, root| {
        assert_eq!(
            kind(view, root, "dir/f.txt"),
            Ok(DescriptorType::RegularFile)
        );
        assert!(view.confine.can_be_held() && view.confine.is_unchanged());
        edit(&world.root());
        assert!(!view.confine.is_unchanged());
    });
}

#[test]
fn that_nothing_was_found_is_held_as_well() {
    let nothing = |_: &Path| {};
    let put = |root: &Path| fs::write(root.join("dir/none.txt"), "").unwrap();
    assert_eq!(outlasts(&["dir/none.txt"], nothing), (true, true));
    assert_eq!(outlasts(&["dir/none.txt"], put), (true, false));
    // A link and a pipe are not there.
    assert_eq!(outlasts(&["link.txt", "pipe.txt"], nothing), (true, true));
    let swap = |root: &Path| {
        fs::remove_file(root.join("pipe.txt")).unwrap();
        fs::write(root.join("pipe.txt"), "").unwrap();
    };
    assert_eq!(outlasts(&["pipe.txt"], swap), (true, false));
    // That there is no directory is told by the one that it would stand in.
    let make = |root: &Path| fs::create_dir(root.join("none")).unwrap();
    assert_eq!(outlasts(&["none/f.txt"], nothing), (true, true));
    assert_eq!(outlasts(&["none/f.txt"], make), (true, false));
    // Nor is a link one.
    let make = |root: &Path| {
        fs::remove_file(root.join("link-in.txt")).unwrap();
        fs::create_dir(root.join("link-in.txt")).unwrap();
    };
    assert_eq!(outlasts(&["link-in.txt/f.txt"], nothing), (true, true));
    assert_eq!(outlasts(&["link-in.txt/f.txt"], make), (true, false));
}

#[test]
fn every_directory_on_the_way_counts() {
    // The last one stays as it is, and where it was.
    let close = |root: &Path| {
        let mode = fs::Permissions::from_mode(0o111);
        fs::set_permissions(root.join("dir"), mode).unwrap();
    };
    let made = |root: &Path| fs::create_dir_all(root.join("dir/sub")).unwrap();
    clock_ahead(1_000_000_000);
    let world = World::new(true);
    made(&world.root());
    world.enter(|view, root| {
        kinds_only(view, root);
        assert_eq!(kind(view, root, "dir/sub/none"), Err(ErrorCode::NoEntry));
        assert!(view.confine.can_be_held() && view.confine.is_unchanged());
        close(&world.root());
        assert!(!view.confine.is_unchanged());
    });
}

#[test]
fn a_directory_that_changed_a_moment_ago_is_not_relied_on() {
    clock_ahead(0);
    let world = World::new(true);
    world.enter(|view, root| {
        kinds_only(view, root);
        fs::write(world.root().join("dir/new.txt"), "").unwrap();
        assert_eq!(
            kind(view, root, "dir/f.txt"),
            Ok(DescriptorType::RegularFile)
        );
        assert!(!view.confine.can_be_held());
    });
}

#[test]
fn the_answers_are_those_of_who_did_not_say_so() {
    let world = World::new(true);
    let paths = [
        "f.txt",
        "dir",
        "dir/f.txt",
        "dir/none.txt",
        "none/f.txt",
        "f.txt/f.txt",
        "pipe.txt",
        "link.txt",
        "dir/../f.txt",
        "../outside",
        "hidden/f.txt",
        "not.included",
        "",
        ".",
    ];
    world.enter(|view, root| {
        let plain = paths.map(|path| kind(view, root, path));
        kinds_only(view, root);
        assert_eq!(paths.map(|path| kind(view, root, path)), plain);
        assert_eq!(plain[2], Ok(DescriptorType::RegularFile));
    });
}

#[test]
fn only_directories_are_advised_and_only_so() {
    World::new(true).enter(|view, root| {
        let file = open(view, root, "f.txt", OpenFlags::empty(), READ).unwrap();
        for (descriptor, advice) in [(file, Advice::NoReuse), (root, Advice::WillNeed)] {
            let advised = code(view.advise(fd(descriptor), 0, 0, advice));
            assert_eq!(advised, Err(ErrorCode::Unsupported));
        }
    });
}

#[cfg(target_os = "linux")]
#[test]
fn asking_for_a_kind_takes_three_calls() {
    clock_ahead(1_000_000_000);
    World::new(true).enter(|view, root| {
        kinds_only(view, root);
        // From here on the root is one that was seen.
        assert_eq!(kind(view, root, "f.txt"), Ok(DescriptorType::RegularFile));
        let (found, seen) = faults::during(&[], || kind(view, root, "dir/f.txt"));
        assert_eq!(found, Ok(DescriptorType::RegularFile));
        assert_eq!(seen.calls, [Kind::Open, Kind::Stat, Kind::Stat]);
    });
}
