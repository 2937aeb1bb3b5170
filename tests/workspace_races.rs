//! Races with the tools that change a tree: while directories are deleted and
//! files written, an adversary swaps directories for links to outside.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;

use rustix::fs::{CWD, RenameFlags, renameat_with};
use serde_json::json;

use crate::harness::{Launch, Root};

/// What the adversary swaps: a directory, and the name of a link to outside.
const SWAPPED: [(&str, &str); 4] = [
    ("t", "t.link"),
    ("t/a", "a.link"),
    ("t/a/b", "b.link"),
    ("t/c", "c.link"),
];

/// Every path below `directory`, with what it holds.
fn picture(directory: &Path) -> Vec<String> {
    let mut seen = Vec::new();
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        seen.push(path.display().to_string());
        if path.is_dir() {
            seen.extend(picture(&path));
        } else {
            seen.push(fs::read_to_string(&path).unwrap());
        }
    }
    seen.sort();
    seen
}

/// Makes the tree and the links again, whatever is left of them.
fn restore(root: &Root) {
    for (directory, link) in SWAPPED {
        for path in [root.at(directory), root.at(link)] {
            // One of the two does it, if anything is there.
            let _ = fs::remove_file(&path);
            let _ = fs::remove_dir_all(&path);
        }
    }
    for at in 0..40 {
        root.write(&format!("t/{at}"), "inside");
        root.write(&format!("t/a/{at}"), "inside");
        root.write(&format!("t/a/b/{at}"), "inside");
        root.write(&format!("t/c/{at}"), "inside");
    }
    for (_, link) in SWAPPED {
        symlink("../outside/dir", root.at(link)).unwrap();
    }
}

/// Swaps until it is told to stop, and counts how often something was swapped.
fn adversary(root: &Root, stop: &AtomicBool, swaps: &AtomicU64) {
    while !stop.load(Ordering::Relaxed) {
        for (directory, link) in SWAPPED {
            let (directory, link) = (root.at(directory), root.at(link));
            // What is being deleted is gone now and then.
            if renameat_with(CWD, &directory, CWD, &link, RenameFlags::EXCHANGE).is_ok() {
                swaps.fetch_add(1, Ordering::Relaxed);
            }
        }
    }
}

fn race(rounds: usize) {
    let root = Root::new().file("still.txt", "inside");
    // No name that the adversary swaps: it would reach through its own links.
    for at in 0..40 {
        for directory in ["dir", "dir/n/m"] {
            let directory = root.outside(directory);
            fs::create_dir_all(&directory).unwrap();
            fs::write(directory.join(at.to_string()), "outside").unwrap();
        }
    }
    let before = picture(&root.outside(""));
    let swaps = AtomicU64::new(0);
    let mut server = Launch::workspace(&root).start();
    for _ in 0..rounds {
        restore(&root);
        let stop = AtomicBool::new(false);
        thread::scope(|scope| {
            scope.spawn(|| adversary(&root, &stop, &swaps));
            for path in ["t/a/b", "t/a/1", "t/new/deep/f", "t"] {
                for (tool, arguments) in [
                    (
                        "write_file",
                        json!({"path": format!("{path}/w"), "content": "x"}),
                    ),
                    ("create_directory", json!({"path": format!("{path}/n/m")})),
                    ("delete_file", json!({"path": format!("{path}/2")})),
                    ("delete_directory", json!({"path": path, "force": true})),
                    ("delete_directory", json!({"path": path})),
                ] {
                    server.call(tool, arguments);
                }
            }
            stop.store(true, Ordering::Relaxed);
        });
        assert_eq!(picture(&root.outside("")), before);
        assert_eq!(root.read("still.txt"), b"inside");
    }
    assert!(swaps.load(Ordering::Relaxed) > 0, "the adversary never ran");
    assert!(server.close().is_empty());
    let left = root.names();
    assert!(left.iter().all(|name| !name.ends_with(".tmp")), "{left:?}");
}

#[test]
fn nothing_outside_is_deleted_or_written_through_a_link_that_is_swapped_in() {
    race(30);
}

/// `cargo test --test e2e -- --ignored workspace_races`.
#[test]
#[ignore = "takes minutes"]
fn nothing_outside_is_touched_for_long() {
    race(500);
}
