//! How the three entry documents are served: to everybody, with validators and lifetimes.

use http::{Method, header};

use super::report::Report;
use super::visit::{Visitor, text};
use crate::net::Response;

const SERVING: &str = "serving";
const ENTRIES: [&str; 3] = [
    "/.well-known/agent-card.json",
    "/.well-known/poppy.json",
    "/llms.txt",
];

/// Judges the documents that are there; whether they are is told elsewhere.
pub(super) async fn judge(base: &str, visitor: &Visitor<'_>, report: &mut Report) {
    let (mut cookies, mut uncached, mut closed, mut headless) =
        (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for path in ENTRIES {
        let url = format!("{base}{path}");
        let Ok(answer) = visitor.get(&url, &[]).await else {
            continue;
        };
        if answer.status != 200 {
            continue;
        }
        if answer.headers.contains_key(header::SET_COOKIE) {
            cookies.push(format!("{path} sets a cookie"));
        }
        if text(&answer.headers, &header::ACCESS_CONTROL_ALLOW_ORIGIN) != "*" {
            closed.push(format!("{path} has no Access-Control-Allow-Origin: *"));
        }
        uncached.extend(cache_faults(visitor, path, &url, &answer).await);
        headless.extend(head_fault(visitor, path, &url).await);
    }
    let claim = "discovery asks for no credentials and sets no cookie";
    let remedy = "serve the documents without session handling";
    report.outcome((SERVING, "credentials"), claim, listed(&cookies), remedy);
    for (id, claim, faults, remedy) in [
        (
            "cache",
            "discovery has validators and a lifetime",
            uncached,
            "send ETag and Cache-Control with max-age, and answer If-None-Match by 304",
        ),
        (
            "cors",
            "pages of other sites may read discovery",
            closed,
            "send Access-Control-Allow-Origin: *",
        ),
        (
            "head",
            "HEAD answers as GET does",
            headless,
            "answer HEAD wherever GET is answered",
        ),
    ] {
        match listed(&faults) {
            Ok(()) => report.good(SERVING, id, claim),
            Err(reason) => report.warn((SERVING, id), claim, reason, remedy),
        }
    }
}

fn listed(faults: &[String]) -> Result<(), String> {
    if faults.is_empty() {
        Ok(())
    } else {
        Err(faults.join("; "))
    }
}

async fn cache_faults(
    visitor: &Visitor<'_>,
    path: &str,
    url: &str,
    answer: &Response,
) -> Vec<String> {
    let mut faults = Vec::new();
    if !text(&answer.headers, &header::CACHE_CONTROL).contains("max-age=") {
        faults.push(format!("{path} names no lifetime"));
    }
    let etag = text(&answer.headers, &header::ETAG);
    if etag.is_empty() {
        faults.push(format!("{path} has no ETag"));
        return faults;
    }
    let again = visitor.get(url, &[(header::IF_NONE_MATCH, etag)]).await;
    if !again.is_ok_and(|again| again.status == 304) {
        faults.push(format!("{path} is sent again to who has it already"));
    }
    faults
}

async fn head_fault(visitor: &Visitor<'_>, path: &str, url: &str) -> Option<String> {
    let head = visitor.send(Method::HEAD, url, &[], bytes::Bytes::new());
    match head.await {
        Ok(answer) if answer.status == 200 => None,
        Ok(answer) => Some(format!("HEAD {path} answers {}", answer.status)),
        Err(reason) => Some(reason),
    }
}
