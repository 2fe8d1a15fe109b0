//! `forecourt version`.

use serde_json::json;

use super::failure::{Exit, Failure};
use super::output::Output;

/// AAP and MCP revisions that this program speaks.
const AAP: &str = "3.0";
const MCP: [&str; 3] = ["2026-07-28", "2025-11-25", "2025-06-18"];

pub(super) fn run(output: Output) -> Result<Exit, Failure> {
    let version = env!("CARGO_PKG_VERSION");
    let text = format!("forecourt {version} (AAP {AAP}; MCP {})", MCP.join(", "));
    output.print(
        &text,
        &json!({ "schema_version": 1, "version": version, "aap": AAP, "mcp": MCP }),
    )?;
    Ok(Exit::Fine)
}
