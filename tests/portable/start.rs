//! How the component starts on its own: its command line, and what it is
//! granted. Nothing is compiled here twice.

use std::fs::File;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, SystemTime};

use preopen_mcp::limits::Limits;
use serde_json::json;

use super::host;
use crate::harness::{Exit, Launch, Process, Root};

/// Runs it to its end with these arguments and nothing on stdin.
fn run(test: &str, root: &Root, arguments: &[&str]) -> Option<Exit> {
    let portable = host(test)?;
    let mut command = std::process::Command::new(&portable.host);
    command
        .args(["run", "-C", "cache=n", "--allow-precompiled", "--dir"])
        .arg(format!("{}::/", root.path().display()))
        .arg(&portable.component)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    Some(Process::spawn(command).wait())
}

macro_rules! refused {
    ($($name:ident: $arguments:expr, $line:expr;)+) => {$(
        #[test]
        fn $name() {
            let root = Root::new();
            let Some(exit) = run(stringify!($name), &root, &$arguments) else {
                return;
            };
            // WASI 0.2 knows no other status of a failure.
            assert_eq!(exit.code, Some(1), "{exit:?}");
            assert_eq!(exit.stderr, format!("preopen-mcp: {}\n", $line));
            assert!(exit.stdout.is_empty(), "{exit:?}");
        }
    )+};
}

refused! {
    no_include: [], "--include GLOB is missing: say what to serve, such as --include '**' (of a workspace, --toolset workspace)";
    an_include_without_its_glob: ["--include"], "--include GLOB: the value is missing";
    a_glob_that_leads_out: ["--include", "../**"], "--include: `../**` has a `.` or `..` segment, which no path has; remove it";
    an_exclude_that_is_malformed: ["--include", "**", "--exclude", "["], "--exclude: `[` has a `[` without its `]` in the same name; [[] takes it literally";
    a_flag_there_is_not: ["--includes", "**"], "--includes: there is no such flag (see --help)";
    a_short_flag_there_is_not: ["-x"], "-x: there is no such flag (see --help)";
    a_word_that_is_no_flag: ["--include", "**", "workspace"], "`workspace`: not expected here (see --help)";
    a_toolset_there_is_not: ["--toolset", "cor"], "--toolset: `cor` is not one of core, workspace, all";
    a_protocol_without_its_value: ["--include", "**", "--protocol"], "--protocol: a value is missing, one of 2026-07-28, legacy, both";
    a_flag_given_twice: ["--include", "**", "--read-only", "--read-only"], "--read-only: it is given twice";
    a_flag_that_takes_no_value: ["--include", "**", "--read-only=yes"], "--read-only: it takes no value, and got `yes`";
    a_limit_that_is_no_number: ["--include", "**", "--max-depth", "ten"], "--max-depth: `ten` is not a number";
    a_limit_out_of_range: ["--include", "**", "--max-result-bytes", "1"], "--max-result-bytes: must be at least 32KiB";
    a_tool_there_is_not: ["--include", "**", "--tools", "read_file"], "--tools: there is no tool \"read_file\"; there are list_directory, read_text_file, search_files, search_text, write_text_file";
    a_tool_that_writes_where_nothing_is_written: ["--include", "**", "--read-only", "--tools", "write_text_file"], "--tools: write_text_file writes, so --read-only leaves it out";
    memory_that_only_a_host_can_bound: ["--include", "**", "--max-call-memory", "64MiB"], "--max-call-memory: it is not for a component; the host of the component bounds its memory, as in wasmtime run -W max-memory-size=BYTES";
    a_root_by_its_path: ["--root", ".", "--include", "**"], "--root: it is not for a component; the directory is the first one that the component is granted, as in wasmtime run --dir DIR::/";
    a_control_character: ["a\u{1b}[2Jb\n"], "`a\\u{1b}[2Jb\\n`: not expected here (see --help)";
}

