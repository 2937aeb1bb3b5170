//! `preopen-mcp check`: for every kind of thing at a path, one line that says
//! whether it is served, by which rule, and what lies there. Nothing is
//! followed or opened to find out, and the status is 0 whatever is found.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::process::Command;

use crate::harness::{NOBODY, Process, Root, ordinary, run, run_from};

/// The rules of every check here, and a limit that a file is over.
const RULES: [&str; 10] = [
    "--include",
    "src/**",
    "--include",
    "lib/**",
    "--include",
    "*.txt",
    "--exclude",
    "**/*.env",
    "--max-file-bytes",
    "8",
];

/// One of each kind.
fn tree() -> Root {
    Root::new()
        .file("src/a.ts", "content")
        .file("src/one.ts", "1")
        .file("src/big.ts", "more content")
        .file("src/deep/b.ts", "")
        .file("src/x.env", "SECRET=1")
        .file("notes.md", "notes")
        .file("other/a.ts", "x")
        .file(reserved(), "half")
        .dir("src/empty")
        .dir("dir.txt")
        .link("src/link", "a.ts")
        .link("src/dangling", "nowhere")
        .link("src/out", "../../outside")
        .link("src/inner", "deep")
        .fifo("src/pipe")
        .socket("src/socket")
}

fn reserved() -> String {
    format!(".preopen-mcp-{}.tmp", "a".repeat(32))
}

fn check(root: &Root, path: impl AsRef<OsStr>) -> String {
    let mut arguments: Vec<OsString> = vec!["check".into(), "--root".into(), root.path().into()];
    arguments.extend(RULES.map(OsString::from));
    arguments.extend(["--".into(), path.as_ref().to_owned()]);
    let exit = run(arguments);
    assert_eq!((exit.code, exit.stderr.as_str()), (Some(0), ""));
    let text = String::from_utf8(exit.stdout).unwrap();
    assert_eq!(text.lines().count(), 1, "{text}");
    text.trim_end().to_owned()
}

macro_rules! explains {
    ($($name:ident: $path:expr => $said:expr;)+) => {$(
        #[test]
        fn $name() {
            let root = tree();
            let before = root.census();
            let path = $path;
            assert_eq!(check(&root, &path), format!("{path}: {}", $said));
            assert_eq!(root.census(), before);
        }
    )+};
}

const LINK: &str = "a symbolic link, which is never followed";
const WOULD_BE: &str = "a file here would be, by --include src/**";

explains! {
    a_file: "src/a.ts" => "served, by --include src/**; a regular file of 7 bytes";
    a_file_of_one_byte: "src/one.ts" => "served, by --include src/**; a regular file of 1 byte";
    a_file_by_the_second_rule: "top.txt" => "served, by --include *.txt; nothing is there";
    a_file_spelled_with_slashes: "src//deep///b.ts" => "served, by --include src/**; a regular file of 0 bytes";
    a_file_over_the_limit: "src/big.ts" => "served, by --include src/**; a regular file of 12 bytes, too large to be read or searched: over --max-file-bytes 8";
    a_file_that_is_excluded: "src/x.env" => "not served, by --exclude **/*.env; a regular file of 8 bytes";
    a_file_that_is_not_included: "notes.md" => "not served: no --include pattern matches it; a regular file of 5 bytes";
    a_name_that_is_reserved: reserved() => "not served: the name is reserved for files that are being written; a regular file of 4 bytes";
    a_directory: "src" => "served, as far as --include src/** matches something below it; a directory";
    an_empty_directory: "src/empty" => "served, as far as --include src/** matches something below it; a directory";
    a_directory_that_is_not_included: "other" => "not served, nor is anything below it: no --include pattern matches anything below it; a directory";
    a_directory_where_a_file_would_be_served: "dir.txt" => "not served, nor is anything below it: no --include pattern matches anything below it; a directory";
    the_root: "." => "served, as far as --include src/** matches something below it; the root itself";
    nothing: "src/none" => "served, by --include src/**; nothing is there";
    nothing_that_is_excluded: "src/none.env" => "not served, by --exclude **/*.env; nothing is there";
    nothing_that_would_do_as_a_directory: "lib" => "not served: no --include pattern matches it; nothing is there; of a directory here, what --include lib/** matches below it would be served";
    nothing_below_what_is_missing: "src/none/a/b" => "served, by --include src/**; nothing is there, not even src/none";
    nothing_that_is_not_included: "none.md" => "not served: no --include pattern matches it; nothing is there";
    a_name_too_long_for_a_disk: format!("src/{}", "n".repeat(300)) => "served, by --include src/**; nothing is there";
    a_name_behind_a_file: "src/a.ts/b" => format!("not served: src/a.ts is a regular file, so nothing lies below it; {WOULD_BE}");
    a_name_behind_a_pipe: "src/pipe/b" => format!("not served: src/pipe is a named pipe, so nothing lies below it; {WOULD_BE}");
    a_link: "src/link" => format!("not served: {LINK}; {WOULD_BE}");
    a_link_to_nothing: "src/dangling" => format!("not served: {LINK}; {WOULD_BE}");
    a_link_out_of_the_root: "src/out" => format!("not served: {LINK}; {WOULD_BE}");
    a_name_behind_a_link: "src/inner/b.ts" => format!("not served: src/inner is {LINK}; {WOULD_BE}");
    a_name_behind_a_link_out_of_the_root: "src/out/secret.txt" => format!("not served: src/out is {LINK}; {WOULD_BE}");
    a_pipe: "src/pipe" => format!("not served: a named pipe, which is never opened; {WOULD_BE}");
    a_socket: "src/socket" => format!("not served: a socket, which is never opened; {WOULD_BE}");
    a_dot_before_it: "./src/a.ts" => "refused: paths are relative to the root; write src/a.ts";
    a_parent_in_it: "src/deep/../a.ts" => "refused: paths are relative to the root; write src/a.ts";
    a_parent_before_it: "../outside/secret.txt" => "refused: it lies outside the root, where nothing is served";
    a_backslash: "src\\a.ts" => "refused: paths are relative to the root; write src/a.ts";
    a_slash_before_it: "/src/a.ts" => "refused: paths are relative to the root; write src/a.ts";
    a_path_of_the_host: "/etc/passwd" => "refused: it lies outside the root, where nothing is served";
}

