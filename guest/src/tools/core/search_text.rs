//! search_text: the lines that contain a literal, in a file or below a
//! directory. One walk does two things: it takes the identity of every file in
//! scope, and scans those that the page asks for.

use std::vec;

use serde_json::json;

use crate::arguments::MAX_QUERY_BYTES;
use crate::bindings::exports::preopen::mcp::tools::Settings;
use crate::cursor::Position;
use crate::digest::{Fields, STATE};
use crate::item::Value;
use crate::kept::Kept;
use crate::page::{Page, Paging};
use crate::paths::Paths;
use crate::refusal::Refusal;
use crate::root::{Dir, File, Identity};
use crate::scan::{LineStart, Scanned, Scanner};
use crate::text::EXCERPT_BYTES;
use crate::tools::schema::Reading;
use crate::tools::{Answer, Call, RETRIES, Tool, id};
use crate::tree::Fault;
use crate::walk::Walk;

const MAX_ITEMS: usize = 200;

pub(super) const TOOL: Tool = Tool {
    name: "search_text",
    writes: false,
    arguments: &["query", "path", "cursor", "limit"],
    definition,
    call,
};

fn definition(_settings: &Settings) -> serde_json::Value {
    Reading {
        name: TOOL.name,
        title: "Find lines of text",
        description: "Finds the lines that contain the query, in one file or in all files below a directory. The query is literal and case-sensitive, no pattern. Lines that are not UTF-8 and very large files are passed over. Pages: while next_cursor is not null, call again with it as cursor, also when a page has no items.".to_owned(),
        properties: json!({
            "query": {
                "type": "string",
                "minLength": 1,
                "description": format!("A part of a line: one line of 1 to {MAX_QUERY_BYTES} bytes.")
            },
            "path": {
                "type": "string",
                "description": "The file or directory to search, relative to the root, such as `src`; left out, the whole root."
            }
        }),
        required: &["query"],
        max_items: MAX_ITEMS,
        item: json!({
            "path": {"type": "string", "description": "The path of the file from the root."},
            "line": {"type": "integer", "minimum": 1, "description": "The number of the line, from 1."},
            "text": {"type": "string", "description": format!("The line, or of a long one the {EXCERPT_BYTES} bytes around its first match.")}
        }),
    }
    .definition()
}

fn call(call: &Call<'_>) -> Result<Answer, Refusal> {
    let query = call.arguments.query("query")?;
    let path = call.arguments.path()?;
    let bound = [query, path.as_str()];
    let paging = Paging::new(
        call.settings,
        call.arguments,
        id::SEARCH_TEXT,
        &bound,
        MAX_ITEMS,
    )?;
    let [first, offset, line] = paging.start();
    let at = match paging.resume {
        Some(_) => LineStart { offset, line },
        None => LineStart::FIRST,
    };
    let mut search = Search {
        scanner: Scanner::new(query),
        max_file_bytes: call.settings.limits.max_file_bytes,
        budget: call.settings.limits.max_scan_bytes,
        paging,
        state: Fields::default(),
        index: 0,
        first,
        at,
        next: None,
        rest: (Paths::default(), Vec::new()),
    };
    if let Some((state, Kept::Files(files, identities))) = search.paging.kept() {
        return search.go_on(call.root, state, files, identities);
    }

    match call.root.asked_directory(&path) {
        Ok(directory) => {
            let mut bounds = call.bounds();
            let mut walk = Walk::new(directory, path.as_str(), &mut bounds)?;
            while let Some(file) = walk.next()? {
                // A file that vanished or cannot be read is passed over.
                if let Err(fault) = search.visit(file.directory, file.name, file.path)? {
                    Refusal::pass_over(fault)?;
                }
            }
            if search.index == 0 && path.is_root() {
                call.root.serves_something()?;
            } else if search.index == 0 {
                // Nothing served is below it: the same answer as where there is no directory.
                let asked = call.root.asked_file(&path, &mut call.bounds());
                return Err(asked.err().unwrap_or(Refusal::Missing));
            }
        }
        // No directory, or one out of reach: the path is judged as a file's.
        Err(Refusal::NotDirectory | Refusal::NotServed | Refusal::Missing) if !path.is_root() => {
            let file = call.root.asked_file(&path, &mut call.bounds())?;
            let size = file.size().map_err(Refusal::reading)?;
            let limit = search.max_file_bytes;
            if size > limit {
                return Err(Refusal::FileTooLarge { size, limit });
            }
            search
                .visit(call.root, path.as_str(), path.as_str())?
                .map_err(Refusal::reading)?;
        }
        Err(refusal) => return Err(refusal),
    }
    let (files, identities) = search.rest;
    let rest = Kept::Files(files, identities.into_iter());
    let state = search.state;
    search
        .paging
        .finish(|| state.finish(), search.next.map(|next| (next, rest)))
}

/// A search under way. Files are counted in the order of the walk: as long as the state is the
/// same, so is the number of each.
struct Search<'a> {
    scanner: Scanner<'a>,
    max_file_bytes: u64,
    /// What may still be scanned, in bytes.
    budget: u64,
    paging: Paging<'a>,
    state: Fields,
    /// The number of the file that comes next.
    index: u64,
    /// The number of the file that this page begins in, and the line in it.
    first: u64,
    at: LineStart,
    /// Where the next page begins; set, nothing more is scanned.
    next: Option<Position>,
    /// The files that the next pages scan, and their identities.
    rest: (Paths, Vec<Identity>),
}

