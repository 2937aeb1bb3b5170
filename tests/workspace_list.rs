//! list_files: that a listing is complete, or says what is missing and why.

use serde_json::{Value, json};

use crate::harness::{Answer, Launch, Root, Server, ordinary};

fn start(root: &Root) -> Server {
    Launch::workspace(root).start()
}

/// The lines of a listing, checked against the structured answer.
#[track_caller]
fn lines(answer: &Answer) -> (String, Vec<String>) {
    let mut lines = answer.said().lines().map(str::to_owned);
    let summary = lines.next().expect("a summary");
    let lines: Vec<String> = lines.collect();
    let value = answer.value();
    let paths = |member: &str| value[member].as_array().expect("an array").clone();
    let named = |kind: &str, paths: Vec<Value>| {
        paths
            .into_iter()
            .map(|path| format!("{kind}{}", path.as_str().expect("a path")))
            .collect::<Vec<_>>()
    };
    let expected = [
        named("DIR:  ", paths("directories")),
        named("FILE: ", paths("files")),
    ];
    assert_eq!(lines, expected.concat());
    (summary, lines)
}

#[track_caller]
fn lists(server: &mut Server, arguments: Value, summary: &str, expected: &[&str]) {
    let answer = server.call("list_files", arguments.clone());
    let (first, lines) = lines(&answer);
    assert_eq!(
        (first.as_str(), lines),
        (
            summary,
            expected.iter().map(|line| (*line).to_owned()).collect()
        ),
        "{arguments}"
    );
    assert_eq!(answer.value()["truncated"], false);
}

#[test]
fn extensions_ignore_case_and_the_dot() {
    let root = Root::new()
        .file("a.txt", "")
        .file("b.TXT", "")
        .file("c.tar.gz", "")
        .file(".txt", "")
        .file("d.", "")
        .file("e", "")
        .file("é.ÉTÉ", "");
    let mut server = start(&root);
    for extensions in [
        json!(["txt"]),
        json!([".TXT"]),
        json!(["*.txt"]),
        json!("txt"),
        json!(["Txt", ".txt", "md", ""]),
    ] {
        let arguments = json!({"extensions": extensions});
        lists(
            &mut server,
            arguments,
            "0 directories, 2 files",
            &["FILE: a.txt", "FILE: b.TXT"],
        );
    }
    for (extensions, expected) in [
        (json!([".tar.gz"]), "FILE: c.tar.gz"),
        (json!(["GZ"]), "FILE: c.tar.gz"),
        (json!(["été"]), "FILE: é.ÉTÉ"),
    ] {
        let arguments = json!({"extensions": extensions});
        lists(&mut server, arguments, "0 directories, 1 file", &[expected]);
    }
    for extensions in [json!([]), json!(null), json!([""]), json!(["."])] {
        let answer = server.call("list_files", json!({"extensions": extensions}));
        assert_eq!(lines(&answer).0, "0 directories, 7 files", "{extensions}");
    }
    let arguments = json!({"extensions": ["py"], "show_empty_dirs": false});
    lists(&mut server, arguments, "0 directories, 0 files", &[]);
    for extensions in [
        json!(1),
        json!([1]),
        json!([["txt"]]),
        json!({}),
        json!(vec!["x"; 65]),
    ] {
        server
            .call("list_files", json!({"extensions": extensions}))
            .refused_naming(&["extensions", "list"]);
    }
    server.close();
}

fn tree() -> Root {
    Root::new()
        .file("a-b/x.md", "")
        .file("a/b/x.txt", "")
        .file("a/z.md", "")
        .file("a.md", "")
        .dir("a/empty")
        .dir("empty/deep")
        .file(".hidden", "")
        .file(".git/config", "")
        .link("a/loop", "..")
        .link("out", "../outside/secret.txt")
        .fifo("pipe")
}

#[test]
fn everything_is_listed_in_byte_order_directories_first() {
    let root = tree();
    let mut server = start(&root);
    lists(
        &mut server,
        json!({}),
        "7 directories, 6 files",
        &[
            "DIR:  .git",
            "DIR:  a",
            "DIR:  a-b",
            "DIR:  a/b",
            "DIR:  a/empty",
            "DIR:  empty",
            "DIR:  empty/deep",
            "FILE: .git/config",
            "FILE: .hidden",
            "FILE: a-b/x.md",
            "FILE: a.md",
            "FILE: a/b/x.txt",
            "FILE: a/z.md",
        ],
    );
    lists(
        &mut server,
        json!({"recursive": false}),
        "4 directories, 2 files",
        &[
            "DIR:  .git",
            "DIR:  a",
            "DIR:  a-b",
            "DIR:  empty",
            "FILE: .hidden",
            "FILE: a.md",
        ],
    );
    server.close();
}

#[test]
fn a_directory_without_a_listed_file_below_can_be_left_out() {
    let root = tree();
    let mut server = start(&root);
    lists(
        &mut server,
        json!({"show_empty_dirs": false, "extensions": ["md"]}),
        "2 directories, 3 files",
        &[
            "DIR:  a",
            "DIR:  a-b",
            "FILE: a-b/x.md",
            "FILE: a.md",
            "FILE: a/z.md",
        ],
    );
    lists(
        &mut server,
        json!({"show_empty_dirs": "false", "extensions": ["txt"], "recursive": false}),
        "1 directory, 0 files",
        &["DIR:  a"],
    );
    server.close();
}

