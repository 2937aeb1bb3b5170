//! list_directory of a directory whose subdirectories are alike: few of them
//! are opened, and what is listed is what opening each would show, on whatever
//! page.

use std::fs;

use serde_json::{Value, json};

use crate::harness::{Launch, NOBODY, Root, ordinary, traced};
use rustix::fs::{Gid, Uid};

/// Directories `d00` to `d29` with one file of the same name in each.
fn tree() -> Root {
    (0..30).fold(Root::new(), |root, number| {
        root.file(format!("d{number:02}/only.txt"), "text")
    })
}

fn names(items: &[Value]) -> Vec<&str> {
    items
        .iter()
        .map(|item| item["name"].as_str().expect("a name"))
        .collect()
}

#[test]
fn each_is_listed_if_something_in_it_is_served() {
    let root = tree()
        .file("d10/only.md", "text")
        .file("d15/deep/only.txt", "text");
    for number in [10, 11, 12, 13, 14, 15, 16] {
        fs::remove_file(root.at(&format!("d{number}/only.txt"))).unwrap();
    }
    fs::remove_dir(root.at("d14")).unwrap();
    let root = root
        .link("d11/only.txt", "../d00/only.txt")
        .dir("d12/only.txt")
        .link("d14", "d00")
        .fifo("d16/only.txt");
    let hidden = ["d17/only.txt", "d18", "d19/**"];
    let mut server = Launch::new(&root).exclude(&hidden).start();
    let listed = server.all("list_directory", json!({}));
    let expected: Vec<String> = (0..30)
        .filter(|number| ![11, 12, 13, 14, 16, 17, 18, 19].contains(number))
        .map(|number| format!("d{number:02}"))
        .collect();
    assert_eq!(names(&listed), expected);
    server.close();
}

/// As who asks for a name in a directory need not be allowed to list it.
#[test]
fn one_that_may_be_entered_and_not_read_is_not_listed_whatever_is_guessed() {
    let root = (0..4).fold(Root::new(), |root, number| {
        root.file(format!("d{number}/f"), "x")
            .file(format!("n{number}/s/f"), "x")
    });
    let Some(launch) = ordinary("alike", &root) else {
        return;
    };
    for number in 0..4 {
        for path in [format!("d{number}"), format!("n{number}")] {
            root.chmod(&path, 0o755);
        }
    }
    let is_root = rustix::process::geteuid().is_root();
    for closed in ["d3", "n3"] {
        if is_root {
            let (user, group) = (Uid::from_raw(NOBODY), Gid::from_raw(NOBODY));
            rustix::fs::chown(root.at(closed), Some(user), Some(group)).expect("chown");
        }
        root.chmod(closed, 0o111);
    }
    let mut server = launch.start();
    let listed = server.all("list_directory", json!({}));
    assert_eq!(names(&listed), ["d0", "d1", "d2", "n0", "n1", "n2"]);
    server.close();
    for closed in ["d3", "n3"] {
        root.chmod(closed, 0o755);
    }
}

macro_rules! between_pages {
    ($($name:ident: |$root:ident| $change:expr => $outcome:ident;)+) => {$(
        #[test]
        fn $name() {
            let $root = &tree();
            let mut server = Launch::new($root).start();
            let first = server.call("list_directory", json!({"limit": 10}));
            $change;
            let more = json!({"limit": 10, "cursor": first.cursor()});
            let second = server.call("list_directory", more);
            outcome::$outcome(&second);
            server.close();
        }
    )+};
}

/// What the second page must be after the change.
mod outcome {
    use super::names;
    use crate::harness::Answer;

    pub(super) fn refused(page: &Answer) {
        page.refused(
            "the filesystem changed since this cursor was issued; start the traversal again",
        );
    }

    pub(super) fn survives(page: &Answer) {
        let expected: Vec<String> = (10..20).map(|number| format!("d{number}")).collect();
        assert_eq!(names(page.items()), expected);
    }
}

between_pages! {
    a_file_that_vanishes_is_noticed: |root| fs::remove_file(root.at("d25/only.txt")).unwrap() => refused;
    on_a_page_that_was_read_too: |root| fs::remove_file(root.at("d05/only.txt")).unwrap() => refused;
    a_file_that_becomes_a_link_is_noticed: |root| {
        fs::remove_file(root.at("d25/only.txt")).unwrap();
        std::os::unix::fs::symlink("../d24/only.txt", root.at("d25/only.txt")).unwrap();
    } => refused;
    a_file_that_becomes_a_directory_is_noticed: |root| {
        fs::remove_file(root.at("d25/only.txt")).unwrap();
        fs::create_dir(root.at("d25/only.txt")).unwrap();
    } => refused;
    a_directory_that_becomes_a_link_is_noticed: |root| {
        fs::rename(root.at("d25"), root.outside("d25")).unwrap();
        std::os::unix::fs::symlink(root.outside("d25"), root.at("d25")).unwrap();
    } => refused;
    a_directory_that_is_swapped_for_an_empty_one_is_noticed: |root| {
        fs::rename(root.at("d25"), root.outside("d25")).unwrap();
        fs::create_dir(root.at("d25")).unwrap();
    } => refused;
    a_file_that_has_another_name_is_as_good: |root| {
        fs::rename(root.at("d25/only.txt"), root.at("d25/other.txt")).unwrap();
    } => survives;
    a_file_that_is_edited_is_as_good: |root| root.write("d25/only.txt", "longer than before") => survives;
}

#[test]
fn one_of_them_is_opened() {
    let root = tree();
    let rules = ["trace=getdents64,seccomp"];
    let Some((launch, trace)) = traced("one_of_them_is_opened", &root, &rules) else {
        return;
    };
    let mut server = launch.start();
    assert_eq!(server.all("list_directory", json!({})).len(), 30);
    server.close();
    let listings = trace
        .after_lockdown()
        .iter()
        .filter(|call| call.starts_with("getdents64("))
        .count();
    // Of the root and of the first; each at most three times, to its end.
    assert!((2..=6).contains(&listings), "{listings} listings");
}
