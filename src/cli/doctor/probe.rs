//! The one read that an endpoint is asked: which skill, with what, and whether the answer fits. Must not send it.

use serde_json::{Value, json};

use crate::bindings::discovery::agreement;
use crate::contract::{Contract, Problem, Skill};

/// The skill that is read: one of those that the card names.
pub(super) fn of(card: &Value) -> Option<Skill> {
    let skills = card.get("skills").and_then(Value::as_array);
    let ids: Vec<&str> = skills
        .into_iter()
        .flatten()
        .map(|skill| agreement::text(skill, "/id"))
        .collect();
    let reads = [
        Skill::DealerInformation,
        Skill::InventoryFacets,
        Skill::InventorySearch,
    ];
    reads.into_iter().find(|skill| ids.contains(&skill.id()))
}

/// A read's payload, which names nobody and asks for nothing.
pub(super) fn payload(skill: Skill) -> Value {
    json!({ "type": skill.request_type() })
}

/// Whether an answer fits its schema.
pub(super) fn fits(contract: &Contract, skill: Skill, answer: &Value) -> Result<(), String> {
    contract.check_answer(skill, answer).map_err(|problems| {
        let word = |problem: &Problem| format!("{} {}", problem.instance_location, problem.error);
        let words: Vec<String> = problems.iter().take(3).map(word).collect();
        format!("the answer does not fit its schema: {}", words.join("; "))
    })
}
