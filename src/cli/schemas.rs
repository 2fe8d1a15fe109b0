//! `forecourt generate schemas` and `forecourt validate`: the contract's schemas for others' use.

use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use serde_json::json;

use super::failure::{Exit, Failure};
use super::output::Output;
use crate::contract::{Contract, Problem, json};

/// A larger document is not validated.
const MAX_DOCUMENT_BYTES: u64 = 64 * 1024 * 1024;

/// Flags of `validate`.
#[derive(Debug, clap::Args)]
pub(super) struct Validate {
    /// The document's type, e.g. inventory-search-request; an unknown one lists all
    #[arg(long = "type", value_name = "TYPE")]
    name: String,
    /// The JSON file, `-` for standard input
    file: PathBuf,
}

pub(super) fn write(out: &Path, output: Output) -> Result<Exit, Failure> {
    let contract = contract()?;
    let cannot = |error: std::io::Error| {
        Failure::new(Exit::Unavailable, format!("{}: {error}", out.display()))
    };
    fs::create_dir_all(out).map_err(cannot)?;
    let names = contract.schema_names();
    for name in &names {
        let schema = contract.schema(name).map(|schema| format!("{schema:#}\n"));
        fs::write(
            out.join(format!("{name}.schema.json")),
            schema.unwrap_or_default(),
        )
        .map_err(cannot)?;
    }
    let text = format!(
        "{}: {} schemas of AAP {}",
        out.display(),
        names.len(),
        contract.version()
    );
    output.print(
        &text,
        &json!({ "schema_version": 1, "directory": out, "schemas": names }),
    )?;
    Ok(Exit::Fine)
}

pub(super) fn validate(arguments: &Validate, output: Output) -> Result<Exit, Failure> {
    let contract = contract()?;
    let names = contract.schema_names();
    if !names.contains(&arguments.name.as_str()) {
        let failure = Failure::new(Exit::Usage, format!("{:?} is not a type", arguments.name));
        return Err(failure.hint(format!("use one of: {}", names.join(", "))));
    }
    let bytes = read(&arguments.file, MAX_DOCUMENT_BYTES)?;
    let problems = match json::read(&bytes) {
        Ok(document) => contract
            .check_document(&arguments.name, &document)
            .err()
            .unwrap_or_default(),
        Err(error) => vec![Problem::new("", "json", error.to_string())],
    };
    let values: Vec<_> = problems
        .iter()
        .map(|problem| {
            json!({
                "instanceLocation": problem.instance_location,
                "keyword": problem.keyword,
                "error": problem.error,
            })
        })
        .collect();
    let mut text = if problems.is_empty() {
        format!("√ a valid {}", arguments.name)
    } else {
        format!("× not a valid {}", arguments.name)
    };
    for problem in &problems {
        let at = if problem.instance_location.is_empty() {
            "(the whole)"
        } else {
            &problem.instance_location
        };
        text.push_str("\n  ");
        text.push_str(at);
        text.push_str(": ");
        text.push_str(&problem.error);
    }
    output.print(
        &text,
        &json!({ "schema_version": 1, "valid": problems.is_empty(), "problems": values }),
    )?;
    Ok(if problems.is_empty() {
        Exit::Fine
    } else {
        Exit::Findings
    })
}

fn contract() -> Result<std::sync::Arc<Contract>, Failure> {
    Contract::v3_0().map_err(|error| Failure::new(Exit::Internal, error.to_string()))
}

/// A file's bytes, or standard input's, up to the limit.
pub(super) fn read(path: &Path, limit: u64) -> Result<Vec<u8>, Failure> {
    let cannot =
        |error: std::io::Error| Failure::new(Exit::Usage, format!("{}: {error}", path.display()));
    let mut bytes = Vec::new();
    if path == Path::new("-") {
        std::io::stdin()
            .take(limit + 1)
            .read_to_end(&mut bytes)
            .map_err(cannot)?;
    } else {
        let file = fs::File::open(path).map_err(cannot)?;
        file.take(limit + 1)
            .read_to_end(&mut bytes)
            .map_err(cannot)?;
    }
    if bytes.len() as u64 > limit {
        let words = format!("{}: more than {limit} bytes", path.display());
        return Err(Failure::new(Exit::Usage, words));
    }
    Ok(bytes)
}
