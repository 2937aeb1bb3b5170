//! `preopen-mcp demo`: a session with this very program, over real pipes, on a
//! small workspace made for it. It is a client like any other and knows of the
//! server only what the protocol says.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use anyhow::{Context, Result, anyhow, ensure};
use preopen_contract::session::PROTOCOL_VERSION;
use serde_json::{Value, json};

/// Items of an answer that are shown.
const SHOWN: usize = 3;

/// Shows the main job and what is refused.
pub(crate) fn run() -> Result<()> {
    let workspace = Workspace::new().context("cannot make a workspace for the demo")?;
    let mut client = Client::start(&workspace.root())?;
    let result = tour(&mut client);
    client.end()?;
    result?;
    say("The server has ended with status 0. Its own rules to try: preopen-mcp --help");
    Ok(())
}

fn tour(client: &mut Client) -> Result<()> {
    title("What the server offers");
    let found = client.ask("server/discover", json!({}))?;
    say(&format!(
        "{} {}, protocol {}",
        found["_meta"]["io.modelcontextprotocol/serverInfo"]["name"]
            .as_str()
            .unwrap_or_default(),
        found["_meta"]["io.modelcontextprotocol/serverInfo"]["version"]
            .as_str()
            .unwrap_or_default(),
        found["supportedVersions"][0].as_str().unwrap_or_default(),
    ));

    title("List, search, read");
    client.show("list_directory", json!({}))?;
    client.show("list_directory", json!({"path": "docs"}))?;
    client.show("search_files", json!({"query": ".md"}))?;
    client.show("search_text", json!({"query": "capability"}))?;
    let first = client.show(
        "read_text_file",
        json!({"path": "docs/guide.md", "limit": 1}),
    )?;
    let cursor = first["next_cursor"].clone();
    ensure!(
        cursor.is_string(),
        "the guide should take more than one page"
    );
    client.show(
        "read_text_file",
        json!({"path": "docs/guide.md", "limit": 1, "cursor": cursor}),
    )?;

    title("Write, and read what was written");
    client.show(
        "write_text_file",
        json!({"path": "notes.md", "content": "Remember the milk.\n"}),
    )?;
    let notes = client.show("read_text_file", json!({"path": "notes.md", "limit": 1}))?;
    ensure!(
        notes["items"][0]["text"] == "Remember the milk.\n",
        "the write is not seen"
    );

    title("A cursor fails rather than mixing two states");
    let listed = client.show("list_directory", json!({"limit": 1}))?;
    client.show(
        "write_text_file",
        json!({"path": "todo.md", "content": "- everything\n"}),
    )?;
    client.refused(
        "list_directory",
        json!({"limit": 1, "cursor": listed["next_cursor"]}),
    )?;

    title("Three ways out, none of them open");
    client.refused("read_text_file", json!({"path": "way-out.txt"}))?;
    say("    (way-out.txt is a symbolic link to a file outside the root)");
    client.refused("read_text_file", json!({"path": "../outside.txt"}))?;
    client.refused("read_text_file", json!({"path": "secrets/key.txt"}))?;
    say("    (secrets/key.txt is there, and hidden by --exclude 'secrets/**')");
    Ok(())
}

fn title(text: &str) {
    say(&format!("\n== {text}"));
}

/// A demo that nobody watches any more has nothing left to do.
fn say(text: &str) {
    if writeln!(std::io::stdout(), "{text}").is_err() {
        std::process::exit(0);
    }
}

/// A directory with a few files, and one file beside it; removed at the end.
struct Workspace(PathBuf);

impl Workspace {
    fn new() -> Result<Self> {
        let mut random = [0; 8];
        getrandom::fill(&mut random).map_err(|_| anyhow!("no random bytes"))?;
        let name = format!("preopen-demo-{:016x}", u64::from_le_bytes(random));
        let workspace = Self(std::env::temp_dir().join(name));
        let root = workspace.root();
        fs::create_dir_all(root.join("docs"))?;
        fs::create_dir(root.join("secrets"))?;
        let guide: String = (1..=60)
            .map(|line| {
                format!("{line}. A capability is the right to use one thing, held as a handle.\n")
            })
            .collect();
        fs::write(root.join("docs/guide.md"), guide)?;
        fs::write(root.join("readme.md"), "# A small workspace\n")?;
        fs::write(root.join("secrets/key.txt"), "hidden\n")?;
        fs::write(workspace.0.join("outside.txt"), "outside\n")?;
        symlink(workspace.0.join("outside.txt"), root.join("way-out.txt"))?;
        Ok(workspace)
    }

    fn root(&self) -> PathBuf {
        self.0.join("root")
    }
}

impl Drop for Workspace {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// The client's side of the pipes.
struct Client {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    last_id: u64,
}

impl Client {
    fn start(root: &Path) -> Result<Self> {
        let program = std::env::current_exe().context("cannot find this program")?;
        say(&format!(
            "$ preopen-mcp --root {} --include '**' --exclude 'secrets/**'",
            root.display()
        ));
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

    fn ask(&mut self, method: &str, mut params: Value) -> Result<Value> {
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
        say(&format!("  {tool} {shown}"));
        self.ask("tools/call", json!({"name": tool, "arguments": arguments}))
    }

    /// Calls a tool, shows its answer, and hands it back.
    fn show(&mut self, tool: &str, arguments: Value) -> Result<Value> {
        let mut result = self.call(tool, &arguments)?;
        ensure!(result["isError"] == false, "{tool} was refused: {result}");
        let answer = result["structuredContent"].take();
        match answer["items"].as_array() {
            Some(items) => {
                for item in items.iter().take(SHOWN) {
                    say(&format!("    {}", shorten(item)));
                }
                if items.len() > SHOWN {
                    say(&format!("    … and {} more", items.len() - SHOWN));
                }
            }
            None => say(&format!("    {}", shorten(&answer))),
        }
        if answer["next_cursor"].is_string() {
            say("    (and a cursor for the next page)");
        }
        Ok(answer)
    }

    /// Calls a tool that must refuse, and shows what it says.
    fn refused(&mut self, tool: &str, arguments: Value) -> Result<()> {
        let result = self.call(tool, &arguments)?;
        ensure!(
            result["isError"] == true,
            "{tool} was not refused: {result}"
        );
        say(&format!(
            "    refused: {}",
            result["content"][0]["text"].as_str().unwrap_or_default()
        ));
        Ok(())
    }

    /// Ends the session as a client does: by closing its side.
    fn end(&mut self) -> Result<()> {
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
