//! The ways through an API's pages, its tokens and certificates, conditional and incremental readings.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::json;

use super::rest::{ids, in_turn, numbers, ok, settings, simple};
use crate::mapping::{Mapping, Row};
use crate::net::testing::{Door, Site, answer};
use crate::sources::http::{Auth, TokenRequest};
use crate::sources::rest;
use crate::sources::{Extent, Fault, Mark, Read, Settings, Since, Source, SourceError};

async fn site(script: impl Fn(&str) -> Option<Vec<u8>> + Send + Sync + 'static) -> Site {
    Site::start_behind(Door::Open, &["localhost"], Arc::new(script)).await
}

fn line(request: &str) -> &str {
    request.split("\r\n").next().unwrap()
}

#[tokio::test]
async fn a_next_address_in_the_answer_is_followed_on_its_own_server_only() {
    for (next, word) in [
        (json!("/v?page=2"), None),
        (json!(null), Some("")),
        (json!(""), Some("")),
        (
            json!("https://elsewhere.example/v?page=2"),
            Some("base_url"),
        ),
        (json!("//elsewhere.example/v"), Some("base_url")),
        (json!("/v"), Some("goes round")),
    ] {
        let said = next.clone();
        let site = site(move |request| match line(request) {
            "GET /v HTTP/1.1" => {
                ok(&json!({ "data": numbers(0, 1), "links": { "next": said } }).to_string())
            }
            "GET /v?page=2 HTTP/1.1" => ok(&json!({ "data": numbers(1, 1) }).to_string()),
            _ => None,
        })
        .await;
        let mapping = simple("paging = { by = 'next_url', from = 'links.next' }");
        let found = ids(&mapping, settings(&site)).await;
        match word {
            None => assert_eq!(found.unwrap().0, ["0", "1"]),
            Some("") => assert_eq!(found.unwrap().0, ["0"]),
            Some("goes round") => {
                let words = found.unwrap_err().words;
                assert!(words.contains("twice"), "{words}");
            }
            Some(word) => {
                let error = found.unwrap_err();
                assert_eq!(error.fault, Fault::Data);
                assert!(error.words.contains(word), "{next}: {error}");
                assert_eq!(site.requests().len(), 1, "no credential went elsewhere");
            }
        }
    }
}

#[tokio::test]
async fn a_link_header_is_followed() {
    let site = site(|request| {
        let link: &[(&str, &str)] = &[("Link", "</v>; rel=\"first\", </v?p=2>; rel=\"next\"")];
        match line(request) {
            "GET /v HTTP/1.1" => Some(answer(
                200,
                link,
                &json!({"data": numbers(0, 1)}).to_string(),
            )),
            "GET /v?p=2 HTTP/1.1" => ok(&json!({"data": numbers(1, 1)}).to_string()),
            _ => None,
        }
    })
    .await;
    let mapping = simple("paging = { by = 'link_header' }");
    assert_eq!(ids(&mapping, settings(&site)).await.unwrap().0, ["0", "1"]);
}

#[tokio::test]
async fn a_cursor_travels_in_the_posted_body() {
    let site = site(|request| {
        assert!(request.starts_with("POST /v HTTP/1.1"), "{request}");
        assert!(
            request
                .to_lowercase()
                .contains("content-type: application/json")
        );
        let (_, body) = request.split_once("\r\n\r\n")?;
        let body: serde_json::Value = serde_json::from_str(body).unwrap();
        assert_eq!(body["filter"]["type"], "used");
        match body["page"]["cursor"].as_str() {
            None => ok(&json!({"data": numbers(0, 2), "cursor": "c 1"}).to_string()),
            Some("c 1") => ok(&json!({"data": numbers(2, 1), "cursor": null}).to_string()),
            Some(_) => None,
        }
    })
    .await;
    let mapping = simple(
        "body = { filter = { type = 'used' }, page = { size = 2 } }\n\
         paging = { by = 'next_key', parameter = 'page.cursor', from = 'cursor' }",
    );
    assert_eq!(
        ids(&mapping, settings(&site)).await.unwrap().0,
        ["0", "1", "2"]
    );

    let counted = site_by_offset().await;
    let mapping = simple(
        "body = {}\npaging = { by = 'offset', parameter = 'from', limit_parameter = 'size', limit = 2 }",
    );
    assert_eq!(
        ids(&mapping, settings(&counted)).await.unwrap().0,
        ["0", "1", "2"]
    );
}

