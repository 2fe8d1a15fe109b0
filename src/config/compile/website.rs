//! `[deployments.ID.website]`.

use std::time::Duration;

use http::Uri;

use super::super::raw;
use super::Scope;
use crate::deployment::Website;

const DEFAULT_TIMEOUT_S: u64 = 60;

pub(super) fn compile(scope: &mut Scope<'_>, raw: &raw::Website) -> Option<Website> {
    let timeout_s = scope.bounded("timeout_s", raw.timeout_s, DEFAULT_TIMEOUT_S, (1, 3_600));
    let upstream = raw.upstream.clone()?;
    if let Err(reason) = check(&upstream) {
        let remedy =
            "write http:// or https:// with host and port only, e.g. http://127.0.0.1:8081";
        scope.fault("upstream", reason, remedy);
        return None;
    }
    Some(Website {
        upstream,
        timeout: Duration::from_secs(timeout_s),
    })
}

fn check(text: &str) -> Result<(), &'static str> {
    let uri: Uri = text.parse().map_err(|_| "is not a URL")?;
    let authority = uri.authority().ok_or("names no host")?;
    if authority.as_str().contains('@') {
        return Err("must not hold credentials");
    }
    if !matches!(uri.scheme_str(), Some("http" | "https")) {
        return Err("is neither http nor https");
    }
    if uri.path() != "/" || uri.query().is_some() {
        return Err("has a path or query");
    }
    Ok(())
}
