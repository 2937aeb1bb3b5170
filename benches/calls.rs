//! Calls that do little: what the server itself costs. Every answer is checked
//! before it is timed, never meanwhile.

use std::path::Path;
use std::process::Command;

use anyhow::{Result, ensure};
use criterion::Criterion;
use memchr::memmem;
use serde_json::json;

use crate::client::{self, Peer};
use crate::corpus::{self, Corpus};
use crate::measure::{CLIENT, Turns, interleaved, median, on_core, round_trips, time};
use crate::table::{Amount, Bound, Row};

/// Tool calls sent at once where calls are pipelined.
const PIPELINED: usize = 64;

/// From nothing to the first answer. Nobody is held to a core here: the system
/// places a process that starts, and its threads.
pub(crate) fn start(corpus: &Corpus, echo: &Path) -> Result<Vec<Row>> {
    let discover = client::discover();
    let first_answer = |mut command: Command| -> Result<Peer> {
        let mut peer = Peer::start(&mut command)?;
        peer.send(&discover)?;
        peer.receive()?;
        Ok(peer)
    };
    // The process ends after the time is taken.
    let times = interleaved(
        Turns::at_most(200),
        || Ok(time(|| first_answer(client::server(&corpus.root())))?.1),
        || Ok(time(|| first_answer(Command::new(echo)))?.1),
    )?;
    Ok(vec![Row::times(
        "process start to the first answer, lockdown included",
        times,
        Bound::AtMostTimes(4.0),
    )])
}

/// Single calls that do little, one after the other.
pub(crate) fn small_calls(
    criterion: &mut Criterion,
    corpus: &Corpus,
    echo: &Path,
) -> Result<Vec<Row>> {
    let mut ours = Peer::start_pinned(&mut client::server(&corpus.root()))?;
    let mut baseline = Peer::start_pinned(&mut Command::new(echo))?;
    let mut rows = Vec::new();
    for (work, tool, path, items, bound) in [
        (
            "list_directory of 24 files, p50",
            "list_directory",
            Corpus::LISTED,
            corpus::LISTED_ENTRIES,
            Bound::AtMostTimes(3.0),
        ),
        (
            "list_directory of 24 entries, 8 of them directories, p50",
            "list_directory",
            Corpus::MIXED,
            corpus::LISTED_ENTRIES,
            Bound::None,
        ),
        (
            "read_text_file of 1 KiB, p50",
            "read_text_file",
            Corpus::SMALL,
            1,
            Bound::AtMostTimes(3.0),
        ),
    ] {
        let arguments = json!({"path": path});
        let seen = ours.items(tool, &arguments, |_| Ok(()))?;
        ensure!(seen == items, "{tool} gave {seen} items");
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
        rows.push(Row::times(work, times, bound));
    }
    Ok(rows)
}

/// Many calls at once: what one core does in a second. The server has that core
/// to itself and nothing else, so whatever it does for a call is counted: its
/// thread that reads, the ones that work, and the system's part of it.
pub(crate) fn pipelined(corpus: &Corpus, echo: &Path) -> Result<Vec<Row>> {
    let mut ours = Peer::start_pinned(&mut client::server(&corpus.root()))?;
    let mut baseline = Peer::start_pinned(&mut Command::new(echo))?;
    let mut rows = Vec::new();
    for (tool, path) in [
        ("list_directory", Corpus::LISTED),
        ("read_text_file", Corpus::SMALL),
    ] {
        let arguments = json!({"path": path});
        let single = client::call(1, tool, &arguments);
        let batch: Vec<u8> = (0..PIPELINED)
            .flat_map(|id| client::call(id, tool, &arguments))
            .collect();
        ours.send(&batch)?;
        for _ in 0..PIPELINED {
            let answer = ours.receive()?;
            ensure!(
                memmem::find(answer, b"\"isError\":false").is_some(),
                "one of {PIPELINED} calls at once was refused"
            );
        }
        let mut singles = Vec::new();
        let (own, other) = on_core(CLIENT, || {
            let own = || ours.batch(&batch, PIPELINED);
            let other = || {
                for _ in 0..PIPELINED {
                    singles.push(baseline.round_trip(&single)?);
                }
                baseline.batch(&batch, PIPELINED)
            };
            interleaved(Turns::at_most(200), own, other)
        })?;
        let rate = |seconds: f64| Amount::Rate(PIPELINED as f64 / seconds);
        let work = format!("64 requests pipelined, {tool}, calls/s of one core");
        rows.push(Row::new(
            format!("{work}; baseline: round trips/s"),
            rate(own),
            Amount::Rate(1.0 / median(singles)),
            Bound::AtLeastOneIn(3.0),
        ));
        rows.push(Row::new(
            format!("{work}; baseline: the same pipelined"),
            rate(own),
            rate(other),
            Bound::None,
        ));
    }
    Ok(rows)
}
