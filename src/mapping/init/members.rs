//! Which column is taken for which member, and what its field says. Must not write a whole file.

use std::collections::BTreeMap;

use super::alias::{ALIASES, folded, rank};
use super::codes::CodeList;
use super::column::{Column, Columns, Place};
use super::steps;
use super::words::{self, Meaning, YES};
use super::write::{self, Becomes};

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
    fn list(&self, member: &str, column: &Column) -> Option<&'a CodeList> {
        self.lists.iter().find(|list| list.explains(member, column))
    }

    /// Column values with the text that the system has for each: its own, where it has no list.
    fn texts(&self, member: &str, column: &Column) -> Vec<(String, String)> {
        let list = self.list(member, column);
        let text = |value: &String| {
            let text = list.and_then(|list| list.text(value)).unwrap_or(value);
            (value.clone(), text.to_owned())
        };
        column.values.iter().map(text).collect()
    }

    /// A field whose codes are words of AAP, each known or asked for.
    pub(super) fn vocabulary(
        &mut self,
        member: &'static str,
        known: fn(&str) -> Option<Meaning>,
        miss: &str,
    ) -> Option<String> {
        let column = self.get(if member == "condition" {
            "newness"
        } else {
            member
        })?;
        let mut open = Vec::new();
        let mut entries = Vec::new();
        for (code, text) in self.texts(member, column) {
            entries.push(match known(&folded(&text)) {
                Some(Meaning::Is(word)) => (code, Becomes::Text(word.to_owned())),
                Some(Meaning::Hide(reason)) => (code, Becomes::Hide(reason.to_owned())),
                None => {
                    open.push(code.clone());
                    (code, Becomes::Text("?".to_owned()))
                }
            });
        }
        if !open.is_empty() {
            self.questions.push(format!(
                "tables.{member}: what do these codes mean: {}?",
                open.join(", ")
            ));
        }
        self.tables.insert(member, entries);
        let step = format!("{{ table = {{ of = \"{member}\", miss = \"{miss}\" }} }}");
        Some(write::field(&column.place, &[step], false))
    }

    /// A text field: the system's own list for its codes, or known other spellings, or the cell as it is.
    pub(super) fn text(
        &mut self,
        member: &'static str,
        known: fn(&str) -> Option<&'static str>,
    ) -> Option<String> {
        let column = self.get(member)?;
        let listed = self.list(member, column).is_some();
        let mut changed = false;
        let entries: Vec<(String, Becomes)> = self
            .texts(member, column)
            .into_iter()
            .filter_map(|(code, text)| {
                let word = known(&folded(&text)).map_or(text, str::to_owned);
                changed |= word != code;
                (listed || word != code).then_some((code, Becomes::Text(word)))
            })
            .collect();
        if !changed {
            return Some(write::field(&column.place, &[], false));
        }
        self.tables.insert(member, entries);
        let steps = [
            "\"trim\"".to_owned(),
            format!("{{ table = {{ of = \"{member}\", miss = \"pass\" }} }}"),
        ];
        Some(write::field(&column.place, &steps, false))
    }

    /// The vehicle's type: its own column, or the body styles that are no cars.
    pub(super) fn vehicle_type(&mut self) -> Option<String> {
        if let Some(column) = self.get("vehicle_type") {
            let entries: Vec<(String, Becomes)> = self
                .texts("vehicle_type", column)
                .into_iter()
                .filter_map(|(code, text)| {
                    let word = words::vehicle_type(&folded(&text))?;
                    Some((code, Becomes::Text(word.to_owned())))
                })
                .collect();
            if entries
                .iter()
                .all(|(code, word)| matches!(word, Becomes::Text(word) if word == code))
            {
                return Some(write::field(&column.place, &[], false));
            }
            self.tables.insert("vehicle_type", entries);
            return Some(write::field(
                &column.place,
                &["{ table = \"vehicle_type\" }".to_owned()],
                false,
            ));
        }
        let column = self.get("body")?;
        let entries: Vec<(String, Becomes)> = self
            .texts("body", column)
            .into_iter()
            .filter_map(|(code, text)| {
                let word = words::not_a_car(&folded(&text))?;
                Some((code, Becomes::Text(word.to_owned())))
            })
            .collect();
        if entries.is_empty() {
            return Some("{ value = \"car\" }".to_owned());
        }
        self.tables.insert("vehicle_type", entries);
        let steps = [
            "\"trim\"".to_owned(),
            "{ table = { of = \"vehicle_type\", miss = \"omit\" } }".to_owned(),
            "{ default = \"car\" }".to_owned(),
        ];
        Some(write::field(&column.place, &steps, false))
    }

    /// Whether a row is a new vehicle, as an expression.
    pub(super) fn is_new(&self) -> Option<String> {
        let column = self.get("newness")?;
        let new = meaning(column, "new");
        (!new.is_empty()).then(|| {
            Some(format!(
                "text({}) in {}",
                column.in_expression()?,
                write::words(&new)
            ))
        })?
    }

    /// The condition: one column with all of them, or new/used with a flag for certified ones.
    pub(super) fn condition(&mut self) -> Option<String> {
        let column = self.get("newness")?;
        let (Some(flag), Some(newness)) = (self.get("certified"), column.in_expression()) else {
            return self.vocabulary("condition", words::condition, "warn");
        };
        let flag_at = flag.in_expression()?;
        let yes: Vec<String> = flag
            .values
            .iter()
            .filter(|value| YES.contains(&folded(value).as_str()))
            .cloned()
            .collect();
        let (new, used) = (meaning(column, "new"), meaning(column, "used"));
        if yes.is_empty() || new.len() + used.len() < column.values.len() {
            return self.vocabulary("condition", words::condition, "warn");
        }
        let expr = format!(
            "'new' if text({newness}) in {} else ('cpo' if text({flag_at}) in {} else ('used' if text({newness}) in {} else none))",
            write::words(&new),
            write::words(&yes),
            write::words(&used)
        );
        Some(format!("{{ expr = {} }}", write::quoted(&expr)))
    }

    /// Miles, with 0 kept on new vehicles only.
    pub(super) fn mileage(&self) -> Option<String> {
        let column = self.get("mileage")?;
        let unit = self.get("mileage_unit").and_then(|unit| match &unit.place {
            Place::Path(path) => Some(path.as_str()),
            Place::Inside { .. } | Place::Child { .. } => None,
        });
        let steps = steps::miles(column, unit, self.is_new().as_deref());
        Some(write::field(&column.place, &steps, false))
    }

    /// The fuel; a powertrain word decides before the fuel word where both are there.
    pub(super) fn fuel(&mut self) -> Option<String> {
        let column = self.get("fuel")?;
        let other = self
            .get("fuel_too")
            .filter(|other| other.place != column.place);
        let burns = |value: &str| folded(value) == "combustion";
        let combustion = column.values.iter().find(|value| burns(value));
        let (Some(other), Some(word)) = (other, combustion) else {
            return self.text("fuel", words::fuel);
        };
        let (powertrain, fuel) = (column.in_expression()?, other.in_expression()?);
        let values = column.values.iter().chain(&other.values);
        let entries = values
            .filter_map(|value| {
                Some((
                    value.clone(),
                    Becomes::Text(words::fuel(&folded(value))?.to_owned()),
                ))
            })
            .collect();
        self.tables.insert("fuel", entries);
        let expr = format!("{powertrain} if {powertrain} != '{word}' else {fuel} | default(none)");
        Some(format!(
            "{{ expr = {}, steps = [{{ table = {{ of = \"fuel\", miss = \"warn\" }} }}] }}",
            write::quoted(&expr)
        ))
    }
}

/// The values of a column that mean this condition.
fn meaning(column: &Column, wanted: &'static str) -> Vec<String> {
    let means = |value: &&String| words::condition(&folded(value)) == Some(Meaning::Is(wanted));
    column.values.iter().filter(means).cloned().collect()
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
