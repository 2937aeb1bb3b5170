//! What a server holds before any call, and the most it ever held when it had
//! done everything that the other rows time.

use std::time::Duration;

use anyhow::Result;
use serde_json::json;

use crate::client::{self, Peer};
use crate::corpus::{COMMON, Corpus, NEEDLE, TREE_PART};
use crate::table::{Amount, Bound, Row};

/// What the system calls the most that a process ever held, and what it holds.
const PEAK: &str = "VmHWM";
const NOW: &str = "VmRSS";
const LIMIT: Duration = Duration::from_secs(300);

/// Idle, and after the reads and searches of the other rows, all of them by one
/// server of each toolset.
pub(crate) fn all(corpus: &Corpus) -> Result<Vec<Row>> {
    let at_most = |mebibytes| Bound::AtMost(Amount::Memory(mebibytes));
    let mut rows = Vec::new();
    let mut row = |peer: &Peer, figure, work: &str, bound| -> Result<()> {
        let memory = Amount::Memory(peer.memory(figure)?);
        rows.push(Row::alone(work, memory, bound));
        Ok(())
    };
    let mut core = Peer::start(&mut client::server(&corpus.above()))?;
    core.round_trip(&client::discover())?;
    row(
        &core,
        PEAK,
        "memory, idle after the first answer: the peak",
        at_most(12.0),
    )?;

    let [many, large, small, listed, mixed] = [
        Corpus::MANY,
        Corpus::LARGE,
        Corpus::SMALL,
        Corpus::LISTED,
        Corpus::MIXED,
    ]
    .map(|name| format!("root/{name}"));
    for (tool, arguments) in [
        ("list_directory", json!({"path": listed})),
        ("list_directory", json!({"path": mixed})),
        ("list_directory", json!({"path": "tree"})),
        ("read_text_file", json!({"path": small})),
        ("read_text_file", json!({"path": large})),
        ("search_text", json!({"query": NEEDLE, "path": many})),
        ("search_text", json!({"query": COMMON, "path": many})),
        ("search_files", json!({"query": TREE_PART})),
    ] {
        core.follow(tool, &arguments, LIMIT)?;
    }
    let work = "memory after the reads and searches above";
    row(&core, PEAK, &format!("{work}: the peak"), at_most(32.0))?;
    row(
        &core,
        NOW,
        &format!("{work}: what is still held"),
        Bound::None,
    )?;

    let mut workspace = Peer::start(&mut client::workspace(&corpus.above()))?;
    let search = json!({"path": many, "search_string": NEEDLE.to_ascii_lowercase()});
    workspace.call("search_in_file", &search)?;
    row(
        &workspace,
        PEAK,
        "memory after search_in_file above: the peak",
        at_most(32.0),
    )?;
    Ok(rows)
}
