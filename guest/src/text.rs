//! UTF-8 in pieces: chunks of a file that end between characters, the part of
//! a line that shows a match, and validity of what never is in memory at once.

use std::str;

use simdutf8::compat::from_utf8;

/// The longest chunk, in bytes.
pub(crate) const CHUNK_BYTES: usize = 2048;
/// The longest excerpt, in bytes.
pub(crate) const EXCERPT_BYTES: usize = 1024;

/// The next chunk of `bytes`, which begin between characters: at most [`CHUNK_BYTES`], never
/// ending inside a character. `at_end` says that nothing follows `bytes`. None when they are empty.
///
/// # Errors
/// The offset in `bytes` of what is not UTF-8; a character cut by the end counts as that.
pub(crate) fn chunk(bytes: &[u8], at_end: bool) -> Option<Result<&str, usize>> {
    if bytes.is_empty() {
        return None;
    }
    let piece = &bytes[..bytes.len().min(CHUNK_BYTES)];
    let (whole, begun) = piece.split_at(piece.len() - unfinished(piece));
    Some(match from_utf8(whole) {
        Ok(text) if begun.is_empty() => Ok(text),
        // More is to come of the last character, and something stands before it.
        Ok(text) if (piece.len() < bytes.len() || !at_end) && !text.is_empty() => Ok(text),
        Ok(text) => Err(text.len()),
        Err(error) => Err(error.valid_up_to()),
    })
}

/// How many bytes at the end of `piece` begin a character that they do not end.
fn unfinished(piece: &[u8]) -> usize {
    let begins = |bytes: &usize| {
        let end = piece.get(piece.len().wrapping_sub(*bytes)..);
        let judged = end.map(str::from_utf8);
        matches!(judged, Some(Err(error)) if error.valid_up_to() == 0 && error.error_len().is_none())
    };
    (1..4).find(begins).unwrap_or(0)
}

/// The part of `line` that shows the match `start..end`: the whole line if it takes at most
/// [`EXCERPT_BYTES`], else as much of it around the match, cut between characters.
///
/// The match begins and ends between characters and is not longer than an excerpt.
pub(crate) fn excerpt(line: &str, start: usize, end: usize) -> &str {
    if line.len() <= EXCERPT_BYTES {
        return line;
    }
    let around = EXCERPT_BYTES.saturating_sub(end - start) / 2;
    let from = start.saturating_sub(around).min(line.len() - EXCERPT_BYTES);
    let to = from + EXCERPT_BYTES;
    let from = (from..=start)
        .find(|&at| line.is_char_boundary(at))
        .unwrap_or(start);
    let to = (end..=to)
        .rev()
        .find(|&at| line.is_char_boundary(at))
        .unwrap_or(end);
    &line[from..to]
}

/// Whether bytes that come in pieces are UTF-8 as a whole.
#[derive(Clone, Debug, Default)]
pub(crate) struct Utf8Check {
    /// The beginning of a character that the next piece continues.
    pending: Vec<u8>,
    broken: bool,
}

impl Utf8Check {
    pub(crate) fn push(&mut self, mut piece: &[u8]) {
        if self.broken {
            return;
        }
        while let Some(first) = self.pending.first() {
            let width = match first {
                0xC0..0xE0 => 2,
                0xE0..0xF0 => 3,
                _ => 4,
            };
            if self.pending.len() == width {
                self.broken = str::from_utf8(&self.pending).is_err();
                self.pending.clear();
                break;
            }
            let Some((next, rest)) = piece.split_first() else {
                return;
            };
            self.pending.push(*next);
            piece = rest;
        }
        if let Err(error) = from_utf8(piece) {
            self.broken |= error.error_len().is_some();
            self.pending.extend(&piece[error.valid_up_to()..]);
        }
    }

