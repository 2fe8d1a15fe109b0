//! The addresses in the documents: where they lead, and whether they may be published. Must not fetch any.

use std::collections::BTreeSet;
use std::net::IpAddr;

use http::Uri;
use serde_json::Value;

use super::{Seen, apis, bridge, interfaces, list, params, text};

/// The targets of the Markdown links of a text.
pub fn links(markdown: &str) -> impl Iterator<Item = &str> {
    let after = markdown.split("](").skip(1);
    after.filter_map(|rest| rest.split_once(')').map(|(link, _)| link))
}

/// The host of an absolute URL in lower case, without port and brackets.
pub fn host(url: &str) -> Option<String> {
    let uri: Uri = url.parse().ok()?;
    let host = uri.host()?.trim_matches(['[', ']']);
    Some(host.to_ascii_lowercase())
}

/// Every address that the documents publish, with the place that names it.
pub fn published(seen: &Seen<'_>) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut note = |place: &str, url: &str| {
        if !url.is_empty() {
            found.push((place.to_owned(), url.to_owned()));
        }
    };
    for interface in interfaces(seen.agent_card) {
        note("the card's interface", text(interface, "/url"));
    }
    let params = params(seen.agent_card);
    for pointer in ["/mcp/url", "/poppy", "/llms_txt"] {
        note("the card's parameters", text(params, pointer));
    }
    let bridge = bridge(seen.poppy);
    for name in [
        "/agent_card",
        "/mcp",
        "/llms_txt",
        "/api_catalog",
        "/openapi",
    ] {
        note("the Poppy extension", text(bridge, name));
    }
    for api in list(seen.poppy.get("apis")) {
        note("the Poppy document's apis", text(api, "/url"));
        note("the Poppy document's apis", text(api, "/resource"));
    }
    note("the Poppy document", text(seen.poppy, "/auth/issuer"));
    for link in links(seen.llms_txt) {
        note("llms.txt", link);
    }
    for server in list(seen.openapi.and_then(|openapi| openapi.get("servers"))) {
        note("the OpenAPI document", text(server, "/url"));
    }
    if let Some(oauth) = seen.oauth {
        for name in ["/token_endpoint", "/revocation_endpoint"] {
            note("the issuer's metadata", text(oauth, name));
        }
    }
    found
}

pub(super) fn all(seen: &Seen<'_>) -> Vec<String> {
    let judged = published(seen).into_iter();
    let faults = judged.filter_map(|(place, url)| {
        let fault = fault(&url)?;
        Some(format!("{place} names {url:?}, which {fault}"))
    });
    let once: BTreeSet<String> = faults.collect();
    once.into_iter().collect()
}

/// Why an address may not be published.
fn fault(url: &str) -> Option<&'static str> {
    let Ok(uri) = url.parse::<Uri>() else {
        return Some("is no URL");
    };
    let Some(authority) = uri.authority() else {
        return Some("is not absolute");
    };
    if authority.as_str().contains('@') {
        return Some("holds credentials");
    }
    match uri.scheme_str() {
        Some("https") => None,
        Some("http") if is_loopback(url) => None,
        Some(_) | None => Some("is not HTTPS"),
    }
}

/// Whether a URL leads to this machine itself.
pub fn is_loopback(url: &str) -> bool {
    let host = host(url).unwrap_or_default();
    host == "localhost"
        || host
            .parse::<IpAddr>()
            .is_ok_and(|address| address.is_loopback())
}

pub(super) fn documents(seen: &Seen<'_>) -> Vec<String> {
    let mut found = Vec::new();
    let (params, bridge) = (params(seen.agent_card), bridge(seen.poppy));
    let same = [
        (
            "the card",
            text(params, "/poppy"),
            seen.poppy_url,
            "the Poppy document",
        ),
        (
            "the card",
            text(params, "/llms_txt"),
            text(bridge, "/llms_txt"),
            "llms.txt",
        ),
    ];
    for (place, said, is, what) in same {
        if said != is {
            found.push(format!("{place} says {what} is {said:?}, but it is {is:?}"));
        }
    }
    let domain = text(seen.poppy, "/organization/domain");
    for url in [text(params, "/poppy"), text(params, "/llms_txt")] {
        if !host(url).is_some_and(|host| host.eq_ignore_ascii_case(domain)) {
            found.push(format!("{url:?} is not on the dealer's domain {domain:?}"));
        }
    }
    let native = apis(seen.poppy, "openapi").map(|api| text(api, "/url"));
    let wanted = [seen.poppy_url, text(bridge, "/agent_card")].into_iter();
    for url in wanted.chain(native) {
        if !links(seen.llms_txt).any(|link| link == url) {
            found.push(format!("llms.txt does not link to {url:?}"));
        }
    }
    found
}

pub(super) fn catalogue(seen: &Seen<'_>) -> Vec<String> {
    let Some(catalogue) = seen.api_catalog else {
        return Vec::new();
    };
    let endpoints = interfaces(seen.agent_card).map(|interface| text(interface, "/url"));
    let known: BTreeSet<&str> = endpoints
        .chain([text(params(seen.agent_card), "/mcp/url")])
        .chain(apis(seen.poppy, "openapi").map(|api| text(api, "/resource")))
        .collect();
    let anchors: BTreeSet<&str> = list(catalogue.get("linkset"))
        .map(|context| text(context, "/anchor"))
        .collect();
    let other = |anchor: &&&str| !known.contains(**anchor);
    let mut found: Vec<String> = anchors
        .iter()
        .filter(other)
        .map(|anchor| format!("it names {anchor:?}, which no other document does"))
        .collect();
    let missing = known.iter().filter(|url| !anchors.contains(**url));
    found.extend(missing.map(|url| format!("it does not name {url:?}")));
    found
}

/// The documents that a catalogue links to.
pub fn described(catalogue: &Value) -> Vec<&str> {
    let relations = list(catalogue.get("linkset"))
        .filter_map(Value::as_object)
        .flat_map(serde_json::Map::values);
    let targets = relations.flat_map(|targets| list(Some(targets)));
    targets.map(|target| text(target, "/href")).collect()
}
