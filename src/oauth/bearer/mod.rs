//! Access tokens of an issuer that is not ours, at one protected resource: who may enter, and what a
//! stranger is told (RFC 6750, RFC 9728). Must not know bindings; a caller's identity and token never
//! reach a log.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use http::header::AUTHORIZATION;
use http::request::Parts;
use serde_json::{Value, json};

mod authority;
mod token;

pub use authority::{Authority, AuthoritySettings};

use super::carries_credentials;

/// What an operator decides about one resource.
#[derive(Clone, Debug)]
pub struct GateSettings {
    /// The resource's URL as clients type it (RFC 9728 `resource`).
    pub resource: String,
    /// What a token's `aud` must hold; usually the resource itself.
    pub audience: String,
    /// A name for people.
    pub name: String,
    /// Whether every request needs a token; otherwise only leads do.
    pub everything: bool,
    /// What every token must cover.
    pub scopes: Vec<String>,
    /// What a token must cover besides to submit a lead.
    pub lead_scopes: Vec<String>,
}

/// Keeps one protected resource.
#[derive(Debug)]
pub struct Gate {
    settings: GateSettings,
    authority: Arc<Authority>,
}

/// Who came, verified. `None` proved nothing, which is enough where reading is public.
#[derive(Clone, Default)]
pub struct Visitor {
    /// Issuer and subject.
    pub identity: Option<(String, String)>,
    scopes: BTreeSet<String>,
}

/// Why a request does not enter: a status, and for 401 and 403 the value of `WWW-Authenticate`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Challenge {
    pub status: u16,
    pub header: Option<String>,
    /// For people; public.
    pub message: &'static str,
    /// Which check failed, in fixed words, for the log.
    pub stage: &'static str,
}

impl Gate {
    /// A gate whose tokens this authority issues.
    pub fn new(settings: GateSettings, authority: Arc<Authority>) -> Self {
        Self {
            settings,
            authority,
        }
    }

    /// Whether every request needs a token.
    pub fn protects_everything(&self) -> bool {
        self.settings.everything
    }

    /// The issuer that clients must go to.
    pub fn issuer(&self) -> &str {
        &self.authority.settings().issuer
    }

    /// The scopes of a read, where it needs a token, and of a lead.
    pub fn scopes(&self, lead: bool) -> Vec<&str> {
        let own = self.settings.scopes.iter();
        let more = self.settings.lead_scopes.iter().filter(|_| lead);
        let mut scopes: Vec<&str> = Vec::new();
        for scope in own.chain(more) {
            if !scopes.contains(&scope.as_str()) {
                scopes.push(scope);
            }
        }
        scopes
    }

    /// Where the resource's metadata stands: its path after the well-known name (RFC 9728 section 3.1).
    pub fn metadata_url(&self) -> String {
        let resource = self.settings.resource.as_str();
        let (origin, path) = split(resource);
        format!("{origin}/.well-known/oauth-protected-resource{path}")
    }

    /// The same without the path, which clients try next.
    pub fn root_metadata_url(&self) -> String {
        let (origin, _) = split(&self.settings.resource);
        format!("{origin}/.well-known/oauth-protected-resource")
    }

    /// The resource's metadata (AAP-139).
    pub fn metadata(&self) -> Value {
        let mut document = json!({
            "resource": self.settings.resource,
            "authorization_servers": [self.issuer()],
            "bearer_methods_supported": ["header"],
            "resource_name": self.settings.name,
        });
        let scopes = self.scopes(true);
        if let (Some(members), false) = (document.as_object_mut(), scopes.is_empty()) {
            members.insert("scopes_supported".to_owned(), json!(scopes));
        }
        document
    }

