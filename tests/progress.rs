//! Progress of a call whose client asked for it. Source: the wire document,
//! "Modern".

use std::fs;

use serde_json::json;

use crate::harness::{HAYSTACK, Launch, Root, Server, call, cancel};

#[test]
fn progress_carries_the_token_and_rises() {
    let root = Root::new().haystack();
    // Long enough for some notifications; past it comes the call's one answer.
    let arguments = ["--max-scan-bytes", "1024GiB", "--call-timeout", "2s"];
    let mut server = Launch::new(&root).args(arguments).start();
    let mut message = call("p", "search_text", json!({"query": "needle"}));
    message["params"]["_meta"]["progressToken"] = json!("token 1");
    server.send(&message);
    let mut last = -1.0;
    for _ in 0..2 {
        let progress = server.receive();
        assert_eq!(
            progress.json["params"]["progressToken"], "token 1",
            "{}",
            progress.line
        );
        let now = progress.json["params"]["progress"].as_f64().unwrap();
        assert!(now > last, "{now} after {last}");
        last = now;
    }
    server.answer("p");
    server.set_aside();
    assert!(server.close().is_empty());
}

#[test]
fn no_progress_follows_the_answer() {
    let root = Root::new().file("a.txt", "needle".repeat(100_000));
    let mut server = Server::new(&root);
    for id in 0..20 {
        let mut message = call(id, "search_text", json!({"query": "needle"}));
        message["params"]["_meta"]["progressToken"] = json!(id);
        server.exchange(&message).result();
        server.set_aside();
        assert_eq!(server.provoke("").len(), 0);
    }
    server.close();
}

#[test]
fn a_token_longer_than_256_bytes_is_ignored() {
    let root = Root::new().haystack();
    let arguments = ["--max-scan-bytes", "1024GiB", "--call-timeout", "1s"];
    let mut server = Launch::new(&root).args(arguments).start();
    let mut message = call("p", "search_text", json!({"query": "needle"}));
    message["params"]["_meta"]["progressToken"] = json!("t".repeat(255));
    server.send(&message);
    assert_eq!(server.receive().json["id"], "p");
    server.close();
}

#[test]
fn only_entries_that_are_shown_count() {
    const HIDDEN: usize = 1_000;
    let root = Root::new().haystack();
    for number in 0..HIDDEN {
        root.write(&format!("hay/hidden-{number}"), "");
    }
    let shown = 1 + fs::read_dir(root.at("hay")).unwrap().count() - HIDDEN;
    let mut server = Launch::new(&root)
        .exclude(&["hay/hidden-*"])
        .args(HAYSTACK)
        .start();
    let mut message = call("p", "search_text", json!({"query": "needle"}));
    message["params"]["_meta"]["progressToken"] = json!("p");
    server.send(&message);
    // The whole directory is listed before anything in it is read.
    loop {
        let progress = server.receive();
        let params = &progress.json["params"];
        let numbers: Vec<u64> = params["message"]
            .as_str()
            .unwrap()
            .split(' ')
            .filter_map(|word| word.parse().ok())
            .collect();
        let [entries, bytes] = numbers.as_slice() else {
            panic!("not two numbers: {}", progress.line)
        };
        assert_eq!(params["progress"], entries + bytes, "{}", progress.line);
        assert!(*entries <= shown as u64, "{}", progress.line);
        if *bytes > 0 {
            assert_eq!(*entries, shown as u64, "{}", progress.line);
            break;
        }
    }
    server.send(&cancel("p"));
    server.alive();
    server.close();
}
