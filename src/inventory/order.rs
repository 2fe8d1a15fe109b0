//! The order of results: missing values last in both directions, ties by identity (AAP-410, AAP-425).
//! A place in an order is one `u64`: key, then row. Must not decide what matches.

use super::columns::{Axis, Columns, SORT_FIELDS};
use super::cursor::Place;
use super::history::Since;
use super::matching::Span;
use super::places::Distances;
use super::rank::{MISSING, narrow};
use super::snapshot::Snapshot;
use crate::contract::request::{Sort, SortOrder};

/// The rows in every order that does not depend on a request, so that a page of a broad match is read off.
#[derive(Debug)]
pub(super) struct Orders {
    /// Per entry of [`SORT_FIELDS`]: ascending, descending.
    rows: Vec<[Vec<u32>; 2]>,
}

impl Orders {
    pub(super) fn build(columns: &Columns) -> Self {
        let orders = SORT_FIELDS.map(|field| {
            let (ranks, count) = columns.axis(field).unwrap_or((&[], 0));
            [false, true].map(|descending| counting_sort(ranks, count, descending))
        });
        Self {
            rows: orders.into(),
        }
    }

    /// The rows in order of the field at `axis` of [`SORT_FIELDS`].
    pub(super) fn of(&self, axis: usize, descending: bool) -> &[u32] {
        let pair = self.rows.get(axis);
        let order = pair.and_then(|pair| pair.get(usize::from(descending)));
        order.map(Vec::as_slice).unwrap_or_default()
    }

    pub(super) fn bytes(&self) -> usize {
        let rows = self.rows.iter().flatten();
        rows.map(|rows| rows.capacity() * size_of::<u32>()).sum()
    }
}

fn counting_sort(ranks: &[u32], count: u32, descending: bool) -> Vec<u32> {
    let key = |rank: u32| directed(rank, count, descending).min(count) as usize;
    let mut starts = vec![0_u32; count as usize + 2];
    for rank in ranks {
        if let Some(start) = starts.get_mut(key(*rank) + 1) {
            *start += 1;
        }
    }
    let mut sum = 0;
    for start in &mut starts {
        sum += *start;
        *start = sum;
    }
    let mut rows = vec![0; ranks.len()];
    for (row, rank) in (0..).zip(ranks) {
        if let Some(start) = starts.get_mut(key(*rank)) {
            if let Some(slot) = rows.get_mut(*start as usize) {
                *slot = row;
            }
            *start += 1;
        }
    }
    rows
}

/// A rank as a key of the wanted direction; a missing value stays last.
fn directed(rank: u32, count: u32, descending: bool) -> u32 {
    if descending && rank != MISSING {
        count.saturating_sub(1).saturating_sub(rank)
    } else {
        rank
    }
}

fn compose(key: u32, row: u32) -> u64 {
    u64::from(key) << 32 | u64::from(row)
}

/// The row of a composed place.
pub(super) fn row_of(place: u64) -> u32 {
    // The low half of the place.
    u32::try_from(place & u64::from(u32::MAX)).unwrap_or(MISSING)
}

/// One query's order over one snapshot, as its traversal sees it.
#[derive(Debug)]
pub(super) struct QueryOrder<'s> {
    snapshot: &'s Snapshot,
    sort: Sort,
    by: By<'s>,
    count: u32,
    /// Units that stood elsewhere when the traversal began.
    since: Option<Since<'s>>,
}

#[derive(Debug)]
enum By<'s> {
    Column {
        axis: usize,
        ranks: &'s [u32],
    },
    Distance {
        distinct: Vec<u64>,
        of_place: Vec<u32>,
    },
    /// Distance without an origin, which the contract refuses: identity alone.
    Nothing,
}

impl<'s> QueryOrder<'s> {
    /// The order `sort` as a traversal sees it that began with the reading at `read_at`.
    pub(super) fn new(
        snapshot: &'s Snapshot,
        sort: Sort,
        distances: Option<&Distances<'_>>,
        read_at: i64,
    ) -> Self {
        let axis = SORT_FIELDS.iter().position(|field| *field == sort.field);
        let column = snapshot.columns().axis(sort.field);
        let (by, count) = match (axis.zip(column), distances) {
            (Some((axis, (ranks, count))), _) => (By::Column { axis, ranks }, count),
            (None, Some(distances)) => {
                let (distinct, of_place) = distances.ranked();
                let count = narrow(distinct.len());
                (By::Distance { distinct, of_place }, count)
            }
            (None, None) => (By::Nothing, 0),
        };
        Self {
            snapshot,
            sort,
            by,
            count,
            since: snapshot.history().since(read_at),
        }
    }

    /// The rank of a row now, or when the traversal began.
    fn rank(&self, row: u32) -> u32 {
        let past = self.since.as_ref().and_then(|since| since.of_row(row));
        match (&self.by, past) {
            (By::Column { axis, .. }, Some(past)) => past.rank(*axis),
            (By::Column { ranks, .. }, None) => ranks.get(row as usize).copied().unwrap_or(MISSING),
            (By::Distance { of_place, .. }, past) => {
                let now = || self.snapshot.columns().places.column().rank(row);
                let place = past.map_or_else(now, |past| past.place);
                of_place.get(place as usize).copied().unwrap_or(MISSING)
            }
            (By::Nothing, _) => MISSING,
        }
    }

