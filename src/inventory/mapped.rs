//! Reads a source through a mapping: rows in, listings out. Must not interpret a row itself.

use std::sync::Arc;

use serde_json::{Map, Value};
use tokio::sync::mpsc;

use super::build::Check;
use super::frame::Frame;
use super::gone::Identifiers;
use super::reader::{Reader, Unit};
use super::settings::Settings;
use super::{Inventory, InventoryError};
use crate::clock::Clock;
use crate::contract::Contract;
use crate::mapping::{self, Mapping, Outcome, Row, Tables};
use crate::profile::Profile;
use crate::seal::KeyRing;
use crate::sources::Source;

impl Inventory {
    /// Reads `source` through `mapping` once and is ready to answer; [`Inventory::run`] keeps it fresh.
    #[expect(
        clippy::too_many_arguments,
        reason = "the composition root hands every part over in one place"
    )]
    pub async fn start(
        settings: Settings,
        source: Source,
        mapping: impl Into<Arc<Mapping>>,
        contract: Arc<Contract>,
        profiles: Vec<Arc<Profile>>,
        keys: Arc<KeyRing>,
        clock: Clock,
    ) -> Result<Arc<Self>, InventoryError> {
        let mapping = mapping.into();
        let frame = Frame::new(
            settings.capabilities.scope,
            &profiles,
            mapping.features().to_vec(),
        );
        let check: Arc<Check> = Arc::new(move |listing: &Value| contract.check_listing(listing));
        let reader = Reader::mapped(source, mapping);
        Self::with_reader(settings, reader, frame, check, keys, clock).await
    }
}

impl Reader {
    /// A reader of `source` through `mapping`, with look-ups where the source has them.
    pub fn mapped(source: Source, mapping: Arc<Mapping>) -> Self {
        let source = Arc::new(source);
        let can_look_up = source.can_look_up();
        let (read_source, read_mapping) = (Arc::clone(&source), Arc::clone(&mapping));
        let reader = Self::new(move |sink| {
            let (source, mapping) = (Arc::clone(&read_source), Arc::clone(&read_mapping));
            async move {
                let units = off_the_reactor(source, mapping).await?;
                send(units, sink).await
            }
        });
        if !can_look_up {
            return reader;
        }
        reader.with_look_up(move |identifiers| {
            let (source, mapping) = (Arc::clone(&source), Arc::clone(&mapping));
            async move { look_up(&source, &mapping, &identifiers).await }
        })
    }
}

/// Maps on a thread that may take its time: a mapping of many rows must not delay anybody's answer.
async fn off_the_reactor(source: Arc<Source>, mapping: Arc<Mapping>) -> Result<Vec<Unit>, String> {
    let runtime = tokio::runtime::Handle::current();
    let reading = tokio::task::spawn_blocking(move || runtime.block_on(read(&source, &mapping)));
    reading
        .await
        .map_err(|error| format!("the mapping ended early: {error}"))?
}

/// All units. The listings are held together, because the duplicate rule looks at all of them.
async fn read(source: &Source, mapping: &Mapping) -> Result<Vec<Unit>, String> {
    let (mut units, mut listings) = (Vec::new(), Vec::new());
    let take = |row: Row, tables: &Tables| match unit(mapping, &row, tables) {
        Unit::Listing(listing) => listings.push(listing),
        other @ (Unit::Hidden(_) | Unit::Rejected(_)) => units.push(other),
    };
    let read = source.read(take).await;
    read.map_err(|error| error.to_string())?;
    let resolved = mapping.resolve_duplicates(listings);
    let dropped = resolved.dropped.into_iter();
    units.extend(dropped.map(|dropped| Unit::Rejected(format!("duplicate: {}", dropped.reason))));
    units.extend(resolved.kept.into_iter().map(Unit::Listing));
    Ok(units)
}

async fn send(units: Vec<Unit>, sink: mpsc::Sender<Unit>) -> Result<(), String> {
    for unit in units {
        sink.send(unit)
            .await
            .map_err(|_| "the builder ended early".to_owned())?;
    }
    Ok(())
}

fn unit(mapping: &Mapping, row: &Row, tables: &Tables) -> Unit {
    match mapping.apply(row, tables) {
        Outcome::Published(listing, _) => Unit::Listing(listing),
        Outcome::Hidden { identifiers, .. } => Unit::Hidden(called(identifiers)),
        Outcome::Rejected {
            column,
            value_class,
            reason,
            ..
        } => Unit::Rejected(format!("column {column} ({value_class}): {reason}")),
    }
}

fn called(identifiers: mapping::Identifiers) -> Identifiers {
    Identifiers {
        dealer_id: None,
        vehicle_id: identifiers.vehicle_id,
        vin: identifiers.vin,
        stock: identifiers.stock,
    }
}

async fn look_up(
    source: &Source,
    mapping: &Mapping,
    identifiers: &Identifiers,
) -> Result<Vec<Unit>, String> {
    let mut known = Map::new();
    for (name, value) in [
        ("vehicle_id", &identifiers.vehicle_id),
        ("vin", &identifiers.vin),
        ("stock", &identifiers.stock),
    ] {
        if let Some(value) = value {
            known.insert(name.to_owned(), value.as_str().into());
        }
    }
    let key = mapping.look_up_key(&known);
    let key = key.ok_or("the mapping finds no key of this unit for a look-up")?;
    let found = source.look_up(&[key]).await;
    let (rows, tables) = found.map_err(|error| error.to_string())?;
    Ok(rows.iter().map(|row| unit(mapping, row, &tables)).collect())
}
