//! Whatever can happen to files: an instance that has seen them is never told
//! that nothing has changed; and where nothing has, it is, both ways of finding
//! out. On real files, with a clock that is moved instead of waited for.

#![allow(clippy::unwrap_used)]

use std::cell::Cell;
use std::fs::{self, File};
use std::io::Write;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use rustix::fs::{Mode, OFlags};
use tempfile::TempDir;

use super::{LOOKS, Seen, Surroundings};
use crate::confine::resolve;

thread_local! {
    static AHEAD: Cell<i128> = const { Cell::new(0) };
}

/// Moves this thread's clock ahead by so many nanoseconds.
pub(crate) fn clock_ahead(nanoseconds: i128) {
    AHEAD.set(nanoseconds);
}

/// How far this thread's clock is ahead, in nanoseconds.
pub(super) fn ahead() -> i128 {
    AHEAD.get()
}

/// A root with some files, and what an instance that walked it has seen.
struct World {
    /// Holds the root, and room beside it.
    directory: TempDir,
    root: OwnedFd,
    around: Surroundings,
    seen: Seen,
}

/// How it is found out that something changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    Looking,
    Watching,
}

const DIRECTORIES: [&str; 4] = ["", "a", "a/b", "c"];
const FILES: [&str; 3] = ["top.txt", "a/b/deep.txt", "c/other.txt"];

impl World {
    fn new() -> Self {
        // A second, which no change of the test's own is.
        AHEAD.set(1_000_000_000);
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("root");
        for below in DIRECTORIES {
            fs::create_dir_all(path.join(below)).unwrap();
        }
        for below in FILES {
            let mut file = File::create(path.join(below)).unwrap();
            file.write_all(below.as_bytes()).unwrap();
            // So that an edit within the same tick shows as well.
            file.set_modified(UNIX_EPOCH).unwrap();
        }
        let root: OwnedFd = File::open(&path).unwrap().into();
        Self {
            around: Surroundings::of(root.as_fd()),
            root,
            seen: Seen::default(),
            directory,
        }
    }

    fn open(&self, path: &str) -> OwnedFd {
        let path = if path.is_empty() { "." } else { path };
        resolve::open(&self.root, path, OFlags::RDONLY, Mode::empty()).unwrap()
    }

    fn list(&mut self, path: &str) {
        let found = resolve::stat(self.open(path)).unwrap();
        self.seen.list(path, &found);
    }

    fn look(&mut self, path: &str) {
        let found = resolve::stat(self.open(path)).unwrap();
        self.seen.look(path, &found);
    }

    /// An instance that has seen everything and is found out about in this way.
    fn walked(way: Way) -> Self {
        let mut world = Self::new();
        DIRECTORIES.iter().for_each(|path| world.list(path));
        FILES.iter().for_each(|path| world.look(path));
        world.hold(way);
        world
    }

    fn hold(&mut self, way: Way) {
        let times = if way == Way::Watching { LOOKS + 1 } else { 1 };
        for _ in 0..times {
            assert!(self.seen.can_be_held(&self.root, &self.around));
        }
        assert_eq!(self.seen.watch.is_some(), way == Way::Watching);
    }

    fn is_unchanged(&self) -> bool {
        self.seen.is_unchanged(&self.root, &self.around)
    }

    fn path(&self) -> PathBuf {
        self.directory.path().join("root")
    }
}

/// Both ways on this system; a kernel without watches has one.
fn ways() -> Vec<Way> {
    let root: OwnedFd = File::open(std::env::temp_dir()).unwrap().into();
    let around = Surroundings::of(root.as_fd());
    if super::Watch::new(&around).is_some() {
        vec![Way::Looking, Way::Watching]
    } else {
        eprintln!("SKIPPED: watching; this kernel has no watches");
        vec![Way::Looking]
    }
}

fn notices(change: impl Fn(&Path)) {
    for way in ways() {
        let world = World::walked(way);
        assert!(world.is_unchanged(), "{way:?}, before");
        change(&world.path());
        assert!(!world.is_unchanged(), "{way:?}, after");
    }
}

macro_rules! notices {
    ($($name:ident: |$root:ident| $change:expr;)*) => {
        $(#[test]
        fn $name() {
            notices(|$root: &Path| $change);
        })*
    };
}

