//! Why a store did not do what was asked, and what to do about it. Holds no row's content.

/// A store that could not do what was asked. Nothing was half done: the caller may try again.
#[derive(Clone, Debug, thiserror::Error)]
pub enum StoreError {
    #[error("store {place}: {cause}")]
    Unavailable { place: String, cause: String },
    /// The file was written by a newer release.
    #[error("store {place} has version {found}; this program knows versions up to {known}")]
    TooNew {
        place: String,
        found: i64,
        known: i64,
    },
    /// A server that may lose what it is given.
    #[error("store {place}: {reason}")]
    Unfit { place: String, reason: &'static str },
    /// A row that this program did not write, or that was altered.
    #[error("store: unreadable row: {0}")]
    Corrupt(String),
}

impl StoreError {
    /// What an operator may do about it.
    pub fn remedy(&self) -> &'static str {
        match self {
            Self::Unavailable { place, cause } if place.starts_with("redis") => {
                let tls = ["certificate", "tls", "handshake"];
                let cause = cause.to_lowercase();
                if tls.iter().any(|word| cause.contains(word)) {
                    "store.ca_file must hold the authority behind the server's certificate, and the URL must name the \
                     server as the certificate does"
                } else {
                    "see that the server runs and that [store] names it right: host and port, login, rediss:// where it \
                     speaks TLS"
                }
            }
            Self::Unavailable { .. } => "make the store's file and folder writable",
            Self::TooNew { .. } => "use the release that wrote it, or a newer one",
            Self::Unfit { .. } => "see Stores in docs/leads.md",
            Self::Corrupt(_) => "take the store from its last good backup",
        }
    }
}
