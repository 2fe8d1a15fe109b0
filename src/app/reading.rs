//! Reads a source once through a mapping, for people who want to see what it becomes. Must keep neither rows nor
//! listings.

use std::collections::{BTreeMap, HashSet};

use serde_json::{Map, Value};

use crate::contract::Contract;
use crate::mapping::report::Report;
use crate::mapping::{Dropped, Mapping, Outcome, Tables};
use crate::profile::Profile;
use crate::sources::{Read, Source, SourceError};

/// What of a listing is still to be counted once it is known which of two alike stands.
struct Judged {
    /// Where it breaks the contract: it would not be served.
    refused: Option<String>,
    /// The rooftop that it names and the profile lacks (AAP-355).
    stranger: Option<String>,
}

impl Judged {
    fn new(
        listing: Map<String, Value>,
        contract: Option<&Contract>,
        profile: Option<&Profile>,
    ) -> Self {
        let rooftop = listing.get("rooftop").and_then(Value::as_str);
        let unknown = |name: &&str| profile.is_some_and(|p| p.rooftop(name).is_none());
        let stranger = rooftop.filter(unknown).map(str::to_owned);
        let checked = contract.map(|contract| contract.check_listing(&Value::Object(listing)));
        let problems = checked.and_then(Result::err);
        Self {
            refused: problems.map(|problems| {
                let first = problems.first();
                first.map_or_else(String::new, |problem| problem.instance_location.clone())
            }),
            stranger,
        }
    }
}

/// What one reading of a source became, for people.
#[derive(Debug)]
pub struct Tally {
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
    let contract = Contract::v3_0().ok();
    let mut duplicates = mapping.duplicates();
    let mut judged = Vec::new();
    let read = source
        .read(|row, tables: &Tables| {
            let outcome = mapping.apply(&row, tables);
            report.add(&outcome);
            duplicates.note(&outcome);
            if let Outcome::Published(listing, _) = outcome {
                judged.push(Judged::new(listing, contract.as_deref(), profile));
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
    let (dropped, shared_stock) = duplicates.finish();
    let (gone, dropped): (HashSet<usize>, Vec<Dropped>) = dropped.into_iter().unzip();
    report.duplicates(&dropped, &shared_stock);
    let mut strangers: BTreeMap<String, u64> = BTreeMap::new();
    let listings = judged.into_iter().enumerate();
    for (_, judged) in listings.filter(|(at, _)| !gone.contains(at)) {
        if let Some(pointer) = judged.refused {
            report.refused(&pointer);
        }
        if let Some(rooftop) = judged.stranger {
            *strangers.entry(rooftop).or_default() += 1;
        }
    }
    let mut findings = missing(mapping, &read, &report);
    let rooftops = profile.iter().flat_map(|profile| &profile.rooftops);
    let names: Vec<&str> = rooftops.map(|rooftop| rooftop.name.as_str()).collect();
    for (rooftop, rows) in strangers {
        findings.push(format!(
            "{rows} vehicles name the rooftop {rooftop:?}, which the profile lacks; it has {}",
            names.join(", ")
        ));
    }
    Ok(Tally { findings, report })
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
