//! list_files: every directory and file of the root, or only its top level, by
//! path. What does not fit the answer is counted; what is kept meanwhile does
//! not grow past the answer either.

use std::collections::BinaryHeap;
use std::fmt::Write;

use preopen_contract::json::quote;
use serde_json::{Value, json};

use crate::bindings::exports::preopen::mcp::tools::Settings;
use crate::refusal::Refusal;
use crate::report::{Report, counted, one_line};
use crate::survey::{Step, Survey, Unseen};
use crate::tools::schema::annotations;
use crate::tools::{Answer, Call, Tool};

/// What an entry costs in the answer beside its path, twice, in bytes.
const ENTRY_COST: usize = 10;

pub(super) const TOOL: Tool = Tool {
    name: "list_files",
    writes: false,
    arguments: &["extensions", "recursive", "show_empty_dirs"],
    definition,
    call,
};

fn definition(_settings: &Settings) -> Value {
    let title = "List files";
    let paths = |what: &str| {
        json!({
            "type": "array",
            "items": {"type": "string"},
            "description": format!("The paths of the {what} from the root, in byte order, as far as they fit.")
        })
    };
    let count = |what: &str| json!({"type": "integer", "minimum": 0, "description": what});
    json!({
        "name": TOOL.name,
        "title": title,
        "description": "Lists the directories and files of the whole root: a line with the counts, then a line for each directory (DIR:) and each file (FILE:). What does not fit one answer is counted; extensions or recursive: false narrow it.",
        "inputSchema": {
            "type": "object",
            "properties": {
                "extensions": {
                    "type": "array",
                    "items": {"type": "string"},
                    "default": [],
                    "description": "Only files whose names end with one of these, with or without the dot, such as `rs` or `.tar.gz`; letter case is ignored. A name that is nothing but the extension has none. Empty: all files."
                },
                "recursive": {
                    "type": "boolean",
                    "default": true,
                    "description": "Whether to list what is in directories too, or only the top level of the root."
                },
                "show_empty_dirs": {
                    "type": "boolean",
                    "default": true,
                    "description": "Whether to list directories too that no listed kind of file is in, at any depth."
                }
            },
            "required": [],
            "additionalProperties": false
        },
        "outputSchema": {
            "type": "object",
            "properties": {
                "directories": paths("directories"),
                "files": paths("files"),
                "directories_total": count("How many directories there are to list."),
                "files_total": count("How many files there are to list."),
                "truncated": {
                    "type": "boolean",
                    "description": "Whether a limit of this server kept something out of the lists."
                },
                "skipped": {
                    "type": "object",
                    "description": "Directories that are listed, but were not looked into.",
                    "properties": {
                        "unreadable": count("They could not be read."),
                        "too_deep": count("They are nested too deep (--max-depth)."),
                        "past_entries": count("As many entries had been visited as may be (--max-entries).")
                    },
                    "required": ["unreadable", "too_deep", "past_entries"],
                    "additionalProperties": false
                }
            },
            "required": ["directories", "files", "directories_total", "files_total", "truncated", "skipped"],
            "additionalProperties": false
        },
        "annotations": annotations(title, true, false)
    })
}

fn call(call: &Call<'_>) -> Result<Answer, Refusal> {
    let extensions = Extensions::new(&call.arguments.strings("extensions")?);
    let recursive = call.arguments.boolean("recursive", true)?;
    let show_empty = call.arguments.boolean("show_empty_dirs", true)?;
    let limits = &call.settings.limits;

    // Whether a directory is empty, only what is in it can tell.
    let depth = match recursive || !show_empty {
        true => usize::MAX,
        false => 0,
    };
    let mut bounds = call.bounds();
    let root = call.root.asked_directory(&Default::default())?;
    let mut survey =
        Survey::new(root, "", depth, &mut bounds).map_err(|refusal| match refusal {
            Refusal::TooManyEntries(limit) => Refusal::TooManyAtTop(limit),
            refusal => refusal,
        })?;
    let room = usize::try_from(limits.max_result_bytes).unwrap_or(usize::MAX);
    let mut listing = Listing {
        directories: Least::new(room),
        files: Least::new(room),
    };
    // For each directory that was entered, whether a file that is listed lies below it.
    let mut holding = Vec::new();
    while let Some(step) = survey.next()? {
        match step {
            Step::Enter => holding.push(false),
            Step::Leave { path, seen } => {
                // What was not looked into may hold anything.
                let holds = holding.pop().unwrap_or(false) || !seen;
                if let Some(above) = holding.last_mut() {
                    *above |= holds;
                }
                if (recursive || holding.is_empty()) && (holds || show_empty) {
                    listing.directories.add(path);
                }
            }
            Step::File { path, name, .. } => {
                if extensions.select(name) {
                    if let Some(above) = holding.last_mut() {
                        *above = true;
                    }
                    if recursive || holding.is_empty() {
                        listing.files.add(path);
                    }
                }
            }
        }
    }
    let unseen = survey.unseen;
    if listing.directories.total + listing.files.total == 0 {
        call.root.serves_something()?;
    }
    Ok(listing.answer(unseen, limits.max_result_bytes))
}

