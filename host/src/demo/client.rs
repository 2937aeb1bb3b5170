//! A client as small as can be: requests down one pipe, answers up the other.
//! It knows of the server only what the protocol says.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use anyhow::{Context, Result, ensure};
use preopen_contract::session::PROTOCOL_VERSION;
use serde_json::{Value, json};

use super::say;

/// Items of an answer that are shown.
const SHOWN: usize = 3;

/// The client's side of the pipes.
pub(super) struct Client {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    last_id: u64,
}

impl Client {
    pub(super) fn start(root: &Path) -> Result<Self> {
        let program = std::env::current_exe().context("cannot find this program")?;
        say(&format!(
            "$ preopen-mcp --root {} --include '**' --exclude 'secrets/**'",
            root.display()
        ))?;
        let mut child = Command::new(program)
            .arg("--root")
            .arg(root)
            .args(["--include", "**", "--exclude", "secrets/**"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .context("cannot start this program as a server")?;
        let input = child.stdin.take();
        let output = child.stdout.take().context("the server has no stdout")?;
        Ok(Self {
            child,
            input,
            output: BufReader::new(output),
            last_id: 0,
        })
    }

    pub(super) fn ask(&mut self, method: &str, mut params: Value) -> Result<Value> {
        self.last_id += 1;
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": PROTOCOL_VERSION,
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        let request =
            json!({"jsonrpc": "2.0", "id": self.last_id, "method": method, "params": params});
        let input = self.input.as_mut().context("the session is over")?;
        writeln!(input, "{request}").context("the server does not read")?;
        let mut line = String::new();
        self.output
            .read_line(&mut line)
            .context("the server does not answer")?;
        let mut answer: Value = serde_json::from_str(&line).context("the answer is not JSON")?;
        ensure!(
            answer["id"] == self.last_id,
            "the answer is to another request"
        );
        Ok(answer["result"].take())
    }

    fn call(&mut self, tool: &str, arguments: &Value) -> Result<Value> {
        let mut shown = arguments.clone();
        if shown["cursor"].is_string() {
            shown["cursor"] = json!("…");
        }
        say(&format!("  {tool} {shown}"))?;
        self.ask("tools/call", json!({"name": tool, "arguments": arguments}))
    }

    /// Calls a tool, shows its answer, and hands it back.
    pub(super) fn show(&mut self, tool: &str, arguments: Value) -> Result<Value> {
        let mut result = self.call(tool, &arguments)?;
        ensure!(result["isError"] == false, "{tool} was refused: {result}");
        let answer = result["structuredContent"].take();
        match answer["items"].as_array() {
            Some(items) => {
                for item in items.iter().take(SHOWN) {
                    say(&format!("    {}", shorten(item)))?;
                }
                if items.len() > SHOWN {
                    say(&format!("    … and {} more", items.len() - SHOWN))?;
                }
            }
            None => say(&format!("    {}", shorten(&answer)))?,
        }
        if answer["next_cursor"].is_string() {
            say("    (and a cursor for the next page)")?;
        }
        Ok(answer)
    }

    /// Calls a tool that must refuse, and shows what it says.
    pub(super) fn refused(&mut self, tool: &str, arguments: Value) -> Result<()> {
        let result = self.call(tool, &arguments)?;
        ensure!(
            result["isError"] == true,
            "{tool} was not refused: {result}"
        );
        say(&format!(
            "    refused: {}",
            result["content"][0]["text"].as_str().unwrap_or_default()
        ))?;
        Ok(())
    }

    /// Ends the session as a client does: by closing its side.
    pub(super) fn end(&mut self) -> Result<()> {
        self.input = None;
        let status = self.child.wait()?;
        ensure!(status.success(), "the server ended with {status}");
        Ok(())
    }
}

/// One line of an answer, cut where a terminal would break it.
fn shorten(value: &Value) -> String {
    const WIDTH: usize = 100;
    let text = value.to_string();
    match text.char_indices().nth(WIDTH) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text,
    }
}
