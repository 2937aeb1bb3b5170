//! create_directory: a directory with every one above it that is missing. One
//! that is there already is what was asked for.

use preopen_contract::json;
use serde::Serialize;
use serde_json::{Value, json};

use crate::bindings::exports::preopen::mcp::tools::Settings;
use crate::parents::Parents;
use crate::refusal::Refusal;
use crate::tools::schema::annotations;
use crate::tools::{Answer, Call, Tool};

pub(super) const TOOL: Tool = Tool {
    name: "create_directory",
    writes: true,
    arguments: &["path"],
    definition,
    call,
};

#[derive(Serialize)]
struct Created<'a> {
    path: &'a str,
    created: usize,
}

fn definition(_: &Settings) -> Value {
    let title = "Create a directory";
    json!({
        "name": TOOL.name,
        "title": title,
        "description": "Makes a directory, and every one above it that is missing. One that exists is left as it is.",
        "inputSchema": {
            "type": "object",
            "properties": {
                "path": {
                    "type": "string",
                    "description": "The directory, relative to the root, such as `notes/2026`."
                }
            },
            "required": ["path"],
            "additionalProperties": false
        },
        "outputSchema": {
            "type": "object",
            "properties": {
                "path": {"type": "string", "description": "The path from the root; empty for the root itself."},
                "created": {"type": "integer", "minimum": 0, "description": "How many directories were made; 0 if it was there."}
            },
            "required": ["path", "created"],
            "additionalProperties": false
        },
        "annotations": annotations(title, false, false)
    })
}

fn call(call: &Call<'_>) -> Result<Answer, Refusal> {
    let path = call.arguments.file_path()?;
    let path = path.as_str();
    let created = match path {
        "" => 0,
        path => Parents::make(call.root, path)?.keep().len(),
    };
    let text = match (path, created) {
        ("", _) => "The root itself is always there".to_owned(),
        (path, 0) => format!("{path} is a directory already"),
        (path, 1) => format!("Created directory {path}"),
        (path, created) => format!("Created directory {path} ({created} directories in all)"),
    };
    Ok(Answer {
        structured: Some(json::text(&Created { path, created })),
        text: Some(text),
        unhashed: None,
    })
}
