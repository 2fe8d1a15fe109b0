//! Which rows satisfy the constraints of a request: bitmaps of terms first, the rest row by row on what
//! they leave. Must not drop, widen or reinterpret a constraint (AAP-389).

use std::borrow::Cow;

use roaring::{MultiOps as _, RoaringBitmap};

use super::InventoryError;
use super::blocks::{each_block, each_block_below, retain};
use super::fields::{Group, Number, miles_key};
use super::filter_sets;
use super::keywords::Token;
use super::places::Distances;
use super::rank::{MISSING, narrow};
use super::snapshot::Snapshot;
use super::text::{fold, tokens};
use crate::contract::request::Filters;

/// With more rooftops than this inside a radius, rows are tested singly instead of joining bitmaps.
const MOST_PLACES_JOINED: usize = 256;
/// With fewer than one row in this many left, keyword tokens are tested row by row.
const SPARSE: u64 = 8;

/// With at least one row in this many left, a range is found for all rows at once.
const DENSE: u64 = 6;

/// A range that a request gives: `low <= rank < high`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Span {
    pub(super) number: Number,
    pub(super) low: u32,
    pub(super) high: u32,
}

/// The rows that match.
#[derive(Debug)]
pub(super) struct Matching<'s> {
    snapshot: &'s Snapshot,
    /// What bitmaps leave; `None` for all rows.
    rows: Option<Cow<'s, RoaringBitmap>>,
    tests: Vec<Test<'s>>,
    spans: Vec<Span>,
    distances: Option<Distances<'s>>,
}

/// A constraint that is tested row by row.
#[derive(Debug)]
enum Test<'s> {
    /// `low <= rank < high`, where `low < high`; a missing value's rank is above every `high`.
    Range {
        ranks: &'s [u32],
        low: u32,
        high: u32,
    },
    Near,
    Keyword(Box<Token<'s>>),
}

impl<'s> Matching<'s> {
    /// All rows.
    pub(super) fn everything(snapshot: &'s Snapshot) -> Self {
        Self {
            snapshot,
            rows: None,
            tests: Vec::new(),
            spans: Vec::new(),
            distances: None,
        }
    }

    /// The rows that satisfy all of `filters`.
    pub(super) fn new(
        snapshot: &'s Snapshot,
        filters: Option<&Filters>,
    ) -> Result<Self, InventoryError> {
        let mut matching = Self::everything(snapshot);
        if let Some(filters) = filters {
            let mut sets = filter_sets::of_terms(snapshot, filters);
            filter_sets::of_features(snapshot, filters, &mut sets)?;
            matching.identifiers(filters, &mut sets);
            matching.near(filters, &mut sets);
            matching.rows = filter_sets::intersection(sets);
            matching.ranges(filters);
            matching.keywords(filters);
        }
        Ok(matching)
    }

    fn identifiers(&self, filters: &Filters, sets: &mut Vec<Cow<'s, RoaringBitmap>>) {
        if let Some(vin) = &filters.vin {
            let rows = self.snapshot.rows_of_vin(vin).iter().copied();
            sets.push(Cow::Owned(rows.collect()));
        }
        if let Some(stock) = &filters.stock {
            let rows = self.snapshot.rows_of_stock(stock).iter().copied();
            sets.push(Cow::Owned(rows.collect()));
        }
    }

    fn near(&mut self, filters: &Filters, sets: &mut Vec<Cow<'s, RoaringBitmap>>) {
        let Some(near) = &filters.near else {
            return;
        };
        let distances = self.snapshot.columns().places.distances(near);
        let inside = distances.bitmaps_inside().count();
        if inside <= MOST_PLACES_JOINED {
            sets.push(Cow::Owned(distances.bitmaps_inside().union()));
        } else {
            self.tests.push(Test::Near);
        }
        self.distances = Some(distances);
    }

    fn ranges(&mut self, filters: &Filters) {
        let whole = [
            (Number::Year, filters.year_min, filters.year_max),
            (Number::Price, filters.price_min, filters.price_max),
            (Number::Mileage, None, filters.mileage_max),
            (
                Number::DisplacementCc,
                filters.displacement_cc_min,
                filters.displacement_cc_max,
            ),
        ];
        for (number, min, max) in whole {
            self.range(number, min, max);
        }
        let miles = |bound: Option<i64>| bound.map(exact_miles_key);
        let (min, max) = (filters.electric_range_mi_min, filters.electric_range_mi_max);
        self.range(Number::ElectricRangeMi, miles(min), miles(max));
    }

