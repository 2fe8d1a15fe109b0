//! Which column is taken for which member. Must not write what a field says.

use std::collections::BTreeMap;

use super::alias::{ALIASES, folded, rank};
use super::codes::CodeList;
use super::column::{Column, Columns};
use super::words;
use super::write::Becomes;

/// The columns that were taken, by member, and what came of them.
pub(super) struct Members<'a> {
    pub(super) columns: &'a Columns,
    lists: &'a [CodeList],
    chosen: BTreeMap<&'static str, &'a Column>,
    /// Code tables by name.
    pub(super) tables: BTreeMap<&'static str, Vec<(String, Becomes)>>,
    pub(super) questions: Vec<String>,
}

/// Members that may share a column with another.
const SHARING: &[&str] = &["advertised", "vehicle_type", "fuel_too"];

impl<'a> Members<'a> {
    pub(super) fn choose(columns: &'a Columns, lists: &'a [CodeList]) -> Self {
        let mut members = Self {
            columns,
            lists,
            chosen: BTreeMap::new(),
            tables: BTreeMap::new(),
            questions: Vec::new(),
        };
        for (member, _) in ALIASES {
            let free = |column: &&Column| {
                let taken = members
                    .chosen
                    .values()
                    .any(|other| other.place == column.place);
                column.filled > 0 && (!taken || SHARING.contains(member))
            };
            let best = columns
                .list
                .iter()
                .filter(free)
                .filter(|column| plausible(member, column))
                .filter_map(|column| Some((rank(member, &column.names)?, column)))
                .min_by_key(|(rank, _)| *rank);
            if let Some((_, column)) = best {
                members.chosen.insert(member, column);
            }
        }
        members
    }

    /// The column that was taken for a member.
    pub(super) fn get(&self, member: &str) -> Option<&'a Column> {
        self.chosen.get(member).copied()
    }

    /// The column of a member as an expression reads it.
    pub(super) fn expression(&self, member: &str) -> Option<String> {
        self.get(member)?.in_expression()
    }

    /// Columns that no member was made of.
    pub(super) fn left(&self) -> Vec<&'a Column> {
        let taken = |column: &&Column| {
            self.chosen
                .values()
                .any(|other| other.place == column.place)
        };
        self.columns
            .list
            .iter()
            .filter(|column| column.filled > 0 && !taken(column))
            .collect()
    }

    /// The system's own list for a column's codes.
    pub(super) fn list(&self, member: &str, column: &Column) -> Option<&'a CodeList> {
        self.lists.iter().find(|list| list.explains(member, column))
    }

    /// Column values with the text that the system has for each: its own, where it has no list.
    pub(super) fn texts(&self, member: &str, column: &Column) -> Vec<(String, String)> {
        let list = self.list(member, column);
        let text = |value: &String| {
            let text = list.and_then(|list| list.text(value)).unwrap_or(value);
            (value.clone(), text.to_owned())
        };
        column.values.iter().map(text).collect()
    }
}

/// Whether a column's values could be what its name says.
fn plausible(member: &str, column: &Column) -> bool {
    let known = |test: fn(&str) -> bool| column.any(|value| test(&folded(value)));
    match member {
        "newness" => known(|word| words::condition(word).is_some()),
        "vehicle_type" => {
            column.values.len() <= 40 && known(|word| words::vehicle_type(word).is_some())
        }
        "photos" | "photos_too" | "vdp_url" => column.any(|value| value.contains('/')),
        "updated_at" | "sold_on" => {
            column.any(|value| value.bytes().any(|byte| byte.is_ascii_digit()))
        }
        "mileage" | "year" | "msrp" | "list_price" | "advertised" | "displacement_cc"
        | "motor_power_kw" => column.any(|value| value.bytes().any(|byte| byte.is_ascii_digit())),
        "electric_range_mi" | "battery_kwh" => column.all(|value| value.parse::<f64>().is_ok()),
        _ => true,
    }
}
