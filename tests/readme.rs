//! The manual against the code: what README.md says in a table or a command
//! must be what the program has, does or accepts.

#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Stdio};

use preopen_mcp::hostile::EXPECTED;
use preopen_mcp::limits::Limits;
use preopen_mcp::policy::{BLOCKED_EXTENSIONS, BLOCKED_NAMES, Policy, Verdict};
use preopen_mcp::{Options, Root, Server, Toolset};
use serde_json::{Value, json};

#[allow(unreachable_pub)]
#[path = "../examples/embed.rs"]
mod embed;

/// What a program says that can take layers away; the crate's own tests see to
/// it that theirs does.
const SWITCH: &str = "this program can take its layers away";

const README: &str = include_str!("../README.md");
const SECURITY: &str = include_str!("../SECURITY.md");
const PTC_HOST: &str = include_str!("../examples/ptc-host.json");

/// The rows of the table whose header starts with `header`, cell by cell.
fn table(header: &str) -> Vec<Vec<String>> {
    let start = format!("| {header} |");
    let rows: Vec<Vec<String>> = README
        .lines()
        .skip_while(|line| !line.starts_with(&start))
        .skip(2)
        .take_while(|line| line.starts_with('|'))
        .map(|line| {
            line.trim_matches('|')
                .split(" | ")
                .map(|cell| cell.trim().to_owned())
                .collect()
        })
        .collect();
    assert!(!rows.is_empty(), "no table {header:?} in README.md");
    rows
}

fn code(cell: &str) -> Vec<String> {
    cell.split(", ")
        .map(|part| part.trim_matches('`').to_owned())
        .collect()
}

#[test]
fn the_table_of_limits_is_the_one_in_the_code() {
    let expected: Vec<Vec<String>> = Limits::TABLE
        .iter()
        .map(|limit| {
            vec![
                format!("`--{}`", limit.flag),
                limit.display(limit.core),
                limit.display(limit.workspace),
                limit.about.trim().to_owned(),
            ]
        })
        .collect();
    assert_eq!(table("flag"), expected);
}

#[test]
fn the_tables_of_tools_are_what_the_server_lists() {
    tools("tool", Toolset::Core);
    tools("workspace tool", Toolset::Workspace);
}

fn tools(header: &str, toolset: Toolset) {
    let directory = tempfile::tempdir().unwrap();
    let options = Options {
        toolset,
        ..Options::new(directory.path(), ["**"])
    };
    let server = Server::new(Root::open(options).unwrap()).unwrap();
    let request = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {}}}});
    let answer = server.handle(request.to_string().as_bytes()).unwrap();
    let answer: Value = serde_json::from_str(&answer).unwrap();
    let tools = answer["result"]["tools"].as_array().unwrap();
    let rows = table(header);
    assert_eq!(rows.len(), tools.len());
    for (row, tool) in rows.iter().zip(tools) {
        assert_eq!(code(&row[0]), [tool["name"].as_str().unwrap()]);
        let sorted = |cell: &str| {
            let mut names = code(cell);
            names.sort();
            names
        };
        let keys = |value: &Value| -> Vec<String> {
            let members: BTreeMap<String, Value> = serde_json::from_value(value.clone()).unwrap();
            members.into_keys().collect()
        };
        assert_eq!(sorted(&row[1]), keys(&tool["inputSchema"]["properties"]));
        match &tool["outputSchema"]["properties"] {
            Value::Null => assert_eq!(row[2], "text alone"),
            output => {
                let items = output.get("items");
                let item = items.map_or(output, |items| &items["items"]["properties"]);
                assert_eq!(sorted(&row[2]), keys(item));
            }
        }
        let reads = tool["annotations"]["readOnlyHint"] == true;
        assert_eq!(row[3], if reads { "no" } else { "yes" });
    }
}

#[test]
fn the_table_of_patterns_is_what_the_policy_does() {
    let serves = |include: &str, path: &str| {
        Policy::new(&[include], &[]).unwrap().file(path) == Verdict::Served
    };
    let hides = |exclude: &str, path: &str| {
        Policy::new(&["**"], &[exclude]).unwrap().file(path) == Verdict::Excluded
    };
    // (a file `dir`, a file in `dir`, a file `dir` below, a file in a `dir` below)
    let paths = ["dir", "dir/a/b", "x/dir", "x/dir/a"];
    let expected = [
        (
            "dir",
            [true, false, false, false],
            [true, true, false, false],
        ),
        (
            "dir/",
            [false, true, false, false],
            [false, true, false, false],
        ),
        (
            "dir/**",
            [false, true, false, false],
            [false, true, false, false],
        ),
        (
            "**/dir",
            [true, false, true, false],
            [true, true, true, true],
        ),
        (
            "**/dir/**",
            [false, true, false, true],
            [false, true, false, true],
        ),
    ];
    let rows: Vec<String> = table("pattern")
        .iter()
        .flat_map(|row| code(&row[0]))
        .collect();
    assert_eq!(rows, expected.map(|(pattern, ..)| pattern));
    for (pattern, included, excluded) in expected {
        assert_eq!(
            paths.map(|path| serves(pattern, path)),
            included,
            "--include {pattern}"
        );
        assert_eq!(
            paths.map(|path| hides(pattern, path)),
            excluded,
            "--exclude {pattern}"
        );
    }
}

