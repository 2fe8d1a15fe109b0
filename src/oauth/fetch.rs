//! Fetching one JSON document of somebody else's, and how long it may be kept. Must not know what it says.

use http::HeaderValue;
use http::header::{ACCEPT, CACHE_CONTROL};

use crate::net::{self, Response};

/// Bounds and default of how long a document is fresh.
const MIN_FRESH_S: i64 = 60;
const MAX_FRESH_S: i64 = 86_400;
const DEFAULT_FRESH_S: i64 = 300;

/// The JSON document at `url`; everything else than a complete one is an error.
pub(super) async fn json(client: &net::Client, url: &str) -> Result<Response, ()> {
    let mut request = net::Request::get(url);
    request
        .headers
        .insert(ACCEPT, HeaderValue::from_static("application/json"));
    let response = client.send(request).await.map_err(|_| ())?;
    let media_type = response.media_type();
    let json = matches!(
        media_type.as_deref(),
        Some("application/json" | "application/jwk-set+json")
    );
    (response.status == 200 && json)
        .then_some(response)
        .ok_or(())
}

/// How long a response says it is fresh, within bounds.
pub(super) fn fresh_s(response: &Response) -> i64 {
    let mut fresh_s = DEFAULT_FRESH_S;
    for value in response.headers.get_all(CACHE_CONTROL) {
        for directive in value.to_str().unwrap_or_default().split(',') {
            let directive = directive.trim().to_ascii_lowercase();
            if directive == "no-store" || directive == "no-cache" {
                return MIN_FRESH_S;
            }
            if let Some(seconds) = directive.strip_prefix("max-age=") {
                fresh_s = seconds.trim_matches('"').parse().unwrap_or(0);
            }
        }
    }
    fresh_s.clamp(MIN_FRESH_S, MAX_FRESH_S)
}
