//! A component with one tool, `count_words`. Copy it, and change `definitions`
//! and `call_tool`; docs/components.md says what a component may rely on.

mod count;

use serde::Deserialize;
use serde_json::json;
use wasip2::filesystem::preopens::get_directories;
use wasip2::filesystem::types::{DescriptorFlags, ErrorCode, OpenFlags, PathFlags};

use crate::count::{Counts, count};
use bindings::exports::preopen::mcp::tools::{CallError, Guest, Settings, ToolResult};

/// How much of a file is read at once, in bytes.
const CHUNK: u64 = 64 << 10;

/// The interface, as Rust.
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
                // Nothing here would make another call cheaper, and there is no hash to take.
                kept_for: None,
                unhashed: None,
            },
            Err(text) => ToolResult {
                structured: None,
                text: Some(text),
                is_error: true,
                kept_for: None,
                unhashed: None,
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
    let failed = |error: ErrorCode| match error {
        ErrorCode::NoEntry => format!("there is no file at {path}"),
        // What the rules hide is refused so, whether it is there or not.
        ErrorCode::NotPermitted | ErrorCode::Access => {
            format!("{path} is not served by this root")
        }
        ErrorCode::IsDirectory => format!("{path} is a directory; name a file"),
        _ => format!("{path} cannot be read"),
    };
    // The only directory there is.
    let Some((root, _)) = get_directories().into_iter().next() else {
        return Err("there is no root".to_owned());
    };
    let file = root
        .open_at(
            PathFlags::empty(),
            &path,
            OpenFlags::empty(),
            DescriptorFlags::READ,
        )
        .map_err(failed)?;
    let limit = settings.limits.max_file_bytes;
    // At an offset: the host hands out no streams of files.
    let read = |offset| file.read(CHUNK, offset).map(|(bytes, _)| bytes);
    count(read, limit)
        .map_err(failed)?
        .ok_or_else(|| format!("{path} is larger than {limit} bytes (--max-file-bytes)"))
}
