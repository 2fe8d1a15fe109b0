//! What a person decides about deliveries, and the erasing of leads. Sends nothing itself: the running
//! process finds what is due in the outbox.

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::Path;

use jiff::ToSpan as _;
use serde_json::json;

use super::{Delivery, Desk, Exit, Failure, Output, Purge, WORD_EVERY};
use crate::leads::{self, Decision};

pub(super) async fn decide(
    desk: &Desk,
    delivery: Delivery,
    decision: Decision,
    output: Output,
) -> Result<Exit, Failure> {
    let Delivery { lead, name } = delivery;
    let done = desk.ledger.decide(&lead, name.as_deref(), decision).await?;
    let became = match decision {
        Decision::Retry | Decision::SendAgain => "queued",
        Decision::Hold => "held",
        Decision::ResolveDelivered => "delivered",
        Decision::GiveUp => "refused",
    };
    let text = format!("{lead}: {} is now {became}", done.join(", "));
    output.print(
        &text,
        &json!({ "schema_version": 1, "lead_id": lead, "deliveries": done, "state": became }),
    )?;
    Ok(Exit::Fine)
}

pub(super) async fn purge(desk: &Desk, asked: Purge, output: Output) -> Result<Exit, Failure> {
    let Purge {
        which,
        undelivered_too,
        yes,
    } = asked;
    let before = which.older_than_days.map(|days| {
        let span = (i64::from(days).min(36_500) * 24).hours();
        desk.clock.now().checked_sub(span)
    });
    let usage = |error: jiff::Error| Failure::new(Exit::Usage, error.to_string());
    let purge = leads::Purge {
        lead_id: which.lead,
        before: before.transpose().map_err(usage)?,
        customer: which.customer,
        undelivered_too,
        ..leads::Purge::default()
    };
    let found = desk.ledger.purge(&purge, !yes).await?;
    let mut words = vec![if yes {
        format!("{} leads erased", found.leads)
    } else {
        format!("{} leads would be erased; repeat with --yes", found.leads)
    }];
    if found.undelivered > 0 {
        words.push(format!(
            "{} are not delivered yet and stay",
            found.undelivered
        ));
    }
    if found.unreadable > 0 {
        words.push(format!(
            "{} cannot be read with these keys",
            found.unreadable
        ));
    }
    let erased = if yes { found.leads } else { 0 };
    output.print(
        &words.join("; "),
        &json!({
            "schema_version": 1, "found": found.leads, "erased": erased,
            "undelivered": found.undelivered, "unreadable": found.unreadable,
        }),
    )?;
    Ok(Exit::Fine)
}

/// Takes in exported leads line by line, and says how far it is.
pub(super) async fn import(desk: &Desk, file: &Path, output: Output) -> Result<Exit, Failure> {
    let reader: Box<dyn BufRead> = if file == Path::new("-") {
        Box::new(io::stdin().lock())
    } else {
        let opened = File::open(file);
        let opened = opened
            .map_err(|error| Failure::new(Exit::Usage, format!("{}: {error}", file.display())))?;
        Box::new(BufReader::new(opened))
    };
    let mut total = leads::Imported::default();
    for (at, line) in reader.lines().enumerate() {
        let number = at + 1;
        total += desk.ledger.import_line(number, &line?, seals(desk)).await?;
        if (number as u64).is_multiple_of(WORD_EVERY) {
            tracing::info!(lines = number, "leads: importing");
        }
    }
    let leads::Imported { leads, known, held } = total;
    let text = format!(
        "{leads} leads taken in, {known} were here already; {held} deliveries are held: they were being sent"
    );
    output.print(
        &text,
        &json!({ "schema_version": 1, "leads": leads, "known": known, "held": held }),
    )?;
    Ok(Exit::Fine)
}

/// Whether leads are sealed here: unless every deployment says no.
fn seals(desk: &Desk) -> bool {
    let mut settings = desk.config.deployments.iter();
    settings.any(|deployment| {
        deployment
            .leads
            .as_ref()
            .is_none_or(|leads| leads.seal_ledger)
    })
}

/// Says who is waited for, and goes on without them when that is meant.
pub(super) async fn confirm(desk: &Desk, yes: bool, output: Output) -> Result<Exit, Failure> {
    let waiting = desk.store.confirm(yes).await?;
    let text = match &waiting {
        None => "nothing is waited for: leads are accepted".to_owned(),
        Some(behind) if behind.is_empty() => {
            "a running process has to restore what it knows first".to_owned()
        }
        Some(behind) if yes => format!("going on without {}", behind.join(", ")),
        Some(behind) => format!(
            "leads wait for {}; repeat with --yes to go on without",
            behind.join(", ")
        ),
    };
    let value = json!({
        "schema_version": 1, "accepting": waiting.is_none(),
        "waiting_for": waiting.clone().unwrap_or_default(), "confirmed": yes && waiting.is_some(),
    });
    output.print(&text, &value)?;
    Ok(if waiting.is_none() || yes {
        Exit::Fine
    } else {
        Exit::Findings
    })
}
