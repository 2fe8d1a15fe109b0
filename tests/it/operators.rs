//! What operators see: probes with reasons, metrics that a scraper can read.

use std::collections::BTreeMap;

use serde_json::json;

use crate::fleet::{feed, lead};
use crate::process::{Process, dealer, exchange, tool_request};

/// Every sample of a text in the format of Prometheus; panics at a line that is neither sample nor comment.
fn samples(text: &str) -> BTreeMap<String, String> {
    let mut samples = BTreeMap::new();
    let mut types = BTreeMap::new();
    for line in text.lines() {
        if let Some(help) = line.strip_prefix("# HELP ") {
            assert!(help.split_once(' ').unwrap().1.ends_with('.'), "{line}");
            continue;
        }
        if let Some(kind) = line.strip_prefix("# TYPE ") {
            let (name, kind) = kind.split_once(' ').unwrap();
            assert!(types.insert(name.to_owned(), kind.to_owned()).is_none());
            assert!(["counter", "gauge", "histogram"].contains(&kind), "{line}");
            continue;
        }
        let (series, value) = line.rsplit_once(' ').unwrap_or_else(|| panic!("{line:?}"));
        let name = series.split('{').next().unwrap();
        let family = ["_bucket", "_sum", "_count"]
            .iter()
            .find_map(|end| name.strip_suffix(end))
            .filter(|family| types.contains_key(*family))
            .unwrap_or(name);
        assert!(types.contains_key(family), "{line}: no type before it");
        if let Some(labels) = series.split_once('{') {
            let labels = labels.1.strip_suffix('}').unwrap();
            assert_eq!(labels.matches('"').count() % 2, 0, "{line}");
        }
        value.parse::<f64>().unwrap();
        let before = samples.insert(series.to_owned(), value.to_owned());
        assert!(before.is_none(), "{line}: twice");
    }
    samples
}

// AAP-145 AAP-340
#[test]
fn metrics_tell_calls_by_binding_skill_deployment_and_code() {
    let process = Process::start(
        "requests_per_minute_per_address = 1000",
        &[
            ("conf/b.toml", dealer("b", "Dealer b")),
            ("b.csv", feed("b", 3)),
        ],
    );
    for _ in 0..3 {
        assert_eq!(process.search("a.example").status, 200);
    }
    assert_eq!(process.search("nobody.example").status, 421);
    let answer = process.admin("/metrics");
    assert!(answer.headers["content-type"].starts_with("text/plain; version=0.0.4"));
    let samples = samples(&answer.text);
    let calls = |deployment: &str| {
        format!(
            "forecourt_calls_total{{deployment=\"{deployment}\",binding=\"mcp\",skill=\"inventory.search\",code=\"ok\"}}"
        )
    };
    assert!(!samples.contains_key(&calls("b")), "a's calls are not b's");
    let labels = "deployment=\"a\",binding=\"mcp\",skill=\"inventory.search\"";
    let all = format!("forecourt_call_duration_seconds_bucket{{{labels},le=\"+Inf\"}}");
    let (calls, all) = (calls("a"), all);
    for (series, value) in [
        (calls.as_str(), "3"),
        (all.as_str(), "3"),
        ("forecourt_inventory_vehicles{deployment=\"a\"}", "30"),
        ("forecourt_inventory_vehicles{deployment=\"b\"}", "3"),
        ("forecourt_inventory_answers{deployment=\"a\"}", "1"),
        ("forecourt_outbox_oldest_seconds{deployment=\"a\"}", "0"),
        (
            "forecourt_outbox_deliveries{deployment=\"a\",state=\"held\"}",
            "0",
        ),
        (
            "forecourt_leads_total{deployment=\"a\",result=\"accepted\"}",
            "0",
        ),
        ("forecourt_client_fetches_total{result=\"answered\"}", "0"),
        (
            "forecourt_http_requests_total{surface=\"mcp\",status=\"2xx\"}",
            "3",
        ),
        (
            "forecourt_http_requests_total{surface=\"none\",status=\"4xx\"}",
            "1",
        ),
        ("forecourt_limited_total{limit=\"address_requests\"}", "0"),
    ] {
        assert_eq!(
            samples.get(series).map(String::as_str),
            Some(value),
            "{series}"
        );
    }
    for unlabelled in ["forecourt_connections", "forecourt_connections_total"] {
        assert!(samples.contains_key(unlabelled), "{unlabelled}");
    }
}