async fn site_by_offset() -> Site {
    site(|request| {
        let (_, body) = request.split_once("\r\n\r\n")?;
        match body {
            r#"{"from":0,"size":2}"# => ok(&json!({"data": numbers(0, 2)}).to_string()),
            r#"{"from":2,"size":2}"# => ok(&json!({"data": numbers(2, 1)}).to_string()),
            _ => None,
        }
    })
    .await
}

#[tokio::test]
async fn a_key_that_comes_again_with_other_items_is_found() {
    let count = AtomicUsize::new(0);
    let site = site(move |_| {
        let page = count.fetch_add(1, Ordering::SeqCst);
        ok(&json!({"data": numbers(page, 1), "next": "same"}).to_string())
    })
    .await;
    let mapping = simple("paging = { by = 'next_key', parameter = 'key', from = 'next' }");
    let error = ids(&mapping, settings(&site)).await.unwrap_err();
    assert_eq!(error.fault, Fault::Data);
    assert!(error.words.contains("goes round"), "{error}");
    assert_eq!(site.requests().len(), 2);
}

#[tokio::test]
async fn pages_without_an_end_meet_the_limit() {
    let count = AtomicUsize::new(0);
    let site = site(move |_| {
        let page = count.fetch_add(1, Ordering::SeqCst);
        ok(&json!({"data": numbers(page, 1), "next": page}).to_string())
    })
    .await;
    let mapping = simple("paging = { by = 'next_key', parameter = 'key', from = 'next' }");
    let mut few = settings(&site);
    few.max_pages = 3;
    let error = ids(&mapping, few).await.unwrap_err();
    assert_eq!((error.fault, error.step.as_str()), (Fault::Limit, "page 4"));
}

async fn read(
    source: &Source,
    mark: Option<&Mark>,
    changes: bool,
) -> Result<(Vec<String>, Read), SourceError> {
    let mut ids = Vec::new();
    let since = Since { mark, changes };
    let read = source
        .read_since(since, |row: Row, _| ids.push(row.fields["id"].to_string()))
        .await?;
    Ok((ids, read))
}

async fn open(mapping: &Mapping, settings: rest::Settings) -> Source {
    Source::open(Settings::Rest(settings), mapping.plan())
        .await
        .unwrap()
}

#[tokio::test]
async fn an_answer_of_one_page_is_asked_for_only_when_it_changed() {
    let site = site(|request| {
        if request.to_lowercase().contains("if-none-match: w/\"7\"") {
            return Some(answer(304, &[], ""));
        }
        let tag: &[(&str, &str)] = &[("ETag", "W/\"7\"")];
        Some(answer(
            200,
            tag,
            &json!({"data": numbers(0, 2)}).to_string(),
        ))
    })
    .await;
    let source = open(&simple(""), settings(&site)).await;
    let (found, first) = read(&source, None, false).await.unwrap();
    assert_eq!((found.len(), first.extent), (2, Extent::Whole));
    let (found, same) = read(&source, Some(&first.mark), false).await.unwrap();
    assert_eq!((found.len(), same.extent), (0, Extent::Same));
    assert_eq!(same.mark, first.mark);
    // One page of several proves nothing of the others.
    let paged = "paging = { by = 'page', parameter = 'p', limit = 50 }";
    let source = open(&simple(paged), settings(&site)).await;
    let (_, first) = read(&source, None, false).await.unwrap();
    let (found, again) = read(&source, Some(&first.mark), false).await.unwrap();
    assert_eq!((found.len(), again.extent), (2, Extent::Whole));
}

const CHANGES: &str = "removed_path = '/gone'\nremoved_key = 'id'\n\
    changes = { path = '/v?since={since}', removed_path = '/gone?since={since}', watermark = 'at' }";