impl Search<'_> {
    /// Takes the identity of the file `name` in `directory` and scans it if it is this page's. The
    /// outer error ends the call, the inner one concerns this file only.
    fn visit(
        &mut self,
        directory: &Dir,
        name: &str,
        path: &str,
    ) -> Result<Result<(), Fault>, Refusal> {
        let mut outcome = Ok(());
        let mut seen = None;
        if self.next.is_none() && self.index >= self.first {
            if self.budget == 0 {
                self.next = Some([self.index, 0, LineStart::FIRST.line]);
            } else {
                match directory.file(name) {
                    Ok(file) => (seen, outcome) = self.scan(&file, path)?,
                    Err(fault) => outcome = Err(fault),
                }
            }
        }
        let identity = match seen.map_or_else(|| directory.identity(name), Ok) {
            Ok(identity) => identity,
            Err(fault) => return Ok(Err(fault)),
        };
        self.state.add(path.as_bytes());
        self.state.add(&identity);
        if self.next.is_some() {
            self.rest.0.push(path);
            self.rest.1.push(identity);
        }
        self.index += 1;
        Ok(outcome)
    }

    /// The page of what was kept: `files`, which had these `identities` in `state`.
    fn go_on(
        mut self,
        root: &Dir,
        state: [u8; STATE],
        mut files: Paths,
        mut identities: vec::IntoIter<Identity>,
    ) -> Result<Answer, Refusal> {
        self.index = self.first;
        while self.next.is_none()
            && let (Some(path), Some(identity)) = (files.peek(), identities.as_slice().first())
        {
            if self.budget == 0 {
                self.next = Some([self.index, 0, LineStart::FIRST.line]);
                break;
            }
            let (seen, outcome) = match root.file(path) {
                Ok(file) => self.scan(&file, path)?,
                Err(fault) => (None, Err(fault)),
            };
            match outcome {
                // It was there when the state was taken.
                Err(Fault::Missing) => return Err(Refusal::Changed),
                _ if seen.is_some_and(|seen| seen != *identity) => return Err(Refusal::Changed),
                Err(fault) => Refusal::pass_over(fault)?,
                Ok(()) => {}
            }
            if self.next.is_none() {
                files.advance();
                identities.next();
                self.index += 1;
            }
        }
        let rest = Kept::Files(files, identities);
        let next = self.next.map(|next| (next, rest));
        self.paging.finish(|| state, next)
    }

    /// Scans one file; the answer is the identity that counts for it, if one is known, and whether
    /// it was scanned. Without a cursor, one that keeps changing is passed over.
    fn scan(
        &mut self,
        file: &File,
        path: &str,
    ) -> Result<(Option<Identity>, Result<(), Fault>), Refusal> {
        let from = if self.index == self.first {
            self.at
        } else {
            LineStart::FIRST
        };
        let mark = self.paging.page.mark();
        let budget = self.budget;
        let mut stale = None;
        for _ in 0..=RETRIES {
            // Only the last try is paid for: a file that grows must not use up what others need.
            self.budget = budget;
            match self.scan_once(file, path, from) {
                Ok((before, after, next)) if before == after => {
                    self.next = next.map(|next| [self.index, next.offset, next.line]);
                    return Ok((Some(after), Ok(())));
                }
                Ok(_) if self.paging.resume.is_some() => return Err(Refusal::Changed),
                Ok((before, ..)) => {
                    self.paging.page.rewind(&mark);
                    stale = Some(before);
                }
                Err(fault) => {
                    self.paging.page.rewind(&mark);
                    return Ok((None, Err(fault)));
                }
            }
        }
        // The identity is one it no longer has: no cursor goes on behind matches that are missing.
        Ok((stale, Err(Fault::Changing)))
    }

    /// The identities before and after, and where a page that is full goes on.
    fn scan_once(
        &mut self,
        file: &File,
        path: &str,
        from: LineStart,
    ) -> Result<(Identity, Identity, Option<LineStart>), Fault> {
        let before = file.identity()?;
        let size = file.size()?;
        if size > self.max_file_bytes {
            return Ok((before, before, None));
        }
        let mut scanned = InPage {
            file,
            size,
            path,
            page: &mut self.paging.page,
        };
        let next = self.scanner.scan(from, &mut self.budget, &mut scanned)?;
        Ok((before, file.identity()?, next))
    }
}

/// A file whose matches go to a page.
struct InPage<'a> {
    file: &'a File,
    size: u64,
    path: &'a str,
    page: &'a mut Page,
}

impl Scanned for InPage<'_> {
    type Error = Fault;

    fn read(&mut self, offset: u64, len: u64) -> Result<(Vec<u8>, bool), Fault> {
        // Never more than it had: a file that grows as fast as it is read has no end, and a block
        // larger than what is there costs the host its allocation.
        let rest = self.size.saturating_sub(offset);
        if rest == 0 {
            return Ok((Vec::new(), true));
        }
        let (bytes, at_end) = self.file.read(offset, len.min(rest))?;
        let complete = bytes.len() as u64 >= rest;
        Ok((bytes, at_end || complete))
    }

    fn found(&mut self, line: u64, text: &str) -> bool {
        let item = [
            ("path", Value::Text(self.path)),
            ("line", Value::Number(line)),
            ("text", Value::Text(text)),
        ];
        let number = line.to_string();
        let hashed: &[&[u8]] = &[
            self.path.as_bytes(),
            b"\0",
            number.as_bytes(),
            b"\0",
            text.as_bytes(),
            b"\n",
        ];
        self.page.push(&item, hashed)
    }
}
