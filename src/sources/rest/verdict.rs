//! What an answer of an API means: good, later, or never. Must not send anything.

use std::time::Duration;

use http::header::{CONTENT_TYPE, RETRY_AFTER};
use serde_json::Value;

use crate::net::{self, NetError};

use super::super::Fault;
use super::Failure;

/// What to do with an answer.
pub(super) enum Verdict {
    Good(Value),
    Later(Option<Duration>, Failure),
    Final(Failure),
}

/// What an answer means. The body of an error is not quoted: it may hold anything.
pub(super) fn judge(response: &net::Response) -> Verdict {
    let status = response.status;
    let after = || {
        let value = response.headers.get(RETRY_AFTER)?.to_str().ok()?;
        value.trim().parse().ok().map(Duration::from_secs)
    };
    match status.as_u16() {
        200 => {}
        401 | 403 => {
            let words = format!("{}: the credentials are refused", status.as_u16());
            return Verdict::Final((Fault::Refused, words));
        }
        429 => {
            let words = "429: too many requests".to_owned();
            return Verdict::Later(after(), (Fault::Timeout, words));
        }
        500 | 502 | 503 | 504 => {
            let words = format!("{}: the API fails", status.as_u16());
            return Verdict::Later(after(), (Fault::Unreachable, words));
        }
        300..=399 => {
            let words = format!("{}: redirected, which is not followed", status.as_u16());
            return Verdict::Final((Fault::Settings, words));
        }
        code => {
            return Verdict::Final((Fault::Query, format!("{code}: the request is not accepted")));
        }
    }
    match serde_json::from_slice(&response.body) {
        Ok(body) => Verdict::Good(body),
        Err(_) if response.body.trim_ascii_start().starts_with(b"<") => {
            let words = "a web page came instead of JSON: a login or error page?".to_owned();
            Verdict::Final((Fault::Data, words))
        }
        Err(error) => {
            let kind = response
                .headers
                .get(CONTENT_TYPE)
                .and_then(|value| value.to_str().ok())
                .unwrap_or("no media type");
            Verdict::Final((
                Fault::Data,
                format!("the answer ({kind}) is no JSON: {error}"),
            ))
        }
    }
}

/// What a failed request means.
pub(super) fn of_net(error: &NetError) -> Failure {
    let fault = match error {
        NetError::Url(_) | NetError::Address | NetError::SetUp(_) => Fault::Settings,
        NetError::TooLarge(_) => Fault::Limit,
        NetError::Timeout | NetError::ConnectTimeout => Fault::Timeout,
        NetError::Resolve(_) | NetError::Connect(_) | NetError::Tls(_) | NetError::Lost(_) => {
            Fault::Unreachable
        }
    };
    let cause = std::error::Error::source(error).map(|cause| format!(": {cause}"));
    (fault, format!("{error}{}", cause.unwrap_or_default()))
}
