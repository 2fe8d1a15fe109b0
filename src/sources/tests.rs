//! Tests of the sources room: real databases, started here and ended here; and what the presets' samples have in
//! common.

mod database_tls;
mod dbf;
mod feed;
mod feed_places;
mod feed_torn;
mod mariadb;
mod postgres;
mod changes;
mod rest;
mod rest_ways;
pub(crate) mod servers;
mod sql_keys;
mod sql_text;
mod sqlite;
mod sqlserver;

/// Members that every preset is compared by.
const MEMBERS: &[&str] = &[
    "stock",
    "vin",
    "year",
    "make",
    "model",
    "trim",
    "condition",
    "vehicle_type",
    "body",
    "transmission",
    "driveline",
    "mileage",
    "msrp",
    "status",
    "rooftop",
];

/// What differs where one dealership is named for both showrooms, and `reason`; then `more`.
fn one_showroom<'a>(
    reason: &'a str,
    more: &[(&'a str, &'a str, &'a str)],
) -> Vec<(&'a str, &'a str, &'a str)> {
    let rooftop = "\"Harbor Point Motors\" for \"Harbor Point Cycles\"";
    let bikes = ["M10112.rooftop", "M10114.rooftop", "M24113.rooftop"];
    let mut all: Vec<_> = bikes.map(|key| (key, rooftop, reason)).to_vec();
    all.extend(more);
    all
}
