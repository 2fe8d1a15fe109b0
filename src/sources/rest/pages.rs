//! Which page comes next, and when there is none. A page that repeats ends the reading as an error: an
//! API that ignores the page parameter would otherwise go round for ever. Must not send anything.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};

use http::HeaderMap;
use serde_json::{Map, Value};

use crate::mapping::plan::{Paging, RestPlan};

use super::super::Fault;
use super::super::http::{Failure, escaped};

/// The way through the pages.
pub(super) struct Pages<'a> {
    plan: &'a RestPlan,
    /// Scheme, host and port.
    origin: &'a str,
    first: String,
    number: u64,
    offset: u64,
    key: Option<String>,
    /// The address that the last page named.
    next: Option<String>,
    /// What pages held, and which keys and addresses led to them.
    seen: HashSet<u64>,
}

impl<'a> Pages<'a> {
    pub(super) fn new(plan: &'a RestPlan, base: &'a str, path: &str) -> Self {
        let first = format!(
            "{}/{}",
            base.trim_end_matches('/'),
            path.trim_start_matches('/')
        );
        Self {
            plan,
            origin: origin(base),
            first,
            number: 1,
            offset: 0,
            key: None,
            next: None,
            seen: HashSet::new(),
        }
    }

    /// From 1.
    pub(super) fn number(&self) -> u64 {
        self.number
    }

    /// What says which page is meant: names and values.
    fn parameters(&self) -> Vec<(&str, String)> {
        match &self.plan.paging {
            Paging::None | Paging::NextUrl { .. } | Paging::LinkHeader => Vec::new(),
            Paging::Offset {
                parameter,
                limit_parameter,
                limit,
                ..
            } => vec![
                (parameter, self.offset.to_string()),
                (limit_parameter, limit.to_string()),
            ],
            Paging::Page {
                parameter,
                first,
                limit_parameter,
                limit,
            } => {
                let number = u64::from(*first) + self.number - 1;
                let mut all = vec![(parameter.as_str(), number.to_string())];
                let limit_parameter = limit_parameter.as_deref();
                all.extend(limit_parameter.map(|name| (name, limit.to_string())));
                all
            }
            Paging::NextKey { parameter, .. } => {
                let key = self.key.clone();
                key.map(|key| (parameter.as_str(), key))
                    .into_iter()
                    .collect()
            }
        }
    }

    /// The address of the page.
    pub(super) fn url(&self) -> String {
        if let Some(next) = &self.next {
            return next.clone();
        }
        let mut url = self.first.clone();
        if self.plan.body.is_none() {
            for (name, value) in self.parameters() {
                url.push(if url.contains('?') { '&' } else { '?' });
                url.push_str(&escaped(name));
                url.push('=');
                url.push_str(&escaped(&value));
            }
        }
        url
    }

    /// What is posted, where the API asks for that: the plan's body with the page in it.
    pub(super) fn body(&self) -> Option<Value> {
        let mut body = self.plan.body.clone()?;
        for (name, value) in self.parameters() {
            let counted = !matches!(self.plan.paging, Paging::NextKey { .. });
            let value = match value.parse::<u64>() {
                Ok(number) if counted => Value::from(number),
                _ => Value::String(value),
            };
            put(&mut body, name, value);
        }
        Some(Value::Object(body))
    }

    /// Takes the vehicles out of a page.
    pub(super) fn take_items(&mut self, body: &mut Value) -> Result<Vec<Value>, Failure> {
        let mut path = self.plan.items.split('.').filter(|part| !part.is_empty());
        let list = path.try_fold(body, |value, part| value.get_mut(part));
        let Some(Value::Array(items)) = list.map(Value::take) else {
            let words = format!(
                "the answer has no list at `{}`: check `items`",
                self.plan.items
            );
            return Err((Fault::Data, words));
        };
        if !items.is_empty() {
            let text = serde_json::to_string(&items).unwrap_or_default();
            self.meet(
                &text,
                "the same page came twice: the API ignores the paging; check `paging`",
            )?;
        }
        Ok(items)
    }

