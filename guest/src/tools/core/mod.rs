//! The toolset `core`: five tools that answer in items, page by page, and
//! write one file at the top of the root.

mod list_directory;
mod read_text_file;
mod search_files;
mod search_text;
mod write_text_file;

use super::Tool;

/// In the order they are listed.
pub(super) const TOOLS: &[Tool] = &[
    list_directory::TOOL,
    search_files::TOOL,
    search_text::TOOL,
    read_text_file::TOOL,
    write_text_file::TOOL,
];
