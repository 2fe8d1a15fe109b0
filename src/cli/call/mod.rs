//! `forecourt call`: one skill call as an agent makes it, over any binding, with both sides printed and
//! secrets left out. It goes by what the dealer publishes and uses nothing that the server knows.

mod a2a;
mod identity;
mod jws;
mod mcp;
mod pap;
mod publish;
mod shown;
mod wire;

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::failure::{Exit, Failure};
use super::output::Output;
use super::schemas;
use crate::contract::{Skill, json as strict};
use wire::Wire;

pub(super) use identity::Files as AgentFiles;

/// The largest request read.
const MAX_PAYLOAD_BYTES: u64 = 1 << 20;

/// Flags of `call`.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// The skill: dealer.information, inventory.facets, inventory.search, inventory.vehicle or lead.submit
    #[arg(value_parser = skill)]
    skill: Skill,
    /// The dealer's address (`https://dealer.example`); for MCP and A2A the endpoint's own will do
    url: String,
    /// The binding to go by
    #[arg(long, value_enum)]
    via: Via,
    /// The request as JSON in a file, or - for standard input [default: the skill's plainest request]
    #[arg(long, value_name = "FILE")]
    payload: Option<PathBuf>,
    /// A PEM file of authorities to trust beside the public ones, for the dealer's own certificate
    #[arg(long, value_name = "FILE")]
    ca: Option<PathBuf>,
    #[command(flatten)]
    identity: identity::Who,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Via {
    /// Personal Agent Protocol: sign in as a guest, then call the native API
    Pap,
    /// Model Context Protocol over Streamable HTTP
    Mcp,
    /// A2A `SendMessage`
    A2a,
}

impl Via {
    fn id(self) -> &'static str {
        match self {
            Self::Pap => "pap",
            Self::Mcp => "mcp",
            Self::A2a => "a2a",
        }
    }
}

/// What is asked.
struct Call {
    skill: Skill,
    /// Without a trailing slash.
    url: String,
    payload: Value,
}

pub(super) async fn run(arguments: Arguments, output: Output) -> Result<Exit, Failure> {
    let call = Call {
        skill: arguments.skill,
        url: arguments.url.trim_end_matches('/').to_owned(),
        payload: payload(arguments.skill, arguments.payload.as_deref())?,
    };
    let mut wire = Wire::new(arguments.ca)?;
    let called = match arguments.via {
        Via::Pap => Box::pin(pap::call(&mut wire, &call, &arguments.identity)).await,
        Via::Mcp => mcp::call(&mut wire, &call).await,
        Via::A2a => a2a::call(&mut wire, &call).await,
    };
    let answer = called.as_ref().ok().and_then(typed);
    let wanted = Value::from(call.skill.response_type());
    let fine = answer.as_ref().and_then(|answer| answer.get("type")) == Some(&wanted);
    let value = json!({
        "schema_version": 1,
        "via": arguments.via.id(),
        "skill": call.skill.id(),
        "answered": fine,
        "answer": answer,
        "exchanges": wire.exchanges(),
    });
    if called.is_ok() || !wire.exchanges().is_empty() {
        output.print(&shown::transcript(wire.exchanges()), &value)?;
    }
    called?;
    Ok(if fine { Exit::Fine } else { Exit::Findings })
}

fn skill(text: &str) -> Result<Skill, String> {
    Skill::from_id(text).ok_or_else(|| "there is no such skill".to_owned())
}

/// The request: strict JSON like every agent's, or the skill's plainest one.
fn payload(skill: Skill, file: Option<&Path>) -> Result<Value, Failure> {
    let Some(file) = file else {
        return Ok(json!({ "type": skill.request_type() }));
    };
    let bytes = schemas::read(file, MAX_PAYLOAD_BYTES)?;
    strict::read(&bytes)
        .map_err(|error| Failure::new(Exit::Usage, format!("{}: {error}", file.display())))
}

/// The AAP payload in an answer, wherever its binding puts it: a typed response or an `aap.error`.
fn typed(answer: &Value) -> Option<Value> {
    match answer {
        Value::Object(members) => {
            let kind = members.get("type").and_then(Value::as_str);
            if kind.is_some_and(|kind| kind.ends_with(".response") || kind == "aap.error") {
                return Some(answer.clone());
            }
            members.values().find_map(typed)
        }
        Value::Array(items) => items.iter().find_map(typed),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
    }
}

/// The dealer broke a rule that this client must hold to.
fn broken(rule: &str) -> Failure {
    Failure::new(
        Exit::Findings,
        format!("the dealer's side breaks a rule: {rule}"),
    )
}

/// A text member of a document that must be there.
fn member<'a>(document: &'a Value, pointer: &str) -> Result<&'a str, Failure> {
    document
        .pointer(pointer)
        .and_then(Value::as_str)
        .ok_or_else(|| broken(&format!("{pointer} is missing")))
}

/// Whether a URL is a whole endpoint's and not just a dealer's.
fn has_path(url: &str) -> bool {
    url.split_once("://")
        .is_some_and(|(_, rest)| rest.contains('/'))
}

#[cfg(test)]
mod tests;
