//! The toolset `workspace`, which desktop clients expect: seven tools that
//! answer in text for a reader, and in the same answer structured.

mod create_directory;
mod delete_directory;
mod delete_file;
mod list_files;
mod read_file;
mod removing;
mod search_in_file;
mod write_file;

use super::Tool;

/// In the order they are listed.
pub(super) const TOOLS: &[Tool] = &[
    read_file::TOOL,
    write_file::TOOL,
    list_files::TOOL,
    create_directory::TOOL,
    delete_file::TOOL,
    delete_directory::TOOL,
    search_in_file::TOOL,
];
