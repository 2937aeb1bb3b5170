//! What a component of others says, before anybody hears of it: what it calls
//! JSON must be JSON, and must not break the line it becomes a part of. Our own
//! component is built and tested with this program and is not asked.

use std::collections::HashSet;

use preopen_contract::json;
use preopen_contract::session::ToolResult;
use serde_json::Value;

use super::ComponentError;

/// The longest name of a tool (MCP 2026-07-28, tool names).
const MAX_NAME: usize = 128;

/// The longest list of tools, in bytes; ours takes a hundredth of it.
const MAX_LIST: usize = 1 << 20;

/// Its definitions as MCP has them, without the tools that the operator did
/// not choose (`only`, where it names any) and, with `read_only`, without those
/// that do not say they only read.
///
/// # Errors
/// When `listed` is not an array of definitions.
pub(crate) fn definitions(
    listed: &str,
    only: &[String],
    read_only: bool,
) -> Result<String, ComponentError> {
    let refused = |why: String| ComponentError::Tools(why);
    if listed.len() > MAX_LIST {
        return Err(refused("the list is longer than 1 MiB".to_owned()));
    }
    let Ok(mut tools) = serde_json::from_str::<Vec<Value>>(listed) else {
        return Err(refused("what it lists is not a JSON array".to_owned()));
    };
    let mut names = HashSet::new();
    for (place, tool) in tools.iter().enumerate() {
        let Some(name) = tool["name"].as_str().filter(|name| is_name(name)) else {
            return Err(refused(format!(
                "tool {place} has no name, or one of other characters than letters, digits, `_`, `-` and `.`, or of more than {MAX_NAME}"
            )));
        };
        if !names.insert(name) {
            return Err(refused(format!("{name} is there twice")));
        }
        if tool["inputSchema"]["type"] != "object" {
            return Err(refused(format!(
                "the inputSchema of {name} is not that of an object"
            )));
        }
        let output = tool.get("outputSchema");
        if output.is_some_and(|schema| schema["type"] != "object") {
            return Err(refused(format!(
                "the outputSchema of {name} is not that of an object"
            )));
        }
    }
    tools.retain(|tool| {
        let chosen = only.is_empty() || only.iter().any(|name| tool["name"] == name.as_str());
        chosen && (!read_only || tool["annotations"]["readOnlyHint"] == true)
    });
    Ok(json::text(&tools))
}

fn is_name(name: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte);
    (1..=MAX_NAME).contains(&name.len()) && name.bytes().all(allowed)
}

/// Its answer, if the structured part is an object; on one line. Nothing for
/// one that is not.
pub(crate) fn result(mut result: ToolResult) -> Option<ToolResult> {
    if let Some(structured) = &mut result.structured {
        let value: Value = serde_json::from_str(structured).ok()?;
        if !value.is_object() {
            return None;
        }
        // Numbers and the order of members stay as they are where that can be.
        let breaks =
            |character: char| character < ' ' || matches!(character, '\u{2028}' | '\u{2029}');
        if structured.contains(breaks) {
            *structured = json::text(&value);
        }
    }
    Some(result)
}

/// How many bytes `result` takes as JSON, more or less what a client reads.
pub(crate) fn size(result: &ToolResult) -> usize {
    let structured = result.structured.as_deref();
    let text = result.text.as_deref().or(structured).unwrap_or_default();
    json::text(text).len() + structured.map_or(0, str::len)
}
