//! Asks the source for one unit before its listing is answered, so that price and availability are the
//! current ones (AAP-444). Bounded in time and number; equal questions share one answer for a moment.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::{OnceCell, Semaphore};

use super::build::Builder;
use super::gone::Identifiers;
use super::reader::Unit;
use super::{Inventory, InventoryError, Listing};
use crate::contract::request::VehicleRequest;

/// Questions to one source at a time.
const AT_ONCE: usize = 8;
/// Answers kept for a moment.
const MOST_KEPT: usize = 4096;

/// What the source said of one unit.
#[derive(Clone, Debug)]
enum Said {
    Offered(Arc<Listing>),
    Gone,
    /// It could not answer, in its own words, or not in time.
    Nothing(String),
}

type Answer = Arc<OnceCell<Said>>;

/// The questions under way and the answers still good.
#[derive(Debug)]
pub(super) struct LookUps {
    answers: Mutex<HashMap<Identifiers, (Instant, Answer)>>,
    permits: Semaphore,
}

impl Default for LookUps {
    fn default() -> Self {
        Self {
            answers: Mutex::default(),
            permits: Semaphore::new(AT_ONCE),
        }
    }
}

impl LookUps {
    /// The shared place for the answer to one question.
    fn answer(&self, question: &Identifiers, keep: Duration) -> Answer {
        let mut answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((asked, answer)) = answers.get(question)
            && asked.elapsed() < keep
        {
            return Arc::clone(answer);
        }
        if answers.len() >= MOST_KEPT {
            answers.retain(|_, (asked, _)| asked.elapsed() < keep);
        }
        if answers.len() >= MOST_KEPT {
            answers.clear();
        }
        let answer = Answer::default();
        answers.insert(question.clone(), (Instant::now(), Arc::clone(&answer)));
        answer
    }
}

/// The current state of what the snapshot `known` says, when the source can be asked; what is known, when
/// it cannot answer (the snapshot is younger than `max_age`, or there would be no `known`).
pub(super) async fn current(
    inventory: &Inventory,
    request: &VehicleRequest,
    known: Result<Arc<Listing>, InventoryError>,
) -> Result<Arc<Listing>, InventoryError> {
    if inventory.reader.look_up.is_none() {
        return known;
    }
    let listing = known?;
    let question = Identifiers {
        dealer_id: listing.dealer_id.clone(),
        vehicle_id: Some(listing.vehicle_id.clone()),
        vin: listing.vin.clone(),
        stock: listing.stock.clone(),
    };
    let keep = Duration::from_millis(inventory.settings.look_up_cache_ms);
    let answer = inventory.look_ups.answer(&question, keep);
    let said = answer
        .get_or_init(|| ask(inventory, &question, &listing))
        .await;
    match said {
        Said::Offered(current) if has_all(current, request, &listing) => Ok(Arc::clone(current)),
        // The unit goes by other names now than the ones it was asked for.
        Said::Offered(_) | Said::Gone => Err(InventoryError::Unavailable),
        Said::Nothing(cause) => {
            let deployment = inventory.settings.deployment.as_str();
            tracing::warn!(
                deployment,
                cause,
                "look-up failed; the last known listing is answered"
            );
            Ok(listing)
        }
    }
}

/// Whether the current listing still has the identifiers that were asked for.
fn has_all(current: &Listing, request: &VehicleRequest, known: &Listing) -> bool {
    let same = |asked: &Option<String>, now: &Option<String>| asked.is_none() || asked == now;
    current.identity() == known.identity()
        && same(&request.vin, &current.vin)
        && same(&request.stock, &current.stock)
}

async fn ask(inventory: &Inventory, question: &Identifiers, known: &Listing) -> Said {
    let Some(look_up) = &inventory.reader.look_up else {
        return Said::Nothing("the source has no look-up".into());
    };
    let timeout = Duration::from_millis(inventory.settings.look_up_timeout_ms);
    let asked = tokio::time::timeout(timeout, async {
        let _permit = inventory.look_ups.permits.acquire().await;
        look_up(question.clone()).await
    });
    let units = match asked.await {
        Err(_) => return Said::Nothing("no answer in time".into()),
        Ok(Err(cause)) => return Said::Nothing(cause),
        Ok(Ok(units)) => units,
    };
    let mut unmapped = None;
    for unit in units {
        match unit {
            Unit::Listing(listing) | Unit::Known(listing) => match inventory.listing_of(listing) {
                Some(listing) if listing.identity() == known.identity() => {
                    return Said::Offered(listing);
                }
                Some(_) => {}
                None => unmapped = Some("the row is no valid listing now".to_owned()),
            },
            Unit::Hidden(_) | Unit::Withdrawn(..) => {}
            Unit::Rejected(reason) => unmapped = Some(reason),
        }
    }
    // A row that cannot be read now says nothing of the car; no row at all says that it is gone.
    unmapped.map_or(Said::Gone, Said::Nothing)
}

impl Inventory {
    /// A listing as it is indexed; none where it breaks the contract.
    fn listing_of(
        &self,
        listing: serde_json::Map<String, serde_json::Value>,
    ) -> Option<Arc<Listing>> {
        let mut builder = Builder::new(Arc::clone(&self.frame));
        builder.push(listing, &*self.check);
        builder.into_listings().pop()
    }
}
