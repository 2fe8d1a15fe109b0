//! What an answer means by its head: good, still the same, later, or never. Must not send anything.

use std::time::Duration;

use http::header::{DATE, RETRY_AFTER};
use jiff::Timestamp;

use crate::net::{self, NetError};

use super::super::Fault;
use super::Failure;

/// What to do with an answer.
pub(super) enum Verdict {
    Good(net::Response),
    Same,
    Later(Option<Duration>, Failure),
    Final(Failure),
}

/// What an answer's head means.
pub(super) enum Head {
    Good,
    Other(Verdict),
}

impl Head {
    pub(super) fn with(self, response: net::Response) -> Verdict {
        match self {
            Self::Good => Verdict::Good(response),
            Self::Other(verdict) => verdict,
        }
    }
}

/// The body of an error is not quoted: it may hold anything.
pub(super) fn judge(response: &net::Response) -> Head {
    let status = response.status;
    Head::Other(match status.as_u16() {
        200 => return Head::Good,
        304 => Verdict::Same,
        401 | 403 => {
            let words = format!("{}: the credentials are refused", status.as_u16());
            Verdict::Final((Fault::Refused, words))
        }
        429 => {
            let words = "429: too many requests".to_owned();
            Verdict::Later(after(response), (Fault::Timeout, words))
        }
        500 | 502 | 503 | 504 => {
            let words = format!("{}: the server fails", status.as_u16());
            Verdict::Later(after(response), (Fault::Unreachable, words))
        }
        300..=399 => {
            let words = format!("{}: redirected, which is not followed", status.as_u16());
            Verdict::Final((Fault::Settings, words))
        }
        code => Verdict::Final((Fault::Query, format!("{code}: the request is not accepted"))),
    })
}

/// `Retry-After`: seconds, or a date, which is measured against the answer's own date.
fn after(response: &net::Response) -> Option<Duration> {
    let text = |name| response.headers.get(name)?.to_str().ok().map(str::trim);
    let asked = text(RETRY_AFTER)?;
    if let Ok(seconds) = asked.parse() {
        return Some(Duration::from_secs(seconds));
    }
    let wait = date(asked)?.duration_since(date(text(DATE)?)?);
    Some(Duration::try_from(wait).unwrap_or_default())
}

/// A date as HTTP writes it.
pub(super) fn date(text: &str) -> Option<Timestamp> {
    let time = jiff::civil::DateTime::strptime("%a, %d %b %Y %H:%M:%S GMT", text).ok()?;
    jiff::tz::TimeZone::UTC.to_timestamp(time).ok()
}

/// What a failed request means: whether it can pass, and what it is.
pub(super) fn of_net(error: &NetError) -> Failure {
    let fault = match error {
        NetError::Url(_) | NetError::Address | NetError::SetUp(_) | NetError::Write(_) => {
            Fault::Settings
        }
        NetError::TooLarge(_) => Fault::Limit,
        NetError::Timeout | NetError::ConnectTimeout => Fault::Timeout,
        NetError::Resolve(_) | NetError::Connect(_) | NetError::Tls(_) | NetError::Lost(_) => {
            Fault::Unreachable
        }
    };
    let cause = std::error::Error::source(error).map(|cause| format!(": {cause}"));
    (fault, format!("{error}{}", cause.unwrap_or_default()))
}

impl From<Failure> for Verdict {
    fn from(failure: Failure) -> Self {
        if failure.0.is_transient() {
            Self::Later(None, failure)
        } else {
            Self::Final(failure)
        }
    }
}
