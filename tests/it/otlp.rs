//! Traces and metrics for a collector: off unless asked for, in the caller's trace, and never in the way.

use serde_json::json;

use crate::collector::{Collector, Fields};
use crate::fleet::lead;
use crate::process::{Process, dealer, exchange, search_request, tool_request};

const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";
const CALLER: &str = "b7ad6b7169203331";

/// A search whose caller stands in a trace, by header or in the body.
fn traced_search(header: Option<&str>, meta: Option<&str>) -> Vec<u8> {
    let plain = String::from_utf8(search_request("a.example")).unwrap();
    let (head, body) = plain.split_once("\r\n\r\n").unwrap();
    let mut body: serde_json::Value = serde_json::from_str(body).unwrap();
    if let Some(meta) = meta {
        body["params"]["_meta"]["traceparent"] = json!(meta);
    }
    let body = body.to_string();
    let lines = head
        .lines()
        .filter(|line| !line.starts_with("Content-Length"));
    let mut text: Vec<String> = lines.map(str::to_owned).collect();
    text.extend(header.map(|header| format!("traceparent: {header}")));
    text.push(format!("Content-Length: {}", body.len()));
    format!("{}\r\n\r\n{body}", text.join("\r\n")).into_bytes()
}

fn named<'a>(spans: &'a [Fields], name: &str) -> Vec<&'a Fields> {
    spans.iter().filter(|span| span.text(5) == name).collect()
}

/// A request's span, in its caller's trace, with a span for each of its stages.
fn check_request(spans: &[Fields], request: &Fields) {
    assert_eq!(request.hex(4), CALLER);
    assert_eq!(request.number(6), Some(2), "a server's span");
    let about = request.pairs(9);
    assert_eq!(about["forecourt.deployment"], "a");
    assert_eq!(about["http.response.status_code"], "200");
    assert_eq!(about["forecourt.request_id"].len(), 32);
    for stage in ["admission", "inventory.search"] {
        let below = named(spans, stage);
        let below: Vec<_> = below
            .iter()
            .filter(|span| span.hex(4) == request.hex(2))
            .collect();
        assert_eq!(below.len(), 1, "{stage}");
        let times = |span: &Fields| (span.number(7).unwrap(), span.number(8).unwrap());
        let (whole, part) = (times(request), times(below[0]));
        assert!(whole.0 <= part.0 && part.1 <= whole.1, "{stage}");
    }
}

// AAP-145 AAP-340
#[test]
fn a_call_is_told_to_the_collector_in_its_callers_trace() {
    let collector = Collector::start(200);
    let config = collector.config() + "[telemetry.otlp.headers]\nx-key = \"geheim\"\n";
    let mut process = Process::start("", &[("conf/otlp.toml", config)]);
    let caller = format!("00-{TRACE}-{CALLER}-00");
    let (header, meta) = (Some(caller.as_str()), Some(caller.as_str()));
    for (header, meta) in [(header, None), (None, meta), (None, None)] {
        let request = traced_search(header, meta);
        assert_eq!(exchange(process.address, &request).status, 200);
    }
    process.wait_until("three calls are told", |_| {
        named(&collector.spans(), "POST mcp").len() == 3
    });
    let spans = collector.spans();
    let requests = named(&spans, "POST mcp");
    let in_trace: Vec<_> = requests
        .iter()
        .filter(|span| span.hex(1) == TRACE)
        .collect();
    assert_eq!(in_trace.len(), 2);
    for request in in_trace {
        check_request(&spans, request);
    }
    let skill = named(&spans, "inventory.search")[0].pairs(9);
    assert_eq!(skill["aap.outcome"], "ok");
    assert_eq!(skill["aap.binding"], "mcp");
    let messages = collector.messages();
    for message in &messages {
        assert_eq!(message.headers["x-key"], "geheim");
        assert_eq!(message.headers["content-type"], "application/x-protobuf");
    }
    let resource = Fields::read(&messages[0].body).unwrap().all(&[1, 1]);
    assert_eq!(resource[0].pairs(1)["service.name"], "forecourt");
    assert!(!process.log().contains("geheim"));
}

/// A delivery's span: what of, where to, how it ended.
fn check_delivery(delivery: &Fields, lead: &str) {
    assert_eq!(delivery.number(6), Some(3), "a client's span");
    let about = delivery.pairs(9);
    for (name, value) in [
        ("deployment", "a"),
        ("lead_id", lead),
        ("target", "crm"),
        ("kind", "directory"),
        ("attempt", "1"),
        ("outcome", "delivered"),
    ] {
        assert_eq!(about[&format!("forecourt.{name}")], value, "{about:?}");
    }
    assert!(delivery.number(7) <= delivery.number(8));
}

