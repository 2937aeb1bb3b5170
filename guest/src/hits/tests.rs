//! Scans and excerpts against the obvious way: split the whole file at LF and
//! look.

use proptest::prelude::*;

use super::{BLOCK_BYTES, Hits, scan};
use crate::excerpts::excerpts;
use crate::lines::{CONTEXT_BYTES, Lines, Source};
use crate::needle::Needle;
use crate::text::EXCERPT_BYTES;

/// A file in memory that hands out at most `block` bytes at a time.
struct Memory<'a> {
    bytes: &'a [u8],
    block: usize,
}

impl Source for Memory<'_> {
    type Error = ();

    fn read(&mut self, offset: u64, len: u64) -> Result<Vec<u8>, ()> {
        assert!(0 < len && len <= BLOCK_BYTES);
        let from = self.bytes.len().min(offset as usize);
        let to = self.bytes.len().min(from + self.block.min(len as usize));
        Ok(self.bytes[from..to].to_vec())
    }
}

/// What is shown: number, text, whether it matches. A text that is cut is told by its length.
type Row = (u64, Option<String>, bool);

#[derive(Debug, PartialEq)]
struct Seen {
    rows: Vec<Row>,
    total: u64,
    not_utf8: u64,
}

struct Query<'a> {
    text: &'a str,
    ignore_case: bool,
    context: usize,
    most: usize,
}

fn needle<'a>(query: &Query<'a>) -> Needle<'a> {
    match query.ignore_case {
        true => Needle::folded(query.text).expect("an automaton"),
        false => Needle::exact(query.text),
    }
}

fn seen(bytes: &[u8], block: usize, query: &Query<'_>) -> Option<Seen> {
    let mut lines = Lines::new(Memory { bytes, block }, bytes.len() as u64);
    let mut budget = u64::MAX;
    let hits = scan(&mut needle(query), query.most + 1, &mut lines, &mut budget)
        .expect("memory does not fail")?;
    assert_eq!(u64::MAX - budget, bytes.len() as u64);
    assert!(!hits.cut);
    let found = excerpts(&mut lines, &hits, query.most, query.context, usize::MAX)
        .expect("memory does not fail");
    let mut rows = Vec::new();
    for excerpt in &found {
        let text = |shown: &crate::excerpts::Line| shown.as_ref().map(|shown| shown.text.clone());
        for (number, line) in (excerpt.first()..).zip(&excerpt.before) {
            rows.push((number, text(line), false));
        }
        rows.push((excerpt.number, Some(excerpt.line.text.clone()), true));
        for (number, line) in (excerpt.number + 1..).zip(&excerpt.after) {
            rows.push((number, text(line), false));
        }
        assert_eq!(excerpt.end(), rows.last().expect("a row").0 + 1);
    }
    Some(Seen {
        rows,
        total: hits.total,
        not_utf8: hits.not_utf8,
    })
}

/// The same by the obvious way, for lines that are not cut.
fn naive(bytes: &[u8], query: &Query<'_>) -> Seen {
    let mut lines: Vec<&[u8]> = bytes.split(|&byte| byte == b'\n').collect();
    if lines.last().is_some_and(|line| line.is_empty()) {
        lines.pop();
    }
    let lines: Vec<Option<&str>> = lines
        .into_iter()
        .map(|line| std::str::from_utf8(line.strip_suffix(b"\r").unwrap_or(line)).ok())
        .collect();
    let matching: Vec<usize> = (0..lines.len())
        .filter(|&index| {
            lines[index].is_some_and(|line| needle(query).find(line.as_bytes()).is_some())
        })
        .collect();
    let first = &matching[..matching.len().min(query.most)];
    let next = matching.get(query.most).copied().unwrap_or(lines.len());
    let rows = (0..lines.len())
        .filter(|index| {
            first
                .iter()
                .any(|hit| index.abs_diff(*hit) <= query.context && *index < next)
        })
        .map(|index| {
            let text = lines[index].map(str::to_owned);
            (index as u64 + 1, text, first.contains(&index))
        })
        .collect();
    Seen {
        rows,
        total: matching.len() as u64,
        not_utf8: lines.iter().filter(|line| line.is_none()).count() as u64,
    }
}

fn piece() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        4 => "[abkéÉ\u{212a}\r]{0,6}".prop_map(String::into_bytes),
        4 => Just(b"\n".to_vec()),
        1 => Just(b"\r\n".to_vec()),
        1 => Just("🙂".as_bytes().to_vec()),
        1 => prop::collection::vec(1_u8.., 0..3),
        1 => "[ab]{0,90}".prop_map(String::into_bytes),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn blocks_change_nothing(
        pieces in prop::collection::vec(piece(), 0..60),
        text in prop_oneof!["[abkéÉ\u{212a}\r]{1,4}", "[aK]{1,2}", "[ab]{8}", "🙂"],
        ignore_case: bool,
        block in prop_oneof![1_usize..40, Just(usize::MAX)],
        context in 0_usize..4,
        most in 1_usize..5,
    ) {
        let bytes = pieces.concat();
        // Longer ones are cut, which the obvious way does not.
        prop_assume!(bytes.split(|byte| *byte == b'\n').all(|line| line.len() <= EXCERPT_BYTES));
        let query = Query { text: &text, ignore_case, context, most };
        prop_assert_eq!(seen(&bytes, block, &query), Some(naive(&bytes, &query)));
    }
}

