//! The language that turns a dealer's rows into AAP listings: a TOML file of declarative steps, checked
//! as a whole at load and applied to one row at a time. Pure: no file, no network, no clock.
//!
//! What a mapping cannot do, whatever it says: publish a `price` whose basis nobody stated, make
//! `updated_at` out of the present time, take a trim name for evidence, or show a sold vehicle.

mod apply;
mod compile;
mod duplicates;
mod evaluate;
mod explain;
mod expression;
mod features;
mod fees;
mod field;
mod finding;
mod finish;
pub mod init;
mod model;
mod path;
pub mod plan;
pub mod report;
mod rooftop;
mod scope;
mod shorthand;
mod spec;
mod step;
mod steps;
mod vin;
mod warning;

#[cfg(test)]
pub(crate) mod tests;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, OnceLock};

use jiff::Timestamp;
use serde_json::{Map, Value};

pub use duplicates::{Dropped, Duplicates, Resolved};
pub use explain::{Explanation, FieldTrace};
pub use field::DAYS;
pub use finding::Finding;
pub use plan::Plan;
use rooftop::Rooftops;
pub use warning::Warning;

/// What a source yields for one vehicle: its cells and the child rows that belong to it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Row {
    pub fields: Map<String, Value>,
    pub children: BTreeMap<String, Vec<Map<String, Value>>>,
}

impl Row {
    /// The child rows of this name: from a child query, or a list of objects within the row itself.
    fn rows(&self, name: &str) -> Vec<&Map<String, Value>> {
        if let Some(rows) = self.children.get(name) {
            return rows.iter().collect();
        }
        let list = path::Path::parse(name)
            .ok()
            .and_then(|path| path.pick(&self.fields).map(path::elements));
        let list = list.unwrap_or_default().iter();
        list.filter_map(Value::as_object).collect()
    }
}

/// The source's side tables (rooftop fees, codes) and the time it states for itself.
#[derive(Debug, Default)]
pub struct Tables {
    tables: BTreeMap<String, Table>,
    as_of: Option<Timestamp>,
}

#[derive(Debug, Default)]
struct Table {
    rows: Vec<Map<String, Value>>,
    /// Rows by the trimmed text of one column, made at the first look-up.
    index: OnceLock<(String, HashMap<String, Vec<usize>>)>,
}

impl Tables {
    /// No tables.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a side table.
    pub fn insert(&mut self, name: impl Into<String>, rows: Vec<Map<String, Value>>) {
        let index = OnceLock::new();
        self.tables.insert(name.into(), Table { rows, index });
    }

    /// States when the whole source was written.
    #[must_use]
    pub fn with_as_of(mut self, instant: Timestamp) -> Self {
        self.as_of = Some(instant);
        self
    }

    /// When the source was written, if it says.
    pub fn as_of(&self) -> Option<Timestamp> {
        self.as_of
    }

    /// The rows of a side table.
    pub fn rows(&self, name: &str) -> &[Map<String, Value>] {
        self.tables.get(name).map_or(&[], |table| &table.rows)
    }

    /// The rows whose `column` has this text, blanks around it apart.
    fn matching(&self, name: &str, column: &str, wanted: &str) -> Vec<&Map<String, Value>> {
        let Some(table) = self.tables.get(name) else {
            return Vec::new();
        };
        let text = |row: &Map<String, Value>| {
            row.get(column)
                .map(|cell| steps::text::plain(cell).trim().to_owned())
        };
        let (indexed, index) = table.index.get_or_init(|| {
            let mut index: HashMap<String, Vec<usize>> = HashMap::new();
            for (at, row) in table.rows.iter().enumerate() {
                if let Some(text) = text(row) {
                    index.entry(text).or_default().push(at);
                }
            }
            (column.to_owned(), index)
        });
        if indexed == column {
            let found = index.get(wanted.trim()).map_or(&[][..], Vec::as_slice);
            return found.iter().filter_map(|at| table.rows.get(*at)).collect();
        }
        let fits = |row: &&Map<String, Value>| text(row).as_deref() == Some(wanted.trim());
        table.rows.iter().filter(fits).collect()
    }
}

/// What identifies a vehicle that is not published.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Identifiers {
    pub vehicle_id: Option<String>,
    pub vin: Option<String>,
    pub stock: Option<String>,
}

/// What a row became.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// The complete AAP listing object, with what was left out of it.
    Published(Map<String, Value>, Vec<Warning>),
    /// Known and deliberately not offered: sold, deleted, filtered.
    Hidden {
        identifiers: Identifiers,
        /// Since when, as far as the row says.
        updated_at: Option<Timestamp>,
        reason: String,
    },
    /// Unfit to be published.
    Rejected {
        identifiers: Identifiers,
        column: String,
        value_class: String,
        reason: String,
    },
}

