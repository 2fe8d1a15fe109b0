//! What the Auto Agent Protocol says: skills, error codes, request shapes, schemas. Pure: no I/O, no
//! clock, nothing of any deployment. What only one AAP release fixes lies in its own folder (`v3_0`).

pub mod answer;
pub mod caller;
pub mod canonical;
pub mod capabilities;
pub mod error;
pub mod json;
pub mod request;
pub mod skill;

use std::sync::Arc;

use serde_json::Value;

pub use answer::{Answer, Fragment};
pub use caller::Caller;
pub use capabilities::Capabilities;
pub use error::{AapError, ErrorCode, Problem};
pub use request::Request;
pub use skill::Skill;

/// One AAP release as a value: its schemas, names and verdicts.
#[derive(Debug)]
pub struct Contract {}

impl Contract {
    /// AAP 3.0.
    pub fn v3_0() -> Arc<Self> {
        unimplemented!()
    }

    /// The release, `3.0.0`.
    pub fn version(&self) -> &'static str {
        unimplemented!()
    }

    /// The A2A extension URI that identifies this contract (AAP-005).
    pub fn extension_uri(&self) -> &'static str {
        unimplemented!()
    }

    /// The immutable base of the canonical schema URLs, with its trailing slash.
    pub fn schema_base_url(&self) -> &'static str {
        unimplemented!()
    }

    /// Checks a payload against everything the contract says of the skill's request and makes it typed.
    /// Every detectable problem is in the one error (AAP-192).
    pub fn validate(&self, _skill: Skill, _payload: Value) -> Result<Request, AapError> {
        unimplemented!()
    }

    /// Checks a finished response of `skill` (AAP-502).
    pub fn check_answer(&self, _skill: Skill, _answer: &Value) -> Result<(), Vec<Problem>> {
        unimplemented!()
    }

    /// Checks one inventory listing before it enters a snapshot.
    pub fn check_listing(&self, _listing: &Value) -> Result<(), Vec<Problem>> {
        unimplemented!()
    }

    /// The self-contained MCP input schema of the skill's tool.
    pub fn input_schema(&self, _skill: Skill) -> &Value {
        unimplemented!()
    }

    /// The self-contained MCP output schema: response or `aap.error`.
    pub fn output_schema(&self, _skill: Skill) -> &Value {
        unimplemented!()
    }

    /// A canonical schema by its name, e.g. `inventory-listing`.
    pub fn schema(&self, _name: &str) -> Option<&Value> {
        unimplemented!()
    }

    /// The names of all canonical schemas.
    pub fn schema_names(&self) -> Vec<&str> {
        unimplemented!()
    }
}
