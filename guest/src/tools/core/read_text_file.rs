//! read_text_file: the text of a file in chunks that joined are the file. Only
//! the bytes of the page are read.

use preopen_contract::limits::Limits;
use serde_json::json;

use crate::bindings::exports::preopen::mcp::tools::Settings;
use crate::digest::{Fields, STATE};
use crate::item::Value;
use crate::kept::Kept;
use crate::page::Paging;
use crate::refusal::Refusal;
use crate::root::{File, Version};
use crate::text::{CHUNK_BYTES, chunk};
use crate::tools::schema::Reading;
use crate::tools::{Answer, Call, RETRIES, Tool, id};
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

fn definition(settings: &Settings) -> serde_json::Value {
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

fn call(call: &Call<'_>) -> Result<Answer, Refusal> {
    let path = call.arguments.file_path()?;
    let bound = [path.as_str()];
    let paging = Paging::new(
        call.settings,
        call.arguments,
        id::READ_TEXT_FILE,
        &bound,
        MAX_ITEMS,
    )?;
    let [start, ..] = paging.start();
    if let Some((state, Kept::File(file, version))) = paging.kept() {
        let (bytes, at_end) = window(&file, start, version.size).map_err(Refusal::reading)?;
        if file.version().map_err(Refusal::reading)? != version {
            return Err(Refusal::Changed);
        }
        return page(paging, bytes, at_end, state, file, version);
    }
    let file = call.root.asked_file(&path, &mut call.bounds())?;

    let limit = call.settings.limits.max_file_bytes;
    for _ in 0..=RETRIES {
        let version = file.version().map_err(Refusal::reading)?;
        let size = version.size;
        // What fits one chunk never has another page, so nobody asks for its state.
        let state = match paging.resume.is_some() || size > CHUNK_BYTES as u64 {
            true => state(&file)?,
            false => [0; STATE],
        };
        paging.check(state)?;
        if size > limit {
            return Err(Refusal::FileTooLarge { size, limit });
        }
        let (bytes, at_end) = window(&file, start, size).map_err(Refusal::reading)?;
        // What was read is only worth judging if it is of one moment.
        if file.version().map_err(Refusal::reading)? == version {
            return page(paging, bytes, at_end, state, file, version);
        }
    }
    // With a cursor, the check has refused the second try.
    Err(Refusal::KeepsChanging)
}

/// The page of `bytes`, read of `file` when it was in `state`.
fn page(
    mut paging: Paging<'_>,
    bytes: Vec<u8>,
    at_end: bool,
    state: [u8; STATE],
    file: File,
    version: Version,
) -> Result<Answer, Refusal> {
    let [start, ..] = paging.start();
    let next = fill(&mut paging, bytes, start, at_end)?;
    let next = next.map(|offset| ([offset, 0, 0], Kept::File(file, version)));
    paging.finish(|| state, next)
}

/// The state that a cursor depends on.
fn state(file: &File) -> Result<[u8; STATE], Refusal> {
    let mut state = Fields::default();
    state.add(&file.identity().map_err(Refusal::reading)?);
    Ok(state.finish())
}

/// The bytes from `start` that a page can need of a file of `size` bytes, and whether it ends with
/// them.
fn window(file: &File, start: u64, size: u64) -> Result<(Vec<u8>, bool), Fault> {
    // One byte more than is there shows the end; a whole window would cost the host its allocation.
    let rest = size.saturating_sub(start).saturating_add(1);
    let wanted = usize::try_from(rest).map_or(WINDOW_BYTES, |rest| rest.min(WINDOW_BYTES));
    let (mut bytes, mut at_end) = file.read(start, wanted as u64)?;
    while !at_end && bytes.len() < wanted {
        let missing = wanted - bytes.len();
        let (more, ended) = file.read(start + bytes.len() as u64, missing as u64)?;
        at_end = ended || more.is_empty();
        bytes.extend(more);
    }
    Ok((bytes, at_end))
}

/// Fills the page with the chunks of `bytes`, which are at `start`; the answer is where the next
/// page begins.
fn fill(
    paging: &mut Paging<'_>,
    mut bytes: Vec<u8>,
    start: u64,
    at_end: bool,
) -> Result<Option<u64>, Refusal> {
    paging.page.reserve(bytes.len());
    let mut shown = 0;
    let ends = loop {
        let byte_offset = start + shown as u64;
        let rest = bytes.get(shown..).unwrap_or_default();
        if paging.page.is_full() && !rest.is_empty() {
            break false;
        }
        let text = match chunk(rest, at_end) {
            None => break true,
            Some(Ok(text)) => text,
            Some(Err(at)) => return Err(Refusal::NotText(byte_offset + at as u64)),
        };
        let item = [
            ("byte_offset", Value::Number(byte_offset)),
            ("text", Value::Text(text)),
        ];
        if !paging.page.push(&item, &[]) {
            break false;
        }
        shown += text.len();
    };
    // The texts of the page, one behind the other.
    bytes.truncate(shown);
    paging.page.hash(bytes);
    Ok((!ends).then_some(start + shown as u64))
}