#[test]
fn a_path_of_the_host_below_the_root_is_told_how_to_be_written() {
    let root = tree();
    for (path, written) in [
        ("src/a.ts", "src/a.ts"),
        ("src/none", "src/none"),
        ("", "."),
    ] {
        let path = root.at(path);
        assert_eq!(
            check(&root, &path),
            format!(
                "{}: refused: paths are relative to the root; write {written}",
                path.display()
            )
        );
    }
}

#[test]
fn a_path_that_counts_from_the_working_directory_is_told_what_may_be_meant() {
    let root = Root::new().file("a.txt", "x");
    let exit = run_from(
        root.above(),
        [
            "check",
            "--root",
            "./root",
            "--include",
            "**",
            "./root/a.txt",
            "root/a.txt",
        ],
    );
    assert_eq!(
        String::from_utf8(exit.stdout).unwrap(),
        "./root/a.txt: refused: paths are relative to the root; write a.txt\n\
         root/a.txt: served, by --include **; nothing is there, not even root; paths are relative to the root, so perhaps a.txt is meant\n"
    );
}

#[test]
fn the_rule_that_hides_a_directory_is_named() {
    let root = tree();
    for (glob, path) in [
        ("src", "src/deep"),
        ("src/", "src"),
        ("**/deep/**", "src/deep"),
        ("**", "."),
    ] {
        let path_of_root = root.path();
        let exit = run([
            "check",
            "--root",
            path_of_root.to_str().unwrap(),
            "--include",
            "**",
            "--exclude",
            "none",
            "--exclude",
            glob,
            path,
        ]);
        let text = String::from_utf8(exit.stdout).unwrap();
        let expected = format!("not served, nor is anything below it, by --exclude {glob}; ");
        assert!(text.contains(&expected), "{text}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_device_is_seen_and_not_opened() {
    use rustix::fs::{CWD, FileType, Mode, makedev, mknodat};
    let root = Root::new().dir("src");
    for (name, kind, said) in [
        ("null", FileType::CharacterDevice, "a character device"),
        ("loop", FileType::BlockDevice, "a block device"),
    ] {
        let path = format!("src/{name}");
        // As /dev/null is, and a loop device that need not be there.
        let device = match kind {
            FileType::BlockDevice => makedev(7, 0),
            _ => makedev(1, 3),
        };
        if let Err(errno) = mknodat(CWD, root.at(&path), kind, Mode::RUSR, device) {
            eprintln!("SKIPPED a_device_is_seen_and_not_opened: no device can be made ({errno})");
            return;
        }
        assert_eq!(
            check(&root, &path),
            format!("{path}: not served: {said}, which is never opened; {WOULD_BE}")
        );
    }
}

#[test]
fn what_this_user_may_not_look_at_is_said() {
    let root = Root::new()
        .file("closed/a.txt", "x")
        .file("locked.txt", "x")
        .dir("listless");
    if ordinary("what_this_user_may_not_look_at_is_said", &root).is_none() {
        return;
    }
    for path in ["closed", "locked.txt", "listless"] {
        root.chmod(path, 0);
    }
    let mut command = Command::new(env!("CARGO_BIN_EXE_preopen-mcp"));
    command
        .args(["check", "--include", "**", "--root"])
        .arg(root.path())
        .args(["closed/a.txt", "locked.txt", "listless"])
        .stdout(std::process::Stdio::piped());
    if rustix::process::geteuid().is_root() {
        command.uid(NOBODY).gid(NOBODY);
    }
    let exit = Process::spawn(command).wait();
    for path in ["closed", "listless"] {
        root.chmod(path, 0o700);
    }
    assert_eq!(
        String::from_utf8(exit.stdout).unwrap(),
        "closed/a.txt: not served: this user has no permission to look into closed; a file here would be, by --include **\n\
         locked.txt: served, by --include **; a regular file of 1 byte, which this user has no permission to read\n\
         listless: served, as far as --include ** matches something below it; a directory, which this user has no permission to list\n"
    );
}

#[test]
fn nothing_is_opened_and_no_link_read() {
    let test = "nothing_is_opened_and_no_link_read";
    let root = tree();
    let trace = root.above().join("trace");
    let mut command = Command::new("strace");
    command.arg("-o").arg(&trace).args(["-e", "trace=%file"]);
    command
        .arg(env!("CARGO_BIN_EXE_preopen-mcp"))
        .arg("check")
        .args(RULES);
    command.arg("--root").arg(root.path());
    command.args(["src/a.ts", "src/pipe", "src/link", "src/inner/b.ts"]);
    if !command.output().is_ok_and(|output| output.status.success()) {
        eprintln!("SKIPPED {test}: strace is not installed or may not trace");
        return;
    }
    let trace = fs::read_to_string(trace).unwrap();
    for name in ["\"src\"", "\"a.ts\"", "\"pipe\"", "\"link\"", "\"inner\""] {
        let calls: Vec<&str> = trace
            .lines()
            .filter(|line| line.contains(name) && !line.starts_with("execve"))
            .collect();
        assert!(!calls.is_empty(), "{name} was not looked at: {trace}");
        for call in calls {
            let looks = call.contains("O_NOFOLLOW") && call.contains("O_PATH");
            let asks = call.starts_with("faccessat2(") && call.contains("AT_SYMLINK_NOFOLLOW");
            assert!(looks || asks, "{call}");
        }
    }
    assert!(!trace.contains("\"b.ts\""), "{trace}");
}

#[test]
fn a_path_that_is_no_utf8_or_no_one_line_takes_one_line() {
    let root = tree();
    assert_eq!(
        check(&root, OsStr::from_bytes(b"src/\xff")),
        "src/\u{fffd}: not served: its name is not UTF-8, so no client can spell it"
    );
    assert_eq!(
        check(&root, "src/a\nb\u{1b}[2J"),
        "src/a\\nb\\u{1b}[2J: served, by --include src/**; nothing is there"
    );
}

#[test]
fn every_path_has_its_line_in_order() {
    let root = tree();
    let path = root.path();
    let mut arguments = vec!["check", "--root", path.to_str().unwrap()];
    arguments.extend(RULES);
    arguments.extend(["src/x.env", "src/a.ts", "src/x.env"]);
    let text = String::from_utf8(run(arguments).stdout).unwrap();
    let paths: Vec<&str> = text
        .lines()
        .filter_map(|line| line.split(": ").next())
        .collect();
    assert_eq!(paths, ["src/x.env", "src/a.ts", "src/x.env"]);
}

#[test]
fn check_takes_the_command_line_of_a_server() {
    let root = Root::new().file("a.txt", "x").file("key", [7; 32]);
    let path = root.path();
    let key = root.at("key");
    let exit = run([
        "check",
        "--root",
        path.to_str().unwrap(),
        "--include",
        "**",
        "--read-only",
        "--tools",
        "read_text_file",
        "--write-mode",
        "create-new",
        "--content-hash",
        "hmac-sha256",
        "--cursor-key-file",
        key.to_str().unwrap(),
        "--lockdown",
        "required",
        "--max-depth",
        "3",
        "-v",
        "a.txt",
    ]);
    assert_eq!((exit.code, exit.stderr.as_str()), (Some(0), ""));
    assert_eq!(
        String::from_utf8(exit.stdout).unwrap(),
        "a.txt: served, by --include **; a regular file of 1 byte\n"
    );
}
