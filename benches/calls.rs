//! Calls that do little: what the server itself costs. Every answer is checked
//! before it is timed, never meanwhile.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{Result, ensure};
use criterion::Criterion;
use serde_json::json;

use crate::client::{self, Peer};
use crate::corpus::{self, Corpus};
use crate::measure::{CLIENT, SERVER, interleaved, on_core, round_trips, time};
use crate::table::{Amount, AtMost, Row};

/// Tool calls sent at once where calls are pipelined.
const PIPELINED: usize = 64;

/// From nothing to the first answer.
pub(crate) fn start(corpus: &Corpus, echo: &Path) -> Result<Vec<Row>> {
    let discover = client::discover();
    let first_answer = |peer: Result<Peer>| -> Result<Peer> {
        let mut peer = peer?;
        peer.send(&discover)?;
        peer.receive()?;
        Ok(peer)
    };
    // The process ends after the time is taken.
    let times = interleaved(
        150,
        || Ok(time(|| first_answer(Peer::server(&corpus.root())))?.1),
        || Ok(time(|| first_answer(Peer::start(Command::new(echo))))?.1),
    )?;
    Ok(vec![Row::times(
        "process start to the first answer",
        times,
        AtMost::Times(8.0),
    )])
}

/// Single calls that do little, one after the other.
pub(crate) fn small_calls(
    criterion: &mut Criterion,
    corpus: &Corpus,
    echo: &Path,
) -> Result<Vec<Row>> {
    let mut ours = on_core(SERVER, || Peer::server(&corpus.root()))?;
    let mut baseline = on_core(SERVER, || Peer::start(Command::new(echo)))?;
    let mut rows = Vec::new();
    for (work, tool, path, items, at_most) in [
        (
            "list_directory, 5 files, p50",
            "list_directory",
            Corpus::SHORT,
            corpus::SHORT_ENTRIES,
            AtMost::Times(4.0),
        ),
        (
            "list_directory, 24 entries, 8 of them directories, p50",
            "list_directory",
            Corpus::LISTED,
            corpus::LISTED_ENTRIES,
            AtMost::Anything,
        ),
        (
            "read_text_file, 1 KiB, p50",
            "read_text_file",
            Corpus::SMALL,
            1,
            AtMost::Times(4.0),
        ),
    ] {
        let arguments = json!({"path": path});
        ensure!(
            ours.pages(tool, &arguments)? == (items, 1),
            "{tool} is wrong"
        );
        let request = client::call(1, tool, &arguments);
        let times = on_core(CLIENT, || {
            Ok(round_trips(
                criterion,
                work,
                &request,
                &mut ours,
                &mut baseline,
            ))
        })?;
        rows.push(Row::times(work, times, at_most));
    }
    Ok(rows)
}

/// Many calls at once: what one core does in a second.
pub(crate) fn pipelined(corpus: &Corpus) -> Result<Vec<Row>> {
    const BATCHES: usize = 100;
    let mut ours = Peer::server(&corpus.root())?;
    let arguments = json!({"path": Corpus::LISTED});
    let batch: Vec<u8> = (0..PIPELINED)
        .flat_map(|id| client::call(id, "list_directory", &arguments))
        .collect();
    let mut wall = Vec::with_capacity(BATCHES);
    let mut before = Duration::ZERO;
    for round in 0..=BATCHES {
        if round == 1 {
            before = ours.processor_time()?;
        }
        let ((), took) = time(|| {
            ours.send(&batch)?;
            (0..PIPELINED).try_for_each(|_| ours.receive().map(drop))
        })?;
        wall.push(took.as_secs_f64());
    }
    let busy = (ours.processor_time()? - before).as_secs_f64();
    wall.sort_unstable_by(f64::total_cmp);
    let calls = (BATCHES * PIPELINED) as f64;
    Ok(vec![
        Row::alone(
            "64 pipelined list_directory, calls a second of the server's processor time",
            Amount::Rate(calls / busy),
            AtMost::Anything,
        ),
        Row::alone(
            "64 pipelined list_directory, calls a second on the clock",
            Amount::Rate(PIPELINED as f64 / wall[wall.len() / 2]),
            AtMost::Anything,
        ),
    ])
}
