//! Evaluates one field: origin, condition, steps, AAP type. Must not decide what a failure means.

use serde_json::{Map, Value};

use super::explain::FieldTrace;
use super::field::class_of;
use super::finish::finish;
use super::model::{Field, Origin};
use super::path::Path;
use super::scope::Scope;
use super::step::{Step, name_of};
use super::steps::{self, Stop};
use super::{Row, Tables, Warning};

/// What a field came to.
pub(super) enum Found {
    Value(Value),
    Nothing,
    Dirty(Warning),
    Hide(String),
}

/// A field's failing cell.
struct Failure {
    column: String,
    class: String,
    stop: Stop,
}

/// Everything a field may be read from.
pub(super) struct Input<'a> {
    pub(super) row: &'a Row,
    pub(super) tables: &'a Tables,
    pub(super) scope: Scope<'a>,
}

/// Evaluates a field, and writes its way down when asked to.
pub(super) fn evaluate(
    field: &Field,
    input: &Input<'_>,
    traces: Option<&mut Vec<FieldTrace>>,
) -> Found {
    let mut trace = traces.as_ref().map(|_| FieldTrace::new(&field.name));
    let result = run(field, input, trace.as_mut());
    let found = match result {
        Ok(Value::Null) => Found::Nothing,
        Ok(value) => Found::Value(value),
        Err(Failure {
            stop: Stop::Hide(reason),
            ..
        }) => Found::Hide(reason),
        Err(Failure {
            column,
            class,
            stop: Stop::Dirty(reason),
        }) => Found::Dirty(Warning {
            field: field.name.clone(),
            column,
            value_class: class,
            reason,
        }),
    };
    if let (Some(traces), Some(mut trace)) = (traces, trace) {
        trace.end(&found);
        traces.push(trace);
    }
    found
}

fn run(
    field: &Field,
    input: &Input<'_>,
    mut trace: Option<&mut FieldTrace>,
) -> Result<Value, Failure> {
    let scope = &input.scope;
    let fail = |stop, class: String| Failure {
        column: field.column(),
        class,
        stop,
    };
    if let Some(condition) = &field.when {
        let holds = scope
            .holds(condition, None)
            .map_err(|reason| fail(Stop::Dirty(reason), "the row".to_owned()))?;
        if !holds {
            return Ok(Value::Null);
        }
    }
    let raw = match &field.origin {
        Origin::Paths(paths) => return first_of(field, paths, scope, trace),
        Origin::Constant(value) => value.clone(),
        Origin::Expr(expr) => scope
            .eval(expr, None)
            .map_err(|reason| fail(Stop::Dirty(reason), "the row".to_owned()))?,
        Origin::Template(template) => scope
            .render(template, None)
            .map_err(|reason| fail(Stop::Dirty(reason), "the row".to_owned()))?
            .map_or(Value::Null, Value::String),
        Origin::Children { rows, column } => column_of(input.row.rows(rows), column),
        Origin::AsOf => input
            .tables
            .as_of()
            .map_or(Value::Null, |instant| Value::String(instant.to_string())),
    };
    if let Some(trace) = trace.as_deref_mut() {
        trace.start(&field.column(), &raw);
    }
    through(field, &raw, scope, true, trace).map_err(|stop| fail(stop, class_of(&raw)))
}

/// The first cell that comes to a value; a dirty one is reported only when none does.
fn first_of(
    field: &Field,
    paths: &[Path],
    scope: &Scope<'_>,
    mut trace: Option<&mut FieldTrace>,
) -> Result<Value, Failure> {
    let mut failure = None;
    for (index, path) in paths.iter().enumerate() {
        let raw = scope.pick(path).unwrap_or(&Value::Null);
        if let Some(trace) = trace.as_deref_mut() {
            trace.start(&path.text, raw);
        }
        let last = index + 1 == paths.len();
        match through(field, raw, scope, last, trace.as_deref_mut()) {
            Ok(Value::Null) => {}
            Ok(value) => return Ok(value),
            Err(stop) => {
                failure.get_or_insert(Failure {
                    column: path.text.clone(),
                    class: class_of(raw),
                    stop,
                });
            }
        }
    }
    failure.map_or(Ok(Value::Null), Err)
}

fn through(
    field: &Field,
    raw: &Value,
    scope: &Scope<'_>,
    last: bool,
    mut trace: Option<&mut FieldTrace>,
) -> Result<Value, Stop> {
    let mut value = if blank(raw) { Value::Null } else { raw.clone() };
    for step in &field.steps {
        if matches!(step, Step::Default(_)) && !last {
            continue;
        }
        let ran = steps::run(step, value, scope);
        if let Some(trace) = trace.as_deref_mut() {
            trace.step(name_of(step), &ran);
        }
        value = ran?;
        if blank(&value) {
            value = Value::Null;
        }
    }
    finish(field.kind, value).map_err(Stop::Dirty)
}

fn blank(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.trim().is_empty(),
        Value::Array(list) => list.is_empty(),
        Value::Bool(_) | Value::Number(_) | Value::Object(_) => false,
    }
}

fn column_of(rows: Vec<&Map<String, Value>>, column: &Path) -> Value {
    Value::Array(
        rows.into_iter()
            .filter_map(|row| column.pick(row).cloned())
            .filter(|cell| !blank(cell))
            .collect(),
    )
}