#[tokio::test]
async fn what_changed_is_asked_for_with_the_watermark() {
    let site = site(|request| {
        let body = match line(request) {
            "GET /gone HTTP/1.1" | "GET /gone?since=2026-11-30T10%3A00%3A00%2B01%3A00 HTTP/1.1" => {
                json!({"data": [{"id": 9, "deleted": true}]})
            }
            "GET /v HTTP/1.1" => json!({"data": [
                {"id": 1, "at": "2026-11-30T10:00:00+01:00"}, {"id": 2, "at": "2026-11-01T00:00:00+01:00"},
                {"id": 3, "at": null}]}),
            "GET /v?since=2026-11-30T10%3A00%3A00%2B01%3A00 HTTP/1.1" => {
                json!({"data": [{"id": 2, "at": "2026-11-30T11:00:00+01:00"}]})
            }
            other => panic!("{other}"),
        };
        ok(&body.to_string())
    })
    .await;
    let source = open(&simple(CHANGES), settings(&site)).await;
    let (found, first) = read(&source, None, true).await.unwrap();
    assert_eq!(found, ["9", "1", "2", "3"]);
    assert_eq!(first.extent, Extent::Whole, "nothing is known before");
    let (found, second) = read(&source, Some(&first.mark), true).await.unwrap();
    assert_eq!(
        (found, second.extent),
        (vec!["9".to_owned(), "2".to_owned()], Extent::Changes)
    );
    assert_ne!(second.mark, first.mark);
    // The reconciliation reads all, whatever is known.
    let (found, third) = read(&source, Some(&second.mark), false).await.unwrap();
    assert_eq!((found.len(), third.extent), (4, Extent::Whole));
    assert_eq!(third.mark, first.mark);
}

#[tokio::test]
async fn a_watermark_that_is_not_there_or_mixed_is_named() {
    let no_since = CHANGES.replace("/v?since={since}", "/v");
    let site = site(|_| ok(&json!({"data": numbers(0, 1)}).to_string())).await;
    let sinceless = simple(&no_since);
    let refused = Source::open(Settings::Rest(settings(&site)), sinceless.plan());
    assert!(refused.await.unwrap_err().words.contains("{since}"));
    let changes = "changes = { path = '/v?s={since}', watermark = 'at' }";
    let source = open(&simple(changes), settings(&site)).await;
    let error = read(&source, None, true).await.unwrap_err();
    assert!(error.words.contains("`at`"), "{error}");
    let mixed = in_turn(vec![answer(
        200,
        &[],
        &json!({"data": [{"id": 1, "at": 5}, {"id": 2, "at": "x"}]}).to_string(),
    )])
    .await;
    let source = open(&simple(changes), settings(&mixed)).await;
    let error = read(&source, None, true).await.unwrap_err();
    assert!(error.words.contains("numbers and texts"), "{error}");
}

