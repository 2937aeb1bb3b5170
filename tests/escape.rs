//! Ways out of the root, each tried for real: links, parents, neighbours, hard
//! links, pipes, sockets, devices, a swapped root. That no outside text and no
//! host path comes back is checked by the harness on every line.

use std::fs;
use std::os::unix::fs::symlink;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use rustix::fs::{CWD, RenameFlags, renameat_with};
use serde_json::json;

use crate::harness::{Launch, MARKER, Root, Server, ordinary};

const MISSING: &str = "path does not exist in this root";

/// Tries every core tool on a name that must not be there, and finds the disk
/// as it was.
fn not_there(root: &Root, name: &str) {
    let before = root.census();
    let mut server = Server::new(root);
    for path in [
        name.to_owned(),
        format!("{name}/"),
        format!("{name}/secret.txt"),
        format!("{name}/inner/x"),
    ] {
        server
            .call("read_text_file", json!({"path": path}))
            .refused(MISSING);
        server
            .call("list_directory", json!({"path": path}))
            .refused(MISSING);
        server
            .call("search_text", json!({"path": path, "query": "SECRET"}))
            .refused(MISSING);
    }
    assert_eq!(server.all_paths("list_directory", json!({})), ["plain.txt"]);
    assert_eq!(
        server.all_paths("search_files", json!({"query": name})),
        Vec::<String>::new()
    );
    assert_eq!(
        server.all_paths("search_text", json!({"query": "SECRET"})),
        Vec::<String>::new()
    );
    assert_eq!(root.census(), before);
    let contents = root.contents();
    server
        .call("write_text_file", json!({"path": name, "content": "x"}))
        .refusal();
    server.close();
    // The write may have made a temporary before it found what the name is.
    assert_eq!(root.contents(), contents);
}

macro_rules! not_there {
    ($($name:ident: |$root:ident| $made:expr;)+) => {$(
        #[test]
        fn $name() {
            let $root = Root::new().file("plain.txt", "plain");
            let root = $made;
            not_there(&root, "out");
        }
    )+};
}

not_there! {
    a_link_to_an_outside_file: |root| { let to = root.outside("secret.txt"); root.link("out", to) };
    a_link_to_the_outside_directory: |root| { let to = root.outside(""); root.link("out", to) };
    a_relative_link_out: |root| root.link("out", "../outside/secret.txt");
    a_relative_link_to_the_outside_directory: |root| root.link("out", "../outside");
    a_link_to_a_file_inside: |root| root.link("out", "plain.txt");
    a_link_to_the_root_itself: |root| root.link("out", ".");
    a_link_to_itself: |root| root.link("out", "out");
    a_link_to_nothing: |root| root.link("out", "nothing");
    a_link_through_proc: |root| root.link("out", "/proc/self/root");
    a_link_to_the_working_directory: |root| root.link("out", "/proc/self/cwd");
    a_link_to_stdin: |root| root.link("out", "/dev/stdin");
    a_pipe_does_not_hang_any_tool: |root| root.fifo("out");
    a_socket_is_not_there: |root| root.socket("out");
}

#[cfg(target_os = "linux")]
#[test]
fn a_device_is_not_there() {
    use rustix::fs::{FileType, Mode, mknodat};
    let root = Root::new().file("plain.txt", "plain");
    if mknodat(
        CWD,
        root.at("out"),
        FileType::CharacterDevice,
        Mode::RWXU,
        rustix::fs::makedev(1, 3),
    )
    .is_err()
    {
        eprintln!("SKIPPED a_device_is_not_there: this user cannot make a device");
        return;
    }
    not_there(&root, "out");
}

#[test]
fn a_neighbour_whose_name_begins_like_the_root_is_outside() {
    let root = Root::new();
    let evil = root.above().join("root-evil");
    fs::create_dir(&evil).unwrap();
    fs::write(evil.join("secret.txt"), MARKER).unwrap();
    let before = root.census();
    let mut server = Server::new(&root);
    let absolute = evil.join("secret.txt");
    for path in [
        "../root-evil/secret.txt",
        "root-evil/secret.txt",
        "-evil/secret.txt",
        absolute.to_str().unwrap(),
    ] {
        server
            .call("read_text_file", json!({"path": path}))
            .refusal();
        server
            .call("write_text_file", json!({"path": path, "content": "x"}))
            .refusal();
    }
    server.close();
    assert_eq!(root.census(), before);
}

#[test]
fn a_hard_link_is_read_and_a_write_gives_the_name_a_new_file() {
    let root = Root::new();
    fs::write(root.outside("h.txt"), "shared").unwrap();
    let root = root.hard_link("h.txt", "h.txt");
    let mut server = Server::new(&root);
    assert_eq!(server.read("h.txt"), "shared");
    server
        .call(
            "write_text_file",
            json!({"path": "h.txt", "content": "changed"}),
        )
        .value();
    server.close();
    assert_eq!(root.read("h.txt"), b"changed");
    assert_eq!(fs::read(root.outside("h.txt")).unwrap(), b"shared");
}

