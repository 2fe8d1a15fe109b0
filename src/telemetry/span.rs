//! A finished span as a value. Must not hold a customer's value: names and words are this program's own, ids are the
//! operator's or of a fixed form.

use std::borrow::Cow;

use super::traceparent::{SpanId, TraceId};

/// Which side of a call a span is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    Internal,
    Server,
    Client,
}

/// What an attribute says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Word {
    Fixed(&'static str),
    Text(String),
    Number(i64),
}

/// A finished span.
#[derive(Clone, Debug)]
pub struct Span {
    pub trace_id: TraceId,
    pub span_id: SpanId,
    pub parent: Option<SpanId>,
    pub name: Cow<'static, str>,
    pub role: Role,
    /// Unix time.
    pub began_ns: u64,
    pub ended_ns: u64,
    pub attributes: Vec<(&'static str, Word)>,
    pub failed: bool,
}
