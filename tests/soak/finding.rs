//! What search_in_file must answer: each line that matches with the lines
//! around it, and the text that is made of that. What is looked for stands only
//! in files of the client, so of the rest of the root nothing but counts shows.

use serde_json::{Value, json};

use super::listing::counted;
use super::model::{File, Model, Place};
use super::texts;
use super::traversal::lines;
use crate::harness::Answer;

/// A NUL among so many bytes at the beginning makes a file a binary one.
const BINARY_BYTES: usize = 8 << 10;
/// A shorter answer, in bytes, shows everything; see the default of --max-result-bytes.
const FULL: usize = 32_000;

/// The arguments of a call.
#[derive(Clone, Debug)]
pub(super) struct Asked {
    pub(super) path: String,
    pub(super) text: String,
    pub(super) context: usize,
    pub(super) most: usize,
    pub(super) case_sensitive: bool,
}

/// The answer that must come.
#[derive(Debug)]
pub(super) struct Found {
    most: usize,
    files: Vec<Value>,
    /// Members beside `files`; of what is in other people's files only the least.
    searched: u64,
    binary: u64,
    not_utf8: u64,
    /// All of the root was searched.
    shared: bool,
}

impl Asked {
    pub(super) fn arguments(&self) -> Value {
        json!({
            "path": self.path,
            "search_string": self.text,
            "context_lines": self.context,
            "max_matches": self.most,
            "case_sensitive": self.case_sensitive,
        })
    }

    /// What a call must answer now.
    ///
    /// # Errors
    /// The text of a refusal.
    pub(super) fn expect(&self, model: &Model) -> Result<Found, &'static str> {
        let scope: Vec<(&str, &File)> = match model.place(&self.path) {
            Place::Root | Place::Directory => model.files(&self.path).collect(),
            Place::File(file) => vec![(&self.path, file)],
            Place::Hidden => return Err(texts::NOT_SERVED),
            Place::Special | Place::Missing => return Err(texts::MISSING),
        };
        let mut found = Found {
            most: self.most,
            files: Vec::new(),
            searched: 0,
            binary: 0,
            not_utf8: 0,
            shared: self.path.is_empty(),
        };
        for (path, file) in scope {
            let beginning = file.content.iter().take(BINARY_BYTES);
            if beginning.into_iter().any(|byte| *byte == 0) {
                found.binary += 1;
                continue;
            }
            let lines = lines(&file.content);
            found.searched += 1;
            found.not_utf8 += lines.iter().filter(|line| line.is_none()).count() as u64;
            let hits: Vec<usize> = (0..lines.len())
                .filter(|&at| lines[at].is_some_and(|line| self.matches(line)))
                .collect();
            if !hits.is_empty() {
                let matches = self.around(&lines, &hits);
                found
                    .files
                    .push(json!({"path": path, "matches_total": hits.len(), "matches": matches}));
            }
        }
        Ok(found)
    }

    fn matches(&self, line: &str) -> bool {
        match self.case_sensitive {
            true => line.contains(&self.text),
            // Nothing but ASCII letters has another case in these files.
            false => line
                .to_ascii_lowercase()
                .contains(&self.text.to_ascii_lowercase()),
        }
    }

    /// The first matches, each with the lines around it that nothing before has shown.
    fn around(&self, lines: &[Option<&str>], hits: &[usize]) -> Vec<Value> {
        let mut floor = 0;
        let mut matches = Vec::new();
        for (index, &hit) in hits.iter().take(self.most).enumerate() {
            let first = floor.max(hit.saturating_sub(self.context));
            let next = hits.get(index + 1).copied().unwrap_or(lines.len());
            let end = next.min(hit + 1 + self.context);
            matches.push(json!({
                "line": hit + 1,
                "text": lines[hit],
                "cut": false,
                "before": lines[first..hit],
                "after": lines[hit + 1..end],
            }));
            floor = end;
        }
        matches
    }
}

