//! What the desk did since the process began, in numbers. Must not know why.

use std::sync::atomic::{AtomicU64, Ordering};

use serde::Serialize;

use crate::store::DeliveryState;

/// What the desk did since the process began.
#[derive(Debug, Default)]
pub struct Counters {
    accepted: AtomicU64,
    rejected: AtomicU64,
    replayed: AtomicU64,
    delivered: AtomicU64,
    waiting: AtomicU64,
    held: AtomicU64,
    refused: AtomicU64,
    alerts: AtomicU64,
}

/// [`Counters`] at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    pub accepted: u64,
    /// Inquiries that a scheduling system declined with their appointment.
    pub rejected: u64,
    pub replayed: u64,
    pub delivered: u64,
    /// Attempts that failed and are repeated.
    pub waiting: u64,
    pub held: u64,
    pub refused: u64,
    /// Messages to the operator that went out.
    pub alerts: u64,
}

impl Counters {
    pub(super) fn accepted(&self) {
        self.accepted.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn rejected(&self) {
        self.rejected.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn replayed(&self) {
        self.replayed.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn ended(&self, state: DeliveryState) {
        let counter = match state {
            DeliveryState::Delivered => &self.delivered,
            DeliveryState::Held => &self.held,
            DeliveryState::Refused => &self.refused,
            DeliveryState::Queued | DeliveryState::Sending | DeliveryState::Waiting => {
                &self.waiting
            }
        };
        counter.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn alerted(&self) {
        self.alerts.fetch_add(1, Ordering::Relaxed);
    }

    /// All of them now.
    pub fn read(&self) -> Counts {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        Counts {
            accepted: read(&self.accepted),
            rejected: read(&self.rejected),
            replayed: read(&self.replayed),
            delivered: read(&self.delivered),
            waiting: read(&self.waiting),
            held: read(&self.held),
            refused: read(&self.refused),
            alerts: read(&self.alerts),
        }
    }
}
