//! What the listener counts: requests by surface and status, limits that struck, connections. Counters
//! without a lock, bounded by construction. Must not know what a request says.

use std::array;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

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

    /// Everything in the text format of Prometheus.
    pub fn write(&self, text: &mut String) {
        use std::fmt::Write as _;
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        // Writing to a string cannot fail.
        let mut line = |words: std::fmt::Arguments<'_>| {
            let _fine = writeln!(text, "{words}");
        };
        line(format_args!("# TYPE forecourt_http_requests_total counter"));
        for (answerer, row) in Answerer::ALL.iter().zip(&self.requests) {
            for (class, counter) in (1..).zip(row) {
                if read(counter) > 0 {
                    let (id, count) = (answerer.id(), read(counter));
                    line(format_args!(
                        "forecourt_http_requests_total{{surface=\"{id}\",status=\"{class}xx\"}} {count}"
                    ));
                }
            }
        }
        line(format_args!(
            "# TYPE forecourt_http_request_seconds_total counter"
        ));
        for (answerer, counter) in Answerer::ALL.iter().zip(&self.took_us) {
            let (id, seconds) = (answerer.id(), Duration::from_micros(read(counter)));
            let seconds = seconds.as_secs_f64();
            line(format_args!(
                "forecourt_http_request_seconds_total{{surface=\"{id}\"}} {seconds}"
            ));
        }
        line(format_args!("# TYPE forecourt_limited_total counter"));
        for (limit, counter) in Limit::ALL.iter().zip(&self.limits) {
            let (id, count) = (limit.id(), read(counter));
            line(format_args!(
                "forecourt_limited_total{{limit=\"{id}\"}} {count}"
            ));
        }
        let opened = read(&self.opened);
        let open = opened.saturating_sub(read(&self.closed));
        line(format_args!("# TYPE forecourt_connections_total counter"));
        line(format_args!("forecourt_connections_total {opened}"));
        line(format_args!("# TYPE forecourt_connections gauge"));
        line(format_args!("forecourt_connections {open}"));
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
