//! delete_file: removes one regular file, on request only with a content that
//! the caller knows.

use serde_json::{Value, json};

use super::removing::{answer, kind, output};
use crate::bindings::exports::preopen::mcp::tools::Settings;
use crate::digest::{ContentHash, is_content_hash};
use crate::placing::{compare, is_still, take_turn};
use crate::refusal::Refusal;
use crate::tools::schema::annotations;
use crate::tools::{Answer, Call, Tool};
use crate::tree::Kind;

pub(super) const TOOL: Tool = Tool {
    name: "delete_file",
    writes: true,
    arguments: &["path", "if_hash"],
    definition,
    call,
};

fn definition(_: &Settings) -> Value {
    let title = "Delete a file";
    json!({
        "name": TOOL.name,
        "title": title,
        "description": "Removes one file for good. Directories are removed by delete_directory.",
        "inputSchema": {
            "type": "object",
            "properties": {
                "path": {
                    "type": "string",
                    "description": "The file, relative to the root, such as `notes/today.md`."
                },
                "if_hash": {
                    "type": "string",
                    "description": "Remove only if the present content has this content_hash."
                }
            },
            "required": ["path"],
            "additionalProperties": false
        },
        "outputSchema": output(),
        "annotations": annotations(title, false, true)
    })
}

fn call(call: &Call<'_>) -> Result<Answer, Refusal> {
    let path = call.arguments.file_path()?;
    let if_hash = call.arguments.string("if_hash")?;
    let prefix = ContentHash::prefix(call.settings.hash_key.as_deref());
    if if_hash.is_some_and(|hash| !is_content_hash(hash, prefix)) {
        return Err(Refusal::RemovalHashForm(prefix));
    }
    if path.is_root() {
        return Err(Refusal::IsDirectory);
    }
    let path = path.as_str();
    if kind(call, path, Kind::File)? != Kind::File {
        return Err(Refusal::IsDirectory);
    }
    match if_hash {
        None => unlink(call, path)?,
        Some(hash) => {
            let _turn = take_turn(call.root, path)?;
            let file = call.root.file(path).map_err(Refusal::removing)?;
            let compared = compare(&file, hash, call.settings)?;
            // As late as can be: what changed since it was compared stays.
            is_still(call.root, path, compared, Refusal::removing)?;
            unlink(call, path)?;
        }
    }
    Ok(answer(path, 1, format!("Deleted {path}")))
}

fn unlink(call: &Call<'_>, path: &str) -> Result<(), Refusal> {
    call.root.unlink(path).map_err(Refusal::removing)
}
