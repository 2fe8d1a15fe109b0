//! Looking at leads; changes nothing.

use std::io::{self, Write as _};

use serde_json::{Value, json};

use super::super::adf;
use super::{Desk, Exit, Failure, Output};
use crate::leads::{Dossier, Event, Summary};
use crate::store::{DeliveryState, LeadFilter};

pub(super) async fn list(
    desk: &Desk,
    deployment: Option<String>,
    state: Option<DeliveryState>,
    limit: u32,
    output: Output,
) -> Result<Exit, Failure> {
    let filter = LeadFilter {
        deployment,
        state,
        // One more than is shown tells whether there are more.
        limit: limit.saturating_add(1),
        ..LeadFilter::default()
    };
    let mut leads = desk.ledger.list(&filter).await?;
    if leads.is_empty() {
        desk.know(filter.deployment.as_deref())?;
    }
    let shown = usize::try_from(limit).unwrap_or(usize::MAX);
    let more = leads.len() > shown;
    leads.truncate(shown);
    let mut lines: Vec<String> = leads.iter().map(line).collect();
    if lines.is_empty() {
        lines.push("no leads".to_owned());
    }
    if more {
        lines.push(format!("… and older ones: --limit shows more than {limit}"));
    }
    let value = json!({ "schema_version": 1, "leads": leads, "more": more });
    output.print(&lines.join("\n"), &value)?;
    Ok(Exit::Fine)
}

fn line(lead: &Summary) -> String {
    let deliveries: Vec<_> = lead
        .deliveries
        .iter()
        .map(|delivery| format!("{}: {}", delivery.target, delivery.state))
        .collect();
    format!(
        "{}  {:.0}  {}  {}",
        lead.lead_id,
        lead.accepted_at,
        lead.deployment,
        deliveries.join(", ")
    )
}

pub(super) async fn show(desk: &Desk, id: &str, output: Output) -> Result<Exit, Failure> {
    let dossier = desk.ledger.show(id).await?;
    let mut lines = vec![line(&dossier.summary)];
    lines.extend(dossier.history.iter().map(event));
    for (name, part) in parts(&dossier) {
        lines.push(format!("{name}\n{part:#}"));
    }
    output.print(
        &lines.join("\n"),
        &json!({ "schema_version": 1, "lead": dossier }),
    )?;
    Ok(Exit::Fine)
}

fn event(event: &Event) -> String {
    let Event {
        target,
        attempt,
        at,
        state,
        detail,
    } = event;
    format!("  {at:.0}  {target}  attempt {attempt}: {state}  {detail}")
}

fn parts(dossier: &Dossier) -> [(&'static str, Value); 2] {
    [
        ("record", json!(dossier.record)),
        ("answer", dossier.answer.clone()),
    ]
}

pub(super) async fn render(
    desk: &Desk,
    id: &str,
    name: Option<&str>,
    output: Output,
) -> Result<Exit, Failure> {
    let lead = desk.ledger.show(id).await?.summary;
    let first = || {
        lead.deliveries
            .first()
            .map(|delivery| delivery.target.as_str())
    };
    let name = name.or_else(first).unwrap_or("nothing");
    let mut deployments = desk.config.deployments.iter();
    let settings = deployments
        .find(|deployment| deployment.id == lead.deployment)
        .and_then(|deployment| deployment.leads.as_ref());
    let target = settings.and_then(|s| s.targets.iter().find(|target| target.name == name));
    let (Some(settings), Some(target)) = (settings, target) else {
        let words = format!("{name} is not a delivery of {}", lead.deployment);
        return Err(Failure::new(Exit::Usage, words));
    };
    let rendered = desk.ledger.render(id, &target.profile, settings).await?;
    adf::show(&rendered, output)
}

pub(super) async fn export(desk: &Desk, deployment: Option<String>) -> Result<Exit, Failure> {
    let filter = LeadFilter {
        deployment,
        ..LeadFilter::default()
    };
    let mut lines = 0_u64;
    let print = |line: String| {
        lines += 1;
        if lines.is_multiple_of(super::WORD_EVERY) {
            tracing::info!(lines, "leads: exporting");
        }
        writeln!(io::stdout().lock(), "{line}")
    };
    if desk.ledger.export(&filter, print).await? == 0 {
        desk.know(filter.deployment.as_deref())?;
    }
    Ok(Exit::Fine)
}
