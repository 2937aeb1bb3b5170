//! A process that may have too little of something to start says which limit
//! to raise, in one line without a word of the operating system; one that does
//! start answers.

use std::os::unix::process::CommandExt;
use std::process::Command;

use serde_json::json;

use crate::harness::{Launch, NOBODY, Root, ordinary, request};

/// A server of this root under `ulimit FLAG VALUE`, as the shell counts.
fn under(root: &Root, flag: &str, value: u32) -> Launch {
    let mut shell = Command::new("sh");
    // What other shells call -u is -p in dash.
    let script = r#"case $0 in
        -u) ulimit -u "$1" 2>/dev/null || ulimit -p "$1" || exit ;;
        *) ulimit "$0" "$1" || exit ;;
    esac
    shift && exec "$@""#;
    shell.args(["-c", script, flag, &value.to_string()]);
    Launch::under(shell, root)
}

/// Whether the server started and answered; if not it said what to raise.
#[track_caller]
fn starts(launch: Launch, flag: &str) -> bool {
    let mut process = launch.spawn();
    let line = request(1, "tools/list", json!({})).to_string();
    // It may be gone before it has read this.
    let _ = process.try_write(format!("{line}\n").as_bytes());
    drop(process.take_stdin());
    let exit = process.wait();
    let answer = String::from_utf8(exit.stdout).unwrap();
    if exit.code == Some(0) {
        assert!(answer.contains("\"result\":"), "{answer}");
        return true;
    }
    assert_eq!((exit.code, answer.as_str()), (Some(69), ""));
    let text = exit.stderr.strip_prefix("preopen-mcp: ").unwrap();
    assert!(text.ends_with('\n') && text.lines().count() == 1, "{text}");
    assert!(text.contains("raise") && text.contains(flag), "{text}");
    assert!(!text.contains("os error"), "{text}");
    false
}

#[test]
fn too_few_descriptors_are_said() {
    let root = Root::new();
    // With three the program itself cannot be loaded.
    let started: Vec<bool> = (4..16)
        .map(|value| starts(under(&root, "-n", value), "ulimit -n"))
        .collect();
    assert!(!started[0] && started[11], "{started:?}");
}

#[test]
fn a_file_size_that_is_too_small_is_said() {
    let root = Root::new();
    for value in 0..3 {
        assert!(!starts(under(&root, "-f", value), "ulimit -f"), "{value}");
    }
    // The text says 1 MiB; shells count blocks of 512 or 1024 bytes.
    assert!(starts(under(&root, "-f", 2048), "ulimit -f"));
}

#[test]
fn too_little_address_space_is_said() {
    let root = Root::new();
    for value in [100_000, 1_000_000, 4_000_000] {
        assert!(!starts(under(&root, "-v", value), "ulimit -v"), "{value}");
    }
    // Somewhere in between it begins to fit; the text says 5 GiB.
    for value in [4_300_000, 4_500_000, 4_700_000, 4_900_000] {
        starts(under(&root, "-v", value), "ulimit -v");
    }
    assert!(starts(under(&root, "-v", 5 << 20), "ulimit -v"));
}

#[test]
fn too_few_threads_are_said() {
    let root = Root::new();
    // The superuser may start as many as it likes.
    if ordinary("too_few_threads_are_said", &root).is_none() {
        return;
    }
    let launch = |value| {
        let launch = under(&root, "-u", value);
        if rustix::process::geteuid().is_root() {
            launch.with(|command| command.uid(NOBODY).gid(NOBODY))
        } else {
            launch
        }
    };
    // What else runs as this user counts as well, so only this much is sure.
    assert!(!starts(launch(1), "ulimit -u"));
    for value in 2..10 {
        starts(launch(value), "ulimit -u");
    }
}
