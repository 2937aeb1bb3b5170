//! What the operator chose, in the words of the component's interface.

use super::bindings::exports::preopen::mcp::tools::{self, Settings, Toolset};
use crate::root::{Root, WriteMode};

/// The settings that every call gets.
pub(super) fn of(root: &Root) -> Settings {
    let limits = &root.limits;
    Settings {
        toolset: match root.toolset {
            crate::root::Toolset::Core => Toolset::Core,
            crate::root::Toolset::Workspace => Toolset::Workspace,
            crate::root::Toolset::All => Toolset::All,
        },
        only: root.tools.clone(),
        read_only: !root.grant.writable,
        write_mode: match root.write_mode {
            WriteMode::Replace => tools::WriteMode::Replace,
            WriteMode::CreateNew => tools::WriteMode::CreateNew,
        },
        limits: tools::Limits {
            max_file_bytes: limits.max_file_bytes,
            max_write_bytes: limits.max_write_bytes,
            max_result_bytes: limits.max_result_bytes,
            max_scan_bytes: limits.max_scan_bytes,
            max_entries: limits.max_entries,
            max_depth: limits.max_depth,
            call_timeout: limits.call_timeout,
        },
        cursor_key: root.cursor_key.to_vec(),
        hash_key: root.hash_key.map(|key| key.to_vec()),
        root_writable: root.grant.policy.reaches_top_level(),
        files_unchanged: false,
        host_hashes: true,
        rules: None,
    }
}
