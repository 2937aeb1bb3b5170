//! What search_in_file has found so far, and the answer that comes of it: text
//! for a reader and the same as JSON, as much as fits. It knows no file.

use std::fmt::Write;

use preopen_contract::json::quote;
use preopen_contract::limits::Limits as Table;
use serde_json::json;

use crate::bindings::exports::preopen::mcp::tools::Limits;
use crate::excerpts::{Excerpt, Line};
use crate::hits::Hits;
use crate::lines::Shown;
use crate::report::{Report, counted, one_line};
use crate::survey::Unseen;
use crate::tools::Answer;
use crate::tools::workspace::list_files::told;

/// What ends the JSON of a file.
const FILE_END: &str = "]}";

/// The matches that are shown, and the count of everything.
pub(super) struct Found {
    report: Report,
    /// A match did not fit; nothing more is shown.
    full: bool,
    matches: u64,
    shown: u64,
    with_matches: u64,
    searched: u64,
    lines_not_utf8: u64,
    pub(super) binary: u64,
    pub(super) too_large: u64,
    pub(super) unreadable: u64,
    /// Files left when the budget was used up.
    pub(super) not_searched: u64,
    pub(super) unseen: Unseen,
    /// The budget, in bytes.
    max_scan_bytes: u64,
}

impl Found {
    pub(super) fn new(limits: &Limits) -> Self {
        Self {
            report: Report::new(r#"{"files":["#, limits.max_result_bytes),
            full: false,
            matches: 0,
            shown: 0,
            with_matches: 0,
            searched: 0,
            lines_not_utf8: 0,
            binary: 0,
            too_large: 0,
            unreadable: 0,
            not_searched: 0,
            unseen: Unseen::default(),
            max_scan_bytes: limits.max_scan_bytes,
        }
    }

    /// How many bytes of text could still be shown.
    pub(super) const fn room(&self) -> usize {
        match self.full {
            true => 0,
            false => self.report.left(),
        }
    }

    /// Adds a file that was searched; `most` matches of it were to be shown.
    pub(super) fn add(&mut self, path: &str, hits: &Hits, excerpts: &[Excerpt], most: usize) {
        match hits.cut {
            true => self.not_searched += 1,
            false => self.searched += 1,
        }
        self.lines_not_utf8 += hits.not_utf8;
        self.matches += hits.total;
        self.with_matches += u64::from(hits.total > 0);
        if hits.total == 0 || self.full {
            return;
        }
        let mut text = format!(
            "\n{} ({}",
            one_line(path),
            counted(hits.total, "match", "matches")
        );
        if hits.total > most as u64 {
            // It is known at once, and does not wait for what fits.
            text.push_str(&format!(", the first {most} shown"));
        }
        text.push_str("):\n");
        let mut json = String::new();
        if self.shown > 0 {
            json.push(',');
        }
        json.push_str(r#"{"path":"#);
        quote(&mut json, path);
        json.push_str(&format!(r#","matches_total":{},"matches":["#, hits.total));

        let before = self.shown;
        let mut end = None;
        for excerpt in excerpts {
            if end.is_some() {
                json.push(',');
            }
            if !self.push(&mut text, &mut json, excerpt, end) {
                self.full = true;
                break;
            }
            end = Some(excerpt.end());
        }
        // What the excerpts were cut to is what fits, so that some are missing says it too.
        self.full |= (self.shown - before) < hits.total.min(most as u64);
        if self.shown > before {
            self.report.close(FILE_END);
        }
    }

    /// Adds one match behind `text` and `json`, which are taken with it: whole, or if it does not
    /// fit as the line alone. `end` is the number of the line behind what the file shows so far.
    /// False if something is missing.
    fn push(
        &mut self,
        text: &mut String,
        json: &mut String,
        excerpt: &Excerpt,
        end: Option<u64>,
    ) -> bool {
        let (before_text, before_json) = (text.len(), json.len());
        append(text, json, excerpt, end);
        let mut whole = true;
        let mut taken = self.report.push(text, json, FILE_END.len());
        if !taken {
            whole = false;
            text.truncate(before_text);
            json.truncate(before_json);
            let alone = Excerpt {
                number: excerpt.number,
                line: excerpt.line.clone(),
                before: Vec::new(),
                after: Vec::new(),
            };
            append(text, json, &alone, end);
            taken = self.report.push(text, json, FILE_END.len());
        }
        text.clear();
        json.clear();
        self.shown += u64::from(taken);
        taken && whole
    }

    /// The answer.
    pub(super) fn answer(self) -> Answer {
        let cut = self.not_searched > 0 || self.unseen.cut();
        let truncated = cut || self.full;
        let summary = self.summary(cut);
        let skipped = json!({
            "files_binary": self.binary,
            "files_too_large": self.too_large,
            "files_unreadable": self.unreadable,
            "files_past_budget": self.not_searched,
            "lines_not_utf8": self.lines_not_utf8,
            "directories_unreadable": self.unseen.unreadable,
            "directories_too_deep": self.unseen.too_deep,
            "directories_past_entries": self.unseen.past_entries,
        });
        let Self {
            matches,
            shown,
            with_matches,
            searched,
            ..
        } = self;
        self.report.finish(
            &summary,
            &format!(
                r#"],"matches_total":{matches},"matches_shown":{shown},"files_with_matches":{with_matches},"files_searched":{searched},"truncated":{truncated},"skipped":{skipped}}}"#
            ),
        )
    }

    /// The first line of the text. `cut`: not everything was searched.
    fn summary(&self, cut: bool) -> String {
        let mut summary = match self.matches {
            0 => "No match".to_owned(),
            matches => format!(
                "{}{} in {}",
                if cut { "At least " } else { "" },
                counted(matches, "match", "matches"),
                counted(self.with_matches, "file", "files")
            ),
        };
        summary.push_str(&format!(
            "; {} searched",
            counted(self.searched, "file", "files")
        ));
        if self.shown < self.matches {
            summary.push_str(&format!(
                "; {} shown",
                counted(self.shown, "match", "matches")
            ));
        }
        if self.full {
            summary.push_str(", for more do not fit one answer: narrow path or search_string, or show fewer context_lines");
        }
        if self.not_searched > 0 {
            let scanned = Table::TABLE
                .iter()
                .find(|limit| limit.flag == "max-scan-bytes")
                .map_or_else(String::new, |limit| limit.display(self.max_scan_bytes));
            summary.push_str(&format!(
                "; {} not searched to the end, for {scanned} were scanned (--max-scan-bytes): narrow path",
                counted(self.not_searched, "file", "files")
            ));
        }
        for (number, one, many) in [
            (self.binary, "binary file", "binary files"),
            (
                self.too_large,
                "file over --max-file-bytes",
                "files over --max-file-bytes",
            ),
            (self.unreadable, "unreadable file", "unreadable files"),
            (
                self.lines_not_utf8,
                "line that is not UTF-8",
                "lines that are not UTF-8",
            ),
        ] {
            if number > 0 {
                summary.push_str(&format!("; skipped {}", counted(number, one, many)));
            }
        }
        summary.push_str(&told(&self.unseen));
        summary
    }
}

/// Appends a match and what is around it, as text and as JSON.
fn append(text: &mut String, json: &mut String, excerpt: &Excerpt, end: Option<u64>) {
    let Excerpt { before, after, .. } = excerpt;
    if end.is_some_and(|end| end < excerpt.first()) {
        text.push_str("--\n");
    }
    for (line, number) in before.iter().zip(excerpt.first()..) {
        around(text, number, line);
    }
    row(text, ">>>", excerpt.number, &excerpt.line);
    for (line, number) in after.iter().zip(excerpt.number + 1..) {
        around(text, number, line);
    }

    json.push_str(&format!(r#"{{"line":{},"text":"#, excerpt.number));
    quote(json, &excerpt.line.text);
    let (left, right) = excerpt.line.cut;
    json.push_str(&format!(r#","cut":{},"before":"#, left || right));
    array(json, before);
    json.push_str(r#","after":"#);
    array(json, after);
    json.push('}');
}

fn around(text: &mut String, number: u64, line: &Line) {
    match line {
        Some(shown) => row(text, "   ", number, shown),
        None => {
            let _ = writeln!(text, "    {number:>4} | (not UTF-8)");
        }
    }
}

fn row(text: &mut String, mark: &str, number: u64, shown: &Shown) {
    let sign = |cut| if cut { "…" } else { "" };
    // A String takes whatever is written to it.
    let _ = writeln!(
        text,
        "{mark} {number:>4} | {}{}{}",
        sign(shown.cut.0),
        shown.text,
        sign(shown.cut.1)
    );
}

fn array(json: &mut String, lines: &[Line]) {
    json.push('[');
    for (index, line) in lines.iter().enumerate() {
        if index > 0 {
            json.push(',');
        }
        match line {
            Some(shown) => {
                quote(json, &shown.text);
            }
            None => json.push_str("null"),
        }
    }
    json.push(']');
}
