//! JSON text as this project writes it: one line, and no raw character that a
//! client might take for the end of a line. It knows no message and no tool.

use std::io;

use serde::Serialize;
use serde_json::ser::Formatter;

use crate::hash::DIGITS;

/// Bytes looked at together where text is searched for what JSON escapes.
const WORD: usize = 8;

/// Compact JSON with U+2028 and U+2029 escaped: both are legal inside a JSON
/// string (RFC 8259, section 7), yet clients exist that split lines there.
#[derive(Clone, Copy, Debug, Default)]
struct OneLine;

impl Formatter for OneLine {
    fn write_string_fragment<W: ?Sized + io::Write>(
        &mut self,
        writer: &mut W,
        fragment: &str,
    ) -> io::Result<()> {
        let mut rest = fragment;
        while let Some(at) = rest.find(['\u{2028}', '\u{2029}']) {
            let (before, found) = rest.split_at(at);
            writer.write_all(before.as_bytes())?;
            let escape = if found.starts_with('\u{2028}') {
                "\\u2028"
            } else {
                "\\u2029"
            };
            writer.write_all(escape.as_bytes())?;
            rest = &found['\u{2028}'.len_utf8()..];
        }
        writer.write_all(rest.as_bytes())
    }
}

/// Appends `value` to `out` as one line of JSON.
///
/// Types whose serialization can fail (maps with keys that are no strings) are
/// not used in this project; for one of those nothing useful is appended.
pub fn append<T: ?Sized + Serialize>(out: &mut String, value: &T) {
    let mut bytes = std::mem::take(out).into_bytes();
    let keep = bytes.len();
    let mut serializer = serde_json::Serializer::with_formatter(&mut bytes, OneLine);
    if value.serialize(&mut serializer).is_err() {
        bytes.truncate(keep);
        bytes.extend_from_slice(b"null");
    }
    // serde_json writes UTF-8 only, so nothing is ever lost here.
    *out = String::from_utf8(bytes).unwrap_or_default();
}

/// `value` as one line of JSON.
pub fn text<T: ?Sized + Serialize>(value: &T) -> String {
    let mut out = String::new();
    append(&mut out, value);
    out
}

/// Appends `text` as a JSON string, the same bytes as [`append`] gives. The
/// answer is how many of them are quotes and backslashes: each takes a second
/// byte where the string stands inside another one.
pub fn quote(out: &mut String, text: &str) -> usize {
    out.reserve(text.len() + 2);
    out.push('"');
    let mut doubled = 2;
    let bytes = text.as_bytes();
    let (mut copied, mut at) = (0, 0);
    while let Some(next) = special(bytes, at) {
        let (escape, length) = match bytes.get(next..).unwrap_or_default() {
            [b'"', ..] => ("\\\"", 1),
            [b'\\', ..] => ("\\\\", 1),
            [b'\n', ..] => ("\\n", 1),
            [b'\t', ..] => ("\\t", 1),
            [b'\r', ..] => ("\\r", 1),
            [8, ..] => ("\\b", 1),
            [12, ..] => ("\\f", 1),
            [0xE2, 0x80, 0xA8, ..] => ("\\u2028", 3),
            [0xE2, 0x80, 0xA9, ..] => ("\\u2029", 3),
            [control @ 0..0x20, ..] => {
                out.push_str(&text[copied..next]);
                out.push_str(if *control < 16 { "\\u000" } else { "\\u001" });
                out.push(char::from(DIGITS[usize::from(control % 16)]));
                doubled += 1;
                at = next + 1;
                copied = at;
                continue;
            }
            // Another character that begins as the separators do.
            _ => {
                at = next + 1;
                continue;
            }
        };
        out.push_str(&text[copied..next]);
        out.push_str(escape);
        doubled += if matches!(escape, "\\\"" | "\\\\") {
            2
        } else {
            1
        };
        at = next + length;
        copied = at;
    }
    out.push_str(&text[copied..]);
    out.push('"');
    doubled
}

/// The first byte from `at` that may have to be escaped.
fn special(bytes: &[u8], at: usize) -> Option<usize> {
    let (lanes, _) = bytes.get(at..)?.as_chunks::<{ 4 * WORD }>();
    let plain = lanes.iter().take_while(|lane| {
        let (words, _) = lane.as_chunks::<WORD>();
        let found = words
            .iter()
            .fold(0, |found, word| found | specials(u64::from_le_bytes(*word)));
        found == 0
    });
    let at = at + plain.count() * 4 * WORD;
    let (words, rest) = bytes.get(at..)?.as_chunks::<WORD>();
    for (index, word) in words.iter().enumerate() {
        let found = specials(u64::from_le_bytes(*word));
        if found != 0 {
            return Some(at + index * WORD + found.trailing_zeros() as usize / 8);
        }
    }
    let is_special = |byte: &u8| matches!(byte, 0..0x20 | b'"' | b'\\' | 0xE2);
    let found = rest.iter().position(is_special)?;
    Some(at + words.len() * WORD + found)
}

/// The high bit of the first byte of `word` that may have to be escaped, with
/// bits of later bytes that mean nothing; zero where there is none.
const fn specials(word: u64) -> u64 {
    const ONES: u64 = u64::from_le_bytes([1; WORD]);
    const HIGH: u64 = ONES << 7;
    // A byte that is zero borrows from its own high bit (Mycroft's test).
    const fn zero(word: u64) -> u64 {
        word.wrapping_sub(ONES) & !word & HIGH
    }
    let control = word.wrapping_sub(ONES * 0x20) & !word & HIGH;
    control
        | zero(word ^ (ONES * b'"' as u64))
        | zero(word ^ (ONES * b'\\' as u64))
        | zero(word ^ (ONES * 0xE2))
}

/// How many bytes `json` takes as the content of a JSON string: what a text
/// block that repeats it costs, without its two quotes.
///
/// `json` must be text that [`append`] wrote, which holds no raw control
/// character and neither U+2028 nor U+2029.
#[must_use]
pub fn quoted_len(json: &str) -> usize {
    json.len()
        + json
            .bytes()
            .filter(|byte| matches!(byte, b'"' | b'\\'))
            .count()
}

#[cfg(test)]
mod tests {
    use super::{quoted_len, text};

    #[test]
    fn line_separators_are_escaped_and_nothing_else_changes() {
        let original = "a\u{2028}b\u{2029}\n\u{85}\u{0}é🙂\\\"";
        let json = text(original);
        assert_eq!(json, "\"a\\u2028b\\u2029\\n\u{85}\\u0000é🙂\\\\\\\"\"");
        assert_eq!(
            serde_json::from_str::<String>(&json).expect("valid"),
            original
        );
    }

    #[test]
    fn quoted_len_is_what_a_text_block_costs() {
        let json = text(&["a\"b", "\u{1}\u{2028}", "é\\"]);
        assert_eq!(quoted_len(&json) + 2, text(&json).len());
    }
}
