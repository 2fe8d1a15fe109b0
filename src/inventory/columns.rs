//! The columns of a snapshot, and what its orders run by. Must not know queries.

use super::fields::{Group, Number};
use super::places::{Places, PointBits};
use super::rank::{MISSING, Ranked};
use super::terms::Terms;
use crate::contract::request::SortField;

/// All columns of one snapshot.
#[derive(Debug)]
pub(super) struct Columns {
    pub(super) terms: [Terms; Group::COUNT],
    pub(super) numbers: [Ranked<i64>; Number::COUNT],
    pub(super) stock: Ranked<Box<str>>,
    pub(super) places: Places,
}

impl Columns {
    #[expect(
        clippy::indexing_slicing,
        reason = "the array has one entry per variant"
    )]
    pub(super) fn terms(&self, group: Group) -> &Terms {
        &self.terms[group as usize]
    }

    #[expect(
        clippy::indexing_slicing,
        reason = "the array has one entry per variant"
    )]
    pub(super) fn number(&self, number: Number) -> &Ranked<i64> {
        &self.numbers[number as usize]
    }

    /// The ranks that a sort field orders by, and how many there are; none for distance.
    pub(super) fn axis(&self, field: SortField) -> Option<(&[u32], u32)> {
        fn of<T>(column: &Ranked<T>) -> (&[u32], u32) {
            (column.ranks(), super::rank::narrow(column.values().len()))
        }
        Some(match Axis::of(field)? {
            Axis::Number(number) => of(self.number(number)),
            Axis::Term(group) => of(self.terms(group).column()),
            Axis::Stock => of(&self.stock),
        })
    }

    /// What row `row` is ordered by, as values.
    pub(super) fn keys(&self, row: u32) -> Keys {
        let term = |group| self.terms(group).column().at(row).cloned();
        Keys {
            numbers: SORT_NUMBERS.map(|number| self.number(number).at(row).copied()),
            make: term(Group::Make),
            model: term(Group::Model),
            stock: self.stock.at(row).cloned(),
            place: self.places.column().at(row).copied(),
        }
    }

    /// Those keys as ranks, in the order of [`SORT_FIELDS`], and the place.
    pub(super) fn ranks_of(&self, keys: &Keys) -> ([u32; SORT_FIELDS.len()], u32) {
        fn rank<T: Ord>(column: &Ranked<T>, value: Option<&T>) -> u32 {
            let found = value.and_then(|value| column.position(value).ok());
            found.unwrap_or(MISSING)
        }
        let ranks = SORT_FIELDS.map(|field| match Axis::of(field) {
            Some(Axis::Number(number)) => {
                let at = SORT_NUMBERS.iter().position(|n| *n == number);
                let value = at.and_then(|at| keys.numbers.get(at)?.as_ref());
                rank(self.number(number), value)
            }
            Some(Axis::Term(Group::Make)) => {
                rank(self.terms(Group::Make).column(), keys.make.as_ref())
            }
            Some(Axis::Term(group)) => rank(self.terms(group).column(), keys.model.as_ref()),
            Some(Axis::Stock) | None => rank(&self.stock, keys.stock.as_ref()),
        });
        (ranks, rank(self.places.column(), keys.place.as_ref()))
    }

    /// Bytes of all columns.
    pub(super) fn bytes(&self) -> usize {
        let terms: usize = self.terms.iter().map(Terms::bytes).sum();
        let numbers: usize = self.numbers.iter().map(Ranked::bytes).sum();
        let stock: usize = self.stock.values().iter().map(|stock| stock.len()).sum();
        terms + numbers + stock + self.stock.bytes() + self.places.bytes()
    }
}

/// The sort fields that do not depend on a request.
pub(super) const SORT_FIELDS: [SortField; 9] = [
    SortField::Price,
    SortField::ListPrice,
    SortField::Msrp,
    SortField::Mileage,
    SortField::Year,
    SortField::UpdatedAt,
    SortField::Make,
    SortField::Model,
    SortField::Stock,
];

/// The numeric ones of them.
pub(super) const SORT_NUMBERS: [Number; 6] = [
    Number::Price,
    Number::ListPrice,
    Number::Msrp,
    Number::Mileage,
    Number::Year,
    Number::UpdatedAt,
];

/// The column behind a sort field. Make and model order without case, as they match; stock is exact.
#[derive(Clone, Copy, Debug)]
pub(super) enum Axis {
    Number(Number),
    Term(Group),
    Stock,
}

impl Axis {
    /// `None` for distance, which no column holds.
    pub(super) fn of(field: SortField) -> Option<Self> {
        Some(match field {
            SortField::Price => Self::Number(Number::Price),
            SortField::ListPrice => Self::Number(Number::ListPrice),
            SortField::Msrp => Self::Number(Number::Msrp),
            SortField::Mileage => Self::Number(Number::Mileage),
            SortField::Year => Self::Number(Number::Year),
            SortField::UpdatedAt => Self::Number(Number::UpdatedAt),
            SortField::Make => Self::Term(Group::Make),
            SortField::Model => Self::Term(Group::Model),
            SortField::Stock => Self::Stock,
            SortField::DistanceMi => return None,
        })
    }
}

/// What one unit is ordered by, as values that mean the same in every snapshot.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Keys {
    /// In the order of [`SORT_NUMBERS`].
    pub(super) numbers: [Option<i64>; SORT_NUMBERS.len()],
    pub(super) make: Option<Box<str>>,
    pub(super) model: Option<Box<str>>,
    pub(super) stock: Option<Box<str>>,
    pub(super) place: Option<PointBits>,
}
