//! What is in a result, as each era has it. Everything here is JSON text,
//! spliced from text that is known to be valid.

use super::era::{Era, Version};
use super::reply::ToolResult;
use super::{Identity, PROTOCOL_VERSION};
use crate::json;

/// How long a client may keep a list, in milliseconds: the lists never change
/// while the process lives, and an hour bounds how long a restart goes unseen.
const TTL_MS: u32 = 3_600_000;

/// What is offered: tools, and a list of them that never changes.
const CAPABILITIES: &str = "\"capabilities\":{\"tools\":{}}";

/// The result of `server/discover`.
pub(super) fn discover(identity: &Identity) -> String {
    let mut out = begin(identity, Era::Modern);
    out.push_str("\"supportedVersions\":[\"");
    out.push_str(PROTOCOL_VERSION);
    out.push_str("\"],");
    out.push_str(CAPABILITIES);
    instructions(&mut out, identity);
    cacheable(&mut out);
    out.push('}');
    out
}

/// The result of `initialize`.
pub(super) fn initialize(identity: &Identity, version: Version) -> String {
    let mut out = begin(identity, Era::Legacy(version));
    out.push_str("\"protocolVersion\":\"");
    out.push_str(version.name());
    out.push_str("\",");
    out.push_str(CAPABILITIES);
    out.push_str(",\"serverInfo\":");
    server_info(&mut out, identity);
    instructions(&mut out, identity);
    out.push('}');
    out
}

/// The result of `tools/list`; `tools` is an array.
pub(super) fn list(identity: &Identity, era: Era, tools: &str) -> String {
    let mut out = begin(identity, era);
    out.push_str("\"tools\":");
    out.push_str(tools);
    if era == Era::Modern {
        cacheable(&mut out);
    }
    out.push('}');
    out
}

/// About how many bytes the result of `tools/call` takes.
pub(super) fn tool_bytes(result: &ToolResult) -> usize {
    let structured = result.structured.as_ref().map_or(0, String::len);
    let text = result.text.as_ref().map_or(structured, String::len);
    structured + text + text / 4 + 512
}

/// Appends the result of `tools/call`.
pub(super) fn tool(out: &mut String, identity: &Identity, era: Era, result: &ToolResult) {
    let structured = result.structured.as_deref();
    let shown = structured.filter(|_| era.has_structure());
    out.push_str(&begin(identity, era));
    out.push_str("\"content\":[{\"type\":\"text\",\"text\":");
    match &result.text {
        Some(text) => {
            json::quote(out, text);
        }
        None => json::requote(out, structured.unwrap_or_default()),
    }
    out.push_str("}]");
    if let Some(structured) = shown {
        out.push_str(",\"structuredContent\":");
        out.push_str(structured);
    }
    out.push_str(",\"isError\":");
    out.push_str(if result.is_error { "true}" } else { "false}" });
}

/// What every result begins with; a member must follow.
fn begin(identity: &Identity, era: Era) -> String {
    let mut out = String::from("{");
    if era == Era::Modern {
        out.push_str(
            "\"resultType\":\"complete\",\"_meta\":{\"io.modelcontextprotocol/serverInfo\":",
        );
        server_info(&mut out, identity);
        out.push_str("},");
    }
    out
}

fn server_info(out: &mut String, identity: &Identity) {
    out.push_str("{\"name\":");
    json::quote(out, &identity.name);
    out.push_str(",\"version\":");
    json::quote(out, &identity.version);
    out.push('}');
}

fn instructions(out: &mut String, identity: &Identity) {
    out.push_str(",\"instructions\":");
    json::quote(out, &identity.instructions);
}

fn cacheable(out: &mut String) {
    out.push_str(",\"ttlMs\":");
    out.push_str(&TTL_MS.to_string());
    out.push_str(",\"cacheScope\":\"public\"");
}
