//! write_file: a whole file anywhere in the root, complete or not at all, with
//! the directories it needs; from text, or from base64 for any bytes.

use preopen_contract::json;
use preopen_contract::limits::Limits;
use serde::Serialize;
use serde_json::{Value, json};

use crate::base64_text;
use crate::bindings::exports::preopen::mcp::tools::Settings;
use crate::digest::ContentHash;
use crate::placing::{self, Condition, Content, Sink};
use crate::refusal::Refusal;
use crate::report::counted;
use crate::tools::schema::{annotations, content_hash, if_hash, overwriting};
use crate::tools::{Answer, Call, Tool};

pub(super) const TOOL: Tool = Tool {
    name: "write_file",
    writes: true,
    arguments: &["path", "content", "binary", "if_hash"],
    definition,
    call,
};

#[derive(Serialize)]
struct Written<'a> {
    path: &'a str,
    bytes: u64,
    replaced: bool,
    created_directories: usize,
}

fn definition(settings: &Settings) -> Value {
    let title = "Write a file";
    let limit = settings.limits.max_write_bytes;
    let limit = Limits::TABLE
        .iter()
        .find(|row| row.flag == "max-write-bytes")
        .map_or_else(|| limit.to_string(), |row| row.display(limit));
    let (replaces, existing) = overwriting(settings);
    json!({
        "name": TOOL.name,
        "title": title,
        "description": format!("Writes a whole file of at most {limit}, and makes the directories it needs. {existing}"),
        "inputSchema": {
            "type": "object",
            "properties": {
                "path": {
                    "type": "string",
                    "description": "The file, relative to the root, such as `notes/today.md`."
                },
                "content": {
                    "type": "string",
                    "description": "The whole new content: text, or base64 with binary."
                },
                "binary": {
                    "type": "boolean",
                    "default": false,
                    "description": "Whether content is base64 (RFC 4648, with padding; line breaks are allowed)."
                },
                "if_hash": if_hash()
            },
            "required": ["path", "content"],
            "additionalProperties": false
        },
        "outputSchema": {
            "type": "object",
            "properties": {
                "path": {"type": "string", "description": "The path from the root."},
                "bytes": {"type": "integer", "minimum": 0, "description": "How many bytes were written."},
                "content_hash": content_hash("the bytes written"),
                "replaced": {"type": "boolean", "description": "Whether a file was there before."},
                "created_directories": {"type": "integer", "minimum": 0, "description": "How many directories were made for it."}
            },
            "required": ["path", "bytes", "content_hash", "replaced", "created_directories"],
            "additionalProperties": false
        },
        "annotations": annotations(title, false, replaces)
    })
}

/// What was sent, as it came.
enum Sent<'a> {
    Text(&'a [u8]),
    Base64(&'a [u8]),
}

impl Content for Sent<'_> {
    fn blocks(&self, each: Sink<'_>) -> Result<(), Refusal> {
        match self {
            Self::Text(text) => text.blocks(each),
            Self::Base64(text) => base64_text::decode(text, each),
        }
    }
}

impl Sent<'_> {
    /// Its size, which shows too whether it can be decoded at all.
    fn size(&self, limit: u64) -> Result<u64, Refusal> {
        let mut size = 0;
        match self {
            Self::Text(text) => size = text.len() as u64,
            Self::Base64(text) => base64_text::decode(text, &mut |block| {
                size += block.len() as u64;
                Ok(())
            })?,
        }
        match size > limit {
            true => Err(Refusal::ContentTooLarge { size, limit }),
            false => Ok(size),
        }
    }

    fn hash(&self, key: Option<&[u8]>) -> Result<String, Refusal> {
        let mut hash = ContentHash::new(key);
        self.blocks(&mut |block| {
            hash.update(block);
            Ok(())
        })?;
        Ok(hash.finish())
    }
}

fn call(call: &Call<'_>) -> Result<Answer, Refusal> {
    let path = call.arguments.file_path()?;
    let content = call.arguments.content("content")?;
    let content = match call.arguments.strict_boolean("binary")? {
        false => Sent::Text(content),
        true => Sent::Base64(content),
    };
    let condition = Condition::parse(call.arguments.string("if_hash")?, call.settings)?;
    if path.is_root() {
        return Err(Refusal::IsDirectory);
    }
    let path = path.as_str();
    let Settings {
        host_hashes,
        hash_key,
        limits,
        ..
    } = call.settings;
    let bytes = content.size(limits.max_write_bytes)?;
    let placed = placing::place(call.root, call.settings, path, condition, &content)?;
    let hash = match host_hashes {
        true => String::new(),
        false => content.hash(hash_key.as_deref())?,
    };

    let done = match placed.replaced {
        true => "Replaced",
        false => "Created",
    };
    let size = counted(bytes, "byte", "bytes");
    let mut text = format!("{done} {path} ({size}, ");
    let at = text.len();
    text.push_str(&hash);
    text.push(')');
    match placed.directories {
        0 => {}
        1 => text.push_str("\nCreated its directory too"),
        made => text.push_str(&format!("\nCreated {made} directories for it too")),
    }
    let mut written = json::text(&Written {
        path,
        bytes,
        replaced: placed.replaced,
        created_directories: placed.directories,
    });
    // The hash is the last member.
    written.pop();
    written.push_str(r#","content_hash":""#);
    if *host_hashes {
        return Ok(Answer::hashed_as_written(written, Some((text, at))));
    }
    written.push_str(&hash);
    written.push_str("\"}");
    Ok(Answer {
        structured: Some(written),
        text: Some(text),
        unhashed: None,
    })
}
