//! The columns of a snapshot, and what its orders run by. Must not know queries.

use super::features::Features;
use super::fields::{Group, Number};
use super::grid::{Grid, Source};
use super::places::{Places, PointBits};
use super::rank::{MISSING, Ranked, Sorted};
use super::slices::Slices;
use super::terms::Terms;
use crate::contract::request::SortField;

/// All columns of one snapshot.
#[derive(Debug)]
pub(super) struct Columns {
    pub(super) terms: [Terms; Group::COUNT],
    pub(super) numbers: [Ranked<i64>; Number::COUNT],
    pub(super) stock: Ranked<Box<str>>,
    pub(super) places: Places,
    /// In the order of [`RANGED`].
    slices: [Slices; RANGED.len()],
    grid: Grid,
}

impl Columns {
    /// The columns of `rows` rows, with what is derived of them.
    pub(super) fn new(
        rows: usize,
        mut terms: [Terms; Group::COUNT],
        numbers: [Ranked<i64>; Number::COUNT],
        stock: Ranked<Box<str>>,
        places: Places,
        features: &Features,
    ) -> Self {
        let sources = Self::counted(&terms, &numbers);
        let grid = Grid::lay(rows, &sources, features.entries());
        for (at, (group, terms)) in Group::ALL.into_iter().zip(&mut terms).enumerate() {
            // What orders run by stays at hand.
            if grid.has(at) && !matches!(group, Group::Make | Group::Model) {
                terms.forget_ranks();
            }
        }
        let slices = RANGED.map(|number| {
            let column = numbers.get(number as usize);
            let column = column.map(|column| (column.ranks(), column.sorted().count()));
            let (ranks, count) = column.unwrap_or_default();
            Slices::cut(ranks, count)
        });
        Self {
            terms,
            numbers,
            stock,
            places,
            slices,
            grid,
        }
    }

    /// What facets count, in the order of the grid: the groups, then [`COUNTED`].
    fn counted<'s>(terms: &'s [Terms], numbers: &'s [Ranked<i64>]) -> Vec<Source<'s>> {
        let terms = terms.iter().map(|terms| Source {
            ranks: terms.ranks(),
            count: terms.sorted().count(),
        });
        let numbers = COUNTED.iter().filter_map(|number| {
            let column = numbers.get(*number as usize)?;
            Some(Source {
                ranks: column.ranks(),
                count: column.sorted().count(),
            })
        });
        terms.chain(numbers).collect()
    }

    /// What facets count. Ranks that only the grid has are not repeated.
    pub(super) fn sources(&self) -> Vec<Source<'_>> {
        Self::counted(&self.terms, &self.numbers)
    }

    pub(super) fn grid(&self) -> &Grid {
        &self.grid
    }

    /// The slices of a number that has ranges.
    pub(super) fn slices(&self, number: Number) -> Option<&Slices> {
        let at = RANGED.iter().position(|ranged| *ranged == number)?;
        self.slices.get(at)
    }

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
            (column.ranks(), column.sorted().count())
        }
        Some(match Axis::of(field)? {
            Axis::Number(number) => of(self.number(number)),
            Axis::Term(group) => (
                self.terms(group).ranks(),
                self.terms(group).sorted().count(),
            ),
            Axis::Stock => of(&self.stock),
        })
    }

    /// What row `row` is ordered by, as values.
    pub(super) fn keys(&self, row: u32) -> Keys {
        let term = |group| self.terms(group).at(row).map(Box::from);
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
        fn rank<T: Ord>(sorted: &Sorted<T>, value: Option<&T>) -> u32 {
            let found = value.and_then(|value| sorted.position(value).ok());
            found.unwrap_or(MISSING)
        }
        let ranks = SORT_FIELDS.map(|field| match Axis::of(field) {
            Some(Axis::Number(number)) => {
                let at = SORT_NUMBERS.iter().position(|n| *n == number);
                let value = at.and_then(|at| keys.numbers.get(at)?.as_ref());
                rank(self.number(number).sorted(), value)
            }
            Some(Axis::Term(Group::Make)) => {
                rank(self.terms(Group::Make).sorted(), keys.make.as_ref())
            }
            Some(Axis::Term(group)) => rank(self.terms(group).sorted(), keys.model.as_ref()),
            Some(Axis::Stock) | None => rank(self.stock.sorted(), keys.stock.as_ref()),
        });
        let place = rank(self.places.column().sorted(), keys.place.as_ref());
        (ranks, place)
    }

    /// Bytes of all columns.
    pub(super) fn bytes(&self) -> usize {
        let terms: usize = self.terms.iter().map(Terms::bytes).sum();
        let numbers: usize = self.numbers.iter().map(Ranked::bytes).sum();
        let stock = self.stock.sorted().values().iter();
        let stock: usize = stock.map(|stock| stock.len()).sum();
        let slices: usize = self.slices.iter().map(Slices::bytes).sum();
        let derived = slices + self.grid.bytes();
        terms + numbers + stock + self.stock.bytes() + self.places.bytes() + derived
    }
}

/// The numbers that requests give ranges of.
const RANGED: [Number; 5] = [
    Number::Price,
    Number::Mileage,
    Number::Year,
    Number::DisplacementCc,
    Number::ElectricRangeMi,
];

/// The numbers with so few values that each is counted.
pub(super) const COUNTED: [Number; 3] = [
    Number::Year,
    Number::DisplacementCc,
    Number::ElectricRangeMi,
];

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
