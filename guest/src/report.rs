//! An answer in two forms that fits the result limit: text for a reader, and
//! the same as JSON. Both grow piece by piece, a piece goes into both or into
//! neither. It knows how the host wraps a result, and nothing of what is told.

use std::borrow::Cow;

use preopen_contract::json;

use crate::page::ENVELOPE;
use crate::tools::Answer;

/// What the summary and the members behind the pieces may cost, in bytes of the result.
pub(crate) const CLOSING: usize = 3 << 10;

/// An answer that is being made.
pub(crate) struct Report {
    text: String,
    json: String,
    /// What may still be added, in bytes of the result.
    left: usize,
    scratch: String,
}

impl Report {
    /// An answer whose result takes at most `max_bytes`; its JSON begins with `json`.
    pub(crate) fn new(json: &str, max_bytes: u64) -> Self {
        let max_bytes = usize::try_from(max_bytes).unwrap_or(usize::MAX);
        Self {
            text: String::new(),
            json: json.to_owned(),
            left: max_bytes.saturating_sub(ENVELOPE + CLOSING + json.len()),
            scratch: String::new(),
        }
    }

    /// Adds a piece, if there is room for it and for `more` bytes of JSON that will belong to it.
    pub(crate) fn push(&mut self, text: &str, json: &str, more: usize) -> bool {
        let cost = self.quoted_len(text) + json.len() + more;
        let Some(left) = self.left.checked_sub(cost) else {
            return false;
        };
        self.left = left;
        self.text.push_str(text);
        self.json.push_str(json);
        true
    }

    /// Adds JSON that was accounted for.
    pub(crate) fn close(&mut self, json: &str) {
        self.json.push_str(json);
    }

    /// What may still be added, in bytes of the result.
    pub(crate) const fn left(&self) -> usize {
        self.left
    }

    /// Keeps `bytes` of what is left for later; [`Self::release`] gives them back.
    pub(crate) fn withhold(&mut self, bytes: usize) -> usize {
        let kept = bytes.min(self.left);
        self.left -= kept;
        kept
    }

    /// Gives back what [`Self::withhold`] has kept.
    pub(crate) const fn release(&mut self, bytes: usize) {
        self.left += bytes;
    }

    /// The answer: `summary` is the first line of its text, `json` ends its JSON. Together they are
    /// within [`CLOSING`].
    pub(crate) fn finish(self, summary: &str, json: &str) -> Answer {
        let mut text = String::with_capacity(summary.len() + 1 + self.text.len());
        text.push_str(summary);
        if !self.text.is_empty() {
            text.push('\n');
            text.push_str(self.text.strip_suffix('\n').unwrap_or(&self.text));
        }
        let mut structured = self.json;
        structured.push_str(json);
        Answer {
            structured: Some(structured),
            text: Some(text),
            unhashed: None,
        }
    }

    /// What `text` takes inside a JSON string.
    fn quoted_len(&mut self, text: &str) -> usize {
        self.scratch.clear();
        json::quote(&mut self.scratch, text);
        self.scratch.len() - 2
    }
}

/// `name` so that it cannot be taken for more than one line: control characters stand as escapes.
/// No name holds a backslash, so each escape is one.
pub(crate) fn one_line(name: &str) -> Cow<'_, str> {
    if !name.contains(|character: char| is_shown_escaped(character)) {
        return Cow::Borrowed(name);
    }
    let mut shown = String::with_capacity(2 * name.len());
    for character in name.chars() {
        match is_shown_escaped(character) {
            true => shown.extend(character.escape_default()),
            false => shown.push(character),
        }
    }
    Cow::Owned(shown)
}

fn is_shown_escaped(character: char) -> bool {
    character.is_control() || matches!(character, '\u{2028}' | '\u{2029}')
}

/// `number` and what it counts: `1 file`, `2 files`.
pub(crate) fn counted(number: u64, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}

#[cfg(test)]
mod tests {
    use preopen_contract::json;
    use proptest::prelude::*;

    use super::{CLOSING, Report, counted, one_line};

    /// The result as the host writes it.
    fn result(structured: &str, text: &str) -> String {
        let text = json::text(text);
        format!(
            r#"{{"content":[{{"type":"text","text":{text}}}],"structuredContent":{structured},"isError":false,"resultType":"complete","_meta":{{"io.modelcontextprotocol/serverInfo":{{"name":"preopen-mcp","version":"100.100.100"}}}}}}"#
        )
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn what_is_taken_fits_the_limit(
            pieces in prop::collection::vec("(?s:.){0,300}", 0..200),
            max_bytes in 32_768_u64..60_000,
        ) {
            let mut report = Report::new("[", max_bytes);
            let mut taken = Vec::new();
            for piece in &pieces {
                let mut quoted = String::new();
                json::quote(&mut quoted, piece);
                quoted.push(',');
                if report.push(&format!("{piece}\n"), &quoted, 0) {
                    taken.push(piece.as_str());
                }
            }
            let summary = "\"".repeat(CLOSING / 2 - 4);
            let answer = report.finish(&summary, "null]");
            let (structured, text) = (answer.structured.expect("JSON"), answer.text.expect("text"));
            prop_assert!(result(&structured, &text).len() as u64 <= max_bytes);
            let mut told: Vec<Option<String>> = serde_json::from_str(&structured).expect("JSON");
            prop_assert_eq!(told.pop(), Some(None));
            let told: Vec<&str> = told.iter().flatten().map(String::as_str).collect();
            prop_assert_eq!(told, taken);
        }
    }

    #[test]
    fn what_is_withheld_comes_back() {
        let mut report = Report::new("[", 40_000);
        let left = report.left();
        let kept = report.withhold(left - 10);
        assert!(!report.push("123456789", "12", 0));
        assert!(report.push("1234", "12", 4));
        report.release(kept);
        assert_eq!(report.left(), left - 10);
        assert_eq!(report.withhold(usize::MAX), left - 10);
    }

    #[test]
    fn a_name_is_one_line() {
        assert_eq!(one_line("a b é 界.txt"), "a b é 界.txt");
        assert_eq!(
            one_line("a\nFILE: b\r\t\u{7f}\u{2028}é"),
            "a\\nFILE: b\\r\\t\\u{7f}\\u{2028}é"
        );
    }

    #[test]
    fn one_is_not_many() {
        assert_eq!(counted(1, "file", "files"), "1 file");
        assert_eq!(counted(0, "file", "files"), "0 files");
    }
}
