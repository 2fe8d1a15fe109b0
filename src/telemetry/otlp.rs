//! Spans and metrics as OTLP messages in protobuf (opentelemetry-proto 1, stable signals). The field numbers
//! are the schema's; a decoder of the official package reads them in the tests. Must not send anything.

use super::metric::{Family, Kind, Point, Value};
use super::trace::{Role, Span, Word};
use super::wire::Message;

const SCOPE: &str = "forecourt";
const CUMULATIVE: u64 = 2;
const STATUS_ERROR: u64 = 2;

/// Whose signals these are.
#[derive(Clone, Debug)]
pub struct Resource {
    pub service_name: String,
    /// One for each start of a process.
    pub instance_id: String,
}

/// An `ExportTraceServiceRequest`.
pub fn traces(resource: &Resource, spans: &[Span]) -> Vec<u8> {
    let mut request = Message::default();
    request.message(1, |out| {
        out.message(1, |out| write_resource(out, resource));
        out.message(2, |out| {
            out.message(1, write_scope);
            for span in spans {
                out.message(2, |out| write_span(out, span));
            }
        });
    });
    request.finish()
}

/// An `ExportMetricsServiceRequest`: what was counted from `since_ns` to `now_ns` (Unix time).
pub fn metrics(
    resource: &Resource,
    families: &[Family],
    (since_ns, now_ns): (u64, u64),
) -> Vec<u8> {
    let mut request = Message::default();
    request.message(1, |out| {
        out.message(1, |out| write_resource(out, resource));
        out.message(2, |out| {
            out.message(1, write_scope);
            for family in families {
                out.message(2, |out| write_family(out, family, (since_ns, now_ns)));
            }
        });
    });
    request.finish()
}

fn write_resource(out: &mut Message, resource: &Resource) {
    for (key, text) in [
        ("service.name", resource.service_name.as_str()),
        ("service.version", env!("CARGO_PKG_VERSION")),
        ("service.instance.id", resource.instance_id.as_str()),
    ] {
        out.message(1, |out| pair(out, key, text));
    }
}

fn write_scope(out: &mut Message) {
    out.text(1, SCOPE);
    out.text(2, env!("CARGO_PKG_VERSION"));
}

/// A `KeyValue` of text.
fn pair(out: &mut Message, key: &str, text: &str) {
    out.text(1, key);
    out.message(2, |out| out.text(1, text));
}

fn write_span(out: &mut Message, span: &Span) {
    out.bytes(1, &span.trace_id);
    out.bytes(2, &span.span_id);
    if let Some(parent) = &span.parent {
        out.bytes(4, parent);
    }
    out.text(5, &span.name);
    out.number(
        6,
        match span.role {
            Role::Internal => 1,
            Role::Server => 2,
            Role::Client => 3,
        },
    );
    out.fixed64(7, span.began_ns);
    out.fixed64(8, span.ended_ns);
    for (key, word) in &span.attributes {
        out.message(9, |out| match word {
            Word::Fixed(text) => pair(out, key, text),
            Word::Text(text) => pair(out, key, text),
            Word::Number(number) => {
                out.text(1, key);
                out.message(2, |out| out.number(3, number.cast_unsigned()));
            }
        });
    }
    if span.failed {
        out.message(15, |out| out.number(3, STATUS_ERROR));
    }
}

fn write_family(out: &mut Message, family: &Family, times: (u64, u64)) {
    out.text(1, family.name);
    out.text(2, family.help);
    if family.name.ends_with("_seconds") || family.name.ends_with("_seconds_total") {
        out.text(3, "s");
    }
    let field = match family.kind {
        Kind::Gauge => 5,
        Kind::Counter => 7,
        Kind::Histogram => 9,
    };
    out.message(field, |out| {
        for point in &family.points {
            out.message(1, |out| write_point(out, point, times));
        }
        if family.kind != Kind::Gauge {
            out.number(2, CUMULATIVE);
        }
        if family.kind == Kind::Counter {
            out.number(3, 1);
        }
    });
}

fn write_point(out: &mut Message, point: &Point, (since_ns, now_ns): (u64, u64)) {
    out.fixed64(2, since_ns);
    out.fixed64(3, now_ns);
    let labels = match &point.value {
        Value::Whole(count) => {
            out.fixed64(6, count.cast_unsigned());
            7
        }
        Value::Real(number) => {
            out.double(4, *number);
            7
        }
        Value::Histogram {
            bounds,
            classes,
            sum,
        } => {
            out.fixed64(4, classes.iter().sum());
            out.double(5, *sum);
            out.packed(6, classes.iter().copied());
            out.packed(7, bounds.iter().map(|bound| bound.to_bits()));
            9
        }
    };
    for (key, text) in &point.labels {
        out.message(labels, |out| pair(out, key, text));
    }
}
