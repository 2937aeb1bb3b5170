//! The parts of tool definitions that tools share: paging, the shape of a
//! reading tool's answer, annotations.

use serde_json::{Map, Value, json};

use crate::bindings::exports::preopen::mcp::tools::{Settings, WriteMode};
use crate::digest::ContentHash;

/// The definition of a tool that changes nothing and answers in pages. `properties` are its own
/// arguments, `item` the properties of an item, all of them required.
pub(crate) struct Reading {
    pub(crate) name: &'static str,
    pub(crate) title: &'static str,
    pub(crate) description: String,
    pub(crate) properties: Value,
    pub(crate) required: &'static [&'static str],
    pub(crate) max_items: usize,
    pub(crate) item: Value,
}

impl Reading {
    pub(crate) fn definition(self) -> Value {
        let mut properties = members(self.properties);
        properties.extend(members(json!({
            "cursor": {
                "type": "string",
                "description": "The next_cursor of the page before, with the same other arguments; leave it out to start."
            },
            "limit": {
                "type": "integer",
                "minimum": 1,
                "default": self.max_items,
                "description": format!("The most items to return; more than {0} counts as {0}.", self.max_items)
            }
        })));
        let item_members = members(self.item);
        json!({
            "name": self.name,
            "title": self.title,
            "description": self.description,
            "inputSchema": {
                "type": "object",
                "properties": properties,
                "required": self.required,
                "additionalProperties": false
            },
            "outputSchema": {
                "type": "object",
                "properties": {
                    "items": {
                        "type": "array",
                        "description": "This page, in byte order of paths.",
                        "items": {
                            "type": "object",
                            "required": item_members.keys().collect::<Vec<_>>(),
                            "properties": item_members,
                            "additionalProperties": false
                        }
                    },
                    "next_cursor": {
                        "type": ["string", "null"],
                        "description": "The cursor of the next page; null at the end."
                    },
                    "content_hash": content_hash("the items of this page")
                },
                "required": ["items", "next_cursor", "content_hash"],
                "additionalProperties": false
            },
            "annotations": annotations(self.title, true, false)
        })
    }
}

/// The schema of a content hash over `what`.
pub(crate) fn content_hash(what: &str) -> Value {
    let (plain, keyed) = (ContentHash::prefix(None), ContentHash::prefix(Some(&[])));
    json!({
        "type": "string",
        "pattern": format!("^({plain}|{keyed})[0-9a-f]{{64}}$"),
        "description": format!("SHA-256, or HMAC-SHA-256, of {what}.")
    })
}

/// Whether a writing tool replaces a file that exists, and the sentence about it.
pub(crate) const fn overwriting(settings: &Settings) -> (bool, &'static str) {
    match settings.write_mode {
        WriteMode::Replace => (
            true,
            "An existing file is replaced, completely or not at all.",
        ),
        WriteMode::CreateNew => (false, "An existing file is never overwritten."),
    }
}

/// The schema of a writing tool's condition.
pub(crate) fn if_hash() -> Value {
    json!({
        "type": "string",
        "description": "Write only if the present content has this content_hash; `absent`: only if there is no file."
    })
}

/// Every tool works on the root alone, and doing the same twice changes nothing more.
pub(crate) fn annotations(title: &str, reads: bool, destroys: bool) -> Value {
    json!({
        "title": title,
        "readOnlyHint": reads,
        "destructiveHint": destroys,
        "idempotentHint": true,
        "openWorldHint": false
    })
}

fn members(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(members) => members,
        _ => Map::new(),
    }
}
