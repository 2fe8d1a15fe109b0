//! Compiles the sections that state something AAP cares about: what is shown, the time, the price, the
//! charges, the evidence. Must not compile steps.

use std::collections::HashMap;

use toml::{Table, Value};

use super::super::features::normal;
use super::super::field::{FIELDS, Kind, PRICE, kind_of};
use super::super::finding::suggest;
use super::super::model::{Defaults, FeatureOrigin, Features, Fees, Field, Filter, Origin, Price};
use super::super::path::Path;
use super::Compiler;
use super::field::{FIELD, ITEM};

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
            let late = keep.contains("out.");
            if let Some(keep) = self.expr(&format!("{at}.keep"), &keep, &["row", "out"]) {
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
            "source_column" => self.field_of("updated_at", "updated_at", Kind::Text, table, FIELD),
            "as_of" => {
                self.leftover("updated_at", &table, &["provenance"]);
                Some(Field {
                    name: "updated_at".to_owned(),
                    kind: Kind::Text,
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

    pub(super) fn fees(&mut self, written: Option<Value>) -> Option<Fees> {
        let mut table = self.table("fees", written?)?;
        let defaults = table.remove("defaults");
        let defaults = defaults.and_then(|value| self.defaults(value));
        let overrides = self.text(&mut table, "overrides");
        let mandatory = self.condition(&mut table, "fees", "mandatory");
        let government = self.condition(&mut table, "fees", "government");
        let mut part = |compiler: &mut Self, name: &str, kind| {
            let at = format!("fees.{name}");
            if let Some(value) = table.remove(name) {
                compiler.field(&at, name, kind, value, ITEM)
            } else {
                let remedy = "code, name and amount are needed";
                compiler.findings.add(at, "is missing", remedy);
                None
            }
        };
        let code = part(self, "code", Kind::Text);
        let name = part(self, "name", Kind::Text);
        let amount = part(self, "amount", PRICE);
        self.leftover(
            "fees",
            &table,
            &[
                "defaults",
                "overrides",
                "code",
                "name",
                "amount",
                "mandatory",
                "government",
            ],
        );
        Some(Fees {
            defaults,
            overrides,
            code: code?,
            name: name?,
            amount: amount?,
            mandatory,
            government,
        })
    }

    fn condition(
        &mut self,
        table: &mut Table,
        section: &str,
        key: &str,
    ) -> Option<super::super::expression::Expr> {
        let text = self.text(table, key)?;
        self.expr(&format!("{section}.{key}"), &text, ITEM)
    }

    fn defaults(&mut self, value: Value) -> Option<Defaults> {
        let at = "fees.defaults";
        let mut table = self.table(at, value)?;
        let name = self.text(&mut table, "table");
        let key = self.text(&mut table, "key");
        let from = self.text(&mut table, "from").or_else(|| key.clone());
        let when = self.condition(&mut table, at, "when");
        self.leftover(at, &table, &["table", "key", "from", "when"]);
        let join = match (key, from.as_deref().map(Path::parse)) {
            (Some(key), Some(Ok(path))) => {
                self.columns.push((at.to_owned(), path.clone()));
                Some((key, path))
            }
            _ => None,
        };
        let Some(table) = name else {
            let remedy = "table = a name under [source.tables]";
            self.findings.add(at, "`table` is missing", remedy);
            return None;
        };
        Some(Defaults { table, join, when })
    }

    pub(super) fn features(&mut self, written: Option<Value>) -> Option<Features> {
        let mut table = self.table("features", written?)?;
        let skip = self.condition(&mut table, "features", "skip");
        let unmatched = self.text(&mut table, "unmatched");
        let list_unmatched = match unmatched.as_deref() {
            None | Some("list") => true,
            Some("drop") => false,
            Some(_) => {
                let remedy = "\"list\" (readable list only) or \"drop\"";
                self.findings
                    .add("features.unmatched", "no such policy", remedy);
                true
            }
        };
        let (matches, vocabulary) = self.dictionary(table.remove("dictionary"));
        let status = table.remove("status");
        let statuses = Kind::Word(&["present", "absent", "unknown"]);
        let status =
            status.and_then(|value| self.field("features.status", "status", statuses, value, ITEM));
        let Some(source) = table.remove("source") else {
            let remedy =
                "source = { value = \"inventory\" } or the column that says who recorded it";
            self.findings.add("features.source", "is missing", remedy);
            return None;
        };
        let source = self.field("features.source", "source", Kind::Text, source, ITEM);
        let rows = self.text(&mut table, "children");
        let origin = match (rows, table.remove("text"), table.remove("list")) {
            (Some(rows), Some(text), None) => {
                let text = self.field("features.text", "text", Kind::Text, text, ITEM)?;
                Some(FeatureOrigin::Rows { rows, text })
            }
            (None, None, Some(list)) => {
                let list = self.field("features.list", "features", Kind::Texts, list, FIELD)?;
                Some(FeatureOrigin::List(list))
            }
            _ => {
                let remedy = "give `children` and `text`, or `list`";
                self.findings.add("features", "has no origin", remedy);
                None
            }
        };
        self.leftover(
            "features",
            &table,
            &[
                "children",
                "text",
                "list",
                "skip",
                "source",
                "status",
                "unmatched",
                "dictionary",
            ],
        );
        Some(Features {
            origin: origin?,
            skip,
            source: source?,
            status,
            list_unmatched,
            matches,
            vocabulary,
        })
    }

    fn dictionary(
        &mut self,
        written: Option<Value>,
    ) -> (HashMap<String, usize>, Vec<(String, String)>) {
        let (mut matches, mut vocabulary) = (HashMap::new(), Vec::<(String, String)>::new());
        let Some(Value::Array(entries)) = written else {
            let remedy = "write [[features.dictionary]] with code, label and match";
            self.findings
                .add("features.dictionary", "is missing", remedy);
            return (matches, vocabulary);
        };
        for (index, entry) in entries.into_iter().enumerate() {
            let at = format!("features.dictionary[{index}]");
            let Some(mut table) = self.table(&at, entry) else {
                continue;
            };
            let code = self.text(&mut table, "code").unwrap_or_default();
            let label = self.text(&mut table, "label").unwrap_or_default();
            let words: Vec<String> = match table.remove("match") {
                Some(value) => self.decode(&at, value).unwrap_or_default(),
                None => Vec::new(),
            };
            self.leftover(&at, &table, &["code", "label", "match"]);
            if !is_code(&code) {
                let remedy = "lowercase words joined by underscores: heated_front_seats";
                self.findings
                    .add(format!("{at}.code"), "is not snake_case", remedy);
            }
            if label.trim().is_empty() || vocabulary.iter().any(|(known, _)| *known == code) {
                let remedy = "give every code once, with a readable label";
                self.findings
                    .add(&at, "has no label, or its code stands twice", remedy);
            }
            for text in words.iter().chain([&label]) {
                if let Some(other) = matches.insert(normal(text), vocabulary.len())
                    && other != vocabulary.len()
                {
                    let reason = format!("`{text}` already means another feature");
                    self.findings
                        .add(&at, reason, "keep the text with one feature");
                }
            }
            vocabulary.push((code, label));
        }
        (matches, vocabulary)
    }
}

/// Lowercase `snake_case` (AAP-373).
fn is_code(code: &str) -> bool {
    !code.is_empty()
        && code.split('_').all(|part| {
            !part.is_empty()
                && part
                    .bytes()
                    .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
        })
}
