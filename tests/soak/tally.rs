//! How often what was answered, so that a soak which tries less than it says
//! does not pass.

use std::collections::BTreeMap;

use super::expected::Expected;
use super::generator::Step;
use super::texts;
use crate::harness::Message;

/// Every tool there is.
const TOOLS: [&str; 12] = [
    "list_directory",
    "search_files",
    "search_text",
    "read_text_file",
    "write_text_file",
    "read_file",
    "write_file",
    "list_files",
    "create_directory",
    "delete_file",
    "delete_directory",
    "search_in_file",
];

/// Counts of calls that were answered right.
#[derive(Debug, Default)]
pub(super) struct Tally {
    /// By tool: those that were served and those that were refused, where the answer is known.
    exact: BTreeMap<String, [usize; 2]>,
    /// The same where somebody else changes what they are about.
    contested: BTreeMap<String, [usize; 2]>,
    /// Pages behind a cursor.
    followed: usize,
    /// Cursors that were refused, for the tree had changed.
    stale: usize,
    /// Errors of the protocol.
    errors: usize,
    /// Calls that were cancelled and had no answer.
    pub(super) dropped: usize,
}

impl Tally {
    /// Counts an answer.
    pub(super) fn note(&mut self, step: &Step, message: &Message) {
        let params = &step.message["params"];
        let result = &message.json["result"];
        let (Some(tool), Some(result)) = (params["name"].as_str(), result.as_object()) else {
            self.errors += usize::from(message.json.get("error").is_some());
            return;
        };
        let refused = result["isError"] == true;
        let tools = match step.expected {
            Expected::Contested(_) => &mut self.contested,
            _ => &mut self.exact,
        };
        tools.entry(tool.to_owned()).or_default()[usize::from(refused)] += 1;
        if params["arguments"]["cursor"].is_string() {
            self.followed += usize::from(!refused);
            self.stale += usize::from(result["content"][0]["text"] == texts::CHANGED);
        }
    }

    /// Fails if anything has not been tried.
    pub(super) fn check(&self) {
        for tool in TOOLS {
            let exact = self.exact.get(tool).copied().unwrap_or_default();
            assert!(!exact.contains(&0), "{tool}: {self:?}");
        }
        let contested = self.contested.values();
        assert!(
            contested.len() >= 10 && contested.flatten().all(|count| *count > 0),
            "{self:?}"
        );
        let others = [self.followed, self.stale, self.errors, self.dropped];
        assert!(!others.contains(&0), "{self:?}");
    }
}
