//! Makes up calls of the tools that read the part of the root which the client
//! alone changes: first pages, later ones by cursors that may have gone stale,
//! cursors that are none, whole files, listings and searches.

use serde_json::{Value, json};

use super::content::{base64, word};
use super::expected::Expected;
use super::generator::{Generator, Step, Wanted};
use super::model::{OWN, Place};
use super::traversal::Traversal;
use super::{finding, listing, pages, texts};
use crate::harness::sha256;

impl Generator {
    fn traversal(&mut self) -> Traversal {
        match self.random.below(10) {
            0..3 => Traversal::List { path: self.scope() },
            3..5 => Traversal::Files {
                query: (*self.random.pick(&[
                    "own",
                    "own/a",
                    "own/b é/",
                    "own-",
                    "f0",
                    ".md",
                    "a/",
                ]))
                .to_owned(),
            },
            5..8 => {
                let path = self.scope();
                let query = match self.random.percent(20) {
                    true => "quiet".to_owned(),
                    false => word(&mut self.random),
                };
                Traversal::Text { query, path }
            }
            _ => Traversal::Read {
                path: self.path(Wanted::File),
            },
        }
    }

    /// What is listed or searched: mostly a directory.
    fn scope(&mut self) -> String {
        match self.random.below(10) {
            0 => String::new(),
            1 => OWN.to_owned(),
            2..4 => self.path(Wanted::File),
            _ => self.path(Wanted::Directory),
        }
    }

    /// The first page of a reading tool of toolset core.
    pub(super) fn read(&mut self) -> Step {
        let traversal = self.traversal();
        let mut arguments = traversal.arguments();
        if let Some(path) = arguments["path"].as_str().map(str::to_owned) {
            arguments["path"] = json!(self.spelled(&path));
        }
        let mixed = traversal
            .sequence(&self.model)
            .is_ok_and(|sequence| sequence.mixed);
        let mut limit = usize::MAX;
        if !mixed && self.random.percent(60) {
            limit = 1 + self.random.below(5);
            arguments["limit"] = match self.random.below(3) {
                0 => json!(limit.to_string()),
                1 => json!(limit as f64),
                _ => json!(limit),
            };
        }
        if self.random.percent(10) {
            arguments["cursor"] = Value::Null;
        }
        let expected = pages::expect(&self.model, &traversal, limit, None);
        self.step(traversal.tool(), arguments, expected)
    }

    /// The next page of one that was answered before, or a cursor that is none.
    pub(super) fn follow(&mut self) -> Step {
        if self.saved.is_empty() {
            return self.read();
        }
        let known = self.saved.len();
        let at = match self.calm || self.random.percent(50) {
            // Those that the server may go on with where it stopped.
            true => known - 1 - self.random.below(known.min(4)),
            false => self.random.below(known),
        };
        let saved = self.saved[at].clone();
        if !self.calm && self.random.percent(50) {
            self.saved.remove(at);
        }
        let mut arguments = saved.traversal.arguments();
        arguments["cursor"] = json!(saved.cursor);
        match self.random.below(12) {
            0 => {
                let mut changed = saved.cursor.into_bytes();
                let at = self.random.below(changed.len());
                changed[at] = if changed[at] == b'A' { b'B' } else { b'A' };
                arguments["cursor"] = json!(String::from_utf8(changed).expect("ASCII"));
                let expected = Expected::Refused(texts::CURSOR.to_owned());
                self.step(saved.traversal.tool(), arguments, expected)
            }
            1 => {
                let expected = Expected::Refused(texts::OTHER_TRAVERSAL.to_owned());
                let arguments = json!({"query": "something else", "cursor": saved.cursor});
                self.step("search_files", arguments, expected)
            }
            _ => {
                let limit = 1 + self.random.below(if self.calm { 2 } else { 8 });
                arguments["limit"] = json!(limit);
                let expected = pages::expect(&self.model, &saved.traversal, limit, Some(&saved));
                self.step(saved.traversal.tool(), arguments, expected)
            }
        }
    }

    /// A reading tool of toolset workspace.
    pub(super) fn read_workspace(&mut self) -> Step {
        match self.random.below(10) {
            0..2 => {
                let asked = listing::Asked {
                    extension: *self.random.pick(&[
                        None,
                        None,
                        Some(".txt"),
                        Some(".md"),
                        Some(".nothing"),
                    ]),
                    recursive: self.random.percent(75),
                    show_empty: self.random.percent(75),
                };
                let expected = Expected::Listing(asked.expect(&self.model));
                self.step("list_files", asked.arguments(), expected)
            }
            2..6 => {
                let path = self.path(Wanted::File);
                let binary = self.random.percent(40);
                let expected = self.whole(&path, binary);
                let arguments = json!({"path": self.spelled(&path), "binary": binary});
                self.step("read_file", arguments, expected)
            }
            _ => {
                let path = self.scope();
                let text = match self.random.below(5) {
                    0 => "quiet".to_owned(),
                    1 => word(&mut self.random).to_uppercase(),
                    _ => word(&mut self.random),
                };
                let asked = finding::Asked {
                    path,
                    text,
                    context: self.random.below(4),
                    most: *self.random.pick(&[1, 3, 50]),
                    case_sensitive: self.random.percent(50),
                };
                let expected = match asked.expect(&self.model) {
                    Ok(found) => Expected::Found(found),
                    Err(refusal) => Expected::Refused(refusal.to_owned()),
                };
                self.step("search_in_file", asked.arguments(), expected)
            }
        }
    }

    /// What read_file must answer.
    fn whole(&self, path: &str, binary: bool) -> Expected {
        let content = match self.model.place(path) {
            Place::File(file) => &*file.content,
            place => return Expected::Refused(texts::no_file(place).to_owned()),
        };
        let header = format!(
            "Content of {path} ({} bytes, {}):\n\n",
            content.len(),
            sha256(content)
        );
        match (binary, str::from_utf8(content)) {
            (true, _) => Expected::Text(header + &base64(content)),
            (false, Ok(text)) => Expected::Text(header + text),
            (false, Err(error)) => Expected::Refused(format!(
                "file is not UTF-8 text (byte {}); read it with binary: true",
                error.valid_up_to()
            )),
        }
    }
}