notices! {
    a_file_that_appears: |root| fs::write(root.join("a/b/new"), "").unwrap();
    a_file_at_the_top: |root| fs::write(root.join("new"), "").unwrap();
    a_file_that_goes: |root| fs::remove_file(root.join("c/other.txt")).unwrap();
    a_file_that_is_edited: |root| fs::write(root.join("a/b/deep.txt"), "other").unwrap();
    a_file_of_the_same_size: |root| fs::write(root.join("a/b/deep.txt"), "A/B/DEEP.TXT").unwrap();
    a_file_that_is_replaced: |root| {
        fs::write(root.join("../replacement"), "a/b/deep.txt").unwrap();
        fs::rename(root.join("../replacement"), root.join("a/b/deep.txt")).unwrap();
    };
    a_file_edited_by_another_name: |root| {
        fs::hard_link(root.join("a/b/deep.txt"), root.join("../other-name")).unwrap();
        fs::write(root.join("../other-name"), "other").unwrap();
    };
    a_file_that_is_moved: |root| fs::rename(root.join("top.txt"), root.join("a/top.txt")).unwrap();
    a_file_made_a_link: |root| {
        fs::rename(root.join("top.txt"), root.join("a/b/there")).unwrap();
        symlink("a/b/there", root.join("top.txt")).unwrap();
    };
    a_directory_that_appears: |root| fs::create_dir(root.join("a/d")).unwrap();
    a_directory_that_goes: |root| fs::remove_dir_all(root.join("c")).unwrap();
    a_directory_that_is_moved: |root| fs::rename(root.join("a/b"), root.join("c/b")).unwrap();
    a_directory_that_is_moved_out: |root| {
        fs::rename(root.join("a"), root.join("../a")).unwrap();
    };
    a_directory_behind_a_link: |root| {
        fs::rename(root.join("a"), root.join("z")).unwrap();
        symlink("z", root.join("a")).unwrap();
    };
    a_directory_that_closes: |root| {
        fs::set_permissions(root.join("a/b"), PermissionsExt::from_mode(0o000)).unwrap();
    };
    a_link_that_appears: |root| symlink("/etc", root.join("a/link")).unwrap();
}

#[test]
fn what_is_moved_there_and_back_is_not_missed() {
    // Its times tell nothing, those of the directory around it do.
    notices(|root| {
        fs::rename(root.join("a"), root.join("z")).unwrap();
        fs::rename(root.join("z"), root.join("a")).unwrap();
    });
}

#[test]
fn what_leads_to_a_listed_directory_counts() {
    for way in ways() {
        let mut world = World::new();
        world.list("a/b");
        world.hold(way);
        assert!(world.is_unchanged());
        fs::write(world.path().join("a/new"), "").unwrap();
        assert!(world.is_unchanged(), "{way:?}: nobody saw it");
        fs::rename(world.path().join("a"), world.path().join("z")).unwrap();
        assert!(!world.is_unchanged(), "{way:?}");
    }
}

#[test]
fn reading_changes_nothing() {
    for way in ways() {
        let world = World::walked(way);
        fs::read(world.path().join("a/b/deep.txt")).unwrap();
        fs::read_dir(world.path().join("a")).unwrap().for_each(drop);
        fs::write(world.path().join("../beside"), "").unwrap();
        assert!(world.is_unchanged(), "{way:?}");
        fs::remove_file(world.path().join("../beside")).unwrap();
    }
}

#[test]
fn a_directory_that_changed_a_moment_ago_is_not_relied_on() {
    let mut world = World::new();
    AHEAD.set(0);
    fs::write(world.path().join("c/new"), "").unwrap();
    world.list("c");
    assert!(!world.seen.can_be_held(&world.root, &world.around));
    assert!(!world.is_unchanged());
}

#[test]
fn what_changes_while_it_is_looked_at_is_not_relied_on() {
    let mut world = World::new();
    world.look("top.txt");
    fs::write(world.path().join("top.txt"), "other").unwrap();
    world.look("top.txt");
    assert!(!world.seen.can_be_held(&world.root, &world.around));
}

#[test]
fn two_names_of_one_file_are_two_things() {
    let mut world = World::new();
    fs::hard_link(world.path().join("top.txt"), world.path().join("c/link")).unwrap();
    for path in ["top.txt", "c/link", "top.txt"] {
        assert_eq!(world.seen.knows(path), world.seen.things.contains_key(path));
        world.look(path);
        assert!(world.seen.knows(path) && world.seen.things.contains_key(path));
    }
    world.seen.doubt();
    assert!(!world.seen.knows("top.txt"));
}

#[test]
fn what_changes_before_it_is_watched_is_not_missed() {
    for (path, new) in [("a/b", "a/b/new"), ("", "new")] {
        let mut world = World::new();
        world.list(path);
        fs::write(world.path().join(new), "").unwrap();
        let held = (0..=LOOKS).all(|_| world.seen.can_be_held(&world.root, &world.around));
        assert!(!held || !world.is_unchanged());
    }
}

#[test]
fn a_watch_is_only_asked_where_it_could_tell_something() {
    let mut world = World::new();
    world.look("a/b/deep.txt");
    for _ in 0..2 * LOOKS {
        assert!(world.seen.can_be_held(&world.root, &world.around));
    }
    assert!(world.seen.watch.is_none() && world.is_unchanged());
    world.list("c");
    assert!(world.seen.can_be_held(&world.root, &world.around));
    assert_eq!(world.seen.watch.is_some(), ways().contains(&Way::Watching));
    assert!(world.is_unchanged());
    fs::write(world.path().join("c/new"), "").unwrap();
    assert!(!world.is_unchanged());
}

#[test]
fn a_doubt_stays() {
    let mut world = World::walked(Way::Looking);
    world.seen.doubt();
    world.list("c");
    assert!(!world.seen.can_be_held(&world.root, &world.around));
    assert!(!world.is_unchanged());
}

#[test]
fn an_instance_that_sees_more_later_is_held_to_that_as_well() {
    for way in ways() {
        let mut world = World::new();
        world.list("");
        world.hold(way);
        world.list("c");
        assert!(world.seen.can_be_held(&world.root, &world.around));
        assert!(world.is_unchanged());
        fs::write(world.path().join("c/new"), "").unwrap();
        assert!(!world.is_unchanged(), "{way:?}");
    }
}
