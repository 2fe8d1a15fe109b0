//! What this process has seen of an issuer: proofs that were used at the API and Sessions that ended. It is held
//! here because every call asks for it, and it goes on when the issuer is opened anew under other settings.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use super::ledger::Ledger;
use super::refusal::Refusal;
use super::replay::Window;
use super::settings::MAX_TOKEN_LIFETIME_S;

/// The namespace of claims on proofs at the API.
pub(super) const API_PROOF: &str = "api proof";

/// What was seen.
pub(super) struct Witness {
    pub(super) proofs: Window,
    /// Thumbprints of Sessions that ended, and when no token of theirs can be left.
    ended: Mutex<BTreeMap<String, i64>>,
    /// Proofs from before this second may have been used at a process that is no more.
    pub(super) started_at: i64,
    /// Until then a proof may come again that such a process took ahead of its time. The ledger has it.
    pub(super) ahead_until: i64,
}

impl Witness {
    /// Begins with what the ledger knows.
    pub(super) async fn begin(ledger: &Ledger, issuer: &str, now: i64) -> Result<Self, Refusal> {
        let ended = ledger.ended(issuer, now).await?;
        let until = now + i64::from(MAX_TOKEN_LIFETIME_S);
        Ok(Self {
            proofs: Window::default(),
            ended: Mutex::new(ended.into_iter().map(|jkt| (jkt, until)).collect()),
            started_at: now,
            ahead_until: ledger.claims_end(API_PROOF, now).await?.unwrap_or(now),
        })
    }

    pub(super) fn has_ended(&self, jkt: &str) -> bool {
        let ended = self.ended.lock().unwrap_or_else(PoisonError::into_inner);
        ended.contains_key(jkt)
    }

    /// Notes an end for as long as a token may say otherwise, whatever lifetime it was issued with; what is
    /// older goes.
    pub(super) fn note_end(&self, jkt: String, now: i64) {
        let until = now + i64::from(MAX_TOKEN_LIFETIME_S);
        let mut ended = self.ended.lock().unwrap_or_else(PoisonError::into_inner);
        ended.retain(|_, until| *until > now);
        ended.insert(jkt, until);
    }

    #[cfg(test)]
    pub(super) fn ends_noted(&self) -> usize {
        let ended = self.ended.lock().unwrap_or_else(PoisonError::into_inner);
        ended.len()
    }
}
