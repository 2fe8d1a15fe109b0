//! Reads a source through a mapping: rows in, units out, each as it passes. Must not interpret a row
//! itself, nor keep one.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::Map;

use super::dirt::Dirt;
use super::gone::Identifiers;
use super::reader::{Current, Failed, Reader, Request, Told, Trace, Unit};
use super::touched::Touched;
use crate::mapping::{self, Duplicates, Mapping, Outcome, Row, Tables};
use crate::sources::{self, Extent, Since, Source};

/// Rows left out of one reading that are named one by one in the log.
const NAMED: usize = 20;

impl Reader {
    /// A reader of `source` through `mapping`, with look-ups where the source has them.
    pub fn mapped(source: Source, mapping: Arc<Mapping>) -> Self {
        let source = Arc::new(source);
        let (read_source, read_mapping) = (Arc::clone(&source), Arc::clone(&mapping));
        let mut reader = Self::telling(move |request| {
            let (source, mapping) = (Arc::clone(&read_source), Arc::clone(&read_mapping));
            off_the_reactor(source, mapping, request)
        });
        if source.can_be_watched() {
            let source = Arc::clone(&source);
            reader = reader.with_glance(move || source.glance());
        }
        if !source.can_look_up() {
            return reader;
        }
        reader.with_look_up(move |identifiers| {
            let (source, mapping) = (Arc::clone(&source), Arc::clone(&mapping));
            async move { look_up(&source, &mapping, &identifiers).await }
        })
    }
}

/// Maps on a thread that may take its time: a mapping of many rows must not delay anybody's answer.
async fn off_the_reactor(
    source: Arc<Source>,
    mapping: Arc<Mapping>,
    request: Request,
) -> Result<Told, Failed> {
    let runtime = tokio::runtime::Handle::current();
    let reading =
        tokio::task::spawn_blocking(move || runtime.block_on(read(&source, &mapping, &request)));
    reading
        .await
        .map_err(|error| format!("the mapping ended early: {error}"))?
}

async fn read(source: &Source, mapping: &Mapping, request: &Request) -> Result<Told, Failed> {
    let since = Since {
        mark: request.trace.as_deref().map(|trace| &trace.mark),
        changes: request.changes,
    };
    let mut passing = Passing {
        request,
        mapping,
        duplicates: mapping.duplicates(),
        touched: source.gives_changes(since).then(Touched::default),
        left_out: 0,
        dirt: Dirt::default(),
        closed: Ok(()),
    };
    let read = source.read_since(since, |row, tables| passing.take(&row, tables));
    let read = read.await.map_err(|error| Failed {
        words: error.to_string(),
        lasting: error.fault.is_lasting(),
    })?;
    passing.closed.clone()?;
    let mut trace = Trace {
        mark: read.mark.clone(),
        ..Trace::default()
    };
    if read.extent == Extent::Same {
        let known = request.trace.as_deref();
        if let Some(known) = known {
            trace.missing_columns.clone_from(&known.missing_columns);
            trace.dirty.clone_from(&known.dirty);
            trace.spoilt.clone_from(&known.spoilt);
        }
        return Ok(Told::Same(trace));
    }
    if read.columns_are_fixed {
        trace.missing_columns = missing_columns(source, mapping, &read, request)?;
    }
    passing.garbled(source, &read)?;
    passing.dirt(request, read.extent, &mut trace)?;
    passing.end()?;
    Ok(Told::Units(trace))
}

/// The mapped columns that the source lacks. One that the last reading had was renamed or taken away: that
/// is for a person to see before the vehicles lose what it said.
fn missing_columns(
    source: &Source,
    mapping: &Mapping,
    read: &sources::Read,
    request: &Request,
) -> Result<BTreeSet<String>, String> {
    let findings = mapping.missing_columns(&read.columns);
    if let Some(known) = request.trace.as_deref().filter(|_| !request.accept) {
        let new = findings
            .iter()
            .find(|finding| !known.missing_columns.contains(&finding.key));
        if let Some(finding) = new {
            return Err(format!(
                "{}: {}, which the last reading had; {}",
                finding.key, finding.reason, finding.remedy
            ));
        }
    } else {
        for finding in &findings {
            tracing::warn!(
                source = source.describe(),
                key = %finding.key, reason = %finding.reason, remedy = %finding.remedy,
                "mapped column is missing"
            );
        }
    }
    Ok(findings.into_iter().map(|finding| finding.key).collect())
}

