//! From a mapping file to a model, with every finding at once. Must not look at any row.

mod evidence;
mod field;
mod identity;
mod profile;
mod sections;
mod steps;
mod types;

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use serde::de::DeserializeOwned;
use toml::{Table, Value};

use super::finding::{Finding, Findings, suggest};
use super::model::Model;
use super::path::Path;
use super::plan::{FeedPlan, Plan, RestPlan, SqlPlan};
use super::step::{CodeTable, Entry};

/// The sections of a mapping file.
const SECTIONS: &[&str] = &[
    "name",
    "source",
    "tables",
    "filter",
    "fields",
    "other_attributes",
    "updated_at",
    "price",
    "fees",
    "features",
    "duplicates",
    "vin",
    "look_up",
    "profile",
];

/// What compiling gathers on its way.
#[derive(Debug, Default)]
struct Compiler {
    findings: Findings,
    tables: HashMap<String, Arc<CodeTable>>,
    used_tables: HashSet<String>,
    columns: Vec<(String, Path)>,
    /// Child queries of the source.
    children: BTreeSet<String>,
    /// Side tables of the source.
    side_tables: BTreeSet<String>,
}

/// Compiles a mapping file.
pub(super) fn compile(text: &str) -> Result<Model, Vec<Finding>> {
    let mut compiler = Compiler::default();
    let mut file: Table = match text.parse() {
        Ok(file) => file,
        Err(error) => {
            compiler.findings.add(
                "(file)",
                format!("not TOML: {}", error.message()),
                match error.span() {
                    Some(span) => format!("look near line {}", line_of(text, span.start)),
                    None => "look at the file's syntax".to_owned(),
                },
            );
            return Err(compiler.findings.0);
        }
    };
    let model = compiler.model(&mut file);
    match (model, compiler.findings.0.is_empty()) {
        (Some(model), true) => Ok(model),
        _ => Err(compiler.findings.0),
    }
}

fn line_of(text: &str, offset: usize) -> usize {
    text.bytes().take(offset).filter(|b| *b == b'\n').count() + 1
}

impl Compiler {
    fn model(&mut self, file: &mut Table) -> Option<Model> {
        for key in file.keys() {
            if !SECTIONS.contains(&key.as_str()) {
                let remedy = suggest(key, SECTIONS.iter().copied());
                self.findings.add(key, "no such section", remedy);
            }
        }
        let name = self.text(file, "name").unwrap_or_default();
        let plan = self.plan(file.remove("source"));
        if let Some(Plan::Sql(plan)) = &plan {
            self.children = plan.children.keys().cloned().collect();
            self.side_tables = plan.tables.keys().cloned().collect();
        }
        self.code_tables(file.remove("tables"));
        let filters = self.filters(file.remove("filter"));
        let fields = self.fields(file.remove("fields"));
        let attributes = self.attributes(file.remove("other_attributes"));
        let updated_at = self.updated_at(file.remove("updated_at"));
        let prices = self.prices(file.remove("price"));
        let fees = self.fees(file.remove("fees"));
        let features = self.features(file.remove("features"));
        let same_vin = self.same_vin(file.remove("duplicates"));
        let bad_vin = self.bad_vin(file.remove("vin"));
        let look_up = self.look_up(file.remove("look_up"));
        let rooftops = self.profile(file.remove("profile"), plan.as_ref());
        self.unused_tables();
        Some(Model {
            name,
            plan: plan?,
            filters,
            fields,
            attributes,
            updated_at: updated_at?,
            prices,
            fees,
            features,
            same_vin,
            bad_vin,
            look_up,
            rooftops,
            columns: std::mem::take(&mut self.columns),
        })
    }

    fn text(&mut self, file: &mut Table, key: &str) -> Option<String> {
        if let Value::String(text) = file.remove(key)? {
            return Some(text);
        }
        self.findings.add(key, "is not text", "put it in quotes");
        None
    }

