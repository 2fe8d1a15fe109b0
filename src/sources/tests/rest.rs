//! JSON APIs over TLS on loopback: the presets page by page, the kinds of credentials and paging, and an
//! API's bad days.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use super::{MEMBERS, one_showroom};
use crate::mapping::Mapping;
use crate::mapping::tests::presets::{check_expected, differences, expect, mapping, read, root};
use crate::net::testing::{Script, Site, answer};
use crate::sources::http::{Auth, TokenRequest};
use crate::sources::rest;
use crate::sources::{Fault, Read, Settings, Source, SourceError};

pub(super) fn settings(site: &Site) -> rest::Settings {
    let mut settings = rest::Settings::new(format!("https://localhost:{}", site.address.port()));
    settings.access.ca_file = Some(site.ca_file.clone());
    settings.access.min_interval_ms = 0;
    settings.access.retry_base_ms = 1;
    settings
}

async fn site(script: impl Fn(&str) -> Option<Vec<u8>> + Send + Sync + 'static) -> Site {
    let script: Script = Arc::new(script);
    Site::start(&["localhost"], script).await
}

#[expect(clippy::unnecessary_wraps, reason = "a script may also stay silent")]
pub(super) fn ok(body: &str) -> Option<Vec<u8>> {
    Some(answer(200, &[("Content-Type", "application/json")], body))
}

fn page(preset: &str, name: &str) -> String {
    let path = root()
        .join("mappings")
        .join(preset)
        .join(format!("sample-{name}.json"));
    std::fs::read_to_string(path).unwrap()
}

fn start_of(path: &str, parameter: &str) -> String {
    let (_, after) = path.split_once(&format!("{parameter}=")).unwrap();
    let number: u32 = after.split('&').next().unwrap().parse().unwrap();
    format!("{number:03}")
}

const ROOFTOP: &str = "the API names one dealership for both showrooms";

