//! What a person decides about deliveries, and the erasing of leads. Sends nothing itself: the running
//! process finds what is due in the outbox.

use jiff::ToSpan as _;
use serde_json::json;

use super::{Delivery, Desk, Exit, Failure, Output, Purge};
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
    let before = asked.older_than_days.map(|days| {
        let span = (i64::from(days).min(36_500) * 24).hours();
        desk.clock.now().checked_sub(span)
    });
    let usage = |error: jiff::Error| Failure::new(Exit::Usage, error.to_string());
    let purge = leads::Purge {
        lead_id: asked.lead,
        before: before.transpose().map_err(usage)?,
        customer: asked.customer,
        undelivered_too: asked.undelivered_too,
        ..leads::Purge::default()
    };
    let found = desk.ledger.purge(&purge, !asked.yes).await?;
    let mut words = vec![if asked.yes {
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
    let erased = if asked.yes { found.leads } else { 0 };
    output.print(
        &words.join("; "),
        &json!({
            "schema_version": 1, "found": found.leads, "erased": erased,
            "undelivered": found.undelivered, "unreadable": found.unreadable,
        }),
    )?;
    Ok(Exit::Fine)
}
