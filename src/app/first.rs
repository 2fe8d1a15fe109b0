//! What becomes of a deployment whose inventory is read for the first time. A source that is away, or whose
//! reading is held, keeps neither this deployment's other skills nor anybody else from being served: it is tried
//! again. Only what waiting cannot mend stops a start. Must not know how a source is read.

use std::sync::Arc;
use std::time::Duration;

use super::AppError;
use super::build::Builder;
use crate::inventory::{Inventory, InventoryError, RefreshError};
use crate::telemetry::work;

/// So long is a source waited for before the deployment is served without it.
pub(super) const PATIENCE: Duration = Duration::from_secs(30);

const REMEDY: &str =
    "it is tried again within a minute; `forecourt check` tells whether it can be read now";

impl Builder<'_> {
    /// The first reading. An error, and a reload that is refused, where a good inventory would be exchanged for
    /// none; and where the source does not have what it is asked for, and never had.
    pub(super) async fn begin(&self, inventory: &Arc<Inventory>) -> Result<(), AppError> {
        let reading = {
            let inventory = Arc::clone(inventory);
            tokio::spawn(work::traced(self.ground.tracer.clone(), async move {
                inventory.first_reading().await
            }))
        };
        let served = self
            .before
            .and_then(|before| before.deployment.inventory.as_ref());
        let served = served.is_some_and(|served| served.was_read());
        let read = if served {
            // Nobody waits: that one goes on answering.
            reading.await
        } else {
            let Ok(read) = tokio::time::timeout(PATIENCE, reading).await else {
                self.tell("the source has not answered yet; its reading goes on");
                return Ok(());
            };
            read
        };
        let error = match read {
            Ok(Ok(())) => {
                self.tell_strangers(inventory);
                return Ok(());
            }
            Ok(Err(error)) => error,
            Err(error) => RefreshError::Source(format!("the reading ended early: {error}")),
        };
        let deployment = || self.settings.id.clone();
        if served {
            return Err(AppError::Inventory {
                deployment: deployment(),
                cause: InventoryError::Source(error.to_string()),
            });
        }
        // What was offered before shows that the configuration can work: then it is the source that changed.
        if matches!(error, RefreshError::Mistaken(_)) && inventory.offered_before() == 0 {
            return Err(AppError::Mistaken {
                deployment: deployment(),
                words: error.to_string(),
            });
        }
        self.tell(&error.to_string());
        Ok(())
    }

    fn tell(&self, reason: &str) {
        let deployment = &self.settings.id;
        tracing::error!(
            deployment,
            reason,
            remedy = REMEDY,
            "served without an inventory: what needs it fails as retryable until a reading succeeds"
        );
    }

    fn tell_strangers(&self, inventory: &Inventory) {
        let strangers = inventory.status().unknown_rooftops;
        if strangers > 0 {
            let deployment = &self.settings.id;
            tracing::warn!(
                deployment,
                vehicles = strangers,
                "vehicles name a rooftop that the profile lacks; `forecourt mappings check` names it"
            );
        }
    }
}