#[tokio::test]
async fn fortellis_pages_become_the_canonical_vehicles() {
    let site = site(|path| {
        if path == "/token" {
            return ok(r#"{"access_token":"t-1","token_type":"Bearer","expires_in":3600}"#);
        }
        let name = if path.contains("deleted=true") {
            "deleted".to_owned()
        } else {
            start_of(path, "offset")
        };
        ok(&page("fortellis-rest", &name))
    })
    .await;
    let mut settings = settings(&site);
    settings
        .access
        .headers
        .insert("Subscription-Id".to_owned(), "s-1".to_owned());
    settings.access.auth = Some(Auth::ClientCredentials(TokenRequest {
        token_url: format!("{}/token", settings.base_url),
        client_id: "id".to_owned(),
        client_secret: "secret".to_owned(),
        scope: Some("anonymous".to_owned()),
        in_body: false,
        ..TokenRequest::default()
    }));
    let mapped = read(&mapping("fortellis-rest"), Settings::Rest(settings)).await;
    let mut members = MEMBERS.to_vec();
    members.extend(["fuel", "updated_at", "list_price", "price"]);
    expect(
        &differences(&mapped.resolved.kept, &members),
        &one_showroom(ROOFTOP, &[]),
    );
    check_expected("fortellis-rest", &mapped.resolved.kept);
    let requests = site.requests();
    assert_eq!(
        requests.len(),
        5,
        "one token, one page of removals, three of vehicles"
    );
    assert!(requests[0].starts_with("POST /token"));
    assert!(
        requests[0].contains("Basic aWQ6c2VjcmV0") || requests[0].contains("basic aWQ6c2VjcmV0")
    );
    for request in &requests[1..] {
        assert!(
            request.to_lowercase().contains("authorization: bearer t-1"),
            "{request}"
        );
        assert!(
            request.to_lowercase().contains("subscription-id: s-1"),
            "{request}"
        );
    }
}

#[tokio::test]
async fn marketcheck_pages_give_what_they_can_know() {
    let site = site(|path| {
        assert!(path.ends_with("&api_key=k%2F1"), "{path}");
        ok(&page("marketcheck-rest", &start_of(path, "start")))
    })
    .await;
    let mut settings = settings(&site);
    settings.access.auth = Some(Auth::Query {
        name: "api_key".to_owned(),
        value: "k/1".to_owned(),
    });
    let mapped = read(&mapping("marketcheck-rest"), Settings::Rest(settings)).await;
    let mut members = MEMBERS.to_vec();
    members.extend(["fuel", "updated_at", "features"]);
    expect(
        &differences(&mapped.resolved.kept, &members),
        &one_showroom(
            ROOFTOP,
            &[
                (
                    "U10105.status",
                    "\"available\" for \"pending\"",
                    "a website shows no pending sale",
                ),
                (
                    "U10115",
                    "published",
                    "sold, and the website still showed it",
                ),
            ],
        ),
    );
    assert!(
        mapped
            .resolved
            .kept
            .iter()
            .all(|listing| !listing.contains_key("price"))
    );
    check_expected("marketcheck-rest", &mapped.resolved.kept);
}

/// A mapping that only needs an id, with this paging.
pub(super) fn simple(paging: &str) -> Mapping {
    Mapping::parse(&format!(
        "name = 't'\n[source]\nkind = 'rest'\npath = '/v'\nitems = 'data'\n{paging}\n[fields]\n\
         vehicle_id = 'id'\nstatus = {{ value = 'available' }}\n[updated_at]\nprovenance = 'as_of'\n"
    ))
    .unwrap()
}

pub(super) async fn ids(
    mapping: &Mapping,
    settings: rest::Settings,
) -> Result<(Vec<String>, Read), SourceError> {
    let source = Source::open(Settings::Rest(settings), mapping.plan()).await?;
    let mut ids = Vec::new();
    let read = source
        .read(|row, _| ids.push(row.fields["id"].to_string()))
        .await?;
    Ok((ids, read))
}

pub(super) fn numbers(from: usize, count: usize) -> Value {
    (from..from + count).map(|id| json!({ "id": id })).collect()
}

#[tokio::test]
async fn pages_by_number_end_with_a_short_one() {
    let site = site(|path| match path {
        "/v?page=1&size=3" => ok(&json!({ "data": numbers(0, 3) }).to_string()),
        "/v?page=2&size=3" => ok(&json!({ "data": numbers(3, 2) }).to_string()),
        _ => None,
    })
    .await;
    let mapping =
        simple("paging = { by = 'page', parameter = 'page', limit_parameter = 'size', limit = 3 }");
    assert_eq!(
        ids(&mapping, settings(&site)).await.unwrap().0,
        ["0", "1", "2", "3", "4"]
    );
}

#[tokio::test]
async fn pages_by_key_end_without_one() {
    let site = site(|path| match path {
        "/v" => ok(&json!({ "data": numbers(0, 1), "meta": { "next": "a&b" } }).to_string()),
        "/v?key=a%26b" => ok(&json!({ "data": numbers(1, 1), "meta": { "next": "" } }).to_string()),
        _ => None,
    })
    .await;
    let mapping = simple("paging = { by = 'next_key', parameter = 'key', from = 'meta.next' }");
    assert_eq!(ids(&mapping, settings(&site)).await.unwrap().0, ["0", "1"]);
}

#[tokio::test]
async fn a_page_that_comes_again_or_a_total_that_is_not_reached_is_an_error() {
    let again = site(|_| ok(&json!({ "data": numbers(0, 2), "total": 9 }).to_string())).await;
    let offset = "paging = { by = 'offset', parameter = 'o', limit_parameter = 'l', limit = 2, total = 'total' }";
    let error = ids(&simple(offset), settings(&again)).await.unwrap_err();
    assert_eq!(error.fault, Fault::Data);
    assert!(error.words.contains("twice"), "{error}");

    let torn = site(|path| {
        let data = if path.contains("o=0") {
            numbers(0, 2)
        } else {
            numbers(0, 0)
        };
        ok(&json!({ "data": data, "total": 9 }).to_string())
    })
    .await;
    let error = ids(&simple(offset), settings(&torn)).await.unwrap_err();
    assert!(error.words.contains("before the total"), "{error}");
}

/// A site that answers its script's entries one after the other.
pub(super) async fn in_turn(answers: Vec<Vec<u8>>) -> Site {
    let answers = Mutex::new(answers.into_iter());
    site(move |_| answers.lock().unwrap().next()).await
}

#[tokio::test]
async fn short_failures_are_waited_out() {
    let good = answer(200, &[], &json!({ "data": numbers(7, 1) }).to_string());
    let site = in_turn(vec![
        answer(429, &[("Retry-After", "0")], ""),
        answer(503, &[], "<html>"),
        b"HTTP/1.1 200 x\r\nContent-Length: 500\r\n\r\n{".to_vec(),
        good,
    ])
    .await;
    assert_eq!(ids(&simple(""), settings(&site)).await.unwrap().0, ["7"]);
    assert_eq!(site.requests().len(), 4);
}

#[tokio::test]
async fn long_failures_end_with_the_step_and_the_reason() {
    let site = site(|_| Some(answer(503, &[], "private words"))).await;
    let error = ids(&simple(""), settings(&site)).await.unwrap_err();
    assert_eq!(
        (error.fault, error.step.as_str()),
        (Fault::Unreachable, "page 1")
    );
    assert!(error.fault.is_transient());
    assert!(!error.to_string().contains("private"), "{error}");
    assert_eq!(site.requests().len(), 5);
}

#[tokio::test]
async fn an_answer_that_waiting_cannot_help_is_not_asked_for_again() {
    let html: &[(&str, &str)] = &[("Content-Type", "text/html")];
    for (bytes, fault, word) in [
        (answer(401, &[], "{}"), Fault::Refused, "401"),
        (answer(403, &[], "{}"), Fault::Refused, "403"),
        (answer(404, &[], "{}"), Fault::Query, "404"),
        (
            answer(302, &[("Location", "https://x.example/")], ""),
            Fault::Settings,
            "redirected",
        ),
        (
            answer(429, &[("Retry-After", "86400")], ""),
            Fault::Timeout,
            "429",
        ),
        (answer(200, html, "<!DOCTYPE html>"), Fault::Data, "login"),
        (answer(200, &[], "{\"data\":[1"), Fault::Data, "no JSON"),
        (
            answer(200, &[], "{\"vehicles\":[]}"),
            Fault::Data,
            "no list at `data`",
        ),
    ] {
        let site = in_turn(vec![bytes]).await;
        let error = ids(&simple(""), settings(&site)).await.unwrap_err();
        assert_eq!(error.fault, fault, "{error}");
        assert!(error.words.contains(word), "{error}");
        assert_eq!(site.requests().len(), 1, "{error}");
    }
}

#[tokio::test]
async fn a_withdrawn_token_is_renewed_once() {
    let tokens = AtomicUsize::new(0);
    let refused = AtomicUsize::new(0);
    let site = site(move |path| {
        if path == "/token" {
            let number = tokens.fetch_add(1, Ordering::SeqCst);
            return ok(&format!("{{\"access_token\":\"t-{number}\"}}"));
        }
        match refused.fetch_add(1, Ordering::SeqCst) {
            0 => Some(answer(401, &[], "")),
            _ => ok(&json!({ "data": numbers(1, 1) }).to_string()),
        }
    })
    .await;
    let mut settings = settings(&site);
    settings.access.auth = Some(Auth::ClientCredentials(TokenRequest {
        token_url: format!("{}/token", settings.base_url),
        client_id: "id".to_owned(),
        client_secret: "s".to_owned(),
        scope: None,
        in_body: true,
        ..TokenRequest::default()
    }));
    assert_eq!(ids(&simple(""), settings).await.unwrap().0, ["1"]);
    let requests = site.requests();
    assert_eq!(requests.len(), 4);
    assert!(
        requests[3]
            .to_lowercase()
            .contains("authorization: bearer t-1")
    );
}

#[tokio::test]
async fn limits_hold_and_addresses_show_no_secret() {
    let site = site(|_| ok(&json!({ "data": numbers(0, 5) }).to_string())).await;
    let mut few = settings(&site);
    few.max_rows = 3;
    let error = ids(&simple(""), few).await.unwrap_err();
    assert!(error.words.contains("max_rows"), "{error}");

    let mut small = settings(&site);
    small.max_page_bytes = 10;
    assert_eq!(
        ids(&simple(""), small).await.unwrap_err().fault,
        Fault::Limit
    );

    let mut plain = settings(&site);
    plain.base_url = format!(
        "http://user:pass@localhost:{}/key-in-path?k=v",
        site.address.port()
    );
    let error = ids(&simple(""), plain).await.unwrap_err();
    assert_eq!(error.fault, Fault::Settings, "plain HTTP is refused");
    for secret in ["pass", "key-in-path", "k=v"] {
        assert!(!error.to_string().contains(secret), "{error}");
    }
    // A password with what ends a host in it: neither its beginning is told nor its end.
    for url in [
        "https://user:hun/ter2@api.example/v",
        "https://user:12?ter2@api.example/v",
        "https://user:hun#ter2@api.example/v",
    ] {
        let mut wrong = settings(&site);
        wrong.base_url = url.to_owned();
        let error = ids(&simple(""), wrong).await.unwrap_err().to_string();
        let told = ["hun", "ter2", "12"]
            .iter()
            .any(|part| error.contains(part));
        assert!(!told && error.contains("https://user"), "{error}");
    }
}

#[tokio::test]
async fn an_address_of_a_person_in_a_query_hides_no_host() {
    let mut odd = settings(&site(|_| ok("{}")).await);
    odd.base_url = "https://127.0.0.1:1/v?user=dealer@dealer.example".to_owned();
    odd.access.retry_base_ms = 1;
    let error = ids(&simple(""), odd).await.unwrap_err().to_string();
    assert!(
        error.contains("https://127.0.0.1") && !error.contains("dealer"),
        "{error}"
    );
}

#[tokio::test]
async fn a_removal_that_names_nobody_is_an_error() {
    let removed = "removed_path = '/gone'\nremoved_key = 'id'";
    for gone in [
        json!(["1"]),
        json!([{ "vin": "V" }]),
        json!([{ "id": null }]),
    ] {
        let site = site(move |request| {
            let list = if request.contains("/gone") {
                gone.clone()
            } else {
                numbers(1, 2)
            };
            ok(&json!({ "data": list }).to_string())
        })
        .await;
        let error = ids(&simple(removed), settings(&site)).await.unwrap_err();
        assert_eq!(error.fault, Fault::Data);
        assert!(error.words.contains("`id`"), "{error}");
    }
}
