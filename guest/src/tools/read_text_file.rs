//! read_text_file: the text of a file in chunks that joined are the file. Only
//! the bytes of the page are read.

use preopen_contract::limits::Limits;
use serde::Serialize;
use serde_json::{Value, json};

use crate::bindings::exports::preopen::mcp::tools::Settings;
use crate::digest::Fields;
use crate::page::Paging;
use crate::refusal::Refusal;
use crate::root::File;
use crate::text::{CHUNK_BYTES, chunk};
use crate::tools::schema::Reading;
use crate::tools::{Call, RETRIES, Tool, id};
use crate::tree::Fault;

const MAX_ITEMS: usize = 8;
/// What a page is read from: its chunks, and enough behind them to tell whether more follows.
const WINDOW_BYTES: usize = MAX_ITEMS * CHUNK_BYTES + 4;

pub(super) const TOOL: Tool = Tool {
    name: "read_text_file",
    writes: false,
    arguments: &["path", "cursor", "limit"],
    definition,
    call,
};

#[derive(Serialize)]
struct Item<'a> {
    byte_offset: u64,
    text: &'a str,
}

fn definition(settings: &Settings) -> Value {
    let largest = settings.limits.max_file_bytes;
    let largest = Limits::TABLE
        .iter()
        .find(|limit| limit.flag == "max-file-bytes")
        .map_or_else(|| largest.to_string(), |limit| limit.display(largest));
    Reading {
        name: TOOL.name,
        title: "Read a text file",
        description: format!("Reads a UTF-8 text file of at most {largest} in chunks: their texts joined are the file exactly. Pages: while next_cursor is not null, call again with it as cursor."),
        properties: json!({
            "path": {
                "type": "string",
                "description": "The file, relative to the root, such as `src/lib.rs`."
            }
        }),
        required: &["path"],
        max_items: MAX_ITEMS,
        item: json!({
            "byte_offset": {"type": "integer", "minimum": 0, "description": "Where the chunk begins in the file, in bytes."},
            "text": {"type": "string", "description": format!("At most {CHUNK_BYTES} bytes of the file, cut between characters.")}
        }),
    }
    .definition()
}

fn call(call: &Call<'_>) -> Result<String, Refusal> {
    let path = call.arguments.file_path()?;
    let mut paging = Paging::new(
        call.settings,
        call.arguments,
        id::READ_TEXT_FILE,
        &[path.as_str()],
        MAX_ITEMS,
    )?;
    let file = call.root.asked_file(&path, &mut call.bounds())?;
    let [start, ..] = paging.start();

    for _ in 0..=RETRIES {
        let identity = file.identity().map_err(Refusal::reading)?;
        let mut state = Fields::default();
        state.add(&identity);
        paging.check(&state)?;
        let size = file.size().map_err(Refusal::reading)?;
        let limit = call.settings.limits.max_file_bytes;
        if size > limit {
            return Err(Refusal::FileTooLarge { size, limit });
        }
        let (bytes, at_end) = window(&file, start).map_err(Refusal::reading)?;
        // What was read is only worth judging if it is of one moment.
        if file.identity().map_err(Refusal::reading)? == identity {
            let next = fill(&mut paging, &bytes, start, at_end)?;
            return paging.finish(state, next.map(|offset| [offset, 0, 0]));
        }
    }
    // With a cursor, the check has refused the second try.
    Err(Refusal::KeepsChanging)
}

/// The bytes from `start` that a page can need, and whether the file ends with them.
fn window(file: &File, start: u64) -> Result<(Vec<u8>, bool), Fault> {
    let mut bytes = Vec::new();
    loop {
        let wanted = WINDOW_BYTES - bytes.len();
        let (more, at_end) = file.read(start + bytes.len() as u64, wanted as u64)?;
        let nothing = more.is_empty();
        bytes.extend(more);
        if at_end || nothing {
            return Ok((bytes, true));
        }
        if bytes.len() >= WINDOW_BYTES {
            return Ok((bytes, false));
        }
    }
}

/// Fills the page with the chunks of `bytes`, which are at `start`; the answer is where the next
/// page begins.
fn fill(
    paging: &mut Paging<'_>,
    bytes: &[u8],
    start: u64,
    at_end: bool,
) -> Result<Option<u64>, Refusal> {
    let mut rest = bytes;
    loop {
        let byte_offset = start + (bytes.len() - rest.len()) as u64;
        if paging.page.is_full() && !rest.is_empty() {
            return Ok(Some(byte_offset));
        }
        let text = match chunk(rest, at_end) {
            None => return Ok(None),
            Some(Ok(text)) => text,
            Some(Err(at)) => return Err(Refusal::NotText(byte_offset + at as u64)),
        };
        if !paging
            .page
            .push(&Item { byte_offset, text }, &[text.as_bytes()])
        {
            return Ok(Some(byte_offset));
        }
        rest = rest.get(text.len()..).unwrap_or_default();
    }
}
