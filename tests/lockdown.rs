//! What the process gives up, tried from inside: a process that has locked
//! itself down tries to get at everything it should no longer have, and then
//! serves. It has a main of its own because the process that is tried must not
//! have a second thread when it locks itself down.

#![allow(clippy::unwrap_used)]

use std::ffi::OsStr;
use std::fs;
use std::io::ErrorKind;
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::Command;

use preopen_mcp::{Held, Lockdown, Options, Root, Server};
use serde_json::{Value, json};

/// Set for the process that is tried: the root it serves.
const TRIED: &str = "PREOPEN_TEST_LOCKDOWN_ROOT";
/// And how it serves it.
const READ_ONLY: &str = "PREOPEN_TEST_LOCKDOWN_READ_ONLY";

fn main() {
    match std::env::var_os(TRIED) {
        Some(root) => inside(Path::new(&root), std::env::var_os(READ_ONLY).is_some()),
        None => outside(),
    }
}

/// Starts the process that is tried, once for each way to serve.
fn outside() {
    if kernel_lacks_landlock() {
        println!("lockdown: SKIPPED, this kernel has no Landlock");
        return;
    }
    for read_only in [false, true] {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path().join("root");
        fs::create_dir(&root).unwrap();
        fs::write(root.join("f.txt"), "inside").unwrap();
        fs::write(directory.path().join("secret.txt"), "outside").unwrap();
        symlink("../secret.txt", root.join("link.txt")).unwrap();
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.env(TRIED, &root);
        if read_only {
            command.env(READ_ONLY, "1");
        }
        let status = command.status().unwrap();
        assert!(status.success(), "read-only {read_only}: {status}");
        assert_eq!(
            fs::read_to_string(directory.path().join("secret.txt")).unwrap(),
            "outside"
        );
    }
    println!("lockdown: 2 passed, 0 failed");
}

/// Landlock says which version it is to a caller that asks for nothing else;
/// a process under test finds out by trying, and this one by the list of what
/// the kernel was started with, where there is one.
fn kernel_lacks_landlock() -> bool {
    cfg!(not(target_os = "linux"))
        || fs::read_to_string("/sys/kernel/security/lsm")
            .is_ok_and(|modules| !modules.contains("landlock"))
}

/// Locks itself down and tries.
fn inside(root: &Path, read_only: bool) {
    let options = Options {
        read_only,
        ..Options::new(root, ["**"])
    };
    let server = Server::new(Root::open(options).unwrap()).unwrap();
    let secret = root.parent().unwrap().join("secret.txt");
    // All of it can be had before: otherwise what follows would show nothing.
    assert!(fs::read(&secret).is_ok() && TcpListener::bind("127.0.0.1:0").is_ok());
    assert!(Command::new("/bin/true").status().is_ok());

    let held = server.lock_down(Lockdown::Required).unwrap();
    assert_eq!(
        held,
        Held {
            files: true,
            calls: true
        }
    );
    files(root, &secret, read_only);
    calls();
    serves(&server, read_only);
}

fn denied<T>(what: &str, result: std::io::Result<T>) {
    match result {
        Ok(_) => panic!("{what} is still possible"),
        Err(error) => assert_eq!(error.kind(), ErrorKind::PermissionDenied, "{what}: {error}"),
    }
}

fn files(root: &Path, secret: &Path, read_only: bool) {
    let above = secret.parent().unwrap();
    denied("reading beside the root", fs::read(secret));
    denied("reading through a link", fs::read(root.join("link.txt")));
    denied("reading by ..", fs::read(root.join("../secret.txt")));
    denied("listing above the root", fs::read_dir(above).map(drop));
    denied("reading the system's files", fs::read("/etc/passwd"));
    denied("reading its own memory", fs::read("/proc/self/maps"));
    denied("writing beside the root", fs::write(above.join("new"), ""));
    denied("writing over what is beside it", fs::write(secret, ""));
    denied("removing beside the root", fs::remove_file(secret));
    denied(
        "making a directory beside it",
        fs::create_dir(above.join("d")),
    );
    denied(
        "making a link in the root",
        symlink("f.txt", root.join("l")),
    );
    // Landlock's answer to carrying a file across is that the two are unlike devices.
    assert!(fs::rename(root.join("f.txt"), above.join("f.txt")).is_err());
    assert!(fs::hard_link(secret, root.join("h.txt")).is_err());
    assert_eq!(fs::read(root.join("f.txt")).unwrap(), b"inside");
    if read_only {
        denied("writing in a read-only root", fs::write(root.join("n"), ""));
        denied(
            "removing in a read-only root",
            fs::remove_file(root.join("f.txt")),
        );
    } else {
        fs::write(root.join("n"), "new").unwrap();
        fs::remove_file(root.join("n")).unwrap();
    }
}

fn calls() {
    denied("a program", Command::new("/bin/true").status());
    denied("a TCP server", TcpListener::bind("127.0.0.1:0"));
    denied("a TCP connection", TcpStream::connect("127.0.0.1:9"));
    denied("a UDP socket", UdpSocket::bind("127.0.0.1:0"));
    denied("a pair of sockets", UnixStream::pair());
    let parent = nix::unistd::getppid();
    let attached = nix::sys::ptrace::attach(parent);
    assert_eq!(
        attached,
        Err(nix::errno::Errno::EPERM),
        "another process's memory"
    );
    let memory = memmap2::MmapMut::map_anon(4096).unwrap();
    denied("memory that may be executed", memory.make_exec());
    // Threads are still to be had: the server works with them.
    std::thread::spawn(|| ()).join().unwrap();
}

/// Reading, searching and writing work as they did.
fn serves(server: &Server, read_only: bool) {
    let call = |tool: &str, arguments: Value| -> Value {
        let request = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
            "name": tool, "arguments": arguments, "_meta": {
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientCapabilities": {}}}});
        let line = server.handle(request.to_string().as_bytes()).unwrap();
        serde_json::from_str::<Value>(&line).unwrap()["result"]["structuredContent"].take()
    };
    let names = |answer: Value| -> Vec<PathBuf> {
        let items = answer["items"].as_array().unwrap().clone();
        let path = |item: &Value| PathBuf::from(OsStr::new(item["path"].as_str().unwrap()));
        items.iter().map(path).collect()
    };
    assert_eq!(
        names(call("list_directory", json!({}))),
        [Path::new("f.txt")]
    );
    let found = call("search_text", json!({"query": "inside"}));
    assert_eq!(names(found), [Path::new("f.txt")]);
    if !read_only {
        let content = json!({"path": "f.txt", "content": "replaced"});
        assert_eq!(call("write_text_file", content)["bytes"], 8);
        let read = call("read_text_file", json!({"path": "f.txt"}));
        assert_eq!(read["items"][0]["text"], "replaced");
    }
}
