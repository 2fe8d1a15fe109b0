//! The tests of this room, one file a matter; here what they share.

mod table;
mod second;
mod values;
mod verdicts;
mod leads;
mod texts;
mod tools;
mod capabilities;
mod between;
mod documents;
mod examples;
mod members;
mod mutations;

use std::fs;
use std::path::Path;
use std::sync::{Arc, LazyLock};

use serde_json::{Value, json};

use super::*;

pub(super) fn contract() -> &'static Contract {
    static CONTRACT: LazyLock<Arc<Contract>> = LazyLock::new(|| Contract::v3_0().unwrap());
    &CONTRACT
}

pub(super) fn fixture(name: &str) -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/data/fixtures")
        .join(name);
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

pub(super) fn refused(skill: Skill, payload: Value) -> (ErrorCode, Vec<(String, String, String)>) {
    let error = contract().validate(skill, payload).unwrap_err();
    let list = error.details["errors"].as_array().unwrap();
    let of = |e: &Value, key: &str| e[key].as_str().unwrap().to_owned();
    let problems = list
        .iter()
        .map(|e| (of(e, "instanceLocation"), of(e, "keyword"), of(e, "error")))
        .collect();
    (error.code, problems)
}

pub(super) fn places(skill: Skill, payload: Value) -> (ErrorCode, Vec<String>) {
    let (code, problems) = refused(skill, payload);
    (code, problems.into_iter().map(|p| p.0).collect())
}

pub(super) fn search(filters: impl Into<Value>) -> Value {
    json!({"type": "inventory.search.request", "filters": filters.into()})
}

pub(super) fn lead() -> Value {
    fixture("lead.request.minimal.json")
}
