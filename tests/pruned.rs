//! What no rule serves anything in is not looked into: the server never asks
//! the system for a directory that a glob cannot reach or that is excluded,
//! whatever way that is written.

use serde_json::{Value, json};

use crate::harness::{Root, traced};

/// The name that must not be met.
const PRUNED: &str = "node_modules";

fn tree() -> Root {
    Root::new()
        .file("docs/a.md", "needle")
        .file("docs/deep/b.md", "needle")
        .file("node_modules/one/index.js", "needle")
        .file("node_modules/two/index.js", "needle")
        .file("src/c.md", "needle")
        .file("src/node_modules/three/index.js", "needle")
}

/// The options of a toolset, and a call of each of its tools that walk.
type Toolset = (&'static [&'static str], Vec<(&'static str, Value)>);

fn toolsets() -> [Toolset; 2] {
    [
        (
            &[],
            vec![
                ("list_directory", json!({})),
                ("list_directory", json!({"path": "docs"})),
                ("search_files", json!({"query": "e"})),
                ("search_text", json!({"query": "needle"})),
            ],
        ),
        (
            &["--toolset", "workspace"],
            vec![
                ("list_files", json!({})),
                ("search_in_file", json!({"search_string": "needle"})),
            ],
        ),
    ]
}

/// Asks every tool that walks, and hands what was asked of the system to `check`.
fn asked(test: &str, include: &[&str], exclude: &[&str], check: impl Fn(&[String])) {
    for (options, calls) in toolsets() {
        let root = tree();
        // Whatever takes a path.
        let Some((launch, trace)) = traced(test, &root, &["trace=%file,seccomp"]) else {
            return;
        };
        let launch = launch.include(include).exclude(exclude);
        let mut server = launch.args(options.iter().copied()).start();
        for (tool, arguments) in calls {
            server.call(tool, arguments).value();
        }
        // It may say that nothing can be written at the top level.
        assert_eq!(server.finish().1.code, Some(0));
        check(&trace.after_lockdown());
    }
}

fn met(asked: &[String], name: &str) -> bool {
    asked.iter().any(|call| call.contains(name))
}

#[test]
fn what_is_served_is_looked_into() {
    let test = "what_is_served_is_looked_into";
    asked(test, &["**"], &[], |asked| {
        assert!(met(asked, "docs") && met(asked, PRUNED), "{asked:#?}");
    });
}

macro_rules! pruned {
    ($($name:ident: $include:expr, $exclude:expr;)+) => {$(
        #[test]
        fn $name() {
            asked(stringify!($name), &$include, &$exclude, |asked| {
                assert!(met(asked, "docs") && !met(asked, PRUNED), "{asked:#?}");
            });
        }
    )+};
}

pruned! {
    an_include_that_does_not_lead_there: ["docs/**"], [];
    includes_of_files_beside_it: ["docs/**/*.md", "src/*.md"], [];
    an_exclude_of_all_in_it: ["**"], ["**/node_modules/**"];
    an_exclude_of_its_name: ["**"], ["**/node_modules"];
    an_exclude_with_a_slash: ["**"], ["**/node_modules/"];
}
