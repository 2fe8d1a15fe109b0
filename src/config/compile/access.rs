//! How a source's HTTP server is reached: credentials, certificates, limits.

use std::collections::BTreeMap;
use std::path::Path;

use super::super::raw;
use super::super::secret::Secret;
use super::Scope;
use crate::net::ClientCertificate;
use crate::sources::http::{Access, Auth, TokenRequest};

/// What the kinds of source that speak HTTP have in common.
pub(super) struct Parts<'a> {
    pub(super) auth: Option<&'a raw::Auth>,
    pub(super) headers: &'a BTreeMap<String, Secret>,
    pub(super) extra_ca_file: Option<&'a Path>,
    pub(super) client_certificate_file: Option<&'a Path>,
    pub(super) client_key_file: Option<&'a Path>,
    pub(super) danger_allow_http: bool,
    pub(super) request_timeout_ms: Option<u64>,
    pub(super) min_interval_ms: Option<u64>,
}

/// `scope` is the source's.
pub(super) fn compile(scope: &mut Scope<'_>, parts: &Parts<'_>, access: &mut Access) -> Option<()> {
    access.auth = match parts.auth {
        None => None,
        Some(raw) => Some(auth(&mut scope.below("auth"), raw)?),
    };
    access.headers = plain(parts.headers);
    access.ca_file = parts
        .extra_ca_file
        .map(|file| scope.authorities("extra_ca_file", file).0);
    access.client_certificate = match (parts.client_certificate_file, parts.client_key_file) {
        (Some(certificate), Some(key)) => Some(ClientCertificate {
            certificate_file: scope.path("client_certificate_file", certificate),
            key_file: scope.path("client_key_file", key),
        }),
        (None, None) => None,
        (Some(_), None) => {
            let remedy = "name the certificate's private key";
            scope.fault("client_key_file", "is missing", remedy);
            return None;
        }
        (None, Some(_)) => {
            let remedy = "name the key's certificate";
            scope.fault("client_certificate_file", "is missing", remedy);
            return None;
        }
    };
    access.danger_allow_http = parts.danger_allow_http;
    access.request_timeout_ms = parts
        .request_timeout_ms
        .unwrap_or(access.request_timeout_ms);
    access.min_interval_ms = parts.min_interval_ms.unwrap_or(access.min_interval_ms);
    Some(())
}

fn plain(headers: &BTreeMap<String, Secret>) -> BTreeMap<String, String> {
    let plain = |(name, value): (&String, &Secret)| (name.clone(), value.expose().to_owned());
    headers.iter().map(plain).collect()
}

/// `scope` is the table's own.
pub(super) fn auth(scope: &mut Scope<'_>, raw: &raw::Auth) -> Option<Auth> {
    let remedy = "use header, query, basic, bearer or client_credentials";
    let by = scope.need("by", raw.by, remedy)?;
    of_other_kinds(scope, raw, by);
    let named = |scope: &mut Scope<'_>| {
        let name = scope.need("name", raw.name.clone(), "name the header or parameter");
        let file = raw.value_file.as_deref();
        let value = scope.need_secret(
            "value",
            raw.value.as_ref(),
            file,
            "give the key, or value_file",
        );
        Some((name?, value?))
    };
    Some(match by {
        raw::AuthKind::Header => {
            let (name, value) = named(scope)?;
            Auth::Header { name, value }
        }
        raw::AuthKind::Query => {
            let (name, value) = named(scope)?;
            Auth::Query { name, value }
        }
        raw::AuthKind::Basic => {
            let user = scope.need("user", raw.user.clone(), "give the user's name");
            let file = raw.password_file.as_deref();
            let password = scope.need_secret(
                "password",
                raw.password.as_ref(),
                file,
                "give it, or password_file",
            );
            Auth::Basic {
                user: user?,
                password: password?,
            }
        }
        raw::AuthKind::Bearer => {
            let file = raw.token_file.as_deref();
            Auth::Bearer {
                token: scope.need_secret(
                    "token",
                    raw.token.as_ref(),
                    file,
                    "give it, or token_file",
                )?,
            }
        }
        raw::AuthKind::ClientCredentials => client_credentials(scope, raw)?,
    })
}

/// Keys that stand beside a `by` that does not ask for them.
fn of_other_kinds(scope: &mut Scope<'_>, raw: &raw::Auth, by: raw::AuthKind) {
    use raw::AuthKind::{Basic, Bearer, ClientCredentials, Header, Query};
    let keys = [
        ("name", raw.name.is_some(), &[Header, Query][..]),
        ("value", raw.value.is_some(), &[Header, Query]),
        ("value_file", raw.value_file.is_some(), &[Header, Query]),
        ("user", raw.user.is_some(), &[Basic]),
        ("password", raw.password.is_some(), &[Basic]),
        ("password_file", raw.password_file.is_some(), &[Basic]),
        ("token", raw.token.is_some(), &[Bearer]),
        ("token_file", raw.token_file.is_some(), &[Bearer]),
        ("token_url", raw.token_url.is_some(), &[ClientCredentials]),
        ("client_id", raw.client_id.is_some(), &[ClientCredentials]),
        (
            "client_secret",
            raw.client_secret.is_some(),
            &[ClientCredentials],
        ),
        (
            "client_secret_file",
            raw.client_secret_file.is_some(),
            &[ClientCredentials],
        ),
        ("scope", raw.scope.is_some(), &[ClientCredentials]),
        ("in_body", raw.in_body, &[ClientCredentials]),
        (
            "parameters",
            !raw.parameters.is_empty(),
            &[ClientCredentials],
        ),
        ("headers", !raw.headers.is_empty(), &[ClientCredentials]),
    ];
    let strange = keys.map(|(key, given, kinds)| (key, given && !kinds.contains(&by)));
    let remedy = "leave it out, or say by otherwise";
    scope.idle(&strange, "is no part of this way to sign in", remedy);
}

fn client_credentials(scope: &mut Scope<'_>, raw: &raw::Auth) -> Option<Auth> {
    let token_url = scope.need(
        "token_url",
        raw.token_url.clone(),
        "give the token endpoint",
    );
    let client_id = scope.need("client_id", raw.client_id.clone(), "give the client's id");
    let file = raw.client_secret_file.as_deref();
    let secret = raw.client_secret.as_ref();
    let client_secret = scope.need_secret(
        "client_secret",
        secret,
        file,
        "give it, or client_secret_file",
    );
    Some(Auth::ClientCredentials(TokenRequest {
        token_url: token_url?,
        client_id: client_id?,
        client_secret: client_secret?,
        scope: raw.scope.clone(),
        in_body: raw.in_body,
        parameters: plain(&raw.parameters),
        headers: plain(&raw.headers),
    }))
}
