//! write_text_file: one file at the top of the root, complete or not at all.
//! How it gets into its place is not said here.

use preopen_contract::json;
use serde::Serialize;
use serde_json::{Value, json};

use crate::bindings::exports::preopen::mcp::tools::Settings;
use crate::digest::ContentHash;
use crate::placing::{self, Condition};
use crate::refusal::Refusal;
use crate::tools::schema::{annotations, content_hash, if_hash, overwriting};
use crate::tools::{Answer, Call, Tool};

/// The longest name, in bytes: what common filesystems take.
const MAX_NAME_BYTES: usize = 255;

pub(super) const TOOL: Tool = Tool {
    name: "write_text_file",
    writes: true,
    arguments: &["path", "content", "if_hash"],
    definition,
    call,
};

#[derive(Serialize)]
struct Written<'a> {
    path: &'a str,
    bytes: usize,
}

fn definition(settings: &Settings) -> Value {
    let title = "Write a text file";
    let limit = settings.limits.max_write_bytes;
    let (replaces, existing) = overwriting(settings);
    json!({
        "name": TOOL.name,
        "title": title,
        "description": format!("Writes one text file at the top of the root, at most {limit} bytes. {existing}"),
        "inputSchema": {
            "type": "object",
            "properties": {
                "path": {
                    "type": "string",
                    "pattern": format!("^[a-z0-9][a-z0-9._-]{{0,{}}}$", MAX_NAME_BYTES - 1),
                    "description": "The file's name, without directories: lower-case letters, digits, `.`, `_` and `-`, such as `notes.md`."
                },
                "content": {
                    "type": "string",
                    "description": "The whole new content."
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
                "content_hash": content_hash("the bytes written")
            },
            "required": ["path", "bytes", "content_hash"],
            "additionalProperties": false
        },
        "annotations": annotations(title, false, replaces)
    })
}

fn call(call: &Call<'_>) -> Result<Answer, Refusal> {
    let path = call.arguments.file_path()?;
    let name = path.as_str();
    if !is_basename(name) {
        return Err(Refusal::NotABasename);
    }
    let content = call.arguments.content("content")?;
    let size = content.len() as u64;
    let limit = call.settings.limits.max_write_bytes;
    if size > limit {
        return Err(Refusal::ContentTooLarge { size, limit });
    }
    let condition = Condition::parse(call.arguments.string("if_hash")?, call.settings)?;
    if !call.settings.root_writable {
        return Err(Refusal::NothingWritable);
    }
    placing::place(call.root, call.settings, name, condition, content)?;
    let mut written = json::text(&Written {
        path: name,
        bytes: content.len(),
    });
    // The hash is the last member.
    written.pop();
    written.push_str(r#","content_hash":""#);
    if call.settings.host_hashes {
        return Ok(Answer::hashed_as_written(written, None));
    }
    let mut hash = ContentHash::new(call.settings.hash_key.as_deref());
    hash.update(content);
    Ok(Answer::structured(written, hash))
}

/// `[a-z0-9][a-z0-9._-]{0,254}`.
fn is_basename(name: &str) -> bool {
    name.len() <= MAX_NAME_BYTES
        && name
            .bytes()
            .next()
            .is_some_and(|first| matches!(first, b'a'..=b'z' | b'0'..=b'9'))
        && name
            .bytes()
            .all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'.' | b'_' | b'-'))
}

#[cfg(test)]
mod tests {
    use super::is_basename;

    #[test]
    fn a_basename_follows_the_rule() {
        let longest = "a".repeat(255);
        for good in ["a", "0", "a.txt", "a..b", "a-_.", longest.as_str()] {
            assert!(is_basename(good), "{good}");
        }
        let too_long = "a".repeat(256);
        for bad in [
            "", ".", "..", ".a", "-a", "_a", "A", "aB", "a/b", "a b", "é", "a\n", &too_long,
        ] {
            assert!(!is_basename(bad), "{bad}");
        }
    }
}
