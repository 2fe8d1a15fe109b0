//! Expressions where a step does not suffice: minijinja, strict about what is undefined, limited by fuel.
//! Must not reach files, time or the network: only what a row holds goes in.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, LazyLock};

use minijinja::value::Serde;
use minijinja::{Environment, Error, ErrorKind, Expression, UndefinedBehavior, Value};

use super::steps::number::of_text;

/// Bytecode steps one evaluation may take; a condition takes tens.
const FUEL: u64 = 20_000;
/// The longest expression text.
const MAX_TEXT: usize = 2_000;

static ENVIRONMENT: LazyLock<Environment<'static>> = LazyLock::new(|| {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_fuel(Some(FUEL));
    environment.add_function("number", number);
    environment.add_function("text", text);
    environment
});

/// A compiled expression.
#[derive(Clone)]
pub(super) struct Expr {
    text: Arc<str>,
    compiled: Arc<Expression<'static, 'static>>,
    variables: Arc<[String]>,
}

impl fmt::Debug for Expr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Expr").field(&self.text).finish()
    }
}

impl Expr {
    /// Compiles, and refuses variables that are not there at this place.
    pub(super) fn compile(text: &str, allowed: &[&str]) -> Result<Self, String> {
        if text.len() > MAX_TEXT {
            return Err(format!("an expression has at most {MAX_TEXT} characters"));
        }
        let compiled = ENVIRONMENT
            .compile_expression_owned(text.to_owned())
            .map_err(|error| format!("not an expression: {error:#}"))?;
        let mut variables: Vec<String> = compiled.undeclared_variables(false).into_iter().collect();
        variables.retain(|name| name != "number" && name != "text" && name != "range");
        variables.sort();
        if let Some(foreign) = variables
            .iter()
            .find(|name| !allowed.contains(&name.as_str()))
        {
            return Err(format!(
                "`{foreign}` is not known here; known are {}",
                allowed.join(", ")
            ));
        }
        Ok(Self {
            text: text.into(),
            compiled: Arc::new(compiled),
            variables: variables.into(),
        })
    }

    /// The columns read as `row.NAME`.
    pub(super) fn columns(&self) -> Vec<String> {
        let mut columns: Vec<String> = self
            .compiled
            .undeclared_variables(true)
            .into_iter()
            .filter_map(|name| {
                let rest = name.strip_prefix("row.")?;
                Some(rest.split('.').next().unwrap_or(rest).to_owned())
            })
            .collect();
        columns.sort();
        columns
    }

    /// The value, with the private reason when it cannot be computed.
    pub(super) fn eval(
        &self,
        variable: &dyn Fn(&str) -> Option<Value>,
    ) -> Result<serde_json::Value, String> {
        let context: BTreeMap<String, Value> = self
            .variables
            .iter()
            .filter_map(|name| Some((name.clone(), variable(name)?)))
            .collect();
        let value = self
            .compiled
            .eval(Value::from(context))
            .map_err(|error| plain(&error))?;
        if value.is_undefined() || value.is_none() {
            return Ok(serde_json::Value::Null);
        }
        serde_json::to_value(&value).map_err(|error| error.to_string())
    }

    /// Whether it reads this variable.
    pub(super) fn reads(&self, variable: &str) -> bool {
        self.variables.iter().any(|name| name == variable)
    }

    /// Whether the condition holds. A cell that says no is a text and would hold: nobody means that.
    pub(super) fn holds(&self, variable: &dyn Fn(&str) -> Option<Value>) -> Result<bool, String> {
        Ok(match self.eval(variable)? {
            serde_json::Value::Null => false,
            serde_json::Value::Bool(flag) => flag,
            serde_json::Value::Number(number) => number.as_f64() != Some(0.0),
            serde_json::Value::String(text) if says_no(&text) => {
                return Err("comes to a text that says no: compare it, as in == 'Y'".to_owned());
            }
            serde_json::Value::String(text) => !text.is_empty(),
            serde_json::Value::Array(list) => !list.is_empty(),
            serde_json::Value::Object(map) => !map.is_empty(),
        })
    }
}

