//! `forecourt check`: everything that `serve` does before it listens, save opening the store.

use std::fmt::Write as _;
use std::sync::Arc;

use serde_json::{Value, json};

use super::failure::{Exit, Failure};
use super::output::Output;
use crate::app::{self, Tally};
use crate::config::{Config, Deployment, Inventory, Sources};
use crate::leads;
use crate::profile::Profile;
use crate::seal::KeyRing;
use crate::sources::{Source, SourceError};

pub(super) async fn run(sources: &Sources, offline: bool, output: Output) -> Result<Exit, Failure> {
    let config = Config::load(sources)?;
    if !config.keys.create {
        KeyRing::read(&config.keys.file)
            .map_err(|error| Failure::new(Exit::Config, error.to_string()))?;
    }
    let mut text = String::from("config\n");
    for file in config.tree.files() {
        // Writing to a string cannot fail.
        let _fine = writeln!(text, "  √ {}", file.display());
    }
    let mut exit = Exit::Fine;
    let mut sellers = Vec::new();
    for deployment in &config.deployments {
        if let Err(error) = app::check_sellers(&config, deployment) {
            let _fine = writeln!(text, "sellers of {}\n  × {error}", deployment.id);
            sellers.push(json!({ "deployment": deployment.id, "error": error.to_string() }));
            exit = Exit::Config;
        }
    }
    let mut checks = Vec::new();
    let inventories = config.deployments.iter().flat_map(|deployment| {
        let own = deployment.inventories().into_iter();
        own.map(move |one| (deployment, one))
    });
    for (deployment, (name, profile, inventory)) in inventories.filter(|_| !offline) {
        let result = read(deployment, profile, inventory).await;
        let _fine = writeln!(text, "inventory of {name}");
        let (found, line, value) = describe(&name, &result);
        text.push_str(&line);
        checks.push(value);
        exit = worse(exit, found);
    }
    let value = json!({
        "schema_version": 1, "ok": exit == Exit::Fine, "sellers": sellers, "inventories": checks,
    });
    output.print(text.trim_end(), &value)?;
    Ok(exit)
}

async fn read(
    deployment: &Deployment,
    configured: &Arc<Profile>,
    inventory: &Inventory,
) -> Result<Tally, SourceError> {
    let (source, mapping) = (&inventory.source, &inventory.mapping);
    let (profile, mut findings) = app::with_rooftops(configured, source, mapping).await?;
    // Configured rooftops were looked at with the configuration.
    if let Some(leads) = deployment
        .leads
        .as_ref()
        .filter(|_| configured.rooftops.is_empty())
    {
        let found = leads::check_receiver(leads, &profile).into_iter();
        findings.extend(found.map(|finding| format!("{}: {}", finding.reason, finding.remedy)));
    }
    let source = Source::open(source.clone(), mapping.plan()).await?;
    let mut tally = app::take_stock(&source, mapping, Some(&profile)).await?;
    tally.findings.splice(..0, findings);
    Ok(tally)
}

fn describe(id: &str, result: &Result<Tally, SourceError>) -> (Exit, String, Value) {
    let tally = match result {
        Ok(tally) => tally,
        Err(error) => {
            // What `serve` makes of it (app/first.rs).
            let served = if error.fault.is_lasting() {
                "`serve` does not start with it, unless this inventory was served before"
            } else {
                "`serve` starts without this inventory and tries again"
            };
            let value = json!({ "deployment": id, "error": error.to_string(), "served": served });
            return (
                Exit::Unavailable,
                format!("  × {error}\n    {served}\n"),
                value,
            );
        }
    };
    let report = &tally.report;
    let (rows, published) = (report.rows(), report.published());
    let (hidden, left_out) = (report.hidden(), report.left_out());
    let mut text =
        format!("  √ {rows} rows: {published} published, {hidden} hidden, {left_out} left out\n");
    for finding in &tally.findings {
        let _fine = writeln!(text, "  × {finding}");
    }
    let value = json!({
        "deployment": id,
        "rows": rows,
        "published": published,
        "hidden": hidden,
        "left_out": left_out,
        "findings": tally.findings,
    });
    let found = if tally.findings.is_empty() {
        Exit::Fine
    } else {
        Exit::Findings
    };
    (found, text, value)
}

/// An unreachable source outweighs a finding.
fn worse(one: Exit, other: Exit) -> Exit {
    if (one as u8) < (other as u8) {
        other
    } else {
        one
    }
}
