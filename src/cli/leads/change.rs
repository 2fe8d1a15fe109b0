//! What a person decides about deliveries, and the erasing of leads. Sends nothing itself: the running
//! process finds what is due in the outbox.

use jiff::ToSpan as _;
use serde_json::json;

use super::{Decision, Desk, Exit, Failure, Output};
use crate::store::{DeliveryState, Ending, LeadFilter};

/// Leads removed in one step.
const REMOVED_AT_ONCE: usize = 500;

pub(super) async fn retry(
    desk: &Desk,
    id: &str,
    name: Option<&str>,
    output: Output,
) -> Result<Exit, Failure> {
    let lead = desk.lead(id).await?;
    let mut queued = Vec::new();
    for delivery in lead
        .deliveries
        .iter()
        .filter(|delivery| name.is_none_or(|name| name == delivery.target))
    {
        let from = [DeliveryState::Refused, DeliveryState::Waiting];
        if decide(
            desk,
            id,
            &delivery.target,
            &from,
            DeliveryState::Queued,
            "retry asked for by a person",
        )
        .await?
        {
            queued.push(delivery.target.clone());
        }
    }
    if queued.is_empty() {
        let failure = Failure::new(
            Exit::Findings,
            format!("{id}: no delivery was refused or waits"),
        );
        return Err(failure.hint(
            "a held delivery may have arrived: ask its receiver, then `forecourt leads resolve`",
        ));
    }
    let text = format!("{id}: queued {}", queued.join(", "));
    output.print(
        &text,
        &json!({ "schema_version": 1, "lead_id": id, "queued": queued }),
    )?;
    Ok(Exit::Fine)
}

pub(super) async fn resolve(
    desk: &Desk,
    id: &str,
    name: &str,
    decision: Decision,
    output: Output,
) -> Result<Exit, Failure> {
    desk.lead(id).await?;
    let (state, detail) = match decision {
        Decision::Delivered => (DeliveryState::Delivered, "a person says that it arrived"),
        Decision::Resend => (
            DeliveryState::Queued,
            "a person says that it did not arrive",
        ),
        Decision::Refused => (DeliveryState::Refused, "given up by a person"),
    };
    if !decide(desk, id, name, &[DeliveryState::Held], state, detail).await? {
        let failure = Failure::new(Exit::Findings, format!("{id}: delivery {name} is not held"));
        return Err(failure.hint("`forecourt leads show` tells where it stands"));
    }
    let text = format!("{id}: {name} is now {}", state.id());
    output.print(
        &text,
        &json!({ "schema_version": 1, "lead_id": id, "delivery": name, "state": state.id() }),
    )?;
    Ok(Exit::Fine)
}

async fn decide(
    desk: &Desk,
    id: &str,
    name: &str,
    from: &[DeliveryState],
    state: DeliveryState,
    detail: &str,
) -> Result<bool, Failure> {
    let now = desk.clock.now();
    let ending = Ending {
        state,
        due_at: (state == DeliveryState::Queued).then_some(now),
        detail: detail.to_owned(),
    };
    Ok(desk.store.decide(id, name, from, ending, now).await?)
}

pub(super) async fn purge(
    desk: &Desk,
    lead: Option<String>,
    older_than_days: Option<u32>,
    yes: bool,
    output: Output,
) -> Result<Exit, Failure> {
    let ids = match (lead, older_than_days) {
        (Some(id), _) => vec![desk.lead(&id).await?.lead_id],
        (None, days) => finished_before(desk, days.unwrap_or(u32::MAX)).await?,
    };
    let mut removed = 0;
    if yes {
        for some in ids.chunks(REMOVED_AT_ONCE) {
            removed += desk.store.remove(some).await?;
        }
    }
    let text = if yes {
        format!("{removed} leads erased")
    } else {
        format!("{} leads would be erased; repeat with --yes", ids.len())
    };
    output.print(
        &text,
        &json!({ "schema_version": 1, "found": ids.len(), "erased": removed }),
    )?;
    Ok(Exit::Fine)
}

/// Leads whose every delivery is at its end, so that nothing undelivered is lost.
async fn finished_before(desk: &Desk, days: u32) -> Result<Vec<String>, Failure> {
    let span = (i64::from(days).min(36_500) * 24).hours();
    let before = desk.clock.now().checked_sub(span);
    let filter = LeadFilter {
        accepted_before: Some(
            before.map_err(|error| Failure::new(Exit::Usage, error.to_string()))?,
        ),
        ..LeadFilter::default()
    };
    let mut ids = Vec::new();
    desk.each(filter, |lead| {
        let ended = |state| matches!(state, DeliveryState::Delivered | DeliveryState::Refused);
        if lead.deliveries.iter().all(|delivery| ended(delivery.state)) {
            ids.push(lead.lead_id);
        }
        Ok(())
    })
    .await?;
    Ok(ids)
}
