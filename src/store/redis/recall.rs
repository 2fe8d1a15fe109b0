//! What a journal says, put together: the leads that this process accepted and how far it got with each
//! delivery. Must not read files.

use std::collections::{BTreeMap, BTreeSet};

use jiff::{SignedDuration, Timestamp};

use super::super::INTERRUPTED_DURING;
use super::super::rows::{Acceptance, DeliveryState};
use super::journal::Entry;

/// How long after the end of its key a lead stays in the journal when its delivery's end is not known here.
const LINGER: SignedDuration = SignedDuration::from_hours(30 * 24);

/// Everything a journal says.
#[derive(Debug, Default)]
pub(super) struct Recall {
    pub(super) accepted: BTreeMap<String, Acceptance>,
    /// By lead and target: the last attempt of this process.
    pub(super) attempts: BTreeMap<(String, String), Attempted>,
    pub(super) members: BTreeSet<String>,
}

/// The last attempt of this process at a delivery.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Attempted {
    pub(super) attempt: u32,
    /// Its end; `None` when it began to transmit and nothing more is known.
    pub(super) end: Option<(DeliveryState, String, Timestamp)>,
}

impl Attempted {
    /// What must not be undone by a Redis that forgot it: the end if it is final, and that it may have
    /// been taken. An attempt that certainly failed leaves nothing to remember.
    pub(super) fn lasting(&self) -> Option<(DeliveryState, &str)> {
        match &self.end {
            None => Some((DeliveryState::Held, INTERRUPTED_DURING)),
            Some((DeliveryState::Queued | DeliveryState::Waiting | DeliveryState::Sending, ..)) => {
                None
            }
            Some((state, detail, _)) => Some((*state, detail)),
        }
    }
}

impl Recall {
    /// Reads the lines; one that cannot be read is passed over, since the others still count.
    pub(super) fn of(text: &str) -> Self {
        let mut recall = Self::default();
        for line in text.lines() {
            if let Ok(entry) = serde_json::from_str(line) {
                recall.take(entry);
            } else {
                tracing::error!("store: an unreadable line in the journal");
            }
        }
        recall
    }

    fn take(&mut self, entry: Entry) {
        match entry {
            Entry::Accepted(acceptance) => {
                self.accepted
                    .insert(acceptance.lead_id.clone(), *acceptance);
            }
            Entry::Void(lead_id) => {
                self.accepted.remove(&lead_id);
            }
            Entry::Begun {
                lead_id,
                target,
                attempt,
            } => {
                let begun = Attempted { attempt, end: None };
                self.attempts.insert((lead_id, target), begun);
            }
            Entry::Ended {
                lead_id,
                target,
                attempt,
                state,
                detail,
                at,
            } => {
                let end = DeliveryState::from_id(&state).map(|state| (state, detail, at));
                self.attempts
                    .insert((lead_id, target), Attempted { attempt, end });
            }
            Entry::Members(members) => self.members = members,
            Entry::Erased(lead_id) => {
                self.accepted.remove(&lead_id);
                self.attempts.retain(|(lead, _), _| *lead != lead_id);
            }
        }
    }

    /// The leads it still holds.
    pub(super) fn lead_ids(&self) -> BTreeSet<String> {
        let attempted = self.attempts.keys().map(|(lead, _)| lead.clone());
        self.accepted.keys().cloned().chain(attempted).collect()
    }

    /// The same in as few lines as possible, without what can no longer matter.
    pub(super) fn lines(&self, now: Timestamp) -> String {
        let members = Entry::Members(self.members.clone());
        let accepted = self
            .accepted
            .values()
            .filter(|one| self.matters(one, now))
            .map(|one| Entry::Accepted(Box::new(one.clone())));
        let attempts = self
            .attempts
            .iter()
            .filter(|((lead, _), attempted)| {
                let known = self.accepted.get(lead);
                known.map_or_else(
                    || attempted.is_recent(now),
                    |acceptance| self.matters(acceptance, now),
                )
            })
            .map(|((lead, target), attempted)| attempted.entry(lead, target));
        let mut text = String::new();
        for entry in std::iter::once(members).chain(accepted).chain(attempts) {
            if let Ok(line) = serde_json::to_string(&entry) {
                text.push_str(&line);
                text.push('\n');
            }
        }
        text
    }

    /// Whether losing the lead could still hurt: its key is live, or its deliveries may be open.
    fn matters(&self, acceptance: &Acceptance, now: Timestamp) -> bool {
        let ended = |target: &str| {
            let key = (acceptance.lead_id.clone(), target.to_owned());
            let last = self.attempts.get(&key).and_then(Attempted::lasting);
            matches!(
                last,
                Some((DeliveryState::Delivered | DeliveryState::Refused, _))
            )
        };
        let mut deliveries = acceptance.deliveries.iter();
        let open = !deliveries.all(|delivery| ended(&delivery.target));
        let until = acceptance.key_expires_at;
        let lingers = until.saturating_add(LINGER).unwrap_or(Timestamp::MAX);
        now < until || (open && now < lingers)
    }
}

impl Attempted {
    fn is_recent(&self, now: Timestamp) -> bool {
        self.end
            .as_ref()
            .is_none_or(|(_, _, at)| now.duration_since(*at) < LINGER)
    }

    fn entry(&self, lead_id: &str, target: &str) -> Entry {
        let (lead_id, target) = (lead_id.to_owned(), target.to_owned());
        match &self.end {
            None => Entry::Begun {
                lead_id,
                target,
                attempt: self.attempt,
            },
            Some((state, detail, at)) => Entry::Ended {
                lead_id,
                target,
                attempt: self.attempt,
                state: state.id().to_owned(),
                detail: detail.clone(),
                at: *at,
            },
        }
    }
}
