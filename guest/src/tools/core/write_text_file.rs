//! write_text_file: one file at the top of the root, complete or not at all.
//! All content goes to a temporary, which the host knows by its name. Finished,
//! it is renamed to replace a file, or linked where there must not be one.

use preopen_contract::json;
use preopen_contract::policy::{RESERVED_PREFIX, RESERVED_SUFFIX};
use serde::Serialize;
use serde_json::{Value, json};
use wasip2::random::random::get_random_bytes;

use crate::bindings::exports::preopen::mcp::tools::{Settings, WriteMode};
use crate::digest::{ContentHash, hex, is_content_hash};
use crate::refusal::Refusal;
use crate::root::{Dir, File, Identity};
use crate::scan::BLOCK_BYTES;
use crate::tools::schema::{annotations, content_hash};
use crate::tools::{Answer, Call, Tool};
use crate::tree::Fault;

/// The longest name, in bytes: what common filesystems take.
const MAX_NAME_BYTES: usize = 255;
/// `if_hash` where there must be no file.
const ABSENT: &str = "absent";

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
    content_hash: String,
}

/// What must be true of the present file.
enum Condition<'a> {
    None,
    Absent,
    Hash(&'a str),
}

fn definition(settings: &Settings) -> Value {
    let title = "Write a text file";
    let limit = settings.limits.max_write_bytes;
    let (replaces, existing) = match settings.write_mode {
        WriteMode::Replace => (
            true,
            "An existing file is replaced, completely or not at all.",
        ),
        WriteMode::CreateNew => (false, "An existing file is never overwritten."),
    };
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
                "if_hash": {
                    "type": "string",
                    "description": "Write only if the present content has this content_hash; `absent`: only if there is no file."
                }
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
    let content = call.arguments.required("content")?;
    let size = content.len() as u64;
    let limit = call.settings.limits.max_write_bytes;
    if size > limit {
        return Err(Refusal::ContentTooLarge { size, limit });
    }
    let key = call.settings.hash_key.as_deref();
    let condition = match call.arguments.string("if_hash")? {
        None => Condition::None,
        Some(ABSENT) => Condition::Absent,
        Some(hash) if is_content_hash(hash, ContentHash::prefix(key)) => Condition::Hash(hash),
        Some(_) => return Err(Refusal::IfHashForm(ContentHash::prefix(key))),
    };
    if !call.settings.root_writable {
        return Err(Refusal::NothingWritable);
    }

    let content = content.as_bytes();
    match (call.settings.write_mode, condition) {
        (WriteMode::Replace, Condition::None) => replace(call, name, content, None)?,
        (WriteMode::Replace, Condition::Hash(hash)) => replace(call, name, content, Some(hash))?,
        (WriteMode::Replace, Condition::Absent) => {
            create(call.root, name, content, Refusal::NotAbsent)?;
        }
        (WriteMode::CreateNew, Condition::None | Condition::Absent) => {
            create(call.root, name, content, Refusal::Exists)?;
        }
        // No file that exists may be written here, and no other one can have the hash.
        (WriteMode::CreateNew, Condition::Hash(_)) => {
            return Err(match call.root.file(name) {
                Err(Fault::Missing) => Refusal::HashOfNothing,
                Err(fault @ (Fault::Excluded | Fault::NotIncluded)) => Refusal::writing(fault),
                _ => Refusal::Exists,
            });
        }
    }
    let mut hash = ContentHash::new(key);
    hash.update(content);
    Ok(Answer::structured(json::text(&Written {
        path: name,
        bytes: content.len(),
        content_hash: hash.finish(),
    })))
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

/// Replaces `name`, or makes it; with a hash (and its key) only if the present content has it.
fn replace(call: &Call<'_>, name: &str, content: &[u8], hash: Option<&str>) -> Result<(), Refusal> {
    let root = call.root;
    let compared = match (root.writable_file(name), hash) {
        (Ok(file), Some(hash)) => Some(compare(&file, hash, call.settings)?),
        (Ok(_), None) => None,
        (Err(Fault::Missing), Some(_)) => return Err(Refusal::HashOfNothing),
        (Err(Fault::Missing), None) => None,
        (Err(fault), _) => return Err(Refusal::writing(fault)),
    };
    place(root, content, |temporary| {
        // As late as can be: what changed since it was compared is not overwritten.
        if compared.is_some_and(|identity| root.identity(name) != Ok(identity)) {
            return Err(Refusal::HashMismatch);
        }
        root.rename(temporary, name).map_err(|fault| match fault {
            // A link, pipe, socket or device opens as missing and is not there to be replaced.
            Fault::Missing => Refusal::NotRegular,
            fault => Refusal::writing(fault),
        })
    })
}

/// Makes `name` and never overwrites; `exists` is what to say where something has the name.
fn create(root: &Dir, name: &str, content: &[u8], exists: Refusal) -> Result<(), Refusal> {
    // What can be known before anything is made; what has the name later, linking finds.
    match root.file(name) {
        Err(Fault::Missing) => {}
        Err(
            fault @ (Fault::Excluded
            | Fault::NotIncluded
            | Fault::Exhausted
            | Fault::Busy
            | Fault::Other),
        ) => {
            return Err(Refusal::writing(fault));
        }
        Ok(_) | Err(_) => return Err(exists),
    }
    place(root, content, |temporary| {
        root.link(temporary, name).map_err(|fault| match fault {
            Fault::Exists => exists,
            fault => Refusal::writing(fault),
        })?;
        // The host may have moved it instead, and else removes it at its next start.
        root.unlink(temporary).ok();
        Ok(())
    })
}

/// Writes `content` to a temporary and to the disk, lets `put` give it its name, and waits until
/// that is on the disk. Whatever fails, no temporary is left.
fn place(
    root: &Dir,
    content: &[u8],
    put: impl FnOnce(&str) -> Result<(), Refusal>,
) -> Result<(), Refusal> {
    let mut temporary = RESERVED_PREFIX.to_owned();
    hex(&mut temporary, &get_random_bytes(16));
    temporary.push_str(RESERVED_SUFFIX);
    let file = root.create(&temporary).map_err(|fault| match fault {
        // Whoever makes a temporary has the turn to write until it is in its place.
        Fault::Busy => Refusal::Busy,
        fault => Refusal::writing(fault),
    })?;
    let written = file
        .write(content)
        .map_err(Refusal::writing)
        .and_then(|()| put(&temporary));
    if written.is_err() {
        // Should this fail, the host removes it when it starts the next time.
        root.unlink(&temporary).ok();
    }
    written?;
    root.sync().map_err(|_| Refusal::Unconfirmed)
}

/// The identity of `file`, if its content has `hash`.
fn compare(file: &File, hash: &str, settings: &Settings) -> Result<Identity, Refusal> {
    let identity = file.identity().map_err(Refusal::writing)?;
    let size = file.size().map_err(Refusal::writing)?;
    let limit = settings.limits.max_file_bytes;
    if size > limit {
        return Err(Refusal::FileTooLarge { size, limit });
    }
    let mut present = ContentHash::new(settings.hash_key.as_deref());
    let mut offset = 0;
    // No further: what is appended meanwhile changes the identity.
    while offset < size {
        let (block, _) = file
            .read(offset, BLOCK_BYTES.min(size - offset))
            .map_err(Refusal::writing)?;
        if block.is_empty() {
            break;
        }
        present.update(&block);
        offset += block.len() as u64;
    }
    if present.finish() == hash {
        Ok(identity)
    } else {
        Err(Refusal::HashMismatch)
    }
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
