//! The AAP listing members a mapping can fill, with their types and bounds. Must not know any source.

use serde_json::Value;

/// What a listing member may hold (AAP Vehicle and `InventoryListing`).
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Kind {
    Text,
    Whole {
        min: i64,
        max: i64,
    },
    Amount,
    Flag,
    Word(&'static [&'static str]),
    Date,
    Url,
    Urls,
    Texts,
    /// A value of `other_attributes`.
    Any,
    /// An RFC 3339 instant, written in UTC.
    Instant,
    /// A charge's name, as long as AAP lets it be.
    Label,
    /// Degrees up to this many either way.
    Degrees(i64),
    /// An IANA time zone.
    Zone,
    /// A time of day as `HH:MM`.
    Clock,
}

/// The days of a week as AAP writes them.
pub const DAYS: &[&str] = &[
    "monday",
    "tuesday",
    "wednesday",
    "thursday",
    "friday",
    "saturday",
    "sunday",
];

/// What a vehicle is worth: 0 stands for "ask us" wherever it stands.
const MONEY: Kind = Kind::Whole {
    min: 1,
    max: MOST_DOLLARS,
};
const MOST_DOLLARS: i64 = 100_000_000;
const COUNT: Kind = Kind::Whole {
    min: 0,
    max: 10_000_000,
};

/// Members that stand under `[fields]`, in the order a listing shows them. `price`, `fees`,
/// `feature_evidence` and `updated_at` have sections of their own, because each needs a statement.
pub(super) const FIELDS: &[(&str, Kind)] = &[
    ("vehicle_id", Kind::Text),
    ("dealer_id", Kind::Text),
    ("vin", Kind::Text),
    ("stock", Kind::Text),
    ("status", Kind::Word(&["available", "intransit", "pending"])),
    (
        "vehicle_type",
        Kind::Word(&["car", "motorcycle", "trailer", "rv", "other"]),
    ),
    ("condition", Kind::Word(&["new", "used", "cpo"])),
    (
        "year",
        Kind::Whole {
            min: 1900,
            max: 2100,
        },
    ),
    ("make", Kind::Text),
    ("model", Kind::Text),
    ("trim", Kind::Text),
    ("body", Kind::Text),
    ("exterior_color", Kind::Text),
    ("interior_color", Kind::Text),
    ("mileage", COUNT),
    ("fuel", Kind::Text),
    ("engine", Kind::Text),
    ("displacement_cc", COUNT),
    ("transmission", Kind::Text),
    ("driveline", Kind::Text),
    ("city_mpg", COUNT),
    ("highway_mpg", COUNT),
    ("electric_range_mi", Kind::Amount),
    ("battery_kwh", Kind::Amount),
    ("motor_power_hp", Kind::Amount),
    ("charge_port", Kind::Text),
    ("dc_fast_charge", Kind::Flag),
    ("msrp", MONEY),
    ("list_price", MONEY),
    ("rooftop", Kind::Text),
    ("inventory_date", Kind::Date),
    ("features", Kind::Texts),
    ("photos", Kind::Urls),
    ("vdp_url", Kind::Url),
    ("description", Kind::Text),
    ("notes", Kind::Text),
];

/// The kind of a `[fields]` member.
pub(super) fn kind_of(name: &str) -> Option<Kind> {
    FIELDS
        .iter()
        .find(|(field, _)| *field == name)
        .map(|(_, kind)| *kind)
}

/// The kind of `price`.
pub(super) const PRICE: Kind = MONEY;

/// The kind of a charge, which 0 removes.
pub(super) const CHARGE: Kind = Kind::Whole {
    min: 0,
    max: MOST_DOLLARS,
};

/// What kind of value it was, for logs and reports: never the value itself.
pub(super) fn class_of(value: &Value) -> String {
    match value {
        Value::Null => "nothing".to_owned(),
        Value::Bool(_) => "a truth value".to_owned(),
        Value::Number(number) if number.is_f64() => "a number with a fraction".to_owned(),
        Value::Number(_) => "a whole number".to_owned(),
        Value::String(text) => text_class(text),
        Value::Array(list) => format!("a list of {}", list.len()),
        Value::Object(_) => "an object".to_owned(),
    }
}

fn text_class(text: &str) -> String {
    let trimmed = text.trim();
    let length = trimmed.chars().count();
    if trimmed.is_empty() {
        "blank text".to_owned()
    } else if trimmed.bytes().all(|byte| byte.is_ascii_digit()) {
        format!("{length} digits")
    } else if trimmed.chars().any(|c| c.is_ascii_digit()) {
        format!("text of {length} characters with digits")
    } else {
        format!("text of {length} characters")
    }
}