#[test]
fn the_program_links_no_compiler() {
    let program = std::fs::read(env!("CARGO_BIN_EXE_preopen-mcp")).unwrap();
    let holds = |name: &str| memchr::memmem::find(&program, name.as_bytes()).is_some();
    // The names of what is linked are in a program that was built for tests.
    assert!(holds("wasmtime"));
    assert!(!holds("cranelift_codegen") && !holds("regalloc2"));
}

/// What SECURITY.md says is tried is an attempt, or a component that imports.
#[test]
fn the_attempts_that_the_advisories_name_are_made() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let imports = root.join("tests/hostile/imports");
    let rows: Vec<&str> = SECURITY
        .lines()
        .skip_while(|line| !line.starts_with("| advisory"))
        .skip(2)
        .take_while(|line| line.starts_with('|'))
        .collect();
    assert!(rows.len() > 4);
    for row in rows {
        let tried = row.split(" | ").last().unwrap();
        let named: Vec<&str> = tried.split('`').skip(1).step_by(2).collect();
        assert!(!named.is_empty(), "{row}");
        for name in named {
            let attempt = EXPECTED.iter().any(|row| row.name == name);
            let import = imports.join(name).with_extension("wat").exists();
            assert!(attempt || import, "{name}");
        }
    }
}

#[test]
fn the_blocked_names_are_the_ones_in_the_code() {
    let extensions = BLOCKED_EXTENSIONS.iter().map(|name| format!(".{name}"));
    let listed = format!("`{}`", extensions.collect::<Vec<_>>().join(" "));
    assert!(README.contains(&listed), "{listed}");
    for name in BLOCKED_NAMES {
        assert!(README.contains(&format!("`{name}`")), "{name}");
    }
}

/// The tests of the crate can take layers away; nothing else can.
#[test]
fn the_program_has_no_switch_for_layers() {
    let program = std::fs::read(env!("CARGO_BIN_EXE_preopen-mcp")).unwrap();
    assert!(memchr::memmem::find(&program, SWITCH.as_bytes()).is_none());
    let manifest = include_str!("../host/Cargo.toml");
    let features: Vec<&str> = manifest
        .lines()
        .skip_while(|line| *line != "[features]")
        .skip(1)
        .take_while(|line| !line.starts_with('['))
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .collect();
    // Another feature could bring it in.
    assert_eq!(features, ["compiler = [\"wasmtime/cranelift\"]"]);
}

#[test]
fn the_layers_stand_where_the_table_says() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    for row in table("layer") {
        for place in code(&row[2]) {
            assert!(root.join(&place).exists(), "{place}");
        }
    }
}

#[test]
fn every_link_of_the_manual_leads_somewhere() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let targets = README
        .split("](")
        .skip(1)
        .filter_map(|rest| rest.split([')', '#']).next())
        .filter(|target| !target.starts_with("http"));
    for target in targets {
        assert!(root.join(target).exists(), "{target}");
    }
}

#[test]
fn the_library_example_runs() {
    embed::main().unwrap();
}

#[test]
fn the_installations_for_ptcrunner_start_without_an_environment() {
    let host: Value = serde_json::from_str(PTC_HOST).unwrap();
    let installations = host["installations"].as_object().unwrap();
    assert_eq!(installations.len(), 3);
    for (name, installation) in installations {
        assert_eq!(installation["env"], json!({}), "{name}");
        let directory = tempfile::tempdir().unwrap();
        let mut arguments: Vec<String> =
            serde_json::from_value(installation["args"].clone()).unwrap();
        let at = arguments.iter().position(|word| word == "--root").unwrap();
        arguments[at + 1] = directory.path().to_str().unwrap().to_owned();
        let output = Command::new(env!("CARGO_BIN_EXE_preopen-mcp"))
            .args(arguments)
            .env_clear()
            .current_dir("/")
            .stdin(Stdio::null())
            .output()
            .unwrap();
        assert!(output.status.success(), "{name}: {output:?}");
        assert!(
            output.stdout.is_empty() && output.stderr.is_empty(),
            "{name}: {output:?}"
        );
    }
}
