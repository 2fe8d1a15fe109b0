//! An attempt to deliver as a span: ids, the target's name and kind, and how it ended. What a receiver said stays in
//! ledger and log. Must not hold a customer's value.

use crate::store::{DeliveryState, Job};
use crate::telemetry::trace::{Role, Word};
use crate::telemetry::work::Piece;

/// An attempt that has begun; one that is dropped was broken off by the store.
#[derive(Debug)]
pub(super) struct Attempt<'a> {
    piece: Option<Piece>,
    job: &'a Job,
    kind: &'static str,
}

impl<'a> Attempt<'a> {
    pub(super) fn begin(job: &'a Job, kind: &'static str) -> Self {
        Self {
            piece: Some(Piece::begin()),
            job,
            kind,
        }
    }

    /// `outcome` is the state that the delivery is in now, or why there is none.
    pub(super) fn end(mut self, outcome: &'static str) {
        self.finish(outcome);
    }

    fn finish(&mut self, outcome: &'static str) {
        let Some(piece) = self.piece.take() else {
            return;
        };
        let (job, kind) = (self.job, self.kind);
        let attributes = || {
            vec![
                ("forecourt.deployment", Word::Text(job.deployment.clone())),
                ("forecourt.lead_id", Word::Text(job.lead_id.clone())),
                ("forecourt.target", Word::Text(job.target.clone())),
                ("forecourt.kind", Word::Fixed(kind)),
                ("forecourt.attempt", Word::Number(i64::from(job.attempt))),
                ("forecourt.outcome", Word::Fixed(outcome)),
            ]
        };
        let failed = outcome != DeliveryState::Delivered.id();
        piece.end("lead delivery", Role::Client, attributes, failed);
    }
}

impl Drop for Attempt<'_> {
    fn drop(&mut self) {
        self.finish("store_failed");
    }
}
