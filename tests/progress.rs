//! Progress of a call whose client asked for it. Source: the wire document,
//! "Modern".

use serde_json::json;

use crate::harness::{Launch, Root, Server, call};

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
