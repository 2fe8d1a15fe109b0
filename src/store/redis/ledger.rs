//! The ledger in Redis: what people ask about leads.

use jiff::Timestamp;

use super::super::StoreError;
use super::super::rows::{
    Attempt, Delivery, DeliveryState, KeyRow, Lead, LeadFilter, Restored, Tally,
};
use super::outbox::number;
use super::{Redis, instant, millis};
use crate::clock::Clock;

/// How many ids are looked at in one go.
const WINDOW: isize = 200;

impl Redis {
    /// Walks the leads by time, newest first, and keeps those that fit.
    pub(in crate::store) async fn leads(
        &self,
        filter: &LeadFilter,
    ) -> Result<Vec<Lead>, StoreError> {
        if let Some(lead_id) = &filter.lead_id {
            let lead = self.lead(lead_id).await?;
            return Ok(lead.filter(|lead| fits(lead, filter)).into_iter().collect());
        }
        let limit = match filter.limit {
            0 => usize::MAX,
            limit => usize::try_from(limit).unwrap_or(usize::MAX),
        };
        let mut leads = Vec::new();
        let latest = filter
            .after
            .as_ref()
            .map_or_else(|| "+inf".to_owned(), |(at, _)| millis(*at));
        let mut offset = 0;
        while leads.len() < limit {
            let mut command = redis::cmd("ZRANGE");
            command
                .arg(format!("{}leads", self.leads))
                .arg(&latest)
                .arg("-inf");
            command
                .arg(&["BYSCORE", "REV", "LIMIT"])
                .arg(offset)
                .arg(WINDOW);
            let ids: Vec<String> = self.command(&command).await?;
            if ids.is_empty() {
                break;
            }
            offset += WINDOW;
            for lead_id in ids {
                // A lead may have been taken out since the window was read.
                let Some(lead) = self.lead(&lead_id).await? else {
                    continue;
                };
                if leads.len() < limit && fits(&lead, filter) {
                    leads.push(lead);
                }
            }
        }
        Ok(leads)
    }

    async fn lead(&self, lead_id: &str) -> Result<Option<Lead>, StoreError> {
        let mut command = redis::cmd("HMGET");
        command.arg(format!("{}lead:{lead_id}", self.leads));
        command.arg(&[
            "deployment",
            "dealer",
            "accepted_at",
            "record",
            "answer",
            "targets",
        ]);
        let found: Vec<Option<String>> = self.command(&command).await?;
        let found: Option<Vec<String>> = found.into_iter().collect();
        let Some([deployment, dealer, accepted_at, record, answer, targets]) =
            found.and_then(|found| <[String; 6]>::try_from(found).ok())
        else {
            return Ok(None);
        };
        let mut names: Vec<&str> = targets.split_ascii_whitespace().collect();
        names.sort_unstable();
        let mut deliveries = Vec::with_capacity(names.len());
        for target in names {
            deliveries.push(self.delivery(lead_id, target).await?);
        }
        Ok(Some(Lead {
            lead_id: lead_id.to_owned(),
            deployment,
            dealer,
            accepted_at: instant(&accepted_at)?,
            record,
            answer,
            deliveries,
        }))
    }

    async fn delivery(&self, lead_id: &str, target: &str) -> Result<Delivery, StoreError> {
        let mut command = redis::cmd("HMGET");
        command.arg(format!("{}delivery:{lead_id} {target}", self.leads));
        command.arg(&["state", "attempts", "due_at", "updated_at", "detail"]);
        let found: Vec<Option<String>> = self.command(&command).await?;
        let found: Option<Vec<String>> = found.into_iter().collect();
        let [state, attempts, due_at, updated_at, detail] = found
            .and_then(|found| <[String; 5]>::try_from(found).ok())
            .ok_or_else(|| StoreError::Corrupt("a delivery".to_owned()))?;
        Ok(Delivery {
            target: target.to_owned(),
            state: known(&state)?,
            attempts: number(&attempts)?,
            due_at: instant(&due_at)?,
            updated_at: instant(&updated_at)?,
            detail,
        })
    }

    pub(in crate::store) async fn attempts(
        &self,
        lead_id: &str,
    ) -> Result<Vec<Attempt>, StoreError> {
        let mut command = redis::cmd("LRANGE");
        command
            .arg(format!("{}attempts:{lead_id}", self.leads))
            .arg(0)
            .arg(-1);
        let texts: Vec<String> = self.command(&command).await?;
        texts
            .as_chunks::<5>()
            .0
            .iter()
            .map(|[target, count, at, state, detail]| {
                Ok(Attempt {
                    target: target.clone(),
                    number: number(count)?,
                    at: instant(at)?,
                    state: known(state)?,
                    detail: detail.clone(),
                })
            })
            .collect()
    }

