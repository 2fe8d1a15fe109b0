//! Each kind of schema violation in words that say what to correct. Must never repeat a value of the request.

use jsonschema::ValidationError;
use jsonschema::error::{TypeKind, ValidationErrorKind};
use serde_json::Value;

/// What to correct.
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "kinds that our schemas cannot produce"
)]
pub(super) fn correction(kind: &ValidationErrorKind) -> String {
    match kind {
        ValidationErrorKind::Type { kind } => format!("Must be {}.", type_names(kind)),
        ValidationErrorKind::Enum { options } => format!("Use one of: {}.", list(options)),
        ValidationErrorKind::Constant { expected_value } => format!("Must be {expected_value}."),
        ValidationErrorKind::Minimum { limit } => format!("Must be at least {limit}."),
        ValidationErrorKind::Maximum { limit } => format!("Must be at most {limit}."),
        ValidationErrorKind::ExclusiveMinimum { limit } => format!("Must be greater than {limit}."),
        ValidationErrorKind::ExclusiveMaximum { limit } => format!("Must be less than {limit}."),
        ValidationErrorKind::MinItems { limit } => {
            format!("Give at least {limit} item, or leave the member out.")
        }
        ValidationErrorKind::MaxItems { limit } => format!("Give at most {limit} items."),
        ValidationErrorKind::UniqueItems => "Give each value once.".to_owned(),
        ValidationErrorKind::MinLength { limit } => {
            format!("Give at least {limit} character, or leave the member out.")
        }
        ValidationErrorKind::MaxLength { limit } => format!("Give at most {limit} characters."),
        ValidationErrorKind::Pattern { pattern } => pattern_words(pattern),
        ValidationErrorKind::Format { format } => format_words(format).to_owned(),
        ValidationErrorKind::MinProperties { limit } => format!("Give at least {limit} member."),
        ValidationErrorKind::Contains => "Lacks an item that must be there.".to_owned(),
        ValidationErrorKind::PropertyNames { .. } => "A name is not allowed here.".to_owned(),
        ValidationErrorKind::AnyOf { context } => alternatives(context),
        ValidationErrorKind::Not { schema } => excluded(schema),
        _ => "Does not satisfy the contract's schema.".to_owned(),
    }
}

fn type_names(kind: &TypeKind) -> String {
    match kind {
        TypeKind::Single(one) => article(&one.to_string()),
        TypeKind::Multiple(many) => {
            let names: Vec<_> = many.iter().map(|one| article(&one.to_string())).collect();
            names.join(" or ")
        }
    }
}

fn article(name: &str) -> String {
    match name {
        "null" => "null".to_owned(),
        "integer" | "object" | "array" => format!("an {name}"),
        _ => format!("a {name}"),
    }
}

fn list(options: &Value) -> String {
    let texts = options
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str);
    texts.collect::<Vec<_>>().join(", ")
}

fn pattern_words(pattern: &str) -> String {
    match pattern {
        "\\S" => "Must hold something other than blanks.".to_owned(),
        p if p.starts_with("^[A-HJ-NPR-Z") => {
            "A VIN has 17 capital letters and digits, without I, O and Q.".to_owned()
        }
        p if p.starts_with("^\\+") => "Write the number in E.164 form: + and digits.".to_owned(),
        p if p.contains("(?:_") => "A feature code is lowercase snake_case.".to_owned(),
        p => format!("Must match {p}."),
    }
}

fn format_words(format: &str) -> &'static str {
    match format {
        "date-time" => "Write an RFC 3339 date-time with its offset, like 2026-10-24T15:00:00Z.",
        "date" => "Write a date as YYYY-MM-DD.",
        "email" => "Write one e-mail address.",
        "uri" => "Write an absolute URI.",
        _ => "Has the wrong format.",
    }
}

/// Which members would do, where each alternative asks for one.
fn alternatives(context: &[Vec<ValidationError<'_>>]) -> String {
    let asked_for = |error: &ValidationError<'_>| {
        let ValidationErrorKind::Required { property } = error.kind() else {
            return None;
        };
        property.as_str().map(str::to_owned)
    };
    let mut names: Vec<String> = context.iter().flatten().filter_map(asked_for).collect();
    names.dedup();
    if names.is_empty() {
        "Give a text, a number, true or false, or a list of texts or of numbers.".to_owned()
    } else {
        format!("Give at least one of: {}.", names.join(", "))
    }
}

/// What a `not` forbids, as far as it names members.
fn excluded(schema: &Value) -> String {
    let required = schema.get("required").and_then(Value::as_array);
    let names: Vec<_> = required
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    match names.as_slice() {
        [] => "Holds what is not allowed here.".to_owned(),
        [one] => format!("Remove `{one}`."),
        several => format!(
            "These members exclude each other; give one: {}.",
            several.join(", ")
        ),
    }
}
