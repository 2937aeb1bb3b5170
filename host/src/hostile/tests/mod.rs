//! Every attempt has a row, and ends as its row says.

#![allow(clippy::unwrap_used)]

// What needs Landlock and seccomp, and the manual's tables of it.
#[cfg(target_os = "linux")]
mod layers;
#[cfg(target_os = "linux")]
mod manual;
#[cfg(target_os = "linux")]
mod native;

use preopen_contract::policy::is_reserved;

use super::{EXPECTED, Ends, Hostile, MARKER, World};
use crate::confine::forced;
use crate::root::{Options, Root};

/// In milliseconds: for what never ends, and for what does.
const SHORT: u64 = 300;
const LONG: u64 = 60_000;

/// Little memory, and the time an attempt needs that ends so.
fn hostile(world: &World, read_only: bool, ends: Ends) -> Hostile {
    let mut options = Options {
        read_only,
        ..world.options()
    };
    options.limits.call_timeout = match ends {
        Ends::TimedOut | Ends::Exhausted => SHORT,
        _ => LONG,
    };
    options.limits.max_call_memory = 64 << 20;
    Hostile::new(&Root::open(options).unwrap()).unwrap()
}

/// Lets it make every attempt, each in a world of its own.
fn all(read_only: bool) {
    let world = World::new().unwrap();
    let attempts = hostile(&world, read_only, Ends::Harmless)
        .attempts()
        .unwrap();
    let names: Vec<&str> = attempts.iter().map(|attempt| &*attempt.name).collect();
    let rows: Vec<&str> = EXPECTED.iter().map(|row| row.name).collect();
    assert_eq!(names, rows, "an attempt has no row, or a row no attempt");
    for row in EXPECTED {
        let world = World::new().unwrap();
        let before = world.untouchable().unwrap();
        let everything = world.everything().unwrap();
        let ends = if read_only {
            row.ends_read_only
        } else {
            row.ends
        };
        let ending = hostile(&world, read_only, ends).run(row.name);
        assert!(
            ends.matches(&ending),
            "{}: {ending:?}, not {ends:?}",
            row.name
        );
        assert!(
            !ending.to_string().contains(MARKER),
            "{}: {ending:?}",
            row.name
        );
        assert_eq!(world.untouchable().unwrap(), before, "{}", row.name);
        if read_only {
            assert_eq!(world.everything().unwrap(), everything, "{}", row.name);
        }
    }
}

#[test]
fn every_attempt_ends_as_its_row_says() {
    all(false);
}

#[test]
fn no_attempt_changes_anything_in_a_read_only_root() {
    all(true);
}

/// As on a kernel that cannot resolve a path in one step.
#[test]
fn every_attempt_ends_the_same_when_paths_are_walked_name_by_name() {
    forced(|| all(false));
}

#[test]
fn no_attempt_changes_anything_when_paths_are_walked_name_by_name() {
    forced(|| all(true));
}

#[test]
fn no_attempt_leaves_a_temporary_behind() {
    let world = World::new().unwrap();
    let hostile = hostile(&world, false, Ends::TimedOut);
    for name in [
        "leave-a-temporary",
        "leave-half-a-file",
        "endless-temporaries",
    ] {
        let _ = hostile.run(name);
    }
    let left = std::fs::read_dir(world.root()).unwrap();
    let left = left.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    assert_eq!(left.filter(|name| is_reserved(name)).count(), 0);
}
