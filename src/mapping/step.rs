//! Steps made ready once at load. Must not run them (that is `steps/`).

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use jiff::tz::TimeZone;
use regex::Regex;
use serde_json::Value;

use super::expression::{Expr, Template};
use super::path::Path;
use super::spec::{Ambiguous, Cents, Miss, Unit};
use super::steps::number::Format;

/// A code table's answer.
#[derive(Clone, Debug)]
pub(super) enum Entry {
    Value(Value),
    /// The vehicle is not shown, for this reason.
    Hide(String),
}

/// A compiled code table.
#[derive(Clone, Debug, Default)]
pub(super) struct CodeTable(pub(super) HashMap<String, Entry>);

/// A step ready to run.
#[derive(Clone, Debug)]
pub(super) enum Step {
    Text(TextStep),
    FixEncoding,
    Json,
    First,
    Dedupe,
    Round,
    Sentinel {
        texts: Vec<String>,
        numbers: Vec<f64>,
        unless: Option<Expr>,
    },
    Default(Value),
    Table {
        table: Arc<CodeTable>,
        miss: Miss,
    },
    Number(Format),
    WholeDollars(Cents),
    Measure {
        to: Unit,
        unit: Option<Unit>,
        unit_from: Option<Path>,
    },
    Century(i64),
    Date(Vec<String>),
    Time(Vec<String>),
    DateTime {
        formats: Vec<String>,
        zone: Option<TimeZone>,
        zone_from: Option<Path>,
        zones: Option<Arc<Zones>>,
        ambiguous: Ambiguous,
    },
    Boolean(Arc<BTreeMap<String, Option<bool>>>),
    Extract(Regex),
    Replace(Regex, String),
    Template(Template),
    Expr(Expr),
    Split(Vec<String>),
    Limit(usize),
    Urls(Option<String>),
    Pick(Path),
}

/// Time zones by the code of a place.
pub(super) type Zones = BTreeMap<String, TimeZone>;

/// Steps that only rewrite text.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum TextStep {
    Trim,
    Collapse,
    Upper,
    Lower,
    Title,
    Sentence,
    StripHtml,
}

/// The step's name for explanations.
pub(super) fn name_of(step: &Step) -> &'static str {
    match step {
        Step::Text(TextStep::Trim) => "trim",
        Step::Text(TextStep::Collapse) => "collapse",
        Step::Text(TextStep::Upper) => "upper",
        Step::Text(TextStep::Lower) => "lower",
        Step::Text(TextStep::Title) => "title",
        Step::Text(TextStep::Sentence) => "sentence",
        Step::Text(TextStep::StripHtml) => "strip_html",
        Step::FixEncoding => "fix_encoding",
        Step::Json => "json",
        Step::First => "first",
        Step::Dedupe => "dedupe",
        Step::Round => "round",
        Step::Sentinel { .. } => "sentinel",
        Step::Default(_) => "default",
        Step::Table { .. } => "table",
        Step::Number(_) => "number",
        Step::WholeDollars(_) => "whole_dollars",
        Step::Measure { .. } => "measure",
        Step::Century(_) => "century",
        Step::Date(_) => "date",
        Step::Time(_) => "time",
        Step::DateTime { .. } => "datetime",
        Step::Boolean(_) => "boolean",
        Step::Extract(_) => "extract",
        Step::Replace(..) => "replace",
        Step::Template(_) => "template",
        Step::Expr(_) => "expr",
        Step::Split(_) => "split",
        Step::Limit(_) => "limit",
        Step::Urls(_) => "urls",
        Step::Pick(_) => "pick",
    }
}
