//! Looking at leads; changes nothing.

use std::fmt::Write as _;
use std::io::{self, Write as _};

use serde_json::{Value, json};

use super::{Desk, Exit, Failure, Output};
use crate::delivery::Content;
use crate::leads::adf;
use crate::store::{Attempt, Delivery, DeliveryState, Lead, LeadFilter};

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
        limit: limit.max(1),
        ..LeadFilter::default()
    };
    let leads = desk.store.leads(&filter).await?;
    let lines: Vec<String> = leads.iter().map(line).collect();
    let text = if lines.is_empty() {
        "no leads".to_owned()
    } else {
        lines.join("\n")
    };
    let leads: Vec<Value> = leads.iter().map(summary).collect();
    output.print(&text, &json!({ "schema_version": 1, "leads": leads }))?;
    Ok(Exit::Fine)
}

fn line(lead: &Lead) -> String {
    let deliveries: Vec<_> = lead
        .deliveries
        .iter()
        .map(|delivery| format!("{}: {}", delivery.target, delivery.state.id()))
        .collect();
    format!(
        "{}  {:.0}  {}  {}",
        lead.lead_id,
        lead.accepted_at,
        lead.deployment,
        deliveries.join(", ")
    )
}

/// A lead without customer data.
fn summary(lead: &Lead) -> Value {
    json!({
        "lead_id": lead.lead_id,
        "deployment": lead.deployment,
        "dealer": lead.dealer,
        "accepted_at": lead.accepted_at,
        "deliveries": lead.deliveries.iter().map(delivery).collect::<Vec<_>>(),
    })
}

fn delivery(delivery: &Delivery) -> Value {
    json!({
        "name": delivery.target,
        "state": delivery.state.id(),
        "attempts": delivery.attempts,
        "due_at": delivery.due_at,
        "updated_at": delivery.updated_at,
        "detail": delivery.detail,
    })
}

/// Everything known about a lead.
async fn whole(desk: &Desk, lead: &Lead) -> Result<Value, Failure> {
    let record = desk.record(lead)?;
    let attempts = desk.store.attempts(&lead.lead_id).await?;
    let mut whole = summary(lead);
    if let Some(object) = whole.as_object_mut() {
        object.insert("record".to_owned(), json!(record));
        let answer = serde_json::from_str(&lead.answer).unwrap_or(Value::Null);
        object.insert("answer".to_owned(), answer);
        object.insert("history".to_owned(), attempts.iter().map(attempt).collect());
    }
    Ok(whole)
}

fn attempt(attempt: &Attempt) -> Value {
    json!({
        "delivery": attempt.target,
        "attempt": attempt.number,
        "at": attempt.at,
        "state": attempt.state.id(),
        "detail": attempt.detail,
    })
}

pub(super) async fn show(desk: &Desk, id: &str, output: Output) -> Result<Exit, Failure> {
    let lead = desk.lead(id).await?;
    let whole = whole(desk, &lead).await?;
    let mut text = line(&lead);
    for entry in desk.store.attempts(id).await? {
        // Writing to a string cannot fail.
        let _fine = write!(
            text,
            "\n  {:.0}  {}  attempt {}: {}  {}",
            entry.at,
            entry.target,
            entry.number,
            entry.state.id(),
            entry.detail
        );
    }
    for part in ["record", "answer"] {
        let _fine = write!(
            text,
            "\n{part}\n{:#}",
            whole.get(part).unwrap_or(&Value::Null)
        );
    }
    output.print(&text, &json!({ "schema_version": 1, "lead": whole }))?;
    Ok(Exit::Fine)
}

pub(super) async fn render(
    desk: &Desk,
    id: &str,
    name: Option<&str>,
    output: Output,
) -> Result<Exit, Failure> {
    let lead = desk.lead(id).await?;
    let name = name.or_else(|| {
        lead.deliveries
            .first()
            .map(|delivery| delivery.target.as_str())
    });
    let deployment = desk
        .config
        .deployments
        .iter()
        .find(|deployment| deployment.id == lead.deployment);
    let settings = deployment.and_then(|deployment| deployment.leads.as_ref());
    let target = settings.and_then(|settings| {
        settings
            .targets
            .iter()
            .find(|target| Some(target.name.as_str()) == name)
    });
    let (Some(settings), Some(target)) = (settings, target) else {
        let words = format!(
            "{} is not a delivery of {}",
            name.unwrap_or("nothing"),
            lead.deployment
        );
        return Err(Failure::new(Exit::Usage, words));
    };
    let record = desk.record(&lead)?;
    let rendered = adf::render(id, lead.accepted_at, &record, &target.profile, settings)
        .map_err(|error| Failure::new(Exit::Findings, error.to_string()))?;
    let (form, content) = match &rendered.content {
        Content::Adf(text) => ("adf", text),
        Content::Text(text) => ("text", text),
    };
    let value = json!({ "schema_version": 1, "subject": rendered.subject, "form": form, "content": content });
    output.print(content, &value)?;
    Ok(Exit::Fine)
}

pub(super) async fn export(desk: &Desk, deployment: Option<String>) -> Result<Exit, Failure> {
    let filter = LeadFilter {
        deployment,
        ..LeadFilter::default()
    };
    let mut ids = Vec::new();
    desk.each(filter, |lead| {
        ids.push(lead.lead_id);
        Ok(())
    })
    .await?;
    for id in ids {
        let lead = desk.lead(&id).await?;
        let whole = whole(desk, &lead).await?;
        writeln!(io::stdout().lock(), "{whole}")?;
    }
    Ok(Exit::Fine)
}
