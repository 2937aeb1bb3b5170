//! read_file: a whole file as text, exactly, or as base64; its size and hash
//! stand in one line before it. It is made in the one buffer that is handed
//! over, so a large file is in memory once.

use std::str;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use preopen_contract::limits::Limits;
use serde_json::{Value, json};
use simdutf8::compat::from_utf8;

use crate::bindings::exports::preopen::mcp::tools::Settings;
use crate::digest::ContentHash;
use crate::refusal::Refusal;
use crate::report::one_line;
use crate::root::File;
use crate::tools::schema::annotations;
use crate::tools::{Answer, Call, RETRIES, Tool};

/// What is read at once, in bytes: a multiple of three, so that base64 goes on without padding.
const BLOCK: u64 = 3 << 18;

/// What stands between the hash and the content.
const AFTER: &str = "):\n\n";

pub(super) const TOOL: Tool = Tool {
    name: "read_file",
    writes: false,
    arguments: &["path", "binary"],
    definition,
    call,
};

fn definition(settings: &Settings) -> Value {
    let title = "Read a file";
    let largest = settings.limits.max_file_bytes;
    let largest = Limits::TABLE
        .iter()
        .find(|limit| limit.flag == "max-file-bytes")
        .map_or_else(|| largest.to_string(), |limit| limit.display(largest));
    json!({
        "name": TOOL.name,
        "title": title,
        "description": format!("Reads a whole file of at most {largest}. The first line of the answer says its path, size and content hash, the second is empty, and then comes the text exactly, or with binary the bytes as base64."),
        "inputSchema": {
            "type": "object",
            "properties": {
                "path": {
                    "type": "string",
                    "description": "The file, relative to the root, such as `src/lib.rs`."
                },
                "binary": {
                    "type": "boolean",
                    "default": false,
                    "description": "Whether to give the bytes as base64 (RFC 4648, with padding); needed for what is not UTF-8 text."
                }
            },
            "required": ["path"],
            "additionalProperties": false
        },
        "annotations": annotations(title, true, false)
    })
}

fn call(call: &Call<'_>) -> Result<Answer, Refusal> {
    let path = call.arguments.file_path()?;
    let binary = call.arguments.strict_boolean("binary")?;
    let file = call.root.asked_plain_file(&path)?;
    let limit = call.settings.limits.max_file_bytes;
    let hash_key = call.settings.hash_key.as_deref();
    for _ in 0..=RETRIES {
        let version = file.version().map_err(Refusal::reading)?;
        let size = version.size;
        if size > limit {
            return Err(Refusal::FileTooLarge { size, limit });
        }
        let whole = whole(&file, path.as_str(), size, binary, hash_key);
        // Also what it is refused for has to be of one moment.
        if file.version().map_err(Refusal::reading)? == version {
            return whole.map(|text| Answer {
                structured: None,
                text: Some(text),
                unhashed: None,
            });
        }
    }
    Err(Refusal::KeepsChanging)
}

/// The answer for `file`, of which no more than `size` bytes are read.
fn whole(
    file: &File,
    path: &str,
    size: u64,
    binary: bool,
    hash_key: Option<&[u8]>,
) -> Result<String, Refusal> {
    let before = format!("Content of {} ({size} bytes, ", one_line(path));
    // The hash is known at the end, and its length now.
    let hash = before.len()..before.len() + ContentHash::length(hash_key);
    let mut body = Body::new(binary, size, hash.end + AFTER.len())?;
    body.out.push_str(&before);
    body.out.extend(std::iter::repeat_n('0', hash.len()));
    body.out.push_str(AFTER);

    let mut digest = ContentHash::new(hash_key);
    let mut offset = 0;
    while offset < size {
        let block = block(file, offset, BLOCK.min(size - offset))?;
        if block.is_empty() {
            // It has shrunk, which its version says too.
            break;
        }
        digest.update(&block);
        offset += block.len() as u64;
        body.push(&block)?;
    }
    let mut out = body.finish()?;
    out.replace_range(hash, &digest.finish());
    Ok(out)
}

/// Exactly `len` bytes from `offset`, fewer only at the end of the file.
fn block(file: &File, offset: u64, len: u64) -> Result<Vec<u8>, Refusal> {
    let read = |offset, len| file.read(offset, len).map_err(Refusal::reading);
    let (mut bytes, _) = read(offset, len)?;
    while (bytes.len() as u64) < len {
        let done = bytes.len() as u64;
        let (more, _) = read(offset + done, len - done)?;
        if more.is_empty() {
            break;
        }
        bytes.extend(more);
    }
    Ok(bytes)
}

