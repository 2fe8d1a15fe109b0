//! `forecourt version`.

use serde_json::json;

use super::failure::{Exit, Failure};
use super::output::Output;
use crate::bindings::mcp;

/// The AAP release that this program speaks.
const AAP: &str = "3.0";

pub(super) fn run(output: Output) -> Result<Exit, Failure> {
    let revisions = mcp::revisions();
    let version = env!("CARGO_PKG_VERSION");
    let text = format!(
        "forecourt {version} (AAP {AAP}; MCP {})",
        revisions.join(", ")
    );
    output.print(
        &text,
        &json!({ "schema_version": 1, "version": version, "aap": AAP, "mcp": revisions }),
    )?;
    Ok(Exit::Fine)
}
