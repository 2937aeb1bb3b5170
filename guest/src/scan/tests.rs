//! The scanner against the obvious way: split the whole file at LF and look.

use proptest::prelude::*;

use super::{BLOCK_BYTES, LineStart, Scanned, Scanner};
use crate::text::{EXCERPT_BYTES, excerpt};

/// A file in memory that hands out at most `block` bytes at a time.
struct Memory<'a> {
    bytes: &'a [u8],
    block: u64,
    room: usize,
    found: Vec<(u64, String)>,
    largest_read: u64,
}

impl<'a> Memory<'a> {
    fn new(bytes: &'a [u8], block: u64, room: usize) -> Self {
        Self {
            bytes,
            block,
            room,
            found: Vec::new(),
            largest_read: 0,
        }
    }
}

impl Scanned for Memory<'_> {
    type Error = ();

    fn read(&mut self, offset: u64, len: u64) -> Result<(Vec<u8>, bool), ()> {
        self.largest_read = self.largest_read.max(len);
        // Windows are not cut: they are bounded themselves.
        let len = if len == BLOCK_BYTES { self.block } else { len };
        let from = self.bytes.len().min(offset as usize);
        let to = self.bytes.len().min(from + len as usize);
        Ok((self.bytes[from..to].to_vec(), to - from < len as usize))
    }

    fn found(&mut self, line: u64, text: &str) -> bool {
        if self.found.len() == self.room {
            return false;
        }
        self.found.push((line, text.to_owned()));
        true
    }
}

/// Every match, by the obvious way.
fn naive(bytes: &[u8], query: &str) -> Vec<(u64, String)> {
    let mut lines: Vec<&[u8]> = bytes.split(|&byte| byte == b'\n').collect();
    if lines.last().is_some_and(|line| line.is_empty()) {
        lines.pop();
    }
    lines
        .iter()
        .zip(1..)
        .filter_map(|(line, number)| {
            let line = std::str::from_utf8(line.strip_suffix(b"\r").unwrap_or(line)).ok()?;
            let start = line.find(query)?;
            Some((number, excerpt(line, start, start + query.len()).to_owned()))
        })
        .collect()
}

/// Every match, in pages of `room` matches and `budget` bytes.
fn paged(bytes: &[u8], query: &str, block: u64, room: usize, budget: u64) -> Vec<(u64, String)> {
    let scanner = Scanner::new(query);
    let mut all = Vec::new();
    let mut at = LineStart::FIRST;
    loop {
        let mut file = Memory::new(bytes, block, room);
        let next = scanner
            .scan(at, &mut budget.clone(), &mut file)
            .expect("memory does not fail");
        all.append(&mut file.found);
        match next {
            None => return all,
            Some(next) => {
                assert!(next.offset > at.offset, "a page must get on");
                at = next;
            }
        }
    }
}

fn piece() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        4 => "[abé\r]{0,6}".prop_map(String::into_bytes),
        3 => Just(b"\n".to_vec()),
        1 => Just(b"\r\n".to_vec()),
        1 => Just("🙂".as_bytes().to_vec()),
        1 => prop::collection::vec(any::<u8>(), 0..3),
        1 => "[ab]{0,3000}".prop_map(String::into_bytes),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn blocks_and_pages_change_nothing(
        pieces in prop::collection::vec(piece(), 0..40),
        query in prop_oneof!["[abé\r]{1,4}", "[ab]{1,2}", "[ab]{8}", "🙂"],
        block in prop_oneof![1_u64..40, 500_u64..3000],
        room in 1_usize..5,
        budget in prop_oneof![1_u64..100, Just(u64::MAX)],
    ) {
        let bytes = pieces.concat();
        prop_assert_eq!(paged(&bytes, &query, block, room, budget), naive(&bytes, &query));
    }
}

#[test]
fn a_line_of_many_blocks_shows_its_first_match() {
    let mut bytes = vec![b'x'; 3 * BLOCK_BYTES as usize + 17];
    // Across the edge of the first two blocks, and once more later on.
    for at in [BLOCK_BYTES as usize - 3, 2 * BLOCK_BYTES as usize] {
        bytes[at..at + 6].copy_from_slice(b"needle");
    }
    bytes.extend(b"\nneedle");
    let mut file = Memory::new(&bytes, BLOCK_BYTES, 9);
    let end = Scanner::new("needle").scan(LineStart::FIRST, &mut u64::MAX.clone(), &mut file);
    assert_eq!(end, Ok(None));
    assert_eq!(file.found, naive(&bytes, "needle"));
    assert_eq!(file.found[0].1.len(), EXCERPT_BYTES);
    assert_eq!(file.found[1], (2, "needle".to_owned()));
    assert_eq!(file.largest_read, BLOCK_BYTES);
}

#[test]
fn a_long_line_that_is_not_utf8_is_skipped_whole() {
    let mut bytes = b"needle".to_vec();
    bytes.resize(2 * BLOCK_BYTES as usize, b'x');
    bytes.extend(b"\xff\nneedle\n");
    assert_eq!(
        paged(&bytes, "needle", BLOCK_BYTES, 9, u64::MAX),
        [(2, "needle".to_owned())]
    );
}

#[test]
fn the_budget_ends_a_scan_between_lines() {
    let bytes = b"one\ntwo\nthree\n".repeat(200_000);
    let mut budget = BLOCK_BYTES;
    let mut file = Memory::new(&bytes, BLOCK_BYTES, 9);
    let next = Scanner::new("four")
        .scan(LineStart::FIRST, &mut budget, &mut file)
        .expect("memory does not fail")
        .expect("more to scan");
    let scanned = &bytes[..next.offset as usize];
    assert!(scanned.ends_with(b"\n") && scanned.len() as u64 <= 2 * BLOCK_BYTES);
    assert_eq!(
        next.line,
        1 + scanned.iter().filter(|&&byte| byte == b'\n').count() as u64
    );
    assert_eq!(budget, 0);
}

#[test]
fn a_dropped_cr_is_no_match() {
    assert_eq!(
        paged(b"a\r\nb\ra\r\r\n", "a\r", 100, 9, u64::MAX),
        [(2, "b\ra\r".to_owned())]
    );
    assert_eq!(paged(b"a\r", "\r", 100, 9, u64::MAX), []);
}
