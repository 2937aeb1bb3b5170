//! `preopen-mcp demo`, in two acts: a session with this very program over real
//! pipes, on a small workspace made for it; then a component that wants out, in
//! the same sandbox, attempt by attempt.

mod client;
mod hostile;

use std::fs;
use std::io::Write;
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock};

use anyhow::{Context, Result, ensure};
use serde_json::json;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use tempfile::TempDir;

use client::Client;

/// A demo that nobody watches any more has nothing left to do but to clear up.
#[derive(Debug, thiserror::Error)]
#[error("nobody watches")]
struct Unwatched;

/// The signal by which somebody ends the demo; 0 until then.
static ENDED_BY: LazyLock<Arc<AtomicUsize>> = LazyLock::new(Arc::default);

/// Shows both acts.
pub(crate) fn run() -> Result<()> {
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        let number = usize::try_from(signal)?;
        signal_hook::flag::register_usize(signal, Arc::clone(&ENDED_BY), number)?;
    }
    let shown = acts();
    match i32::try_from(ENDED_BY.load(Ordering::Relaxed)) {
        // What was made is gone by now: this ends as it would have without.
        Ok(signal @ 1..) => Ok(signal_hook::low_level::emulate_default_handler(signal)?),
        _ if shown.as_ref().is_err_and(|error| error.is::<Unwatched>()) => Ok(()),
        _ => shown,
    }
}

fn acts() -> Result<()> {
    let workspace = Workspace::new().context("cannot make a workspace for the demo")?;
    let mut client = Client::start(&workspace.root())?;
    let result = tour(&mut client);
    client.end()?;
    result?;
    say("\nThe server has ended with status 0.")?;
    hostile::run()?;
    say("\nTo serve a directory of your own: preopen-mcp --root DIR --include '**'")
}

fn tour(client: &mut Client) -> Result<()> {
    title("What the server offers")?;
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
    ))?;

    title("List, search, read")?;
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

    title("Write, and read what was written")?;
    client.show(
        "write_text_file",
        json!({"path": "notes.md", "content": "Remember the milk.\n"}),
    )?;
    let notes = client.show("read_text_file", json!({"path": "notes.md", "limit": 1}))?;
    ensure!(
        notes["items"][0]["text"] == "Remember the milk.\n",
        "the write is not seen"
    );

    title("A cursor fails rather than mixing two states")?;
    let listed = client.show("list_directory", json!({"limit": 1}))?;
    client.show(
        "write_text_file",
        json!({"path": "todo.md", "content": "- everything\n"}),
    )?;
    client.refused(
        "list_directory",
        json!({"limit": 1, "cursor": listed["next_cursor"]}),
    )?;

    title("Three ways out, none of them open")?;
    client.refused("read_text_file", json!({"path": "way-out.txt"}))?;
    say("    (way-out.txt is a symbolic link to a file outside the root)")?;
    client.refused("read_text_file", json!({"path": "../outside.txt"}))?;
    client.refused("read_text_file", json!({"path": "secrets/key.txt"}))?;
    say("    (secrets/key.txt is there, and hidden by --exclude 'secrets/**')")?;
    Ok(())
}

fn title(text: &str) -> Result<()> {
    say(&format!("\n== {text}"))
}

/// Says it, if somebody still watches.
fn say(text: &str) -> Result<()> {
    ensure!(ENDED_BY.load(Ordering::Relaxed) == 0, Unwatched);
    writeln!(std::io::stdout(), "{text}").map_err(|_| Unwatched)?;
    Ok(())
}

/// A directory with a few files, and one file beside it; removed at the end.
struct Workspace(TempDir);

impl Workspace {
    fn new() -> Result<Self> {
        let workspace = Self(tempfile::Builder::new().prefix("preopen-demo-").tempdir()?);
        let (root, base) = (workspace.root(), workspace.0.path());
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
        fs::write(base.join("outside.txt"), "outside\n")?;
        symlink(base.join("outside.txt"), root.join("way-out.txt"))?;
        Ok(workspace)
    }

    fn root(&self) -> PathBuf {
        self.0.path().join("root")
    }
}
