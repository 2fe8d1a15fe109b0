//! Puts back what Redis lost and this process's journal knows: leads, and how attempts ended. Must not decide when:
//! the gate does.

use jiff::Timestamp;

use super::super::StoreError;
use super::super::rows::{Delivery, DeliveryState, KeyRow, Restored};
use super::recall::Recall;
use super::{Redis, millis};

/// Why a restored delivery is held.
const LOST: &str =
    "the store had lost it: whether another process delivered it meanwhile is unknown";

impl Redis {
    /// Puts back the leads that this process accepted and Redis no longer knows. A key that stands under
    /// another lead's name stays whose it is, and the lead it belonged to is not made a second one.
    pub(super) async fn restore_leads(
        &self,
        recall: &Recall,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let mut count = 0_u64;
        for acceptance in recall.accepted.values() {
            let deliveries = acceptance.deliveries.iter().map(|delivery| {
                let key = (acceptance.lead_id.clone(), delivery.target.clone());
                let known = recall.attempts.get(&key);
                let end = known.and_then(|attempted| attempted.lasting());
                let (state, detail) = end.unwrap_or((DeliveryState::Held, LOST));
                Delivery {
                    target: delivery.target.clone(),
                    state,
                    attempts: known.map_or(0, |attempted| attempted.attempt),
                    due_at: delivery.due_at,
                    updated_at: now,
                    detail: detail.to_owned(),
                }
            });
            let restored = Restored {
                lead_id: acceptance.lead_id.clone(),
                deployment: acceptance.deployment.clone(),
                dealer: acceptance.dealer.clone(),
                accepted_at: acceptance.accepted_at,
                record: acceptance.record.clone(),
                answer: acceptance.answer.clone(),
                key: Some(KeyRow {
                    key: acceptance.key.clone(),
                    fingerprint: acceptance.fingerprint.clone(),
                    expires_at: acceptance.key_expires_at,
                }),
                deliveries: deliveries.collect(),
                attempts: Vec::new(),
            };
            count += u64::from(self.put_back(restored, now, true).await?);
        }
        if count > 0 {
            tracing::warn!(count, "store: leads that Redis had lost are back");
        }
        Ok(())
    }

    /// Tells Redis how this process's attempts ended, where it does not know.
    pub(super) async fn settle_attempts(
        &self,
        recall: &Recall,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let mut count = 0_u64;
        for ((lead_id, target), attempted) in &recall.attempts {
            let Some((state, detail)) = attempted.lasting() else {
                continue;
            };
            let mut step = self.step(&self.scripts.settle);
            step.arg(lead_id)
                .arg(target)
                .arg(attempted.attempt.to_string())
                .arg(state.id())
                .arg(detail)
                .arg(millis(now))
                .arg(&self.instance);
            count += self.run::<u64>(step).await?;
        }
        if count > 0 {
            tracing::warn!(count, "store: outcomes that Redis had lost are back");
        }
        Ok(())
    }
}
