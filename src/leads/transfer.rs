//! Leads from one store to another, as lines of JSON: with their keys, so that retries are recognised there,
//! and with their open deliveries, so that none is lost or sent twice.

use std::ops::AddAssign;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::ledger::{Ledger, LedgerError};
use super::record::Record;
use crate::store::{Attempt, Delivery, DeliveryState, KeyRow, LeadFilter, Restored};

/// How many leads are read at a time.
const PAGE: u32 = 200;

/// One exported lead. The record is plain: whoever holds the file holds customers' data.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Line {
    lead_id: String,
    deployment: String,
    dealer_id: String,
    accepted_at: Timestamp,
    record: Record,
    answer: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    key: Option<KeyLine>,
    deliveries: Vec<DeliveryLine>,
    history: Vec<AttemptLine>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct KeyLine {
    key: String,
    fingerprint: String,
    expires_at: Timestamp,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct DeliveryLine {
    target: String,
    state: String,
    attempts: u32,
    due_at: Timestamp,
    updated_at: Timestamp,
    detail: String,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct AttemptLine {
    target: String,
    number: u32,
    at: Timestamp,
    state: String,
    detail: String,
}

/// What an import did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Imported {
    pub leads: u64,
    /// Leads that were there already and were left as they are.
    pub known: u64,
    /// Deliveries that were being sent when they were exported: a person must look after them.
    pub held: u64,
}

impl AddAssign for Imported {
    fn add_assign(&mut self, more: Self) {
        self.leads += more.leads;
        self.known += more.known;
        self.held += more.held;
    }
}

impl Ledger {
    /// Gives each lead that fits to `sink`, as one line of JSON without its end; newest first.
    pub async fn export(
        &self,
        filter: &LeadFilter,
        mut sink: impl FnMut(String) -> std::io::Result<()>,
    ) -> Result<u64, LedgerError> {
        let mut filter = LeadFilter {
            limit: PAGE,
            ..filter.clone()
        };
        let mut exported = 0;
        loop {
            let page = self.store().leads(&filter).await?;
            let Some(last) = page.last() else { break };
            filter.after = Some((last.accepted_at, last.lead_id.clone()));
            for lead in page {
                let attempts = self.store().attempts(&lead.lead_id).await?;
                let key = self.store().key_row(&lead.lead_id).await?;
                let line = Line {
                    record: self.record(&lead)?,
                    lead_id: lead.lead_id,
                    deployment: lead.deployment,
                    dealer_id: lead.dealer,
                    accepted_at: lead.accepted_at,
                    answer: lead.answer,
                    key: key.map(KeyLine::of),
                    deliveries: lead.deliveries.into_iter().map(DeliveryLine::of).collect(),
                    history: attempts.into_iter().map(AttemptLine::of).collect(),
                };
                let text = serde_json::to_string(&line).map_err(std::io::Error::other);
                text.and_then(&mut sink).map_err(LedgerError::Write)?;
                exported += 1;
            }
        }
        Ok(exported)
    }

    /// Takes in one exported line. A lead that is there already stays as it is, so an import that was
    /// interrupted is simply repeated.
    pub async fn import_line(
        &self,
        number: usize,
        text: &str,
        seal: bool,
    ) -> Result<Imported, LedgerError> {
        let mut imported = Imported::default();
        if text.trim().is_empty() {
            return Ok(imported);
        }
        let fail = |cause: String| LedgerError::Import {
            line: number,
            cause,
        };
        // The parser's own words may quote customer data.
        let line: Line = serde_json::from_str(text)
            .map_err(|error| fail(format!("not an exported lead (column {})", error.column())))?;
        let sealing = seal.then_some(self.keys());
        let record = line.record.to_text(&line.lead_id, sealing);
        let record = record.map_err(|error| fail(error.to_string()))?;
        let sending = |one: &&DeliveryLine| one.state == DeliveryState::Sending.id();
        let held = line.deliveries.iter().filter(sending).count();
        let restored = line.restored(record).map_err(fail)?;
        if self.store().restore(restored, self.now()).await? {
            imported.leads = 1;
            imported.held = held as u64;
        } else {
            imported.known = 1;
        }
        Ok(imported)
    }
}

/// Why an imported delivery is held.
const INTERRUPTED: &str = "it was being sent when it was exported";

impl Line {
    fn restored(self, record: String) -> Result<Restored, String> {
        let deliveries = self.deliveries.into_iter().map(DeliveryLine::restored);
        let attempts = self.history.into_iter().map(AttemptLine::restored);
        Ok(Restored {
            lead_id: self.lead_id,
            deployment: self.deployment,
            dealer: self.dealer_id,
            accepted_at: self.accepted_at,
            record,
            answer: self.answer,
            key: self.key.map(|key| KeyRow {
                key: key.key,
                fingerprint: key.fingerprint,
                expires_at: key.expires_at,
            }),
            deliveries: deliveries.collect::<Result<_, _>>()?,
            attempts: attempts.collect::<Result<_, _>>()?,
        })
    }
}

impl KeyLine {
    fn of(row: KeyRow) -> Self {
        Self {
            key: row.key,
            fingerprint: row.fingerprint,
            expires_at: row.expires_at,
        }
    }
}

impl DeliveryLine {
    fn of(delivery: Delivery) -> Self {
        Self {
            target: delivery.target,
            state: delivery.state.id().to_owned(),
            attempts: delivery.attempts,
            due_at: delivery.due_at,
            updated_at: delivery.updated_at,
            detail: delivery.detail,
        }
    }

    fn restored(self) -> Result<Delivery, String> {
        let (mut state, mut detail) = (known(&self.state)?, self.detail);
        if state == DeliveryState::Sending {
            state = DeliveryState::Held;
            INTERRUPTED.clone_into(&mut detail);
        }
        Ok(Delivery {
            target: self.target,
            state,
            attempts: self.attempts,
            due_at: self.due_at,
            updated_at: self.updated_at,
            detail,
        })
    }
}

impl AttemptLine {
    fn of(attempt: Attempt) -> Self {
        Self {
            target: attempt.target,
            number: attempt.number,
            at: attempt.at,
            state: attempt.state.id().to_owned(),
            detail: attempt.detail,
        }
    }

    fn restored(self) -> Result<Attempt, String> {
        Ok(Attempt {
            target: self.target,
            number: self.number,
            at: self.at,
            state: known(&self.state)?,
            detail: self.detail,
        })
    }
}

fn known(state: &str) -> Result<DeliveryState, String> {
    DeliveryState::from_id(state).ok_or_else(|| "an unknown delivery state".to_owned())
}