#[test]
fn metrics_tell_what_the_index_takes_and_how_long_it_takes() {
    let process = Process::start("", &[]);
    for _ in 0..3 {
        assert_eq!(process.search("a.example").status, 200);
    }
    let samples = samples(&process.admin("/metrics").text);
    let value = |name: &str, more: &str| -> f64 {
        let series = format!("forecourt_inventory_{name}{{deployment=\"a\"{more}}}");
        let value = samples.get(&series);
        value.unwrap_or_else(|| panic!("{series}")).parse().unwrap()
    };
    let is = |value: f64, wanted: u32| assert!((value - f64::from(wanted)).abs() < 0.01);
    is(value("generation", ""), 1);
    is(value("gone", ""), 0);
    is(value("query_duration_seconds_count", ",kind=\"search\""), 3);
    let mut kinds = samples.keys().filter(|series| series.contains("kind="));
    assert!(kinds.all(|series| series.contains("\"search\"")));
    for part in ["columns", "orders", "look_up"] {
        assert!(value("index_bytes", &format!(",part=\"{part}\"")) > 0.0);
    }
    assert!(value("reading_seconds", "") >= 0.0 && value("build_seconds", "") >= 0.0);
}

#[test]
fn metrics_tell_what_became_of_leads() {
    let mut process = Process::start("", &[]);
    let inquiry = lead("metrics", &json!({ "condition": "used" }));
    let request = tool_request("a.example", "aap_lead_submit", &inquiry);
    for _ in 0..2 {
        assert_eq!(exchange(process.address, &request).status, 200);
    }
    let is = |process: &Process, series: &str, value: &str| {
        let found = samples(&process.admin("/metrics").text);
        found.get(series).map(String::as_str) == Some(value)
    };
    let attempts = "forecourt_delivery_attempts_total{deployment=\"a\",outcome=\"delivered\"}";
    process.wait_until("it is delivered", |process| is(process, attempts, "1"));
    for (series, value) in [
        (
            "forecourt_leads_total{deployment=\"a\",result=\"accepted\"}",
            "1",
        ),
        (
            "forecourt_leads_total{deployment=\"a\",result=\"replayed\"}",
            "1",
        ),
        (
            "forecourt_leads_total{deployment=\"a\",result=\"rejected\"}",
            "0",
        ),
        (
            "forecourt_delivery_attempts_total{deployment=\"a\",outcome=\"held\"}",
            "0",
        ),
        ("forecourt_lead_alerts_total{deployment=\"a\"}", "0"),
    ] {
        assert!(is(&process, series, value), "{series}");
    }
    let delivered = "forecourt_outbox_deliveries{deployment=\"a\",state=\"delivered\"}";
    process.wait_until("the store says so", |process| is(process, delivered, "1"));
}

#[test]
fn probes_tell_their_reasons_to_operators_only() {
    let mut process = Process::start(
        "",
        &[
            (
                "conf/b.toml",
                dealer("b", "Dealer b").replace(
                    "[deployments.b.inventory]\n",
                    "[deployments.b.inventory]\nmax_age_s = 1\nrefresh_interval_s = 604800\n",
                ),
            ),
            ("b.csv", feed("b", 3)),
        ],
    );
    for path in ["/livez", "/startupz"] {
        assert_eq!(process.admin(path).json()["status"], "ok", "{path}");
    }
    // b grows too old; a goes on, and so does the process.
    process.wait_until("b is stale", |process| {
        process.admin("/readyz").json()["status"] == "degraded"
    });
    let answer = process.admin("/readyz");
    assert_eq!(answer.status, 200);
    let reason = &answer.json()["reasons"][0];
    assert_eq!(
        (&reason["component"], &reason["deployment"]),
        (&"inventory".into(), &"b".into())
    );
    let public = exchange(
        process.address,
        b"GET /readyz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
    );
    assert_eq!(public.status, 200);
    assert_eq!(process.admin("/nothing").status, 404);
    // Nothing else is reachable where operators look.
    assert_eq!(process.admin("/mcp").status, 404);
}
