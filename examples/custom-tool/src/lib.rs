//! A component with one tool, `count_words`. Copy it, and change `definitions`
//! and `call_tool`; docs/components.md says what a component may rely on.

mod count;

use std::fs::File;
use std::io::ErrorKind;

use serde::Deserialize;
use serde_json::json;

use crate::count::{Counts, count};
use bindings::exports::preopen::mcp::tools::{CallError, Guest, Settings, ToolResult};

/// The interface, as Rust. What WASI has the standard library takes care of.
mod bindings {
    wit_bindgen::generate!({ path: "../../wit", world: "guest" });
}

/// What the component's exports are called on.
struct Component;

impl Guest for Component {
    fn list_tools(_: Settings) -> String {
        definitions().to_string()
    }

    fn call_tool(
        settings: Settings,
        name: String,
        arguments: String,
    ) -> Result<ToolResult, CallError> {
        if name != "count_words" {
            return Err(CallError::UnknownTool);
        }
        Ok(match count_words(&settings, &arguments) {
            Ok(counts) => ToolResult {
                structured: Some(
                    json!({
                        "lines": counts.lines,
                        "words": counts.words,
                        "bytes": counts.bytes,
                    })
                    .to_string(),
                ),
                // The text block is then the same JSON.
                text: None,
                is_error: false,
                // Nothing here would make another call cheaper.
                kept_for: None,
            },
            Err(text) => ToolResult {
                structured: None,
                text: Some(text),
                is_error: true,
                kept_for: None,
            },
        })
    }
}

bindings::export!(Component with_types_in bindings);

/// The tools, as MCP's `tools/list` has them.
fn definitions() -> serde_json::Value {
    let number = |what: &str| json!({ "type": "integer", "minimum": 0, "description": what });
    json!([{
        "name": "count_words",
        "title": "Count words",
        "description": "Counts the lines, words and bytes of a file.",
        "inputSchema": {
            "type": "object",
            "properties": {
                "path": {
                    "type": "string",
                    "description": "The file, relative to the root, with / between names",
                },
            },
            "required": ["path"],
            "additionalProperties": false,
        },
        "outputSchema": {
            "type": "object",
            "properties": {
                "lines": number("Lines; the last one need not end in LF"),
                "words": number("Words, between ASCII white space"),
                "bytes": number("Bytes"),
            },
            "required": ["lines", "words", "bytes"],
            "additionalProperties": false,
        },
        // Calls of tools that only read run side by side, and --read-only serves no others.
        "annotations": { "readOnlyHint": true },
    }])
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    path: String,
}

/// Does the work, or says what to do instead.
fn count_words(settings: &Settings, arguments: &str) -> Result<Counts, String> {
    let Arguments { path } = serde_json::from_str(arguments)
        .map_err(|error| format!("the arguments are wrong: {error}"))?;
    let failed = |error: std::io::Error| match error.kind() {
        ErrorKind::NotFound => format!("there is no file at {path}"),
        // What the rules hide is refused so, whether it is there or not.
        ErrorKind::PermissionDenied => format!("{path} is not served by this root"),
        ErrorKind::IsADirectory => format!("{path} is a directory; name a file"),
        _ => format!("{path} cannot be read"),
    };
    // Relative to the root: it is the only directory there is.
    let file = File::open(&path).map_err(failed)?;
    let limit = settings.limits.max_file_bytes;
    count(file, limit)
        .map_err(failed)?
        .ok_or_else(|| format!("{path} is larger than {limit} bytes (--max-file-bytes)"))
}
