//! list_directory: one directory, not what is below it. A subdirectory is only
//! listed if a served file lies somewhere in it.

use std::ops::ControlFlow;

use serde::Serialize;
use serde_json::{Value, json};

use crate::bindings::exports::preopen::mcp::tools::Settings;
use crate::digest::Fields;
use crate::page::Paging;
use crate::refusal::Refusal;
use crate::tools::schema::Reading;
use crate::tools::{Call, Tool, id};
use crate::tree::{Directory, Kind};
use crate::walk::{holds_file, list};

const MAX_ITEMS: usize = 200;

pub(super) const TOOL: Tool = Tool {
    name: "list_directory",
    writes: false,
    arguments: &["path", "cursor", "limit"],
    definition,
    call,
};

#[derive(Serialize)]
struct Item<'a> {
    name: &'a str,
    kind: &'static str,
    path: &'a str,
}

fn definition(_settings: &Settings) -> Value {
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

fn call(call: &Call<'_>) -> Result<String, Refusal> {
    let path = call.arguments.path()?;
    let mut paging = Paging::new(
        call.settings,
        call.arguments,
        id::LIST_DIRECTORY,
        &[path.as_str()],
        MAX_ITEMS,
    )?;
    let directory = call.root.asked_directory(&path)?;
    let mut prefix = path.as_str().to_owned();
    if !path.is_root() {
        prefix.push('/');
    }

    let mut bounds = call.bounds();
    let mut entries = Vec::new();
    list(&directory, prefix.len(), &mut bounds, &mut |entry| {
        entries.push(entry);
        ControlFlow::Continue(())
    })?
    .map_err(Refusal::reading)?;
    entries.sort_unstable_by(|one, other| one.name.cmp(&other.name));

    let [skip, ..] = paging.start();
    let mut state = Fields::default();
    let mut listed = 0;
    let mut next = None;
    for entry in entries {
        if entry.kind == Kind::Directory {
            bounds.enter(1)?;
            let holds = match directory.directory(&entry.name) {
                Ok(below) => {
                    holds_file(&below, prefix.len() + entry.name.len() + 1, 1, &mut bounds)?
                }
                Err(fault) => {
                    Refusal::pass_over(fault)?;
                    false
                }
            };
            if !holds {
                continue;
            }
        }
        let kind = entry.kind.name();
        state.add(kind.as_bytes());
        state.add(entry.name.as_bytes());
        if listed >= skip && next.is_none() {
            let path = format!("{prefix}{}", entry.name);
            let hashed: &[&[u8]] = &[kind.as_bytes(), b"\0", path.as_bytes(), b"\n"];
            let item = Item {
                name: &entry.name,
                kind,
                path: &path,
            };
            if !paging.page.push(&item, hashed) {
                next = Some([listed, 0, 0]);
            }
        }
        listed += 1;
    }
    if listed == 0 && !path.is_root() {
        return Err(Refusal::Missing);
    }
    paging.finish(state, next)
}
