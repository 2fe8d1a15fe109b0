//! One row to one listing: filters, fields, time, charges, price, evidence. Must not read another row.

use jiff::Timestamp;
use serde_json::{Map, Value};

use super::evaluate::{Found, Input, evaluate};
use super::explain::FieldTrace;
use super::features;
use super::fees;
use super::model::{Field, Filter, Model, Price};
use super::scope::{RowView, Scope};
use super::warning::WITHHELD;
use super::{Identifiers, Outcome, Row, Tables, Warning, vin};

/// Fields that name the vehicle; they are mapped first, so that every outcome can say which it was.
const NAMING: [&str; 3] = ["vehicle_id", "vin", "stock"];

/// Why mapping a row ended early.
pub(super) enum End {
    Hide(String),
    Reject(Warning),
}

/// A row on its way to a listing.
pub(super) struct Work<'a> {
    pub(super) row: &'a Row,
    pub(super) view: &'a RowView<'a>,
    pub(super) tables: &'a Tables,
    pub(super) out: Map<String, Value>,
    pub(super) warnings: Vec<Warning>,
    traces: Option<&'a mut Vec<FieldTrace>>,
}

/// Applies a mapping to a row.
pub(super) fn apply<'a>(
    model: &Model,
    row: &'a Row,
    tables: &'a Tables,
    traces: Option<&'a mut Vec<FieldTrace>>,
) -> Outcome {
    let view = RowView::new(&row.fields);
    let mut work = Work {
        row,
        view: &view,
        tables,
        out: Map::new(),
        warnings: Vec::new(),
        traces,
    };
    let result = work.listing(model);
    let identifiers = identifiers(&work.out);
    match result {
        Ok(()) => Outcome::Published(ordered(work.out), work.warnings),
        Err(End::Hide(reason)) => Outcome::Hidden {
            identifiers,
            updated_at: work.instant(&model.updated_at),
            reason,
        },
        Err(End::Reject(warning)) => Outcome::Rejected {
            identifiers,
            column: warning.column,
            value_class: warning.value_class,
            reason: format!("{} {}", warning.field, warning.reason),
        },
    }
}

