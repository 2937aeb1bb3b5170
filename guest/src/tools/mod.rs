//! The table of tools: which there are, in which order, and which of them the
//! settings leave. A tool gives an answer or a refusal.

mod core;
mod schema;
mod workspace;

use preopen_contract::json;
use preopen_contract::policy::blocked;
use serde_json::Value;

use crate::arguments::Arguments;
use crate::bindings::exports::preopen::mcp::tools::{Settings, Toolset, Unhashed};
use crate::digest::ContentHash;
use crate::refusal::Refusal;
use crate::root::Dir;
use crate::walk::Bounds;

/// A tool.
pub(crate) struct Tool {
    name: &'static str,
    /// Whether it changes files.
    writes: bool,
    /// The names of its arguments.
    arguments: &'static [&'static str],
    /// Its definition for `tools/list`.
    definition: fn(&Settings) -> Value,
    call: fn(&Call<'_>) -> Result<Answer, Refusal>,
}

/// What a tool answers. At least one of the two is there.
pub(crate) struct Answer {
    /// The structured answer, as JSON text that fits the tool's output schema.
    pub(crate) structured: Option<String>,
    /// The answer for a reader; where it is absent the structured one is shown.
    pub(crate) text: Option<String>,
    /// The content hash that the structured answer still lacks.
    pub(crate) unhashed: Option<Unhashed>,
}

impl Answer {
    /// One that is complete but for the content hash of what was written, which the host has seen:
    /// it is the last member of `json`, which lacks what closes it, and belongs at this place in
    /// the text.
    pub(crate) fn hashed_as_written(mut json: String, text: Option<(String, usize)>) -> Self {
        let place = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        let unhashed = Unhashed {
            content: None,
            at: place(json.len()),
            text_at: text.as_ref().map(|(_, at)| place(*at)),
        };
        json.push_str("\"}");
        Self {
            structured: Some(json),
            text: text.map(|(text, _)| text),
            unhashed: Some(unhashed),
        }
    }

    /// One that is structured alone, and complete but for the text of its content hash, its last
    /// member, and what closes it.
    pub(crate) fn structured(mut json: String, hash: ContentHash) -> Self {
        let unhashed = hash.close(&mut json);
        Self {
            structured: Some(json),
            text: None,
            unhashed,
        }
    }
}

/// One call of a tool.
pub(crate) struct Call<'a> {
    settings: &'a Settings,
    root: &'a Dir,
    arguments: &'a Arguments,
}

impl Call<'_> {
    /// A refusal as this server can help with it.
    fn told(&self, refusal: Refusal) -> Refusal {
        match refusal {
            Refusal::NotText(at) if find(self.settings, "read_file").is_some() => {
                Refusal::NotTextHere(at)
            }
            // Only workspaces block names; whether by an exclude rule as well, the host knows alone.
            Refusal::Excluded if self.settings.toolset != Toolset::Core => {
                let path = self.arguments.file_path().ok();
                path.and_then(|path| blocked(path.as_str()))
                    .map_or(Refusal::Excluded, Refusal::Blocked)
            }
            refusal => refusal,
        }
    }

    /// What this call may visit.
    fn bounds(&self) -> Bounds {
        let limits = &self.settings.limits;
        Bounds::new(limits.max_entries, limits.max_depth)
    }
}

/// How often a page is made again because a file changed meanwhile.
const RETRIES: usize = 3;

/// The number of a tool in its cursors; never given to another one.
mod id {
    pub(crate) const LIST_DIRECTORY: u8 = 1;
    pub(crate) const SEARCH_FILES: u8 = 2;
    pub(crate) const SEARCH_TEXT: u8 = 3;
    pub(crate) const READ_TEXT_FILE: u8 = 4;
}

/// The tools that `settings` leave, in the order they are listed.
fn served(settings: &Settings) -> impl Iterator<Item = &'static Tool> {
    let (core, workspace) = match settings.toolset {
        Toolset::Core => (core::TOOLS, &[][..]),
        Toolset::Workspace => (&[][..], workspace::TOOLS),
        Toolset::All => (core::TOOLS, workspace::TOOLS),
    };
    core.iter().chain(workspace).filter(|tool| {
        let named = settings.only.is_empty() || settings.only.iter().any(|name| name == tool.name);
        named && !(tool.writes && settings.read_only)
    })
}

/// The definitions of the served tools: a JSON array.
pub(crate) fn definitions(settings: &Settings) -> String {
    let definitions: Vec<Value> = served(settings)
        .map(|tool| (tool.definition)(settings))
        .collect();
    json::text(&definitions)
}

/// The names of the served tools.
pub(crate) fn names(settings: &Settings) -> impl Iterator<Item = &'static str> {
    served(settings).map(|tool| tool.name)
}

/// The served tool of this name.
pub(crate) fn find(settings: &Settings, name: &str) -> Option<&'static Tool> {
    served(settings).find(|tool| tool.name == name)
}

/// Calls `tool` with `arguments`, the text of a JSON object.
pub(crate) fn call(
    tool: &Tool,
    settings: &Settings,
    root: &Dir,
    arguments: String,
) -> Result<Answer, Refusal> {
    let parsed = Arguments::parse(arguments, tool.arguments)?;
    let call = Call {
        settings,
        root,
        arguments: &parsed,
    };
    (tool.call)(&call).map_err(|refusal| call.told(refusal))
}

#[cfg(test)]
mod tests;
