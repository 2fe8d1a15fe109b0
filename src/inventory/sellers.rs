//! Several sellers' readings as one (an aggregate): each listing says whose it is, and its id is unique in
//! the endpoint. A seller whose source is away keeps its last good units for a while; the others go on. Must
//! not know how a source speaks.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use futures_util::stream::{self, StreamExt as _};
use serde_json::{Map, Value};
use tokio::sync::mpsc;

use super::gone::Identifiers;
use super::reader::{Reader, Unit};

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
    last: Mutex<Option<(Instant, Arc<Vec<Unit>>)>>,
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
        let reader = Self::new(move |sink| {
            let sellers = read_sellers.clone();
            async move { read(sellers, keep, &sink).await }
        });
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
    sink: &mpsc::Sender<Unit>,
) -> Result<(), String> {
    let count = sellers.len();
    let mut readings = stream::iter(sellers)
        .map(|seller| async move {
            let units = seller.read(keep).await;
            (seller, units)
        })
        .buffer_unordered(AT_ONCE);
    let mut away = Vec::new();
    while let Some((seller, units)) = readings.next().await {
        match units {
            Ok(units) => {
                for unit in units.iter() {
                    let unit = seller.own(unit.clone());
                    let sent = sink.send(unit).await;
                    sent.map_err(|_| "the reading was given up".to_owned())?;
                }
            }
            Err(cause) => away.push(format!("{}: {cause}", seller.dealer_id)),
        }
    }
    if away.len() < count {
        return Ok(());
    }
    Err(away.join("; "))
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
    Ok(units.into_iter().map(|unit| seller.own(unit)).collect())
}

impl Seller {
    /// All units as the source has them now, or as it had them last.
    async fn read(&self, keep: Option<Duration>) -> Result<Arc<Vec<Unit>>, String> {
        let (sink, mut units) = mpsc::channel(UNITS_IN_FLIGHT);
        let taking = async {
            let mut taken = Vec::new();
            while let Some(unit) = units.recv().await {
                taken.push(unit);
            }
            taken
        };
        let (read, taken) = tokio::join!((self.reader.read)(sink), taking);
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let Err(cause) = read else {
            let units = Arc::new(taken);
            *last = Some((Instant::now(), Arc::clone(&units)));
            return Ok(units);
        };
        tracing::warn!(dealer_id = self.dealer_id, cause, "seller not read");
        match &*last {
            Some((when, units)) if keep.is_none_or(|keep| when.elapsed() <= keep) => {
                Ok(Arc::clone(units))
            }
            Some(_) | None => Err(cause),
        }
    }

    /// The unit with its seller and an id that no other seller's unit has (AAP-393).
    fn own(&self, unit: Unit) -> Unit {
        match unit {
            Unit::Listing(listing) => Unit::Listing(self.listing(listing)),
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
