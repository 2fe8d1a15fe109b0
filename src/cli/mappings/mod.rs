//! `forecourt mappings`: what a mapping makes of a source's rows.

mod cases;
mod init;
mod player;
mod probe;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::{Value, json};

use super::examples;
use super::failure::{Exit, Failure};
use super::output::Output;
use crate::app;
use crate::config::{self, Config, Sources};
use crate::mapping::{Identifiers, Mapping, Outcome, Row, Tables};
use crate::profile::Profile;
use crate::sources::{self, Source};

/// What to do with mappings.
#[derive(Debug, clap::Subcommand)]
pub(super) enum Command {
    /// Read a source once and report what its rows became; exit code 1 when rows were left out
    #[command(after_help = examples::MAPPINGS_CHECK)]
    Check(Which),
    /// Show each field's way for one vehicle: raw value, steps, result
    #[command(after_help = examples::MAPPINGS_EXPLAIN)]
    Explain {
        /// Its id, VIN or stock number
        #[arg(long, value_name = "ID")]
        vehicle: String,
        #[command(flatten)]
        which: Which,
    },
    /// Look at a source and write a first mapping for it, with what only the dealer knows as questions
    #[command(after_help = examples::MAPPINGS_INIT)]
    Init(init::Arguments),
    /// Run the case beside each mapping: its sample through mapping.toml must become expected.json
    #[command(after_help = examples::MAPPINGS_TEST)]
    Test {
        /// Folders, each with mapping.toml, expected.json and a sample: a file, SQL, recorded pages or rows
        #[arg(required = true)]
        folders: Vec<PathBuf>,
        /// Write expected.json where there is none: look at it before you keep it
        #[arg(long)]
        write: bool,
        /// Read this database instead of the sample
        #[arg(long, value_name = "URL")]
        url: Option<String>,
    },
}

/// Which mapping and source: a configured deployment's, or those named.
#[derive(Debug, clap::Args)]
pub(super) struct Which {
    /// The deployment [default: all]
    #[arg(long, value_name = "ID", conflicts_with = "mapping")]
    deployment: Option<String>,
    /// A mapping file, without any configuration; needs --url or --input
    #[arg(long, value_name = "FILE")]
    mapping: Option<PathBuf>,
    /// The database to read through it
    #[arg(
        long,
        value_name = "URL",
        requires = "mapping",
        conflicts_with = "input"
    )]
    url: Option<String>,
    /// The feed file to read through it
    #[arg(long, value_name = "FILE", requires = "mapping")]
    input: Option<PathBuf>,
}

/// A mapping with its source.
struct Pair {
    name: String,
    mapping: Arc<Mapping>,
    source: sources::Settings,
    /// Without rooftops where there is no configuration.
    profile: Arc<Profile>,
}

pub(super) async fn run(
    command: Command,
    sources: &Sources,
    output: Output,
) -> Result<Exit, Failure> {
    match command {
        Command::Check(which) => check(which.pairs(sources)?, output).await,
        Command::Explain { vehicle, which } => {
            explain(which.pairs(sources)?, &vehicle, output).await
        }
        Command::Init(arguments) => init::run(arguments, sources, output).await,
        Command::Test {
            folders,
            write,
            url,
        } => cases::test(&folders, &cases::How { write, url }, output).await,
    }
}

/// Writes a first mapping for a source that a person named; `file` must not be there. What it asks, for people
/// and for machines.
pub(super) async fn draft(from: &str, file: &Path) -> Result<(String, Value), Failure> {
    init::draft(from, file).await
}

impl Which {
    fn pairs(self, sources: &Sources) -> Result<Vec<Pair>, Failure> {
        if let Some(file) = &self.mapping {
            let source = match (self.url, self.input) {
                (Some(url), _) => sources::Settings::Sql(sources::sql::Settings::new(url)),
                (None, Some(input)) => sources::Settings::Feed(sources::feed::Settings::new(input)),
                (None, None) => {
                    return Err(Failure::new(
                        Exit::Usage,
                        "--mapping needs --url or --input",
                    ));
                }
            };
            return Ok(vec![Pair {
                name: file.display().to_string(),
                mapping: Arc::new(read_mapping(file)?),
                source,
                profile: Arc::new(Profile {
                    dealer_id: None,
                    name: String::new(),
                    welcome_message: None,
                    rooftops: Vec::new(),
                }),
            }]);
        }
        let wanted = |id: &str| self.deployment.as_deref().is_none_or(|wanted| wanted == id);
        let pairs: Vec<Pair> = Config::load(sources)?
            .deployments
            .iter()
            .filter(|deployment| wanted(&deployment.id))
            .flat_map(config::Deployment::inventories)
            .map(|(name, profile, inventory)| Pair {
                name,
                mapping: Arc::clone(&inventory.mapping),
                source: inventory.source.clone(),
                profile: Arc::clone(profile),
            })
            .collect();
        if pairs.is_empty() {
            return Err(Failure::new(
                Exit::Usage,
                "no such deployment has an inventory",
            ));
        }
        Ok(pairs)
    }
}