    fn plan(&mut self, written: Option<Value>) -> Option<Plan> {
        let Some(Value::Table(mut table)) = written else {
            let remedy = "write [source] with kind = \"sql\", \"feed\" or \"rest\"";
            self.findings
                .add("source", "the section is missing", remedy);
            return None;
        };
        let kind = self.text(&mut table, "kind").unwrap_or_default();
        let rest = Value::Table(table);
        match kind.as_str() {
            "sql" => self.decode::<SqlPlan>("source", rest).map(Plan::Sql),
            "feed" => self.decode::<FeedPlan>("source", rest).map(Plan::Feed),
            "rest" => self.decode::<RestPlan>("source", rest).map(Plan::Rest),
            _ => {
                let remedy = "kind is \"sql\", \"feed\" or \"rest\"";
                self.findings.add("source.kind", "no such kind", remedy);
                None
            }
        }
    }

    /// Reads a value of a known shape, or adds what is wrong with it.
    fn decode<T: DeserializeOwned>(&mut self, key: &str, value: Value) -> Option<T> {
        match value.try_into() {
            Ok(decoded) => Some(decoded),
            Err(error) => {
                let reason = error.message().trim().to_owned();
                self.findings.add(key, reason, "see the mapping reference");
                None
            }
        }
    }

    /// A section that must be a table, when it is there.
    fn table(&mut self, key: &str, value: Value) -> Option<Table> {
        if let Value::Table(table) = value {
            return Some(table);
        }
        let remedy = format!("write [{key}] or {key} = {{ … }}");
        self.findings.add(key, "is not a table", remedy);
        None
    }

    fn code_tables(&mut self, written: Option<Value>) {
        let Some(tables) = written.and_then(|value| self.table("tables", value)) else {
            return;
        };
        for (name, entries) in tables {
            let key = format!("tables.{name}");
            let Some(entries) = self.table(&key, entries) else {
                continue;
            };
            let mut table = CodeTable::default();
            for (code, value) in entries {
                let at = format!("{key}.\"{code}\"");
                if let Some(entry) = self.entry(&at, &value)
                    && table.0.insert(code.trim().to_owned(), entry).is_some()
                {
                    let remedy = "keep one of them; codes are compared without outer blanks";
                    self.findings
                        .add(at, "another entry has the same code", remedy);
                }
            }
            self.tables.insert(name, Arc::new(table));
        }
    }

    fn entry(&mut self, at: &str, value: &Value) -> Option<Entry> {
        if let Value::Table(table) = value {
            return if let (1, Some(Value::String(reason))) = (table.len(), table.get("hide")) {
                Some(Entry::Hide(reason.clone()))
            } else {
                let remedy = "write a text, a number, true, false or { hide = \"reason\" }";
                self.findings.add(at, "is no table entry", remedy);
                None
            };
        }
        self.json(at, value).map(Entry::Value)
    }

    fn json(&mut self, at: &str, value: &Value) -> Option<serde_json::Value> {
        match serde_json::to_value(value) {
            Ok(json) => Some(json),
            Err(error) => {
                self.findings.add(at, error.to_string(), "write a text");
                None
            }
        }
    }

    fn unused_tables(&mut self) {
        let mut unused: Vec<String> = self
            .tables
            .keys()
            .filter(|name| !self.used_tables.contains(*name))
            .cloned()
            .collect();
        unused.sort();
        for name in unused {
            let remedy = "use it in a step { table = … } or remove it";
            self.findings
                .add(format!("tables.{name}"), "no step uses this table", remedy);
        }
    }

    /// Keys that a section does not know.
    fn leftover(&mut self, section: &str, table: &Table, known: &[&str]) {
        for key in table.keys() {
            let remedy = suggest(key, known.iter().copied());
            self.findings
                .add(format!("{section}.{key}"), "no such key", remedy);
        }
    }
}
