//! Who is calling, as far as it was verified. Must not hold what a caller merely says of itself.

/// A caller, as verified by its binding. Attribution such as `source_agent` or MCP `clientInfo` never
/// enters here (AAP-061, AAP-275, AAP-280).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Caller {
    /// Nobody proved anything. Anonymous callers of MCP and A2A share one scope (AAP-474).
    Anonymous,
    /// A Personal Agent Protocol client and its stable User ID (AAP-276).
    Pap { client_id: String, user_id: String },
    /// The subject of an access token of a configured OAuth issuer.
    OAuth { issuer: String, subject: String },
}

impl Caller {
    /// The part of an idempotency or cursor scope that names the caller; equal only for equal verified
    /// callers. Lengths are written out, so no two callers run together.
    pub fn scope(&self) -> String {
        match self {
            Self::Anonymous => "anonymous".to_owned(),
            Self::Pap { client_id, user_id } => {
                format!("pap:{}:{client_id}:{user_id}", client_id.len())
            }
            Self::OAuth { issuer, subject } => format!("oauth:{}:{issuer}:{subject}", issuer.len()),
        }
    }

    /// The kind of caller, for logs and metrics: never an identity.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Anonymous => "anonymous",
            Self::Pap { .. } => "pap",
            Self::OAuth { .. } => "oauth",
        }
    }
}
