//! The toolset `workspace`, which desktop clients expect: seven tools that
//! answer in text for a reader, and in the same answer structured.

use super::Tool;

/// In the order they are listed.
pub(super) const TOOLS: &[Tool] = &[];
