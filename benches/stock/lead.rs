//! The lead that benches submit. Must not know over which binding.

use forecourt::clock::Clock;
use serde_json::{Value, json};

/// The request of a general inquiry, granted now.
pub(crate) fn request(idempotency_key: &str) -> Value {
    let now = Clock::system().now();
    json!({
        "type": "lead.submit.request",
        "customer": {"first_name": "Ada", "last_name": "Lovelace", "email": "ada@example.com",
                     "preferred_contact": "email"},
        "consent": {"granted_at": now.strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
                    "allowed_channels": ["email"], "scope": ["lead_submission"],
                    "consent_text": "Please send my inquiry and address to Example Motors."},
        "source_agent": {"name": "bench", "url": "https://buyer.example"},
        "message": "Is there a hybrid?",
        "idempotency_key": idempotency_key,
    })
}
