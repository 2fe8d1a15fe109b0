//! Compiles one field: its origin, condition and steps. Must not know which sections there are.

use serde::Deserialize;
use toml::{Table, Value};

use super::super::expression::{Expr, Template};
use super::super::field::Kind;
use super::super::model::{Field, Origin};
use super::super::path::Path;
use super::super::spec::OneOrMany;
use super::super::step::{Step, TextStep};
use super::Compiler;

/// Variables of a field's expressions.
pub(super) const FIELD: &[&str] = &["row", "out", "value"];
/// Variables where a child row is at hand too.
pub(super) const ITEM: &[&str] = &["row", "out", "value", "item"];

/// A field as written in full.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    from: Option<OneOrMany>,
    value: Option<Value>,
    expr: Option<String>,
    template: Option<String>,
    children: Option<String>,
    column: Option<String>,
    when: Option<String>,
    #[serde(default)]
    steps: Vec<Value>,
    #[serde(default)]
    required: bool,
}

impl Compiler {
    /// A field from `"COLUMN"` (trimmed) or `{ from = …, steps = […] }`.
    pub(super) fn field(
        &mut self,
        at: &str,
        name: &str,
        kind: Kind,
        value: Value,
        allowed: &[&str],
    ) -> Option<Field> {
        if let Value::String(column) = &value {
            return self.short(at, name, kind, column, allowed);
        }
        let table = self.table(at, value)?;
        self.field_of(at, name, kind, table, allowed)
    }

    /// A field from a table whose other keys were taken out before.
    pub(super) fn field_of(
        &mut self,
        at: &str,
        name: &str,
        kind: Kind,
        table: Table,
        allowed: &[&str],
    ) -> Option<Field> {
        let written: Written = self.decode(at, Value::Table(table))?;
        let steps = self.steps(at, written.steps.clone(), allowed);
        for (index, step) in steps.iter().enumerate() {
            self.beside(&format!("{at}.steps[{index}]"), step, allowed);
        }
        let when = match &written.when {
            Some(text) => Some(self.expr(&format!("{at}.when"), text, allowed)?),
            None => None,
        };
        let (required, origin) = (written.required, self.origin(at, written, allowed)?);
        self.types(at, kind, &origin, &steps);
        Some(Field {
            name: name.to_owned(),
            kind,
            origin,
            when,
            steps,
            required,
        })
    }

    fn short(
        &mut self,
        at: &str,
        name: &str,
        kind: Kind,
        column: &str,
        allowed: &[&str],
    ) -> Option<Field> {
        let path = self.path(at, column, allowed)?;
        Some(Field {
            name: name.to_owned(),
            kind,
            origin: Origin::Paths(vec![path]),
            when: None,
            steps: vec![Step::Text(TextStep::Trim)],
            required: false,
        })
    }

    fn origin(&mut self, at: &str, written: Written, allowed: &[&str]) -> Option<Origin> {
        let given = [
            written.from.is_some(),
            written.value.is_some(),
            written.expr.is_some(),
            written.template.is_some(),
            written.children.is_some(),
        ];
        if given.iter().filter(|is| **is).count() != 1 {
            let reason = "a value has exactly one origin";
            let remedy = "give one of from, value, expr, template, children";
            self.findings.add(at, reason, remedy);
            return None;
        }
        if let Some(from) = written.from {
            let mut paths = Vec::new();
            for text in from.list() {
                paths.push(self.path(at, text, allowed)?);
            }
            return Some(Origin::Paths(paths));
        }
        if let Some(value) = &written.value {
            return self.json(at, value).map(Origin::Constant);
        }
        if let Some(text) = &written.expr {
            return self
                .expr(&format!("{at}.expr"), text, allowed)
                .map(Origin::Expr);
        }
        if let Some(text) = &written.template {
            return match Template::compile(text, allowed) {
                Ok(template) => {
                    for column in template.columns() {
                        self.names(&format!("{at}.template"), &column);
                    }
                    Some(Origin::Template(template))
                }
                Err(reason) => {
                    let remedy = "text with {{ expression }} parts";
                    self.findings.add(format!("{at}.template"), reason, remedy);
                    None
                }
            };
        }
        let (Some(rows), Some(column)) = (written.children, written.column) else {
            let remedy = "children = \"photos\", column = \"URL\"";
            self.findings.add(at, "`children` needs a `column`", remedy);
            return None;
        };
        let column = self.path(at, &column, ITEM)?;
        self.rows(at, &rows);
        Some(Origin::Children { rows, column })
    }

    /// An expression, or a finding.
    pub(super) fn expr(&mut self, at: &str, text: &str, allowed: &[&str]) -> Option<Expr> {
        match Expr::compile(text, allowed) {
            Ok(expr) => {
                for column in expr.columns() {
                    self.names(at, &column);
                }
                Some(expr)
            }
            Err(reason) => {
                let remedy = "an expression reads row.COLUMN, compares and combines";
                self.findings.add(at, reason, remedy);
                None
            }
        }
    }

    pub(super) fn path(&mut self, at: &str, text: &str, allowed: &[&str]) -> Option<Path> {
        match Path::parse(text) {
            Ok(path) => {
                // A child row's columns are not the row's own.
                if !allowed.contains(&"item") {
                    self.columns.push((at.to_owned(), path.clone()));
                }
                Some(path)
            }
            Err(reason) => {
                let remedy = "a column name or a path such as prices[type=MSRP].value";
                self.findings.add(at, reason, remedy);
                None
            }
        }
    }

    /// Rows that are of no child query are a list in a column.
    pub(super) fn rows(&mut self, at: &str, rows: &str) {
        if !self.children.contains(rows) {
            self.names(at, rows);
        }
    }

    /// Columns that a step reads beside the one it works on.
    #[expect(clippy::wildcard_enum_match_arm, reason = "most steps read no other")]
    fn beside(&mut self, at: &str, step: &Step, allowed: &[&str]) {
        let own = !allowed.contains(&"item");
        let (expressions, path) = match step {
            Step::Expr(expr) => (expr.columns(), None),
            Step::Template(template) => (template.columns(), None),
            Step::Sentinel { unless, .. } => {
                (unless.as_ref().map(Expr::columns).unwrap_or_default(), None)
            }
            Step::Measure {
                unit_from: path, ..
            }
            | Step::DateTime {
                zone_from: path, ..
            } => (Vec::new(), path.as_ref()),
            _ => return,
        };
        for column in expressions {
            self.names(at, &column);
        }
        if let Some(path) = path.filter(|_| own) {
            self.columns.push((at.to_owned(), path.clone()));
        }
    }

    fn names(&mut self, at: &str, column: &str) {
        if let Ok(path) = Path::parse(column) {
            self.columns.push((at.to_owned(), path));
        }
    }
}
