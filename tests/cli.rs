//! The command line: every usage or configuration error exits 64 with one line
//! that names the flag; everything else is spelled as the manual says.

use std::fs;
use std::path::Path;

use preopen_contract::limits::Limits;
use serde_json::json;

use crate::harness::{Exit, Launch, Process, Root, run, run_from};

/// Arguments with `{root}` and `{above}` filled in.
fn filled(root: &Root, arguments: &[&str]) -> Vec<String> {
    let above = root.above().to_str().unwrap();
    arguments
        .iter()
        .map(|text| {
            text.replace("{root}", &format!("{above}/root"))
                .replace("{above}", above)
        })
        .collect()
}

fn refused(exit: &Exit, parts: &[&str]) {
    assert_eq!(exit.code, Some(64), "{exit:?}");
    assert!(exit.stdout.is_empty(), "{exit:?}");
    assert!(
        exit.stderr.starts_with("preopen-mcp: ") && exit.stderr.ends_with('\n'),
        "{exit:?}"
    );
    assert_eq!(exit.stderr.lines().count(), 1, "{exit:?}");
    assert!(
        exit.stderr.len() < 400 && !exit.stderr.contains("panicked"),
        "{exit:?}"
    );
    for part in parts {
        assert!(
            exit.stderr.contains(part),
            "`{part}` is missing: {}",
            exit.stderr
        );
    }
}

macro_rules! exits_64 {
    ($($name:ident: $arguments:tt => $part:literal;)+) => {$(
        #[test]
        fn $name() {
            let root = Root::new().file("a.txt", "x").fifo("pipe");
            std::os::unix::fs::symlink("root", root.above().join("link")).unwrap();
            fs::write(root.above().join("short.key"), [7; 31]).unwrap();
            refused(&run_from(root.above(), filled(&root, &$arguments)), &[$part]);
            assert!(!root.above().join("~").exists());
        }
    )+};
}

exits_64! {
    nothing_at_all: [] => "--root";
    no_root: ["--include", "**"] => "--root";
    no_include: ["--root", "{root}"] => "--include";
    only_an_exclude: ["--root", "{root}", "--exclude", "*.env"] => "--include";
    a_root_that_is_missing: ["--root", "{above}/none", "--include", "**"] => "--root";
    a_root_that_is_a_file: ["--root", "{root}/a.txt", "--include", "**"] => "--root";
    a_root_that_is_a_pipe: ["--root", "{root}/pipe", "--include", "**"] => "--root";
    a_root_that_is_empty: ["--root", "", "--include", "**"] => "--root";
    a_root_without_a_value: ["--include", "**", "--root"] => "--root";
    a_root_given_twice: ["--root", "{root}", "--root", "{root}", "--include", "**"] => "--root";
    a_root_that_is_a_link: ["--root", "{above}/link", "--include", "**"] => "symbolic link";
    a_root_that_is_a_link_with_a_slash: ["--root", "{above}/link/", "--include", "**"] => "symbolic link";
    a_relative_root_that_is_a_link: ["--root", "link", "--include", "**"] => "symbolic link";
    a_tilde_that_no_shell_expanded: ["--root", "~/x", "--include", "**"] => "--root";
    a_variable_that_no_shell_expanded: ["--root", "$HOME/x", "--include", "**"] => "--root";
    an_unknown_flag: ["--root", "{root}", "--include", "**", "--nope"] => "--nope";
    an_unknown_command: ["nope"] => "nope";
    a_stray_argument: ["--root", "{root}", "--include", "**", "stray"] => "stray";
    an_unknown_write_mode: ["--root", "{root}", "--include", "**", "--write-mode", "append"] => "--write-mode";
    an_unknown_hash: ["--root", "{root}", "--include", "**", "--content-hash", "md5"] => "--content-hash";
    an_unknown_tool: ["--root", "{root}", "--include", "**", "--tools", "list_directory,nope"] => "--tools";
    an_empty_list_of_tools: ["--root", "{root}", "--include", "**", "--tools", ""] => "--tools";
    a_key_file_that_is_missing: ["--root", "{root}", "--include", "**", "--cursor-key-file", "{above}/none"] => "--cursor-key-file";
    a_key_file_that_is_a_directory: ["--root", "{root}", "--include", "**", "--cursor-key-file", "{above}"] => "--cursor-key-file";
    a_key_file_that_is_a_pipe: ["--root", "{root}", "--include", "**", "--cursor-key-file", "{root}/pipe"] => "--cursor-key-file";
    a_key_file_of_31_bytes: ["--root", "{root}", "--include", "**", "--cursor-key-file", "{above}/short.key"] => "--cursor-key-file";
    check_without_a_root: ["check", "--include", "**", "a.txt"] => "--root";
    check_without_an_include: ["check", "--root", "{root}", "a.txt"] => "--include";
    check_with_a_bad_pattern: ["check", "--root", "{root}", "--include", "[", "a.txt"] => "--include";
}

