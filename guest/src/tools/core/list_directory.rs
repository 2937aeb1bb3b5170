//! list_directory: one directory, not what is below it. A subdirectory is only
//! listed if a served file lies somewhere in it.

use std::ops::ControlFlow;

use serde_json::json;

use crate::bindings::exports::preopen::mcp::tools::Settings;
use crate::digest::Fields;
use crate::item::Value;
use crate::page::Paging;
use crate::refusal::Refusal;
use crate::tools::schema::Reading;
use crate::tools::{Answer, Call, Tool, id};
use crate::tree::{Directory, Entry, Kind};
use crate::walk::{holds_file, list};

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
    let directory = call.root.asked_directory(&path)?;
    let mut prefix = path.as_str().to_owned();
    if !path.is_root() {
        prefix.push('/');
    }

    let mut bounds = call.bounds();
    let mut entries = Vec::with_capacity(32);
    list(&*directory, prefix.len(), &mut bounds, &mut |entry| {
        entries.push(entry);
        ControlFlow::Continue(())
    })?
    .map_err(Refusal::reading)?;
    entries.sort_unstable_by(|one, other| one.name.cmp(&other.name));

    let [skip, ..] = paging.start();
    let mut listed = Vec::with_capacity(entries.len());
    let mut next = None;
    let mut whole = prefix;
    let prefix = whole.len();
    for Entry { name, kind } in entries {
        whole.truncate(prefix);
        whole.push_str(&name);
        if kind == Kind::Directory {
            bounds.enter(1)?;
            let holds = match directory.directory(&name) {
                Ok(below) => holds_file(&below, whole.len() + 1, 1, &mut bounds)?,
                Err(fault) => {
                    Refusal::pass_over(fault)?;
                    false
                }
            };
            if !holds {
                continue;
            }
        }
        let index = listed.len() as u64;
        if index >= skip && next.is_none() {
            let item = [
                ("name", Value::Text(&name)),
                ("kind", Value::Text(kind.name())),
                ("path", Value::Text(&whole)),
            ];
            let hashed: &[&[u8]] = &[kind.name().as_bytes(), b"\0", whole.as_bytes(), b"\n"];
            if !paging.page.push(&item, hashed) {
                next = Some([index, 0, 0]);
            }
        }
        listed.push((kind, name));
    }
    if listed.is_empty() {
        if !path.is_root() {
            return Err(Refusal::Missing);
        }
        call.root.serves_something()?;
    }
    paging
        .finish(|| state(&listed), next)
        .map(Answer::structured)
}

/// The state that a cursor depends on: what was listed, on whatever page.
fn state(listed: &[(Kind, String)]) -> [u8; 32] {
    let mut state = Fields::default();
    for (kind, name) in listed {
        state.add(kind.name().as_bytes());
        state.add(name.as_bytes());
    }
    state.finish()
}
