//! Which revisions of MCP are spoken, and what sets them apart. Two eras: in
//! the modern one every request names its version, in the legacy one a
//! handshake settles it for the connection. No message is known here.

/// Which era a server speaks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Protocol {
    /// Revision 2026-07-28 alone.
    #[default]
    Modern,
    /// The revisions with an `initialize` handshake alone: 2024-11-05,
    /// 2025-03-26, 2025-06-18 and 2025-11-25.
    Legacy,
    /// Both: a request that says in its `_meta` which version it is of is
    /// modern, any other is legacy.
    Both,
}

/// A revision with a handshake. A later one is greater.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Version {
    V2024_11_05,
    V2025_03_26,
    V2025_06_18,
    V2025_11_25,
}

impl Version {
    /// What is offered to who asks for anything else.
    pub(super) const NEWEST: Self = Self::V2025_11_25;

    const ALL: [Self; 4] = [
        Self::V2024_11_05,
        Self::V2025_03_26,
        Self::V2025_06_18,
        Self::V2025_11_25,
    ];

    /// As it is written in messages.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::V2024_11_05 => "2024-11-05",
            Self::V2025_03_26 => "2025-03-26",
            Self::V2025_06_18 => "2025-06-18",
            Self::V2025_11_25 => "2025-11-25",
        }
    }

    /// The version that is spoken with a client that asks for this one.
    pub(super) fn offered(asked: Option<&str>) -> Self {
        let same = |version: &Self| Some(version.name()) == asked;
        Self::ALL.into_iter().find(same).unwrap_or(Self::NEWEST)
    }

    /// Whether several messages may come in one array. 2025-03-26 requires it,
    /// 2024-11-05 has it from JSON-RPC, later ones took it out.
    pub(super) fn has_batches(self) -> bool {
        self <= Self::V2025_03_26
    }

    /// Whether a tool's definition has `annotations`.
    pub(super) fn has_annotations(self) -> bool {
        self >= Self::V2025_03_26
    }

    /// Whether there are `structuredContent` and `outputSchema`, and a tool has
    /// a `title` beside its name.
    pub(super) fn has_structure(self) -> bool {
        self >= Self::V2025_06_18
    }
}

/// What a request is answered by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Era {
    Modern,
    Legacy(Version),
}

impl Era {
    /// Whether results may have `structuredContent`.
    pub(super) fn has_structure(self) -> bool {
        match self {
            Self::Modern => true,
            Self::Legacy(version) => version.has_structure(),
        }
    }
}
