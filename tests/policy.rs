//! Include and exclude rules end to end: which files each pattern serves, in
//! every tool, and that a rule decides by the path alone.

use serde_json::json;

use crate::harness::{Launch, Root, run};

/// Files for the table below, each with the same line in it.
fn tree() -> Root {
    ALL.into_iter()
        .fold(Root::new(), |root, path| root.file(path, "needle\n"))
}

macro_rules! served {
    ($($name:ident: $include:expr, $exclude:expr => $paths:expr;)+) => {$(
        #[test]
        fn $name() {
            let root = tree();
            let mut expected: Vec<&str> = $paths.to_vec();
            expected.sort_unstable();
            let mut server = Launch::new(&root).include(&$include).exclude(&$exclude).start();
            assert_eq!(server.all_paths("search_text", json!({"query": "needle"})), expected);
            for path in &expected {
                assert_eq!(server.call("read_text_file", json!({"path": path})).text(), "needle\n");
            }
            let mut listed = Vec::new();
            let mut directories = vec![String::new()];
            while let Some(directory) = directories.pop() {
                for item in server.all("list_directory", json!({"path": directory})) {
                    let path = item["path"].as_str().unwrap().to_owned();
                    if item["kind"] == "directory" { &mut directories } else { &mut listed }.push(path);
                }
            }
            listed.sort();
            assert_eq!(listed, expected, "by listing");
            assert_eq!(server.finish().1.code, Some(0));
        }
    )+};
}

const ALL: [&str; 12] = [
    "a.ts",
    "b.TS",
    "dir/a.ts",
    "dir/deep/b.ts",
    "dir.ts",
    "lib/dir/c.ts",
    "lib/x/dir/y/d.ts",
    "x",
    "lib/x/x",
    ".git/config",
    ".hidden",
    "[x].md",
];