impl Found {
    /// # Errors
    /// What is wrong with the answer.
    pub(super) fn judge(&self, answer: &Answer) -> Result<(), String> {
        let value = answer.value();
        let files = value["files"].as_array().ok_or("no files")?;
        let truncated = value["truncated"] == true;
        if truncated && answer.0.line.len() < FULL {
            return Err("cut, with room for more".to_owned());
        }
        if !truncated && *files != self.files {
            return Err(format!("other matches than {:?}", self.files));
        }
        let shown = flat(files);
        if flat(&self.files).get(..shown.len()) != Some(&shown) {
            return Err(format!("other matches than the first of {:?}", self.files));
        }
        let number = |name: &str| value[name].as_u64().unwrap_or(u64::MAX);
        let skipped = |name: &str| value["skipped"][name].as_u64().unwrap_or(u64::MAX);
        let total: u64 = self
            .files
            .iter()
            .filter_map(|file| file["matches_total"].as_u64())
            .sum();
        let searched = match self.shared {
            true => number("files_searched") >= self.searched,
            false => number("files_searched") == self.searched,
        };
        let exact = [
            (number("matches_total"), total),
            (number("files_with_matches"), self.files.len() as u64),
            (number("matches_shown"), shown.len() as u64),
            (skipped("files_binary"), self.binary),
            (skipped("lines_not_utf8"), self.not_utf8),
            (skipped("files_too_large"), 0),
            (skipped("files_past_budget"), 0),
            (skipped("directories_too_deep"), 0),
            (skipped("directories_past_entries"), 0),
        ];
        let unreadable = skipped("files_unreadable") + skipped("directories_unreadable");
        if !searched
            || exact.iter().any(|(is, must)| is != must)
            || (unreadable > 0 && !self.shared)
        {
            return Err(format!(
                "other counts than {exact:?}, {} searched",
                self.searched
            ));
        }
        let text = self.text(value);
        match answer.said() == text {
            true => Ok(()),
            false => Err(format!("the text is not {text}")),
        }
    }

    /// The text for this structured answer.
    fn text(&self, value: &Value) -> String {
        let number = |name: &str| value[name].as_u64().unwrap_or_default();
        let files = |number| counted(number, ["file", "files"]);
        let matches = |number| counted(number, ["match", "matches"]);
        let mut text = match number("matches_total") {
            0 => "No match".to_owned(),
            total => format!(
                "{} in {}",
                matches(total),
                files(number("files_with_matches"))
            ),
        };
        text.push_str(&format!("; {} searched", files(number("files_searched"))));
        if number("matches_shown") < number("matches_total") {
            text.push_str(&format!("; {} shown", matches(number("matches_shown"))));
        }
        if value["truncated"] == true {
            text.push_str(", for more do not fit one answer: narrow path or search_string, or show fewer context_lines");
        }
        for (name, before, nouns, after) in [
            (
                "files_binary",
                "skipped ",
                ["binary file", "binary files"],
                "",
            ),
            (
                "files_unreadable",
                "skipped ",
                ["unreadable file", "unreadable files"],
                "",
            ),
            (
                "lines_not_utf8",
                "skipped ",
                ["line that is not UTF-8", "lines that are not UTF-8"],
                "",
            ),
            (
                "directories_unreadable",
                "",
                ["directory", "directories"],
                " could not be read",
            ),
        ] {
            let skipped = value["skipped"][name].as_u64().unwrap_or_default();
            if skipped > 0 {
                text.push_str(&format!("; {before}{}{after}", counted(skipped, nouns)));
            }
        }
        for file in value["files"].as_array().into_iter().flatten() {
            let total = file["matches_total"].as_u64().unwrap_or_default();
            let path = file["path"].as_str().unwrap_or_default();
            text.push_str(&format!("\n\n{path} ({}", matches(total)));
            if total > self.most as u64 {
                text.push_str(&format!(", the first {} shown", self.most));
            }
            text.push_str("):");
            excerpts(&mut text, file);
        }
        text
    }
}

fn excerpts(text: &mut String, file: &Value) {
    let mut end = None;
    for hit in file["matches"].as_array().into_iter().flatten() {
        let line = hit["line"].as_u64().unwrap_or_default();
        let list = |name: &str| hit[name].as_array().cloned().unwrap_or_default();
        let (before, after) = (list("before"), list("after"));
        let first = line - before.len() as u64;
        if end.is_some_and(|end| end < first) {
            text.push_str("\n--");
        }
        for (shown, number) in before.iter().zip(first..) {
            row(text, "   ", number, shown);
        }
        row(text, ">>>", line, &hit["text"]);
        for (shown, number) in after.iter().zip(line + 1..) {
            row(text, "   ", number, shown);
        }
        end = Some(line + 1 + after.len() as u64);
    }
}

fn row(text: &mut String, mark: &str, number: u64, line: &Value) {
    let shown = line.as_str().unwrap_or("(not UTF-8)");
    text.push_str(&format!("\n{mark} {number:>4} | {shown}"));
}

/// Every match as its path, its line and its text.
fn flat(files: &[Value]) -> Vec<[&Value; 3]> {
    let matches = |file: &'_ Value| file["matches"].as_array().map_or(0, Vec::len);
    files
        .iter()
        .flat_map(|file| {
            (0..matches(file)).map(move |at| {
                let hit = &file["matches"][at];
                [&file["path"], &hit["line"], &hit["text"]]
            })
        })
        .collect()
}
