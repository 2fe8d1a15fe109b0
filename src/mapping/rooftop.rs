//! A dealer's places out of the source's own tables, by the same fields and steps as vehicles: one row a rooftop,
//! with hours and fees in child rows. Must not fill in what a row does not say.

use serde_json::{Map, Value, json};

use super::evaluate::{Found, Input, evaluate};
use super::expression::Expr;
use super::field::DAYS;
use super::model::Field;
use super::plan::Plan;
use super::scope::{RowView, Scope};
use super::{Row, Tables, Warning};

/// `[profile]`, compiled.
#[derive(Clone, Debug)]
pub(super) struct Rooftops {
    pub(super) plan: Plan,
    /// Members of the rooftop itself, `name` first.
    pub(super) members: Vec<Field>,
    pub(super) latitude: Option<Field>,
    pub(super) longitude: Option<Field>,
    pub(super) address: Vec<Field>,
    pub(super) phones: Vec<Field>,
    pub(super) emails: Vec<Field>,
    pub(super) hours: Option<Hours>,
    pub(super) fees: Option<DefaultFees>,
}

/// A department's hours in child rows, one a day.
#[derive(Clone, Debug)]
pub(super) struct Hours {
    pub(super) children: String,
    pub(super) department: Option<Field>,
    pub(super) day: Field,
    pub(super) open: Field,
    pub(super) close: Field,
    pub(super) closed: Option<Expr>,
}

/// The fees a rooftop shows, in child rows.
#[derive(Clone, Debug)]
pub(super) struct DefaultFees {
    pub(super) children: String,
    pub(super) when: Option<Expr>,
    pub(super) name: Field,
    pub(super) amount: Field,
}

/// A rooftop on its way.
struct Work<'a> {
    row: &'a Row,
    view: RowView<'a>,
    tables: &'a Tables,
    out: Map<String, Value>,
    warnings: Vec<Warning>,
}

impl Rooftops {
    /// The complete AAP Rooftop object of a row with what was left out of it; or why there is none.
    pub(super) fn apply(
        &self,
        row: &Row,
        tables: &Tables,
    ) -> Result<(Map<String, Value>, Vec<Warning>), Warning> {
        let view = RowView::new(&row.fields);
        let mut work = Work {
            row,
            view,
            tables,
            out: Map::new(),
            warnings: Vec::new(),
        };
        for field in &self.members {
            if let Some(value) = work.value(field, None) {
                work.out.insert(field.name.clone(), value);
            }
        }
        if !work.out.contains_key("name") {
            return Err(work.warnings.pop().unwrap_or_else(|| Warning {
                field: "profile.name".to_owned(),
                column: self.members.first().map(Field::column).unwrap_or_default(),
                value_class: "nothing".to_owned(),
                reason: "is required and missing".to_owned(),
            }));
        }
        self.place(&mut work);
        work.group("address", &self.address);
        work.contacts("phones", &self.phones);
        work.contacts("emails", &self.emails);
        if let Some(hours) = &self.hours {
            work.hours(hours);
        }
        if let Some(fees) = &self.fees {
            work.fees(fees);
        }
        Ok((work.out, work.warnings))
    }

    /// Whether rooftops come with coordinates.
    pub(super) fn are_placed(&self) -> bool {
        self.latitude.is_some() && self.longitude.is_some()
    }

    /// Half a point is none.
    fn place(&self, work: &mut Work<'_>) {
        if let (Some(latitude), Some(longitude)) = (&self.latitude, &self.longitude) {
            let latitude = work.value(latitude, None);
            let longitude = work.value(longitude, None);
            if let (Some(latitude), Some(longitude)) = (latitude, longitude) {
                let geo = json!({ "latitude": latitude, "longitude": longitude });
                work.out.insert("geo".to_owned(), geo);
            }
        }
    }
}