/// The answer in the making: bytes become the text that stands for them.
struct Body {
    out: String,
    binary: bool,
    /// How many bytes went in.
    taken: u64,
    /// The beginning of a character that the next block goes on with.
    cut: Vec<u8>,
}

impl Body {
    /// Room for `size` bytes behind `header` bytes, and not a byte more: a buffer that is full is
    /// handed over without being copied.
    fn new(binary: bool, size: u64, header: usize) -> Result<Self, Refusal> {
        let length = match binary {
            true => size.div_ceil(3).saturating_mul(4),
            false => size,
        };
        let mut out = String::new();
        usize::try_from(length)
            .ok()
            .and_then(|length| length.checked_add(header))
            .and_then(|length| out.try_reserve_exact(length).ok())
            .ok_or(Refusal::OutOfMemory(size))?;
        Ok(Self {
            out,
            binary,
            taken: 0,
            cut: Vec::new(),
        })
    }

    /// Takes a block; every one but the last is a multiple of three bytes long.
    fn push(&mut self, block: &[u8]) -> Result<(), Refusal> {
        if self.binary {
            STANDARD.encode_string(block, &mut self.out);
            return Ok(());
        }
        let rest = self.complete(block)?;
        match from_utf8(rest) {
            Ok(text) => self.out.push_str(text),
            Err(error) => {
                let (text, cut) = rest.split_at(error.valid_up_to());
                self.out.push_str(str::from_utf8(text).unwrap_or_default());
                self.taken += text.len() as u64;
                if error.error_len().is_some() {
                    return Err(Refusal::Binary(self.taken));
                }
                self.cut.extend_from_slice(cut);
                return Ok(());
            }
        }
        self.taken += rest.len() as u64;
        Ok(())
    }

    /// Completes the character that the block before has begun; the answer is what follows it.
    fn complete<'b>(&mut self, mut block: &'b [u8]) -> Result<&'b [u8], Refusal> {
        while !self.cut.is_empty() {
            let Some((next, rest)) = block.split_first() else {
                break;
            };
            self.cut.push(*next);
            match str::from_utf8(&self.cut) {
                Ok(text) => {
                    self.out.push_str(text);
                    self.taken += self.cut.len() as u64;
                    self.cut.clear();
                }
                Err(error) if error.error_len().is_some() => {
                    return Err(Refusal::Binary(self.taken));
                }
                Err(_) => {}
            }
            block = rest;
        }
        Ok(block)
    }

    fn finish(self) -> Result<String, Refusal> {
        match self.cut.is_empty() {
            true => Ok(self.out),
            false => Err(Refusal::Binary(self.taken)),
        }
    }
}

#[cfg(test)]
mod tests {
    use base64::Engine;
    use base64::engine::general_purpose::STANDARD;
    use proptest::prelude::*;

    use super::Body;
    use crate::refusal::Refusal;

    fn body(bytes: &[u8], binary: bool, block: usize) -> Result<String, Refusal> {
        let mut body = Body::new(binary, bytes.len() as u64, 0)?;
        let room = body.out.capacity();
        for block in bytes.chunks(block) {
            body.push(block)?;
        }
        assert_eq!(body.out.capacity(), room, "one buffer");
        body.finish()
    }

    fn bytes() -> impl Strategy<Value = Vec<u8>> {
        prop_oneof![
            "[aé界🙂\r\n\u{feff}\u{0}]{0,40}".prop_map(String::into_bytes),
            prop::collection::vec(any::<u8>(), 0..9),
            prop::collection::vec(
                prop::sample::select(b"a\xe2\x82\xac\xf0\x9f\x99\x82\xc3\xa9".to_vec()),
                0..12
            ),
        ]
    }

    proptest! {
        #[test]
        fn text_is_the_file_or_refused_where_it_is_none(bytes in bytes(), block in 1_usize..9) {
            let expected = match std::str::from_utf8(&bytes) {
                Ok(text) => Ok(text.to_owned()),
                Err(error) => Err(Refusal::Binary(error.valid_up_to() as u64)),
            };
            prop_assert_eq!(body(&bytes, false, block), expected);
        }

        #[test]
        fn base64_does_not_depend_on_the_blocks(bytes in bytes(), thirds in 1_usize..4) {
            prop_assert_eq!(body(&bytes, true, 3 * thirds), Ok(STANDARD.encode(&bytes)));
        }
    }

    #[test]
    fn what_no_memory_holds_is_refused() {
        assert_eq!(body_of(u64::MAX), Some(Refusal::OutOfMemory(u64::MAX)));
        assert_eq!(body_of(1), None);
    }

    fn body_of(size: u64) -> Option<Refusal> {
        Body::new(true, size, 100).err()
    }
}
