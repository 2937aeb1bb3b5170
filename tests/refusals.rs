//! What the reading tools refuse and with which text, and which odd spellings
//! of an argument they take.

use serde_json::{Value, json};

use crate::harness::{Launch, Root, Server};
use crate::tools_read::tree;

const NOT_SERVED: &str = "path is not served by this root";
const MISSING: &str = "path does not exist in this root";
const A_DIRECTORY: &str = "path is a directory, not a file";
const A_FILE: &str = "path is a file, not a directory";
const LIMIT: &str = "limit must be at least 1";
const QUERY: &str = "query must be one line of 1 to 256 bytes";

macro_rules! refusals {
    ($($name:ident: $tool:literal $arguments:tt => $text:expr;)+) => {$(
        #[test]
        fn $name() {
            let root = tree();
            let mut server = Launch::new(&root).exclude(&["src/secret/**", "**/*.env"]).start();
            server.call($tool, json!($arguments)).refused($text);
            server.close();
        }
    )+};
}

refusals! {
    reading_a_missing_file: "read_text_file" {"path": "nope.txt"} => MISSING;
    reading_below_a_missing_directory: "read_text_file" {"path": "no/such/file"} => MISSING;
    reading_below_a_file: "read_text_file" {"path": "a.txt/b"} => MISSING;
    reading_a_directory: "read_text_file" {"path": "lib"} => A_DIRECTORY;
    reading_a_directory_with_nothing_in_it: "read_text_file" {"path": "empty"} => MISSING;
    reading_an_excluded_path_that_is_missing: "read_text_file" {"path": "x.env"} => NOT_SERVED;
    listing_a_missing_directory: "list_directory" {"path": "nope"} => MISSING;
    listing_a_file: "list_directory" {"path": "a.txt"} => A_FILE;
    listing_an_empty_directory: "list_directory" {"path": "empty"} => MISSING;
    listing_an_excluded_directory_that_is_missing: "list_directory" {"path": "src/secret/x"} => NOT_SERVED;
    searching_a_missing_path: "search_text" {"query": "x", "path": "nope"} => MISSING;
    searching_an_excluded_path: "search_text" {"query": "x", "path": "src/secret/k.txt"} => NOT_SERVED;
    listing_with_limit_zero: "list_directory" {"limit": 0} => LIMIT;
    listing_with_a_negative_limit: "list_directory" {"limit": -5} => LIMIT;
    searching_files_with_limit_zero: "search_files" {"query": "a", "limit": 0} => LIMIT;
    searching_text_with_limit_zero: "search_text" {"query": "a", "limit": 0} => LIMIT;
    reading_with_limit_zero: "read_text_file" {"path": "a.txt", "limit": 0} => LIMIT;
    an_empty_query_for_files: "search_files" {"query": ""} => QUERY;
    an_empty_query_for_text: "search_text" {"query": ""} => QUERY;
    a_query_of_two_lines: "search_text" {"query": "a\nb"} => QUERY;
    a_query_of_two_lines_for_files: "search_files" {"query": "a\nb"} => QUERY;
}

macro_rules! path_contract {
    ($($name:ident: $path:expr;)+) => {$(
        #[test]
        fn $name() {
            let root = tree();
            let mut server = Server::new(&root);
            for (tool, query) in [("read_text_file", None), ("list_directory", None), ("search_text", Some("x"))] {
                let mut arguments = json!({"path": $path});
                if let Some(query) = query {
                    arguments["query"] = json!(query);
                }
                let answer = server.call(tool, arguments);
                assert!(answer.refusal().starts_with("paths are relative to the root"), "{}", answer.refusal());
            }
            server.close();
        }
    )+};
}