#[test]
fn a_parent_behind_what_is_missing_makes_nothing() {
    let root = Root::new();
    let before = root.census();
    let mut server = Server::new(&root);
    for path in [
        "no/../../secret.txt",
        "no/../../outside/secret.txt",
        "../outside/secret.txt",
        "no/../../esc.txt",
    ] {
        for (tool, arguments) in [
            ("read_text_file", json!({"path": path})),
            ("list_directory", json!({"path": path})),
            ("search_text", json!({"path": path, "query": "SECRET"})),
            ("write_text_file", json!({"path": path, "content": "x"})),
        ] {
            server.call(tool, arguments).refusal();
        }
    }
    server.close();
    assert_eq!(root.census(), before);
}

#[test]
fn no_name_with_a_backslash_or_drive_appears() {
    let root = Root::new().file("lib/a.txt", "a");
    let mut server = Server::new(&root);
    for path in [
        "C:\\notes\\a.md",
        "a\\b",
        "C:notes",
        "\\\\host\\share",
        "lib\\a.txt",
    ] {
        server
            .call("write_text_file", json!({"path": path, "content": "x"}))
            .refusal();
        server
            .call("read_text_file", json!({"path": path}))
            .refusal();
    }
    server.close();
    assert_eq!(root.names(), ["lib"]);
}

#[test]
fn a_read_only_server_changes_no_byte_and_no_time() {
    let root = Root::new()
        .file("a.txt", "a")
        .file("dir/b.txt", "b")
        .file(format!(".preopen-mcp-{}.tmp", "0".repeat(32)), "stale");
    let before = root.census();
    let mut server = Launch::new(&root).args(["--read-only"]).start();
    assert_eq!(
        server.all_paths("search_text", json!({"query": "a"})),
        ["a.txt"]
    );
    let params = json!({"name": "write_text_file", "arguments": {"path": "a.txt", "content": ""}});
    server.request("tools/call", params).error(-32602);
    server.close();
    assert_eq!(root.census(), before);
}

#[test]
fn a_directory_swapped_for_a_link_during_calls_never_leads_out() {
    let root = Root::new().file("dir/secret.txt", "inside");
    let root = {
        let to = root.outside("");
        root.link("aside", to)
    };
    let done = AtomicBool::new(false);
    let mut server = Server::new(&root);
    thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                renameat_with(
                    CWD,
                    root.at("dir"),
                    CWD,
                    root.at("aside"),
                    RenameFlags::EXCHANGE,
                )
                .unwrap();
            }
        });
        // Either is there half of the time; go on until both were met often.
        let (mut read, mut refused) = (0, 0);
        for _ in 0..10_000 {
            let answer = server.call("read_text_file", json!({"path": "dir/secret.txt"}));
            if answer.0.result()["isError"] == true {
                refused += 1;
            } else {
                assert_eq!(answer.text(), "inside");
                read += 1;
            }
            let found = server.call("search_text", json!({"query": "SECRET"}));
            assert!(found.0.result()["isError"] == true || found.items().is_empty());
            if read >= 100 && refused >= 100 {
                break;
            }
        }
        done.store(true, Ordering::Relaxed);
        assert!(
            read >= 100 && refused >= 100,
            "{read} read, {refused} refused: nothing was tried"
        );
    });
    server.close();
}

#[test]
fn the_root_is_the_directory_that_was_there_at_the_start() {
    let root = Root::new().file("a.txt", "inside");
    let mut server = Server::new(&root);
    server.alive();
    fs::rename(root.path(), root.above().join("moved")).unwrap();
    symlink(root.outside(""), root.path()).unwrap();
    assert_eq!(server.all_paths("list_directory", json!({})), ["a.txt"]);
    server
        .call("read_text_file", json!({"path": "secret.txt"}))
        .refused(MISSING);
    server
        .call(
            "write_text_file",
            json!({"path": "new.txt", "content": "x"}),
        )
        .value();
    server.close();
    assert!(root.above().join("moved/new.txt").exists());
    assert!(!root.outside("new.txt").exists());
}

#[test]
fn an_unreadable_file_is_refused_without_an_operating_system_text() {
    let root = Root::new()
        .file("locked.txt", "needle")
        .file("open.txt", "needle");
    root.chmod("locked.txt", 0);
    let test = "an_unreadable_file_is_refused_without_an_operating_system_text";
    let Some(launch) = ordinary(test, &root) else {
        return;
    };
    let mut server = launch.start();
    server
        .call("read_text_file", json!({"path": "locked.txt"}))
        .refused("the operating system does not allow this server to open the path");
    assert_eq!(
        server.all_paths("search_text", json!({"query": "needle"})),
        ["open.txt"]
    );
    server.close();
}
