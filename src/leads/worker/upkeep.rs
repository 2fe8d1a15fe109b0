//! What a worker does now and then for the whole desk. Must not send anything.

use std::sync::Arc;

use jiff::SignedDuration;

use super::super::alerts::Event;
use super::super::{Leads, Ledger, Purge};
use super::log;

/// Takes over from processes that ended, and completes leads whose answer never came.
pub(super) async fn recover(leads: &Leads) {
    match leads.store.recover(leads.clock.now()).await {
        Ok(found) => {
            log::took_over(found);
            for _ in 0..found.held {
                leads.notices.say(Event::TakenOver, "", "");
            }
        }
        Err(error) => log::store_failed(leads, &error),
    }
    if let Err(error) = leads.finish_overdue().await {
        log::not_completed(leads, &error);
    }
}

/// Takes out old leads, where the operator set an age.
pub(super) async fn tidy(leads: &Leads) {
    let now = leads.clock.now();
    let Some(keep) = leads.settings.keep_ledger else {
        return;
    };
    let (store, keys) = (Arc::clone(&leads.store), Arc::clone(&leads.keys));
    let age = SignedDuration::try_from(keep).unwrap_or(SignedDuration::MAX);
    let purge = Purge {
        deployment: Some(leads.settings.deployment.clone()),
        before: now.checked_sub(age).ok(),
        ..Purge::default()
    };
    if purge.before.is_none() {
        return;
    }
    match Ledger::new(store, keys, leads.clock.clone())
        .purge(&purge, false)
        .await
    {
        Ok(purged) => log::purged(leads, purged.leads),
        Err(error) => log::not_purged(leads, &error),
    }
}