    /// Refuses what came before: it would go round for ever.
    fn meet(&mut self, text: &str, words: &str) -> Result<(), Failure> {
        let mut hasher = DefaultHasher::new();
        text.hash(&mut hasher);
        if self.seen.insert(hasher.finish()) {
            Ok(())
        } else {
            Err((Fault::Data, words.to_owned()))
        }
    }

    /// Goes to the next page; false at the end. `link` is what the answer's head names as the next.
    pub(super) fn advance(
        &mut self,
        body: &Value,
        link: Option<String>,
        length: usize,
    ) -> Result<bool, Failure> {
        let count = length as u64;
        self.number += 1;
        match &self.plan.paging {
            Paging::None => Ok(false),
            Paging::Offset { limit, total, .. } => {
                self.offset += count;
                match total
                    .as_ref()
                    .map(|path| at(body, path).and_then(Value::as_u64))
                {
                    // A total that is not reached by an empty page is half an answer.
                    Some(Some(total)) if count == 0 && self.offset < total => {
                        let words =
                            "an empty page came before the total was reached: half an answer";
                        Err((Fault::Data, words.to_owned()))
                    }
                    Some(Some(total)) => Ok(self.offset < total),
                    Some(None) | None => Ok(count >= u64::from(*limit)),
                }
            }
            Paging::Page { limit, .. } => Ok(count >= u64::from(*limit)),
            Paging::NextKey { from, .. } => {
                self.key = text(at(body, from));
                self.onward(self.key.clone())
            }
            Paging::NextUrl { from } => self.go_to(text(at(body, from))),
            Paging::LinkHeader => self.go_to(link),
        }
    }

    fn go_to(&mut self, said: Option<String>) -> Result<bool, Failure> {
        self.next = match said {
            None => None,
            Some(path) if path.starts_with('/') && !path.starts_with("//") => {
                Some(format!("{}{path}", self.origin))
            }
            // The credentials are for the origin that the operator named.
            Some(url) if origin(&url) == self.origin => Some(url),
            Some(_) => {
                let words = "the next page's address is not of the server in base_url";
                return Err((Fault::Data, words.to_owned()));
            }
        };
        self.onward(self.next.clone())
    }

    fn onward(&mut self, to: Option<String>) -> Result<bool, Failure> {
        let Some(to) = to else {
            return Ok(false);
        };
        let words = "the next page's key came twice: the API goes round; check `paging`";
        self.meet(&format!("key {to}"), words)?;
        Ok(true)
    }
}

/// A key or address; none and an empty one are the end.
fn text(value: Option<&Value>) -> Option<String> {
    match value? {
        Value::String(text) if !text.is_empty() => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Null | Value::Bool(_) | Value::String(_) | Value::Array(_) | Value::Object(_) => {
            None
        }
    }
}

fn put(body: &mut Map<String, Value>, path: &str, value: Value) {
    match path.split_once('.') {
        None => {
            body.insert(path.to_owned(), value);
        }
        Some((first, rest)) => {
            let below = body
                .entry(first.to_owned())
                .or_insert_with(|| Value::Object(Map::new()));
            if let Value::Object(below) = below {
                put(below, rest, value);
            }
        }
    }
}

/// `scheme://host:port` of an address.
fn origin(url: &str) -> &str {
    let Some((scheme, rest)) = url.split_once("://") else {
        return "";
    };
    let authority = rest.split(['/', '?', '#']).next().unwrap_or(rest);
    url.get(..scheme.len() + 3 + authority.len()).unwrap_or(url)
}

/// The address that a `Link` header names as the next one.
pub(super) fn link_of(headers: &HeaderMap) -> Option<String> {
    let all = headers.get_all(http::header::LINK).iter();
    let links = all.filter_map(|value| value.to_str().ok());
    links.flat_map(|text| text.split(',')).find_map(|link| {
        let (address, parameters) = link.trim().strip_prefix('<')?.split_once('>')?;
        let mut parameters = parameters.split(';').map(str::trim);
        parameters
            .any(|parameter| matches!(parameter, "rel=next" | "rel=\"next\""))
            .then(|| address.to_owned())
    })
}

/// The value at `a.b.c`; the whole without a path.
fn at<'a>(body: &'a Value, path: &str) -> Option<&'a Value> {
    path.split('.')
        .filter(|part| !part.is_empty())
        .try_fold(body, |value, part| value.get(part))
}
