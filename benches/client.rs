//! A line server as a child process, ours or the baseline: requests in, lines
//! out, and what the system says of its memory and its time. It waits for one
//! line at a time and has no thread of its own that could get in the way.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

/// A running line server. Dropped, it sees its input end and is waited for.
pub(crate) struct Peer {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    line: Vec<u8>,
}

impl Peer {
    /// Starts `command`; nothing is said yet.
    pub(crate) fn start(mut command: Command) -> Result<Self> {
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

    /// Our server, with everything below `root` included.
    pub(crate) fn server(root: &Path) -> Result<Self> {
        let mut command = Command::new(env!("CARGO_BIN_EXE_preopen-mcp"));
        command.arg("--root").arg(root).args(["--include", "**"]);
        Self::start(command)
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

    /// Calls a tool and follows its cursors; how many items and pages there were.
    pub(crate) fn pages(&mut self, tool: &str, arguments: &Value) -> Result<(usize, usize)> {
        let mut arguments = arguments.clone();
        let (mut items, mut pages) = (0, 0);
        loop {
            let mut page = self.call(tool, &arguments)?;
            items += page["items"].as_array().map_or(0, Vec::len);
            pages += 1;
            match page["next_cursor"].take() {
                Value::Null => return Ok((items, pages)),
                cursor => arguments["cursor"] = cursor,
            }
        }
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

    /// The processor time of all its threads so far.
    pub(crate) fn processor_time(&self) -> Result<Duration> {
        let mut nanoseconds = 0;
        for thread in fs::read_dir(format!("/proc/{}/task", self.child.id()))? {
            let figures = fs::read_to_string(thread?.path().join("schedstat"))?;
            let ran = figures.split(' ').next().unwrap_or_default();
            nanoseconds += ran.parse::<u64>().context("schedstat of a thread")?;
        }
        Ok(Duration::from_nanos(nanoseconds))
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        drop(self.input.take());
        let _ = self.child.wait();
    }
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
