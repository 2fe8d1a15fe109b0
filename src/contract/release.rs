//! What one AAP release fixes, as a value: its names, its schema files, its verdicts. A further release is one
//! more value of this kind in a folder of its own; nothing outside `contract` changes. Must hold no logic.

use serde_json::Value;

use super::{AapError, Problem, Skill};

/// One release.
#[derive(Clone, Copy, Debug)]
pub(super) struct Release {
    /// Its full version, `3.0.0`.
    pub(super) version: &'static str,
    /// The A2A extension URI that identifies it (AAP-005).
    pub(super) extension_uri: &'static str,
    /// The Personal Agent Protocol's draft that it is paired with (AAP-588).
    pub(super) pap_version: &'static str,
    /// The immutable base of its schema URLs, with the trailing slash.
    pub(super) schema_base_url: &'static str,
    /// Name and text of each schema file.
    pub(super) files: &'static [(&'static str, &'static str)],
    /// Adds the problems of a request that schemas cannot say.
    pub(super) further: fn(Skill, &Value, &mut Vec<Problem>),
    /// The one error that says all problems of a request.
    pub(super) verdict: fn(Skill, &Value, &[Problem]) -> AapError,
    /// Adds the problems of any other document, by its schema's name, that schemas cannot say.
    pub(super) between: fn(&str, &Value, &mut Vec<Problem>),
}