/// A mapping file, compiled. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Mapping(Arc<model::Model>);

impl Mapping {
    /// Parses and compiles a mapping file; every finding at once.
    pub fn parse(toml_text: &str) -> Result<Self, Vec<Finding>> {
        compile::compile(toml_text).map(|model| Self(Arc::new(model)))
    }

    /// The mapping's own name.
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// How its source is read.
    pub fn plan(&self) -> &Plan {
        &self.0.plan
    }

    /// How the dealer's rooftops are read, where the mapping finds them at the source.
    pub fn profile_plan(&self) -> Option<&Plan> {
        self.0.rooftops.as_ref().map(|rooftops| &rooftops.plan)
    }

    /// Whether those rooftops come with coordinates.
    pub fn places_rooftops(&self) -> bool {
        self.0.rooftops.as_ref().is_some_and(Rooftops::are_placed)
    }

    /// The complete AAP Rooftop object of a row that was read by the [`Mapping::profile_plan`], with what was
    /// left out of it; or why there is none.
    pub fn rooftop(
        &self,
        row: &Row,
        tables: &Tables,
    ) -> Result<(Map<String, Value>, Vec<Warning>), Warning> {
        match &self.0.rooftops {
            Some(rooftops) => rooftops.apply(row, tables),
            None => Ok((Map::new(), Vec::new())),
        }
    }

    /// Whether `updated_at` is the time the source states for itself, the same for all rows.
    pub fn dates_by_source(&self) -> bool {
        matches!(self.0.updated_at.origin, model::Origin::AsOf)
    }

    /// The AAP members that this mapping can fill, and so what search may advertise.
    pub fn supplied_fields(&self) -> BTreeSet<String> {
        let model = &self.0;
        let mut names: BTreeSet<String> = model.fields.iter().map(|f| f.name.clone()).collect();
        names.insert("updated_at".to_owned());
        if !model.attributes.is_empty() {
            names.insert("other_attributes".to_owned());
        }
        if !model.prices.is_empty() {
            names.insert("price".to_owned());
        }
        if model.fees.is_some() {
            names.insert("fees".to_owned());
        }
        if model.features.is_some() {
            names.extend(["features".to_owned(), "feature_evidence".to_owned()]);
        }
        names
    }

    /// The feature vocabulary: code and label (AAP-370).
    pub fn features(&self) -> &[(String, String)] {
        self.0
            .features
            .as_ref()
            .map_or(&[], |features| &features.vocabulary)
    }

    /// Turns one row into a listing, or says why not.
    pub fn apply(&self, row: &Row, tables: &Tables) -> Outcome {
        apply::apply(&self.0, row, tables, None)
    }

    /// The same with each field's way from cell to value. Holds raw values: for the terminal only.
    pub fn explain(&self, row: &Row, tables: &Tables) -> Explanation {
        let mut traces = Vec::new();
        let outcome = apply::apply(&self.0, row, tables, Some(&mut traces));
        Explanation {
            fields: traces,
            outcome,
        }
    }

    /// Columns that the mapping names and the source lacks. Meaningless for sources that leave out
    /// empty members.
    pub fn missing_columns(&self, seen: &BTreeSet<String>) -> Vec<Finding> {
        let mut findings: Vec<Finding> = Vec::new();
        for (key, path) in &self.0.columns {
            if path.is_in(seen) || findings.iter().any(|f| f.key == *key) {
                continue;
            }
            findings.push(Finding {
                key: key.clone(),
                reason: format!("the source has no column `{}`", path.text),
                remedy: finding::suggest(&path.text, seen.iter().map(String::as_str)),
            });
        }
        findings
    }

    /// The source's key of a listing, for a look-up at the source.
    pub fn look_up_key(&self, listing: &Map<String, Value>) -> Option<String> {
        let pattern = self.0.look_up.as_ref()?;
        let id = listing.get("vehicle_id")?.as_str()?;
        Some(pattern.captures(id)?.get(1)?.as_str().to_owned())
    }

    /// The duplicate rule for mapped rows that pass one after another.
    pub fn duplicates(&self) -> Duplicates {
        Duplicates::new(self.0.same_vin)
    }

    /// What stands of mapped rows after the duplicate rule.
    pub fn standing(&self, outcomes: Vec<Outcome>) -> Vec<Outcome> {
        duplicates::standing(outcomes, self.0.same_vin)
    }

    /// Applies the duplicate rule over all mapped rows.
    pub fn resolve_duplicates(&self, outcomes: Vec<Outcome>) -> Resolved {
        duplicates::resolve(outcomes, self.0.same_vin)
    }
}
