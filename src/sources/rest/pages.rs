//! Which page comes next, and when there is none. A page that repeats ends the reading as an error: an
//! API that ignores the page parameter would otherwise go round for ever. Must not send anything.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};

use serde_json::Value;

use crate::mapping::plan::{Paging, RestPlan};

use super::super::Fault;
use super::Failure;

/// The way through the pages.
pub(super) struct Pages<'a> {
    plan: &'a RestPlan,
    number: u64,
    offset: u64,
    key: Option<String>,
    seen: HashSet<u64>,
}

impl<'a> Pages<'a> {
    pub(super) fn new(plan: &'a RestPlan) -> Self {
        Self {
            plan,
            number: 1,
            offset: 0,
            key: None,
            seen: HashSet::new(),
        }
    }

    /// From 1.
    pub(super) fn number(&self) -> u64 {
        self.number
    }

    /// The address of the page.
    pub(super) fn url(&self, base: &str, path: &str) -> String {
        let mut url = format!(
            "{}/{}",
            base.trim_end_matches('/'),
            path.trim_start_matches('/')
        );
        let mut add = |name: &str, value: &str| {
            url.push(if url.contains('?') { '&' } else { '?' });
            url.push_str(&escaped(name));
            url.push('=');
            url.push_str(&escaped(value));
        };
        match &self.plan.paging {
            Paging::None => {}
            Paging::Offset {
                parameter,
                limit_parameter,
                limit,
                ..
            } => {
                add(parameter, &self.offset.to_string());
                add(limit_parameter, &limit.to_string());
            }
            Paging::Page {
                parameter,
                first,
                limit_parameter,
                limit,
            } => {
                add(
                    parameter,
                    &(u64::from(*first) + self.number - 1).to_string(),
                );
                if let Some(name) = limit_parameter {
                    add(name, &limit.to_string());
                }
            }
            Paging::NextKey { parameter, .. } => {
                if let Some(key) = &self.key {
                    add(parameter, key);
                }
            }
        }
        url
    }

    /// The vehicles of a page.
    pub(super) fn items<'b>(&self, body: &'b Value) -> Result<&'b Vec<Value>, Failure> {
        at(body, &self.plan.items)
            .and_then(Value::as_array)
            .ok_or_else(|| {
                let words = format!("the answer has no list at `{}`", self.plan.items);
                (Fault::Data, words)
            })
    }

    /// Goes to the next page; false at the end.
    pub(super) fn advance(&mut self, body: &Value, length: usize) -> Result<bool, Failure> {
        if length > 0 {
            let mut hasher = DefaultHasher::new();
            at(body, &self.plan.items)
                .map(Value::to_string)
                .hash(&mut hasher);
            if !self.seen.insert(hasher.finish()) {
                let words = "the same page came twice: the API ignores the paging";
                return Err((Fault::Data, words.to_owned()));
            }
        }
        let count = length as u64;
        let more = match &self.plan.paging {
            Paging::None => false,
            Paging::Offset { limit, total, .. } => {
                self.offset += count;
                match total
                    .as_ref()
                    .map(|path| at(body, path).and_then(Value::as_u64))
                {
                    // A total that is not reached by an empty page is half an answer.
                    Some(Some(total)) if count == 0 && self.offset < total => {
                        let words = "an empty page came before the total was reached";
                        return Err((Fault::Data, words.to_owned()));
                    }
                    Some(Some(total)) => self.offset < total,
                    Some(None) | None => count >= u64::from(*limit),
                }
            }
            Paging::Page { limit, .. } => count >= u64::from(*limit),
            Paging::NextKey { from, .. } => {
                self.key = match at(body, from) {
                    Some(Value::String(key)) if !key.is_empty() => Some(key.clone()),
                    Some(Value::Number(key)) => Some(key.to_string()),
                    _ => None,
                };
                self.key.is_some()
            }
        };
        self.number += 1;
        Ok(more)
    }
}

/// The value at `a.b.c`; the whole without a path.
fn at<'a>(body: &'a Value, path: &str) -> Option<&'a Value> {
    path.split('.')
        .filter(|part| !part.is_empty())
        .try_fold(body, |value, part| value.get(part))
}

/// Percent-encoded for a query.
pub(super) fn escaped(text: &str) -> String {
    text.bytes()
        .map(|byte| match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => {
                char::from(byte).to_string()
            }
            _ => format!("%{byte:02X}"),
        })
        .collect()
}

/// An address fit for a log: without query, user and anything after the host, where keys may stand.
pub(super) fn without_query(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else {
        return "(no address)".to_owned();
    };
    let authority = rest.split(['/', '?', '#']).next().unwrap_or(rest);
    let host = authority.rsplit('@').next().unwrap_or(authority);
    format!("{scheme}://{host}")
}