impl<'a> Work<'a> {
    fn value(&mut self, field: &Field, item: Option<&'a Map<String, Value>>) -> Option<Value> {
        let input = Input {
            row: self.row,
            tables: self.tables,
            scope: self.scope(item),
        };
        match evaluate(field, &input, None) {
            Found::Value(value) => Some(value),
            Found::Nothing | Found::Hide(_) => None,
            Found::Dirty(mut warning) => {
                warning.field = format!("profile.{}", warning.field);
                self.warnings.push(warning);
                None
            }
        }
    }

    fn scope(&self, item: Option<&'a Map<String, Value>>) -> Scope<'_> {
        Scope {
            row: &self.view,
            item,
            out: &self.out,
        }
    }

    fn group(&mut self, name: &str, fields: &[Field]) {
        let mut members = Map::new();
        for field in fields {
            if let Some(value) = self.value(field, None) {
                members.insert(field.name.clone(), value);
            }
        }
        if !members.is_empty() {
            self.out.insert(name.to_owned(), Value::Object(members));
        }
    }

    fn contacts(&mut self, name: &str, fields: &[Field]) {
        let mut list = Vec::new();
        for field in fields {
            if let Some(value) = self.value(field, None) {
                list.push(json!({ "name": field.name, "value": value }));
            }
        }
        if !list.is_empty() {
            self.out.insert(name.to_owned(), Value::Array(list));
        }
    }

    /// Weekly hours by department. A day without a row is unknown, and so is one without both times.
    fn hours(&mut self, rules: &Hours) {
        let row = self.row;
        let mut departments: Vec<(Option<Value>, Map<String, Value>)> = Vec::new();
        for item in row.rows(&rules.children) {
            let department = match &rules.department {
                Some(field) => self.value(field, Some(item)),
                None => None,
            };
            let Some(Value::String(day)) = self.value(&rules.day, Some(item)) else {
                continue;
            };
            let closed = rules
                .closed
                .as_ref()
                .is_some_and(|closed| self.scope(Some(item)).holds(closed, None).unwrap_or(false));
            let hours = if closed {
                Value::Null
            } else {
                let open = self.value(&rules.open, Some(item));
                let close = self.value(&rules.close, Some(item));
                let (Some(open), Some(close)) = (open, close) else {
                    continue;
                };
                json!({ "open": open, "close": close })
            };
            match departments
                .iter_mut()
                .find(|(known, _)| *known == department)
            {
                Some((_, week)) => {
                    week.insert(day, hours);
                }
                None => departments.push((department, Map::from_iter([(day, hours)]))),
            }
        }
        let schedules: Vec<Value> = departments
            .into_iter()
            .map(|(department, mut week)| {
                let week: Map<String, Value> = DAYS
                    .iter()
                    .filter_map(|day| Some(((*day).to_owned(), week.remove(*day)?)))
                    .collect();
                match department {
                    Some(name) => json!({ "name": name, "value": week }),
                    None => json!({ "value": week }),
                }
            })
            .collect();
        if !schedules.is_empty() {
            self.out
                .insert("schedules".to_owned(), Value::Array(schedules));
        }
    }

    /// The default fees. One that cannot be read makes them unknown, since a short list reads as complete.
    fn fees(&mut self, rules: &DefaultFees) {
        let row = self.row;
        let mut fees: Vec<Value> = Vec::new();
        for item in row.rows(&rules.children) {
            let applies = match &rules.when {
                Some(when) => self.scope(Some(item)).holds(when, None),
                None => Ok(true),
            };
            if applies == Ok(false) {
                continue;
            }
            let name = self.value(&rules.name, Some(item));
            let amount = self.value(&rules.amount, Some(item));
            let known = |fee: &Value| fee.get("name") == name.as_ref();
            let whole = applies.is_ok() && name.is_some() && amount.is_some();
            if !whole || fees.iter().any(known) {
                self.warnings.push(Warning {
                    field: "profile.fees".to_owned(),
                    column: rules.name.column(),
                    value_class: "a charge".to_owned(),
                    reason: "left out as incomplete, or named twice".to_owned(),
                });
                return;
            }
            fees.push(json!({ "name": name, "amount": amount }));
        }
        if !fees.is_empty() {
            self.out.insert("fees".to_owned(), Value::Array(fees));
        }
    }
}