    pub(in crate::store) async fn tally(&self, deployment: &str) -> Result<Tally, StoreError> {
        let mut tally = Tally::default();
        for state in DeliveryState::ALL {
            let key = format!("{}state:{deployment} {}", self.leads, state.id());
            let count: u64 = self.command(redis::cmd("ZCARD").arg(&key)).await?;
            if count == 0 {
                continue;
            }
            tally.by_state.push((state, count));
        }
        let mut oldest = redis::cmd("ZRANGE");
        oldest.arg(format!("{}open:{deployment}", self.leads));
        oldest.arg(&["0", "0", "WITHSCORES"]);
        let found: Vec<(String, i64)> = self.command(&oldest).await?;
        if let Some((_, score)) = found.first() {
            tally.oldest_open = Some(instant(&score.to_string())?);
        }
        Ok(tally)
    }

    pub(in crate::store) async fn remove(&self, lead_ids: &[String]) -> Result<u64, StoreError> {
        let mut step = self.step(&self.scripts.remove);
        step.arg(millis(Clock::system().now()));
        for lead_id in lead_ids {
            step.arg(lead_id);
        }
        self.run(step).await
    }

    pub(in crate::store) async fn key_row(
        &self,
        lead_id: &str,
    ) -> Result<Option<KeyRow>, StoreError> {
        let mut command = redis::cmd("HGET");
        command
            .arg(format!("{}lead:{lead_id}", self.leads))
            .arg("key");
        let key: Option<String> = self.command(&command).await?;
        let Some(key) = key else { return Ok(None) };
        let mut command = redis::cmd("HMGET");
        command.arg(format!("{}key:{key}", self.leads));
        command.arg(&["lead_id", "fingerprint", "expires_at"]);
        let found: Vec<Option<String>> = self.command(&command).await?;
        let [Some(holder), Some(fingerprint), Some(expires_at)] = found.as_slice() else {
            return Ok(None);
        };
        if holder != lead_id {
            return Ok(None);
        }
        Ok(Some(KeyRow {
            fingerprint: fingerprint.clone(),
            expires_at: instant(expires_at)?,
            key,
        }))
    }

    pub(in crate::store) async fn restore(
        &self,
        restored: Restored,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        self.put_back(restored, now, false).await
    }

    /// The same for what a journal says, which may be erased or never have been taken.
    pub(super) async fn put_back(
        &self,
        restored: Restored,
        now: Timestamp,
        from_journal: bool,
    ) -> Result<bool, StoreError> {
        let mut step = self.step(&self.scripts.restore);
        let key = restored.key.filter(|key| key.expires_at > now);
        let ttl = key.as_ref().map_or(1, |key| {
            key.expires_at.as_millisecond() - now.as_millisecond()
        });
        let until = key.as_ref().map_or(now, |key| key.expires_at);
        let (key, fingerprint) = key
            .map(|key| (key.key, key.fingerprint))
            .unwrap_or_default();
        step.arg(restored.lead_id)
            .arg(restored.deployment)
            .arg(restored.dealer)
            .arg(millis(restored.accepted_at))
            .arg(restored.record)
            .arg(restored.answer)
            .arg(key)
            .arg(fingerprint)
            .arg(millis(until))
            .arg(ttl.to_string())
            .arg(restored.deliveries.len().to_string())
            .arg(if from_journal { "1" } else { "0" });
        for delivery in restored.deliveries {
            step.arg(delivery.target)
                .arg(delivery.state.id())
                .arg(millis(delivery.due_at))
                .arg(delivery.attempts.to_string())
                .arg(millis(delivery.updated_at))
                .arg(delivery.detail);
        }
        for attempt in restored.attempts {
            step.arg(attempt.target)
                .arg(attempt.number.to_string())
                .arg(millis(attempt.at))
                .arg(attempt.state.id())
                .arg(attempt.detail);
        }
        self.run(step).await
    }
}

fn fits(lead: &Lead, filter: &LeadFilter) -> bool {
    let same = |wanted: &Option<String>, found: &str| {
        wanted.as_deref().is_none_or(|wanted| wanted == found)
    };
    same(&filter.deployment, &lead.deployment)
        && filter
            .accepted_before
            .is_none_or(|before| lead.accepted_at < before)
        && filter
            .state
            .is_none_or(|state| lead.deliveries.iter().any(|one| one.state == state))
        && filter
            .after
            .as_ref()
            .is_none_or(|(at, lead_id)| (lead.accepted_at, &lead.lead_id) < (*at, lead_id))
}

fn known(state: &str) -> Result<DeliveryState, StoreError> {
    DeliveryState::from_id(state)
        .ok_or_else(|| StoreError::Corrupt("an unknown delivery state".to_owned()))
}
