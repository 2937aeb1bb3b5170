//! The component of preopen-mcp: the tools of a filesystem MCP server, for
//! whatever directory the host grants, and in `standalone` the server around
//! them, for hosts that know neither the protocol nor the rules. The tools know
//! neither the one nor the other, nor where on the host the root is.

// Not `forbid`: the exports that wit-bindgen generates are unsafe functions, and nothing else is.
#![deny(unsafe_code)]

mod arguments;
mod base64_text;
mod cursor;
mod digest;
mod excerpts;
mod hits;
mod item;
mod kept;
mod likely;
mod lines;
mod literal;
mod names;
mod needle;
mod page;
mod parents;
mod paths;
mod placing;
mod refusal;
mod removal;
mod report;
mod root;
mod scan;
mod standalone;
mod survey;
mod text;
mod tools;
mod tree;
mod walk;

/// The bindings of `wit/preopen-mcp.wit`.
mod bindings {
    wit_bindgen::generate!({ path: "../wit", world: "guest" });
}

use bindings::exports::preopen::mcp::tools::{CallError, Guest, Settings, ToolResult};
use root::Dir;
use wasip2::exports::cli::run::Guest as Run;

/// What the fuzzer calls; no other build has it.
#[cfg(fuzzing)]
pub mod fuzzing {
    /// Checks what must hold of cursors, with the choices that `data` makes.
    pub fn cursor(data: &[u8]) {
        crate::cursor::property::check(data);
    }
}

/// What the world's exports are called on.
struct Component;

impl Guest for Component {
    fn list_tools(settings: Settings) -> String {
        tools::definitions(&settings)
    }

    fn call_tool(
        settings: Settings,
        name: String,
        arguments: String,
    ) -> Result<ToolResult, CallError> {
        match &settings.rules {
            None => respond(&settings, &name, root::granted().as_ref(), arguments),
            Some(rules) => standalone::ruled(rules, &settings, &name, arguments),
        }
    }
}

impl Run for Component {
    fn run() -> Result<(), ()> {
        standalone::run()
    }
}

/// Calls the tool `name` on `root`, whichever host this is.
fn respond(
    settings: &Settings,
    name: &str,
    root: Option<&Dir>,
    arguments: String,
) -> Result<ToolResult, CallError> {
    let tool = tools::find(settings, name).ok_or(CallError::UnknownTool)?;
    let root = root.ok_or(CallError::NoRoot)?;
    if !settings.files_unchanged {
        kept::forget();
    }
    Ok(match tools::call(tool, settings, root, arguments) {
        Ok(answer) => ToolResult {
            structured: answer.structured,
            text: answer.text,
            is_error: false,
            kept_for: kept::cursor(),
            unhashed: answer.unhashed,
        },
        Err(refusal) => ToolResult {
            structured: None,
            text: Some(refusal.to_string()),
            is_error: true,
            kept_for: None,
            unhashed: None,
        },
    })
}

/// The exports themselves, generated.
#[expect(unsafe_code, reason = "the canonical ABI passes raw pointers")]
mod exports {
    use crate::{Component, bindings};

    bindings::export!(Component with_types_in bindings);
    wasip2::cli::command::export!(Component);
}
