//! A request's payload on its way from a binding to the contract, and the requests that were read before: many
//! agents ask the same, and what was found valid need not be read again. Must not remember a lead.

use std::sync::Arc;

use serde_json::Value;

use super::{Request, Skill};
use crate::recent::Recent;

/// Requests that are remembered at least, and half of those that are remembered at most.
const KEPT: usize = 512;
/// A longer text is not remembered.
const LONGEST: usize = 1024;

/// A payload as a binding read it.
#[derive(Debug)]
pub struct Payload(pub(super) Read);

#[derive(Debug)]
pub(super) enum Read {
    New(Value),
    /// With the text that it was read from.
    Text(Value, Box<str>),
    /// The very text was found valid before.
    Before(Arc<Request>),
}

impl From<Value> for Payload {
    fn from(value: Value) -> Self {
        Self(Read::New(value))
    }
}

impl Payload {
    /// What `text` says to `skill`, which is `value`.
    pub fn of_text(skill: Skill, value: Value, text: &str) -> Self {
        Self(if remembers(skill, text) {
            Read::Text(value, text.into())
        } else {
            Read::New(value)
        })
    }

    /// Whether it is JSON's `null`, which stands for none.
    pub fn is_null(&self) -> bool {
        match &self.0 {
            Read::New(value) | Read::Text(value, _) => value.is_null(),
            Read::Before(_) => false,
        }
    }

    /// Whether it is a JSON object, as every payload must be.
    pub fn is_object(&self) -> bool {
        match &self.0 {
            Read::New(value) | Read::Text(value, _) => value.is_object(),
            Read::Before(_) => true,
        }
    }
}

/// Valid requests by their texts.
#[derive(Debug)]
pub(super) struct Asked(Recent<Arc<Request>>);

impl Default for Asked {
    fn default() -> Self {
        Self(Recent::new(KEPT))
    }
}

impl Asked {
    /// The request of `skill` that this very text is.
    pub(super) fn get(&self, skill: Skill, text: &str) -> Option<Payload> {
        if !remembers(skill, text) {
            return None;
        }
        let request = self.0.get(text)?;
        (request.skill() == skill).then_some(Payload(Read::Before(request)))
    }

    /// Remembers what others may ask, too: a cursor is good for one caller only.
    pub(super) fn put(&self, text: Box<str>, request: &Arc<Request>) {
        let continues = matches!(&**request, Request::InventorySearch(search) if search.pagination.cursor.is_some());
        if !continues {
            self.0.put(text, Arc::clone(request));
        }
    }
}

/// Whether such texts are remembered: a lead is a person's own.
fn remembers(skill: Skill, text: &str) -> bool {
    skill.is_read() && text.len() <= LONGEST
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::contract::Contract;

    // What a person says stays with the call.
    #[test]
    fn leads_cursors_and_long_texts_are_not_remembered() {
        let contract = Contract::v3_0().unwrap();
        let remembered = |skill: Skill, value: Value| {
            let text = value.to_string();
            contract
                .request(skill, Payload::of_text(skill, value, &text))
                .unwrap();
            contract.known(skill, &text).is_some()
        };
        let search = |more: Value| {
            let mut search = json!({"type": Skill::InventorySearch.request_type()});
            search
                .as_object_mut()
                .unwrap()
                .extend(more.as_object().unwrap().clone());
            remembered(Skill::InventorySearch, search)
        };
        assert!(search(json!({"pagination": {"limit": 5}})));
        assert!(!search(json!({"pagination": {"cursor": "c"}})));
        let makes: Vec<String> = (0..100).map(|n| format!("{n:030}")).collect();
        assert!(!search(json!({"filters": {"make": makes}})));
        let lead = include_str!("../../tests/data/fixtures/lead.request.minimal.json");
        let lead = serde_json::from_str(lead).unwrap();
        assert!(!remembered(Skill::LeadSubmit, lead));
    }
}
