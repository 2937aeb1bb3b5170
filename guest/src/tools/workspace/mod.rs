//! The toolset `workspace`, which desktop clients expect: seven tools that
//! answer in text for a reader, and in the same answer structured.

mod create_directory;
mod delete_directory;
mod delete_file;
mod removing;
mod write_file;

use super::Tool;

/// In the order they are listed.
pub(super) const TOOLS: &[Tool] = &[
    write_file::TOOL,
    create_directory::TOOL,
    delete_file::TOOL,
    delete_directory::TOOL,
];
