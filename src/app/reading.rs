//! Joins a source with a mapping: rows go in, units come out. Must not keep raw rows.

use std::sync::Arc;

use serde_json::{Map, Value};
use tokio::sync::mpsc;

use crate::inventory::{Identifiers, Reader, Unit};
use crate::mapping::report::Report;
use crate::mapping::{self, Mapping, Outcome, Tables};
use crate::sources::{Source, SourceError};

/// Rejected rows of one reading that are named one by one in the log.
const NAMED: usize = 20;

/// How an inventory reads `source` through `mapping`.
pub(super) fn reader(source: Arc<Source>, mapping: Arc<Mapping>) -> Reader {
    let can_look_up = source.can_look_up();
    let (read_source, read_mapping) = (Arc::clone(&source), Arc::clone(&mapping));
    let reader = Reader::new(move |sink| {
        let (source, mapping) = (Arc::clone(&read_source), Arc::clone(&read_mapping));
        async move { read(&source, &mapping, &sink).await }
    });
    if !can_look_up {
        return reader;
    }
    reader.with_look_up(move |identifiers| {
        let (source, mapping) = (Arc::clone(&source), Arc::clone(&mapping));
        async move { look_up(&source, &mapping, identifiers).await }
    })
}

async fn read(source: &Source, mapping: &Mapping, sink: &mpsc::Sender<Unit>) -> Result<(), String> {
    let mut stock = Stock::default();
    let read = source
        .read(|row, tables: &Tables| stock.take(mapping.apply(&row, tables)))
        .await
        .map_err(|error| error.to_string())?;
    let missing = read
        .columns_are_fixed
        .then(|| mapping.missing_columns(&read.columns));
    for finding in missing.into_iter().flatten() {
        tracing::warn!(source = source.describe(), column = %finding.key, reason = %finding.reason, "mapped column is missing");
    }
    for unit in stock.units(mapping) {
        if sink.send(unit).await.is_err() {
            return Err("the reading was given up".to_owned());
        }
    }
    Ok(())
}

async fn look_up(
    source: &Source,
    mapping: &Mapping,
    wanted: Identifiers,
) -> Result<Vec<Unit>, String> {
    let listing = [
        ("vehicle_id", wanted.vehicle_id),
        ("vin", wanted.vin),
        ("stock", wanted.stock),
    ];
    let listing: Map<String, Value> = listing
        .into_iter()
        .filter_map(|(name, value)| Some((name.to_owned(), value?.into())))
        .collect();
    let Some(key) = mapping.look_up_key(&listing) else {
        return Err("the unit has no key that the source can be asked for".to_owned());
    };
    let (rows, tables) = source
        .look_up(&[key])
        .await
        .map_err(|error| error.to_string())?;
    let mut stock = Stock::default();
    for row in rows {
        stock.take(mapping.apply(&row, &tables));
    }
    Ok(stock.units(mapping))
}

/// What the rows so far became.
#[derive(Debug, Default)]
struct Stock {
    published: Vec<Map<String, Value>>,
    others: Vec<Unit>,
    named: usize,
}

impl Stock {
    fn take(&mut self, outcome: Outcome) {
        match outcome {
            Outcome::Published(listing, _) => self.published.push(listing),
            Outcome::Hidden { identifiers, .. } => {
                self.others.push(Unit::Hidden(unit(identifiers)));
            }
            Outcome::Rejected {
                identifiers,
                column,
                value_class,
                reason,
            } => {
                self.named += 1;
                if self.named <= NAMED {
                    let stock = identifiers.stock.as_deref().unwrap_or_default();
                    tracing::warn!(stock, column, value_class, reason, "row left out");
                }
                self.others
                    .push(Unit::Rejected(format!("{column}: {value_class}: {reason}")));
            }
        }
    }

    fn units(self, mapping: &Mapping) -> Vec<Unit> {
        let resolved = mapping.resolve_duplicates(self.published);
        let mut units = self.others;
        for dropped in &resolved.dropped {
            units.push(Unit::Rejected(format!("duplicate: {}", dropped.reason)));
        }
        units.extend(resolved.kept.into_iter().map(Unit::Listing));
        units
    }
}

fn unit(identifiers: mapping::Identifiers) -> Identifiers {
    Identifiers {
        dealer_id: None,
        vehicle_id: identifiers.vehicle_id,
        vin: identifiers.vin,
        stock: identifiers.stock,
    }
}

/// What one reading of a source became, for people.
#[derive(Debug)]
pub struct Tally {
    pub rows: u64,
    pub published: usize,
    pub hidden: usize,
    pub rejected: usize,
    /// Columns that the mapping names and the source lacks.
    pub missing_columns: Vec<mapping::Finding>,
    pub report: Report,
}

/// Reads `source` once through `mapping` and only counts.
pub async fn take_stock(source: &Source, mapping: &Mapping) -> Result<Tally, SourceError> {
    let mut report = Report::new(mapping);
    let (mut published, mut hidden, mut rejected) = (Vec::new(), 0, 0);
    let read = source
        .read(|row, tables: &Tables| {
            let outcome = mapping.apply(&row, tables);
            report.add(&outcome);
            match outcome {
                Outcome::Published(listing, _) => published.push(listing),
                Outcome::Hidden { .. } => hidden += 1,
                Outcome::Rejected { .. } => rejected += 1,
            }
        })
        .await?;
    let resolved = mapping.resolve_duplicates(published);
    report.duplicates(&resolved);
    Ok(Tally {
        rows: read.rows,
        published: resolved.kept.len(),
        hidden,
        rejected: rejected + resolved.dropped.len(),
        missing_columns: if read.columns_are_fixed {
            mapping.missing_columns(&read.columns)
        } else {
            Vec::new()
        },
        report,
    })
}
