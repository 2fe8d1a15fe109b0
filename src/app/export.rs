//! Sends spans and metrics to the operator's collector, and counts how that went. A collector that is away costs
//! spans, never a request. Must not know what they tell.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Method, header};
use tokio::sync::watch;
use tokio::time::Instant;

use crate::clock::Clock;
use crate::config::Otlp;
use crate::net::{Client, NetError, Request};
use crate::server::Operated;
use crate::telemetry::metric::{Family, Kind, whole};
use crate::telemetry::otlp::{self, Resource};
use crate::telemetry::trace::Tracer;

/// How often spans are fetched.
const SPANS_EVERY: Duration = Duration::from_secs(2);
/// Spans in one message.
const SPANS_AT_ONCE: usize = 512;
const CONTENT_TYPE: HeaderValue = HeaderValue::from_static("application/x-protobuf");

/// The way to a collector.
#[derive(Debug)]
pub(super) struct Exporter {
    settings: Otlp,
    client: Client,
    resource: Resource,
    headers: HeaderMap,
    clock: Clock,
    began_ns: u64,
    exports: Arc<Exports>,
}

/// How sending went.
#[derive(Debug)]
pub(super) struct Exports {
    pub(super) tracer: Arc<Tracer>,
    taken: [AtomicU64; 2],
    failed: [AtomicU64; 2],
}

#[derive(Clone, Copy, Debug)]
enum Signal {
    Traces,
    Metrics,
}

/// How one sending ended.
enum Sent {
    Taken,
    /// The same may be taken later.
    Later,
    Never,
}

impl Exports {
    pub(super) fn families(&self) -> [Family; 2] {
        let mut sent = Family::new(
            "forecourt_otlp_exports_total",
            Kind::Counter,
            "Messages to the collector.",
        );
        for (signal, index) in [("traces", 0), ("metrics", 1)] {
            for (result, counters) in [("taken", &self.taken), ("failed", &self.failed)] {
                let count = counters.get(index).map_or(0, |c| c.load(Ordering::Relaxed));
                sent.add(&[("signal", signal), ("result", result)], whole(count));
            }
        }
        let dropped = Family::new(
            "forecourt_otlp_spans_dropped_total",
            Kind::Counter,
            "Spans that no collector took in time.",
        );
        [sent, dropped.with(&[], whole(self.tracer.dropped()))]
    }
}

impl Exporter {
    pub(super) fn new(settings: Otlp, clock: Clock) -> Result<Self, NetError> {
        let mut headers = HeaderMap::new();
        headers.insert(header::CONTENT_TYPE, CONTENT_TYPE);
        for (name, value) in &settings.headers {
            // The configuration was checked for what does not fit.
            if let (Ok(name), Ok(mut value)) = (
                HeaderName::try_from(name.as_str()),
                HeaderValue::try_from(value.as_str()),
            ) {
                value.set_sensitive(true);
                headers.insert(name, value);
            }
        }
        let began_ns = unix_ns(&clock);
        Ok(Self {
            client: Client::new(settings.policy.clone())?,
            resource: Resource {
                service_name: settings.service_name.clone(),
                instance_id: uuid::Uuid::new_v4().to_string(),
            },
            headers,
            began_ns,
            exports: Arc::new(Exports {
                tracer: Arc::new(Tracer::new(settings.trace_share, began_ns)),
                taken: <[AtomicU64; 2]>::default(),
                failed: <[AtomicU64; 2]>::default(),
            }),
            clock,
            settings,
        })
    }

    pub(super) fn exports(&self) -> Arc<Exports> {
        Arc::clone(&self.exports)
    }

    /// Sends until `stop` turns true, and what is left then.
    pub(super) async fn run(self, operated: Operated, mut stop: watch::Receiver<bool>) {
        let mut metrics_due = self
            .settings
            .metrics_every
            .map(|every| Instant::now() + every);
        loop {
            let stopped = tokio::select! {
                _ = stop.wait_for(|stops| *stops) => true,
                () = tokio::time::sleep(SPANS_EVERY) => false,
            };
            self.exports.tracer.set_clock(unix_ns(&self.clock));
            let due = metrics_due.is_some_and(|due| due <= Instant::now());
            if due || (stopped && metrics_due.is_some()) {
                self.send_metrics(&operated).await;
                metrics_due = self
                    .settings
                    .metrics_every
                    .map(|every| Instant::now() + every);
            }
            self.send_spans().await;
            if stopped {
                return;
            }
        }
    }

    async fn send_spans(&self) {
        let mut spans = self.exports.tracer.fetch();
        while !spans.is_empty() {
            let rest = spans.split_off(spans.len().min(SPANS_AT_ONCE));
            let message = otlp::traces(&self.resource, &spans);
            match self.send(Signal::Traces, message).await {
                Sent::Taken | Sent::Never => spans = rest,
                Sent::Later => {
                    spans.extend(rest);
                    return self.exports.tracer.keep(spans);
                }
            }
        }
    }

    async fn send_metrics(&self, operated: &Operated) {
        let Some(operated) = operated.load_full() else {
            return;
        };
        let families = operated.metrics().await;
        let times = (self.began_ns, unix_ns(&self.clock));
        let message = otlp::metrics(&self.resource, &families, times);
        // What was counted is sent the next time again: nothing is lost.
        self.send(Signal::Metrics, message).await;
    }

    async fn send(&self, signal: Signal, message: Vec<u8>) -> Sent {
        let url = match signal {
            Signal::Traces => &self.settings.traces_url,
            Signal::Metrics => &self.settings.metrics_url,
        };
        let request = Request {
            method: Method::POST,
            url: url.clone(),
            headers: self.headers.clone(),
            body: Bytes::from(message),
        };
        let (sent, words) = match self.client.send(request).await {
            Ok(answer) if answer.status.is_success() => (Sent::Taken, String::new()),
            Ok(answer) => {
                let status = answer.status.as_u16();
                let later = matches!(status, 429 | 502..=504);
                let words = format!("the collector answered {status}");
                (if later { Sent::Later } else { Sent::Never }, words)
            }
            Err(error) => (Sent::Later, error.to_string()),
        };
        self.count(signal, &sent, &words);
        sent
    }

    fn count(&self, signal: Signal, sent: &Sent, words: &str) {
        let index = signal as usize;
        let (taken, failed) = (
            self.exports.taken.get(index),
            self.exports.failed.get(index),
        );
        let counter = if matches!(sent, Sent::Taken) {
            taken
        } else {
            failed
        };
        let before = counter.map_or(0, |counter| counter.fetch_add(1, Ordering::Relaxed));
        if !matches!(sent, Sent::Taken) {
            tell(signal, words, before);
        }
    }
}

/// Every sixtieth failure, the first one included: one line in two minutes at most.
fn tell(signal: Signal, words: &str, before: u64) {
    if before.is_multiple_of(60) {
        tracing::warn!(?signal, reason = words, failures = before + 1, "OTLP");
    }
}

fn unix_ns(clock: &Clock) -> u64 {
    u64::try_from(clock.now().as_nanosecond()).unwrap_or(0)
}
