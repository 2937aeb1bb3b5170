//! Calls that do much: searches, a large file and a write to the disk, beside
//! plain system calls on the same files. Every answer is checked.

use std::cell::RefCell;
use std::fs;

use anyhow::{Result, ensure};
use memchr::memmem::Finder;
use serde_json::{Value, json};

use crate::client::{self, Peer};
use crate::corpus::{self, Corpus};
use crate::measure::{interleaved, time};
use crate::native;
use crate::table::{Amount, AtMost, Row};

/// Bytes that are written where writing is measured.
const WRITTEN: usize = 64 << 10;

/// Finding a rare literal in many files, and the files themselves.
pub(crate) fn searches(corpus: &Corpus) -> Result<Vec<Row>> {
    let mut ours = Peer::server(&corpus.root())?;
    let finder = Finder::new(corpus::NEEDLE);
    let mut buffer = Vec::with_capacity(1 << 20);
    let arguments = json!({"query": corpus::NEEDLE, "path": Corpus::MANY});
    let texts = interleaved(
        15,
        || {
            let ((items, _), took) = time(|| ours.pages("search_text", &arguments))?;
            ensure!(items == corpus::NEEDLES, "search_text found {items} lines");
            Ok(took)
        },
        || {
            let (found, took) = time(|| Ok(native::scan(&corpus.many, &finder, &mut buffer)?))?;
            ensure!(found == corpus::NEEDLES, "the baseline found {found} lines");
            Ok(took)
        },
    )?;
    let mut rows = vec![Row::times(
        "search_text, 64 MiB in 2,000 files, rare literal, to the end",
        texts,
        AtMost::Times(4.0),
    )];
    // One page holds 200 paths: the first query takes ten, the second one.
    for (work, part, files) in [
        (
            "search_files, all of 2,000 files, to the end",
            "file-",
            corpus::MANY_FILES,
        ),
        ("search_files, one of 2,000 files", "file-1234", 1),
    ] {
        let arguments = json!({"query": part});
        let times = interleaved(
            31,
            || {
                let ((items, _), took) = time(|| ours.pages("search_files", &arguments))?;
                ensure!(items == files, "search_files found {items} files");
                Ok(took)
            },
            || {
                let mut found = Vec::new();
                let ((), took) = time(|| Ok(native::walk(&corpus.root(), part, &mut found)?))?;
                ensure!(
                    found.len() == files,
                    "the baseline found {} files",
                    found.len()
                );
                Ok(took)
            },
        )?;
        rows.push(Row::times(work, times, AtMost::Anything));
    }
    Ok(rows)
}

/// Pages of a large file, and what the server's memory is before and after.
pub(crate) fn large_file(corpus: &Corpus) -> Result<Vec<Row>> {
    let mut ours = Peer::server(&corpus.root())?;
    ours.round_trip(&client::discover())?;
    let idle = [
        ("VmHWM", "peak memory, idle after the first answer"),
        ("VmRSS", "memory, idle after the first answer"),
    ];
    let mut rows = Vec::new();
    for (name, work) in idle {
        rows.push(Row::alone(
            work,
            Amount::Memory(ours.memory(name)?),
            AtMost::Anything,
        ));
    }

    let mut arguments = json!({"path": Corpus::LARGE});
    let first = client::call(1, "read_text_file", &arguments);
    loop {
        let mut page = ours.call("read_text_file", &arguments)?;
        let offset = page["items"][0]["byte_offset"].as_u64();
        if offset >= Some(corpus::LARGE_BYTES as u64 / 2) {
            break;
        }
        ensure!(
            page["next_cursor"] != Value::Null,
            "the file ends too early"
        );
        arguments["cursor"] = page["next_cursor"].take();
    }
    let middle = client::call(1, "read_text_file", &arguments);
    let peer = RefCell::new(&mut ours);
    let times = interleaved(
        1_000,
        || peer.borrow_mut().round_trip(&middle),
        || peer.borrow_mut().round_trip(&first),
    )?;
    rows.push(Row::times(
        "read_text_file of 64 MiB, a page in the middle; baseline: the first page",
        times,
        AtMost::Anything,
    ));
    rows.push(Row::alone(
        "peak memory after reading half of 64 MiB and those pages",
        Amount::Memory(ours.memory("VmHWM")?),
        AtMost::Amount(Amount::Memory(40.0)),
    ));
    Ok(rows)
}

/// Replacing a file so that it survives a power cut.
pub(crate) fn durable_write(corpus: &Corpus) -> Result<Vec<Row>> {
    const NAME: &str = "written.txt";
    let mut ours = Peer::server(&corpus.root())?;
    let content = "0123456789abcde\n".repeat(WRITTEN / 16);
    let arguments = json!({"path": NAME, "content": content});
    let request = client::call(1, "write_text_file", &arguments);
    ours.call("write_text_file", &arguments)?;
    ensure!(
        fs::read_to_string(corpus.root().join(NAME))? == content,
        "it wrote something else"
    );
    let beside = corpus.beside();
    let times = interleaved(
        101,
        || ours.round_trip(&request),
        || Ok(time(|| Ok(native::write(&beside, NAME, content.as_bytes())?))?.1),
    )?;
    Ok(vec![Row::times(
        "write_text_file, 64 KiB, durable",
        times,
        AtMost::Anything,
    )])
}