#[test]
fn what_the_rules_hide_is_not_listed() {
    let mut root = Root::new()
        .file(".hidden", "")
        .dir("empty")
        .file(".ENV", "");
    for name in 0..6_000 {
        root = root.file(format!("node_modules/{}/{name}.js", name % 200), "");
    }
    let root = root
        .file("src/a.js", "")
        .file("src/id_rsa", "")
        .file("src/lib.so", "");
    let mut server = Launch::workspace(&root)
        .exclude(&["**/node_modules/**"])
        .args(["--max-entries", "100"])
        .start();
    lists(
        &mut server,
        json!({}),
        "2 directories, 2 files",
        &[
            "DIR:  empty",
            "DIR:  src",
            "FILE: .hidden",
            "FILE: src/a.js",
        ],
    );
    server.close();
    let mut server = Launch::workspace(&root).exclude(&["**"]).start();
    server
        .call("list_files", json!({}))
        .refused("path is not served by this root");
    server.close();
}

#[test]
fn a_name_is_one_line_whatever_is_in_it() {
    let name = "my dir/it's 100% #1 – café 🙂.txt";
    let root = Root::new()
        .file(name, "x")
        .file("a\nFILE: b", "x")
        .file("-rf", "x")
        .file("...", "x");
    let mut server = start(&root);
    let answer = server.call("list_files", json!({}));
    assert_eq!(
        answer.said(),
        format!(
            "1 directory, 4 files\nDIR:  my dir\nFILE: -rf\nFILE: ...\nFILE: a\\nFILE: b\nFILE: {name}"
        )
    );
    let files = json!(["-rf", "...", "a\nFILE: b", name]);
    assert_eq!(answer.value()["files"], files);
    for path in files.as_array().expect("paths") {
        let answer = server.call("read_file", json!({"path": path}));
        assert!(answer.said().ends_with(":\n\nx"));
        assert_eq!(answer.said().lines().count(), 3);
    }
    server.close();
}

/// The total of a listing, and how many lines it shows of each kind.
fn shown(answer: &Answer) -> (String, usize, usize) {
    let (summary, lines) = lines(answer);
    let of = |kind: &str| lines.iter().filter(|line| line.starts_with(kind)).count();
    (summary, of("DIR:  "), of("FILE: "))
}

#[test]
fn a_listing_that_does_not_fit_says_so_and_how_to_narrow() {
    let mut root = Root::new();
    for name in 0..5_000 {
        root = root.file(
            format!("folder-{:02}/some-file-{name:04}.txt", name % 50),
            "",
        );
    }
    for name in 0..2_000 {
        root = root.dir(&format!("zone-{name}"));
    }
    let mut server = start(&root);
    let answer = server.call("list_files", json!({}));
    assert!(answer.0.result().to_string().len() <= 48_000);
    let (summary, directories, files) = shown(&answer);
    assert!(
        summary.starts_with("2050 directories, 5000 files; "),
        "{summary}"
    );
    let missing = format!(
        "; {} directories and {} files of them are not shown: narrow with extensions",
        2_050 - directories,
        5_000 - files
    );
    assert!(summary.contains(&missing), "{summary}");
    assert!(directories > 300 && files > 300, "{directories} {files}");
    assert_eq!(answer.value()["truncated"], true);
    assert_eq!(answer.value()["files_total"], 5_000);
    assert_eq!(answer.value()["files"][299], "folder-02/some-file-4952.txt");
    server.close();
}

#[test]
fn what_is_too_deep_or_too_much_is_named_and_counted() {
    let deep = "d/".repeat(40);
    let root = Root::new().file(format!("{deep}f.txt"), "").file("z", "");
    let mut server = start(&root);
    let answer = server.call("list_files", json!({}));
    assert_eq!(lines(&answer).0, "40 directories, 2 files");
    server.close();

    let mut server = Launch::workspace(&root).args(["--max-depth", "5"]).start();
    let answer = server.call("list_files", json!({}));
    assert_eq!(
        lines(&answer).0,
        "6 directories, 1 file; 1 directory nested too deep (--max-depth)"
    );
    assert_eq!(answer.value()["truncated"], true);
    assert_eq!(answer.value()["skipped"]["too_deep"], 1);
    server.close();

    let mut server = Launch::workspace(&root)
        .args(["--max-entries", "10"])
        .start();
    let answer = server.call("list_files", json!({}));
    let value = answer.value();
    assert_eq!(value["skipped"]["past_entries"], 1);
    assert_eq!(value["files"], json!(["z"]));
    server.close();

    let mut server = Launch::workspace(&root)
        .args(["--max-entries", "1"])
        .start();
    server
        .call("list_files", json!({}))
        .refused("the root has more than 1 entries at its top level; have --max-entries raised");
    server.close();
}

#[test]
fn a_wide_directory_is_counted_whole() {
    let mut root = Root::new();
    for name in 0..20_000 {
        root = root.file(format!("wide/{name}"), "");
    }
    let mut server = start(&root);
    let answer = server.call("list_files", json!({}));
    assert_eq!(answer.value()["files_total"], 20_000);
    assert!(answer.said().starts_with("1 directory, 20000 files; "));
    server.close();
}

#[test]
fn a_directory_that_cannot_be_read_is_counted() {
    let root = Root::new().file("closed/x", "").file("open/x", "");
    root.chmod("closed", 0);
    let test = "a_directory_that_cannot_be_read_is_counted";
    let Some(launch) = ordinary(test, &root) else {
        return root.chmod("closed", 0o755);
    };
    let mut server = launch.args(["--toolset", "all"]).start();
    let answer = server.call("list_files", json!({"show_empty_dirs": false}));
    assert_eq!(
        answer.said(),
        "2 directories, 1 file; 1 directory could not be read\nDIR:  closed\nDIR:  open\nFILE: open/x"
    );
    assert_eq!(answer.value()["skipped"]["unreadable"], 1);
    assert_eq!(answer.value()["truncated"], false);
    server.close();
    root.chmod("closed", 0o755);
}
