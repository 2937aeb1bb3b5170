//! What list_files must answer. It always speaks of the whole root, so what
//! somebody else changes stands in it too; the rest is exact.

use serde_json::{Value, json};

use super::contested;
use super::model::{Model, OWN, name, parent};
use crate::harness::Answer;

/// The arguments of a call.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asked {
    /// One extension in lower case, with its dot, or all files.
    pub(super) extension: Option<&'static str>,
    pub(super) recursive: bool,
    pub(super) show_empty: bool,
}

/// What must stand in the answer, of the part that the client alone changes.
#[derive(Debug)]
pub(super) struct Listing {
    directories: Vec<String>,
    files: Vec<String>,
}

impl Asked {
    pub(super) fn arguments(self) -> Value {
        let extensions: Vec<&str> = self.extension.into_iter().collect();
        json!({"extensions": extensions, "recursive": self.recursive, "show_empty_dirs": self.show_empty})
    }

    fn selects(self, path: &str) -> bool {
        let name = name(path).to_lowercase();
        self.extension
            .is_none_or(|extension| name.len() > extension.len() && name.ends_with(extension))
    }

    /// What a call must answer now.
    pub(super) fn expect(self, model: &Model) -> Listing {
        let shown = |path: &str| self.recursive || parent(path).is_empty();
        let holds = |directory: &str| model.files(directory).any(|(file, _)| self.selects(file));
        let directories = model
            .directories("")
            .filter(|directory| shown(directory) && (self.show_empty || holds(directory)));
        let files = model
            .files("")
            .map(|(file, _)| file)
            .filter(|file| shown(file) && self.selects(file));
        Listing {
            directories: directories.map(str::to_owned).collect(),
            files: files.map(str::to_owned).collect(),
        }
    }
}

impl Listing {
    /// # Errors
    /// What is wrong with the answer.
    pub(super) fn judge(&self, answer: &Answer) -> Result<(), String> {
        let value = answer.value();
        let (mut counts, mut lines) = (Vec::new(), String::new());
        for (list, total, kind, expected, nouns) in [
            (
                "directories",
                "directories_total",
                "DIR: ",
                &self.directories,
                ["directory", "directories"],
            ),
            (
                "files",
                "files_total",
                "FILE:",
                &self.files,
                ["file", "files"],
            ),
        ] {
            let paths: Vec<&str> = value[list]
                .as_array()
                .into_iter()
                .flatten()
                .filter_map(Value::as_str)
                .collect();
            if value[total] != paths.len() || !paths.is_sorted_by(|one, other| one < other) {
                return Err(format!("{list} are not in order, or not {total}"));
            }
            let own: Vec<&str> = paths
                .iter()
                .copied()
                .filter(|path| path.starts_with(OWN))
                .collect();
            if own != *expected {
                return Err(format!("other {list} than {expected:?}"));
            }
            let mut others = paths.iter().filter(|path| !path.starts_with(OWN));
            if let Some(path) = others.find(|path| !contested::is_path(path)) {
                return Err(format!("what is {path}?"));
            }
            for path in &paths {
                lines.push_str(&format!("\n{kind} {path}"));
            }
            counts.push(counted(paths.len() as u64, nouns));
        }
        // Only what somebody else changes can be out of reach.
        let unreadable = value["skipped"]["unreadable"].as_u64().unwrap_or_default();
        if unreadable > 0 {
            lines.insert_str(
                0,
                &format!(
                    "; {} could not be read",
                    counted(unreadable, ["directory", "directories"])
                ),
            );
        }
        let skipped = json!({"unreadable": unreadable, "too_deep": 0, "past_entries": 0});
        if value["truncated"] != false || value["skipped"] != skipped {
            return Err("something was left out".to_owned());
        }
        let text = format!("{}{lines}", counts.join(", "));
        match answer.said() == text {
            true => Ok(()),
            false => Err(format!("the text is not {text}")),
        }
    }
}

/// `number` and what it counts.
pub(super) fn counted(number: u64, [one, many]: [&str; 2]) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}
