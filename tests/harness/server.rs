//! The binary as an MCP server: sends requests, finds their answers, and holds
//! every line it reads to the promises that no test may have to repeat.

use std::time::Duration;

use rustix::process::Signal;
use serde_json::{Map, Value, json};

use super::checks::Checks;
use super::process::{Exit, Process};
use super::{Answer, Launch, MARKER, Message, Root};

/// The revision that every request names unless a test says otherwise.
const VERSION: &str = "2026-07-28";

/// The `_meta` every modern request carries.
pub(crate) fn modern() -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": VERSION,
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "preopen-tests", "version": "1"},
    })
}

/// A modern request with these params beside `_meta`.
pub(crate) fn request(id: impl Into<Value>, method: &str, params: Value) -> Value {
    let mut params = match params {
        Value::Object(members) => members,
        _ => Map::new(),
    };
    params.insert("_meta".to_owned(), modern());
    json!({"jsonrpc": "2.0", "id": id.into(), "method": method, "params": params})
}

/// A modern `tools/call`.
pub(crate) fn call(id: impl Into<Value>, tool: &str, arguments: Value) -> Value {
    request(
        id,
        "tools/call",
        json!({"name": tool, "arguments": arguments}),
    )
}

/// The notification that a request is no longer wanted.
pub(crate) fn cancel(id: impl Into<Value>) -> Value {
    let params = json!({"requestId": id.into()});
    json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params})
}

/// A running server. Every line that is read is checked.
pub(crate) struct Server {
    process: Process,
    checks: Checks,
    next_id: u64,
    waiting: Vec<Message>,
}

impl Server {
    /// A server of this root that includes everything.
    pub(crate) fn new(root: &Root) -> Self {
        Launch::new(root).start()
    }

    /// Talks to a process that was started.
    pub(super) fn over(process: Process, checks: Checks) -> Self {
        Self {
            process,
            checks,
            next_id: 0,
            waiting: Vec::new(),
        }
    }

    /// Fails if the process has ever held this much memory.
    pub(crate) fn stayed_under(&self, bytes: u64) {
        match self.process.peak_memory() {
            Some(peak) => assert!(peak < bytes, "{peak} bytes of memory"),
            None => eprintln!("SKIPPED: this system does not say how much memory a process held"),
        }
    }

    /// How long it has worked; none where the system does not say.
    pub(crate) fn work(&self) -> Option<Duration> {
        self.process.work()
    }

    /// The memory it holds now, in bytes; none where the system does not say.
    pub(crate) fn memory(&self) -> Option<u64> {
        self.process.memory()
    }

    /// The number of its process.
    pub(crate) fn id(&self) -> u32 {
        self.process.id()
    }

    /// How many descriptors it has open; none where the system does not say.
    pub(crate) fn descriptors(&self) -> Option<usize> {
        self.process.descriptors()
    }

    /// How often it has been woken; none where the system does not say.
    pub(crate) fn wakings(&self) -> Option<u64> {
        self.process.wakings()
    }

    /// Sends bytes as they are.
    pub(crate) fn raw(&mut self, bytes: impl AsRef<[u8]>) {
        self.process.write(bytes.as_ref());
    }

    /// Sends one message.
    pub(crate) fn send(&mut self, message: &Value) {
        self.checks.note(message);
        self.raw(format!("{message}\n"));
    }

    /// Sends several messages in one write.
    pub(crate) fn send_all(&mut self, messages: &[Value]) {
        messages
            .iter()
            .for_each(|message| self.checks.note(message));
        self.raw(
            messages
                .iter()
                .map(|message| format!("{message}\n"))
                .collect::<String>(),
        );
    }

    /// The next message, whatever it answers.
    pub(crate) fn receive(&mut self) -> Message {
        if !self.waiting.is_empty() {
            return self.waiting.remove(0);
        }
        let line = self.process.line().expect("the server has not ended");
        self.checks.read(line)
    }

    /// The answer to the request with this id; others wait for their turn.
    pub(crate) fn answer(&mut self, id: impl Into<Value>) -> Message {
        let id = id.into();
        if let Some(at) = self
            .waiting
            .iter()
            .position(|message| message.json["id"] == id)
        {
            return self.waiting.remove(at);
        }
        loop {
            let line = self.process.line().expect("the server has not ended");
            let message = self.checks.read(line);
            if message.json.get("id") == Some(&id) {
                return message;
            }
            self.waiting.push(message);
        }
    }

    /// Sends a modern request and waits for its answer.
    pub(crate) fn request(&mut self, method: &str, params: Value) -> Message {
        let id = self.fresh_id();
        self.send(&request(id.as_str(), method, params));
        self.answer(id)
    }

