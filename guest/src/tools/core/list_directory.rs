//! list_directory: one directory, not what is below it. A subdirectory is only
//! listed if a served file lies somewhere in it.

use std::ops::ControlFlow;

use preopen_contract::path::RelPath;
use serde_json::json;

use crate::bindings::exports::preopen::mcp::tools::Settings;
use crate::cursor::Position;
use crate::digest::{Fields, STATE};
use crate::item::Value;
use crate::kept::Kept;
use crate::likely::Likely;
use crate::names::Names;
use crate::page::Paging;
use crate::refusal::Refusal;
use crate::tools::schema::Reading;
use crate::tools::{Answer, Call, Tool, id};
use crate::tree::{Entry, Kind, Wanted};
use crate::walk::list;

const MAX_ITEMS: usize = 200;

pub(super) const TOOL: Tool = Tool {
    name: "list_directory",
    writes: false,
    arguments: &["path", "cursor", "limit"],
    definition,
    call,
};

fn definition(_settings: &Settings) -> serde_json::Value {
    Reading {
        name: TOOL.name,
        title: "List a directory",
        description: "Lists the files and directories in one directory, not what is below them. Pages: while next_cursor is not null, call again with it as cursor.".to_owned(),
        properties: json!({
            "path": {
                "type": "string",
                "description": "The directory, relative to the root, such as `src/lib`; left out, the root itself."
            }
        }),
        required: &[],
        max_items: MAX_ITEMS,
        item: json!({
            "name": {"type": "string", "description": "The name in the directory."},
            "kind": {
                "type": "string",
                "enum": [Kind::File.name(), Kind::Directory.name()],
                "description": "What it is."
            },
            "path": {"type": "string", "description": "The path from the root, to use with the other tools."}
        }),
    }
    .definition()
}

fn call(call: &Call<'_>) -> Result<Answer, Refusal> {
    let path = call.arguments.path()?;
    let bound = [path.as_str()];
    let mut paging = Paging::new(
        call.settings,
        call.arguments,
        id::LIST_DIRECTORY,
        &bound,
        MAX_ITEMS,
    )?;
    let mut prefix = path.as_str().to_owned();
    if !path.is_root() {
        prefix.push('/');
    }
    let [first, ..] = paging.start();
    if let Some((state, Kept::Entries(rest))) = paging.kept() {
        let shown = fill(&mut paging, prefix, &rest);
        return paging.finish(|| state, behind(rest, first, shown));
    }

    let mut listed = listed(call, &path, prefix.len())?;
    if listed.left() == 0 {
        if !path.is_root() {
            return Err(Refusal::Missing);
        }
        call.root.serves_something()?;
    }
    listed.skip(usize::try_from(first).unwrap_or(usize::MAX));
    let shown = fill(&mut paging, prefix, &listed);
    if paging.resume.is_none() && shown == listed.left() {
        // Nobody depends on the state.
        return paging.finish(|| [0; STATE], None);
    }
    let state = state(&listed);
    let next = behind(listed, first, shown);
    paging.finish(|| state, next)
}

/// What there is to list in the directory `path`, in order: its files, and the directories with a
/// served file below. `prefix` is the length of its path with the slash behind it.
fn listed(call: &Call<'_>, path: &RelPath, prefix: usize) -> Result<Names, Refusal> {
    let directory = call.root.asked_directory(path)?;
    let mut bounds = call.bounds();
    let mut listed = Names::new();
    let mut add = |entry: Entry<'_>| {
        listed.push(entry.kind, entry.name, "");
        ControlFlow::Continue(())
    };
    list(&*directory, prefix, &mut bounds, Wanted::All, &mut add)?.map_err(Refusal::reading)?;
    listed.sort();
    let (mut likely, mut fault) = (Likely::default(), Ok(()));
    listed.retain(|kind, name| {
        if kind != Kind::Directory || fault.is_err() {
            return true;
        }
        let shown = likely.holds_file(&*directory, name, prefix + name.len() + 1, 1, &mut bounds);
        shown.unwrap_or_else(|refusal| {
            fault = Err(refusal);
            true
        })
    });
    fault.map(|()| listed)
}

/// Fills the page with what is still to be read of `listed`, of the directory whose path is
/// `prefix`; the answer is how many there was room for.
fn fill(paging: &mut Paging<'_>, prefix: String, listed: &Names) -> usize {
    let mut path = prefix;
    let prefix = path.len();
    let fits = |(kind, name): &(Kind, &str)| {
        path.truncate(prefix);
        path.push_str(name);
        let item = [
            ("name", Value::Text(name)),
            ("kind", Value::Text(kind.name())),
            ("path", Value::Text(&path)),
        ];
        let hashed: &[&[u8]] = &[kind.name().as_bytes(), b"\0", path.as_bytes(), b"\n"];
        paging.page.push(&item, hashed)
    };
    listed.rest().take_while(fits).count()
}

/// What is left behind a page that began with the entry `first` and had room for so many.
fn behind(mut listed: Names, first: u64, shown: usize) -> Option<(Position, Kept)> {
    listed.skip(shown);
    let position = [first + shown as u64, 0, 0];
    (listed.left() > 0).then(|| (position, Kept::Entries(listed)))
}

/// The state that a cursor depends on: what was listed, on whatever page.
fn state(listed: &Names) -> [u8; STATE] {
    let mut state = Fields::default();
    for (kind, name) in listed.all() {
        state.add(kind.name().as_bytes());
        state.add(name.as_bytes());
    }
    state.finish()
}
