//! The columns of a snapshot and the AAP fields they hold. Must not know queries.

use serde_json::{Map, Value};

use super::places::{Places, PointBits};
use super::rank::{MISSING, Ranked};
use super::terms::{Case, Terms};
use crate::contract::request::SortField;

/// A term field of a listing; with `year`, the sixteen groups of the facets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Group {
    Make,
    Model,
    Trim,
    Condition,
    Status,
    VehicleType,
    Body,
    Rooftop,
    ExteriorColor,
    InteriorColor,
    Fuel,
    Transmission,
    Driveline,
    ChargePort,
    DcFastCharge,
}

impl Group {
    pub(super) const COUNT: usize = 15;
    pub(super) const ALL: [Self; Self::COUNT] = [
        Self::Make,
        Self::Model,
        Self::Trim,
        Self::Condition,
        Self::Status,
        Self::VehicleType,
        Self::Body,
        Self::Rooftop,
        Self::ExteriorColor,
        Self::InteriorColor,
        Self::Fuel,
        Self::Transmission,
        Self::Driveline,
        Self::ChargePort,
        Self::DcFastCharge,
    ];

    /// The listing's member.
    pub(super) fn field(self) -> &'static str {
        match self {
            Self::Make => "make",
            Self::Model => "model",
            Self::Trim => "trim",
            Self::Condition => "condition",
            Self::Status => "status",
            Self::VehicleType => "vehicle_type",
            Self::Body => "body",
            Self::Rooftop => "rooftop",
            Self::ExteriorColor => "exterior_color",
            Self::InteriorColor => "interior_color",
            Self::Fuel => "fuel",
            Self::Transmission => "transmission",
            Self::Driveline => "driveline",
            Self::ChargePort => "charge_port",
            Self::DcFastCharge => "dc_fast_charge",
        }
    }

    /// The member of the Facets object.
    pub(super) fn facet(self) -> &'static str {
        match self {
            Self::Make => "makes",
            Self::Model => "models",
            Self::Trim => "trims",
            Self::Condition => "conditions",
            Self::Status => "statuses",
            Self::VehicleType => "vehicle_types",
            Self::Body => "bodies",
            Self::Rooftop => "rooftops",
            Self::ExteriorColor => "exterior_colors",
            Self::InteriorColor => "interior_colors",
            Self::Fuel => "fuels",
            Self::Transmission => "transmissions",
            Self::Driveline => "drivelines",
            Self::ChargePort => "charge_ports",
            Self::DcFastCharge => "dc_fast_charge",
        }
    }

    /// Enums, rooftop names and booleans are exact; free text is not (AAP-381).
    pub(super) fn case(self) -> Case {
        match self {
            Self::Condition
            | Self::Status
            | Self::VehicleType
            | Self::Rooftop
            | Self::DcFastCharge => Case::Exact,
            Self::Make
            | Self::Model
            | Self::Trim
            | Self::Body
            | Self::ExteriorColor
            | Self::InteriorColor
            | Self::Fuel
            | Self::Transmission
            | Self::Driveline
            | Self::ChargePort => Case::Folded,
        }
    }

    /// The listing's value. An absent vehicle type is `car` (AAP-431); an empty text is no value.
    pub(super) fn value(self, listing: &Map<String, Value>) -> Option<&str> {
        let value = listing.get(self.field());
        match self {
            Self::DcFastCharge => value?.as_bool().map(bool_term),
            Self::VehicleType => Some(value.and_then(Value::as_str).unwrap_or("car")),
            _ => value?.as_str().filter(|text| !text.is_empty()),
        }
    }
}

/// How a boolean stands in a term column.
pub(super) fn bool_term(value: bool) -> &'static str {
    if value { "true" } else { "false" }
}

/// A numeric field of a listing, kept as `i64`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Number {
    Price,
    ListPrice,
    Msrp,
    Mileage,
    Year,
    UpdatedAt,
    DisplacementCc,
    ElectricRangeMi,
}

impl Number {
    pub(super) const COUNT: usize = 8;
    pub(super) const ALL: [Self; Self::COUNT] = [
        Self::Price,
        Self::ListPrice,
        Self::Msrp,
        Self::Mileage,
        Self::Year,
        Self::UpdatedAt,
        Self::DisplacementCc,
        Self::ElectricRangeMi,
    ];

    fn field(self) -> &'static str {
        match self {
            Self::Price => "price",
            Self::ListPrice => "list_price",
            Self::Msrp => "msrp",
            Self::Mileage => "mileage",
            Self::Year => "year",
            Self::UpdatedAt => "updated_at",
            Self::DisplacementCc => "displacement_cc",
            Self::ElectricRangeMi => "electric_range_mi",
        }
    }

    /// The listing's value as the column holds it.
    pub(super) fn value(self, listing: &Map<String, Value>) -> Option<i64> {
        let value = listing.get(self.field())?;
        match self {
            Self::UpdatedAt => instant(value.as_str()?),
            Self::ElectricRangeMi => value.as_f64().map(miles_key),
            _ => integer(value),
        }
    }
}

/// The bits of a number that is not negative: they order like the numbers.
pub(super) fn miles_key(miles: f64) -> i64 {
    i64::try_from(miles.max(0.0).to_bits()).unwrap_or(i64::MAX)
}

/// The number behind [`miles_key`].
pub(super) fn miles_of_key(key: i64) -> f64 {
    f64::from_bits(key.unsigned_abs())
}

/// `20` and `20.0` are the same integer (A-01 of the contract).
#[expect(
    clippy::cast_possible_truncation,
    reason = "only whole numbers that an f64 holds exactly are converted"
)]
fn integer(value: &Value) -> Option<i64> {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    value.as_i64().or_else(|| {
        let float = value.as_f64()?;
        (float.fract() == 0.0 && float.abs() <= EXACT).then_some(float as i64)
    })
}

/// Nanoseconds since 1970: an order of instants, whatever offset they are written with.
fn instant(text: &str) -> Option<i64> {
    let instant: jiff::Timestamp = text.parse().ok()?;
    let nanos = instant.as_nanosecond();
    Some(i64::try_from(nanos).unwrap_or(if nanos < 0 { i64::MIN } else { i64::MAX }))
}

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