impl Work<'_> {
    fn listing(&mut self, model: &Model) -> Result<(), End> {
        for field in model
            .fields
            .iter()
            .filter(|f| NAMING.contains(&f.name.as_str()))
        {
            self.fill(field)?;
        }
        self.filter(&model.filters, false)?;
        vin::check(self, &model.bad_vin)?;
        for field in model
            .fields
            .iter()
            .filter(|f| !NAMING.contains(&f.name.as_str()))
        {
            self.fill(field)?;
        }
        self.fill(&model.updated_at)?;
        self.attributes(&model.attributes)?;
        self.price(&model.prices)?;
        if let Some(rules) = &model.fees {
            fees::fill(self, rules)?;
        }
        if let Some(rules) = &model.features {
            features::fill(self, rules)?;
        }
        self.filter(&model.filters, true)
    }

    /// Evaluates a field in the row, or in a child row of it.
    pub(super) fn find(&mut self, field: &Field, item: Option<&Map<String, Value>>) -> Found {
        let input = Input {
            row: self.row,
            tables: self.tables,
            scope: Scope {
                row: self.view,
                item,
                out: &self.out,
            },
        };
        evaluate(field, &input, self.traces.as_deref_mut())
    }

    pub(super) fn scope<'b>(&'b self, item: Option<&'b Map<String, Value>>) -> Scope<'b> {
        Scope {
            row: self.view,
            item,
            out: &self.out,
        }
    }

    /// When a row that is not shown was updated; nothing where it does not say, and nothing of it is traced.
    fn instant(&mut self, field: &Field) -> Option<Timestamp> {
        self.traces = None;
        match self.find(field, None) {
            Found::Value(Value::String(instant)) => instant.parse().ok(),
            Found::Value(_) | Found::Nothing | Found::Dirty(_) | Found::Hide(_) => None,
        }
    }

    fn fill(&mut self, field: &Field) -> Result<(), End> {
        if let Some(value) = self.value(field)? {
            self.out.insert(field.name.clone(), value);
        }
        Ok(())
    }

    /// A field's value; a dirty cell is a warning, or the end of the row where the field is required.
    fn value(&mut self, field: &Field) -> Result<Option<Value>, End> {
        match self.find(field, None) {
            Found::Value(value) => Ok(Some(value)),
            Found::Hide(reason) => Err(End::Hide(reason)),
            Found::Nothing if field.required => Err(End::Reject(Warning {
                field: field.name.clone(),
                column: field.column(),
                value_class: "nothing".to_owned(),
                reason: "is required and missing".to_owned(),
            })),
            Found::Nothing => Ok(None),
            Found::Dirty(warning) if field.required => Err(End::Reject(warning)),
            Found::Dirty(warning) => {
                self.warnings.push(warning);
                Ok(None)
            }
        }
    }

    fn filter(&self, filters: &[Filter], late: bool) -> Result<(), End> {
        for filter in filters.iter().filter(|filter| filter.late == late) {
            match self.scope(None).holds(&filter.keep, None) {
                Ok(true) => {}
                Ok(false) => return Err(End::Hide(filter.reason.clone())),
                // A vehicle that cannot be judged is not shown: it might be a sold one.
                Err(reason) => {
                    return Err(End::Reject(Warning {
                        field: "filter".to_owned(),
                        column: filter.reason.clone(),
                        value_class: "the row".to_owned(),
                        reason,
                    }));
                }
            }
        }
        Ok(())
    }

    fn attributes(&mut self, fields: &[Field]) -> Result<(), End> {
        let mut attributes = match self.out.remove("other_attributes") {
            Some(Value::Object(map)) => map,
            _ => Map::new(),
        };
        for field in fields {
            if let Some(value) = self.value(field)? {
                attributes.insert(field.name.clone(), value);
            }
        }
        if !attributes.is_empty() {
            self.out
                .insert("other_attributes".to_owned(), Value::Object(attributes));
        }
        Ok(())
    }

    /// The first price that comes to a value and that nothing speaks against (AAP pricing: authoritative,
    /// all mandatory charges inside, never after a conditional rebate).
    fn price(&mut self, prices: &[Price]) -> Result<(), End> {
        for price in prices {
            let Some(value) = self.value(&price.field)? else {
                continue;
            };
            let omit = price
                .omit_when
                .as_ref()
                .map(|condition| self.scope(None).holds(condition, Some(&value)));
            let reason = match omit {
                None | Some(Ok(false)) => {
                    self.out.insert("price".to_owned(), value);
                    return Ok(());
                }
                Some(Ok(true)) => "meets the condition under which it is not published".to_owned(),
                Some(Err(reason)) => format!("its condition {reason}"),
            };
            self.warnings.push(Warning {
                field: "price".to_owned(),
                column: price.field.column(),
                value_class: WITHHELD.to_owned(),
                reason,
            });
        }
        Ok(())
    }
}

fn identifiers(out: &Map<String, Value>) -> Identifiers {
    let text = |name: &str| out.get(name).and_then(Value::as_str).map(str::to_owned);
    Identifiers {
        vehicle_id: text("vehicle_id"),
        vin: text("vin"),
        stock: text("stock"),
    }
}

/// Members in one order, whatever the order of mapping.
fn ordered(mut out: Map<String, Value>) -> Map<String, Value> {
    const LAST: [&str; 5] = [
        "price",
        "fees",
        "feature_evidence",
        "other_attributes",
        "updated_at",
    ];
    let mut listing = Map::new();
    let names = super::field::FIELDS.iter().map(|(name, _)| *name);
    for name in names.chain(LAST) {
        if let Some(value) = out.remove(name) {
            listing.insert(name.to_owned(), value);
        }
    }
    listing
}
