//! The definitions of the tools as each revision knows them. What a definition
//! says is not known here, only which of its members a revision has.

use std::sync::OnceLock;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::era::{Era, Version};

/// The definitions of the tools served.
#[derive(Debug)]
pub struct Tools {
    json: String,
    /// For [`Version::V2025_03_26`].
    annotated: OnceLock<String>,
    /// For [`Version::V2024_11_05`].
    plain: OnceLock<String>,
}

/// What the revisions before 2025-06-18 know of a tool. Members are copied as
/// they stand.
#[derive(Deserialize, Serialize)]
struct Definition<'a> {
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    name: Option<&'a RawValue>,
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    description: Option<&'a RawValue>,
    #[serde(
        borrow,
        rename = "inputSchema",
        skip_serializing_if = "Option::is_none"
    )]
    input_schema: Option<&'a RawValue>,
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    annotations: Option<&'a RawValue>,
}

impl Tools {
    /// Takes a JSON array of definitions as revision 2026-07-28 has them, on
    /// one line. What older revisions make of it is worked out when asked for.
    #[must_use]
    pub fn new(json: impl Into<String>) -> Self {
        Self {
            json: json.into(),
            annotated: OnceLock::new(),
            plain: OnceLock::new(),
        }
    }

    /// The array for requests of `era`.
    pub(super) fn of(&self, era: Era) -> &str {
        match era {
            Era::Legacy(version) if !version.has_structure() => {
                let kept = if version.has_annotations() {
                    &self.annotated
                } else {
                    &self.plain
                };
                kept.get_or_init(|| self.reduced(version))
            }
            // 2025-06-18 and 2025-11-25 know every member that is used.
            Era::Legacy(_) | Era::Modern => &self.json,
        }
    }

    fn reduced(&self, version: Version) -> String {
        let Ok(mut tools) = serde_json::from_str::<Vec<Definition<'_>>>(&self.json) else {
            // No revision forbids members it does not know.
            return self.json.clone();
        };
        if !version.has_annotations() {
            for tool in &mut tools {
                tool.annotations = None;
            }
        }
        crate::json::text(&tools)
    }
}
