//! Requests that are wrong in themselves, whatever lies in the root, and some
//! that are no calls. Each is answered at once and changes nothing.

use serde_json::{Value, json};

use super::expected::Expected;
use super::random::Random;
use super::texts;
use crate::harness::{call, request};

/// One of them.
pub(super) fn step(random: &mut Random, id: Value) -> (Value, Expected) {
    match random.below(10) {
        0 => (call(id, "no_such_tool", json!({})), Expected::Error(-32602)),
        1 => {
            let params = json!({"name": "read_file", "arguments": ["own-0.txt"]});
            (request(id, "tools/call", params), Expected::Error(-32602))
        }
        2 => (
            request(id, "resources/list", json!({})),
            Expected::Error(-32601),
        ),
        3 => {
            let mut message = request(id, "tools/list", json!({}));
            message["params"]["_meta"] = json!({});
            (message, Expected::Error(-32602))
        }
        4 => (request(id, "server/discover", json!({})), Expected::Result),
        5 => (request(id, "tools/list", json!({})), Expected::Result),
        _ => {
            let (tool, arguments, text) = refused(random);
            (
                call(id, tool, arguments),
                Expected::Refused(text.to_owned()),
            )
        }
    }
}

fn refused(random: &mut Random) -> (&'static str, Value, &'static str) {
    let path = *random.pick(&[
        "../outside/secret.txt",
        "/etc/passwd",
        "own/../../outside/secret.txt",
        "./own",
        "own\\a",
        "C:own",
        "own\0",
    ]);
    let digits = "0".repeat(63);
    match random.below(18) {
        0 => ("list_directory", json!({"path": path}), texts::NOT_RELATIVE),
        1 => ("read_text_file", json!({"path": path}), texts::NOT_RELATIVE),
        2 => (
            "write_file",
            json!({"path": path, "content": "x"}),
            texts::NOT_RELATIVE,
        ),
        3 => (
            "delete_directory",
            json!({"path": path, "force": true}),
            texts::NOT_RELATIVE,
        ),
        4 => ("list_directory", json!({"limit": 0}), texts::LIMIT),
        5 => ("search_files", json!({"query": "a\nb"}), texts::QUERY),
        6 => (
            "search_text",
            json!({"query": "x".repeat(257)}),
            texts::QUERY,
        ),
        7 => ("search_text", json!({}), "query is missing; it is required"),
        8 => (
            "search_files",
            json!({"query": "x", "cursor": "0"}),
            texts::CURSOR,
        ),
        9 => (
            "write_text_file",
            json!({"path": "own/x", "content": "x"}),
            texts::NOT_A_BASENAME,
        ),
        10 => (
            "write_text_file",
            json!({"path": "own-0.txt", "content": "x", "if_hash": format!("sha256:{digits}")}),
            texts::IF_HASH,
        ),
        11 => (
            "write_file",
            json!({"path": "own-0.txt", "content": 7}),
            "content must be a string",
        ),
        12 => (
            "write_file",
            json!({"path": "own-0.txt", "content": "eA=", "binary": true}),
            "content is not base64 (byte 3): RFC 4648, section 4, with padding; line breaks may stand in it",
        ),
        13 => (
            "write_file",
            json!({"path": "own-0.txt", "content": "x".repeat(8193)}),
            "content has 8193 bytes, more than 8192 are not written (--max-write-bytes)",
        ),
        14 => (
            "delete_directory",
            json!({"path": "own", "force": "true"}),
            "force must be true or false, as a JSON boolean",
        ),
        _ => (
            "list_files",
            json!({"path": "own"}),
            "unknown argument `path`; this tool takes extensions, recursive, show_empty_dirs",
        ),
    }
}