    /// Whether all of it was UTF-8, and nothing is missing at its end.
    pub(crate) const fn finish(&self) -> bool {
        !self.broken && self.pending.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{CHUNK_BYTES, EXCERPT_BYTES, Utf8Check, chunk, excerpt};

    /// Every chunk of `bytes`, as a reader that sees `window` bytes at a time gets them.
    fn chunks(bytes: &[u8], window: usize) -> Result<Vec<&str>, usize> {
        let mut at = 0;
        let mut found = Vec::new();
        loop {
            let end = bytes.len().min(at + window);
            match chunk(&bytes[at..end], end == bytes.len()) {
                None => return Ok(found),
                Some(Ok(text)) => {
                    at += text.len();
                    found.push(text);
                }
                Some(Err(offset)) => return Err(at + offset),
            }
        }
    }

    proptest! {
        #[test]
        fn chunks_joined_are_the_text(text in "[aé界🙂]{0,6000}", window in CHUNK_BYTES..9000) {
            let found = chunks(text.as_bytes(), window).expect("UTF-8");
            prop_assert_eq!(found.concat(), text.as_str());
            for (index, piece) in found.iter().enumerate() {
                prop_assert!(piece.len() <= CHUNK_BYTES);
                prop_assert!(piece.len() > CHUNK_BYTES - 4 || index + 1 == found.len());
            }
        }

        #[test]
        fn a_chunk_is_what_is_valid_of_its_bytes(
            plain in CHUNK_BYTES - 8..CHUNK_BYTES + 2,
            end in prop::collection::vec(prop::sample::select(b"a\xe2\x82\xac\xf0\x9f\x99\x82\xc3\xa9\xff\xed\xa0\xf4\x90".to_vec()), 0..12),
            at_end: bool,
        ) {
            let bytes = [&vec![b'x'; plain][..], &end].concat();
            let piece = &bytes[..bytes.len().min(CHUNK_BYTES)];
            let expected = std::str::from_utf8(piece).or_else(|error| {
                let valid = error.valid_up_to();
                let goes_on = piece.len() < bytes.len() || !at_end;
                let is_cut = error.error_len().is_none() && goes_on && valid > 0;
                is_cut.then(|| std::str::from_utf8(&piece[..valid]).expect("valid")).ok_or(valid)
            });
            prop_assert_eq!(chunk(&bytes, at_end), Some(expected));
            prop_assert_eq!(chunk(&end, at_end).is_none(), end.is_empty());
        }

        #[test]
        fn the_first_bad_byte_is_named(text in "[aé🙂]{0,2000}", bad in prop::sample::select(vec![&b"\xff"[..], b"\xe2\x82", b"\xf0\x9f\x99", b"\xc3a", b"\x80"])) {
            let bytes = [text.as_bytes(), bad].concat();
            prop_assert_eq!(chunks(&bytes, 4096), Err(text.len()));
        }

        #[test]
        fn validity_does_not_depend_on_the_pieces(
            bytes in prop_oneof![
                "[aé界🙂]{0,40}".prop_map(String::into_bytes),
                prop::collection::vec(any::<u8>(), 0..8),
                prop::collection::vec(prop::sample::select(b"a\xe2\x82\xac\xf0\x9f\x99\x82\xc3\xa9".to_vec()), 0..10),
            ],
            size in 1_usize..6,
        ) {
            let mut check = Utf8Check::default();
            for piece in bytes.chunks(size) {
                check.push(piece);
            }
            prop_assert_eq!(check.finish(), std::str::from_utf8(&bytes).is_ok());
        }

        #[test]
        fn an_excerpt_shows_the_match(before in "[aé🙂]{0,900}", found in "[xü🙂]{1,60}", after in "[aé🙂]{0,900}") {
            let line = format!("{before}{found}{after}");
            let shown = excerpt(&line, before.len(), before.len() + found.len());
            prop_assert!(shown.contains(&found) && line.contains(shown));
            if line.len() <= EXCERPT_BYTES {
                prop_assert_eq!(shown, line.as_str());
            } else {
                prop_assert!(shown.len() <= EXCERPT_BYTES && shown.len() > EXCERPT_BYTES - 8);
            }
        }
    }

    #[test]
    fn an_excerpt_reaches_the_ends_of_the_line() {
        let line = "x".repeat(5000);
        for start in [0, 1, 2500, 4998] {
            assert_eq!(excerpt(&line, start, start + 2).len(), EXCERPT_BYTES);
        }
    }
}
