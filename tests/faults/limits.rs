//! Limits of the process that change while it serves: how many descriptors it
//! may have, and how large a file.

use rustix::process::{Pid, Resource, Rlimit, prlimit};
use serde_json::json;

use super::every_call;
use crate::harness::{Launch, Root, Server};

/// Sets how much the server may have of something; what it might before.
fn limit(server: &Server, resource: Resource, current: Option<u64>) -> Option<u64> {
    let process = i32::try_from(server.id()).ok().and_then(Pid::from_raw);
    let unchanged = rustix::process::getrlimit(resource);
    let new = Rlimit {
        current,
        maximum: unchanged.maximum,
    };
    prlimit(process, resource, new).expect("a limit").current
}

#[test]
fn descriptors_that_run_out_in_a_call_are_said_and_are_there_again() {
    for (tool, arguments) in every_call() {
        let root = Root::new()
            .file("f.txt", "old")
            .file("d/f.txt", "old needle")
            .file("d/e/g.txt", "needle");
        let mut server = Launch::new(&root).args(["--toolset", "all"]).start();
        server.alive();
        let enough = limit(&server, Resource::Nofile, Some(3));
        let before = root.contents();
        // From none at all to as many as it needs.
        let mut refused = 0;
        for most in 3.. {
            limit(&server, Resource::Nofile, Some(most));
            let answer = server.call(tool, arguments.clone());
            if answer.0.result()["isError"] != true {
                break;
            }
            refused += 1;
            match answer.refusal() {
                "the server has too much open; try again later" => {
                    assert_eq!(root.contents(), before, "{tool} with {most}");
                }
                "the file was written, but the disk did not confirm it; write it again" => {
                    assert_eq!(root.read("d/f.txt"), b"new needle", "{tool} with {most}");
                }
                text => panic!("{tool} with {most}: {text}"),
            }
        }
        assert!(refused > 0, "{tool} needs no descriptor");
        limit(&server, Resource::Nofile, enough);
        let listed = server.call("list_files", json!({}));
        assert_eq!(listed.value()["skipped"]["unreadable"], 0);
        assert!(root.names().iter().all(|name| !name.starts_with(".pre")));
        server.close();
    }
}

#[test]
fn a_limit_of_a_files_size_that_is_lowered_is_said_and_ends_nothing() {
    const TOO_LARGE: &str = "the disk does not take a file of this size; nothing was changed";
    let root = Root::new().file("f.txt", "old").file("d/f.txt", "old");
    let mut server = Launch::new(&root).args(["--toolset", "all"]).start();
    server.alive();
    let contents = root.contents();
    let enough = limit(&server, Resource::Fsize, Some(1000));
    let write = |server: &mut Server, tool, path, size| {
        server.call(tool, json!({"path": path, "content": "x".repeat(size)}))
    };
    let all = [
        ("write_text_file", "f.txt"),
        ("write_text_file", "new.txt"),
        ("write_file", "d/f.txt"),
        ("write_file", "made/for/it.txt"),
    ];
    for (tool, path) in all {
        write(&mut server, tool, path, 1001).refused(TOO_LARGE);
        assert_eq!(root.contents(), contents);
    }
    write(&mut server, "write_text_file", "f.txt", 1000).value();
    limit(&server, Resource::Fsize, enough);
    for (tool, path) in all {
        write(&mut server, tool, path, 1001).value();
        assert_eq!(root.read(path).len(), 1001);
    }
    server.close();
}
