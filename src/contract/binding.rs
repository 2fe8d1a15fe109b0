//! The wire protocols by name, for records and metrics. Must not know envelopes.

/// What a call came through (AAP-145).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Binding {
    Mcp,
    A2a,
    Pap,
    /// The page for people.
    Page,
}

impl Binding {
    /// Every one, in the order of declaration.
    pub const ALL: [Self; 4] = [Self::Mcp, Self::A2a, Self::Pap, Self::Page];

    /// The name in log lines and metrics.
    pub fn id(self) -> &'static str {
        match self {
            Self::Mcp => "mcp",
            Self::A2a => "a2a",
            Self::Pap => "pap",
            Self::Page => "page",
        }
    }
}
