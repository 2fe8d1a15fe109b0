//! The headers in which MCP clients repeat what the body says. Must not decide what follows from them.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::HeaderMap;

const SENTINEL_START: &str = "=?base64?";
const SENTINEL_END: &str = "?=";

/// One mirror header as sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Mirror {
    Absent,
    Value(String),
    /// Sent twice, or with bytes that no value has: agrees with nothing.
    Unreadable,
}

impl Mirror {
    /// Reads a header that has exactly one line of visible ASCII; surrounding white space is not part of it.
    pub(super) fn read(headers: &HeaderMap, name: &str) -> Self {
        let mut lines = headers.get_all(name).iter();
        match (lines.next(), lines.next()) {
            (None, _) => Self::Absent,
            (Some(line), None) => line.to_str().map_or(Self::Unreadable, |text| {
                Self::Value(text.trim_matches([' ', '\t']).to_owned())
            }),
            (Some(_), Some(_)) => Self::Unreadable,
        }
    }

    /// Undoes the Base64 sentinel `=?base64?…?=` in which names travel that a header cannot hold.
    pub(super) fn decoded(self) -> Self {
        let Self::Value(text) = self else {
            return self;
        };
        let inner = text
            .strip_prefix(SENTINEL_START)
            .and_then(|rest| rest.strip_suffix(SENTINEL_END));
        let Some(inner) = inner else {
            return Self::Value(text);
        };
        STANDARD
            .decode(inner)
            .ok()
            .and_then(|bytes| String::from_utf8(bytes).ok())
            .map_or(Self::Unreadable, Self::Value)
    }

    /// Whether it says something other than `expected`; an absent one says nothing (AAP-129).
    pub(super) fn conflicts(&self, expected: Option<&str>) -> bool {
        match self {
            Self::Absent => false,
            Self::Value(value) => Some(value.as_str()) != expected,
            Self::Unreadable => true,
        }
    }
}
