//! Spans: which part of a request took how long, in the trace of whoever asks (W3C Trace Context). A request
//! that is not recorded costs nothing. Must not hold a customer's value: names and words are this program's
//! own, ids are the operator's or of a fixed form.

use std::borrow::Cow;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

pub use super::span::{Role, Span, Word};
use super::traceparent::{Parent, SpanId, TraceId, span_id};

/// Spans that wait to be fetched; further ones are counted and dropped.
const MOST_WAITING: usize = 4096;
/// Spans of one request.
const MOST_OF_ONE: usize = 32;

/// Keeps the spans of this process until they are fetched.
#[derive(Debug)]
pub struct Tracer {
    /// The part of all traces that is recorded, of 2^32.
    share: u64,
    waiting: Mutex<Vec<Span>>,
    dropped: AtomicU64,
    /// One instant by both clocks.
    anchor: Mutex<(Instant, u64)>,
}

impl Tracer {
    /// Records `share` (0 to 1) of all traces; it is `now_ns` now (Unix time).
    pub fn new(share: f64, now_ns: u64) -> Self {
        let parts = (share.clamp(0.0, 1.0) * 4_294_967_296.0).round();
        Self {
            share: parts.to_string().parse().unwrap_or(0),
            waiting: Mutex::default(),
            dropped: AtomicU64::new(0),
            anchor: Mutex::new((Instant::now(), now_ns)),
        }
    }

    /// It is `now_ns` now: the system's clock may have been set meanwhile.
    pub fn set_clock(&self, now_ns: u64) {
        *self.anchor.lock().unwrap_or_else(PoisonError::into_inner) = (Instant::now(), now_ns);
    }

    /// A request begins, maybe in the trace that its `traceparent` names. Whether it is recorded is decided
    /// by the trace's id alone: a caller's flag would let strangers fill the collector.
    pub fn begin(self: &Arc<Self>, traceparent: Option<&str>) -> Option<Active> {
        let parent = traceparent.and_then(Parent::read);
        let trace_id = parent.map_or_else(
            || uuid::Uuid::new_v4().into_bytes(),
            |parent| parent.trace_id,
        );
        let [.., a, b, c, d] = trace_id;
        if u64::from(u32::from_be_bytes([a, b, c, d])) >= self.share {
            return None;
        }
        Some(Active(Arc::new(Inner {
            tracer: Arc::clone(self),
            span_id: span_id(),
            began: Instant::now(),
            state: Mutex::new(State {
                trace_id,
                parent,
                spans: Vec::new(),
            }),
        })))
    }

