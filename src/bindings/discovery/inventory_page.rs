//! A small page on which people see the same vehicles as agents do, where the dealer's website has none of
//! its own. Must not show what search does not publish.

use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderValue, Response, StatusCode, header};
use serde_json::{Map, Value, json};

use crate::contract::{Binding, Caller, ErrorCode, Skill};
use crate::deployment::Deployment;
use crate::dispatch::{Call, dispatch};

/// Answers with one page; `query` may continue an earlier one.
pub async fn answer(deployment: &Arc<Deployment>, query: &str) -> Response<Bytes> {
    let (status, body) = match search(deployment, query.strip_prefix("cursor=")).await {
        Ok(data) => (StatusCode::OK, listing(&data)),
        Err(ErrorCode::UnsupportedSkill) => (
            StatusCode::OK,
            "<p>No inventory is published here.</p>".to_owned(),
        ),
        Err(ErrorCode::InternalError | ErrorCode::RateLimited) => (
            StatusCode::SERVICE_UNAVAILABLE,
            "<p>The inventory cannot be read at the moment.</p>".to_owned(),
        ),
        Err(_) => (
            StatusCode::NOT_FOUND,
            "<p>This page is no longer there. <a href=\"?\">Start again.</a></p>".to_owned(),
        ),
    };
    let mut answer = html(status, deployment.name(), &body);
    if let Ok(links) = HeaderValue::try_from(super::links(deployment)) {
        answer.headers_mut().insert(header::LINK, links);
    }
    answer
}

/// The `data` of a search without filters.
async fn search(deployment: &Arc<Deployment>, cursor: Option<&str>) -> Result<Value, ErrorCode> {
    let mut payload = Map::new();
    payload.insert(
        "type".to_owned(),
        Skill::InventorySearch.request_type().into(),
    );
    if let Some(cursor) = cursor {
        payload.insert("pagination".to_owned(), json!({"cursor": cursor}));
    }
    let call = Call {
        binding: Binding::Page,
        skill: Skill::InventorySearch,
        payload: Value::Object(payload).into(),
    };
    let answer = dispatch(deployment, &Caller::Anonymous, call)
        .await
        .map_err(|refusal| refusal.error.code)?;
    let mut answer: Value =
        serde_json::from_str(&answer.to_json()).map_err(|_| ErrorCode::InternalError)?;
    let data = answer.get_mut("data").map(Value::take);
    data.ok_or(ErrorCode::InternalError)
}

fn listing(data: &Value) -> String {
    let mut body = format!(
        "<p>{} vehicles on offer.</p>\n<table>\n<tr><th>Vehicle<th>Price<th>Status<th>Stock</tr>\n",
        member(data, "total")
    );
    for vehicle in member(data, "vehicles").as_array().into_iter().flatten() {
        body.push_str(&row(vehicle));
    }
    body.push_str("</table>\n");
    if let Some(cursor) = member(data, "next_cursor").as_str() {
        let cursor = escaped(cursor);
        body.extend(["<p><a href=\"?cursor=", &cursor, "\">More</a></p>\n"]);
    }
    body
}

fn member<'a>(object: &'a Value, name: &str) -> &'a Value {
    object.get(name).unwrap_or(&Value::Null)
}

fn row(vehicle: &Value) -> String {
    let text = |name: &str| match vehicle.get(name) {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Number(number)) => number.to_string(),
        _ => String::new(),
    };
    let names: Vec<String> = ["year", "make", "model", "trim"]
        .into_iter()
        .map(text)
        .filter(|part| !part.is_empty())
        .collect();
    let price = match vehicle.get("price").and_then(Value::as_i64) {
        Some(price) => format!("${price}"),
        None => "ask".to_owned(),
    };
    format!(
        "<tr><td>{}<td>{price}<td>{}<td>{}</tr>\n",
        escaped(&names.join(" ")),
        escaped(&text("status")),
        escaped(&text("stock")),
    )
}

fn html(status: StatusCode, name: &str, body: &str) -> Response<Bytes> {
    let name = escaped(name);
    let page = format!(
        "<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\"><title>{name}: inventory</title>\n<h1>{name}</h1>\n{body}</html>\n"
    );
    let mut answer = Response::new(Bytes::from(page));
    *answer.status_mut() = status;
    let headers = answer.headers_mut();
    let fields = [
        (header::CONTENT_TYPE, "text/html; charset=utf-8"),
        (header::CACHE_CONTROL, "no-store"),
        (header::CONTENT_SECURITY_POLICY, "default-src 'none'"),
    ];
    for (field, value) in fields {
        headers.insert(field, HeaderValue::from_static(value));
    }
    answer
}

fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            _ => out.push(c),
        }
    }
    out
}
