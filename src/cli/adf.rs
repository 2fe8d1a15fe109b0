//! `forecourt adf`: how a lead would look to a CRM.

use std::path::PathBuf;

use serde_json::json;

use super::examples;
use super::failure::{Exit, Failure};
use super::output::Output;
use super::schemas;
use crate::clock::Clock;
use crate::config::{Config, Sources};
use crate::contract::{Contract, Request, Skill, json};
use crate::delivery::Content;
use crate::leads::{AdfProfile, Receiver, Record, RecordedCaller, Settings, adf};
use crate::profile::Profile;

/// The largest request read.
const MAX_REQUEST_BYTES: u64 = 1 << 20;

/// What to do with ADF.
#[derive(Debug, clap::Subcommand)]
pub(super) enum Command {
    /// List the built-in ADF profiles, each with what it is for
    Profiles,
    /// Render a `lead.submit` request as a CRM would get it; sends and stores nothing
    #[command(after_help = examples::ADF_RENDER)]
    Render {
        /// The request as JSON, `-` for standard input
        #[arg(long, value_name = "FILE")]
        lead: PathBuf,
        /// A built-in ADF profile, or the path of a .toml file
        #[arg(long, default_value = "standard")]
        profile: String,
        /// The configured deployment whose store receives it [default: an invented store]
        #[arg(long, value_name = "ID")]
        deployment: Option<String>,
    },
}

pub(super) fn run(command: Command, sources: &Sources, output: Output) -> Result<Exit, Failure> {
    let Command::Render {
        lead,
        profile,
        deployment,
    } = command
    else {
        return profiles(output);
    };
    let request = read_request(&lead)?;
    let profile = read_profile(&profile)?;
    let (settings, receiver) = match deployment {
        Some(id) => configured(sources, &id, &request)?,
        None => invented(),
    };
    let record = Record {
        receiver: Receiver::of(&receiver, &request, None),
        request,
        caller: RecordedCaller::Anonymous,
        listing: None,
        booking: None,
    };
    let rendered = adf::render(
        "lead_preview",
        Clock::system().now(),
        &record,
        &profile,
        &settings,
    )
    .map_err(|error| Failure::new(Exit::Findings, error.to_string()))?;
    show(&rendered, output)
}

fn profiles(output: Output) -> Result<Exit, Failure> {
    let (mut lines, mut values) = (Vec::new(), Vec::new());
    for name in AdfProfile::names() {
        let profile = AdfProfile::named(name)
            .map_err(|error| Failure::new(Exit::Internal, error.to_string()))?;
        let (name, description) = (profile.name(), profile.description.as_str());
        lines.push(format!("{name:<18} {description}"));
        values.push(json!({ "name": name, "description": description }));
    }
    let value = json!({ "schema_version": 1, "profiles": values });
    output.print(&lines.join("\n"), &value)?;
    Ok(Exit::Fine)
}

/// Shows a lead as a receiver would get it.
pub(super) fn show(rendered: &adf::Rendered, output: Output) -> Result<Exit, Failure> {
    let (form, content) = match &rendered.content {
        Content::Adf(text) => ("adf", text),
        Content::Text(text) => ("text", text),
    };
    let value = json!({ "schema_version": 1, "subject": rendered.subject, "form": form, "content": content });
    output.print(content, &value)?;
    Ok(Exit::Fine)
}

/// The request, valid by the contract.
fn read_request(path: &std::path::Path) -> Result<serde_json::Value, Failure> {
    let wrong = |words: String| Failure::new(Exit::Findings, words);
    let bytes = schemas::read(path, MAX_REQUEST_BYTES)?;
    let payload = json::read(&bytes).map_err(|error| wrong(error.to_string()))?;
    let contract =
        Contract::v3_0().map_err(|error| Failure::new(Exit::Internal, error.to_string()))?;
    match contract.validate(Skill::LeadSubmit, payload) {
        Ok(Request::LeadSubmit(request)) => Ok(request.payload),
        Ok(_) => Err(wrong("is not a lead.submit request".to_owned())),
        Err(error) => Err(wrong(format!(
            "{}; `forecourt validate --type lead-submit-request` says why",
            error.message
        ))),
    }
}

fn read_profile(name: &str) -> Result<AdfProfile, Failure> {
    let usage = |words: String| Failure::new(Exit::Usage, words);
    if std::path::Path::new(name)
        .extension()
        .is_some_and(|ext| ext == "toml")
    {
        let text =
            std::fs::read_to_string(name).map_err(|error| usage(format!("{name}: {error}")))?;
        return AdfProfile::parse(name, &text).map_err(|error| usage(error.to_string()));
    }
    AdfProfile::named(name).map_err(|error| {
        usage(error.to_string()).hint(format!("use one of: {}", AdfProfile::names().join(", ")))
    })
}

/// The settings and the dealership that would receive this request: in an aggregate the seller that it names.
fn configured(
    sources: &Sources,
    id: &str,
    request: &serde_json::Value,
) -> Result<(Settings, Profile), Failure> {
    let found = Config::load(sources)?
        .deployments
        .into_iter()
        .find(|deployment| deployment.id == id);
    let deployment =
        found.ok_or_else(|| Failure::new(Exit::Usage, format!("there is no deployment {id}")))?;
    let settings = deployment
        .leads
        .unwrap_or_else(|| Settings::new(id, Vec::new()));
    let Some(aggregate) = &deployment.aggregate else {
        return Ok((settings, Profile::clone(&deployment.profile)));
    };
    let named = request.pointer("/vehicle_of_interest/dealer_id");
    let named = named.and_then(serde_json::Value::as_str);
    let mut sellers = aggregate.sellers.iter().map(|seller| &seller.profile);
    let seller = sellers.find(|seller| named.is_some() && seller.dealer_id.as_deref() == named);
    match seller {
        Some(seller) => Ok((settings, Profile::clone(seller))),
        None => Err(Failure::new(
            Exit::Findings,
            format!("vehicle_of_interest.dealer_id names no seller of {id}"),
        )),
    }
}

/// A store to try a profile with.
fn invented() -> (Settings, Profile) {
    let mut settings = Settings::new("preview", Vec::new());
    settings.vendor.phone = Some("+1-555-0100".to_owned());
    let profile = Profile {
        dealer_id: None,
        name: "Example Motors".to_owned(),
        welcome_message: None,
        rooftops: Vec::new(),
    };
    (settings, profile)
}