/// What the process does of its own accord is a trace of its own, and says nothing of a buyer or of a source.
// AAP-506
#[test]
fn readings_and_deliveries_are_told_by_their_outcome() {
    let collector = Collector::start(200);
    let files = [
        ("conf/otlp.toml", collector.config()),
        ("conf/b.toml", dealer("b", "Dealer b")),
    ];
    // b's file is missing.
    let mut process = Process::start("", &files);
    let mut inquiry = lead("kanarienvogel-key", &json!({ "vehicle_id": "a-1" }));
    for place in ["/customer/first_name", "/customer/last_name", "/message"] {
        *inquiry.pointer_mut(place).unwrap() = json!("kanarienvogel");
    }
    inquiry["customer"]["email"] = json!("kanarienvogel@example.com");
    let request = tool_request("a.example", "aap_lead_submit", &inquiry);
    let answer = exchange(process.address, &request).json();
    let data = &answer["result"]["structuredContent"]["data"];
    let id = data["lead_id"]
        .as_str()
        .unwrap_or_else(|| panic!("{answer}"));
    process.wait_until("all is told", |_| {
        let spans = collector.spans();
        named(&spans, "lead delivery").len() == 1 && named(&spans, "inventory refresh").len() > 1
    });
    let spans = collector.spans();
    let delivery = named(&spans, "lead delivery")[0];
    check_delivery(delivery, id);
    let readings = named(&spans, "inventory refresh");
    let of = |deployment: &str| {
        let all = readings.iter().map(|span| (span.pairs(9), *span));
        let mut own = all.filter(|(about, _)| about["forecourt.deployment"] == deployment);
        own.next().unwrap()
    };
    let (a, _) = of("a");
    assert_eq!(a["forecourt.outcome"], "published");
    assert_eq!(a["forecourt.vehicles"], "30");
    let (b, failed) = of("b");
    assert_eq!(b["forecourt.outcome"], "failed");
    assert_eq!(b.len(), 2, "a source's words stay in the log: {b:?}");
    assert_eq!(failed.all(&[15])[0].number(3), Some(2), "an error");
    let of_requests = named(&spans, "POST mcp");
    for own in readings.iter().chain([&delivery]) {
        assert_eq!(own.hex(4), "", "it has no parent");
        assert!(
            of_requests
                .iter()
                .all(|request| request.hex(1) != own.hex(1))
        );
    }
    for message in collector.messages() {
        assert!(memchr::memmem::find(&message.body, b"kanarienvogel").is_none());
    }
}

#[test]
fn the_same_metrics_go_to_the_collector_as_to_a_scraper() {
    let collector = Collector::start(200);
    let mut process = Process::start("", &[("conf/otlp.toml", collector.config())]);
    assert_eq!(process.search("a.example").status, 200);
    let families = || -> Vec<Fields> {
        let messages = collector.messages();
        let last = messages.iter().rfind(|one| one.path == "/v1/metrics");
        last.map_or_else(Vec::new, |one| {
            Fields::read(&one.body).unwrap().all(&[1, 2, 2])
        })
    };
    process.wait_until("the call is counted", |_| {
        let all = families();
        let calls = all
            .iter()
            .find(|one| one.text(1) == "forecourt_calls_total");
        calls.is_some_and(|calls| !calls.all(&[7, 1]).is_empty())
    });
    let families = families();
    let text = process.admin("/metrics").text;
    for family in &families {
        let line = format!("# TYPE {} ", family.text(1));
        assert!(text.contains(&line), "{line}");
    }
    assert_eq!(families.len(), text.matches("# TYPE ").count());
    let calls = families
        .iter()
        .find(|one| one.text(1) == "forecourt_calls_total")
        .unwrap();
    let sum = &calls.all(&[7])[0];
    assert_eq!((sum.number(2), sum.number(3)), (Some(2), Some(1)));
    let point = &sum.all(&[1])[0];
    assert_eq!(point.number(6), Some(1));
    assert_eq!(point.pairs(7)["skill"], "inventory.search");
    let took = families
        .iter()
        .find(|one| one.text(1) == "forecourt_call_duration_seconds")
        .unwrap();
    let point = &took.all(&[9, 1])[0];
    assert_eq!(point.number(4), Some(1), "one call");
    let (classes, bounds) = (point.bytes(6).unwrap(), point.bytes(7).unwrap());
    assert_eq!(classes.len(), bounds.len() + 8);
}

#[test]
fn a_collector_that_is_away_costs_no_request() {
    let collector = Collector::start(503);
    let mut process = Process::start("", &[("conf/otlp.toml", collector.config())]);
    assert_eq!(process.search("a.example").status, 200);
    process.wait_until("it was tried again", |_| {
        named(&collector.spans(), "POST mcp").len() > 1
    });
    let failed = "forecourt_otlp_exports_total{signal=\"traces\",result=\"failed\"}";
    let text = process.admin("/metrics").text;
    let line = text.lines().find(|line| line.starts_with(failed)).unwrap();
    assert!(!line.ends_with(" 0"), "{line}");
    assert!(process.log().contains("the collector answered 503"));
    assert_eq!(process.search("a.example").status, 200);
}

#[test]
fn nothing_is_recorded_or_sent_unless_it_is_configured() {
    let process = Process::start("", &[]);
    assert_eq!(process.search("a.example").status, 200);
    assert!(!process.admin("/metrics").text.contains("otlp"));
    let collector = Collector::start(200);
    let none = collector.config() + "trace_share = 0\n";
    let mut process = Process::start("", &[("conf/otlp.toml", none)]);
    assert_eq!(process.search("a.example").status, 200);
    process.wait_until("metrics came twice", |_| collector.messages().len() > 1);
    assert!(collector.spans().is_empty());
}
