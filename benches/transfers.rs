//! A large file to its end, and a write to the disk. Every answer is checked.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{Result, ensure};
use serde_json::json;

use crate::client::{self, Peer};
use crate::corpus::{self, Corpus};
use crate::measure::{CLIENT, Turns, interleaved, on_core, time};
use crate::native;
use crate::programs;
use crate::table::{Bound, Row};

/// Bytes that are written where writing is measured.
const WRITTEN: usize = 64 << 10;
/// No reading takes longer.
const LIMIT: Duration = Duration::from_secs(60);

/// Reading a large file page by page to its end, beside `cat` and as many round
/// trips of the line server as there were calls.
pub(crate) fn large_file(corpus: &Corpus, echo: &Path) -> Result<Vec<Row>> {
    const TOOL: &str = "read_text_file";
    let mut ours = Peer::start_pinned(&mut client::server(&corpus.root()))?;
    let mut baseline = Peer::start_pinned(&mut Command::new(echo))?;
    let arguments = json!({"path": Corpus::LARGE});
    let file = corpus.root().join(Corpus::LARGE);
    let expected = fs::read(&file)?;
    let mut read = 0;
    ours.items(TOOL, &arguments, |item| {
        let text = item["text"].as_str().unwrap_or_default().as_bytes();
        ensure!(
            item["byte_offset"] == read && expected[read..].starts_with(text),
            "{TOOL} read something else at {read}"
        );
        read += text.len();
        Ok(())
    })?;
    ensure!(read == expected.len(), "{TOOL} read {read} bytes");

    let (calls, _) = ours.follow(TOOL, &arguments, LIMIT)?;
    let request = client::call(1, TOOL, &arguments);
    let mut cat = Command::new("cat");
    cat.arg(&file);
    let mut buffer = vec![0; 1 << 16];
    let times = on_core(CLIENT, || {
        interleaved(
            Turns::at_most(7),
            || Ok(ours.follow(TOOL, &arguments, LIMIT)?.1),
            || {
                let (bytes, mut took) = programs::run(&mut cat, &mut buffer)?;
                ensure!(bytes == corpus::LARGE_BYTES as u64, "cat gave {bytes}");
                for _ in 0..calls {
                    took += baseline.round_trip(&request)?;
                }
                Ok(took)
            },
        )
    })?;
    Ok(vec![Row::times(
        format!("read_text_file of 64 MiB to the end, {calls} calls"),
        times,
        Bound::AtMostTimes(2.0),
    )])
}

/// Replacing a file so that it survives a power cut.
pub(crate) fn durable_write(corpus: &Corpus) -> Result<Vec<Row>> {
    const NAME: &str = "written.txt";
    let mut ours = Peer::start_pinned(&mut client::server(&corpus.root()))?;
    let content = "0123456789abcde\n".repeat(WRITTEN / 16);
    let arguments = json!({"path": NAME, "content": content});
    let request = client::call(1, "write_text_file", &arguments);
    ours.call("write_text_file", &arguments)?;
    ensure!(
        fs::read_to_string(corpus.root().join(NAME))? == content,
        "it wrote something else"
    );
    let beside = corpus.beside();
    let times = on_core(CLIENT, || {
        interleaved(
            Turns::at_most(400),
            || ours.round_trip(&request),
            || Ok(time(|| Ok(native::write(&beside, NAME, content.as_bytes())?))?.1),
        )
    })?;
    Ok(vec![Row::times(
        "write_text_file of 64 KiB, durable",
        times,
        Bound::AtMostTimes(1.3),
    )])
}
