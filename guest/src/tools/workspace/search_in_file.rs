//! search_in_file: a literal in the lines of a file or of all files below a
//! directory, with the lines around each match. It counts what it finds and
//! what it passes over; how an answer looks stands in `found`.

use crate::excerpts::excerpts;
use crate::hits::scan;
use crate::lines::{Lines, Source};
use crate::needle::Needle;
use crate::refusal::Refusal;
use crate::root::{Dir, File};
use crate::survey::{Step, Survey};
use crate::tools::{Answer, Call, RETRIES, Tool};
use crate::tree::Fault;

mod definition;
mod found;

use found::Found;

/// The most lines that are shown before and after a match.
const MAX_CONTEXT: usize = 50;
/// The most matches that are shown of one file.
const MAX_MATCHES: usize = 1000;

pub(super) const TOOL: Tool = Tool {
    name: "search_in_file",
    writes: false,
    arguments: &[
        "path",
        "search_string",
        "context_lines",
        "case_sensitive",
        "max_matches",
    ],
    definition: definition::definition,
    call,
};

fn call(call: &Call<'_>) -> Result<Answer, Refusal> {
    let path = call.arguments.path()?;
    let text = call.arguments.query("search_string")?;
    let needle = match call.arguments.boolean("case_sensitive", false)? {
        true => Needle::exact(text),
        false => Needle::folded(text).ok_or(Refusal::Query("search_string"))?,
    };
    let limits = &call.settings.limits;
    let mut search = Search {
        needle,
        context: call
            .arguments
            .clamped("context_lines", 3, 0..=MAX_CONTEXT)?,
        most: call.arguments.clamped("max_matches", 50, 1..=MAX_MATCHES)?,
        max_file_bytes: limits.max_file_bytes,
        budget: limits.max_scan_bytes,
        found: Found::new(limits),
    };
    match call.root.asked_directory(&path) {
        Ok(directory) => {
            let mut bounds = call.bounds();
            let mut survey = Survey::new(directory, path.as_str(), usize::MAX, &mut bounds)?;
            let mut any = false;
            while let Some(step) = survey.next()? {
                any = true;
                if let Step::File {
                    path,
                    name,
                    directory,
                } = step
                {
                    search.file(directory, name, path)?;
                }
            }
            search.found.unseen = survey.unseen;
            if !any && path.is_root() {
                call.root.serves_something()?;
            }
        }
        // No directory, or one out of reach: the path is judged as a file's.
        Err(Refusal::NotDirectory | Refusal::NotServed | Refusal::Missing) if !path.is_root() => {
            let file = call.root.asked_plain_file(&path)?;
            let size = file.size().map_err(Refusal::reading)?;
            let limit = search.max_file_bytes;
            if size > limit {
                return Err(Refusal::FileTooLarge { size, limit });
            }
            search
                .open(&file, path.as_str())
                .map_err(Refusal::reading)?;
        }
        Err(refusal) => return Err(refusal),
    }
    Ok(search.found.answer())
}

/// A search under way.
struct Search<'t> {
    needle: Needle<'t>,
    context: usize,
    most: usize,
    max_file_bytes: u64,
    /// What may still be scanned, in bytes.
    budget: u64,
    found: Found,
}

impl Search<'_> {
    /// Searches the file `name` in `directory`. What concerns this file only is counted.
    fn file(&mut self, directory: &Dir, name: &str, path: &str) -> Result<(), Refusal> {
        if self.budget == 0 {
            self.found.not_searched += 1;
            return Ok(());
        }
        let searched = directory.file(name).and_then(|file| self.open(&file, path));
        if let Err(fault) = searched {
            Refusal::count(fault)?;
            self.found.unreadable += 1;
        }
        Ok(())
    }

    /// Searches an open file.
    fn open(&mut self, file: &File, path: &str) -> Result<(), Fault> {
        let budget = self.budget;
        for _ in 0..=RETRIES {
            // Only the last try is paid for: a file that grows must not use up what others need.
            self.budget = budget;
            let version = file.version()?;
            if version.size > self.max_file_bytes {
                self.found.too_large += 1;
                return Ok(());
            }
            let mut lines = Lines::new(file, version.size);
            // One more than is shown: what is shown around the last one ends before the next.
            let hits = scan(
                &mut self.needle,
                self.most + 1,
                &mut lines,
                &mut self.budget,
            )?;
            let excerpts = match &hits {
                Some(hits) if hits.total > 0 => {
                    excerpts(&mut lines, hits, self.most, self.context, self.found.room())?
                }
                _ => Vec::new(),
            };
            if file.version()? == version {
                match hits {
                    Some(hits) => self.found.add(path, &hits, &excerpts, self.most),
                    None => self.found.binary += 1,
                }
                return Ok(());
            }
        }
        Err(Fault::Changing)
    }
}

impl Source for &File {
    type Error = Fault;

    fn read(&mut self, offset: u64, len: u64) -> Result<Vec<u8>, Fault> {
        let (bytes, _) = File::read(self, offset, len)?;
        Ok(bytes)
    }
}