    /// Bounds are inclusive (AAP-382); a missing value is in no range (AAP-380).
    fn range(&mut self, number: Number, min: Option<i64>, max: Option<i64>) {
        if min.is_none() && max.is_none() {
            return;
        }
        let columns = self.snapshot.columns();
        let column = columns.number(number);
        let sorted = column.sorted();
        let low = min.map_or(0, |min| sorted.below(&min));
        let high = max.map_or_else(|| sorted.count(), |max| sorted.through(&max));
        if low >= high {
            self.rows = Some(Cow::Owned(RoaringBitmap::new()));
            return;
        }
        self.spans.push(Span { number, low, high });
        let all = self.snapshot.everything().len();
        let left = self.rows.as_ref().map_or(all, |rows| rows.len());
        match columns.slices(number) {
            Some(slices) if left * DENSE >= all => {
                let mut rows = slices.between(low, high);
                if let Some(left) = &self.rows {
                    rows &= left.as_ref();
                }
                self.rows = Some(Cow::Owned(rows));
            }
            _ => self.tests.push(Test::Range {
                ranks: column.ranks(),
                low,
                high,
            }),
        }
    }

    fn keywords(&mut self, filters: &Filters) {
        let Some(query) = &filters.query else {
            return;
        };
        let snapshot = self.snapshot;
        let terms = [Group::Make, Group::Model, Group::Trim];
        let terms = terms.map(|group| snapshot.columns().terms(group));
        for token in tokens(query) {
            let token = snapshot.keywords().token(&fold(&token), terms);
            let left = self.rows.as_ref().map(|rows| rows.len());
            if left.is_some_and(|left| left * SPARSE < snapshot.everything().len()) {
                self.tests.push(Test::Keyword(Box::new(token)));
            } else {
                let mut rows = token.into_rows();
                if let Some(left) = &self.rows {
                    rows &= left.as_ref();
                }
                self.rows = Some(Cow::Owned(rows));
            }
        }
    }

    /// The ranges that were asked for.
    pub(super) fn spans(&self) -> &[Span] {
        &self.spans
    }

    /// The distances of this request's `near`.
    pub(super) fn distances(&self) -> Option<&Distances<'s>> {
        self.distances.as_ref()
    }

    /// How many rows match, when that is known without going through them.
    pub(super) fn known_len(&self) -> Option<u64> {
        if !self.tests.is_empty() {
            return None;
        }
        Some(match &self.rows {
            None => self.snapshot.everything().len(),
            Some(rows) => rows.len(),
        })
    }

    /// Whether a row matches.
    pub(super) fn holds(&self, row: u32) -> bool {
        self.rows.as_ref().is_none_or(|rows| rows.contains(row)) && self.passes(row)
    }

    fn passes(&self, row: u32) -> bool {
        self.tests.iter().all(|test| self.passes_one(test, row))
    }

    fn passes_one(&self, test: &Test<'_>, row: u32) -> bool {
        match test {
            Test::Range { ranks, low, high } => in_range(ranks, *low, *high, row),
            Test::Near => self.distances.as_ref().is_some_and(|d| d.holds(row)),
            Test::Keyword(token) => token.holds(row),
        }
    }

    /// Goes through the matching rows in ascending order, block by block.
    pub(super) fn each_block(&self, mut visit: impl FnMut(&[u32])) {
        let visit = |block: &mut Vec<u32>| {
            for test in &self.tests {
                match test {
                    Test::Range { ranks, low, high } => {
                        retain(block, |row| in_range(ranks, *low, *high, row));
                    }
                    Test::Near | Test::Keyword(_) => {
                        block.retain(|row| self.passes_one(test, *row));
                    }
                }
            }
            visit(block);
        };
        match &self.rows {
            None => each_block_below(narrow(self.snapshot.len()), visit),
            Some(rows) => each_block(rows, visit),
        }
    }

    /// Whether every row matches because nothing was asked.
    pub(super) fn is_everything(&self) -> bool {
        self.rows.is_none() && self.tests.is_empty()
    }

    /// The matching rows as one set.
    pub(super) fn as_set(&self) -> Cow<'_, RoaringBitmap> {
        if self.tests.is_empty() {
            return Cow::Borrowed(match &self.rows {
                None => self.snapshot.everything(),
                Some(rows) => rows.as_ref(),
            });
        }
        let mut set = RoaringBitmap::new();
        self.each_block(|block| {
            // Rows come in ascending order, so that appending cannot fail.
            let appended = set.append(block.iter().copied());
            debug_assert!(appended.is_ok());
        });
        Cow::Owned(set)
    }
}

/// Whether `low <= rank < high`, where `low < high`. Both bounds at once: a rank below `low` wraps around
/// to a great number, and a missing one is great already.
#[inline]
fn in_range(ranks: &[u32], low: u32, high: u32, row: u32) -> bool {
    let rank = ranks.get(row as usize).copied().unwrap_or(MISSING);
    rank.wrapping_sub(low) < high - low
}

/// A whole number of miles beside fractional ranges.
#[expect(
    clippy::cast_precision_loss,
    reason = "ranges beyond 2^53 miles are compared as their nearest number"
)]
fn exact_miles_key(miles: i64) -> i64 {
    miles_key(miles as f64)
}