fn says_no(text: &str) -> bool {
    let word = text.trim();
    ["0", "n", "no", "f", "false"]
        .iter()
        .any(|no| word.eq_ignore_ascii_case(no))
}

/// Wraps a cell or a row for an expression.
pub(super) fn wrap<T: serde::Serialize>(value: &T) -> Value {
    Value::from(Serde(value))
}

/// The kind of failure only: an error's detail may quote a cell.
#[expect(clippy::wildcard_enum_match_arm, reason = "a foreign enum that grows")]
fn plain(error: &Error) -> String {
    match error.kind() {
        ErrorKind::UndefinedError => "reads something the row does not have".to_owned(),
        ErrorKind::OutOfFuel => "takes too many steps".to_owned(),
        _ => format!("cannot be computed: {}", error.kind()),
    }
}

/// `number(cell)`: a number from a number or its text, as the `number` step reads it; a blank cell is an error, never
/// 0, and so is one that is written otherwise.
fn number(value: &Value) -> Result<Value, Error> {
    if value.is_number() {
        return Ok(value.clone());
    }
    match value.as_str().and_then(of_text) {
        Some(number) => Ok(Value::from(number)),
        None => Err(Error::new(
            ErrorKind::InvalidOperation,
            "number() of something that is none",
        )),
    }
}

/// `text(cell)`: trimmed text; an empty cell becomes the empty text, a missing column is an error.
fn text(value: &Value) -> Result<String, Error> {
    if value.is_undefined() {
        return Err(Error::from(ErrorKind::UndefinedError));
    }
    if value.is_none() {
        return Ok(String::new());
    }
    Ok(match value.as_str() {
        Some(text) => text.trim().to_owned(),
        None => value.to_string(),
    })
}

/// Text with `{{ expression }}` parts, and nothing else of the template language.
#[derive(Clone, Debug)]
pub(super) struct Template(Vec<Piece>);

#[derive(Clone, Debug)]
enum Piece {
    Text(String),
    Expr(Expr),
}

impl Template {
    /// Compiles each part.
    pub(super) fn compile(text: &str, allowed: &[&str]) -> Result<Self, String> {
        let mut pieces = Vec::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once("{{") {
            let (inside, remaining) = after
                .split_once("}}")
                .ok_or_else(|| "`{{` is not closed by `}}`".to_owned())?;
            pieces.push(Piece::Text(before.to_owned()));
            pieces.push(Piece::Expr(Expr::compile(inside.trim(), allowed)?));
            rest = remaining;
        }
        pieces.push(Piece::Text(rest.to_owned()));
        Ok(Self(pieces))
    }

    /// The columns read as `row.NAME`.
    pub(super) fn columns(&self) -> Vec<String> {
        self.0
            .iter()
            .flat_map(|piece| match piece {
                Piece::Text(_) => Vec::new(),
                Piece::Expr(expr) => expr.columns(),
            })
            .collect()
    }

    /// The text, or nothing when a part is missing or blank: half an address is none.
    pub(super) fn render(
        &self,
        variable: &dyn Fn(&str) -> Option<Value>,
    ) -> Result<Option<String>, String> {
        let mut out = String::new();
        for piece in &self.0 {
            match piece {
                Piece::Text(text) => out.push_str(text),
                Piece::Expr(expr) => match expr.eval(variable)? {
                    serde_json::Value::Null => return Ok(None),
                    serde_json::Value::String(text) if text.trim().is_empty() => return Ok(None),
                    serde_json::Value::String(text) => out.push_str(text.trim()),
                    number @ (serde_json::Value::Bool(_) | serde_json::Value::Number(_)) => {
                        out.push_str(&number.to_string());
                    }
                    serde_json::Value::Array(_) | serde_json::Value::Object(_) => {
                        return Err("puts a list into a text".to_owned());
                    }
                },
            }
        }
        Ok(Some(out))
    }
}
