//! A mapping ready to run. Must not hold anything of the file that running does not need.

use std::collections::HashMap;

use regex::Regex;
use serde_json::Value;

use super::expression::{Expr, Template};
use super::field::Kind;
use super::path::Path;
use super::plan::Plan;
use super::rooftop::Rooftops;
use super::step::Step;

/// A field's way from cell to value.
#[derive(Clone, Debug)]
pub(super) struct Field {
    pub(super) name: String,
    pub(super) kind: Kind,
    pub(super) origin: Origin,
    pub(super) when: Option<Expr>,
    pub(super) steps: Vec<Step>,
    pub(super) required: bool,
}

/// Where a field's value starts.
#[derive(Clone, Debug)]
pub(super) enum Origin {
    /// The first of these cells that comes to a value.
    Paths(Vec<Path>),
    Constant(Value),
    Expr(Expr),
    Template(Template),
    /// One column of all child rows.
    Children {
        rows: String,
        column: Path,
    },
    /// The time the source states for the whole file.
    AsOf,
}

impl Field {
    /// The column for reports.
    pub(super) fn column(&self) -> String {
        match &self.origin {
            Origin::Paths(paths) => paths
                .iter()
                .map(|path| path.text.as_str())
                .collect::<Vec<_>>()
                .join(" or "),
            Origin::Constant(_) => "(constant)".to_owned(),
            Origin::Expr(_) => "(expression)".to_owned(),
            Origin::Template(_) => "(template)".to_owned(),
            Origin::Children { rows, column } => format!("{rows}.{}", column.text),
            Origin::AsOf => "(the file's own time)".to_owned(),
        }
    }
}

/// A condition that a vehicle must meet to be shown.
#[derive(Clone, Debug)]
pub(super) struct Filter {
    pub(super) keep: Expr,
    pub(super) reason: String,
    /// Looks at the mapped listing, not only at the row.
    pub(super) late: bool,
}

/// One way to an authoritative price; its basis was stated, or it would not have been compiled.
#[derive(Clone, Debug)]
pub(super) struct Price {
    pub(super) field: Field,
    pub(super) omit_when: Option<Expr>,
}

/// The mandatory dealer charges inside the price.
#[derive(Clone, Debug)]
pub(super) struct Fees {
    pub(super) defaults: Option<Defaults>,
    pub(super) overrides: Option<String>,
    /// Parallel lists of the row, put side by side into rows.
    pub(super) zip: Vec<Path>,
    pub(super) code: Field,
    pub(super) name: Field,
    pub(super) amount: Field,
    pub(super) mandatory: Option<Expr>,
    pub(super) government: Option<Expr>,
}

/// Fee rows of a side table that apply to a vehicle.
#[derive(Clone, Debug)]
pub(super) struct Defaults {
    pub(super) table: String,
    /// (column in the side table, cell of the row)
    pub(super) join: Option<(String, Path)>,
    pub(super) when: Option<Expr>,
}

/// Evidence for features, and the readable list.
#[derive(Clone, Debug)]
pub(super) struct Features {
    pub(super) origin: FeatureOrigin,
    pub(super) skip: Option<Expr>,
    pub(super) source: Field,
    pub(super) status: Option<Field>,
    pub(super) list_unmatched: bool,
    /// Normalised text to the index of its vocabulary entry.
    pub(super) matches: HashMap<String, usize>,
    pub(super) vocabulary: Vec<(String, String)>,
}

/// Where option texts come from.
#[derive(Clone, Debug)]
pub(super) enum FeatureOrigin {
    Rows { rows: String, text: Field },
    List(Field),
}

/// What becomes of two rows with one VIN.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum SameVin {
    Newest,
    Keep,
}

/// What becomes of a VIN that is none.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum BadVin {
    Attribute(String),
    Omit,
    Reject,
}

/// Everything.
#[derive(Clone, Debug)]
pub(super) struct Model {
    pub(super) name: String,
    pub(super) plan: Plan,
    pub(super) filters: Vec<Filter>,
    /// In listing order; `other_attributes` apart.
    pub(super) fields: Vec<Field>,
    pub(super) attributes: Vec<Field>,
    pub(super) updated_at: Field,
    pub(super) prices: Vec<Price>,
    pub(super) fees: Option<Fees>,
    pub(super) features: Option<Features>,
    pub(super) same_vin: SameVin,
    pub(super) bad_vin: BadVin,
    pub(super) look_up: Option<Regex>,
    pub(super) rooftops: Option<Rooftops>,
    /// Columns that fields and expressions read from the row.
    pub(super) columns: Vec<(String, Path)>,
}
