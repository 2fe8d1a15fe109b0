//! The Facets object over a full matching set: exact counts, extremes of known values, and the whole
//! feature vocabulary (AAP-361 … AAP-375). Must not show a value that no matching unit has.

use std::cmp::Reverse;

use serde_json::Value;

use super::columns::{COUNTED, Columns};
use super::fields::{Group, Number, miles_of_key};
use super::grid::Source;
use super::matching::Matching;
use super::rank::{Sorted, narrow};
use super::snapshot::Snapshot;
use super::terms::Terms;
use crate::contract::Fragment;

/// The Facets object over what matches.
pub(super) fn of(snapshot: &Snapshot, matching: &Matching<'_>) -> Fragment {
    let columns = snapshot.columns();
    let mut tally = Tally::new(columns, snapshot.features().entries().len());
    matching.each_block(|block| tally.count(columns, block));

    let mut out = String::with_capacity(4096);
    out.push('{');
    for (at, group) in Group::ALL.into_iter().enumerate() {
        write_terms(&mut out, group, columns.terms(group), tally.of(at));
        if group == Group::Trim {
            let years = columns.number(Number::Year).sorted();
            write_years(&mut out, years, tally.of_number(Number::Year));
        }
    }
    for (name, number) in RANGES {
        let sorted = columns.number(number).sorted();
        write_range(&mut out, name, number, sorted, tally.extremes(number));
    }
    write_features(&mut out, snapshot, matching, &tally);
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

/// The numbers whose least and greatest value is sought row by row: they have too many values to count.
const SOUGHT: [Number; 2] = [Number::Price, Number::Mileage];

struct Tally<'s> {
    sources: Vec<Source<'s>>,
    /// Where the counts of each source begin, one more than it has ranks; then where those of features do.
    starts: Vec<usize>,
    counts: Vec<u32>,
    /// Least and greatest rank seen of [`SOUGHT`].
    extremes: [Option<(u32, u32)>; SOUGHT.len()],
}

impl<'s> Tally<'s> {
    fn new(columns: &'s Columns, features: usize) -> Self {
        let sources = columns.sources();
        let mut starts = Vec::with_capacity(sources.len() + 1);
        let mut end = 0;
        for source in &sources {
            starts.push(end);
            end += source.count as usize + 1;
        }
        starts.push(end);
        Self {
            sources,
            starts,
            counts: vec![0; end + features],
            extremes: [None; SOUGHT.len()],
        }
    }

    fn count(&mut self, columns: &Columns, block: &[u32]) {
        let grid = columns.grid();
        grid.count(block, &self.starts, &mut self.counts);
        for (at, (source, start)) in self.sources.iter().zip(&self.starts).enumerate() {
            if !grid.has(at) {
                let counts = self.counts.get_mut(*start..).unwrap_or_default();
                count(counts, *source, block);
            }
        }
        for (number, extremes) in SOUGHT.into_iter().zip(&mut self.extremes) {
            let column = columns.number(number);
            let known = column.sorted().count();
            let ranks = block.iter().map(|row| column.rank(*row));
            for rank in ranks.filter(|rank| *rank < known) {
                let (least, greatest) = extremes.unwrap_or((rank, rank));
                *extremes = Some((least.min(rank), greatest.max(rank)));
            }
        }
    }

    /// How often each rank of a source came.
    fn of(&self, source: usize) -> &[u32] {
        let bounds = self.starts.get(source).zip(self.starts.get(source + 1));
        let counts = bounds.and_then(|(start, end)| self.counts.get(*start..end - 1));
        counts.unwrap_or_default()
    }

    fn of_number(&self, number: Number) -> &[u32] {
        let at = COUNTED.iter().position(|counted| *counted == number);
        at.map_or(&[], |at| self.of(Group::COUNT + at))
    }

    /// How often each feature came.
    fn of_features(&self) -> &[u32] {
        let start = self.starts.last().copied().unwrap_or_default();
        self.counts.get(start..).unwrap_or_default()
    }

    /// The least and the greatest rank that came.
    fn extremes(&self, number: Number) -> Option<(u32, u32)> {
        if let Some(at) = SOUGHT.iter().position(|sought| *sought == number) {
            return self.extremes.get(at).copied().flatten();
        }
        let counts = self.of_number(number);
        let least = counts.iter().position(|count| *count > 0)?;
        let greatest = counts.iter().rposition(|count| *count > 0)?;
        Some((narrow(least), narrow(greatest)))
    }
}

fn count(counts: &mut [u32], source: Source<'_>, block: &[u32]) {
    for row in block {
        // A missing value's rank is beyond the counts.
        if let Some(rank) = source.ranks.get(*row as usize)
            && *rank < source.count
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

fn write_years(out: &mut String, years: &Sorted<i64>, counts: &[u32]) {
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
    sorted: &Sorted<i64>,
    extremes: Option<(u32, u32)>,
) {
    let Some((least, greatest)) = extremes else {
        return;
    };
    let text = |rank| {
        let key = sorted.value(rank).copied().unwrap_or_default();
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

fn write_features(
    out: &mut String,
    snapshot: &Snapshot,
    matching: &Matching<'_>,
    tally: &Tally<'_>,
) {
    let features = snapshot.features().entries();
    if features.is_empty() {
        return;
    }
    let rows = (!snapshot.columns().grid().has_features()).then(|| matching.as_set());
    open_list(out, "features");
    for (feature, count) in features.iter().zip(tally.of_features()) {
        let count = match &rows {
            Some(rows) => feature.rows.intersection_len(rows),
            None => u64::from(*count),
        };
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