    fn descending(&self) -> bool {
        self.sort.order == SortOrder::Desc
    }

    /// Where a row stands.
    #[inline]
    pub(super) fn place(&self, row: u32) -> u64 {
        let key = directed(self.rank(row), self.count, self.descending());
        compose(key, row)
    }

    /// Where each of `rows` stands, in `places`.
    pub(super) fn places(&self, rows: &[u32], places: &mut Vec<u64>) {
        places.clear();
        match (&self.by, &self.since) {
            (By::Column { ranks, .. }, None) => {
                let (count, descending) = (self.count, self.descending());
                places.extend(rows.iter().map(|row| {
                    let rank = ranks.get(*row as usize).copied().unwrap_or(MISSING);
                    compose(directed(rank, count, descending), *row)
                }));
            }
            (By::Column { .. } | By::Distance { .. } | By::Nothing, _) => {
                places.extend(rows.iter().map(|row| self.place(*row)));
            }
        }
    }

    /// The first place after the unit that a cursor names, whether that unit is still here or not.
    pub(super) fn after(&self, cursor: &Place, dealer: Option<&str>, id: &str) -> u64 {
        let next_row = self.snapshot.row_after(dealer, id);
        let Some(found) = self.position(cursor) else {
            return compose(MISSING, next_row);
        };
        match (found, self.descending()) {
            (Ok(rank), descending) => compose(directed(rank, self.count, descending), next_row),
            (Err(rank), false) => compose(rank, 0),
            (Err(rank), true) => compose(self.count.saturating_sub(rank), 0),
        }
    }

    /// Where a cursor's value stands among the ranks; `None` when it was missing.
    fn position(&self, cursor: &Place) -> Option<Result<u32, u32>> {
        let columns = self.snapshot.columns();
        match (cursor, &self.by) {
            (Place::Number(value), By::Column { .. }) => match Axis::of(self.sort.field)? {
                Axis::Number(number) => Some(columns.number(number).sorted().position(value)),
                Axis::Term(_) | Axis::Stock => None,
            },
            (Place::Text(value), By::Column { .. }) => {
                let value: Box<str> = value.as_str().into();
                match Axis::of(self.sort.field)? {
                    Axis::Term(group) => Some(columns.terms(group).sorted().position(&value)),
                    Axis::Stock => Some(columns.stock.sorted().position(&value)),
                    Axis::Number(_) => None,
                }
            }
            (Place::Distance(bits), By::Distance { distinct, .. }) => {
                Some(match distinct.binary_search(bits) {
                    Ok(rank) => Ok(narrow(rank)),
                    Err(rank) => Err(narrow(rank)),
                })
            }
            _ => None,
        }
    }

    /// What a cursor keeps of the unit at `row`: a value that means the same in every snapshot.
    pub(super) fn cursor_place(&self, row: u32) -> Place {
        let columns = self.snapshot.columns();
        let rank = self.rank(row);
        let found = match &self.by {
            By::Column { .. } => match Axis::of(self.sort.field) {
                Some(Axis::Number(number)) => columns
                    .number(number)
                    .sorted()
                    .value(rank)
                    .copied()
                    .map(Place::Number),
                Some(Axis::Term(group)) => {
                    text(columns.terms(group).sorted().value(rank).map(AsRef::as_ref))
                }
                Some(Axis::Stock) => text(columns.stock.sorted().value(rank).map(AsRef::as_ref)),
                None => None,
            },
            By::Distance { distinct, .. } => {
                distinct.get(rank as usize).copied().map(Place::Distance)
            }
            By::Nothing => None,
        };
        found.unwrap_or(Place::Missing)
    }

    /// Between which places all rows stand whose value is in `span`, where the order runs by that number.
    pub(super) fn bounds(&self, span: Span) -> Option<(u64, u64)> {
        let by =
            matches!(Axis::of(self.sort.field)?, Axis::Number(number) if number == span.number);
        let at = |rank| compose(rank, 0);
        by.then(|| match self.sort.order {
            SortOrder::Asc => (at(span.low), at(span.high)),
            SortOrder::Desc => {
                let from_top = |rank| at(self.count.saturating_sub(rank));
                (from_top(span.high), from_top(span.low))
            }
        })
    }

    /// The snapshot's rows in this order, when it is one that stands ready and no unit stood elsewhere.
    pub(super) fn ready(&self) -> Option<&'s [u32]> {
        match self.by {
            By::Column { axis, .. } if self.since.is_none() => {
                Some(self.snapshot.orders().of(axis, self.descending()))
            }
            By::Column { .. } | By::Distance { .. } | By::Nothing => None,
        }
    }
}

fn text(value: Option<&str>) -> Option<Place> {
    value.map(|value| Place::Text(value.to_owned()))
}