#[tokio::test]
async fn a_token_is_asked_for_with_everything_and_kept_over_readings() {
    let site = site(|request| {
        if request.starts_with("POST /token") {
            let text = request.to_lowercase();
            assert!(text.contains("x-app: 7"), "{text}");
            assert!(
                !text.contains("x-key"),
                "a token endpoint gets its own headers only"
            );
            for part in ["scope=read%20all", "audience=https%3a%2f%2fapi.example"] {
                assert!(text.contains(part), "{text}");
            }
            // As Azure once wrote it.
            return ok(r#"{"access_token":"t","expires_in":"3600"}"#);
        }
        let text = request.to_lowercase();
        assert!(text.contains("authorization: bearer t") && text.contains("x-key: k"));
        ok(&json!({"data": numbers(1, 1)}).to_string())
    })
    .await;
    let mut settings = settings(&site);
    settings.access.headers = [("X-Key".to_owned(), "k".to_owned())].into();
    settings.access.auth = Some(Auth::ClientCredentials(TokenRequest {
        token_url: format!("{}/token", settings.base_url),
        client_id: "id".to_owned(),
        client_secret: "s".to_owned(),
        scope: Some("read all".to_owned()),
        parameters: [("audience".to_owned(), "https://api.example".to_owned())].into(),
        headers: [("X-App".to_owned(), "7".to_owned())].into(),
        in_body: false,
    }));
    let source = open(&simple(""), settings).await;
    for _ in 0..2 {
        assert_eq!(read(&source, None, false).await.unwrap().0, ["1"]);
    }
    let tokens = site
        .requests()
        .iter()
        .filter(|r| r.starts_with("POST"))
        .count();
    assert_eq!((tokens, site.requests().len()), (1, 3));
}

#[tokio::test]
async fn an_api_behind_a_client_certificate_is_let_see_it() {
    let script = |_: &str| ok(&json!({"data": numbers(4, 1)}).to_string());
    let site = Site::start_behind(Door::Certificate, &["localhost"], Arc::new(script)).await;
    let mut known = settings(&site);
    known.access.client_certificate = Some(site.client.clone());
    assert_eq!(ids(&simple(""), known).await.unwrap().0, ["4"]);
    assert!(ids(&simple(""), settings(&site)).await.is_err());
}

#[tokio::test]
async fn requests_keep_their_distance() {
    let site = site(|request| {
        let data = if line(request).contains("p=3") {
            numbers(9, 0)
        } else {
            numbers(request.len(), 1)
        };
        let page = line(request).to_owned();
        ok(&json!({"data": data, "page": page}).to_string())
    })
    .await;
    let mapping = simple("paging = { by = 'page', parameter = 'p', limit = 1 }");
    let mut slow = settings(&site);
    slow.access.min_interval_ms = 40;
    let began = Instant::now();
    let _pages = ids(&mapping, slow).await;
    let requests = u32::try_from(site.requests().len()).unwrap();
    assert!(requests >= 2);
    assert!(began.elapsed() >= Duration::from_millis(40) * (requests - 1));
}

#[tokio::test]
async fn a_retry_date_is_measured_by_the_server_s_own_clock() {
    let date = |wait: &str| {
        answer(
            503,
            &[
                ("Date", "Mon, 30 Nov 2026 10:00:00 GMT"),
                ("Retry-After", wait),
            ],
            "",
        )
    };
    let good = answer(200, &[], &json!({"data": numbers(1, 1)}).to_string());
    let soon = in_turn(vec![date("Mon, 30 Nov 2026 10:00:00 GMT"), good]).await;
    assert_eq!(ids(&simple(""), settings(&soon)).await.unwrap().0, ["1"]);
    let late = in_turn(vec![date("Mon, 30 Nov 2026 11:00:00 GMT")]).await;
    let error = ids(&simple(""), settings(&late)).await.unwrap_err();
    assert_eq!(
        (error.fault, late.requests().len()),
        (Fault::Unreachable, 1)
    );
}

#[tokio::test]
async fn each_way_to_show_who_we_are_is_sent_as_it_is_called() {
    let text = |text: &str| text.to_owned();
    let header = Auth::Header {
        name: text("X-Api-Key"),
        value: text("k 1"),
    };
    let query = Auth::Query {
        name: text("api key"),
        value: text("k&1"),
    };
    let basic = Auth::Basic {
        user: text("Aladdin"),
        password: text("open sesame"),
    };
    let bearer = Auth::Bearer { token: text("t-1") };
    for (auth, sent) in [
        (header, "x-api-key: k 1\r\n"),
        (query, "GET /v?api%20key=k%261 HTTP/1.1\r\n"),
        // RFC 7617, section 2.
        (
            basic,
            "authorization: Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==\r\n",
        ),
        (bearer, "authorization: Bearer t-1\r\n"),
    ] {
        let site = site(|_| ok(&json!({ "data": numbers(1, 1) }).to_string())).await;
        let mut settings = settings(&site);
        settings.access.auth = Some(auth);
        assert_eq!(ids(&simple(""), settings).await.unwrap().0, ["1"]);
        let requests = site.requests();
        assert!(requests[0].contains(sent), "{sent} in {requests:?}");
    }
    // A key in the path is part of the address.
    let site = site(|_| ok(&json!({ "data": numbers(1, 1) }).to_string())).await;
    let mut settings = settings(&site);
    settings.base_url.push_str("/key-1");
    assert_eq!(ids(&simple(""), settings).await.unwrap().0, ["1"]);
    assert!(site.requests()[0].starts_with("GET /key-1/v HTTP/1.1"));
}
