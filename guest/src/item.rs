//! The JSON of one item of a page, written as it is measured: the same bytes
//! as `preopen_contract::json` gives, for the two types that items have, and
//! what they cost once more inside a string. It knows no page and no tool.

/// A member's value.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Value<'a> {
    Text(&'a str),
    Number(u64),
}

/// The members of an item, in order. Names hold nothing that JSON escapes.
pub(crate) type Members<'a> = [(&'static str, Value<'a>)];

/// Bytes looked at together where text is searched for what JSON escapes.
const LANES: usize = 16;

/// Appends an item. The answer is how many of its bytes are quotes and backslashes: each takes a
/// second byte where the item stands inside a JSON string.
pub(crate) fn append(out: &mut String, members: &Members<'_>) -> usize {
    let mut doubled = 0;
    let mut before = '{';
    for (name, value) in members {
        out.push(before);
        out.push('"');
        out.push_str(name);
        out.push_str("\":");
        doubled += 2;
        match value {
            Value::Text(text) => doubled += quoted(out, text),
            Value::Number(number) => decimal(out, *number),
        }
        before = ',';
    }
    out.push('}');
    doubled
}

/// Appends `text` as a JSON string; the answer is as [`append`]'s.
pub(crate) fn quoted(out: &mut String, text: &str) -> usize {
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
                out.push(char::from(crate::digest::DIGITS[usize::from(control % 16)]));
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
    // No short cut inside the lanes: without one the compiler compares them all at once.
    let is_special = |&byte: &u8| (byte < 0x20) | (byte == b'"') | (byte == b'\\') | (byte == 0xE2);
    let (lanes, _) = bytes.get(at..)?.as_chunks::<LANES>();
    let plain = lanes
        .iter()
        .take_while(|lane| {
            !lane
                .iter()
                .fold(false, |found, byte| found | is_special(byte))
        })
        .count();
    let from = at + plain * LANES;
    bytes[from..]
        .iter()
        .position(is_special)
        .map(|found| from + found)
}

fn decimal(out: &mut String, mut number: u64) {
    let mut digits = [0; 20];
    let mut first = digits.len();
    loop {
        first -= 1;
        digits[first] = b'0' + (number % 10) as u8;
        number /= 10;
        if number == 0 {
            break;
        }
    }
    out.extend(digits[first..].iter().copied().map(char::from));
}

#[cfg(test)]
mod tests {
    use preopen_contract::json;
    use proptest::prelude::*;
    use serde::Serialize;

    use super::{Value, append};

    #[derive(Serialize)]
    struct Item<'a> {
        path: &'a str,
        line: u64,
        text: &'a str,
    }

    fn check(path: &str, line: u64, text: &str) {
        let mut out = "before".to_owned();
        let members = [
            ("path", Value::Text(path)),
            ("line", Value::Number(line)),
            ("text", Value::Text(text)),
        ];
        let doubled = append(&mut out, &members);
        let item = &out["before".len()..];
        assert_eq!(item, json::text(&Item { path, line, text }));
        assert_eq!(item.len() + doubled, json::quoted_len(item));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn the_bytes_are_those_of_the_contract(
            path in "[a-z/\\\\\"]{0,40}",
            line: u64,
            text in "(?s:[a-z \n\"\\\\\u{0}-\u{1f}\u{7f}€\u{2027}-\u{202a}🙂é]|.){0,80}",
        ) {
            check(&path, line, &text);
        }
    }

    #[test]
    fn every_character_near_the_special_ones() {
        for character in ('\0'..='\u{ff}').chain('\u{1fff}'..='\u{2100}') {
            for before in [0, 1, 14, 15, 16, 17, 31, 32] {
                let text = format!("{}{character}x", "a".repeat(before));
                check(&text, 0, &text.repeat(3));
            }
        }
        for number in [0, 9, 10, 99, 100, u64::MAX] {
            check("", number, "");
        }
    }
}
