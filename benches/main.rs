//! The benchmarks: `cargo bench` measures the server and a baseline in the same
//! run and prints one table; with `-- --check` a row over its bound fails the
//! run. A word on the command line picks the kinds of work that contain it.
//!
//! Round trips on a running server are repeated thousands of times, which is
//! what criterion is good at: it warms up, chooses the number of turns, and says
//! how sure the mean is. Where a turn is a whole process, a whole search or a
//! disk write, there are too few turns for its statistics, each is long enough
//! to be timed by itself, and the baseline has to run between two of them: that
//! is done with `std::time` and medians. Reads `/proc`, so it needs Linux.

mod calls;
mod client;
mod corpus;
mod files;
mod measure;
mod native;
mod table;

use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Result;
use criterion::Criterion;

use self::corpus::Corpus;
use self::table::Row;

fn main() -> Result<ExitCode> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    // `cargo bench` says so; whoever runs all targets as tests does not.
    if !arguments.iter().any(|argument| argument == "--bench") {
        return Ok(ExitCode::SUCCESS);
    }
    let check = arguments.iter().any(|argument| argument == "--check");
    let words: Vec<&String> = arguments
        .iter()
        .filter(|word| !word.starts_with('-'))
        .collect();

    let rows = measure(|kind| words.is_empty() || words.iter().any(|word| kind.contains(*word)))?;
    table::print(&rows);
    let mut over = rows.iter().filter(|row| row.is_over()).peekable();
    if !check || over.peek().is_none() {
        return Ok(ExitCode::SUCCESS);
    }
    over.for_each(|row| eprintln!("over its bound: {row}"));
    Ok(ExitCode::FAILURE)
}

fn measure(wanted: impl Fn(&str) -> bool) -> Result<Vec<Row>> {
    let corpus = Corpus::build(Path::new(env!("CARGO_TARGET_TMPDIR")))?;
    let echo = native::echo(&corpus.beside())?;
    let mut criterion = Criterion::default()
        .without_plots()
        // With the corpus it goes: what another run measured on a busier or an
        // idler machine is nothing to compare with.
        .output_directory(&corpus.beside())
        .warm_up_time(Duration::from_secs(1))
        .measurement_time(Duration::from_secs(8));
    let mut rows = Vec::new();
    let mut run = |kind: &str, work: &mut dyn FnMut() -> Result<Vec<Row>>| -> Result<()> {
        if wanted(kind) {
            eprintln!("measuring: {kind}");
            rows.extend(work()?);
        }
        Ok(())
    };
    run("start", &mut || calls::start(&corpus, &echo))?;
    run("small calls", &mut || {
        calls::small_calls(&mut criterion, &corpus, &echo)
    })?;
    run("searches", &mut || files::searches(&corpus))?;
    run("large file", &mut || files::large_file(&corpus))?;
    run("durable write", &mut || files::durable_write(&corpus))?;
    run("pipelined", &mut || calls::pipelined(&corpus))?;
    Ok(rows)
}
