//! The Facets object over a full matching set: exact counts, extremes of known values, and the whole
//! feature vocabulary (AAP-361 … AAP-375). Must not show a value that no matching unit has.

use std::cmp::Reverse;

use roaring::RoaringBitmap;
use serde_json::Value;

use super::blocks::each_block;
use super::columns::Columns;
use super::fields::{Group, Number, miles_of_key};
use super::rank::Ranked;
use super::snapshot::Snapshot;
use super::terms::Terms;
use crate::contract::Fragment;

/// The Facets object over `rows`.
pub(super) fn of(snapshot: &Snapshot, rows: &RoaringBitmap) -> Fragment {
    let columns = snapshot.columns();
    let mut tally = Tally::new(columns);
    each_block(rows, |block| tally.count(columns, block));

    let mut out = String::from("{");
    for (group, counts) in Group::ALL.into_iter().zip(&tally.terms) {
        write_terms(&mut out, group, columns.terms(group), counts);
        if group == Group::Trim {
            write_years(&mut out, columns.number(Number::Year), &tally.years);
        }
    }
    for ((name, number), extremes) in RANGES.into_iter().zip(&tally.ranges) {
        write_range(&mut out, name, number, columns.number(number), *extremes);
    }
    write_features(&mut out, snapshot, rows);
    if out.ends_with(',') {
        out.pop();
    }
    out.push('}');
    Fragment::new(out)
}

const RANGES: [(&str, Number); 5] = [
    ("price_range", Number::Price),
    ("mileage_range", Number::Mileage),
    ("year_range", Number::Year),
    ("displacement_cc_range", Number::DisplacementCc),
    ("electric_range_mi_range", Number::ElectricRangeMi),
];

struct Tally {
    terms: [Vec<u32>; Group::COUNT],
    years: Vec<u32>,
    /// Least and greatest rank seen.
    ranges: [Option<(u32, u32)>; RANGES.len()],
}

impl Tally {
    fn new(columns: &Columns) -> Self {
        Self {
            terms: Group::ALL.map(|group| vec![0; columns.terms(group).column().values().len()]),
            years: vec![0; columns.number(Number::Year).values().len()],
            ranges: [None; RANGES.len()],
        }
    }

    fn count(&mut self, columns: &Columns, block: &[u32]) {
        for (group, counts) in Group::ALL.into_iter().zip(&mut self.terms) {
            count(counts, columns.terms(group).column().ranks(), block);
        }
        let years = columns.number(Number::Year).ranks();
        count(&mut self.years, years, block);
        for ((_, number), extremes) in RANGES.into_iter().zip(&mut self.ranges) {
            let column = columns.number(number);
            let known = u32::try_from(column.values().len()).unwrap_or(u32::MAX);
            for row in block {
                let rank = column.rank(*row);
                if rank < known {
                    let (least, greatest) = extremes.unwrap_or((rank, rank));
                    *extremes = Some((least.min(rank), greatest.max(rank)));
                }
            }
        }
    }
}

fn count(counts: &mut [u32], ranks: &[u32], block: &[u32]) {
    for row in block {
        // A missing value's rank is beyond the counts.
        if let Some(rank) = ranks.get(*row as usize)
            && let Some(count) = counts.get_mut(*rank as usize)
        {
            *count += 1;
        }
    }
}

/// Ranks with their counts, the most frequent first, then in order of their values.
fn seen(counts: &[u32]) -> Vec<(usize, u32)> {
    let mut seen: Vec<(usize, u32)> = counts
        .iter()
        .copied()
        .enumerate()
        .filter(|(_, count)| *count > 0)
        .collect();
    // A stable sort: equal counts stay in order of their values.
    seen.sort_by_key(|(_, count)| Reverse(*count));
    seen
}

fn write_terms(out: &mut String, group: Group, terms: &Terms, counts: &[u32]) {
    open_list(out, group.facet());
    for (rank, count) in seen(counts) {
        let shown = terms.shown(rank).unwrap_or_default();
        // Booleans are booleans (AAP-366).
        let value = if group == Group::DcFastCharge {
            shown.to_owned()
        } else {
            quoted(shown)
        };
        write_entry(out, &value, count);
    }
    close_list(out);
}

fn write_years(out: &mut String, years: &Ranked<i64>, counts: &[u32]) {
    open_list(out, "years");
    for (rank, count) in seen(counts) {
        if let Some(year) = years.values().get(rank) {
            write_entry(out, &year.to_string(), count);
        }
    }
    close_list(out);
}

fn write_range(
    out: &mut String,
    name: &str,
    number: Number,
    column: &Ranked<i64>,
    extremes: Option<(u32, u32)>,
) {
    let Some((least, greatest)) = extremes else {
        return;
    };
    let text = |rank| {
        let key = column.value(rank).copied().unwrap_or_default();
        if number == Number::ElectricRangeMi {
            number_text(miles_of_key(key))
        } else {
            key.to_string()
        }
    };
    let (min, max) = (text(least), text(greatest));
    for part in ["\"", name, "\":{\"min\":", &min, ",\"max\":", &max, "},"] {
        out.push_str(part);
    }
}

/// `250`, not `250.0`: the shortest form of a whole number.
fn number_text(number: f64) -> String {
    let text = Value::from(number).to_string();
    text.strip_suffix(".0").map(str::to_owned).unwrap_or(text)
}

fn write_features(out: &mut String, snapshot: &Snapshot, rows: &RoaringBitmap) {
    let features = snapshot.features().entries();
    if features.is_empty() {
        return;
    }
    open_list(out, "features");
    for feature in features {
        let count = feature.rows.intersection_len(rows);
        for part in [
            "{\"code\":",
            &quoted(&feature.code),
            ",\"label\":",
            &quoted(&feature.label),
            ",\"count\":",
        ] {
            out.push_str(part);
        }
        write_count(out, count);
    }
    close_list(out);
}

fn open_list(out: &mut String, name: &str) {
    out.push('"');
    out.push_str(name);
    out.push_str("\":[");
}

fn write_entry(out: &mut String, value: &str, count: u32) {
    out.push_str("{\"value\":");
    out.push_str(value);
    out.push_str(",\"count\":");
    write_count(out, count.into());
}

/// The count, and the end of its entry.
fn write_count(out: &mut String, count: u64) {
    out.push_str(&count.to_string());
    out.push_str("},");
}

/// A text as JSON, which cannot fail.
fn quoted(text: &str) -> String {
    serde_json::to_string(text).unwrap_or_default()
}

fn close_list(out: &mut String) {
    if out.ends_with(',') {
        out.pop();
    }
    out.push_str("],");
}
