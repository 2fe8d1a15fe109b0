//! The itemised charges inside a price: the rooftop's defaults, replaced by the vehicle's own rows of the
//! same code; mandatory ones only, government charges out, a zero amount removes (AAP pricing).
//! Must not publish a breakdown that may be incomplete.

use serde_json::{Map, Value, json};

use super::Warning;
use super::apply::{End, Work};
use super::evaluate::Found;
use super::model::{Fees, Field};
use super::path::elements;
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
    let row = work.row;
    let mut own = match &rules.overrides {
        Some(name) => row.rows(name),
        None => Vec::new(),
    };
    let zipped = zipped(work, rules);
    own.extend(&zipped);
    let charges = defaults(work, rules).and_then(|defaults| {
        // No row at all: nobody said anything about charges, which is not the same as none.
        if defaults.is_empty() && own.is_empty() {
            return Ok(None);
        }
        charges(work, rules, [&defaults, &own]).map(Some)
    });
    match charges {
        Ok(None) => Ok(()),
        Ok(Some(charges)) => {
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

/// The rooftop's rows that apply to the vehicle. One that cannot be judged might be missing.
fn defaults<'a>(work: &Work<'a>, rules: &Fees) -> Result<Vec<&'a Map<String, Value>>, Unknown> {
    let Some(defaults) = &rules.defaults else {
        return Ok(Vec::new());
    };
    let mut found = match &defaults.join {
        Some((column, path)) => path.pick(&work.row.fields).map_or_else(Vec::new, |key| {
            work.tables.matching(&defaults.table, column, &plain(key))
        }),
        None => work.tables.rows(&defaults.table).iter().collect(),
    };
    let Some(condition) = &defaults.when else {
        return Ok(found);
    };
    let mut judged = true;
    found.retain(|row| {
        let holds = work.scope(Some(row)).holds(condition, None);
        judged &= holds.is_ok();
        holds.unwrap_or(false)
    });
    if judged {
        Ok(found)
    } else {
        let reason = "a default charge of which nobody can tell whether it applies";
        Err(unknown(&rules.code, reason))
    }
}

/// Rows made of parallel lists: the first of each, the second of each, and so on. Lists of unequal length
/// make a row that lacks a cell, and so an unknown breakdown.
fn zipped(work: &Work<'_>, rules: &Fees) -> Vec<Map<String, Value>> {
    let lists: Vec<(&str, &[Value])> = rules
        .zip
        .iter()
        .filter_map(|path| {
            let list = elements(path.pick(&work.row.fields)?);
            Some((path.text.as_str(), list))
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

/// The charges of the rooftop's rows and of the vehicle's own, whose codes replace the former.
fn charges(
    work: &mut Work<'_>,
    rules: &Fees,
    levels: [&[&Map<String, Value>]; 2],
) -> Result<Vec<Charge>, Unknown> {
    let mut charges: Vec<Charge> = Vec::new();
    for rows in levels {
        let mut seen: Vec<(String, bool, &Map<String, Value>)> = Vec::new();
        for row in rows {
            let code = text(work, &rules.code, row)?;
            let counts = counts(work, rules, row)?;
            if let Some((_, other, before)) = seen.iter().find(|(known, ..)| *known == code) {
                // A row that comes twice says nothing new; of two others one is lost or out of date.
                if before == row || !(counts || *other) {
                    continue;
                }
                return Err(unknown(&rules.code, "two charges of one code"));
            }
            charges.retain(|charge| charge.code != code);
            if counts {
                charges.extend(charge(work, rules, &code, row)?);
            }
            seen.push((code, counts, row));
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

/// Whether a row is a mandatory charge of the dealer's.
fn counts(work: &Work<'_>, rules: &Fees, row: &Map<String, Value>) -> Result<bool, Unknown> {
    let scope = work.scope(Some(row));
    let mandatory = match &rules.mandatory {
        Some(condition) => scope.holds(condition, None),
        None => Ok(true),
    };
    let government = match &rules.government {
        Some(condition) => scope.holds(condition, None),
        None => Ok(false),
    };
    match (mandatory, government) {
        (Ok(mandatory), Ok(government)) => Ok(mandatory && !government),
        _ => Err(unknown(&rules.code, "a charge whose kind cannot be told")),
    }
}

/// A row's charge, unless its amount is 0.
fn charge(
    work: &mut Work<'_>,
    rules: &Fees,
    code: &str,
    row: &Map<String, Value>,
) -> Result<Option<Charge>, Unknown> {
    let name = text(work, &rules.name, row)?;
    let amount = match work.find(&rules.amount, Some(row)) {
        Found::Value(value) => value.as_i64().unwrap_or_default(),
        Found::Nothing => return Err(unknown(&rules.amount, "a charge without an amount")),
        Found::Dirty(warning) => return Err(Unknown::Warn(warning)),
        Found::Hide(reason) => return Err(Unknown::Hide(reason)),
    };
    Ok((amount > 0).then(|| Charge {
        code: code.to_owned(),
        name,
        amount,
    }))
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
