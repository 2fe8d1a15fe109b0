//! The itemised charges inside a price: the rooftop's defaults, replaced by the vehicle's own rows of the
//! same code; mandatory ones only, government charges out, a zero amount removes (AAP pricing).
//! Must not publish a breakdown that may be incomplete.

use serde_json::{Map, Value, json};

use super::Warning;
use super::apply::{End, Work};
use super::evaluate::Found;
use super::model::{Fees, Field};
use super::steps::text::plain;

/// A charge that applies.
struct Charge {
    code: String,
    name: String,
    amount: i64,
}

/// Why there is no breakdown.
enum Unknown {
    Warn(Warning),
    Hide(String),
}

/// Fills `fees` when the vehicle has an amount that they belong to.
pub(super) fn fill(work: &mut Work<'_>, rules: &Fees) -> Result<(), End> {
    if !work.out.contains_key("price") && !work.out.contains_key("list_price") {
        return Ok(());
    }
    let zipped = zipped(work, rules);
    let mut rows = applicable(work, rules);
    rows.extend(&zipped);
    // No row at all: nobody said anything about charges, which is not the same as none.
    if rows.is_empty() {
        return Ok(());
    }
    match charges(work, rules, &rows) {
        Ok(charges) => {
            let list = charges
                .into_iter()
                .map(|charge| json!({ "name": charge.name, "amount": charge.amount }))
                .collect();
            work.out.insert("fees".to_owned(), Value::Array(list));
            Ok(())
        }
        Err(Unknown::Warn(warning)) => {
            work.warnings.push(warning);
            Ok(())
        }
        Err(Unknown::Hide(reason)) => Err(End::Hide(reason)),
    }
}

/// Default rows first, the vehicle's own after them.
fn applicable<'a>(work: &Work<'a>, rules: &Fees) -> Vec<&'a Map<String, Value>> {
    let mut rows = Vec::new();
    if let Some(defaults) = &rules.defaults {
        let found = match &defaults.join {
            Some((column, path)) => path.pick(&work.row.fields).map_or_else(Vec::new, |key| {
                work.tables.matching(&defaults.table, column, &plain(key))
            }),
            None => work.tables.rows(&defaults.table).iter().collect(),
        };
        rows.extend(found.into_iter().filter(|row| {
            match &defaults.when {
                Some(condition) => work
                    .scope(Some(row))
                    .holds(condition, None)
                    .unwrap_or(false),
                None => true,
            }
        }));
    }
    if let Some(name) = &rules.overrides {
        rows.extend(work.row.rows(name));
    }
    rows
}

/// Rows made of parallel lists: the first of each, the second of each, and so on. Lists of unequal length
/// make a row that lacks a cell, and so an unknown breakdown.
fn zipped(work: &Work<'_>, rules: &Fees) -> Vec<Map<String, Value>> {
    let lists: Vec<(&str, &[Value])> = rules
        .zip
        .iter()
        .filter_map(|path| {
            let list = path.pick(&work.row.fields)?.as_array()?;
            Some((path.text.as_str(), list.as_slice()))
        })
        .collect();
    let longest = lists.iter().map(|(_, list)| list.len()).max().unwrap_or(0);
    (0..longest)
        .map(|at| {
            let cells = lists.iter().map(|(name, list)| {
                let cell = list.get(at).cloned().unwrap_or_default();
                ((*name).to_owned(), cell)
            });
            cells.collect()
        })
        .collect()
}

fn charges(
    work: &mut Work<'_>,
    rules: &Fees,
    rows: &[&Map<String, Value>],
) -> Result<Vec<Charge>, Unknown> {
    let mut charges: Vec<Charge> = Vec::new();
    for row in rows {
        let code = text(work, &rules.code, row)?;
        charges.retain(|charge| charge.code != code);
        let scope = work.scope(Some(row));
        let mandatory = match &rules.mandatory {
            Some(condition) => scope.holds(condition, None),
            None => Ok(true),
        };
        let government = match &rules.government {
            Some(condition) => scope.holds(condition, None),
            None => Ok(false),
        };
        let (Ok(mandatory), Ok(government)) = (mandatory, government) else {
            return Err(unknown(&rules.code, "a charge whose kind cannot be told"));
        };
        if !mandatory || government {
            continue;
        }
        let name = text(work, &rules.name, row)?;
        let amount = match work.find(&rules.amount, Some(row)) {
            Found::Value(value) => value.as_i64().unwrap_or_default(),
            Found::Nothing => return Err(unknown(&rules.amount, "a charge without an amount")),
            Found::Dirty(warning) => return Err(Unknown::Warn(warning)),
            Found::Hide(reason) => return Err(Unknown::Hide(reason)),
        };
        if amount > 0 {
            charges.push(Charge { code, name, amount });
        }
    }
    let mut names: Vec<&str> = charges.iter().map(|charge| charge.name.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    if names.len() != charges.len() {
        return Err(unknown(&rules.name, "two charges of one name"));
    }
    Ok(charges)
}

fn text(work: &mut Work<'_>, field: &Field, row: &Map<String, Value>) -> Result<String, Unknown> {
    match work.find(field, Some(row)) {
        Found::Value(value) => Ok(plain(&value)),
        Found::Nothing => Err(unknown(field, "a charge without code or name")),
        Found::Dirty(warning) => Err(Unknown::Warn(warning)),
        Found::Hide(reason) => Err(Unknown::Hide(reason)),
    }
}

fn unknown(field: &Field, reason: &str) -> Unknown {
    Unknown::Warn(Warning {
        field: "fees".to_owned(),
        column: field.column(),
        value_class: "a charge".to_owned(),
        reason: format!("left out as incomplete: {reason}"),
    })
}