macro_rules! says {
    ($($name:ident: $arguments:tt => $line:literal;)+) => {$(
        #[test]
        fn $name() {
            let root = Root::new();
            let mut arguments = filled(&root, &$arguments);
            if arguments.first().is_some_and(|first| first.starts_with("--") && first != "--root") {
                arguments.extend(filled(&root, &["--root", "{root}", "--include", "**"]));
            }
            let exit = run(arguments);
            refused(&exit, &[]);
            assert_eq!(exit.stderr, concat!("preopen-mcp: ", $line, "\n"));
        }
    )+};
}

says! {
    a_bad_write_mode_lists_the_modes: ["--write-mode", "x"] => "--write-mode: `x` is not one of replace, create-new";
    a_bad_lockdown_lists_the_modes: ["--lockdown", "x"] => "--lockdown: `x` is not one of auto, required, off";
    a_bad_hash_lists_the_hashes: ["--content-hash", "x"] => "--content-hash: `x` is not one of sha256, hmac-sha256";
    a_missing_choice_lists_the_choices: ["--write-mode", "--read-only"] => "--write-mode: a value is missing, one of replace, create-new";
    a_missing_value_is_named: ["--max-depth", "--read-only"] => "--max-depth N: the value is missing";
    a_missing_root_value_is_named: ["--root", "--include", "**"] => "--root DIR: the value is missing";
    a_flag_given_twice_is_named: ["--max-depth", "1", "--max-depth", "2"] => "--max-depth: it is given twice";
    a_value_for_a_switch_is_named: ["--read-only=yes"] => "--read-only: it takes no value, and got `yes`";
    a_limit_too_small_says_the_least: ["--max-scan-bytes", "1"] => "--max-scan-bytes: must be at least 1MiB";
    a_limit_too_large_says_the_greatest: ["--max-file-bytes", "9999999999999999999999"] => "--max-file-bytes: must be at most 1PiB";
    a_limit_of_no_number_says_how_to_write_one: ["--max-file-bytes", "1GB"] => "--max-file-bytes: `1GB` is not a number of bytes, such as 65536 or 64MiB";
    an_unknown_flag_names_itself: ["--nope=1"] => "--nope: there is no such flag (see --help)";
    an_unknown_flag_of_check_names_itself: ["check", "--nope"] => "--nope: there is no such flag (see --help)";
    an_unknown_command_names_the_commands: ["nope"] => "`nope`: not a flag, and no command; commands are workspace, check, demo, guest (see --help)";
    an_argument_of_two_lines_takes_one: ["no\npe"] => "`no\\npe`: not a flag, and no command; commands are workspace, check, demo, guest (see --help)";
    a_stray_argument_names_itself: ["--root", "{root}", "--include", "**", "stray"] => "`stray`: not a flag, and no command; commands are workspace, check, demo, guest (see --help)";
    a_stray_argument_of_a_command_names_itself: ["demo", "stray"] => "`stray`: not expected here (see --help)";
    a_command_behind_flags_is_told_where_it_goes: ["--root", "{root}", "check"] => "`check` comes first, before any flag";
    check_without_a_path_says_so: ["check", "--root", "{root}", "--include", "**"] => "PATH is missing: name what to check, relative to the root";
    an_unknown_tool_names_the_tools: ["--tools", "list_directory,nope"] => "--tools: there is no tool \"nope\"; there are list_directory, read_text_file, search_files, search_text, write_text_file";
    an_unknown_tool_names_the_reading_tools: ["--read-only", "--tools", "nope"] => "--tools: there is no tool \"nope\"; there are list_directory, read_text_file, search_files, search_text";
    a_writing_tool_of_a_read_only_root_is_named: ["--read-only", "--tools", "write_text_file"] => "--tools: write_text_file writes, so --read-only leaves it out";
}

