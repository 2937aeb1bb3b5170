//! The lockdown of a real session, seen from outside: which paths the process
//! opens once it has locked itself down, and what its flag does.

use std::fs;

use serde_json::json;

use crate::harness::{Launch, Root, Server, run, traced};

/// A session that uses every tool, also on what it is refused.
fn session(server: &mut Server) {
    server.call("list_directory", json!({}));
    server.call("list_directory", json!({"path": "dir"}));
    server.call("search_files", json!({"query": "txt"}));
    server.call("search_text", json!({"query": "inside"}));
    server.call("read_text_file", json!({"path": "dir/f.txt"}));
    server.call("read_text_file", json!({"path": "out.txt"}));
    server.call("read_text_file", json!({"path": "up/secret.txt"}));
    server.call(
        "write_text_file",
        json!({"path": "new.txt", "content": "new"}),
    );
    server.call(
        "write_text_file",
        json!({"path": "out.txt", "content": "new"}),
    );
}

fn world() -> Root {
    Root::new()
        .file("f.txt", "inside")
        .file("dir/f.txt", "inside")
        .link("out.txt", "../outside/secret.txt")
        .link("up", "../outside")
}

#[test]
fn after_lockdown_every_path_is_opened_below_the_root() {
    let root = world();
    let rules = ["trace=%file,openat2,seccomp"];
    let test = "after_lockdown_every_path_is_opened_below_the_root";
    let Some((launch, trace)) = traced(test, &root, &rules) else {
        return;
    };
    let mut server = launch.start();
    session(&mut server);
    server.close();

    let mut opened = 0;
    for call in trace.after_lockdown() {
        if !call.contains('"') || call.starts_with("<...") {
            continue;
        }
        // A path is relative to a descriptor, climbs nowhere and starts nowhere else.
        let path = call.split('"').nth(1).unwrap();
        assert!(!call.contains("AT_FDCWD"), "{call}");
        assert!(!path.starts_with('/') && !path.contains(".."), "{call}");
        if call.starts_with("openat(") {
            // Where the kernel resolves no paths, or to check it: name by name.
            assert!(!path.contains('/') && call.contains("O_NOFOLLOW"), "{call}");
            opened += 1;
        } else if call.starts_with("open") && path != "." {
            assert!(call.starts_with("openat2("), "{call}");
            for how in [
                "RESOLVE_BENEATH",
                "RESOLVE_NO_SYMLINKS",
                "RESOLVE_NO_MAGICLINKS",
            ] {
                assert!(call.contains(how), "{call}");
            }
            opened += 1;
        }
    }
    assert!(opened > 10, "only {opened} opens were traced");
}

#[test]
fn diagnostics_say_which_layers_hold() {
    for (mode, said) in [
        ("required", "Landlock"),
        ("off", "off, as it was asked for"),
    ] {
        let root = world();
        let mut process = Launch::new(&root).args(["-v", "--lockdown", mode]).spawn();
        drop(process.take_stdin());
        let exit = process.wait();
        assert_eq!(exit.code, Some(0), "{exit:?}");
        assert!(
            exit.stderr.contains("lockdown: ") && exit.stderr.contains(said),
            "{exit:?}"
        );
    }
}

#[test]
fn the_session_is_the_same_with_and_without_lockdown() {
    let [with, without] = ["required", "off"].map(|mode| {
        let root = world();
        let mut server = Launch::new(&root).args(["--lockdown", mode]).start();
        session(&mut server);
        server.close();
        fs::read_to_string(root.at("new.txt")).unwrap()
    });
    assert_eq!((with.as_str(), without.as_str()), ("new", "new"));
}

#[test]
fn a_mode_of_lockdown_that_there_is_not_is_refused() {
    let root = world();
    let path = root.path();
    let exit = run([
        "--root",
        path.to_str().unwrap(),
        "--include",
        "**",
        "--lockdown",
        "maybe",
    ]);
    assert_eq!(exit.code, Some(64));
    assert!(exit.stderr.contains("--lockdown"), "{exit:?}");
}
