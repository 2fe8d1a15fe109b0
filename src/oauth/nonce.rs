//! Server nonces without a store: the sealed time of issue. The issuer and the API have separate ones
//! (RFC 9449 section 9), and so has every issuer.

use std::sync::Arc;

use crate::seal::KeyRing;

/// Seconds for which a nonce is good.
const LIFETIME_S: i64 = 300;

/// The nonces of one server.
pub(super) struct Nonces {
    /// Different for each server.
    purpose: &'static str,
    issuer: String,
    keys: Arc<KeyRing>,
}

impl Nonces {
    pub(super) fn new(purpose: &'static str, issuer: &str, keys: Arc<KeyRing>) -> Self {
        Self {
            purpose,
            issuer: issuer.to_owned(),
            keys,
        }
    }

    pub(super) fn issue(&self, now: i64) -> Option<String> {
        let context = self.issuer.as_bytes();
        self.keys
            .seal(self.purpose, context, &now.to_be_bytes())
            .ok()
    }

    pub(super) fn knows(&self, nonce: &str, now: i64) -> bool {
        let issued = self
            .keys
            .open(self.purpose, self.issuer.as_bytes(), nonce)
            .and_then(|plain| <[u8; 8]>::try_from(plain.as_slice()).ok())
            .map(i64::from_be_bytes);
        issued.is_some_and(|issued| now.abs_diff(issued) <= LIFETIME_S.unsigned_abs())
    }
}
