//! search_files: the paths that contain a literal.

use memchr::memmem;
use serde_json::json;

use crate::arguments::MAX_QUERY_BYTES;
use crate::bindings::exports::preopen::mcp::tools::Settings;
use crate::digest::{Fields, STATE};
use crate::item::Value;
use crate::kept::Kept;
use crate::page::Paging;
use crate::paths::Paths;
use crate::refusal::Refusal;
use crate::root::Asked;
use crate::tools::schema::Reading;
use crate::tools::{Answer, Call, Tool, id};
use crate::walk::Walk;

const MAX_ITEMS: usize = 200;

pub(super) const TOOL: Tool = Tool {
    name: "search_files",
    writes: false,
    arguments: &["query", "cursor", "limit"],
    definition,
    call,
};

fn definition(_settings: &Settings) -> serde_json::Value {
    Reading {
        name: TOOL.name,
        title: "Find files by path",
        description: "Finds the files whose path from the root contains the query, everywhere below the root. The query is literal and case-sensitive, no pattern. Pages: while next_cursor is not null, call again with it as cursor.".to_owned(),
        properties: json!({
            "query": {
                "type": "string",
                "minLength": 1,
                "description": format!("A part of the path, such as `.rs` or `src/`: one line of 1 to {MAX_QUERY_BYTES} bytes.")
            }
        }),
        required: &["query"],
        max_items: MAX_ITEMS,
        item: json!({
            "path": {"type": "string", "description": "The path from the root."}
        }),
    }
    .definition()
}

fn call(call: &Call<'_>) -> Result<Answer, Refusal> {
    let query = call.arguments.query("query")?;
    let bound = [query];
    let mut paging = Paging::new(
        call.settings,
        call.arguments,
        id::SEARCH_FILES,
        &bound,
        MAX_ITEMS,
    )?;
    let [skip, ..] = paging.start();
    if let Some((state, Kept::Paths(rest))) = paging.kept() {
        return go_on(paging, state, rest);
    }
    let finder = memmem::Finder::new(query);
    let mut state = Fields::default();
    let mut matching = 0;
    let mut next = None;
    let mut rest = Paths::default();
    let mut bounds = call.bounds();
    let mut walk = Walk::new(Asked::Root(call.root), "", &mut bounds)?;
    while let Some(file) = walk.next()? {
        let path = file.path.as_bytes();
        if finder.find(path).is_none() {
            continue;
        }
        state.add(path);
        if next.is_none() && matching >= skip && !push(&mut paging, file.path) {
            next = Some([matching, 0, 0]);
        }
        if next.is_some() {
            rest.push(file.path);
        }
        matching += 1;
    }
    if matching == 0 {
        call.root.serves_something()?;
    }
    let next = next.map(|position| (position, Kept::Paths(rest)));
    paging.finish(|| state.finish(), next)
}

/// The page of what was kept: the paths in `rest`, in `state`.
fn go_on(mut paging: Paging<'_>, state: [u8; STATE], mut rest: Paths) -> Result<Answer, Refusal> {
    let [mut index, ..] = paging.start();
    let next = loop {
        match rest.peek() {
            None => break None,
            Some(path) if !push(&mut paging, path) => break Some([index, 0, 0]),
            Some(_) => rest.advance(),
        }
        index += 1;
    };
    let next = next.map(|position| (position, Kept::Paths(rest)));
    paging.finish(|| state, next)
}

/// Adds a path to the page. False: there is no room.
fn push(paging: &mut Paging<'_>, path: &str) -> bool {
    let item = [("path", Value::Text(path))];
    paging.page.push(&item, &[path.as_bytes(), b"\n"])
}