/// The units of one reading on their way.
struct Passing<'a> {
    request: &'a Request,
    mapping: &'a Mapping,
    duplicates: Duplicates,
    /// Which units came, when only what changed is read.
    touched: Option<Touched>,
    left_out: usize,
    dirt: Dirt,
    /// Whether somebody still wants units.
    closed: Result<(), String>,
}

impl Passing<'_> {
    fn take(&mut self, row: &Row, tables: &Tables) {
        if self.closed.is_err() {
            return;
        }
        let outcome = self.mapping.apply(row, tables);
        if let Some(touched) = &mut self.touched {
            touched.note(&outcome);
        }
        if let Outcome::Rejected {
            identifiers,
            column,
            value_class,
            reason,
        } = &outcome
        {
            self.left_out += 1;
            if self.left_out <= NAMED {
                let stock = identifiers.stock.as_deref().unwrap_or_default();
                tracing::warn!(stock, column, value_class, reason, "row left out");
            }
        }
        self.dirt.note(&outcome);
        if matches!(outcome, Outcome::Hidden { .. }) {
            self.duplicates.note(&outcome);
        }
        self.send(unit(outcome));
    }

    fn send(&mut self, unit: Unit) {
        if let Unit::Listing(listing) | Unit::Known(listing) = &unit {
            self.duplicates.see(listing);
        }
        if self.closed.is_ok() {
            self.closed = self.request.sink.give(unit);
        }
    }

    /// Names the rows that the source's reader could not make out.
    fn garbled(&mut self, source: &Source, read: &sources::Read) -> Result<(), String> {
        for skipped in read.skipped.iter().take(NAMED) {
            tracing::warn!(
                source = source.describe(),
                row = skipped.row,
                reason = skipped.reason,
                "row cannot be read"
            );
        }
        for _ in 0..read.skipped_rows {
            self.send(Unit::Rejected("a row that cannot be read".to_owned()));
        }
        self.closed.clone()
    }

    /// Takes stock of what the rows lack. A field that most rows lost at once is for a person to see, like a
    /// column that was renamed.
    fn dirt(&mut self, request: &Request, extent: Extent, trace: &mut Trace) -> Result<(), String> {
        let known = request.trace.as_deref();
        let spoilt = self.dirt.spoilt();
        trace.dirty = std::mem::take(&mut self.dirt.by_reason);
        let Some(known) = known else {
            trace.spoilt = spoilt.into_keys().collect();
            return Ok(());
        };
        if extent == Extent::Changes {
            // With those since the whole was read last.
            for (reason, count) in &known.dirty.by_reason {
                trace.dirty.add(reason.clone(), *count);
            }
            trace.spoilt.clone_from(&known.spoilt);
            return Ok(());
        }
        let mut news = spoilt
            .iter()
            .filter(|(field, _)| !known.spoilt.contains(*field));
        if let Some((field, words)) = news.next().filter(|_| !request.accept) {
            return Err(format!(
                "{field}: {words}; the last reading had it: mend the mapping's steps, or publish without it by \
                 `forecourt inventory refresh --accept`"
            ));
        }
        trace.spoilt = spoilt.into_keys().collect();
        Ok(())
    }

    /// What did not change joins in, and the duplicate rule is applied over all.
    fn end(mut self) -> Result<(), String> {
        if let (Some(touched), Some(current)) = (self.touched.take(), &self.request.current) {
            self.untouched(&touched, current);
        }
        let (dropped, _) = self.duplicates.finish();
        for (at, dropped) in dropped {
            let reason = format!("duplicate: {}", dropped.reason);
            self.request.sink.give(Unit::Withdrawn(at, reason))?;
        }
        self.closed
    }

    fn untouched(&mut self, touched: &Touched, current: &Current) {
        for unit in current.units(&|named| touched.has(named)) {
            self.send(unit);
        }
    }
}

fn unit(outcome: Outcome) -> Unit {
    match outcome {
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
    let outcomes = rows.iter().map(|row| mapping.apply(row, &tables));
    let standing = mapping.standing(outcomes.collect());
    Ok(standing.into_iter().map(unit).collect())
}