fn plain(text: &str, context: usize) -> Query<'_> {
    Query {
        text,
        ignore_case: false,
        context,
        most: 50,
    }
}

#[test]
fn a_line_of_many_blocks_shows_its_first_match() {
    let mut bytes = b"before\n".to_vec();
    bytes.resize(3 * BLOCK_BYTES as usize + 17, b'x');
    // Across the edge of the first two blocks, and once more later on.
    let edge = (32 << 10) + BLOCK_BYTES as usize;
    for at in [edge - 3, edge + BLOCK_BYTES as usize] {
        bytes[at..at + 6].copy_from_slice(b"needle");
    }
    bytes.extend(b"\nneedle");
    let rows = seen(&bytes, usize::MAX, &plain("needle", 1))
        .expect("text")
        .rows;
    let [before, long, last] = rows.as_slice() else {
        panic!("three lines: {rows:?}");
    };
    assert_eq!(*before, (1, Some("before".to_owned()), false));
    let text = long.1.as_deref().expect("text");
    assert_eq!((long.0, long.2, text.len()), (2, true, EXCERPT_BYTES));
    assert_eq!(text.find("needle"), Some((EXCERPT_BYTES - 6) / 2));
    assert_eq!(*last, (3, Some("needle".to_owned()), true));
}

#[test]
fn what_is_cut_says_so() {
    let long = "é".repeat(EXCERPT_BYTES);
    let text = format!("{long}\n{long}needle{long}\nneedle{long}\n{long}needle\n");
    let mut lines = Lines::new(
        Memory {
            bytes: text.as_bytes(),
            block: usize::MAX,
        },
        text.len() as u64,
    );
    let hits = scan(
        &mut Needle::exact("needle"),
        9,
        &mut lines,
        &mut u64::MAX.clone(),
    )
    .expect("memory does not fail")
    .expect("text");
    let found = excerpts(&mut lines, &hits, 9, 1, usize::MAX).expect("memory does not fail");
    let before = found[0].before[0].as_ref().expect("UTF-8");
    assert_eq!(before.text, "é".repeat(CONTEXT_BYTES / 2));
    assert_eq!(before.cut, (false, true));
    let cut: Vec<_> = found.iter().map(|excerpt| excerpt.line.cut).collect();
    assert_eq!(cut, [(true, true), (false, true), (true, false)]);
    for excerpt in &found {
        assert!(excerpt.line.text.contains("needle"));
        assert!((EXCERPT_BYTES - 2..=EXCERPT_BYTES).contains(&excerpt.line.text.len()));
    }
}

#[test]
fn a_nul_at_the_beginning_makes_a_file_binary_and_costs_nothing() {
    for (bytes, binary) in [
        (b"needle\0".to_vec(), true),
        ([&[b'x'; (8 << 10) - 1][..], b"\0needle"].concat(), true),
        ([&[b'x'; 8 << 10][..], b"\0needle"].concat(), false),
    ] {
        let mut lines = Lines::new(
            Memory {
                bytes: &bytes,
                block: usize::MAX,
            },
            bytes.len() as u64,
        );
        let mut budget = 1 << 20;
        let hits = scan(&mut Needle::exact("needle"), 9, &mut lines, &mut budget)
            .expect("memory does not fail");
        assert_eq!(hits.is_none(), binary);
        assert_eq!(budget == 1 << 20, binary);
    }
}

#[test]
fn the_budget_ends_a_scan_and_judges_no_line_by_its_beginning() {
    let bytes = b"needle\nx needle needle\nneedle";
    let scanned = |mut budget: u64| {
        let mut lines = Lines::new(
            Memory {
                bytes,
                block: usize::MAX,
            },
            bytes.len() as u64,
        );
        let hits = scan(&mut Needle::exact("needle"), 9, &mut lines, &mut budget)
            .expect("memory does not fail")
            .expect("text");
        assert_eq!(budget, 0, "all of it is used");
        let Hits { total, cut, .. } = hits;
        (total, cut)
    };
    assert_eq!(scanned(6), (0, true));
    assert_eq!(scanned(7), (1, true));
    assert_eq!(scanned(16), (1, true));
    assert_eq!(scanned(28), (2, true));
    assert_eq!(scanned(29), (3, false));
}
