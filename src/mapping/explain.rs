//! How each field came about: raw cell, steps, result. For the terminal of the person who wrote the
//! mapping; must not be logged, since it holds the cells themselves.

use serde_json::Value;

use super::Outcome;
use super::evaluate::Found;
use super::steps::Stop;

/// A row's way to its outcome.
#[derive(Clone, Debug)]
pub struct Explanation {
    pub fields: Vec<FieldTrace>,
    pub outcome: Outcome,
}

/// One field's way.
#[derive(Clone, Debug)]
pub struct FieldTrace {
    pub field: String,
    /// Each cell that was tried, with the steps it went through.
    pub tried: Vec<Tried>,
    pub result: String,
}

/// One cell and its steps.
#[derive(Clone, Debug)]
pub struct Tried {
    pub column: String,
    pub raw: Value,
    pub steps: Vec<(&'static str, String)>,
}

impl FieldTrace {
    pub(super) fn new(field: &str) -> Self {
        Self {
            field: field.to_owned(),
            tried: Vec::new(),
            result: String::new(),
        }
    }

    pub(super) fn start(&mut self, column: &str, raw: &Value) {
        self.tried.push(Tried {
            column: column.to_owned(),
            raw: raw.clone(),
            steps: Vec::new(),
        });
    }

    pub(super) fn step(&mut self, name: &'static str, ran: &Result<Value, Stop>) {
        let text = match ran {
            Ok(Value::Null) => "nothing".to_owned(),
            Ok(value) => value.to_string(),
            Err(Stop::Dirty(reason)) => format!("dirty: {reason}"),
            Err(Stop::Hide(reason)) => format!("hides the vehicle: {reason}"),
        };
        if let Some(tried) = self.tried.last_mut() {
            tried.steps.push((name, text));
        }
    }

    pub(super) fn end(&mut self, found: &Found) {
        self.result = match found {
            Found::Value(value) => value.to_string(),
            Found::Nothing => "nothing".to_owned(),
            Found::Dirty(warning) => format!("left out: {}", warning.reason),
            Found::Hide(reason) => format!("hides the vehicle: {reason}"),
        };
    }
}

impl std::fmt::Display for Explanation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for trace in &self.fields {
            writeln!(f, "{}", trace.field)?;
            for tried in &trace.tried {
                write!(f, "  {} = {}", tried.column, tried.raw)?;
                for (name, result) in &tried.steps {
                    write!(f, "  > {name}: {result}")?;
                }
                writeln!(f)?;
            }
            writeln!(f, "  = {}", trace.result)?;
        }
        match &self.outcome {
            Outcome::Published(..) => writeln!(f, "published"),
            Outcome::Hidden { reason, .. } => writeln!(f, "hidden: {reason}"),
            Outcome::Rejected { column, reason, .. } => {
                writeln!(f, "rejected: {reason} (column {column})")
            }
        }
    }
}
