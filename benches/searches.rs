//! Searching what files hold, beside ripgrep on the same files. Every answer is
//! checked before it is timed.

use std::path::Path;
use std::time::Duration;

use anyhow::{Result, ensure};
use serde_json::json;

use crate::client::{self, Peer};
use crate::corpus::{COMMON, COMMONS, Corpus, NEEDLE, NEEDLES};
use crate::measure::{CLIENT, Turns, interleaved, on_core};
use crate::programs;
use crate::table::{Bound, Row};

const TURNS: Turns = Turns::at_most(31);
/// No search takes longer.
const LIMIT: Duration = Duration::from_secs(60);

/// All searches of text.
pub(crate) fn all(corpus: &Corpus, ripgrep: Option<&Path>) -> Result<Vec<Row>> {
    Ok(vec![
        search_text(
            corpus,
            ripgrep,
            "search_text, 64 MiB in 2,000 files, rare literal, to the end",
            (NEEDLE, NEEDLES),
            Bound::AtMostTimes(1.5),
        )?,
        search_text(
            corpus,
            ripgrep,
            "search_text, the same, literal in 5,000 lines, to the end",
            (COMMON, COMMONS),
            Bound::AtMostTimes(3.0),
        )?,
        search_in_file(corpus, ripgrep)?,
    ])
}

fn search_text(
    corpus: &Corpus,
    ripgrep: Option<&Path>,
    work: &str,
    (needle, lines): (&str, usize),
    bound: Bound,
) -> Result<Row> {
    const TOOL: &str = "search_text";
    let Some(ripgrep) = ripgrep else {
        return Ok(Row::missing(work, bound));
    };
    let mut ours = Peer::start_pinned(&mut client::server(&corpus.root()))?;
    let arguments = json!({"query": needle, "path": Corpus::MANY});
    let found = ours.items(TOOL, &arguments, |item| {
        let text = item["text"].as_str().unwrap_or_default();
        ensure!(text.contains(needle), "{TOOL} found {item}");
        Ok(())
    })?;
    ensure!(found == lines, "{TOOL} found {found} lines");

    let times = against(
        || Ok(ours.follow(TOOL, &arguments, LIMIT)?.1),
        ripgrep,
        &[],
        (needle, lines),
        &corpus.root().join(Corpus::MANY),
    )?;
    Ok(Row::times(work, times, bound))
}

fn search_in_file(corpus: &Corpus, ripgrep: Option<&Path>) -> Result<Row> {
    const TOOL: &str = "search_in_file";
    let work = "search_in_file, ignoring case, the same files, rare literal";
    let bound = Bound::AtMostTimes(3.0);
    let Some(ripgrep) = ripgrep else {
        return Ok(Row::missing(work, bound));
    };
    let mut ours = Peer::start_pinned(&mut client::workspace(&corpus.root()))?;
    let needle = NEEDLE.to_ascii_lowercase();
    let arguments = json!({"path": Corpus::MANY, "search_string": needle});
    let answer = ours.call(TOOL, &arguments)?;
    ensure!(
        answer["matches_shown"] == NEEDLES && answer["truncated"] == false,
        "{TOOL} found {} lines",
        answer["matches_total"]
    );
    let request = client::call(1, TOOL, &arguments);
    let times = against(
        || ours.round_trip(&request),
        ripgrep,
        &["--ignore-case"],
        (&needle, NEEDLES),
        &corpus.root().join(Corpus::MANY),
    )?;
    Ok(Row::times(work, times, bound))
}

/// The medians of `ours` and of ripgrep's whole process.
fn against(
    ours: impl FnMut() -> Result<Duration>,
    ripgrep: &Path,
    options: &[&str],
    (needle, lines): (&str, usize),
    directory: &Path,
) -> Result<(f64, f64)> {
    let command = || programs::search(ripgrep, options, needle, directory);
    let text = programs::output(&mut command())?;
    ensure!(text.lines().count() == lines, "ripgrep found other lines");
    let mut command = command();
    let mut buffer = vec![0; 1 << 16];
    on_core(CLIENT, || {
        interleaved(TURNS, ours, || {
            let (bytes, took) = programs::run(&mut command, &mut buffer)?;
            ensure!(bytes == text.len() as u64, "ripgrep gave {bytes} bytes");
            Ok(took)
        })
    })
}
