//! What the tests of this room build inventories from.

use std::sync::{Arc, Mutex};

use jiff::Timestamp;
use serde_json::{Map, Value, json};

use crate::clock::Clock;
use crate::contract::Capabilities;
use crate::contract::capabilities::Scope;
use crate::contract::request::{AskedFilters, Sort, SortField, SortOrder};
use crate::inventory::{Frame, Inventory, InventoryError, Page, Reader, Settings, Unit};
use crate::profile::{Profile, Rooftop};
use crate::seal::KeyRing;

pub(super) fn start_of_time() -> Timestamp {
    "2026-11-30T12:00:00Z".parse().unwrap()
}

/// A source whose units a test changes between readings; `None` is a source that is down.
pub(super) type Units = Arc<Mutex<Option<Vec<Unit>>>>;

pub(super) struct World {
    pub(super) units: Units,
    pub(super) clock: Clock,
    pub(super) keys: Arc<KeyRing>,
    pub(super) scope: Scope,
    pub(super) profiles: Vec<Arc<Profile>>,
    pub(super) features: Vec<(String, String)>,
    pub(super) settings: Settings,
}

impl World {
    pub(super) fn new(listings: Vec<Value>) -> Self {
        Self::in_scope(Scope::Dealer, listings)
    }

    pub(super) fn in_scope(scope: Scope, listings: Vec<Value>) -> Self {
        let world = Self {
            units: Units::default(),
            clock: Clock::fixed(start_of_time()),
            keys: Arc::new(KeyRing::generate().unwrap()),
            scope,
            profiles: Vec::new(),
            features: Vec::new(),
            settings: Settings::new("d", capabilities(scope)),
        };
        world.set(listings);
        world
    }

    pub(super) fn set(&self, listings: Vec<Value>) {
        let units = listings.into_iter().map(listing_unit).collect();
        *self.units.lock().unwrap() = Some(units);
    }

    pub(super) fn profile(
        mut self,
        dealer: Option<&str>,
        rooftops: &[(&str, Option<(f64, f64)>)],
    ) -> Self {
        self.profiles.push(Arc::new(Profile {
            dealer_id: dealer.map(str::to_owned),
            name: "Example Motors".into(),
            welcome_message: None,
            rooftops: rooftops
                .iter()
                .map(|(name, geo)| Rooftop {
                    name: (*name).to_owned(),
                    geo: *geo,
                    timezone: None,
                    public: Map::new(),
                })
                .collect(),
        }));
        self
    }

    pub(super) fn features(mut self, codes: &[&str]) -> Self {
        let features = codes.iter().map(|c| ((*c).to_owned(), c.to_uppercase()));
        self.features = features.collect();
        self
    }

    pub(super) fn reader(&self) -> Reader {
        let units = Arc::clone(&self.units);
        Reader::new(move |sink| {
            let units = units.lock().unwrap().clone();
            async move {
                for unit in units.ok_or("the source is down")? {
                    sink.send(unit).await.map_err(|error| error.to_string())?;
                }
                Ok(())
            }
        })
    }

    pub(super) async fn start(&self) -> Arc<Inventory> {
        self.start_reading(self.reader()).await
    }

    pub(super) async fn start_reading(&self, reader: Reader) -> Arc<Inventory> {
        self.try_start(reader).await.unwrap()
    }

    /// Before any reading.
    pub(super) fn open(&self, reader: Reader) -> Arc<Inventory> {
        let opened = Inventory::open(
            self.settings.clone(),
            reader,
            Frame::new(self.scope, &self.profiles, self.features.clone()),
            Arc::new(|_: &Value| Ok(())),
            Arc::clone(&self.keys),
            self.clock.clone(),
        );
        opened.unwrap()
    }

    pub(super) async fn try_start(&self, reader: Reader) -> Result<Arc<Inventory>, InventoryError> {
        let inventory = self.open(reader);
        let first = inventory.first_reading().await;
        first.map_err(|error| InventoryError::Source(error.to_string()))?;
        Ok(inventory)
    }
}

/// Search as offered when nothing is said: the rest is the contract's to decide.
fn capabilities(scope: Scope) -> Capabilities {
    Capabilities {
        scope,
        filters: Vec::new(),
        sort_fields: Vec::new(),
        default_sort: Sort {
            field: SortField::UpdatedAt,
            order: SortOrder::Desc,
        },
        default_limit: 20,
        max_limit: 100,
        offset: true,
    }
}

pub(super) fn listing_unit(listing: Value) -> Unit {
    match listing {
        Value::Object(listing) => Unit::Listing(listing),
        other => panic!("not an object: {other}"),
    }
}

/// A listing with the members that every listing has, and those of `more`.
pub(super) fn car(id: &str, more: Value) -> Value {
    let mut car = json!({
        "vehicle_id": id,
        "status": "available",
        "updated_at": "2026-11-01T00:00:00Z",
    });
    for (name, value) in more.as_object().unwrap() {
        car[name] = value.clone();
    }
    car
}

pub(super) fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap()
}

pub(super) fn search(inventory: &Inventory, request: Value) -> Page {
    try_search(inventory, request).unwrap()
}

pub(super) fn try_search(inventory: &Inventory, request: Value) -> Result<Page, InventoryError> {
    inventory.search(&serde_json::from_value(request).unwrap(), "anonymous")
}

pub(super) fn ids(page: &Page) -> Vec<String> {
    let vehicles = page.vehicles.found().into_iter();
    vehicles
        .map(|found| found.listing.vehicle_id.clone())
        .collect()
}

pub(super) fn facets(inventory: &Inventory, filters: Value) -> Value {
    let filters: AskedFilters = serde_json::from_value(filters).unwrap();
    let facets = inventory.facets(Some(&filters)).unwrap();
    serde_json::from_str(facets.json()).unwrap()
}
