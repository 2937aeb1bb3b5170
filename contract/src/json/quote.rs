//! Text as a JSON string. What is escaped is rare in most text, so it is looked
//! through many bytes at a time and copied as it is in between.

use memchr::memchr2_iter;

use super::escape::{Escape, SEPARATOR, may_be_special};

/// Bytes looked at together.
const WORD: usize = 8;

/// Appends `text` as a JSON string, the same bytes as [`append`](super::append)
/// gives. The answer is how many of them are quotes and backslashes: each takes
/// a second byte where the string stands inside another one.
pub fn quote(out: &mut String, text: &str) -> usize {
    out.reserve(text.len() + 2);
    out.push('"');
    #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
    let (doubled, text) = super::blocks::append(out, text);
    #[cfg(not(all(target_arch = "wasm32", target_feature = "simd128")))]
    let doubled = 0;
    let doubled = doubled + append(out, text);
    out.push('"');
    doubled + 2
}

/// Appends `json` as a JSON string: the same bytes as [`quote`] gives, sooner.
///
/// `json` must be text that [`append`](super::append) or [`quote`] wrote, which
/// holds no raw control character and neither U+2028 nor U+2029: of what is
/// escaped it has quotes and backslashes alone.
pub fn requote(out: &mut String, json: &str) {
    out.reserve(json.len() + json.len() / 8 + 2);
    out.push('"');
    let mut copied = 0;
    for next in memchr2_iter(b'"', b'\\', json.as_bytes()) {
        out.push_str(&json[copied..next]);
        out.push('\\');
        copied = next;
    }
    out.push_str(&json[copied..]);
    out.push('"');
}

/// Appends `text` as it stands in a string; how many quotes and backslashes are
/// in it then.
pub(super) fn append(out: &mut String, text: &str) -> usize {
    let bytes = text.as_bytes();
    let (mut copied, mut at, mut doubled) = (0, 0, 0);
    while let Some(next) = special(bytes, at) {
        at = next + 1;
        if let Some(escape) = Escape::of(&bytes[next..]) {
            out.push_str(&text[copied..next]);
            escape.append(out);
            doubled += escape.doubled;
            at = next + escape.takes;
            copied = at;
        }
    }
    out.push_str(&text[copied..]);
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
    let found = rest.iter().position(|byte| may_be_special(*byte))?;
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
        | zero(word ^ (ONES * SEPARATOR as u64))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::{blocks, quoted_len, text};
    use super::{quote, requote};

    /// `original` as every way to quote it has it, against `serde_json`.
    fn check(original: &str) {
        let expected = text(original);
        assert_eq!(
            serde_json::from_str::<String>(&expected).expect("valid"),
            original
        );

        let mut out = "before".to_owned();
        let doubled = quote(&mut out, original);
        assert_eq!(out, format!("before{expected}"));
        assert_eq!(expected.len() + doubled, quoted_len(&expected));

        let mut out = String::new();
        requote(&mut out, &expected);
        assert_eq!(out, text(&expected));

        let mut out = "\"".to_owned();
        let (before, rest) = blocks::append(&mut out, original);
        assert!(rest.len() < blocks::BLOCK + 4, "{rest}");
        assert_eq!(before + super::append(&mut out, rest) + 2, doubled);
        assert_eq!(out + "\"", expected);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1000))]

        #[test]
        fn the_bytes_are_those_of_serde_json(
            original in "(?s:[a-z \n\"\\\\\u{0}-\u{1f}\u{7f}\u{2027}-\u{202a}€🙂éя界]|[a-z]{20,40}|.){0,60}",
        ) {
            check(&original);
        }
    }

    #[test]
    fn every_character_is_escaped_or_not_wherever_it_stands() {
        let near_the_special_ones = ('\0'..='\u{ff}').chain('\u{1fff}'..='\u{2100}');
        for character in near_the_special_ones {
            for before in 0..2 * blocks::BLOCK + 2 {
                check(&format!("{}{character}x", "a".repeat(before)));
            }
        }
        let all: Vec<char> = ('\0'..=char::MAX).collect();
        for characters in all.chunks(0x1000) {
            check(&characters.iter().collect::<String>());
        }
    }

    #[test]
    fn nothing_is_lost_between_blocks() {
        for before in 0..blocks::BLOCK {
            for wide in ["é", "€", "🙂", "\u{2028}", "“\n", "\n\n", "\\\""] {
                for after in [0, 1, blocks::BLOCK - 1, blocks::BLOCK, 3 * blocks::BLOCK] {
                    let padding = "a".repeat(before);
                    check(&format!(
                        "{padding}{}{}",
                        wide.repeat(40),
                        "b".repeat(after)
                    ));
                }
            }
        }
    }
}
