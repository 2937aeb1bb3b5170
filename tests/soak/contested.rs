//! The part of the root that somebody else changes while calls go to it. What
//! such a call answers cannot be known, only what it may not be: malformed,
//! about another path, or with a content that nobody put there.

use serde_json::Value;

use super::model::{is_hidden, parent};
use super::texts;
use crate::harness::{Answer, sha256};

/// The directory that is changed.
pub(super) const DIRECTORY: &str = "adv";

/// How files and links begin that come and go at the top of the root, beside what is not touched.
pub(super) const BESIDE: &str = "x-";

/// A directory with two files that nobody changes at all.
pub(super) const STILL: &str = "still";

/// What the adversary writes begins so, line by line, and what the client writes here.
pub(super) const LINES: [&str; 2] = ["inside ", "client "];

/// The directories in [`DIRECTORY`], and the links that are swapped for them.
pub(super) const NAMES: [&str; 5] = ["d0", "d1", "d2", "l0", "l1"];

/// The files in each of them; the links lead to directories that have such files too.
pub(super) const FILES: [&str; 4] = ["f0.txt", "f1.md", "f2.txt", "s"];

/// A call for something in this part.
#[derive(Debug)]
pub(super) struct Contested {
    pub(super) tool: &'static str,
    pub(super) path: String,
    /// What it writes.
    pub(super) content: Option<String>,
}

/// Whether a client may see this path here.
pub(super) fn is_path(path: &str) -> bool {
    let known = path.starts_with(BESIDE)
        || [DIRECTORY, STILL].iter().any(|directory| {
            let rest = path.strip_prefix(directory);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        });
    known && !is_hidden(path)
}

/// Whether all of it was written by the adversary or the client.
fn is_known(text: &str) -> bool {
    text.lines()
        .all(|line| LINES.iter().any(|known| line.starts_with(known)))
}

impl Contested {
    /// # Errors
    /// What is wrong with the answer.
    pub(super) fn judge(&self, answer: &Answer) -> Result<(), String> {
        if answer.0.json["result"]["isError"] == true {
            return match texts::is_contested(answer.refusal()) {
                true => Ok(()),
                false => Err("a refusal that is not for this".to_owned()),
            };
        }
        let value = answer.value();
        let right = match self.tool {
            "list_directory" => self.all(&value["items"], |item| {
                item["path"]
                    .as_str()
                    .is_some_and(|path| parent(path) == self.path && is_path(path))
            }),
            "search_text" => self.all(&value["items"], |item| {
                self.is_below(&item["path"]) && item["text"].as_str().is_some_and(is_known)
            }),
            "read_text_file" => is_known(&answer.text()),
            "read_file" => self.is_whole(answer.said()),
            "search_in_file" => self.all(&value["files"], |file| {
                self.is_below(&file["path"])
                    && self.all(&file["matches"], |hit| {
                        let lines = [&hit["before"], &hit["after"]];
                        let around = |lines: &Value| {
                            self.all(lines, |line| line.as_str().is_some_and(is_known))
                        };
                        hit["text"].as_str().is_some_and(is_known) && lines.into_iter().all(around)
                    })
            }),
            "write_file" | "write_text_file" => {
                let content = self.content.as_deref().unwrap_or_default();
                value["path"] == self.path
                    && value["bytes"] == content.len()
                    && answer.hash() == sha256(content)
            }
            "create_directory" | "delete_file" | "delete_directory" => value["path"] == self.path,
            _ => false,
        };
        match right {
            true => Ok(()),
            false => Err("not what may be there".to_owned()),
        }
    }

    fn all(&self, list: &Value, right: impl Fn(&Value) -> bool) -> bool {
        list.as_array().is_some_and(|list| list.iter().all(right))
    }

    /// Whether this is the path itself or one below it.
    fn is_below(&self, path: &Value) -> bool {
        path.as_str().is_some_and(|path| {
            let rest = path.strip_prefix(&self.path);
            is_path(path) && rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        })
    }

    /// Whether the line before a content is that of this content.
    fn is_whole(&self, said: &str) -> bool {
        said.split_once("\n\n").is_some_and(|(header, content)| {
            let (path, bytes, hash) = (&self.path, content.len(), sha256(content));
            is_known(content) && header == format!("Content of {path} ({bytes} bytes, {hash}):")
        })
    }
}
