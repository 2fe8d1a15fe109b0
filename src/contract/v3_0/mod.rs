//! What AAP 3.0 alone fixes: its names, its schema files, its verdicts. Must not be named outside `contract`.

mod answers;
mod documents;
mod files;
mod rules;

use serde_json::Value;

use super::Problem;
use super::release::Release;

const EXTENSION_URI: &str = "https://autoagentprotocol.org/extensions/aap/v3.0";
const SCHEMA_BASE_URL: &str = "https://autoagentprotocol.org/v3.0/schemas/";

/// AAP 3.0.
pub(super) const RELEASE: Release = Release {
    version: "3.0.0",
    extension_uri: EXTENSION_URI,
    pap_version: "0.3",
    schema_base_url: SCHEMA_BASE_URL,
    files: files::FILES,
    further: rules::further,
    verdict: rules::verdict,
    between,
};

fn between(name: &str, document: &Value, found: &mut Vec<Problem>) {
    answers::check(name, document, found);
    documents::check(name, document, found);
}
