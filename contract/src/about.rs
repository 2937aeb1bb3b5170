//! What the server says of itself, whoever drives the protocol.

use crate::session::Identity;

/// The program's name.
pub const NAME: &str = "preopen-mcp";

/// What a model is told before it calls the first tool.
const INSTRUCTIONS: &str = "These tools work on the files of one directory, the root. Paths are relative to it, with / between names; links, and files the rules hide, do not exist.";

/// The same of the tools of toolset core.
const PAGES: &str = "Lists, searches and reads come in pages: pass next_cursor back as cursor, with the same arguments, until it is null.";

/// What no `--include` pattern reaches: said once, when a server starts that
/// could be asked to write.
pub const NOTHING_WRITABLE: &str = "no --include pattern reaches the top level of the root, so write_text_file will refuse every call";

/// The identity of this version; `pages` where tools of toolset core are served.
#[must_use]
pub fn identity(version: &str, pages: bool) -> Identity {
    Identity {
        name: NAME.to_owned(),
        version: version.to_owned(),
        instructions: match pages {
            true => format!("{INSTRUCTIONS} {PAGES}"),
            false => INSTRUCTIONS.to_owned(),
        },
    }
}
