//! The fields of a listing that are indexed, and what a listing says in each. Must not know columns.

use serde_json::{Map, Value};

use super::terms::Case;

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
            Self::Make
            | Self::Model
            | Self::Trim
            | Self::Condition
            | Self::Status
            | Self::Body
            | Self::Rooftop
            | Self::ExteriorColor
            | Self::InteriorColor
            | Self::Fuel
            | Self::Transmission
            | Self::Driveline
            | Self::ChargePort => value?.as_str().filter(|text| !text.is_empty()),
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
            Self::Price
            | Self::ListPrice
            | Self::Msrp
            | Self::Mileage
            | Self::Year
            | Self::DisplacementCc => integer(value),
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
