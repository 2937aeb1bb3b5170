//! A line server as a child process, ours or the baseline: requests in, lines
//! out, and what the system says of its memory and its time. It waits for one
//! line at a time and has no thread of its own that could get in the way.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use memchr::memmem;
use serde_json::{Value, json};

use crate::measure::{SERVER, on_core};

/// A running line server. Dropped, it sees its input end and is waited for.
pub(crate) struct Peer {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    line: Vec<u8>,
}

impl Peer {
    /// Starts `command`; nothing is said yet.
    pub(crate) fn start(command: &mut Command) -> Result<Self> {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("cannot run {command:?}"))?;
        let input = child.stdin.take();
        let output = child.stdout.take().context("stdout is a pipe")?;
        Ok(Self {
            child,
            input,
            output: BufReader::with_capacity(1 << 16, output),
            line: Vec::new(),
        })
    }

    /// The same, on the core of the servers and nowhere else.
    pub(crate) fn start_pinned(command: &mut Command) -> Result<Self> {
        on_core(SERVER, || Self::start(command))
    }

    /// Writes bytes as they are.
    pub(crate) fn send(&mut self, bytes: &[u8]) -> Result<()> {
        let input = self.input.as_mut().context("stdin is open")?;
        input.write_all(bytes).context("the server reads")
    }

    /// Reads one line.
    pub(crate) fn receive(&mut self) -> Result<&[u8]> {
        self.line.clear();
        let read = self.output.read_until(b'\n', &mut self.line)?;
        ensure!(read > 0, "the server has ended");
        Ok(&self.line)
    }

    /// Sends a line, waits for one, and says how long that took.
    pub(crate) fn round_trip(&mut self, request: &[u8]) -> Result<Duration> {
        let start = Instant::now();
        self.send(request)?;
        self.receive()?;
        Ok(start.elapsed())
    }

    /// Sends `requests` lines at once, waits for as many, and says how long that took.
    pub(crate) fn batch(&mut self, lines: &[u8], requests: usize) -> Result<Duration> {
        let start = Instant::now();
        self.send(lines)?;
        (0..requests).try_for_each(|_| self.receive().map(drop))?;
        Ok(start.elapsed())
    }

    /// Calls a tool; the answer is what it returned.
    pub(crate) fn call(&mut self, tool: &str, arguments: &Value) -> Result<Value> {
        self.send(&call(1, tool, arguments))?;
        let mut answer: Value = serde_json::from_slice(self.receive()?)?;
        ensure!(
            answer["result"]["isError"] == false,
            "{tool} refused: {answer}"
        );
        Ok(answer["result"]["structuredContent"].take())
    }

    /// Calls a tool, follows its cursors and looks at every item; how many there were.
    pub(crate) fn items(
        &mut self,
        tool: &str,
        arguments: &Value,
        mut seen: impl FnMut(&Value) -> Result<()>,
    ) -> Result<usize> {
        let mut arguments = arguments.clone();
        let mut items = 0;
        loop {
            let mut page = self.call(tool, &arguments)?;
            for item in page["items"].as_array().context("a page of items")? {
                seen(item)?;
                items += 1;
            }
            match page["next_cursor"].take() {
                Value::Null => return Ok(items),
                cursor => arguments["cursor"] = cursor,
            }
        }
    }

    /// Calls a tool and follows its cursors to the end, for `limit` at most: how
    /// many calls that were and how long they took. As little of the time as
    /// possible is the client's own: it looks for the cursor and for nothing else.
    pub(crate) fn follow(
        &mut self,
        tool: &str,
        arguments: &Value,
        limit: Duration,
    ) -> Result<(usize, Duration)> {
        let mut with_cursor = arguments.clone();
        with_cursor["cursor"] = json!("@");
        let with_cursor = call(1, tool, &with_cursor);
        let place = memmem::find(&with_cursor, b"\"@\"").context("the cursor's place")? + 1;
        let (head, tail) = (&with_cursor[..place], &with_cursor[place + 1..]);
        let mut request = call(1, tool, arguments);
        let start = Instant::now();
        for calls in 1.. {
            self.send(&request)?;
            let cursor = next_cursor(self.receive()?)?;
            let took = start.elapsed();
            let Some(cursor) = cursor else {
                return Ok((calls, took));
            };
            ensure!(
                took < limit,
                "{tool} was not at its end after {limit:?} and {calls} calls"
            );
            request.clear();
            for part in [head, cursor, tail] {
                request.extend_from_slice(part);
            }
        }
        unreachable!("numbers do not end")
    }

    /// A figure of `/proc/PID/status`, in MiB.
    pub(crate) fn memory(&self, name: &str) -> Result<f64> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let kib = status
            .lines()
            .find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))
            .and_then(|rest| rest.trim().strip_suffix(" kB")?.parse::<f64>().ok())
            .with_context(|| format!("no {name} in the status of a process"))?;
        Ok(kib / 1024.0)
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        drop(self.input.take());
        let _ = self.child.wait();
    }
}

/// The cursor in a line that is the answer to a tool call; none at the end.
/// A quotation mark inside a text is escaped, so neither key can be part of one.
fn next_cursor(answer: &[u8]) -> Result<Option<&[u8]>> {
    const KEY: &[u8] = b"\"next_cursor\":";
    ensure!(
        memmem::rfind(answer, b"\"isError\":false").is_some(),
        "a call was refused: {}",
        String::from_utf8_lossy(answer)
    );
    let value = memmem::rfind(answer, KEY).context("a page says whether it is the last")?;
    let value = &answer[value + KEY.len()..];
    if value.starts_with(b"null") {
        return Ok(None);
    }
    let cursor = value.strip_prefix(b"\"").context("a cursor is a string")?;
    let end = memchr::memchr(b'"', cursor).context("a string ends")?;
    Ok(Some(&cursor[..end]))
}

/// Our server with its toolset `core` and everything below `root` included. It
/// does not start unless the whole of its lockdown holds.
pub(crate) fn server(root: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_preopen-mcp"));
    command.arg("--root").arg(root);
    command.args(["--include", "**", "--lockdown", "required"]);
    command
}

/// Our server with its toolset `workspace`, spoken to in the same revision.
pub(crate) fn workspace(root: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_preopen-mcp"));
    command.arg("workspace").arg("-d").arg(root);
    command.args(["--lockdown", "required"]);
    command
}

/// A request as a line.
pub(crate) fn request(id: usize, method: &str, mut params: Value) -> Vec<u8> {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let request = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
    format!("{request}\n").into_bytes()
}

/// The first request of a client.
pub(crate) fn discover() -> Vec<u8> {
    request(0, "server/discover", json!({}))
}

/// A tool call as a line.
pub(crate) fn call(id: usize, tool: &str, arguments: &Value) -> Vec<u8> {
    request(
        id,
        "tools/call",
        json!({"name": tool, "arguments": arguments}),
    )
}
