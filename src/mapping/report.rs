//! What became of a whole source: counts by reason, how often each member is filled, dirty values by
//! class, duplicates. Must not hold a cell's content.

use std::collections::BTreeMap;
use std::fmt;

use serde_json::{Value, json};

use super::{Dropped, Mapping, Outcome, Warning};

/// Counts over one reading.
#[derive(Clone, Debug, Default)]
pub struct Report {
    rows: u64,
    /// Rows that became listings, those that give way or are refused later included.
    mapped: u64,
    hidden: BTreeMap<String, u64>,
    rejected: BTreeMap<(String, String, String), u64>,
    filled: BTreeMap<String, u64>,
    dirty: BTreeMap<(String, String, String, String), u64>,
    duplicates: BTreeMap<String, u64>,
    shared_stock: Vec<String>,
    /// Rows that the source garbled, by reason.
    garbled: BTreeMap<String, u64>,
    /// Listings that break the contract, by place.
    refused: BTreeMap<String, u64>,
}

impl Report {
    /// An empty report that knows which members the mapping can fill.
    pub fn new(mapping: &Mapping) -> Self {
        Self {
            filled: mapping
                .supplied_fields()
                .into_iter()
                .map(|name| (name, 0))
                .collect(),
            ..Self::default()
        }
    }

    /// Counts one row.
    pub fn add(&mut self, outcome: &Outcome) {
        self.rows += 1;
        match outcome {
            Outcome::Published(listing, warnings) => {
                self.mapped += 1;
                for name in listing.keys() {
                    *self.filled.entry(name.clone()).or_default() += 1;
                }
                for warning in warnings {
                    self.warn(warning);
                }
            }
            Outcome::Hidden { reason, .. } => {
                *self.hidden.entry(reason.clone()).or_default() += 1;
            }
            Outcome::Rejected {
                column,
                value_class,
                reason,
                ..
            } => {
                let key = (reason.clone(), column.clone(), value_class.clone());
                *self.rejected.entry(key).or_default() += 1;
            }
        }
    }

    fn warn(&mut self, warning: &Warning) {
        let key = (
            warning.field.clone(),
            warning.column.clone(),
            warning.value_class.clone(),
            warning.reason.clone(),
        );
        *self.dirty.entry(key).or_default() += 1;
    }

    /// Counts what the duplicate rule dropped.
    pub fn duplicates(&mut self, dropped: &[Dropped], shared_stock: &[String]) {
        for dropped in dropped {
            *self.duplicates.entry(dropped.reason.clone()).or_default() += 1;
        }
        self.shared_stock = shared_stock.to_vec();
    }

    /// Counts a row that the source could not give whole.
    pub fn garbled(&mut self, reason: &str) {
        self.rows += 1;
        let reason = format!("garbled row: {reason}");
        *self.garbled.entry(reason).or_default() += 1;
    }

    /// Counts a listing that breaks the contract at this place, and so is not served.
    pub fn refused(&mut self, pointer: &str) {
        let reason = format!("breaks the contract at {pointer}");
        *self.refused.entry(reason).or_default() += 1;
    }

    /// Members that the mapping fills and no row gave a value for.
    pub fn never_filled(&self) -> Vec<&str> {
        let empty = self.filled.iter().filter(|(_, count)| **count == 0);
        empty.map(|(name, _)| name.as_str()).collect()
    }

    /// Whether a row was rejected or nothing was published: what makes a check fail.
    pub fn has_findings(&self) -> bool {
        !self.rejected.is_empty()
            || !self.garbled.is_empty()
            || !self.refused.is_empty()
            || self.published() == 0
    }

    /// Rows seen so far.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Listings that would be served: of two alike only the one that stands, and none that breaks the contract.
    pub fn published(&self) -> u64 {
        let gone = sum(&self.duplicates) + sum(&self.refused);
        self.mapped.saturating_sub(gone)
    }

    /// Rows that the mapping says are not to be shown.
    pub fn hidden(&self) -> u64 {
        sum(&self.hidden)
    }

    /// Rows that are missed for another reason.
    pub fn left_out(&self) -> u64 {
        let gone = self.published() + self.hidden();
        self.rows.saturating_sub(gone)
    }

    /// Rows that cannot be served whatever the mapping says, by reason.
    fn unusable(&self) -> BTreeMap<&String, u64> {
        let all = self.garbled.iter().chain(&self.refused);
        all.map(|(reason, rows)| (reason, *rows)).collect()
    }

    /// How many of the mapped rows have a member, in per cent.
    fn share(&self, filled: u64) -> u64 {
        (filled * 100).checked_div(self.mapped).unwrap_or(0)
    }

    /// For machines.
    pub fn to_json(&self) -> Value {
        let rejected: Vec<Value> = self
            .rejected
            .iter()
            .map(|((reason, column, class), count)| {
                json!({ "reason": reason, "column": column, "value_class": class, "rows": count })
            })
            .collect();
        let dirty: Vec<Value> = self
            .dirty
            .iter()
            .map(|((field, column, class, reason), count)| {
                json!({
                    "field": field, "column": column, "value_class": class,
                    "reason": reason, "rows": count,
                })
            })
            .collect();
        let coverage: BTreeMap<&String, u64> = self
            .filled
            .iter()
            .map(|(name, count)| (name, self.share(*count)))
            .collect();
        json!({
            "rows": self.rows,
            "published": self.published(),
            "mapped": self.mapped,
            "hidden": self.hidden,
            "rejected": rejected,
            "unusable": self.unusable(),
            "filled": self.filled,
            "filled_percent": coverage,
            "never_filled": self.never_filled(),
            "dirty": dirty,
            "duplicates": self.duplicates,
            "shared_stock": self.shared_stock,
        })
    }
}

fn sum(counts: &BTreeMap<String, u64>) -> u64 {
    counts.values().sum()
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "rows read {}, published {}", self.rows, self.published())?;
        for (reason, count) in &self.hidden {
            writeln!(f, "  hidden    {count:>6}  {reason}")?;
        }
        for ((reason, column, class), count) in &self.rejected {
            writeln!(
                f,
                "  rejected  {count:>6}  {reason} (column {column}: {class})"
            )?;
        }
        for (reason, count) in self.unusable() {
            writeln!(f, "  unusable  {count:>6}  {reason}")?;
        }
        for (reason, count) in &self.duplicates {
            writeln!(f, "  duplicate {count:>6}  {reason}")?;
        }
        if !self.shared_stock.is_empty() {
            let stocks = self.shared_stock.join(", ");
            writeln!(f, "stock numbers of two vehicles: {stocks}")?;
        }
        writeln!(f, "filled, of {} mapped:", self.mapped)?;
        for (name, count) in &self.filled {
            let share = self.share(*count);
            writeln!(f, "  {name:<20} {count:>6}  {share:>3} %")?;
        }
        let empty = self.never_filled();
        if !empty.is_empty() {
            writeln!(f, "mapped, and filled by no row: {}", empty.join(", "))?;
        }
        if !self.dirty.is_empty() {
            writeln!(f, "left out as dirty:")?;
        }
        for ((field, column, class, reason), count) in &self.dirty {
            writeln!(
                f,
                "  {field:<20} {count:>6}  column {column}: {class}; {reason}"
            )?;
        }
        Ok(())
    }
}
