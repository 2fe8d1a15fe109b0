//! What a step may look at: the row, a child row it works on, and what is mapped already.
//! Must not change any of it.

use std::cell::OnceCell;

use serde_json::{Map, Value};

use super::expression::{Expr, Template, wrap};
use super::path::Path;

/// A row with its expression form, made at most once.
pub(super) struct RowView<'a> {
    pub(super) fields: &'a Map<String, Value>,
    wrapped: OnceCell<minijinja::Value>,
}

impl<'a> RowView<'a> {
    pub(super) fn new(fields: &'a Map<String, Value>) -> Self {
        Self {
            fields,
            wrapped: OnceCell::new(),
        }
    }

    fn wrapped(&self) -> minijinja::Value {
        self.wrapped.get_or_init(|| wrap(self.fields)).clone()
    }
}

/// The place a step runs at.
pub(super) struct Scope<'a> {
    pub(super) row: &'a RowView<'a>,
    /// A fee or option row: `from` reads it first, expressions know it as `item`.
    pub(super) item: Option<&'a Map<String, Value>>,
    /// The listing so far, known as `out`.
    pub(super) out: &'a Map<String, Value>,
}

impl Scope<'_> {
    /// The cell a path names, in the item if there is one, else in the row.
    pub(super) fn pick(&self, path: &Path) -> Option<&Value> {
        match self.item {
            Some(item) => path.pick(item).or_else(|| path.pick(self.row.fields)),
            None => path.pick(self.row.fields),
        }
    }

    fn variable(&self, name: &str, value: Option<&Value>) -> Option<minijinja::Value> {
        match name {
            "row" => Some(self.row.wrapped()),
            "item" => self.item.map(wrap),
            "out" => Some(wrap(self.out)),
            "value" => value.map(wrap),
            _ => None,
        }
    }

    pub(super) fn eval(&self, expr: &Expr, value: Option<&Value>) -> Result<Value, String> {
        expr.eval(&|name| self.variable(name, value))
    }

    pub(super) fn holds(&self, expr: &Expr, value: Option<&Value>) -> Result<bool, String> {
        expr.holds(&|name| self.variable(name, value))
    }

    pub(super) fn render(
        &self,
        template: &Template,
        value: Option<&Value>,
    ) -> Result<Option<String>, String> {
        template.render(&|name| self.variable(name, value))
    }
}