    /// The spans that wait.
    pub fn fetch(&self) -> Vec<Span> {
        std::mem::take(&mut *self.waiting.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Takes spans, or puts them back; what does not fit is dropped.
    pub fn keep(&self, spans: Vec<Span>) {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        let room = MOST_WAITING.saturating_sub(waiting.len());
        let lost = spans.len().saturating_sub(room);
        waiting.extend(spans.into_iter().take(room));
        self.dropped.fetch_add(lost as u64, Ordering::Relaxed);
    }

    /// Spans that did not fit.
    pub fn dropped(&self) -> u64 {
        self.dropped.load(Ordering::Relaxed)
    }

    fn unix_ns(&self, instant: Instant) -> u64 {
        let (at, ns) = *self.anchor.lock().unwrap_or_else(PoisonError::into_inner);
        let ns_of = |time: Duration| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        match instant.checked_duration_since(at) {
            Some(later) => ns.saturating_add(ns_of(later)),
            None => ns.saturating_sub(ns_of(at.saturating_duration_since(instant))),
        }
    }
}

tokio::task_local! {
    static CURRENT: Active;
}

/// A request that is under way and recorded.
#[derive(Clone, Debug)]
pub struct Active(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    tracer: Arc<Tracer>,
    span_id: SpanId,
    began: Instant,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    trace_id: TraceId,
    parent: Option<Parent>,
    /// Of the request's parts. The trace is known for sure only at the end.
    spans: Vec<Span>,
}

/// One span as it ends.
#[derive(Debug)]
pub struct Ended {
    pub name: Cow<'static, str>,
    pub role: Role,
    pub began: Instant,
    pub attributes: Vec<(&'static str, Word)>,
    pub failed: bool,
}

impl Active {
    /// Runs a part of the request, which finds it by [`current`].
    pub async fn within<F: Future>(request: Option<&Self>, part: F) -> F::Output {
        match request {
            Some(request) => CURRENT.scope(request.clone(), part).await,
            None => part.await,
        }
    }

    /// The request stands in the trace of this `traceparent`, where no header has said so before.
    pub fn adopt(&self, traceparent: &str) {
        let mut state = self.state();
        if let (None, Some(parent)) = (state.parent, Parent::read(traceparent)) {
            state.trace_id = parent.trace_id;
            state.parent = Some(parent);
        }
    }

    /// Notes a part of the request that has ended.
    pub fn note(&self, ended: Ended) {
        self.push(ended, span_id());
    }

    fn push(&self, ended: Ended, span_id: SpanId) {
        let span = self.span(ended, span_id, Some(self.0.span_id));
        let mut state = self.state();
        if state.spans.len() < MOST_OF_ONE {
            state.spans.push(span);
        }
    }

    /// A call to another system begins: its span's id, and what to say in `traceparent` there.
    pub fn call(&self) -> Outward {
        let span_id = span_id();
        let here = Parent {
            trace_id: self.state().trace_id,
            span_id,
        };
        Outward {
            request: self.clone(),
            span_id,
            began: Instant::now(),
            traceparent: here.written(),
        }
    }

    /// Ends the request; its spans are ready to be fetched.
    pub fn end(self, name: Cow<'static, str>, attributes: Vec<(&'static str, Word)>, failed: bool) {
        self.end_as(Role::Server, name, attributes, failed);
    }

    /// The same for what is no request.
    pub(super) fn end_as(
        self,
        role: Role,
        name: Cow<'static, str>,
        attributes: Vec<(&'static str, Word)>,
        failed: bool,
    ) {
        let ended = Ended {
            name,
            role,
            began: self.0.began,
            attributes,
            failed,
        };
        let mut span = self.span(ended, self.0.span_id, None);
        let mut state = self.state();
        span.parent = state.parent.map(|parent| parent.span_id);
        let mut spans = std::mem::take(&mut state.spans);
        spans.push(span);
        for span in &mut spans {
            span.trace_id = state.trace_id;
        }
        drop(state);
        self.0.tracer.keep(spans);
    }

    fn span(&self, ended: Ended, span_id: SpanId, parent: Option<SpanId>) -> Span {
        let tracer = &self.0.tracer;
        Span {
            trace_id: [0; 16],
            span_id,
            parent,
            name: ended.name,
            role: ended.role,
            began_ns: tracer.unix_ns(ended.began),
            ended_ns: tracer.unix_ns(Instant::now()),
            attributes: ended.attributes,
            failed: ended.failed,
        }
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A call to another system.
#[derive(Debug)]
pub struct Outward {
    request: Active,
    span_id: SpanId,
    began: Instant,
    /// For the header of this name.
    pub traceparent: String,
}

impl Outward {
    /// The call has ended.
    pub fn end(self, name: &'static str, attributes: Vec<(&'static str, Word)>, failed: bool) {
        let ended = Ended {
            name: Cow::Borrowed(name),
            role: Role::Client,
            began: self.began,
            attributes,
            failed,
        };
        self.request.push(ended, self.span_id);
    }
}

/// The request that this task is answering, where it is recorded.
pub fn current() -> Option<Active> {
    CURRENT.try_with(Clone::clone).ok()
}

/// Runs a stage of the current request, which becomes a span; `failed` says how it ended.
pub async fn stage<F: Future>(
    name: &'static str,
    part: F,
    failed: impl FnOnce(&F::Output) -> bool,
) -> F::Output {
    let Some(request) = current() else {
        return part.await;
    };
    let began = Instant::now();
    let output = part.await;
    request.note(Ended {
        name: Cow::Borrowed(name),
        role: Role::Internal,
        began,
        attributes: Vec::new(),
        failed: failed(&output),
    });
    output
}

#[cfg(test)]
mod tests {
    use super::*;

    const CALLER: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

    #[test]
    fn a_requests_spans_stand_in_its_callers_trace() {
        let tracer = Arc::new(Tracer::new(1.0, 1_000_000_000));
        let request = tracer.begin(None).unwrap();
        request.note(Ended {
            name: Cow::Borrowed("stage"),
            role: Role::Internal,
            began: Instant::now(),
            attributes: vec![("n", Word::Number(1))],
            failed: true,
        });
        request.adopt(CALLER);
        request.adopt(&CALLER.replace("0af7", "ffff"));
        let outward = request.call();
        assert!(
            outward
                .traceparent
                .starts_with("00-0af7651916cd43dd8448eb211c80319c-")
        );
        outward.end("website", Vec::new(), false);
        request.end(Cow::Borrowed("POST mcp"), Vec::new(), false);
        let spans = tracer.fetch();
        let [stage, website, server] = spans.as_slice() else {
            panic!("{spans:?}");
        };
        for span in [stage, website, server] {
            assert_eq!(span.trace_id[..2], [0x0a, 0xf7]);
            assert!(span.ended_ns >= span.began_ns && span.began_ns >= 1_000_000_000);
        }
        assert_eq!(stage.parent, Some(server.span_id));
        assert_eq!(website.parent, Some(server.span_id));
        assert_eq!(server.parent.unwrap()[..2], [0xb7, 0xad]);
        assert!(tracer.fetch().is_empty());
    }

    #[test]
    fn what_is_recorded_is_decided_here_and_bounded() {
        let none = Arc::new(Tracer::new(0.0, 0));
        assert!(none.begin(Some(CALLER)).is_none());
        let some = Arc::new(Tracer::new(0.5, 0));
        let recorded = (0..2000).filter(|_| some.begin(None).is_some()).count();
        assert!((800..1200).contains(&recorded), "{recorded}");
        let all = Arc::new(Tracer::new(1.0, 0));
        for _ in 0..MOST_WAITING + 5 {
            let request = all.begin(None).unwrap();
            request.end(Cow::Borrowed("x"), Vec::new(), false);
        }
        assert_eq!(all.fetch().len(), MOST_WAITING);
        assert_eq!(all.dropped(), 5);
    }
}
