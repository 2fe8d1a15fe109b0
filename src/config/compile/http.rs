//! Deliveries of `kind = "http"`, and the system that books.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use serde_json::{Map, Value};

use super::super::raw;
use super::super::secret::Secret;
use super::{Scope, access};
use crate::delivery::{HttpAuth, HttpForm, HttpSettings, Rules};
use crate::leads::{Scheduling, SchedulingAnswer};
use crate::net::Policy;
use crate::sources::http::Auth;

/// The largest answer that is read.
const MAX_ANSWER_BYTES: usize = 1024 * 1024;

pub(super) fn compile(scope: &mut Scope<'_>, raw: &raw::Http) -> Option<HttpSettings> {
    let url = scope.secret("url", raw.url.as_ref(), raw.url_file.as_deref());
    if raw.url.is_none() && raw.url_file.is_none() {
        scope.fault("url", "is missing", "give the intake's URL, https://…");
    }
    let form = form(scope, raw);
    let auth = match &raw.auth {
        None => Some(HttpAuth::None),
        Some(raw) => auth(&mut scope.below("auth"), raw),
    };
    let signature = signature(scope, raw);
    let timeout = scope.bounded("timeout_s", raw.timeout_s, 30, (1, 240));
    let url = url?;
    if url.expose().starts_with("http://") && !raw.danger_allow_http {
        let remedy = "use https://, or set danger_allow_http";
        scope.fault("url", "would show customers' data on the way", remedy);
    }
    let policy = policy(
        scope,
        raw.extra_ca_file.as_deref(),
        timeout,
        raw.danger_allow_http,
    );
    Some(HttpSettings {
        url: url.expose().to_owned(),
        policy,
        form,
        auth: auth?,
        headers: plain(&raw.headers),
        signature,
        correlation_header: raw.correlation_header.clone(),
        rules: Rules {
            delivered: raw.delivered.clone(),
            retry: raw.retry.clone(),
            refused: raw.refused.clone(),
        },
        deduplicates: raw.deduplicates,
    })
}

fn policy(scope: &mut Scope<'_>, roots: Option<&Path>, timeout: u64, allow_http: bool) -> Policy {
    Policy {
        allow_http,
        timeout: Duration::from_secs(timeout),
        max_body_bytes: MAX_ANSWER_BYTES,
        extra_ca_file: roots.map(|file| scope.authorities("extra_ca_file", file).0),
        ..Policy::for_operator()
    }
}

/// The system that books.
pub(super) fn scheduling(scope: &mut Scope<'_>, raw: &raw::Scheduling) -> Option<Scheduling> {
    let url = scope.secret("url", raw.url.as_ref(), raw.url_file.as_deref());
    if raw.url.is_none() && raw.url_file.is_none() {
        scope.fault("url", "is missing", "give the system's URL, https://…");
    }
    let remedy = "say how its answer is read, e.g. 'json.state'";
    let outcome = scope.need("outcome", raw.outcome.clone(), remedy);
    let auth = match &raw.auth {
        None => Some(HttpAuth::None),
        Some(raw) => auth(&mut scope.below("auth"), raw),
    };
    let timeout = scope.bounded("timeout_s", raw.timeout_s, 5, (1, 20));
    let url = url?;
    if url.expose().starts_with("http://") && !raw.danger_allow_http {
        let remedy = "use https://, or set danger_allow_http";
        scope.fault("url", "would show customers' data on the way", remedy);
    }
    let key_header = raw.key_header.clone();
    let http = HttpSettings {
        url: url.expose().to_owned(),
        policy: policy(
            scope,
            raw.extra_ca_file.as_deref(),
            timeout,
            raw.danger_allow_http,
        ),
        form: HttpForm::Plain {
            content_type: "application/json".to_owned(),
        },
        auth: auth?,
        headers: plain(&raw.headers),
        signature: None,
        correlation_header: Some(key_header.unwrap_or_else(|| "Idempotency-Key".to_owned())),
        rules: Rules::default(),
        deduplicates: false,
    };
    Some(Scheduling {
        http,
        request: raw.request.clone().into_iter().collect(),
        answer: SchedulingAnswer {
            outcome: outcome?,
            confirmed_at: raw.confirmed_at.clone(),
            proposed_times: raw.proposed_times.clone(),
            reject_lead: raw.reject_lead.clone(),
        },
        timeout: Duration::from_secs(timeout),
    })
}

fn plain(headers: &BTreeMap<String, Secret>) -> Vec<(String, String)> {
    headers
        .iter()
        .map(|(name, value)| (name.clone(), value.expose().to_owned()))
        .collect()
}

fn form(scope: &mut Scope<'_>, raw: &raw::Http) -> HttpForm {
    let form = raw.form.unwrap_or_default();
    let strange: &[(&str, bool)] = match form {
        raw::HttpForm::Plain => &[
            ("json_member", raw.json_member.is_some()),
            ("json_others", !raw.json_others.is_empty()),
        ],
        raw::HttpForm::Json => &[("content_type", raw.content_type.is_some())],
    };
    scope.idle(
        strange,
        "says nothing in this form",
        "leave it out, or set form",
    );
    match form {
        raw::HttpForm::Plain => HttpForm::Plain {
            content_type: raw
                .content_type
                .clone()
                .unwrap_or_else(|| "application/xml".to_owned()),
        },
        raw::HttpForm::Json => HttpForm::Json {
            member: raw.json_member.clone().unwrap_or_else(|| "adf".to_owned()),
            others: members(raw),
        },
    }
}

fn members(raw: &raw::Http) -> Map<String, Value> {
    let json = |value| serde_json::to_value(value).unwrap_or_default();
    raw.json_others
        .iter()
        .map(|(name, value)| (name.clone(), json(value)))
        .collect()
}

/// The header and its secret, where there is a signature. Half of it is a finding.
fn signature(scope: &mut Scope<'_>, raw: &raw::Http) -> Option<(String, String)> {
    let secret = scope.secret(
        "signature_secret",
        raw.signature_secret.as_ref(),
        raw.signature_secret_file.as_deref(),
    );
    let given = raw.signature_secret.is_some() || raw.signature_secret_file.is_some();
    match &raw.signature_header {
        None if given => {
            scope.fault("signature_header", "is missing", "name the header");
            None
        }
        Some(_) if !given => {
            let remedy = "give it, or signature_secret_file";
            scope.fault("signature_secret", "is missing", remedy);
            None
        }
        header => Some((header.clone()?, secret?.expose().to_owned())),
    }
}

fn auth(scope: &mut Scope<'_>, raw: &raw::Auth) -> Option<HttpAuth> {
    if matches!(
        raw.by,
        Some(raw::AuthKind::Header | raw::AuthKind::ClientCredentials)
    ) {
        let reason = "is not a way to show oneself to a lead receiver";
        let remedy = "use basic, bearer or query; a header's value goes under headers";
        scope.fault("by", reason, remedy);
        return None;
    }
    match access::auth(scope, raw)? {
        Auth::Basic { user, password } => Some(HttpAuth::Basic { user, password }),
        Auth::Bearer { token } => Some(HttpAuth::Bearer(token)),
        Auth::Query { name, value } => Some(HttpAuth::Query { name, value }),
        Auth::Header { .. } | Auth::ClientCredentials(_) => None,
    }
}
