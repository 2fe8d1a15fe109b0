//! Who we are at an HTTP server of the operator's, and whom we trust there. Must not know what is fetched.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

use crate::net::ClientCertificate;

/// How a server is reached.
#[derive(Clone)]
pub struct Access {
    pub auth: Option<Auth>,
    /// Sent with every request, e.g. a subscription id.
    pub headers: BTreeMap<String, String>,
    /// Certificates of further authorities.
    pub ca_file: Option<PathBuf>,
    /// What this client shows of itself in TLS.
    pub client_certificate: Option<ClientCertificate>,
    /// Permits plain HTTP, which shows the credentials to everybody on the way.
    pub danger_allow_http: bool,
    pub request_timeout_ms: u64,
    /// Between the starts of two requests.
    pub min_interval_ms: u64,
    /// The first wait after a failure; it doubles.
    pub retry_base_ms: u64,
}

impl Default for Access {
    fn default() -> Self {
        Self {
            auth: None,
            headers: BTreeMap::new(),
            ca_file: None,
            client_certificate: None,
            danger_allow_http: false,
            request_timeout_ms: 30_000,
            min_interval_ms: 100,
            retry_base_ms: 500,
        }
    }
}

impl fmt::Debug for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Access").finish_non_exhaustive()
    }
}

/// How we show who we are.
#[derive(Clone)]
pub enum Auth {
    /// A key in a header.
    Header {
        name: String,
        value: String,
    },
    /// A key in the query.
    Query {
        name: String,
        value: String,
    },
    Basic {
        user: String,
        password: String,
    },
    Bearer {
        token: String,
    },
    /// OAuth client credentials; the token is kept until shortly before its end.
    ClientCredentials(TokenRequest),
}

/// What a token is asked for with.
#[derive(Clone, Default)]
pub struct TokenRequest {
    pub token_url: String,
    pub client_id: String,
    pub client_secret: String,
    pub scope: Option<String>,
    /// Id and secret in the form instead of the Authorization header.
    pub in_body: bool,
    /// Further members of the form, e.g. `audience`.
    pub parameters: BTreeMap<String, String>,
    /// Further headers of this request.
    pub headers: BTreeMap<String, String>,
}

impl fmt::Debug for TokenRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TokenRequest").finish_non_exhaustive()
    }
}

impl fmt::Debug for Auth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Header { .. } => "Header",
            Self::Query { .. } => "Query",
            Self::Basic { .. } => "Basic",
            Self::Bearer { .. } => "Bearer",
            Self::ClientCredentials(_) => "ClientCredentials",
        })
    }
}
