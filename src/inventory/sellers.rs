//! Several sellers' readings as one (an aggregate): each listing says whose it is, and its id is unique in
//! the endpoint. A seller whose source is away keeps its last good units for a while; the others go on. Must
//! not know how a source speaks.

use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::time::{Duration, Instant};

use futures_util::stream::{self, StreamExt as _};
use serde_json::{Map, Value};

use super::frame::Rejected;
use super::gone::Identifiers;
use super::reader::{Current, Failed, Reader, Request, Sink, Told, Trace, Unit};

/// Sources read at one time.
const AT_ONCE: usize = 4;
/// Units on their way from one source.
const UNITS_IN_FLIGHT: usize = 256;
/// Stands between a seller's id, which never holds it, and its own id of a vehicle.
const MARK: char = '.';

/// One seller of an aggregate.
#[derive(Debug)]
pub struct SellerReader {
    pub dealer_id: String,
    pub reader: Reader,
}

/// A seller with what its source said last.
struct Seller {
    dealer_id: String,
    reader: Reader,
    last: Mutex<Option<Last>>,
}

/// What a seller's source said last.
#[derive(Clone)]
struct Last {
    when: Instant,
    units: Arc<Vec<Unit>>,
    trace: Arc<Trace>,
    /// A reading has failed since: what changed is no longer enough.
    failed: bool,
}

impl Reader {
    /// Joins the sellers' readers. The units of a seller that cannot be read stay for `keep` after its last
    /// good reading. It is an error only when no seller has any.
    pub fn of_sellers(sellers: Vec<SellerReader>, keep: Option<Duration>) -> Self {
        let can_look_up = sellers.iter().any(|seller| seller.reader.look_up.is_some());
        let own = |seller: SellerReader| {
            Arc::new(Seller {
                dealer_id: seller.dealer_id,
                reader: seller.reader,
                last: Mutex::default(),
            })
        };
        let sellers: Vec<Arc<Seller>> = sellers.into_iter().map(own).collect();
        let read_sellers = sellers.clone();
        let mut reader = Self::telling(move |request| {
            let sellers = read_sellers.clone();
            async move {
                read(sellers.clone(), keep, request).await?;
                Ok(Told::Units(Trace {
                    dirty: dirty(&sellers),
                    ..Trace::default()
                }))
            }
        });
        if sellers.iter().any(|seller| seller.reader.glance.is_some()) {
            let sellers = sellers.clone();
            reader = reader.with_glance(move || {
                let glances = sellers.iter().map(|s| s.reader.glance.as_ref()?());
                Some(
                    glances
                        .map(Option::unwrap_or_default)
                        .collect::<Vec<_>>()
                        .join("\n"),
                )
            });
        }
        if !can_look_up {
            return reader;
        }
        reader.with_look_up(move |wanted| {
            let sellers = sellers.clone();
            async move { look_up(&sellers, wanted).await }
        })
    }
}

async fn read(
    sellers: Vec<Arc<Seller>>,
    keep: Option<Duration>,
    request: Request,
) -> Result<(), Failed> {
    let count = sellers.len();
    let (accept, changes) = (request.accept, request.changes);
    let mut readings = stream::iter(sellers)
        .map(|seller| async move {
            let units = seller.read(keep, accept, changes).await;
            (seller, units)
        })
        .buffer_unordered(AT_ONCE);
    let (mut away, mut lasting) = (Vec::new(), true);
    // Listings sent so far: a seller counts from its own first one.
    let mut sent = 0;
    while let Some((seller, units)) = readings.next().await {
        match units {
            Ok(units) => {
                let (sink, first) = (request.sink.clone(), sent);
                sent += units.iter().filter_map(Unit::listing).count();
                let giving = tokio::task::spawn_blocking(move || {
                    let mut own = units.iter().map(|unit| seller.own(unit.clone(), first));
                    own.try_for_each(|unit| sink.give(unit))
                });
                giving.await.map_err(|error| error.to_string())??;
            }
            Err(cause) => {
                away.push(format!("{}: {cause}", seller.dealer_id));
                lasting &= cause.lasting;
            }
        }
    }
    if away.len() < count {
        return Ok(());
    }
    Err(Failed {
        words: away.join("; "),
        lasting,
    })
}

/// What the sellers' last readings left out, each with its seller.
fn dirty(sellers: &[Arc<Seller>]) -> Rejected {
    let mut all = Rejected::default();
    for seller in sellers {
        let last = seller.last();
        let own = last.iter().flat_map(|last| &last.trace.dirty.by_reason);
        for (reason, count) in own {
            all.add(format!("{}: {reason}", seller.dealer_id), *count);
        }
    }
    all
}

