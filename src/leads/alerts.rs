//! Tells the operator what needs a person: ids and states, never a customer's value. Several at once become one
//! message. What is said here stands in the ledger, too; a message that gets lost loses no lead.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::{Notify, watch};

use super::Leads;
use super::settings::AlertSettings;
use crate::delivery::{Content, MailEncoding, MailLayout, Outcome, Parcel, Target};
use crate::store::DeliveryState;

/// How long events are collected for one message.
const COLLECT: Duration = Duration::from_secs(5);
/// The most leads that one message names.
const NAMED: usize = 20;
/// How often a message is tried, and how long is waited between.
const TRIES: u32 = 5;
const PAUSE: Duration = Duration::from_secs(10);

/// What needs a person.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Event {
    /// A delivery whose outcome is unknown.
    Held,
    /// A delivery that another process was sending when it ended; whose lead it is, is not known here.
    TakenOver,
    /// A delivery that was refused or given up: a dead letter.
    Refused,
    /// A target that is left alone because it fails again and again.
    Paused,
    /// An appointment that a person must settle.
    Appointment,
}

impl Event {
    /// What a state asks of a person.
    pub(super) fn of(state: DeliveryState) -> Option<Self> {
        match state {
            DeliveryState::Held => Some(Self::Held),
            DeliveryState::Refused => Some(Self::Refused),
            DeliveryState::Queued
            | DeliveryState::Sending
            | DeliveryState::Delivered
            | DeliveryState::Waiting => None,
        }
    }

    fn words(self) -> &'static str {
        match self {
            Self::Held => {
                "held: the outcome is unknown; ask the receiver, then `forecourt leads resolve`"
            }
            Self::TakenOver => {
                "held, of whichever deployment: another process ended while it sent them; `forecourt leads list \
                 --state held` names them"
            }
            Self::Refused => "refused or given up; mend the cause, then `forecourt leads retry`",
            Self::Paused => "the receiver fails again and again and is left alone for a while",
            Self::Appointment => "an appointment must be settled by a person",
        }
    }
}

/// What happened since the last message.
#[derive(Debug, Default)]
pub(super) struct Notices {
    collected: Mutex<BTreeMap<(Event, String), Vec<String>>>,
    come: Notify,
}

impl Notices {
    pub(super) fn say(&self, event: Event, target: &str, lead_id: &str) {
        let mut collected = self
            .collected
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let leads = collected.entry((event, target.to_owned())).or_default();
        leads.push(lead_id.to_owned());
        self.come.notify_one();
    }

    fn take(&self) -> BTreeMap<(Event, String), Vec<String>> {
        let mut collected = self
            .collected
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut *collected)
    }
}

/// A way to the operator, open.
#[derive(Debug)]
pub(super) struct Line {
    name: String,
    target: Target,
}

impl Line {
    pub(super) fn open(settings: &AlertSettings) -> Result<Self, crate::delivery::DeliveryError> {
        Ok(Self {
            name: settings.name.clone(),
            target: Target::new(&settings.delivery)?,
        })
    }
}

/// Sends messages until `stop` turns true; then sends what is there and returns.
pub(super) async fn run(leads: Arc<Leads>, mut stop: watch::Receiver<bool>) {
    while !*stop.borrow() {
        tokio::select! {
            () = stopped(&mut stop) => {}
            () = leads.notices.come.notified() => within(COLLECT, &mut stop).await,
        }
        send(&leads, &stop).await;
    }
}

async fn send(leads: &Leads, stop: &watch::Receiver<bool>) {
    let collected = leads.notices.take();
    if collected.is_empty() {
        return;
    }
    let count: usize = collected.values().map(Vec::len).sum();
    let parcel = Parcel {
        correlation: format!("alert-{}", uuid::Uuid::new_v4().simple()),
        subject: format!(
            "Forecourt: {count} things need a person ({})",
            leads.settings.deployment
        ),
        content: Content::Text(words(&leads.settings.deployment, &collected)),
        layout: MailLayout::Body,
        encoding: MailEncoding::Auto,
        reply_to: None,
        date: leads.clock.now(),
    };
    for line in &leads.alerts {
        if tell(line, &parcel, stop).await {
            leads.counters.alerted();
        }
    }
}

/// Tries one line a few times; twice told is better here than not at all.
async fn tell(line: &Line, parcel: &Parcel, stop: &watch::Receiver<bool>) -> bool {
    let mut stop = stop.clone();
    for _ in 0..TRIES {
        let outcome = match line.target.prepare(parcel).await {
            Ok(ready) => ready.transmit().await,
            Err(outcome) => outcome,
        };
        let reason = match outcome {
            Outcome::Delivered(_) => return true,
            Outcome::Refused(reason)
            | Outcome::Retry(reason)
            | Outcome::Later(reason, _)
            | Outcome::Unknown(reason) => reason,
        };
        not_told(&line.name, &reason);
        if *stop.borrow() {
            break;
        }
        within(PAUSE, &mut stop).await;
    }
    false
}

/// Waits until it is time to stop.
pub(super) async fn stopped(stop: &mut watch::Receiver<bool>) {
    // A sender that is gone means the same.
    drop(stop.wait_for(|stop| *stop).await);
}

/// Waits so long, or until it is time to stop.
async fn within(pause: Duration, stop: &mut watch::Receiver<bool>) {
    tokio::select! {
        () = stopped(stop) => {}
        () = tokio::time::sleep(pause) => {}
    }
}

fn not_told(alert: &str, reason: &str) {
    tracing::error!(alert, reason, "leads: the operator could not be told");
}

fn words(deployment: &str, collected: &BTreeMap<(Event, String), Vec<String>>) -> String {
    let mut lines = vec![format!("Deployment {deployment}:")];
    for ((event, target), leads) in collected {
        let place = if target.is_empty() {
            "deliveries"
        } else {
            target
        };
        lines.push(format!("{} x {place}: {}", leads.len(), event.words()));
        let named = leads.iter().filter(|lead| !lead.is_empty());
        lines.extend(named.take(NAMED).map(|lead| format!("  {lead}")));
        if leads.len() > NAMED {
            lines.push("  … `forecourt leads list` names all".to_owned());
        }
    }
    lines.push(String::new());
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_counts_all_and_names_a_few() {
        let notices = Notices::default();
        for number in 0..30 {
            notices.say(Event::Held, "crm", &format!("lead_{number}"));
        }
        notices.say(Event::Appointment, "scheduling", "lead_x");
        notices.say(Event::TakenOver, "", "");
        let text = words("demo", &notices.take());
        assert!(text.contains("30 x crm: held"), "{text}");
        assert!(
            text.contains("lead_19") && !text.contains("lead_20"),
            "{text}"
        );
        assert!(text.contains("1 x scheduling: an appointment"), "{text}");
        assert!(
            text.contains("1 x deliveries: held, of whichever deployment"),
            "{text}"
        );
        assert!(notices.take().is_empty());
    }
}
