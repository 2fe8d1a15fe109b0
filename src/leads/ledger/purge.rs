//! Taking leads out of the ledger: by age, or for one customer who asks for it.

use jiff::Timestamp;
use serde::Serialize;
use serde_json::Value;

use super::super::record::Record;
use super::{Ledger, LedgerError};
use crate::store::{Delivery, Lead, LeadFilter};

/// How many leads are read at a time.
const PAGE: u32 = 200;

/// How many leads are looked at before a word about it; full pages meet it.
const WORD_EVERY: u64 = 1000;

/// Which leads to take out.
#[derive(Clone, Debug, Default)]
pub struct Purge {
    /// This lead only.
    pub lead_id: Option<String>,
    pub deployment: Option<String>,
    /// Those accepted before.
    pub before: Option<Timestamp>,
    /// Those of the customer with this e-mail address or phone number.
    pub customer: Option<String>,
    /// Also those that are not delivered yet.
    pub undelivered_too: bool,
}

/// What a purge found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Purged {
    /// Leads that were, or would be, taken out.
    pub leads: u64,
    /// Leads that fit but are not delivered yet, and stay.
    pub undelivered: u64,
    /// Leads whose record does not open with these keys, and which a search by customer cannot judge.
    pub unreadable: u64,
}

impl Ledger {
    /// Takes leads out of the ledger, or with `dry_run` only counts them. Their keys go on recognising
    /// retries; a key holds nothing of the customer.
    pub async fn purge(&self, purge: &Purge, dry_run: bool) -> Result<Purged, LedgerError> {
        if purge.lead_id.is_none() && purge.before.is_none() && purge.customer.is_none() {
            return Err(LedgerError::Unbounded);
        }
        let named = |customer: &String| customer.contains('@') || digits(customer).len() >= 7;
        if !purge.customer.as_ref().is_none_or(named) {
            return Err(LedgerError::NoCustomer);
        }
        let mut purged = Purged::default();
        let mut filter = LeadFilter {
            lead_id: purge.lead_id.clone(),
            deployment: purge.deployment.clone(),
            accepted_before: purge.before,
            limit: PAGE,
            ..LeadFilter::default()
        };
        let mut seen = 0_u64;
        loop {
            let page = self.store.leads(&filter).await?;
            let Some(last) = page.last() else { break };
            filter.after = Some((last.accepted_at, last.lead_id.clone()));
            let chosen: Vec<String> = page
                .iter()
                .filter(|lead| self.chooses(purge, lead, &mut purged))
                .map(|lead| lead.lead_id.clone())
                .collect();
            seen += page.len() as u64;
            if seen.is_multiple_of(WORD_EVERY) {
                tracing::info!(seen, "leads: looking for what to erase");
            }
            purged.leads += if dry_run {
                chosen.len() as u64
            } else {
                self.store.remove(&chosen).await?
            };
        }
        match &purge.lead_id {
            Some(lead_id) if seen == 0 => Err(LedgerError::NoLead(lead_id.clone())),
            _ => Ok(purged),
        }
    }

    fn chooses(&self, purge: &Purge, lead: &Lead, purged: &mut Purged) -> bool {
        if let Some(customer) = &purge.customer {
            match self.record(lead) {
                Ok(record) if is_of(&record, customer) => {}
                Ok(_) => return false,
                Err(_) => {
                    purged.unreadable += 1;
                    return false;
                }
            }
        }
        if !purge.undelivered_too && lead.deliveries.iter().any(Delivery::is_open) {
            purged.undelivered += 1;
            return false;
        }
        true
    }
}

/// Whether a record is about the customer with this e-mail address or phone number.
fn is_of(record: &Record, customer: &str) -> bool {
    let customer = customer.trim();
    let said = |pointer: &str| record.request.pointer(pointer).and_then(Value::as_str);
    let by_mail = said("/customer/email").is_some_and(|email| email.eq_ignore_ascii_case(customer));
    // In North America people leave the country's 1 out.
    let whole = |text: &str| {
        let number = digits(text);
        if number.len() == 10 && !text.contains('+') {
            format!("1{number}")
        } else {
            number
        }
    };
    let by_phone = !customer.contains('@')
        && said("/customer/phone").is_some_and(|phone| whole(phone) == whole(customer));
    by_mail || by_phone
}

fn digits(text: &str) -> String {
    text.chars().filter(char::is_ascii_digit).collect()
}