    /// Sends a message as it is and waits for the answer to its id.
    pub(crate) fn exchange(&mut self, message: &Value) -> Message {
        self.send(message);
        self.answer(message["id"].clone())
    }

    /// Calls a tool and waits for its answer.
    pub(crate) fn call(&mut self, tool: &str, arguments: Value) -> Answer {
        Answer(self.request("tools/call", json!({"name": tool, "arguments": arguments})))
    }

    /// Follows cursors from the first page to the end: every page, in order.
    pub(crate) fn pages(&mut self, tool: &str, arguments: Value) -> Vec<Answer> {
        let mut pages = vec![self.call(tool, arguments.clone())];
        while let Some(cursor) = pages
            .last()
            .and_then(Answer::next_cursor)
            .map(str::to_owned)
        {
            let mut next = arguments.clone();
            next["cursor"] = Value::String(cursor);
            pages.push(self.call(tool, next));
            assert!(pages.len() < 100_000, "the pages of {tool} do not end");
        }
        pages
    }

    /// The items of all pages.
    pub(crate) fn all(&mut self, tool: &str, arguments: Value) -> Vec<Value> {
        self.pages(tool, arguments)
            .iter()
            .flat_map(|page| page.items().to_vec())
            .collect()
    }

    /// The paths of the items of all pages.
    pub(crate) fn all_paths(&mut self, tool: &str, arguments: Value) -> Vec<String> {
        let items = self.all(tool, arguments);
        items
            .iter()
            .map(|item| item["path"].as_str().expect("a path").to_owned())
            .collect()
    }

    /// A whole file by pages.
    pub(crate) fn read(&mut self, path: &str) -> String {
        self.pages("read_text_file", json!({"path": path}))
            .iter()
            .map(Answer::text)
            .collect()
    }

    /// Writes a file.
    pub(crate) fn write(&mut self, path: impl AsRef<str>, content: impl AsRef<str>) -> Answer {
        self.write_if(path, content, None)
    }

    /// Writes a file if its content has this hash, or none at all.
    pub(crate) fn write_if<'a>(
        &mut self,
        path: impl AsRef<str>,
        content: impl AsRef<str>,
        hash: impl Into<Option<&'a str>>,
    ) -> Answer {
        let (path, content, hash) = (path.as_ref(), content.as_ref(), hash.into());
        let arguments = json!({"path": path, "content": content, "if_hash": hash});
        self.call("write_text_file", arguments)
    }

    /// What `tools/list` declares.
    pub(crate) fn tools(&mut self) -> Vec<Value> {
        let list = self.request("tools/list", json!({}));
        list.result()["tools"].as_array().expect("tools").clone()
    }

    /// Sends bytes and a discover request behind them, and returns what came
    /// before the answer to that. The server is alive, and nothing more follows.
    pub(crate) fn provoke(&mut self, bytes: impl AsRef<[u8]>) -> Vec<Message> {
        self.raw(bytes);
        self.alive();
        self.set_aside()
    }

    /// Takes what has been read and nobody has asked for.
    pub(crate) fn set_aside(&mut self) -> Vec<Message> {
        std::mem::take(&mut self.waiting)
    }

    /// Fails unless the server still answers.
    pub(crate) fn alive(&mut self) {
        self.request("server/discover", json!({})).result();
    }

    /// Ends the input; fails unless the server exits 0 with an empty stderr.
    /// Returns what was still to be answered.
    pub(crate) fn close(self) -> Vec<Message> {
        let (messages, exit) = self.finish();
        assert_eq!((exit.code, exit.stderr.as_str()), (Some(0), ""), "the exit");
        messages
    }

    /// Ends the input and waits, where stderr may speak.
    pub(crate) fn finish(mut self) -> (Vec<Message>, Exit) {
        drop(self.process.take_stdin());
        self.ended()
    }

    /// Sends a signal and waits for the end.
    pub(crate) fn stop(mut self, signal: Signal) -> (Vec<Message>, Exit) {
        self.process.signal(signal);
        self.ended()
    }

    fn ended(&mut self) -> (Vec<Message>, Exit) {
        let exit = self.process.wait();
        assert!(
            !exit.stderr.contains(MARKER),
            "the outside text is on stderr"
        );
        let lines: Vec<&[u8]> = exit.stdout.split_inclusive(|byte| *byte == b'\n').collect();
        let mut messages = self.set_aside();
        for line in lines {
            messages.push(self.checks.read(line.to_vec()));
        }
        (messages, exit)
    }

    fn fresh_id(&mut self) -> String {
        self.next_id += 1;
        format!("harness-{}", self.next_id)
    }
}
