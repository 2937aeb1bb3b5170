//! How a workspace is started: which directory it takes, what it includes and
//! blocks unless it is told, which tools and clients it serves.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::json;

use crate::harness::{Launch, Root, Server, run};

/// A workspace of this root.
fn workspace(root: &Root) -> Launch {
    Launch::new(root).args(["--toolset", "workspace"])
}

/// `preopen-mcp workspace` in this directory, with nothing on stdin: its status
/// and what it says.
fn started_in(directory: &Path, home: Option<&Path>) -> (Option<i32>, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_preopen-mcp"));
    command
        .arg("workspace")
        .current_dir(directory)
        .stdin(Stdio::null())
        .env_clear();
    if let Some(home) = home {
        command.env("HOME", home);
    }
    let output = command.output().unwrap();
    assert!(output.stdout.is_empty());
    let said = String::from_utf8(output.stderr).unwrap();
    (output.status.code(), said)
}

#[test]
fn the_working_directory_is_served_unless_another_is_named() {
    let root = Root::new().file("a.txt", "a");
    assert_eq!(started_in(&root.path(), None), (Some(0), String::new()));
    for flag in ["-d", "--root"] {
        let path = root.path();
        let exit = run(["workspace", flag, path.to_str().unwrap()]);
        assert_eq!((exit.code, exit.stderr.as_str()), (Some(0), ""));
    }
}

#[test]
fn what_nobody_can_have_meant_to_serve_must_be_named() {
    let home = Root::new();
    let (code, said) = started_in(&home.path(), Some(&home.path()));
    assert_eq!(code, Some(64));
    assert!(
        said.contains("home directory") && said.lines().count() == 1,
        "{said}"
    );
    let (code, said) = started_in(Path::new("/"), None);
    assert_eq!(code, Some(64));
    assert!(said.contains("root of the file system"), "{said}");
    assert!(said.contains("-d") && said.lines().count() == 1, "{said}");
    // Named, it is served.
    let path = home.path();
    let exit = run(["workspace", "-d", path.to_str().unwrap()]);
    assert_eq!((exit.code, exit.stderr.as_str()), (Some(0), ""));
}

/// Also where it serves the other set of tools.
#[test]
fn the_command_includes_everything_whatever_tools_it_serves() {
    let root = Root::new();
    let path = root.path();
    let path = path.to_str().unwrap();
    for toolset in ["core", "workspace", "all"] {
        let exit = run(["workspace", "-d", path, "--toolset", toolset]);
        assert_eq!(
            (exit.code, exit.stderr.as_str()),
            (Some(0), ""),
            "{toolset}"
        );
    }
}

/// The names of the tools that a server lists.
fn tools(server: &mut Server) -> Vec<String> {
    let name = |tool: &serde_json::Value| tool["name"].as_str().unwrap().to_owned();
    server.tools().iter().map(name).collect()
}

/// Whether the tool refuses.
fn refuses(server: &mut Server, tool: &str, arguments: serde_json::Value) -> bool {
    server.call(tool, arguments).0.result()["isError"] == true
}

const READING: [&str; 3] = ["read_file", "list_files", "search_in_file"];

const WORKSPACE: [&str; 7] = [
    "read_file",
    "write_file",
    "list_files",
    "create_directory",
    "delete_file",
    "delete_directory",
    "search_in_file",
];

const CORE: [&str; 5] = [
    "list_directory",
    "search_files",
    "search_text",
    "read_text_file",
    "write_text_file",
];

#[test]
fn a_toolset_is_served_whole_and_flags_only_take_away() {
    let root = Root::new();
    for (flags, expected) in [
        (&["--toolset", "core"][..], CORE.to_vec()),
        (&["--toolset", "workspace"], WORKSPACE.to_vec()),
        (&["--toolset", "all"], [&CORE[..], &WORKSPACE].concat()),
        (&["--toolset", "workspace", "--read-only"], READING.to_vec()),
        (
            &["--toolset", "workspace", "--tools", "read_file,write_file"],
            vec!["read_file", "write_file"],
        ),
    ] {
        let mut server = Launch::new(&root).args(flags).start();
        assert_eq!(tools(&mut server), expected, "{flags:?}");
        server.close();
    }
}

#[test]
fn names_of_programs_passwords_and_keys_are_blocked_unless_allowed() {
    let root = Root::new()
        .file("tool.EXE", "x")
        .file(".env", "x")
        .file(".ssh/config", "x")
        .file("etc/Passwd", "x")
        .file("my_hosts_notes.md", "notes")
        .file("environment.envelope.md", "notes");
    let read =
        |server: &mut Server, path: &str| refuses(server, "read_file", json!({"path": path}));
    let blocked = ["tool.EXE", ".env", ".ssh/config", "etc/Passwd"];
    let mut server = workspace(&root).start();
    for path in blocked {
        assert!(read(&mut server, path), "{path}");
    }
    for path in ["my_hosts_notes.md", "environment.envelope.md"] {
        assert!(!read(&mut server, path), "{path}");
    }
    server.close();
    let mut server = workspace(&root).args(["--allow-blocked"]).start();
    for path in blocked {
        assert!(!read(&mut server, path), "{path}");
    }
    server.close();
}

#[test]
fn check_says_what_is_blocked_and_how_to_serve_it() {
    let root = Root::new().file(".ssh/config", "x");
    let path = root.path();
    let path = path.to_str().unwrap();
    let exit = run(["check", "--toolset", "workspace", "-d", path, ".ssh/config"]);
    let text = String::from_utf8(exit.stdout).unwrap();
    assert!(text.contains(".ssh is blocked"), "{text}");
    assert!(text.contains("--allow-blocked"), "{text}");
}

#[test]
fn new_files_and_directories_have_the_modes_of_any_program() {
    for (mask, file, directory) in [
        ("022", 0o644, 0o755),
        ("077", 0o600, 0o700),
        ("002", 0o664, 0o775),
    ] {
        let root = Root::new();
        let mut server = Launch::after(&format!("umask {mask}"), &root)
            .args(["--toolset", "workspace"])
            .start();
        let arguments = json!({"path": "deep/er/new.txt", "content": "new"});
        assert!(!refuses(&mut server, "write_file", arguments));
        server.close();
        let mode = |path: &str| fs::metadata(root.at(path)).unwrap().permissions().mode() & 0o7777;
        assert_eq!(mode("deep/er/new.txt"), file, "umask {mask}");
        assert_eq!(mode("deep/er"), directory, "umask {mask}");
    }
}

/// As a file has that is made in such a directory by any program.
#[test]
fn a_new_file_has_the_group_of_a_directory_that_hands_it_on() {
    if !rustix::process::geteuid().is_root() {
        eprintln!("SKIPPED: only the superuser can make a directory of another group");
        return;
    }
    let root = Root::new().dir("shared");
    std::os::unix::fs::chown(root.at("shared"), None, Some(12345)).unwrap();
    fs::set_permissions(root.at("shared"), fs::Permissions::from_mode(0o2775)).unwrap();
    let mut server = workspace(&root).start();
    let arguments = json!({"path": "shared/new.txt", "content": "new"});
    assert!(!refuses(&mut server, "write_file", arguments));
    server.close();
    let made = fs::metadata(root.at("shared/new.txt")).unwrap();
    assert_eq!(std::os::unix::fs::MetadataExt::gid(&made), 12345);
}
