//! Reads a source once through a mapping, for people who want to see what it becomes. Must not keep raw rows.

use crate::mapping::report::Report;
use crate::mapping::{self, Mapping, Outcome, Tables};
use crate::sources::{Skipped, Source, SourceError};

/// What one reading of a source became, for people.
#[derive(Debug)]
pub struct Tally {
    pub rows: u64,
    pub published: usize,
    pub hidden: usize,
    pub rejected: usize,
    /// Rows that the source's reader could not make out, as far as they are remembered; all of them count
    /// among the rejected.
    pub skipped: Vec<Skipped>,
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
        rejected: rejected
            + resolved.dropped.len()
            + usize::try_from(read.skipped_rows).unwrap_or(usize::MAX),
        skipped: read.skipped,
        missing_columns: if read.columns_are_fixed {
            mapping.missing_columns(&read.columns)
        } else {
            Vec::new()
        },
        report,
    })
}
