//! Makes up calls, good and bad, of every tool, and says what each must answer
//! at its place in the line. The model is ahead of the server: it is as the
//! calls that were made up so far will leave the disk. Here is what all of them
//! have in common, and what goes to the part that is contested.

use std::collections::VecDeque;

use serde_json::{Value, json};

use super::content::Contents;
use super::contested::{BESIDE, Contested, DIRECTORY, FILES, LINES, NAMES};
use super::expected::Expected;
use super::model::{Model, OWN};
use super::pages::Saved;
use super::random::Random;
use super::wrong;
use crate::harness::call;

/// How many cursors are kept for later.
const CURSORS: usize = 64;

/// The tools that take a path.
const TOOLS: [&str; 10] = [
    "list_directory",
    "search_text",
    "read_text_file",
    "write_text_file",
    "read_file",
    "write_file",
    "create_directory",
    "delete_file",
    "delete_directory",
    "search_in_file",
];

/// A request and what must come of it.
pub(super) struct Step {
    pub(super) message: Value,
    pub(super) expected: Expected,
    /// What it leaves does not depend on whether it ran: it may be cancelled.
    pub(super) may_be_cancelled: bool,
}

/// What a path should lead to.
#[derive(Clone, Copy, Debug)]
pub(super) enum Wanted {
    File,
    Directory,
}

/// Makes up one call after the other.
pub(super) struct Generator {
    pub(super) random: Random,
    pub(super) model: Model,
    pub(super) contents: Contents,
    pub(super) saved: VecDeque<Saved>,
    /// For some time nothing changes but what is contested, and traversals are followed.
    pub(super) calm: bool,
    serial: u64,
}

impl Generator {
    pub(super) fn new(seed: u64, model: Model) -> Self {
        Self {
            random: Random::new(seed),
            model,
            contents: Contents::default(),
            saved: VecDeque::new(),
            calm: false,
            serial: 0,
        }
    }

    /// Keeps a cursor for a later call.
    pub(super) fn keep(&mut self, saved: Saved) {
        self.saved.push_back(saved);
        if self.saved.len() > CURSORS {
            self.saved.pop_front();
        }
    }

    /// An id that no request has that may still be answered: strings and numbers in turn.
    pub(super) fn id(&mut self) -> Value {
        self.serial += 1;
        // Far more than are in flight, and few enough to be remembered by the harness.
        let number = self.serial % 10_000;
        match number % 3 {
            0 => json!(number),
            _ => json!(format!("{number}")),
        }
    }

    /// The next call.
    pub(super) fn next(&mut self) -> Step {
        match self.random.below(100) {
            20..70 if self.calm => self.follow(),
            60.. if self.calm => self.read(),
            0..5 => {
                let id = self.id();
                let (message, expected) = wrong::step(&mut self.random, id);
                Step {
                    message,
                    expected,
                    may_be_cancelled: false,
                }
            }
            5..27 => self.contested(),
            27..40 => self.follow(),
            40..60 => self.read(),
            60..72 => self.read_workspace(),
            _ => self.change(),
        }
    }

    pub(super) fn step(
        &mut self,
        tool: &'static str,
        arguments: Value,
        expected: Expected,
    ) -> Step {
        let message = call(self.id(), tool, arguments);
        Step {
            message,
            expected,
            may_be_cancelled: true,
        }
    }

    /// A path of the part that the client alone changes: mostly one that is there, and is `wanted`.
    pub(super) fn path(&mut self, wanted: Wanted) -> String {
        let known: Vec<&str> = match wanted {
            Wanted::File => self.model.files("").map(|(path, _)| path).collect(),
            // Never the directory of all, which would leave nothing to try.
            Wanted::Directory => self.model.directories(OWN).collect(),
        };
        let known = match known.is_empty() {
            true => OWN,
            false => *self.random.pick(&known),
        };
        match self.random.below(20) {
            0..12 if known != OWN => known.to_owned(),
            12 => format!("{known}/x"),
            13 => format!("{known}/hid-9"),
            14 => format!("{OWN}/.env"),
            15 => {
                let any: Vec<&str> = self.model.paths().filter(|path| *path != OWN).collect();
                (*self.random.pick(&any)).to_owned()
            }
            16..18 => self.directory(),
            _ => self.file(),
        }
    }

    /// The name of a directory, which need not be there.
    pub(super) fn directory(&mut self) -> String {
        let mut path = OWN.to_owned();
        for _ in 0..1 + self.random.below(3) {
            let name = *self.random.pick(&["a", "b é", "c"]);
            path.push('/');
            path.push_str(name);
        }
        path
    }

    /// The name of a file, which need not be there.
    pub(super) fn file(&mut self) -> String {
        let directory = match self.random.percent(10) {
            true => OWN.to_owned(),
            false => self.directory(),
        };
        let name = self.random.pick(&["f0.txt", "f1.md", "f2.TXT", "f3.bin"]);
        format!("{directory}/{name}")
    }

    /// Another spelling of a path.
    pub(super) fn spelled(&mut self, path: &str) -> String {
        match self.random.below(12) {
            0 if path.is_empty() => "./".to_owned(),
            1 if path.is_empty() => "/".to_owned(),
            0 => format!("{path}/"),
            1 => path.replace('/', "//"),
            _ => path.to_owned(),
        }
    }

    /// A call for the part that somebody else changes.
    fn contested(&mut self) -> Step {
        let name = *self.random.pick(&NAMES);
        let file = *self.random.pick(&FILES);
        let tool = *self.random.pick(&TOOLS);
        let is_directory = tool.ends_with("directory") && self.random.percent(70);
        let path = match self.random.below(10) {
            // Whoever changes it stands in it, so it stays.
            0 if tool != "delete_directory" => DIRECTORY.to_owned(),
            _ if tool == "write_text_file" => format!("{BESIDE}{}", self.random.below(4)),
            0..8 if is_directory => format!("{DIRECTORY}/{name}"),
            0..6 => format!("{DIRECTORY}/{name}/{file}"),
            6 => format!("{DIRECTORY}/{name}/s/f0.txt"),
            7 => format!("{DIRECTORY}/{name}/hid-{}", self.random.below(2)),
            _ => format!("{BESIDE}{}", self.random.below(4)),
        };
        let mut arguments = json!({"path": path});
        let mut written = None;
        match tool {
            "search_text" => arguments["query"] = json!("i"),
            "search_in_file" => arguments["search_string"] = json!("I"),
            "delete_directory" => arguments["force"] = json!(self.random.percent(60)),
            "write_text_file" | "write_file" => {
                let line = format!("{}{}\n", LINES[1], self.random.below(100));
                let content = line.repeat(self.random.below(20));
                arguments["content"] = json!(content);
                written = Some(content);
            }
            _ => {}
        }
        let contested = Contested {
            tool,
            path,
            content: written,
        };
        self.step(tool, arguments, Expected::Contested(contested))
    }
}
