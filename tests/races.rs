//! Races: while every tool is called, an adversary swaps directories and files
//! for links to outside, and carries a directory out of the root and back, as
//! fast as it can. Every line is checked for the outside marker as always.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;

use rustix::fs::{CWD, RenameFlags, renameat_with};
use serde_json::json;

use crate::harness::{Root, Server};

/// Everything below `directory`, with what it holds.
fn picture(directory: &Path) -> Vec<(String, String)> {
    let mut seen = Vec::new();
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            seen.extend(picture(&path));
        } else {
            let content = fs::read_to_string(&path).unwrap();
            seen.push((path.display().to_string(), content));
        }
    }
    seen.sort();
    seen
}

/// Swaps until it is told to stop, and counts how often.
fn adversary(root: &Root, stop: &AtomicBool, swaps: &AtomicU64) {
    let exchange = |one: &Path, other: &Path| {
        renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE).unwrap();
    };
    let (directory, directory_link) = (root.at("dir"), root.at("dir.link"));
    let (file, file_link) = (root.at("swap.txt"), root.at("swap.link"));
    let (inside, outside) = (root.at("moved"), root.outside("moved"));
    while !stop.load(Ordering::Relaxed) {
        // A write that came just then has put a file in the link's place.
        if !file.is_symlink() && !file_link.is_symlink() {
            fs::remove_file(&file_link).unwrap();
            symlink("../outside/swap.txt", &file_link).unwrap();
        }
        exchange(&directory, &directory_link);
        exchange(&file, &file_link);
        fs::rename(&inside, &outside).unwrap();
        exchange(&directory, &directory_link);
        exchange(&file, &file_link);
        fs::rename(&outside, &inside).unwrap();
        swaps.fetch_add(1, Ordering::Relaxed);
    }
}

fn race(rounds: usize) {
    let root = Root::new()
        .file("dir/f.txt", "inside")
        .file("dir/deep/f.txt", "inside")
        .file("moved/deep/f.txt", "inside")
        .file("swap.txt", "inside")
        .file("still.txt", "inside");
    fs::create_dir_all(root.outside("dir/deep")).unwrap();
    for file in ["dir/f.txt", "dir/deep/f.txt", "swap.txt"] {
        fs::copy(root.outside("secret.txt"), root.outside(file)).unwrap();
    }
    symlink("../outside/dir", root.at("dir.link")).unwrap();
    symlink("../outside/swap.txt", root.at("swap.link")).unwrap();
    let before = picture(&root.outside(""));

    let (stop, swaps) = (AtomicBool::new(false), AtomicU64::new(0));
    let mut server = Server::new(&root);
    thread::scope(|scope| {
        scope.spawn(|| adversary(&root, &stop, &swaps));
        for round in 0..rounds {
            for (tool, arguments) in [
                ("list_directory", json!({"path": "dir"})),
                ("list_directory", json!({"path": "dir/deep"})),
                ("list_directory", json!({"path": "moved"})),
                ("read_text_file", json!({"path": "dir/f.txt"})),
                ("read_text_file", json!({"path": "dir/deep/f.txt"})),
                ("read_text_file", json!({"path": "swap.txt"})),
                ("read_text_file", json!({"path": "moved/deep/f.txt"})),
                ("search_text", json!({"query": "e"})),
                ("search_text", json!({"query": "e", "path": "dir"})),
                ("search_files", json!({"query": "f"})),
                (
                    "write_text_file",
                    json!({"path": "swap.txt", "content": format!("round {round}")}),
                ),
            ] {
                server.call(tool, arguments);
            }
            // What nobody touches is always there.
            assert_eq!(server.read("still.txt"), "inside");
        }
        stop.store(true, Ordering::Relaxed);
    });
    assert!(swaps.load(Ordering::Relaxed) > 0, "the adversary never ran");
    assert!(server.close().is_empty());
    assert_eq!(picture(&root.outside("")), before);
    let left: Vec<String> = fs::read_dir(root.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.ends_with(".tmp"))
        .collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn an_adversary_that_swaps_links_in_gets_nothing_out() {
    race(60);
}

/// 110,000 calls: `cargo test --test e2e -- --ignored races`.
#[test]
#[ignore = "takes minutes"]
fn an_adversary_gets_nothing_out_for_long() {
    race(10_000);
}
