//! What a lead is recognised by: the key with its whole scope, and the content. Both are hashes, so that the
//! store holds no caller's name in them.

use std::fmt::Write as _;

use aws_lc_rs::digest::{Context, SHA256};

use crate::contract::Caller;
use crate::contract::canonical::canonical_json;
use crate::contract::request::LeadRequest;

/// The idempotency key within deployment, receiving dealer and verified caller (AAP-473, AAP-474). Each part
/// goes in with its length, so no two scopes run together.
pub(super) fn scoped_key(deployment: &str, dealer: &str, caller: &Caller, key: &str) -> String {
    let mut hash = Context::new(&SHA256);
    for part in [
        "forecourt lead key 1",
        deployment,
        dealer,
        &caller.scope(),
        key,
    ] {
        hash.update(&(part.len() as u64).to_be_bytes());
        hash.update(part.as_bytes());
    }
    hexadecimal(hash)
}

/// The content of a request: its canonical JSON (RFC 8785) hashed.
pub(super) fn fingerprint(request: &LeadRequest) -> String {
    let mut hash = Context::new(&SHA256);
    hash.update(canonical_json(&request.payload).as_bytes());
    hexadecimal(hash)
}

fn hexadecimal(hash: Context) -> String {
    let mut text = String::with_capacity(64);
    for byte in hash.finish().as_ref() {
        // Writing to a string cannot fail.
        write!(text, "{byte:02x}").ok();
    }
    text
}
