//! The definition of search_in_file.

use preopen_contract::limits::Limits;
use serde_json::{Value, json};

use super::{MAX_CONTEXT, MAX_MATCHES, TOOL};
use crate::arguments::MAX_QUERY_BYTES;
use crate::bindings::exports::preopen::mcp::tools::Settings;
use crate::lines::CONTEXT_BYTES;
use crate::text::EXCERPT_BYTES;
use crate::tools::schema::annotations;

pub(super) fn definition(settings: &Settings) -> Value {
    let title = "Search in files";
    let scanned = Limits::TABLE
        .iter()
        .find(|limit| limit.flag == "max-scan-bytes")
        .map_or_else(String::new, |limit| {
            limit.display(settings.limits.max_scan_bytes)
        });
    json!({
        "name": TOOL.name,
        "title": title,
        "description": format!("Finds the lines that contain a text, in one file or in all files below a directory, and shows each with the lines around it. The text is literal, no pattern. A call searches up to {scanned}; the first line of the answer counts what was found, and what was skipped and why. Binary files (a NUL near the beginning) and lines that are not UTF-8 are skipped."),
        "inputSchema": {
            "type": "object",
            "properties": {
                "path": {
                    "type": "string",
                    "description": "The file or directory to search, relative to the root, such as `src`; left out, the whole root."
                },
                "search_string": {
                    "type": "string",
                    "minLength": 1,
                    "description": format!("A part of a line: one line of 1 to {MAX_QUERY_BYTES} bytes.")
                },
                "context_lines": {
                    "type": "integer",
                    "default": 3,
                    "description": format!("How many lines to show before and after each match; clamped to 0 to {MAX_CONTEXT}.")
                },
                "case_sensitive": {
                    "type": "boolean",
                    "default": false,
                    "description": "Whether the case of letters matters."
                },
                "max_matches": {
                    "type": "integer",
                    "default": 50,
                    "description": format!("How many matches to show of each file; clamped to 1 to {MAX_MATCHES}. All are counted.")
                }
            },
            "required": ["search_string"],
            "additionalProperties": false
        },
        "outputSchema": output(),
        "annotations": annotations(title, true, false)
    })
}

fn output() -> Value {
    let count = |what: &str| json!({"type": "integer", "minimum": 0, "description": what});
    let around = |what: &str| {
        json!({
            "type": "array",
            "items": {"type": ["string", "null"]},
            "description": format!("The lines directly {what}; of a long one the first {CONTEXT_BYTES} bytes, null for one that is not UTF-8. Each line stands in the answer once.")
        })
    };
    let a_match = json!({
        "type": "object",
        "properties": {
            "line": {"type": "integer", "minimum": 1, "description": "The number of the line, from 1."},
            "text": {"type": "string", "description": format!("The line, or of a long one the {EXCERPT_BYTES} bytes around its first match.")},
            "cut": {"type": "boolean", "description": "Whether something of the line is missing in text."},
            "before": around("before it, as far as no match before shows them"),
            "after": around("after it, up to the next match")
        },
        "required": ["line", "text", "cut", "before", "after"],
        "additionalProperties": false
    });
    json!({
        "type": "object",
        "properties": {
            "files": {
                "type": "array",
                "description": "The files with matches that are shown, in byte order of paths.",
                "items": {
                    "type": "object",
                    "properties": {
                        "path": {"type": "string", "description": "The path of the file from the root."},
                        "matches_total": {"type": "integer", "minimum": 1, "description": "How many lines of the file match."},
                        "matches": {
                            "type": "array",
                            "description": "The matches that are shown.",
                            "items": a_match
                        }
                    },
                    "required": ["path", "matches_total", "matches"],
                    "additionalProperties": false
                }
            },
            "matches_total": count("How many lines match in the files that were searched."),
            "matches_shown": count("How many of them are shown."),
            "files_with_matches": count("How many files have a match."),
            "files_searched": count("How many files were searched."),
            "truncated": {
                "type": "boolean",
                "description": "Whether a limit of this server ended the search or kept matches out of the answer; max_matches is none."
            },
            "skipped": {
                "type": "object",
                "description": "What was not searched, and why.",
                "properties": {
                    "files_binary": count("Files with a NUL near the beginning."),
                    "files_too_large": count("Files larger than may be read (--max-file-bytes)."),
                    "files_unreadable": count("Files that could not be read, or that kept changing."),
                    "files_past_budget": count("Files left when the call had scanned as much as it may (--max-scan-bytes); one that was searched in part counts."),
                    "lines_not_utf8": count("Lines of searched files that are not UTF-8."),
                    "directories_unreadable": count("Directories that could not be read."),
                    "directories_too_deep": count("Directories that are nested too deep (--max-depth)."),
                    "directories_past_entries": count("Directories left when as many entries had been visited as may be (--max-entries).")
                },
                "required": ["files_binary", "files_too_large", "files_unreadable", "files_past_budget", "lines_not_utf8", "directories_unreadable", "directories_too_deep", "directories_past_entries"],
                "additionalProperties": false
            }
        },
        "required": ["files", "matches_total", "matches_shown", "files_with_matches", "files_searched", "truncated", "skipped"],
        "additionalProperties": false
    })
}
