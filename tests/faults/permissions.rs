//! Permissions that are taken away while a server serves, and given back. It
//! runs as an ordinary user: they do not bind the superuser.

use rustix::fs::{Gid, Uid};
use serde_json::{Value, json};

use crate::harness::{NOBODY, Root, Server, ordinary};

const NOT_READABLE: &str = "the operating system does not allow this server to open the path";
const NOT_WRITABLE: &str = "the operating system does not allow this server to write the path";
const NOT_REMOVABLE: &str =
    "the operating system does not allow this server to remove it; nothing was removed";

/// A root whose files all belong to the user that the server runs as.
fn serve(test: &str) -> Option<(Root, Server)> {
    let root = Root::new().file("f.txt", "old").file("d/g.txt", "needle");
    let launch = ordinary(test, &root)?;
    for path in ["f.txt", "d", "d/g.txt"] {
        // Only the superuser gives files away, and nobody else has to.
        let _ = rustix::fs::chown(
            root.at(path),
            Some(Uid::from_raw(NOBODY)),
            Some(Gid::from_raw(NOBODY)),
        );
    }
    let mut server = launch.args(["--toolset", "all"]).start();
    server.alive();
    Some((root, server))
}

/// Calls that are all refused with their text while `path` has this mode, and
/// change nothing; then each is answered.
fn without(test: &str, path: &str, mode: u32, calls: &[(&str, Value, &str)]) {
    let Some((root, mut server)) = serve(test) else {
        return;
    };
    let usual = root.mode(path);
    for (tool, arguments, refusal) in calls {
        let contents = root.contents();
        root.chmod(path, mode);
        server.call(tool, arguments.clone()).refused(refusal);
        root.chmod(path, usual);
        assert_eq!(root.contents(), contents, "{tool}");
    }
    for (tool, arguments, _) in calls {
        server.call(tool, arguments.clone()).value();
    }
    server.close();
}

#[test]
fn a_file_that_may_not_be_opened_for_a_while() {
    let test = "a_file_that_may_not_be_opened_for_a_while";
    without(
        test,
        "f.txt",
        0,
        &[
            ("read_text_file", json!({"path": "f.txt"}), NOT_READABLE),
            ("read_file", json!({"path": "f.txt"}), NOT_READABLE),
            (
                "write_text_file",
                json!({"path": "f.txt", "content": "new"}),
                NOT_WRITABLE,
            ),
            (
                "write_file",
                json!({"path": "f.txt", "content": "new"}),
                NOT_WRITABLE,
            ),
        ],
    );
}

#[test]
fn a_directory_that_may_not_be_entered_for_a_while() {
    let test = "a_directory_that_may_not_be_entered_for_a_while";
    without(
        test,
        "d",
        0,
        &[
            ("list_directory", json!({"path": "d"}), NOT_READABLE),
            ("read_text_file", json!({"path": "d/g.txt"}), NOT_READABLE),
            (
                "search_in_file",
                json!({"path": "d", "search_string": "needle"}),
                NOT_READABLE,
            ),
            (
                "write_file",
                json!({"path": "d/g.txt", "content": "new"}),
                NOT_WRITABLE,
            ),
            ("create_directory", json!({"path": "d/made"}), NOT_WRITABLE),
            ("delete_file", json!({"path": "d/g.txt"}), NOT_REMOVABLE),
            (
                "delete_directory",
                json!({"path": "d", "force": true}),
                NOT_REMOVABLE,
            ),
        ],
    );
}

#[test]
fn a_directory_that_may_not_be_changed_for_a_while() {
    let test = "a_directory_that_may_not_be_changed_for_a_while";
    without(
        test,
        "d",
        0o555,
        &[
            (
                "write_file",
                json!({"path": "d/new.txt", "content": "new"}),
                NOT_WRITABLE,
            ),
            ("create_directory", json!({"path": "d/made"}), NOT_WRITABLE),
            ("delete_file", json!({"path": "d/g.txt"}), NOT_REMOVABLE),
            (
                "delete_directory",
                json!({"path": "d", "force": true}),
                NOT_REMOVABLE,
            ),
        ],
    );
}

#[test]
fn a_root_that_may_not_be_entered_for_a_while() {
    let test = "a_root_that_may_not_be_entered_for_a_while";
    without(
        test,
        "",
        0,
        &[
            ("list_directory", json!({}), NOT_READABLE),
            ("search_files", json!({"query": "f"}), NOT_READABLE),
            ("search_text", json!({"query": "old"}), NOT_READABLE),
            ("read_text_file", json!({"path": "f.txt"}), NOT_READABLE),
            ("list_files", json!({}), NOT_READABLE),
            (
                "search_in_file",
                json!({"path": "d", "search_string": "needle"}),
                NOT_READABLE,
            ),
            (
                "write_text_file",
                json!({"path": "f.txt", "content": "new"}),
                NOT_WRITABLE,
            ),
            (
                "write_file",
                json!({"path": "d/g.txt", "content": "new"}),
                NOT_WRITABLE,
            ),
            ("delete_file", json!({"path": "f.txt"}), NOT_REMOVABLE),
            (
                "delete_directory",
                json!({"path": "d", "force": true}),
                NOT_REMOVABLE,
            ),
        ],
    );
}
