//! What the listener counts: requests by surface and status, limits that struck, connections. Counters
//! without a lock, bounded by construction. Must not know what a request says.

use std::array;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::telemetry::metric::{Family, Kind, Value, whole};

/// What answered, as log lines and metrics call it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Answerer {
    Mcp,
    A2a,
    PapIssuer,
    PapApi,
    Discovery,
    Page,
    Website,
    Health,
    Nothing,
}

impl Answerer {
    const ALL: [Self; 9] = [
        Self::Mcp,
        Self::A2a,
        Self::PapIssuer,
        Self::PapApi,
        Self::Discovery,
        Self::Page,
        Self::Website,
        Self::Health,
        Self::Nothing,
    ];

    pub(super) fn id(self) -> &'static str {
        match self {
            Self::Mcp => "mcp",
            Self::A2a => "a2a",
            Self::PapIssuer => "pap_issuer",
            Self::PapApi => "pap_api",
            Self::Discovery => "discovery",
            Self::Page => "page",
            Self::Website => "website",
            Self::Health => "health",
            Self::Nothing => "none",
        }
    }
}

/// A bound that a peer ran into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Limit {
    /// Requests a minute from one address.
    Address,
    /// Requests a minute to one deployment.
    Deployment,
    /// Connections of one address.
    AddressConnections,
    /// A head or handshake that took too long.
    SlowHead,
    /// Plain HTTP from a peer that is no trusted proxy.
    PlainHttp,
}

impl Limit {
    const ALL: [Self; 5] = [
        Self::Address,
        Self::Deployment,
        Self::AddressConnections,
        Self::SlowHead,
        Self::PlainHttp,
    ];

    fn id(self) -> &'static str {
        match self {
            Self::Address => "address_requests",
            Self::Deployment => "deployment_requests",
            Self::AddressConnections => "address_connections",
            Self::SlowHead => "slow_head",
            Self::PlainHttp => "plain_http",
        }
    }
}

/// Classes of statuses: 1xx … 5xx.
const STATUSES: usize = 5;

/// The listener's counters.
#[derive(Debug)]
pub struct Stats {
    requests: [[AtomicU64; STATUSES]; Answerer::ALL.len()],
    took_us: [AtomicU64; Answerer::ALL.len()],
    limits: [AtomicU64; Limit::ALL.len()],
    opened: AtomicU64,
    closed: AtomicU64,
}

impl Default for Stats {
    fn default() -> Self {
        let zero = || AtomicU64::new(0);
        Self {
            requests: array::from_fn(|_| array::from_fn(|_| zero())),
            took_us: array::from_fn(|_| zero()),
            limits: array::from_fn(|_| zero()),
            opened: zero(),
            closed: zero(),
        }
    }
}

impl Stats {
    pub(super) fn request(&self, answerer: Answerer, status: u16, took: Duration) {
        let class = usize::from(status / 100).saturating_sub(1);
        let row = self.requests.get(answerer as usize);
        add(row.and_then(|row| row.get(class)), 1);
        let us = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        add(self.took_us.get(answerer as usize), us);
    }

    pub(super) fn limit(&self, limit: Limit) {
        add(self.limits.get(limit as usize), 1);
    }

    /// Counts a connection while the value lives.
    pub(super) fn connection(self: &std::sync::Arc<Self>) -> Open {
        add(Some(&self.opened), 1);
        Open(std::sync::Arc::clone(self))
    }

    /// Everything that was counted.
    pub fn families(&self) -> Vec<Family> {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let mut requests = Family::new(
            "forecourt_http_requests_total",
            Kind::Counter,
            "Requests answered, by what answered and class of status.",
        );
        for (answerer, row) in Answerer::ALL.iter().zip(&self.requests) {
            for (class, counter) in (1..).zip(row).filter(|(_, counter)| read(counter) > 0) {
                let (surface, status) = (answerer.id(), format!("{class}xx"));
                let labels = [("surface", surface), ("status", status.as_str())];
                requests.add(&labels, whole(read(counter)));
            }
        }
        let mut seconds = Family::new(
            "forecourt_http_request_seconds_total",
            Kind::Counter,
            "Time from a request's head to its answer's.",
        );
        for (answerer, counter) in Answerer::ALL.iter().zip(&self.took_us) {
            let took = Duration::from_micros(read(counter)).as_secs_f64();
            seconds.add(&[("surface", answerer.id())], Value::Real(took));
        }
        let mut limits = Family::new(
            "forecourt_limited_total",
            Kind::Counter,
            "Times that a bound struck.",
        );
        for (limit, counter) in Limit::ALL.iter().zip(&self.limits) {
            limits.add(&[("limit", limit.id())], whole(read(counter)));
        }
        let opened = read(&self.opened);
        let open = opened.saturating_sub(read(&self.closed));
        let total = Family::new(
            "forecourt_connections_total",
            Kind::Counter,
            "Connections taken.",
        );
        let now = Family::new(
            "forecourt_connections",
            Kind::Gauge,
            "Connections open now.",
        );
        let (total, now) = (total.with(&[], whole(opened)), now.with(&[], whole(open)));
        vec![requests, seconds, limits, total, now]
    }
}

/// An open connection.
#[derive(Debug)]
pub(super) struct Open(std::sync::Arc<Stats>);

impl Drop for Open {
    fn drop(&mut self) {
        add(Some(&self.0.closed), 1);
    }
}

fn add(counter: Option<&AtomicU64>, count: u64) {
    if let Some(counter) = counter {
        counter.fetch_add(count, Ordering::Relaxed);
    }
}
