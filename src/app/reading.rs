//! Reads a source once through a mapping, for people who want to see what it becomes. Must not keep raw rows.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::contract::Contract;
use crate::mapping::report::Report;
use crate::mapping::{Mapping, Outcome, Tables};
use crate::profile::Profile;
use crate::sources::{Read, Skipped, Source, SourceError};

/// Rooftops that listings name and the profile lacks, with their number of listings (AAP-355).
fn strangers(listings: &[Map<String, Value>], profile: &Profile) -> BTreeMap<String, u64> {
    let mut strangers = BTreeMap::new();
    for listing in listings {
        if let Some(name) = listing.get("rooftop").and_then(Value::as_str)
            && profile.rooftop(name).is_none()
        {
            *strangers.entry(name.to_owned()).or_default() += 1;
        }
    }
    strangers
}

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
    /// What is wrong with the mapping or the source as a whole.
    pub findings: Vec<String>,
    pub report: Report,
}

/// Reads `source` once through `mapping` and only counts. Listings are checked against the contract, as when
/// they are served; rooftops against the profile, where one is given.
pub async fn take_stock(
    source: &Source,
    mapping: &Mapping,
    profile: Option<&Profile>,
) -> Result<Tally, SourceError> {
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
    let garbled = usize::try_from(read.skipped_rows).unwrap_or(usize::MAX);
    let remembered = read.skipped.iter().map(|skipped| skipped.reason.as_str());
    for reason in remembered
        .chain(std::iter::repeat("one of many"))
        .take(garbled)
    {
        report.garbled(reason);
    }
    let resolved = mapping.resolve_duplicates(published);
    report.duplicates(&resolved);
    let refused = refuse(&resolved.kept, &mut report);
    let mut findings = missing(mapping, &read, &report);
    if let Some(profile) = profile {
        let names: Vec<&str> = profile.rooftops.iter().map(|r| r.name.as_str()).collect();
        for (rooftop, rows) in strangers(&resolved.kept, profile) {
            findings.push(format!(
                "{rows} vehicles name the rooftop {rooftop:?}, which the profile lacks; it has {}",
                names.join(", ")
            ));
        }
    }
    Ok(Tally {
        rows: read.rows,
        published: resolved.kept.len() - refused,
        hidden,
        rejected: rejected + resolved.dropped.len() + garbled + refused,
        skipped: read.skipped,
        findings,
        report,
    })
}

/// Counts the listings that break the contract: they would not be served.
fn refuse(listings: &[Map<String, Value>], report: &mut Report) -> usize {
    let Ok(contract) = Contract::v3_0() else {
        return 0;
    };
    let mut refused = 0;
    for listing in listings {
        if let Err(problems) = contract.check_listing(&Value::Object(listing.clone())) {
            refused += 1;
            let first = problems.first();
            report.refused(first.map_or("", |problem| problem.instance_location.as_str()));
        }
    }
    refused
}

/// Columns that the mapping names and the source lacks. Where rows may leave members out, only those count that
/// no row has and whose field no row fills.
fn missing(mapping: &Mapping, read: &Read, report: &Report) -> Vec<String> {
    let empty = report.never_filled();
    mapping
        .missing_columns(&read.columns)
        .into_iter()
        .filter(|finding| {
            let field = finding.key.trim_start_matches("fields.");
            read.columns_are_fixed
                || empty
                    .iter()
                    .any(|name| field == *name || field.starts_with(&format!("{name}.")))
        })
        .map(|finding| finding.to_string())
        .collect()
}