/// Extensions in the form in which they are compared: a dot first, letters folded.
struct Extensions(Vec<String>);

impl Extensions {
    /// A leading dot, and `*` before it, may be there or not. One that is empty is none.
    fn new(given: &[&str]) -> Self {
        let given = given.iter().filter_map(|extension| {
            let bare = extension.strip_prefix('*').unwrap_or(extension);
            let bare = bare.strip_prefix('.').unwrap_or(bare);
            (!bare.is_empty()).then(|| folded(&format!(".{bare}")))
        });
        Self(given.collect())
    }

    fn select(&self, name: &str) -> bool {
        if self.0.is_empty() {
            return true;
        }
        let name = folded(name);
        self.0
            .iter()
            .any(|extension| name.len() > extension.len() && name.ends_with(extension.as_str()))
    }
}

fn folded(name: &str) -> String {
    name.chars().flat_map(char::to_lowercase).collect()
}

/// The first paths in byte order, as many as could fit an answer, and the number of all.
struct Least {
    kept: BinaryHeap<String>,
    total: u64,
    /// What all of them would cost in the answer.
    cost: usize,
    /// What the ones that are kept cost, and may cost.
    kept_cost: usize,
    room: usize,
}

impl Least {
    const fn new(room: usize) -> Self {
        Self {
            kept: BinaryHeap::new(),
            total: 0,
            cost: 0,
            kept_cost: 0,
            room,
        }
    }

    fn add(&mut self, path: &str) {
        let cost = cost(path);
        self.total += 1;
        self.cost = self.cost.saturating_add(cost);
        let last = self.kept.peek().map(String::as_str);
        if self.kept_cost + cost > self.room && last.is_none_or(|last| path > last) {
            return;
        }
        self.kept.push(path.to_owned());
        self.kept_cost += cost;
        while self.kept_cost > self.room
            && let Some(last) = self.kept.pop()
        {
            self.kept_cost -= self::cost(&last);
        }
    }
}

/// At least so many bytes of a result does a path cost, which stands in it twice.
const fn cost(path: &str) -> usize {
    2 * path.len() + ENTRY_COST
}

struct Listing {
    directories: Least,
    files: Least,
}

impl Listing {
    fn answer(self, unseen: Unseen, max_bytes: u64) -> Answer {
        let Self { directories, files } = self;
        let (directories_total, files_total) = (directories.total, files.total);
        let mut report = Report::new(r#"{"directories":["#, max_bytes);
        // Many directories leave half of the room to the files, should those need it.
        let kept = report.withhold(files.cost.min(report.left() / 2));
        let shown_directories = push(&mut report, "DIR:  ", directories);
        report.close(r#"],"files":["#);
        report.release(kept);
        let shown_files = push(&mut report, "FILE: ", files);

        let missing = (
            directories_total - shown_directories,
            files_total - shown_files,
        );
        let truncated = missing != (0, 0) || unseen.cut();
        let mut summary = format!(
            "{}, {}",
            counted(directories_total, "directory", "directories"),
            counted(files_total, "file", "files")
        );
        if missing != (0, 0) {
            summary.push_str(&format!(
                "; {} and {} of them are not shown: narrow with extensions or recursive: false",
                counted(missing.0, "directory", "directories"),
                counted(missing.1, "file", "files")
            ));
        }
        summary.push_str(&told(&unseen));
        let close = json!({
            "unreadable": unseen.unreadable,
            "too_deep": unseen.too_deep,
            "past_entries": unseen.past_entries,
        });
        report.finish(
            &summary,
            &format!(
                r#"],"directories_total":{directories_total},"files_total":{files_total},"truncated":{truncated},"skipped":{close}}}"#
            ),
        )
    }
}

/// Adds the paths, in order; the answer is how many fit.
fn push(report: &mut Report, kind: &str, paths: Least) -> u64 {
    let mut shown = 0;
    let (mut line, mut json) = (String::new(), String::new());
    for path in paths.kept.into_sorted_vec() {
        line.clear();
        json.clear();
        // A String takes whatever is written to it.
        let _ = writeln!(line, "{kind}{}", one_line(&path));
        if shown > 0 {
            json.push(',');
        }
        quote(&mut json, &path);
        if !report.push(&line, &json, 0) {
            break;
        }
        shown += 1;
    }
    shown
}

/// What a summary says of directories that were not looked into.
pub(super) fn told(unseen: &Unseen) -> String {
    let mut told = String::new();
    for (number, why) in [
        (unseen.unreadable, "could not be read"),
        (unseen.too_deep, "nested too deep (--max-depth)"),
        (
            unseen.past_entries,
            "not looked into, for too many entries were visited (--max-entries)",
        ),
    ] {
        if number > 0 {
            told.push_str("; ");
            told.push_str(&counted(number, "directory", "directories"));
            told.push(' ');
            told.push_str(why);
        }
    }
    told
}
