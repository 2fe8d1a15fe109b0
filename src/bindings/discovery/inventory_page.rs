//! A small page on which people see the same vehicles as agents do, where the dealer's website has none of
//! its own. Must not show what search does not publish.

use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderValue, Response, StatusCode, header};
use serde_json::Value;

use crate::contract::request::{Pagination, SearchRequest};
use crate::deployment::Deployment;
use crate::inventory::{Inventory, InventoryError, Page};

const CALLER_SCOPE: &str = "page";

/// Answers with one page; `query` may continue an earlier one.
pub fn answer(deployment: &Arc<Deployment>, query: &str) -> Response<Bytes> {
    let cursor = query.strip_prefix("cursor=").map(str::to_owned);
    let page = deployment
        .inventory
        .as_ref()
        .map(|inventory| search(inventory, cursor));
    let (status, body) = match page {
        Some(Ok(page)) => (StatusCode::OK, listing(&page)),
        Some(Err(InventoryError::InvalidCursor)) => (
            StatusCode::NOT_FOUND,
            "<p>This page is no longer there. <a href=\"?\">Start again.</a></p>".to_owned(),
        ),
        Some(Err(_)) => (
            StatusCode::SERVICE_UNAVAILABLE,
            "<p>The inventory cannot be read at the moment.</p>".to_owned(),
        ),
        None => (
            StatusCode::OK,
            "<p>No inventory is published here.</p>".to_owned(),
        ),
    };
    html(status, deployment.name(), &body)
}

fn search(inventory: &Inventory, cursor: Option<String>) -> Result<Page, InventoryError> {
    let request = SearchRequest {
        filters: None,
        sort: None,
        pagination: Pagination {
            limit: Some(inventory.capabilities().max_limit),
            cursor,
            skip: None,
        },
    };
    inventory.search(&request, CALLER_SCOPE)
}

fn listing(page: &Page) -> String {
    let mut body = format!(
        "<p>{} vehicles on offer.</p>\n<table>\n<tr><th>Vehicle<th>Price<th>Status<th>Stock</tr>\n",
        page.total
    );
    for found in &page.vehicles {
        let vehicle = found.listing.to_value();
        body.push_str(&row(&vehicle));
    }
    body.push_str("</table>\n");
    if let Some(cursor) = &page.next_cursor {
        let cursor = escaped(cursor);
        body.extend(["<p><a href=\"?cursor=", &cursor, "\">More</a></p>\n"]);
    }
    body
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
