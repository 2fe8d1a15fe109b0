//! Compiles the sections that state something AAP cares about: what is shown, the members, the time,
//! the price. Must not compile steps.

use toml::{Table, Value};

use super::super::field::{FIELDS, Kind, PRICE, kind_of};
use super::super::finding::suggest;
use super::super::model::{Field, Filter, Origin, Price};
use super::super::spec::Miss;
use super::super::step::Step;
use super::Compiler;
use super::field::FIELD;

/// Members with a section of their own.
const ELSEWHERE: &[&str] = &["price", "fees", "feature_evidence", "updated_at"];

impl Compiler {
    pub(super) fn filters(&mut self, written: Option<Value>) -> Vec<Filter> {
        let entries = match written {
            None => return Vec::new(),
            Some(Value::Array(entries)) => entries,
            Some(one) => vec![one],
        };
        let mut filters = Vec::new();
        for (index, entry) in entries.into_iter().enumerate() {
            let at = format!("filter[{index}]");
            let Some(mut table) = self.table(&at, entry) else {
                continue;
            };
            let keep = self.text(&mut table, "keep").unwrap_or_default();
            let reason = self.text(&mut table, "reason").unwrap_or_default();
            self.leftover(&at, &table, &["keep", "reason"]);
            if reason.is_empty() {
                let remedy = "say why such a vehicle is not shown; the report counts by it";
                self.findings.add(&at, "`reason` is missing", remedy);
            }
            if let Some(keep) = self.expr(&format!("{at}.keep"), &keep, &["row", "out"]) {
                let late = keep.reads("out");
                filters.push(Filter { keep, reason, late });
            }
        }
        filters
    }

    pub(super) fn fields(&mut self, written: Option<Value>) -> Vec<Field> {
        let mut table = match written {
            Some(value) => self.table("fields", value).unwrap_or_default(),
            None => Table::new(),
        };
        for required in ["vehicle_id", "status"] {
            if !table.contains_key(required) {
                let remedy = "a listing cannot be published without it; map it";
                self.findings
                    .add(format!("fields.{required}"), "is missing", remedy);
            }
        }
        let mut fields = Vec::new();
        for (name, kind) in FIELDS {
            if let Some(value) = table.remove(*name) {
                let at = format!("fields.{name}");
                if let Some(mut field) = self.field(&at, name, *kind, value, FIELD) {
                    if *name == "status" {
                        self.offers_what_it_does_not_know(&at, &field);
                    }
                    field.required |= matches!(*name, "vehicle_id" | "status");
                    fields.push(field);
                }
            }
        }
        for name in table.keys() {
            let at = format!("fields.{name}");
            if ELSEWHERE.contains(&name.as_str()) {
                let remedy = format!("write the section [{name}]: it needs a statement of its own");
                self.findings.add(at, "stands in the wrong place", remedy);
            } else {
                let near = suggest(name, FIELDS.iter().map(|(field, _)| *field));
                let remedy = format!("{near} Other facts go under [other_attributes]");
                self.findings.add(at, "is no AAP listing member", remedy);
            }
        }
        fields
    }

    /// A word for "sold" that the table lacks must not become a default.
    fn offers_what_it_does_not_know(&mut self, at: &str, field: &Field) {
        let omits = |step: &Step| {
            let Step::Table { miss, .. } = step else {
                return false;
            };
            *miss == Miss::Omit
        };
        let defaults = |step: &Step| matches!(step, Step::Default(_));
        let mut steps = field.steps.iter();
        if steps.any(omits) && steps.any(defaults) {
            let reason = "a code that the table lacks would become the default, also one for sold";
            let remedy = "write miss = \"hide\"; an empty cell becomes the default all the same";
            self.findings.add(at, reason, remedy);
        }
    }

    pub(super) fn attributes(&mut self, written: Option<Value>) -> Vec<Field> {
        let Some(table) = written.and_then(|value| self.table("other_attributes", value)) else {
            return Vec::new();
        };
        let mut fields = Vec::new();
        for (name, value) in table {
            let at = format!("other_attributes.{name}");
            if kind_of(&name).is_some() || ELSEWHERE.contains(&name.as_str()) {
                let remedy = "map it under [fields]; an attribute must not shadow a member";
                self.findings.add(&at, "is an AAP listing member", remedy);
            }
            fields.extend(self.field(&at, &name, Kind::Any, value, FIELD));
        }
        fields
    }

    pub(super) fn updated_at(&mut self, written: Option<Value>) -> Option<Field> {
        let Some(value) = written else {
            let remedy = "write [updated_at] with provenance = \"source_column\" or \"as_of\"";
            self.findings.add("updated_at", "is missing", remedy);
            return None;
        };
        let mut table = self.table("updated_at", value)?;
        let provenance = self.text(&mut table, "provenance").unwrap_or_default();
        let field = match provenance.as_str() {
            "source_column" => {
                self.field_of("updated_at", "updated_at", Kind::Instant, table, FIELD)
            }
            "as_of" => {
                self.leftover("updated_at", &table, &["provenance"]);
                Some(Field {
                    name: "updated_at".to_owned(),
                    kind: Kind::Instant,
                    origin: Origin::AsOf,
                    when: None,
                    steps: Vec::new(),
                    required: true,
                })
            }
            _ => {
                let remedy = "\"source_column\" (a cell holds it) or \"as_of\" (the file's own time); never the time of reading";
                self.findings
                    .add("updated_at.provenance", "is not stated", remedy);
                None
            }
        };
        field.map(|field| Field {
            required: true,
            ..field
        })
    }

    pub(super) fn prices(&mut self, written: Option<Value>) -> Vec<Price> {
        let entries = match written {
            None => return Vec::new(),
            Some(Value::Array(entries)) => entries,
            Some(one) => vec![one],
        };
        let mut prices = Vec::new();
        for (index, entry) in entries.into_iter().enumerate() {
            let at = format!("price[{index}]");
            let Some(mut table) = self.table(&at, entry) else {
                continue;
            };
            let basis = self.text(&mut table, "basis").unwrap_or_default();
            if basis != "all_mandatory_included" {
                let remedy = "basis = \"all_mandatory_included\" if the dealer vouches that every mandatory charge is inside; else map the column to fields.list_price";
                self.findings
                    .add(format!("{at}.basis"), "no basis is stated", remedy);
            }
            let omit = self.text(&mut table, "omit_when");
            let omit_when =
                omit.and_then(|text| self.expr(&format!("{at}.omit_when"), &text, FIELD));
            if let Some(field) = self.field_of(&at, "price", PRICE, table, FIELD) {
                prices.push(Price { field, omit_when });
            }
        }
        prices
    }
}
