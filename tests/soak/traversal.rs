//! What the reading tools of toolset core must answer about the part of the
//! root that the client alone changes: every item in order, and the state that
//! a cursor stands on. It is a second, plain implementation of them.

use std::str;

use serde_json::{Value, json};

use super::model::{File, Model, OWN, Place, name, parent};
use super::texts;

/// The longest chunk of read_text_file, in bytes.
const CHUNK_BYTES: usize = 2048;

/// What a cursor stands on: if it is another by now, the cursor is refused.
pub(super) type State = Vec<(String, u64)>;

/// A call of a reading tool, without the page of it that is asked for.
#[derive(Clone, Debug)]
pub(super) enum Traversal {
    List { path: String },
    Files { query: String },
    Text { query: String, path: String },
    Read { path: String },
}

/// Every item of a traversal, and what else decides its pages.
#[derive(Debug)]
pub(super) struct Sequence {
    pub(super) items: Vec<Value>,
    /// What the page is refused with that comes behind the last item.
    pub(super) broken: Option<String>,
    pub(super) state: State,
    /// Items of the part that is contested may stand among these.
    pub(super) mixed: bool,
    /// The state is also that of the part that is contested.
    pub(super) shared: bool,
}

impl Traversal {
    pub(super) const fn tool(&self) -> &'static str {
        match self {
            Self::List { .. } => "list_directory",
            Self::Files { .. } => "search_files",
            Self::Text { .. } => "search_text",
            Self::Read { .. } => "read_text_file",
        }
    }

    /// The most items of a page.
    pub(super) const fn most(&self) -> usize {
        match self {
            Self::Read { .. } => 8,
            Self::List { .. } | Self::Files { .. } | Self::Text { .. } => 200,
        }
    }

    /// The arguments, without cursor and limit.
    pub(super) fn arguments(&self) -> Value {
        match self {
            Self::List { path } | Self::Read { path } => json!({"path": path}),
            Self::Files { query } => json!({"query": query}),
            Self::Text { query, path } => json!({"query": query, "path": path}),
        }
    }

    /// What is hashed of an item as it was answered.
    pub(super) fn hashed(&self, item: &Value) -> String {
        let text = |name: &str| item[name].as_str().unwrap_or_default();
        match self {
            Self::List { .. } => format!("{}\0{}\n", text("kind"), text("path")),
            Self::Files { .. } => format!("{}\n", text("path")),
            Self::Text { .. } => format!("{}\0{}\0{}\n", text("path"), item["line"], text("text")),
            Self::Read { .. } => text("text").to_owned(),
        }
    }

    /// Everything there is to answer now.
    ///
    /// # Errors
    /// The text of a refusal.
    pub(super) fn sequence(&self, model: &Model) -> Result<Sequence, &'static str> {
        match self {
            Self::List { path } => list(model, path),
            Self::Files { query } => Ok(files(model, query)),
            Self::Text { query, path } => text(model, query, path),
            Self::Read { path } => read(model, path),
        }
    }
}

fn list(model: &Model, path: &str) -> Result<Sequence, &'static str> {
    match model.place(path) {
        Place::Root | Place::Directory => {}
        Place::Hidden => return Err(texts::NOT_SERVED),
        Place::File(_) => return Err(texts::NOT_DIRECTORY),
        Place::Special | Place::Missing => return Err(texts::MISSING),
    }
    let mut entries: Vec<(&str, &str)> = model
        .files(path)
        .filter(|(file, _)| parent(file) == path)
        .map(|(file, _)| (file, "file"))
        .collect();
    let holding = model
        .directories(path)
        .filter(|directory| parent(directory) == path && model.files(directory).next().is_some());
    entries.extend(holding.map(|directory| (directory, "directory")));
    // By name alone: no slash follows that of a directory here.
    entries.sort_unstable();
    if entries.is_empty() && !path.is_empty() {
        return Err(texts::MISSING);
    }
    let item =
        |(path, kind): &(&str, &str)| json!({"name": name(path), "kind": kind, "path": path});
    let state = |(path, kind): &(&str, &str)| ((*path).to_owned(), u64::from(*kind == "file"));
    Ok(Sequence {
        items: entries.iter().map(item).collect(),
        broken: None,
        state: entries.iter().map(state).collect(),
        mixed: path.is_empty(),
        shared: path.is_empty(),
    })
}

fn files(model: &Model, query: &str) -> Sequence {
    let found: Vec<&str> = model
        .files("")
        .map(|(path, _)| path)
        .filter(|path| path.contains(query))
        .collect();
    let mixed = !query.contains(OWN);
    Sequence {
        items: found.iter().map(|path| json!({"path": path})).collect(),
        broken: None,
        state: found.iter().map(|path| ((*path).to_owned(), 0)).collect(),
        mixed,
        shared: mixed,
    }
}

fn text(model: &Model, query: &str, path: &str) -> Result<Sequence, &'static str> {
    let scope: Vec<(&str, &File)> = match model.place(path) {
        Place::Root | Place::Directory => model.files(path).collect(),
        Place::File(file) => vec![(path, file)],
        Place::Hidden => return Err(texts::NOT_SERVED),
        Place::Special | Place::Missing => return Err(texts::MISSING),
    };
    if scope.is_empty() && !path.is_empty() {
        return Err(texts::MISSING);
    }
    let mut items = Vec::new();
    for (path, file) in &scope {
        for (line, number) in lines(&file.content).into_iter().zip(1_u64..) {
            if let Some(text) = line.filter(|line| line.contains(query)) {
                items.push(json!({"path": path, "line": number, "text": text}));
            }
        }
    }
    let state = scope
        .iter()
        .map(|(path, file)| ((*path).to_owned(), file.version));
    Ok(Sequence {
        items,
        broken: None,
        state: state.collect(),
        // What is asked for never stands in what somebody else writes.
        mixed: false,
        shared: path.is_empty(),
    })
}

/// The lines of a file as they are shown; none for one that is not UTF-8.
pub(super) fn lines(content: &[u8]) -> Vec<Option<&str>> {
    let mut lines: Vec<&[u8]> = content.split(|byte| *byte == b'\n').collect();
    if lines.last().is_some_and(|last| last.is_empty()) {
        lines.pop();
    }
    let shown = |line| {
        let text = str::from_utf8(line).ok()?;
        Some(text.strip_suffix('\r').unwrap_or(text))
    };
    lines.into_iter().map(shown).collect()
}

fn read(model: &Model, path: &str) -> Result<Sequence, &'static str> {
    let file = match model.place(path) {
        Place::File(file) => file,
        // What holds nothing served is not there.
        Place::Directory if model.files(path).next().is_none() => return Err(texts::MISSING),
        place => return Err(texts::no_file(place)),
    };
    let (mut items, mut broken) = (Vec::new(), None);
    let mut at = 0;
    while at < file.content.len() {
        let rest = &file.content[at..];
        let piece = &rest[..rest.len().min(CHUNK_BYTES)];
        let text = match str::from_utf8(piece) {
            Ok(text) => text,
            Err(error) => {
                let cut = error.error_len().is_none() && piece.len() < rest.len();
                let valid = error.valid_up_to();
                if !cut || valid == 0 {
                    broken = Some(format!("file is not UTF-8 text (byte {}); ", at + valid));
                    break;
                }
                str::from_utf8(&piece[..valid]).expect("as far as it is valid")
            }
        };
        items.push(json!({"byte_offset": at, "text": text}));
        at += text.len();
    }
    Ok(Sequence {
        items,
        broken,
        state: vec![(path.to_owned(), file.version)],
        mixed: false,
        shared: false,
    })
}