#[test]
fn an_argument_that_is_no_utf8_is_named() {
    use std::os::unix::ffi::OsStrExt;
    let odd = std::ffi::OsStr::from_bytes(b"*.\xff");
    let exit = run([std::ffi::OsStr::new("--include"), odd]);
    refused(&exit, &["`*.\u{fffd}`", "UTF-8"]);
}

#[test]
fn every_limit_refuses_what_is_no_number_or_out_of_its_range() {
    let root = Root::new();
    for limit in Limits::TABLE {
        let flag = format!("--{}", limit.flag);
        let past = limit.range.1.checked_add(1).unwrap().to_string();
        let mut values = vec!["x", "", "-1", "1.5", "99999999999999999999", past.as_str()];
        if limit.range.0 > 0 {
            values.push("0");
        }
        // A number without a unit is seconds where a time is asked for.
        for value in values {
            let arguments = ["--root", "{root}", "--include", "**"];
            let mut arguments = filled(&root, &arguments);
            arguments.push(format!("{flag}={value}"));
            refused(&run(arguments), &[&flag]);
        }
    }
}

#[test]
fn every_limit_takes_its_default_and_its_least_value() {
    let root = Root::new();
    for limit in Limits::TABLE {
        for value in [limit.core, limit.range.0] {
            let server = Launch::new(&root)
                .args([format!("--{}", limit.flag), limit.display(value)])
                .start();
            server.close();
        }
    }
}

#[test]
fn help_is_on_stdout_and_names_every_flag() {
    for flag in ["--help", "-h"] {
        let exit = run([flag]);
        assert_eq!((exit.code, exit.stderr.as_str()), (Some(0), ""));
        let text = String::from_utf8(exit.stdout).unwrap();
        let limits = Limits::TABLE
            .iter()
            .map(|limit| format!("--{}", limit.flag));
        let others = [
            "--root",
            "--include",
            "--exclude",
            "--read-only",
            "--tools",
            "--write-mode",
            "--content-hash",
            "--cursor-key-file",
            "--toolset",
            "--protocol",
            "--allow-blocked",
            "--audit",
            "--component",
            "--lockdown",
        ];
        for name in limits.chain(others.map(str::to_owned)) {
            assert!(text.contains(&name), "{flag} does not name {name}");
        }
    }
}

/// The program that is shipped compiles nothing, and says how to get one that does.
#[cfg(not(feature = "compiler"))]
#[test]
fn a_component_needs_a_program_with_the_compiler() {
    let root = Root::new();
    let file = root.outside("component.wasm");
    fs::write(&file, b"\0asm\x0d\0\x01\0").unwrap();
    let launch = Launch::new(&root).args(["--component".as_ref(), file.as_os_str()]);
    let exit = launch.spawn().wait();
    refused(&exit, &["--component: this build has no compiler"]);
    // The very command stands in the manual.
    let command = "cargo build --release --package preopen-mcp --features compiler";
    assert!(exit.stderr.ends_with(&format!(" with: {command}\n")));
    for manual in ["docs/components.md", "examples/custom-tool/README.md"] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("..")
            .join(manual);
        assert!(
            fs::read_to_string(path).unwrap().contains(command),
            "{manual}"
        );
    }
}

#[test]
fn version_is_one_line() {
    for flag in ["--version", "-V"] {
        let exit = run([flag]);
        assert_eq!((exit.code, exit.stderr.as_str()), (Some(0), ""));
        assert_eq!(
            String::from_utf8(exit.stdout).unwrap(),
            format!("preopen-mcp {}\n", env!("CARGO_PKG_VERSION"))
        );
    }
}

