//! A request's body, bounded in size and time. Must not know what it says.

use std::time::Duration;

use bytes::Bytes;
use http::StatusCode;
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use hyper::body::{Body as _, Incoming};

use super::Settings;

/// What of an unwanted body may pass by, and how long that may take.
const PASSED_BYTES: usize = 64 * 1024;
const PASSED_TIME: Duration = Duration::from_secs(1);

/// Why a body could not be read: the status, and public words.
pub(super) struct Unread(pub(super) StatusCode, pub(super) &'static str);

/// Reads a whole body within the limits.
pub(super) async fn read(body: Incoming, settings: &Settings) -> Result<Bytes, Unread> {
    let limit = settings.max_body_bytes;
    let too_large = || {
        Unread(
            StatusCode::PAYLOAD_TOO_LARGE,
            "The request body is larger than this endpoint accepts.",
        )
    };
    if body.size_hint().lower() > u64::try_from(limit).unwrap_or(u64::MAX) {
        return Err(too_large());
    }
    let collected = Limited::new(body, limit).collect();
    match tokio::time::timeout(settings.body_timeout, collected).await {
        Ok(Ok(collected)) => Ok(collected.to_bytes()),
        Ok(Err(error)) if error.is::<LengthLimitError>() => Err(too_large()),
        Ok(Err(_)) => Err(Unread(
            StatusCode::BAD_REQUEST,
            "The request body ended early.",
        )),
        Err(_) => Err(Unread(
            StatusCode::REQUEST_TIMEOUT,
            "The request body did not arrive in time.",
        )),
    }
}

/// Lets a body pass by that nobody wants, and says whether it did. A connection that is closed while its
/// peer still sends loses the answer, or the request that the peer sends next.
pub(super) async fn pass_by(body: Incoming, settings: &Settings) -> bool {
    let limit = settings.max_body_bytes.min(PASSED_BYTES);
    if body.size_hint().lower() > u64::try_from(limit).unwrap_or(u64::MAX) {
        return false;
    }
    let passed = async {
        let mut body = Limited::new(body, limit);
        loop {
            match body.frame().await {
                None => return true,
                Some(Ok(_)) => {}
                Some(Err(_)) => return false,
            }
        }
    };
    let time = settings.body_timeout.min(PASSED_TIME);
    tokio::time::timeout(time, passed).await.unwrap_or(false)
}
