//! A hundred thousand files: every path of them, and the directory that they lie
//! in. Every answer is checked before it is timed.

use std::process::Command;
use std::time::Duration;

use anyhow::{Result, ensure};
use serde_json::json;

use crate::client::{self, Peer};
use crate::corpus::{Corpus, TREE_DIRECTORIES, TREE_FILES, TREE_PART};
use crate::measure::{CLIENT, Turns, interleaved, on_core, time};
use crate::native;
use crate::programs;
use crate::table::{Bound, Row};

/// No traversal takes longer.
const LIMIT: Duration = Duration::from_secs(300);

/// Paths and a listing.
pub(crate) fn all(corpus: &Corpus) -> Result<Vec<Row>> {
    Ok(vec![paths(corpus)?, listing(corpus)?])
}

fn paths(corpus: &Corpus) -> Result<Row> {
    const TOOL: &str = "search_files";
    let root = corpus.tree();
    let mut ours = Peer::start_pinned(&mut client::server(&root))?;
    let arguments = json!({"query": TREE_PART});
    let times = on_core(CLIENT, || {
        interleaved(
            Turns::at_most(9),
            || {
                let (calls, took) = ours.follow(TOOL, &arguments, LIMIT)?;
                ensure!(calls >= TREE_FILES / 200, "{TOOL} took {calls} calls");
                Ok(took)
            },
            || {
                let (found, took) = time(|| native::walk(&root))?;
                ensure!(found.len() == TREE_FILES, "the walk is wrong");
                Ok(took)
            },
        )
    })?;
    // The last, since it takes as long as a turn.
    let mut last = String::new();
    let found = ours.items(TOOL, &arguments, |item| {
        let path = item["path"].as_str().unwrap_or_default();
        ensure!(*path > *last, "{path} comes after {last}");
        path.clone_into(&mut last);
        Ok(())
    })?;
    ensure!(found == TREE_FILES, "{TOOL} found {found} files");
    Ok(Row::times(
        "search_files, 100,000 files in 1,000 directories, every path, to the end",
        times,
        Bound::AtMostTimes(5.0),
    ))
}

fn listing(corpus: &Corpus) -> Result<Row> {
    const TOOL: &str = "list_directory";
    let root = corpus.tree();
    let mut ours = Peer::start_pinned(&mut client::server(&root))?;
    let arguments = json!({});
    let mut listed = Vec::new();
    ours.items(TOOL, &arguments, |item| {
        listed.push(item["name"].as_str().unwrap_or_default().to_owned());
        Ok(())
    })?;
    let mut ls = Command::new("ls");
    ls.env("LC_ALL", "C").arg(&root);
    let text = programs::output(&mut ls)?;
    ensure!(
        listed.len() == TREE_DIRECTORIES && text.lines().eq(&listed),
        "{TOOL} lists something else"
    );
    let mut buffer = vec![0; 1 << 16];
    let times = on_core(CLIENT, || {
        interleaved(
            Turns::at_most(200),
            || Ok(ours.follow(TOOL, &arguments, LIMIT)?.1),
            || {
                let (bytes, took) = programs::run(&mut ls, &mut buffer)?;
                ensure!(bytes == text.len() as u64, "ls gave {bytes} bytes");
                Ok(took)
            },
        )
    })?;
    Ok(Row::times(
        "list_directory of that root, 1,000 directories, to the end",
        times,
        Bound::AtMostTimes(3.0),
    ))
}
