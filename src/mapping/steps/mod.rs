//! Runs the steps of one field over one cell. A step changes what is there and never invents a value:
//! nothing in, nothing out, save where a default is written. Must not know which field it works for.

pub(super) mod list;
pub(super) mod number;
pub(super) mod text;
pub(super) mod time;

use serde_json::Value;

use super::scope::Scope;
use super::spec::{Cents, Miss};
use super::step::{Entry, Step};

/// Why a field ends without a value.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Stop {
    /// The cell is dirty: the field is left out, or the row where it is required.
    Dirty(String),
    /// The vehicle is not shown.
    Hide(String),
}

impl Stop {
    pub(super) fn dirty(reason: impl Into<String>) -> Self {
        Self::Dirty(reason.into())
    }
}

/// Runs one step.
pub(super) fn run(step: &Step, value: Value, scope: &Scope<'_>) -> Result<Value, Stop> {
    match (step, value) {
        (Step::Default(default), Value::Null) => Ok(default.clone()),
        (_, Value::Null) => Ok(Value::Null),
        (Step::Default(_), value) => Ok(value),
        (Step::Json, value) => list::json(value),
        (Step::First, value) => Ok(list::first(value)),
        (Step::Dedupe, value) => Ok(list::dedupe(value)),
        (Step::Limit(count), value) => Ok(list::limit(value, *count)),
        (Step::Split(on), value) => list::split(value, on),
        (Step::Urls(base), value) => Ok(list::urls(value, base.as_deref())),
        (Step::Pick(path), value) => Ok(path.pick_in(&value).cloned().unwrap_or(Value::Null)),
        (Step::Expr(expr), value) => scope.eval(expr, Some(&value)).map_err(Stop::Dirty),
        (Step::Template(template), value) => scope
            .render(template, Some(&value))
            .map(|text| text.map_or(Value::Null, Value::String))
            .map_err(Stop::Dirty),
        (step, Value::Array(elements)) => each(step, elements, scope),
        (step, value) => scalar(step, value, scope),
    }
}

/// The same step on every element; elements that become nothing go.
fn each(step: &Step, elements: Vec<Value>, scope: &Scope<'_>) -> Result<Value, Stop> {
    let mut out = Vec::with_capacity(elements.len());
    for element in elements {
        let value = run(step, element, scope)?;
        if !value.is_null() {
            out.push(value);
        }
    }
    Ok(Value::Array(out))
}

fn scalar(step: &Step, value: Value, scope: &Scope<'_>) -> Result<Value, Stop> {
    match step {
        Step::Text(kind) => Ok(text::rewrite(*kind, value)),
        Step::FixEncoding => Ok(text::fix_encoding(value)),
        Step::Sentinel {
            texts,
            numbers,
            unless,
        } => {
            if !is_sentinel(&value, texts, numbers) {
                return Ok(value);
            }
            match unless {
                Some(condition) if scope.holds(condition, None).map_err(Stop::Dirty)? => Ok(value),
                _ => Ok(Value::Null),
            }
        }
        Step::Table { table, miss } => {
            let key = text::plain(&value);
            match (table.0.get(key.trim()), miss) {
                (Some(Entry::Value(found)), _) => Ok(found.clone()),
                (Some(Entry::Hide(reason)), _) => Err(Stop::Hide(reason.clone())),
                (None, _) if key.trim().is_empty() => Ok(Value::Null),
                (None, Miss::Pass) => Ok(value),
                (None, Miss::Omit) => Ok(Value::Null),
                (None, Miss::Warn) => Err(Stop::dirty("is not in the code table")),
                (None, Miss::Hide) => Err(Stop::Hide("a code that the table lacks".to_owned())),
            }
        }
        Step::Number(format) => number::parse(&value, format),
        Step::WholeDollars(cents) => number::whole_dollars(&value, *cents == Cents::Round),
        Step::Round => number::round(&value),
        Step::Century(pivot) => number::century(&value, *pivot),
        Step::Measure {
            to,
            unit,
            unit_from,
        } => {
            let named = unit_from.as_ref().and_then(|path| scope.pick(path));
            number::measure(&value, *to, *unit, named)
        }
        Step::Date(formats) => time::date(&value, formats),
        Step::Time(formats) => time::clock(&value, formats),
        Step::DateTime {
            formats,
            zone,
            zone_from,
            zones,
            ambiguous,
        } => {
            let named = zone_from.as_ref().and_then(|path| scope.pick(path));
            let named = time::named(named, zones.as_deref())?;
            let zone = named.as_ref().or(zone.as_ref());
            time::datetime(&value, formats, zone, *ambiguous)
        }
        Step::Boolean(words) => text::boolean(&value, words),
        Step::Extract(pattern) => Ok(text::extract(&value, pattern)),
        Step::Replace(pattern, with) => Ok(text::replace(value, pattern, with)),
        Step::Default(_)
        | Step::Json
        | Step::First
        | Step::Dedupe
        | Step::Limit(_)
        | Step::Split(_)
        | Step::Urls(_)
        | Step::Pick(_)
        | Step::Expr(_)
        | Step::Template(_) => Ok(value),
    }
}

fn is_sentinel(value: &Value, texts: &[String], numbers: &[f64]) -> bool {
    let plain = text::plain(value);
    let trimmed = plain.trim();
    if texts.iter().any(|text| text.eq_ignore_ascii_case(trimmed)) {
        return true;
    }
    !numbers.is_empty()
        && trimmed
            .parse::<f64>()
            .is_ok_and(|float| numbers.iter().any(|number| same(*number, float)))
}

#[expect(
    clippy::float_cmp,
    reason = "a sentinel is a written value, not a computed one"
)]
fn same(a: f64, b: f64) -> bool {
    a == b
}
