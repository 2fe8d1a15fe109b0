//! The MCP revisions this endpoint speaks. Must not know what differs in their methods.

use http::HeaderMap;

/// The header that names a revision.
pub(super) const HEADER: &str = "mcp-protocol-version";

/// A supported revision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Revision {
    /// 2026-07-28: every request carries its own metadata.
    Current,
    /// 2025-11-25: begins with `initialize`.
    November2025,
    /// 2025-06-18: the same wire as its successor.
    June2025,
}

impl Revision {
    /// All, newest first: what discovery advertises and what -32022 lists (AAP-057, AAP-107).
    pub(super) const ALL: [Self; 3] = [Self::Current, Self::November2025, Self::June2025];

    pub(super) fn date(self) -> &'static str {
        match self {
            Self::Current => "2026-07-28",
            Self::November2025 => "2025-11-25",
            Self::June2025 => "2025-06-18",
        }
    }

    pub(super) fn from_date(date: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|revision| revision.date() == date)
    }

    pub(super) fn is_modern(self) -> bool {
        self == Self::Current
    }

    /// What `initialize` agrees on: the client's revision when it is one of those that begin so, else the
    /// newest of them, never an error.
    pub(super) fn negotiate(requested: &str) -> Self {
        Self::from_date(requested)
            .filter(|revision| !revision.is_modern())
            .unwrap_or(Self::November2025)
    }

    /// The dates of [`Revision::ALL`].
    pub(super) fn dates() -> Vec<&'static str> {
        Self::ALL.iter().map(|revision| revision.date()).collect()
    }
}

/// Whether the version header names the current revision.
pub(super) fn is_modern_header(headers: &HeaderMap) -> bool {
    let value = headers.get(HEADER).and_then(|value| value.to_str().ok());
    value.map(str::trim) == Some(Revision::Current.date())
}