/// Asks the one seller whose unit it is.
async fn look_up(sellers: &[Arc<Seller>], wanted: Identifiers) -> Result<Vec<Unit>, String> {
    let seller = sellers
        .iter()
        .find(|seller| Some(&seller.dealer_id) == wanted.dealer_id.as_ref())
        .ok_or("the unit names no seller of this endpoint")?;
    let ask = seller.reader.look_up.as_ref();
    let ask = ask.ok_or("this seller's source has no look-up")?;
    let own = Identifiers {
        dealer_id: None,
        vehicle_id: wanted.vehicle_id.map(|id| seller.without_mark(&id)),
        ..wanted
    };
    let units = ask(own).await?;
    Ok(units.into_iter().map(|unit| seller.own(unit, 0)).collect())
}

impl Seller {
    /// All units as the source has them now, or as it had them last.
    async fn read(
        &self,
        keep: Option<Duration>,
        accept: bool,
        changes: bool,
    ) -> Result<Arc<Vec<Unit>>, Failed> {
        let last = self.last().clone();
        let (sink, units) = mpsc::sync_channel(UNITS_IN_FLIGHT);
        let taking = tokio::task::spawn_blocking(move || units.into_iter().collect::<Vec<_>>());
        let request = Request {
            sink: Sink::new(sink),
            trace: last.as_ref().map(|last| Arc::clone(&last.trace)),
            current: last
                .as_ref()
                .map(|last| Current::Units(Arc::clone(&last.units))),
            changes: changes && last.as_ref().is_some_and(|last| !last.failed),
            accept,
        };
        let (told, taken) = tokio::join!((self.reader.read)(request), taking);
        let cause = match (told, taken, &last) {
            (Ok(Told::Units(trace)), Ok(units), _) => {
                return Ok(self.keep(Arc::new(units), trace));
            }
            (Ok(Told::Same(trace)), _, Some(last)) => {
                return Ok(self.keep(Arc::clone(&last.units), trace));
            }
            (Ok(Told::Same(_)), _, None) => Failed::from("nothing was read before".to_owned()),
            (Ok(Told::Units(_)), Err(error), _) => Failed::from(error.to_string()),
            (Err(cause), _, _) => cause,
        };
        tracing::warn!(dealer_id = self.dealer_id, %cause, "seller not read");
        if let Some(last) = &mut *self.last() {
            last.failed = true;
        }
        match last {
            Some(last) if keep.is_none_or(|keep| last.when.elapsed() <= keep) => Ok(last.units),
            Some(_) | None => Err(cause),
        }
    }

    fn last(&self) -> std::sync::MutexGuard<'_, Option<Last>> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn keep(&self, units: Arc<Vec<Unit>>, trace: Trace) -> Arc<Vec<Unit>> {
        *self.last() = Some(Last {
            when: Instant::now(),
            units: Arc::clone(&units),
            trace: Arc::new(trace),
            failed: false,
        });
        units
    }

    /// The unit with its seller and an id that no other seller's unit has (AAP-393). `first` is the place of
    /// the seller's first listing among all.
    fn own(&self, unit: Unit, first: usize) -> Unit {
        match unit {
            Unit::Listing(listing) => Unit::Listing(self.listing(listing)),
            Unit::Known(listing) => Unit::Known(self.listing(listing)),
            Unit::Withdrawn(at, reason) => {
                Unit::Withdrawn(first + at, format!("{}: {reason}", self.dealer_id))
            }
            Unit::Hidden(ids) => {
                let own = ids.vehicle_id.as_ref().or(ids.stock.as_ref());
                Unit::Hidden(Identifiers {
                    dealer_id: Some(self.dealer_id.clone()),
                    vehicle_id: own.or(ids.vin.as_ref()).map(|id| self.with_mark(id)),
                    ..ids
                })
            }
            Unit::Rejected(reason) => Unit::Rejected(format!("{}: {reason}", self.dealer_id)),
        }
    }

    fn listing(&self, mut listing: Map<String, Value>) -> Map<String, Value> {
        let own = ["vehicle_id", "stock", "vin"]
            .into_iter()
            .find_map(|name| listing.get(name).and_then(Value::as_str))
            .map(|id| self.with_mark(id));
        if let Some(id) = own {
            listing.insert("vehicle_id".to_owned(), id.into());
        }
        listing.insert("dealer_id".to_owned(), self.dealer_id.as_str().into());
        listing
    }

    fn with_mark(&self, id: &str) -> String {
        format!("{}{MARK}{id}", self.dealer_id)
    }

    fn without_mark(&self, id: &str) -> String {
        let own = id.strip_prefix(&self.dealer_id);
        let own = own.and_then(|rest| rest.strip_prefix(MARK));
        own.unwrap_or(id).to_owned()
    }
}
