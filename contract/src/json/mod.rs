//! JSON text as this project writes it: one line, and no raw character that a
//! client might take for the end of a line. It knows no message and no tool.

#[cfg(any(test, all(target_arch = "wasm32", target_feature = "simd128")))]
mod blocks;
mod escape;
mod quote;

use std::io;

use serde::Serialize;
use serde_json::ser::Formatter;

pub use self::quote::{quote, requote};

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
    let mut bytes = Vec::new();
    let mut serializer = serde_json::Serializer::with_formatter(&mut bytes, OneLine);
    let serialized = value.serialize(&mut serializer).is_ok();
    // serde_json writes UTF-8 only, so nothing is ever lost here.
    out.push_str(match str::from_utf8(&bytes) {
        Ok(json) if serialized => json,
        _ => "null",
    });
}

/// `value` as one line of JSON.
pub fn text<T: ?Sized + Serialize>(value: &T) -> String {
    let mut out = String::new();
    append(&mut out, value);
    out
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