fn read_mapping(file: &Path) -> Result<Mapping, Failure> {
    let name = file.display();
    let text = fs::read_to_string(file)
        .map_err(|error| Failure::new(Exit::Config, format!("{name}: {error}")))?;
    Mapping::parse(&text).map_err(|findings| {
        let lines: Vec<_> = findings
            .iter()
            .map(|finding| format!("\n  × {finding}"))
            .collect();
        Failure::new(Exit::Config, format!("{name}:{}", lines.concat()))
    })
}

async fn open(pair: &Pair) -> Result<Source, Failure> {
    let opened = Source::open(pair.source.clone(), pair.mapping.plan()).await;
    opened.map_err(|error| of(pair, error))
}

/// What is wrong with the source of this one, of perhaps many.
fn of(pair: &Pair, error: sources::SourceError) -> Failure {
    let failure = Failure::from(error);
    Failure {
        message: format!("{}: {}", pair.name, failure.message),
        ..failure
    }
}

async fn check(pairs: Vec<Pair>, output: Output) -> Result<Exit, Failure> {
    let mut exit = Exit::Fine;
    let (mut lines, mut reports) = (Vec::new(), Vec::new());
    for pair in pairs {
        let rooftops = app::with_rooftops(&pair.profile, &pair.source, &pair.mapping);
        let (profile, mut findings) = rooftops.await.map_err(|error| of(&pair, error))?;
        let known = (!profile.rooftops.is_empty()).then_some(&*profile);
        let stock = app::take_stock(&open(&pair).await?, &pair.mapping, known).await;
        let tally = stock.map_err(|error| of(&pair, error))?;
        findings.extend(tally.findings.iter().cloned());
        if tally.report.has_findings() || !findings.is_empty() {
            exit = Exit::Findings;
        }
        lines.push(
            format!("{}\n{}", pair.name, tally.report)
                .trim_end()
                .to_owned(),
        );
        lines.extend(findings.iter().map(|finding| format!("  × {finding}")));
        let mut report = tally.report.to_json();
        if let Some(report) = report.as_object_mut() {
            report.insert("deployment".to_owned(), pair.name.into());
            report.insert("mapping".to_owned(), pair.mapping.name().into());
            report.insert("findings".to_owned(), json!(findings));
        }
        reports.push(report);
    }
    output.print(
        &lines.join("\n"),
        &json!({ "schema_version": 1, "mappings": reports }),
    )?;
    Ok(exit)
}

async fn explain(pairs: Vec<Pair>, vehicle: &str, output: Output) -> Result<Exit, Failure> {
    let mut found = Vec::new();
    for pair in pairs {
        let mapping = &pair.mapping;
        let take = |row: Row, tables: &Tables| {
            if names(&mapping.apply(&row, tables), vehicle) {
                found.push(mapping.explain(&row, tables).to_string());
            }
        };
        let read = open(&pair).await?.read(take).await;
        read.map_err(|error| of(&pair, error))?;
    }
    if found.is_empty() {
        return Err(Failure::new(
            Exit::Findings,
            "no row became a vehicle with this id, VIN or stock number",
        ));
    }
    output.print(
        found.join("\n").trim_end(),
        &json!({ "schema_version": 1, "explanations": found }),
    )?;
    Ok(Exit::Fine)
}

fn names(outcome: &Outcome, vehicle: &str) -> bool {
    let is = |id: Option<&str>| id.is_some_and(|id| id.eq_ignore_ascii_case(vehicle));
    let any = |ids: &Identifiers| {
        is(ids.vehicle_id.as_deref()) || is(ids.vin.as_deref()) || is(ids.stock.as_deref())
    };
    match outcome {
        Outcome::Published(listing, _) => ["vehicle_id", "vin", "stock"]
            .into_iter()
            .any(|key| is(listing.get(key).and_then(Value::as_str))),
        Outcome::Hidden { identifiers, .. } | Outcome::Rejected { identifiers, .. } => {
            any(identifiers)
        }
    }
}

impl From<sources::SourceError> for Failure {
    fn from(error: sources::SourceError) -> Self {
        let exit = match error.fault {
            sources::Fault::Settings => Exit::Config,
            sources::Fault::Unreachable
            | sources::Fault::Refused
            | sources::Fault::Query
            | sources::Fault::Data
            | sources::Fault::Limit
            | sources::Fault::Timeout => Exit::Unavailable,
        };
        Self::new(exit, error.to_string())
    }
}
