//! What the removing tools share: what lies at the path they were asked for,
//! and their answer.

use std::ops::ControlFlow;

use preopen_contract::json;
use serde::Serialize;
use serde_json::{Value, json};

use crate::parents::parent;
use crate::refusal::Refusal;
use crate::tools::{Answer, Call};
use crate::tree::{Directory, Fault, Kind, Wanted};

#[derive(Serialize)]
struct Removed<'a> {
    path: &'a str,
    removed: u64,
}

/// The answer of a tool that removed `removed` entries.
pub(super) fn answer(path: &str, removed: u64, text: String) -> Answer {
    Answer {
        structured: Some(json::text(&Removed { path, removed })),
        text: Some(text),
        unhashed: None,
    }
}

/// The schema of that answer.
pub(super) fn output() -> Value {
    json!({
        "type": "object",
        "properties": {
            "path": {"type": "string", "description": "The path from the root."},
            "removed": {"type": "integer", "minimum": 1, "description": "How many entries are gone, that of the path itself included."}
        },
        "required": ["path", "removed"],
        "additionalProperties": false
    })
}

/// Whether it is a file or a directory that lies at `path`; `wanted` is what the tool removes.
pub(super) fn kind(call: &Call<'_>, path: &str, wanted: Kind) -> Result<Kind, Refusal> {
    let root = call.root;
    match root.kind(path) {
        Ok(kind) => Ok(kind),
        Err(Fault::Missing) => {
            // Rules may hide a file and not a directory of the same name, or the other way round.
            let judged = match wanted {
                Kind::Directory => root.directory(path).err(),
                _ => root.file(path).err(),
            };
            Err(match judged {
                Some(fault @ (Fault::Excluded | Fault::NotIncluded)) => Refusal::removing(fault),
                _ if is_special(call, path) => Refusal::Special,
                _ => Refusal::Missing,
            })
        }
        Err(fault) => Err(Refusal::removing(fault)),
    }
}

/// Whether a link, pipe, socket or device has the name, which only a listing shows.
fn is_special(call: &Call<'_>, path: &str) -> bool {
    let above = match parent(path) {
        "" => ".",
        parent => parent,
    };
    let Ok(directory) = call.root.directory(above) else {
        return false;
    };
    let mut bounds = call.bounds();
    let mut found = false;
    let listed = directory.entries(Wanted::All, &mut |entry| {
        bounds.visit()?;
        found = entry.kind == Kind::Other && path.rsplit('/').next() == Some(entry.name);
        match found {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    });
    listed.is_ok() && found
}