    /// Verifies who comes. A token that is supplied must be good, even where none is asked for.
    pub async fn admit(&self, head: &Parts) -> Result<Visitor, Challenge> {
        if carries_credentials(head.uri.query()) {
            return Err(bad_request("credentials do not belong into the URL"));
        }
        let mut lines = head.headers.get_all(AUTHORIZATION).iter();
        let Some(line) = lines.next() else {
            return if self.settings.everything {
                Err(self.unauthorized("no token", false))
            } else {
                Ok(Visitor::default())
            };
        };
        if lines.next().is_some() {
            return Err(bad_request("more than one Authorization header"));
        }
        let text = line.to_str().ok().and_then(bearer);
        let text = text.ok_or_else(|| self.unauthorized("not a Bearer token", false))?;
        let claims = self.authority.verify(text, &self.settings.audience).await;
        let claims = claims.map_err(|refused| match refused {
            token::Refused::Token(stage) => self.unauthorized(stage, true),
            token::Refused::Unavailable => unavailable(),
        })?;
        let visitor = Visitor {
            identity: Some((self.issuer().to_owned(), claims.subject)),
            scopes: claims.scopes,
        };
        if self.settings.everything {
            self.permit(&visitor, false)?;
        }
        Ok(visitor)
    }

    /// Whether a visitor that was let in may do this: a lead needs a token, whatever reading needs.
    pub fn permit(&self, visitor: &Visitor, lead: bool) -> Result<(), Challenge> {
        if !lead && !self.settings.everything {
            return Ok(());
        }
        if visitor.identity.is_none() {
            return Err(self.unauthorized("no token", false));
        }
        let wanted = self.scopes(lead);
        if wanted.iter().all(|scope| visitor.scopes.contains(*scope)) {
            return Ok(());
        }
        Err(Challenge {
            status: 403,
            header: Some(self.header(Some("insufficient_scope"), &wanted)),
            message: "The access token does not cover this operation; WWW-Authenticate names the scopes it needs.",
            stage: "scope",
        })
    }

    /// 401. Without a token there is no error to name (RFC 6750 section 3.1).
    fn unauthorized(&self, stage: &'static str, token: bool) -> Challenge {
        let lead = !self.settings.everything;
        let error = token.then_some("invalid_token");
        Challenge {
            status: 401,
            header: Some(self.header(error, &self.scopes(lead))),
            message: "This needs an access token; WWW-Authenticate says where to get one.",
            stage,
        }
    }

    fn header(&self, error: Option<&str>, scopes: &[&str]) -> String {
        let error = error.map(|error| format!("error=\"{error}\""));
        let about = format!("resource_metadata=\"{}\"", self.metadata_url());
        let scope = format!("scope=\"{}\"", scopes.join(" "));
        let scope = (!scopes.is_empty()).then_some(scope);
        let parts: Vec<String> = error.into_iter().chain([about]).chain(scope).collect();
        format!("Bearer {}", parts.join(", "))
    }
}

fn bad_request(stage: &'static str) -> Challenge {
    Challenge {
        status: 400,
        header: None,
        message: "Send the access token once, in the Authorization header.",
        stage,
    }
}

fn unavailable() -> Challenge {
    Challenge {
        status: 503,
        header: None,
        message: "Access tokens cannot be verified now; try again in a while.",
        stage: "the issuer's keys",
    }
}

/// The token of `Bearer TOKEN`.
fn bearer(line: &str) -> Option<&str> {
    let (scheme, token) = line.split_once(' ')?;
    let token = token.trim_matches(' ');
    (scheme.eq_ignore_ascii_case("bearer") && !token.is_empty()).then_some(token)
}

/// Origin and path; a path that is only a slash is none.
fn split(url: &str) -> (&str, &str) {
    let after = url.find("://").map_or(0, |at| at + 3);
    let path = url.get(after..).and_then(|rest| rest.find('/'));
    match path.and_then(|at| url.split_at_checked(after + at)) {
        Some((origin, "/")) => (origin, ""),
        Some(parts) => parts,
        None => (url, ""),
    }
}

impl fmt::Debug for Visitor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Visitor").finish_non_exhaustive()
    }
}

#[cfg(any(test, fuzzing))]
#[path = "../../../tests/fuzz/rooms/bearer.rs"]
pub mod fuzz;
#[cfg(test)]
mod tests;