#[test]
fn help_tells_of_every_limit_that_is_kept() {
    let root = Root::new();
    let Some(exit) = run("help_tells_of_every_limit_that_is_kept", &root, &["--help"]) else {
        return;
    };
    assert_eq!((exit.code, exit.stderr.as_str()), (Some(0), ""));
    let help = String::from_utf8(exit.stdout).unwrap();
    for limit in Limits::TABLE {
        let kept = !["max-call-memory", "workers"].contains(&limit.flag);
        assert_eq!(
            help.contains(&format!("--{} N", limit.flag)),
            kept,
            "{help}"
        );
    }
}

#[test]
fn the_version_is_the_programs() {
    let root = Root::new();
    if let Some(exit) = run("the_version_is_the_programs", &root, &["--version"]) {
        let expected = format!("preopen-mcp {}\n", env!("CARGO_PKG_VERSION"));
        assert_eq!(String::from_utf8(exit.stdout).unwrap(), expected);
    }
}

#[test]
fn without_a_directory_it_says_what_is_missing() {
    let Some(portable) = host("without_a_directory_it_says_what_is_missing") else {
        return;
    };
    let ran = std::process::Command::new(&portable.host)
        .args(["run", "-C", "cache=n", "--allow-precompiled"])
        .arg(&portable.component)
        .args(["--include", "**"])
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert_eq!(ran.status.code(), Some(1));
    assert_eq!(
        String::from_utf8(ran.stderr).unwrap(),
        "preopen-mcp: no directory is granted; grant the one to serve, as in wasmtime run --dir DIR::/\n"
    );
}

#[test]
fn what_can_write_nothing_says_so_and_serves() {
    let root = Root::new().file("src/a.txt", "a\n");
    let test = "what_can_write_nothing_says_so_and_serves";
    let Some(portable) = host(test) else { return };
    let mut server = Launch::new(&root).on(portable).include(&["src/**"]).start();
    server.alive();
    let (_, exit) = server.finish();
    assert_eq!(exit.code, Some(0));
    assert_eq!(
        exit.stderr,
        "preopen-mcp: no --include pattern reaches the top level of the root, so write_text_file will refuse every call\n"
    );
}

/// Makes a temporary that was written to so long ago.
fn temporary(root: &Root, digit: &str, age: Duration) -> String {
    let name = format!(".preopen-mcp-{}.tmp", digit.repeat(32));
    root.write(&name, "half");
    let file = File::options().write(true).open(root.at(&name)).unwrap();
    file.set_modified(SystemTime::now() - age).unwrap();
    name
}

#[test]
fn a_temporary_is_left_alone_for_as_long_as_a_call_may_take() {
    let hour = Duration::from_secs(3600);
    let root = Root::new().file("a.txt", "a\n");
    let young = temporary(&root, "1", 23 * hour);
    temporary(&root, "2", 25 * hour);
    let other = root.at(&format!(".preopen-mcp-{}.tmp", "3".repeat(32)));
    std::os::unix::fs::symlink(Path::new("a.txt"), &other).unwrap();
    let test = "a_temporary_is_left_alone_for_as_long_as_a_call_may_take";
    let Some(portable) = host(test) else { return };
    let mut server = Launch::new(&root).on(portable).start();
    assert_eq!(server.all_paths("list_directory", json!({})), ["a.txt"]);
    server.close();
    let link = other.file_name().unwrap().to_str().unwrap();
    assert_eq!(root.names(), [young.as_str(), link, "a.txt"]);
}

#[test]
fn a_server_that_only_reads_removes_nothing() {
    let root = Root::new();
    let old = temporary(&root, "1", Duration::from_secs(3600 * 48));
    let Some(portable) = host("a_server_that_only_reads_removes_nothing") else {
        return;
    };
    let mut server = Launch::new(&root)
        .on(portable)
        .args(["--read-only"])
        .start();
    server.alive();
    server.close();
    assert_eq!(root.names(), [old]);
}
