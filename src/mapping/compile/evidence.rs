//! Compiles the sections that itemise: mandatory charges and feature evidence. Must not compile steps.

use std::collections::HashMap;

use toml::{Table, Value};

use super::super::expression::Expr;
use super::super::features::normal;
use super::super::field::{CHARGE, Kind};
use super::super::finding::suggest;
use super::super::model::{Defaults, FeatureOrigin, Features, Fees};
use super::super::path::Path;
use super::Compiler;
use super::field::{FIELD, ITEM};

impl Compiler {
    pub(super) fn fees(&mut self, written: Option<Value>) -> Option<Fees> {
        let mut table = self.table("fees", written?)?;
        let defaults = table.remove("defaults");
        let defaults = defaults.and_then(|value| self.defaults(value));
        let overrides = self.text(&mut table, "overrides");
        if let Some(rows) = &overrides {
            self.rows("fees.overrides", rows);
        }
        let zip = self.zip(table.remove("zip"));
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
        let name = part(self, "name", Kind::Label);
        let amount = part(self, "amount", CHARGE);
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
                "zip",
            ],
        );
        Some(Fees {
            defaults,
            overrides,
            zip,
            code: code?,
            name: name?,
            amount: amount?,
            mandatory,
            government,
        })
    }

    /// `zip = ["FeeDesc", "FeeAmt"]`
    fn zip(&mut self, written: Option<Value>) -> Vec<Path> {
        let Some(value) = written else {
            return Vec::new();
        };
        let names: Vec<String> = self.decode("fees.zip", value).unwrap_or_default();
        names
            .iter()
            .filter_map(|name| self.path("fees.zip", name, FIELD))
            .collect()
    }

    fn condition(&mut self, table: &mut Table, section: &str, key: &str) -> Option<Expr> {
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
        if !self.side_tables.contains(&table) {
            let near = suggest(&table, self.side_tables.iter().map(String::as_str));
            let reason = format!("there is no side table `{table}`");
            let remedy = format!("name a query under [source.tables] of a database; {near}");
            self.findings.add(format!("{at}.table"), reason, remedy);
        }
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
                self.rows("features.children", &rows);
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