path_contract! {
    an_absolute_path_is_refused: "/a.txt";
    the_host_path_is_refused_and_not_echoed: "/etc/passwd";
    a_dot_segment_is_refused: "./a.txt";
    an_inner_dot_segment_is_refused: "lib/./b.txt";
    a_parent_is_refused: "../outside/secret.txt";
    a_parent_inside_is_refused: "lib/../a.txt";
    a_parent_behind_what_is_missing_is_refused: "no/../../secret.txt";
    a_parent_alone_is_refused: "..";
    a_nul_is_refused: "a.txt\0.png";
    a_backslash_is_refused: "lib\\b.txt";
    a_drive_prefix_is_refused: "C:/a.txt";
    a_path_too_long_is_refused: "a/".repeat(600);
}

#[test]
fn a_query_may_have_256_bytes_and_no_more() {
    let root = Root::new()
        .file("a.txt", "q".repeat(300))
        .file("q".repeat(250), "");
    let mut server = Server::new(&root);
    assert_eq!(
        server
            .call("search_text", json!({"query": "q".repeat(256)}))
            .paths(),
        ["a.txt"]
    );
    server
        .call("search_text", json!({"query": "q".repeat(257)}))
        .refused(QUERY);
    server
        .call("search_files", json!({"query": "é".repeat(129)}))
        .refused(QUERY);
    server
        .call("search_files", json!({"query": "é".repeat(128)}))
        .value();
    server.close();
}

#[test]
fn unknown_arguments_are_refused_by_name_in_every_tool() {
    let root = tree();
    let mut server = Server::new(&root);
    for tool in [
        "list_directory",
        "search_files",
        "search_text",
        "read_text_file",
        "write_text_file",
    ] {
        let arguments = json!({"path": "a.txt", "query": "a", "content": "x", "recursive": true});
        let mut arguments = arguments.as_object().unwrap().clone();
        match tool {
            "list_directory" | "read_text_file" => {
                drop((arguments.remove("query"), arguments.remove("content")))
            }
            "search_files" => drop((arguments.remove("path"), arguments.remove("content"))),
            "search_text" => drop(arguments.remove("content")),
            _ => drop(arguments.remove("query")),
        }
        server
            .call(tool, Value::Object(arguments))
            .refused_naming(&["recursive"]);
    }
    assert_eq!(root.read("a.txt"), b"alpha\n");
    server.close();
}

#[test]
fn null_counts_as_absent_and_numbers_may_be_spelled_otherwise() {
    let root = Root::new();
    for name in 0..12 {
        root.write(&format!("f{name:02}"), "x");
    }
    let mut server = Server::new(&root);
    let all = server.call("list_directory", json!({}));
    let nulls = server.call(
        "list_directory",
        json!({"path": null, "cursor": null, "limit": null}),
    );
    assert_eq!(all.value(), nulls.value());
    for limit in [json!(5), json!("5"), json!(5.0)] {
        assert_eq!(
            server
                .call("list_directory", json!({"limit": limit}))
                .items()
                .len(),
            5
        );
    }
    for limit in [
        json!("five"),
        json!("5.5"),
        json!(""),
        json!(true),
        json!([5]),
        json!("-1"),
        json!({}),
    ] {
        server
            .call("list_directory", json!({"limit": limit}))
            .refused_naming(&["limit"]);
    }
    for limit in [json!(100_000), json!("1000000"), json!(u64::MAX)] {
        assert_eq!(
            server
                .call("list_directory", json!({"limit": limit}))
                .items()
                .len(),
            12
        );
    }
    server.close();
}

#[test]
fn an_argument_given_twice_is_refused() {
    let root = tree();
    let mut server = Server::new(&root);
    let message =
        crate::harness::call("twice", "read_text_file", json!({"path": "MARK"})).to_string();
    let twice = message.replace(r#""path":"MARK""#, r#""path":"a.txt","path":"lib/b.txt""#);
    server.raw(twice + "\n");
    let answer = server.receive();
    let refused = answer.json.get("error").is_some() || answer.result()["isError"] == true;
    assert!(refused, "{}", answer.line);
    server.close();
}
