//! preopen-mcp as a library: one process opens a root, writes a file through
//! the tools, reads it back and finds it. Run it with
//! `cargo run --example embed`.

use std::error::Error;

use preopen_mcp::{Options, Root, Server};
use serde_json::{Value, json};

/// Writes, reads back and searches in a directory made for it.
pub fn main() -> Result<(), Box<dyn Error>> {
    let directory = tempfile::tempdir()?;
    let root = Root::open(Options::new(directory.path(), ["**"]))?;
    let server = Server::new(root)?;

    let text = "one capability, held as a handle\n";
    let written = call(
        &server,
        "write_text_file",
        json!({"path": "notes.txt", "content": text}),
    )?;
    println!(
        "wrote {} bytes, {}",
        written["bytes"], written["content_hash"]
    );

    let read = call(&server, "read_text_file", json!({"path": "notes.txt"}))?;
    assert_eq!(read["items"][0]["text"], text);
    // One page that holds the whole file has the file's hash.
    assert_eq!(read["content_hash"], written["content_hash"]);

    let found = call(&server, "search_text", json!({"query": "handle"}))?;
    println!("found {}", found["items"]);
    assert_eq!(found["items"][0]["path"], "notes.txt");
    Ok(())
}

/// One `tools/call`, as any transport would carry it.
fn call(server: &Server, tool: &str, arguments: Value) -> Result<Value, Box<dyn Error>> {
    let request = json!({
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {
            "name": tool,
            "arguments": arguments,
            "_meta": {
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientCapabilities": {},
            },
        },
    });
    let line = server
        .handle(request.to_string().as_bytes())
        .ok_or("a request has an answer")?;
    let mut answer: Value = serde_json::from_str(&line)?;
    let result = &mut answer["result"];
    if result["isError"] != false {
        return Err(format!("{tool} refused: {result}").into());
    }
    Ok(result["structuredContent"].take())
}
