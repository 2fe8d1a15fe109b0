//! What the Auto Agent Protocol says: skills, error codes, request shapes, schemas. Pure: no I/O, no
//! clock, nothing of any deployment; valid requests are remembered for a while, by their text. What only one AAP
//! release fixes lies in its own folder (`v3_0`).

pub mod canonical;
pub mod answer;
mod binding;
pub mod caller;
pub mod capabilities;
pub mod error;
mod filters;
mod fragment;
mod instant;
pub mod json;
mod names;
mod payload;
mod problems;
mod release;
mod rope;
pub mod request;
mod schema;
pub mod skill;
mod tools;
mod typed;
mod v3_0;
mod words;

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;

pub use answer::Answer;
pub use binding::Binding;
pub use caller::Caller;
pub use capabilities::Capabilities;
pub use error::{AapError, ErrorCode, Problem};
pub use fragment::Fragment;
pub use payload::Payload;
pub use request::Request;
pub use rope::Rope;
pub use skill::Skill;

/// One AAP release as a value: its schemas, names and verdicts.
#[derive(Debug)]
pub struct Contract {
    release: release::Release,
    schemas: schema::Schemas,
    inputs: BTreeMap<Skill, Value>,
    outputs: BTreeMap<Skill, Value>,
    asked: payload::Asked,
}

/// Why a contract could not be made: its embedded schemas are faulty.
#[derive(Debug, thiserror::Error)]
#[error("embedded schema {0}")]
pub struct ContractError(String);

impl Contract {
    /// AAP 3.0.
    pub fn v3_0() -> Result<Arc<Self>, ContractError> {
        Self::of(v3_0::RELEASE)
    }

    fn of(release: release::Release) -> Result<Arc<Self>, ContractError> {
        let schemas = schema::Schemas::compile(release.files).map_err(ContractError)?;
        let mut inputs = BTreeMap::new();
        let mut outputs = BTreeMap::new();
        for skill in Skill::ALL {
            inputs.insert(skill, tools::input(&schemas, skill).map_err(ContractError)?);
            outputs.insert(
                skill,
                tools::output(&schemas, skill).map_err(ContractError)?,
            );
        }
        Ok(Arc::new(Self {
            release,
            schemas,
            inputs,
            outputs,
            asked: payload::Asked::default(),
        }))
    }

    /// The release, `3.0.0`.
    pub fn version(&self) -> &'static str {
        self.release.version
    }

    /// The A2A extension URI that identifies this contract (AAP-005).
    pub fn extension_uri(&self) -> &'static str {
        self.release.extension_uri
    }

    /// The Personal Agent Protocol's draft that this contract is paired with.
    pub fn pap_version(&self) -> &'static str {
        self.release.pap_version
    }

    /// The immutable base of the canonical schema URLs, with its trailing slash.
    pub fn schema_base_url(&self) -> &'static str {
        self.release.schema_base_url
    }

    /// The canonical URL of the skill's request schema (AAP-021).
    pub fn request_schema_url(&self, skill: Skill) -> String {
        let base = self.schema_base_url();
        format!("{base}{}.schema.json", request_schema(skill))
    }

    /// The canonical URL of the skill's response schema.
    pub fn response_schema_url(&self, skill: Skill) -> String {
        let base = self.schema_base_url();
        format!("{base}{}.schema.json", response_schema(skill))
    }

    /// The payload that `text` is, where the same text was found valid for `skill` lately.
    pub fn known(&self, skill: Skill, text: &str) -> Option<Payload> {
        self.asked.get(skill, text)
    }

    /// The valid request that a payload is: [`Self::validate`], or what that found before.
    pub fn request(&self, skill: Skill, payload: Payload) -> Result<Arc<Request>, AapError> {
        match payload.0 {
            payload::Read::Before(request) => Ok(request),
            payload::Read::New(value) => self.validate(skill, value).map(Arc::new),
            payload::Read::Text(value, text) => {
                let request = Arc::new(self.validate(skill, value)?);
                self.asked.put(text, &request);
                Ok(request)
            }
        }
    }

    /// Checks a payload against everything the contract says of the skill's request and makes it typed.
    /// Every detectable problem is in the one error (AAP-192).
    pub fn validate(&self, skill: Skill, mut payload: Value) -> Result<Request, AapError> {
        json::normalise_numbers(&mut payload);
        let name = request_schema(skill);
        let schema = self.schemas.compiled(&name);
        let schema = schema.ok_or_else(|| AapError::internal(format!("no {name}")))?;
        let mut problems = problems::find(schema, &payload);
        (self.release.further)(skill, &payload, &mut problems);
        if !problems.is_empty() {
            return Err((self.release.verdict)(skill, &payload, &problems));
        }
        typed::request(skill, payload)
    }

    /// Checks a finished response of `skill` (AAP-502).
    pub fn check_answer(&self, skill: Skill, answer: &Value) -> Result<(), Vec<Problem>> {
        self.check_document(&response_schema(skill), answer)
    }

    /// Checks one inventory listing before it enters a snapshot.
    pub fn check_listing(&self, listing: &Value) -> Result<(), Vec<Problem>> {
        self.check_document("inventory-listing", listing)
    }

    /// Checks a document against the canonical schema `name` and the rules that no schema can say.
    pub fn check_document(&self, name: &str, document: &Value) -> Result<(), Vec<Problem>> {
        let Some(schema) = self.schemas.compiled(name) else {
            let words = format!("There is no schema named {name}.");
            return Err(vec![Problem::new("", "schema", words)]);
        };
        let mut problems = problems::find(schema, document);
        (self.release.between)(name, document, &mut problems);
        if problems.is_empty() {
            Ok(())
        } else {
            Err(problems)
        }
    }

    /// The self-contained MCP input schema of the skill's tool.
    pub fn input_schema(&self, skill: Skill) -> &Value {
        self.inputs.get(&skill).unwrap_or(&Value::Null)
    }

    /// The self-contained MCP output schema: response or `aap.error`.
    pub fn output_schema(&self, skill: Skill) -> &Value {
        self.outputs.get(&skill).unwrap_or(&Value::Null)
    }

    /// A canonical schema by its name, e.g. `inventory-listing`.
    pub fn schema(&self, name: &str) -> Option<&Value> {
        self.schemas.canonical(name)
    }

    /// The names of all canonical schemas.
    pub fn schema_names(&self) -> Vec<&str> {
        self.schemas.names().collect()
    }
}

fn request_schema(skill: Skill) -> String {
    format!("{}-request", skill.stem())
}

fn response_schema(skill: Skill) -> String {
    format!("{}-response", skill.stem())
}

#[cfg(test)]
mod tests;
