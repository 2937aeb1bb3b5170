//! The benchmarks: `cargo bench` measures the server and a baseline in the same
//! run and prints one table; with `-- --check` a row over its bound fails the
//! run. A word on the command line picks the kinds of work that contain it.
//! With `PREOPEN_UPDATE_DOCS=1` the figures of a whole run also go into the documents.
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
mod growth;
mod listings;
mod measure;
mod memory;
mod native;
mod plot;
mod programs;
mod report;
mod searches;
mod table;
mod transfers;

use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

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
    let words: Vec<&str> = arguments
        .iter()
        .filter(|word| !word.starts_with('-'))
        .map(String::as_str)
        .collect();

    let kept = measure(&words, &growth::Sizes::parse(&arguments)?)?;
    Ok(if kept || !check {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

/// Measures the kinds of work that contain one of `words`, or all, and prints
/// the table of them. Whether every row keeps its bound.
fn measure(words: &[&str], sizes: &growth::Sizes) -> Result<bool> {
    let place = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let corpus = Corpus::build(place)?;
    let echo = programs::echo(&corpus.beside())?;
    let ripgrep = programs::ripgrep();
    let mut criterion = Criterion::default()
        .without_plots()
        // With the corpus it goes: what another run measured on a busier or an
        // idler machine is nothing to compare with.
        .output_directory(&corpus.beside())
        .warm_up_time(Duration::from_secs(1))
        .measurement_time(Duration::from_secs(5));
    let mut rows = Vec::new();
    let mut run = |kind: &str, work: &mut dyn FnMut() -> Result<Vec<Row>>| -> Result<()> {
        if words.is_empty() || words.iter().any(|word| kind.contains(word)) {
            eprintln!("measuring: {kind}");
            let start = Instant::now();
            for row in work()? {
                eprintln!("{row}");
                rows.push(row);
            }
            eprintln!("that took {:.0?}", start.elapsed());
        }
        Ok(())
    };
    run("start", &mut || calls::start(&corpus, &echo))?;
    run("small calls", &mut || {
        calls::small_calls(&mut criterion, &corpus, &echo)
    })?;
    run("pipelined", &mut || calls::pipelined(&corpus, &echo))?;
    run("large file", &mut || transfers::large_file(&corpus, &echo))?;
    run("searches", &mut || {
        searches::all(
            &corpus,
            ripgrep.as_ref().map(|(program, _)| program.as_path()),
        )
    })?;
    run("listings", &mut || listings::all(&corpus))?;
    run("durable write", &mut || transfers::durable_write(&corpus))?;
    run("memory", &mut || memory::all(&corpus))?;
    let mut series = Vec::new();
    run("growth", &mut || {
        series = growth::measure(place, sizes)?;
        Ok(series.iter().map(growth::Series::row).collect())
    })?;

    let table = table::markdown(&rows);
    println!("{table}");
    if report::is_wanted() && words.is_empty() {
        let version = ripgrep.map_or_else(|| "no ripgrep".to_owned(), |(_, version)| version);
        let circumstances = report::circumstances("cargo bench", place);
        report::update(&format!("{table}\n{circumstances}; {version}."))?;
        plot::draw(&report::document("growth.svg"), &series)?;
    }
    let over = rows.iter().filter(|row| row.is_over());
    Ok(over
        .inspect(|row| eprintln!("over its bound: {row}"))
        .count()
        == 0)
}