fn all_but(hidden: &[&'static str]) -> Vec<&'static str> {
    ALL.into_iter()
        .filter(|path| !hidden.contains(path))
        .collect()
}

const NONE: [&str; 0] = [];
const EVERYTHING: [&str; 1] = ["**"];

served! {
    two_stars_serve_everything_also_dot_names: EVERYTHING, NONE => ALL;
    a_star_stays_inside_a_name: ["*"], NONE => ["a.ts", "b.TS", "dir.ts", "x", ".hidden", "[x].md"];
    a_star_inside_a_name_is_case_sensitive: ["*.ts"], NONE => ["a.ts", "dir.ts"];
    two_stars_then_a_name_match_at_any_depth: ["**/x"], NONE => ["x", "lib/x/x"];
    two_stars_then_a_pattern_match_at_any_depth: ["**/*.ts"], NONE => ["a.ts", "dir/a.ts", "dir/deep/b.ts", "dir.ts", "lib/dir/c.ts", "lib/x/dir/y/d.ts"];
    a_directory_and_stars_serve_all_in_it: ["dir/**"], NONE => ["dir/a.ts", "dir/deep/b.ts"];
    a_directory_and_a_slash_mean_the_same: ["dir/"], NONE => ["dir/a.ts", "dir/deep/b.ts"];
    a_directory_alone_serves_only_a_file_of_that_name: ["dir", "x"], NONE => ["x"];
    a_directory_anywhere_serves_all_in_it: ["**/dir/**"], NONE => ["dir/a.ts", "dir/deep/b.ts", "lib/dir/c.ts", "lib/x/dir/y/d.ts"];
    stars_inside_a_pattern_match_no_name_too: ["dir/**/b.ts", "dir/**/a.ts"], NONE => ["dir/a.ts", "dir/deep/b.ts"];
    a_question_mark_is_one_character: ["?.ts", "?"], NONE => ["a.ts", "x"];
    a_class_is_one_of_its_characters: ["[ab].[tT][sS]"], NONE => ["a.ts", "b.TS"];
    a_negated_class_is_none_of_its_characters: ["[!a].TS", "[^b].ts"], NONE => ["a.ts", "b.TS"];
    a_bracket_is_written_as_a_class: ["[[]x[]].md"], NONE => ["[x].md"];
    braces_are_choices: ["{a,dir}.ts", "lib/{dir,x}/{c.ts,x}"], NONE => ["a.ts", "dir.ts", "lib/dir/c.ts", "lib/x/x"];
    includes_add_up: ["x", "a.ts"], NONE => ["x", "a.ts"];
    excluding_a_name_hides_all_in_it: EVERYTHING, ["dir"] => all_but(&["dir/a.ts", "dir/deep/b.ts"]);
    excluding_a_slash_hides_all_in_it: EVERYTHING, ["dir/"] => all_but(&["dir/a.ts", "dir/deep/b.ts"]);
    excluding_stars_hides_all_in_it: EVERYTHING, ["dir/**"] => all_but(&["dir/a.ts", "dir/deep/b.ts"]);
    excluding_a_name_anywhere_hides_all_in_it: EVERYTHING, ["**/dir"] => all_but(&["dir/a.ts", "dir/deep/b.ts", "lib/dir/c.ts", "lib/x/dir/y/d.ts"]);
    excluding_a_directory_anywhere_hides_all_in_it: EVERYTHING, ["**/dir/**"] => all_but(&["dir/a.ts", "dir/deep/b.ts", "lib/dir/c.ts", "lib/x/dir/y/d.ts"]);
    exclude_wins_over_include: ["lib/x/x", "**"], ["lib/x"] => all_but(&["lib/x/x", "lib/x/dir/y/d.ts"]);
    one_pattern_hides_the_dot_names: EVERYTHING, ["**/.*"] => all_but(&[".git/config", ".hidden"]);
    exclusion_is_case_sensitive: EVERYTHING, ["*.ts"] => all_but(&["a.ts", "dir.ts"]);
}

#[test]
fn excluding_everything_serves_nothing() {
    let root = tree();
    let mut server = Launch::new(&root).exclude(&["**"]).start();
    for (tool, arguments) in [
        ("list_directory", json!({})),
        ("search_files", json!({"query": "x"})),
        ("search_text", json!({"query": "needle"})),
        ("read_text_file", json!({"path": "x"})),
    ] {
        server
            .call(tool, arguments)
            .refused("path is not served by this root");
    }
    assert_eq!(server.finish().1.code, Some(0));
}

macro_rules! bad_patterns {
    ($($name:ident: $pattern:expr;)+) => {$(
        #[test]
        fn $name() {
            let root = Root::new();
            let path = root.path();
            let directory = path.to_str().unwrap();
            let pattern: &str = &$pattern;
            let include = run(["--root", directory, "--include", pattern]);
            let exclude = run(["--root", directory, "--include", "**", "--exclude", pattern]);
            for (exit, flag) in [(include, "--include"), (exclude, "--exclude")] {
                assert_eq!(exit.code, Some(64), "{}", exit.stderr);
                assert!(exit.stderr.starts_with("preopen-mcp: ") && exit.stderr.contains(flag), "{}", exit.stderr);
                assert_eq!((exit.stderr.lines().count(), exit.stdout.len()), (1, 0), "{}", exit.stderr);
            }
        }
    )+};
}

bad_patterns! {
    an_open_class: "[";
    an_open_brace: "{a";
    stars_and_an_open_class: "**[";
    three_stars: "***";
    stars_inside_a_name: "a**b";
    an_empty_pattern: "";
    ten_thousand_stars: "*".repeat(10_000);
    a_closing_brace: "a}";
    a_parent: "../x";
    a_parent_and_stars: "../**";
    a_parent_inside: "src/*/../../**";
    an_absolute_pattern: "/**";
    an_absolute_name: "/abs";
    a_leading_dot_segment: "./x";
    a_dot_segment_inside: "a/./b";
    a_doubled_slash: "a//b";
    a_backslash: "a\\b";
    a_brace_that_could_leave_the_root: "{a,../b}/**";
}

#[test]
fn many_stars_match_without_backtracking() {
    let pattern = "*a".repeat(60) + "b";
    let name = "a".repeat(200);
    let root = Root::new().file(&name, "").file("a".repeat(60) + "b", "");
    let mut server = Launch::new(&root).include(&[&pattern, "*a*b"]).start();
    assert_eq!(
        server
            .all_paths("search_files", json!({"query": "a"}))
            .len(),
        1
    );
    server.close();
}

#[test]
fn excluded_trees_cost_nothing_and_are_not_shown() {
    let mut root = Root::new();
    for file in 0..3 {
        root = root.file(format!("src/f{file}.js"), "x");
    }
    for file in 0..2_000 {
        root.write(&format!("node_modules/p{}/f{file}.js", file % 100), "x");
    }
    let mut server = Launch::new(&root)
        .exclude(&["**/node_modules/**"])
        .args(["--max-entries", "50"])
        .start();
    let expected = ["src/f0.js", "src/f1.js", "src/f2.js"];
    assert_eq!(
        server.all_paths("search_files", json!({"query": ".js"})),
        expected
    );
    assert_eq!(
        server.all_paths("search_text", json!({"query": "x"})),
        expected
    );
    assert_eq!(server.all_paths("list_directory", json!({})), ["src"]);
    server.close();
}

#[test]
fn a_hidden_path_answers_the_same_whether_it_exists_or_not() {
    let root = Root::new()
        .file("here/secret/k.txt", "k")
        .file("here/a.txt", "a")
        .file("notes.md", "n");
    let mut server = Launch::new(&root)
        .include(&["here/**"])
        .exclude(&["**/secret/**", "**/secret"])
        .start();
    for path in [
        "here/secret",
        "here/secret/k.txt",
        "here/secret/none.txt",
        "notes.md",
        "none.md",
        "none/at/all",
    ] {
        for (tool, arguments) in [
            ("read_text_file", json!({"path": path})),
            ("list_directory", json!({"path": path})),
            ("search_text", json!({"path": path, "query": "k"})),
        ] {
            server
                .call(tool, arguments)
                .refused("path is not served by this root");
        }
    }
    let (_, exit) = server.finish();
    assert_eq!(exit.code, Some(0));
}

#[test]
fn nothing_of_a_hidden_file_reaches_a_search() {
    let root = Root::new()
        .file("secret/needle.txt", "needle")
        .file("a.txt", "needle");
    let mut server = Launch::new(&root).exclude(&["secret/**"]).start();
    assert_eq!(
        server.all_paths("search_files", json!({"query": "needle"})),
        Vec::<String>::new()
    );
    assert_eq!(
        server.all_paths("search_text", json!({"query": "needle"})),
        ["a.txt"]
    );
    assert_eq!(server.all_paths("list_directory", json!({})), ["a.txt"]);
    server.close();
}

#[test]
fn ordinary_characters_in_names_are_exact() {
    let names = [
        "my dir/it's 100% #1 – café 🙂.txt",
        "-rf",
        "a b ",
        "...",
        "tab\there",
        "two\nlines",
        "\u{7f}",
        "ab:c",
        "*",
    ];
    let root = names
        .into_iter()
        .fold(Root::new(), |root, name| root.file(name, name));
    let mut server = Launch::new(&root).start();
    let blanks = server.all_paths("search_files", json!({"query": " "}));
    assert_eq!(blanks, ["a b ", names[0]]);
    assert_eq!(
        server.all_paths("search_text", json!({"query": "a"})).len(),
        names.iter().filter(|name| name.contains('a')).count()
    );
    for name in names {
        assert_eq!(server.read(name), name);
    }
    server.close();
}

#[test]
fn names_that_cannot_be_sent_do_not_exist() {
    use std::os::unix::ffi::OsStrExt;
    let root = Root::new()
        .file("a.txt", "needle")
        .file("back\\slash", "needle")
        .file("C:", "needle");
    let odd = root
        .path()
        .join(std::ffi::OsStr::from_bytes(b"odd\xff.txt"));
    std::fs::write(odd, "needle").unwrap();
    let mut server = Launch::new(&root).start();
    assert_eq!(server.all_paths("list_directory", json!({})), ["a.txt"]);
    assert_eq!(
        server.all_paths("search_text", json!({"query": "needle"})),
        ["a.txt"]
    );
    server.close();
}