#[test]
fn check_says_for_each_path_whether_it_is_served_and_by_which_rule() {
    let root = Root::new();
    let arguments = [
        "check",
        "--root",
        "{root}",
        "--include",
        "src/**",
        "--exclude",
        "**/*.env",
        "src/a.ts",
        "src/x.env",
        "notes.md",
    ];
    let exit = run(filled(&root, &arguments));
    assert_eq!(exit.stderr, "");
    let text = String::from_utf8(exit.stdout).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let [served, excluded, outside] = lines.as_slice() else {
        panic!("not three lines: {text}")
    };
    assert!(
        served.contains("src/a.ts") && served.contains("src/**") && !served.contains("not served"),
        "{served}"
    );
    assert!(
        excluded.contains("src/x.env") && excluded.contains("**/*.env"),
        "{excluded}"
    );
    assert!(outside.contains("notes.md"), "{outside}");
}

#[test]
fn guest_writes_the_component() {
    let exit = run(["guest"]);
    assert_eq!((exit.code, exit.stderr.as_str()), (Some(0), ""));
    assert_eq!(exit.stdout[..8], *b"\0asm\x0d\0\x01\0");
}

#[test]
fn a_root_whose_name_is_no_utf8_is_served() {
    use std::os::unix::ffi::OsStrExt;
    let root = Root::new().file("a.txt", "x");
    let odd = root.above().join(std::ffi::OsStr::from_bytes(b"odd\xff"));
    fs::rename(root.path(), &odd).unwrap();
    let mut server = Launch::at(&root, odd).start();
    assert_eq!(server.read("a.txt"), "x");
    server.close();
}

#[test]
fn no_environment_is_needed() {
    let root = Root::new().file("a.txt", "x");
    let mut server = Launch::new(&root)
        .with(|command| command.env_clear().current_dir("/"))
        .start();
    assert_eq!(server.read("a.txt"), "x");
    server.close();
}

#[test]
fn a_relative_root_counts_from_the_working_directory() {
    let root = Root::new().file("a.txt", "x");
    let above = root.above().to_owned();
    for spelled in ["root", "./root", "root/", "outside/../root"] {
        let mut server = Launch::at(&root, spelled)
            .with(|command| command.env_clear().current_dir(&above))
            .start();
        assert_eq!(server.read("a.txt"), "x", "{spelled}");
        server.close();
    }
    let mut server = Launch::at(&root, ".")
        .with(|command| command.current_dir(root.path()))
        .start();
    assert_eq!(server.read("a.txt"), "x");
    server.close();
}

#[test]
fn a_link_above_the_root_is_followed() {
    let root = Root::new().file("below/a.txt", "x");
    std::os::unix::fs::symlink("root", root.above().join("link")).unwrap();
    let mut server = Launch::at(&root, root.above().join("link/below")).start();
    assert_eq!(server.read("a.txt"), "x");
    server.close();
}

#[test]
fn tools_narrows_the_list() {
    let root = Root::new().file("a.txt", "x");
    let mut server = Launch::new(&root)
        .args(["--tools", "read_text_file,list_directory"])
        .start();
    let mut names: Vec<String> = server
        .tools()
        .iter()
        .map(|tool| tool["name"].as_str().unwrap().to_owned())
        .collect();
    names.sort();
    assert_eq!(names, ["list_directory", "read_text_file"]);
    server
        .request(
            "tools/call",
            json!({"name": "search_files", "arguments": {"query": "a"}}),
        )
        .error(-32602);
    assert_eq!(server.read("a.txt"), "x");
    server.close();
}

#[test]
fn verbose_changes_nothing_on_stdout_and_speaks_in_lines() {
    let root = Root::new().file("src/a.txt", "x");
    // Not included at the top level, so that there is a warning to count on.
    let mut server = Launch::new(&root).include(&["src/**"]).args(["-v"]).start();
    assert_eq!(server.read("src/a.txt"), "x");
    let (messages, exit) = server.finish();
    assert_eq!((messages.len(), exit.code), (0, Some(0)));
    assert!(exit.stderr.contains("write_text_file"), "{}", exit.stderr);
    assert!(
        exit.stderr
            .lines()
            .all(|line| line.starts_with("preopen-mcp: ")),
        "{}",
        exit.stderr
    );
}

#[test]
fn a_usage_error_survives_a_closed_stderr() {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_preopen-mcp"));
    command
        .arg("--nope")
        .current_dir(Path::new("/"))
        .stderr(writer);
    assert_eq!(Process::spawn(command).wait().code, Some(64));
}
