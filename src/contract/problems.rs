//! Schema violations in words that an agent can act on. Must never repeat a value of the request.

use jsonschema::error::{TypeKind, ValidationErrorKind};
use serde_json::Value;

use super::Problem;
use super::schema::Compiled;

/// Short names that buyers' agents use, and the contract's own.
const ALIASES: &[(&str, &str)] = &[
    ("lat", "latitude"),
    ("lng", "longitude"),
    ("lon", "longitude"),
    ("long", "longitude"),
    ("radius", "radius_mi"),
    ("distance", "radius_mi"),
    ("color", "exterior_color"),
    ("colour", "exterior_color"),
    ("features", "features_all"),
    ("drivetrain", "driveline"),
    ("offset", "skip"),
    ("mileage", "mileage_max"),
    ("direction", "order"),
];

/// How alike two names must be (Jaro–Winkler) to suggest one for the other.
const ALIKE: f64 = 0.82;

/// Every violation of `schema` by `value`, one entry a place and keyword, in the order of the document.
pub(super) fn find(schema: &Compiled, value: &Value) -> Vec<Problem> {
    let mut problems: Vec<Problem> = Vec::new();
    for error in schema.validator.iter_errors(value) {
        let place = error.instance_path().to_string();
        for problem in describe(schema, &place, error.kind().keyword(), error.kind()) {
            let same = |p: &&mut Problem| {
                p.instance_location == problem.instance_location && p.keyword == problem.keyword
            };
            match problems.iter_mut().find(same) {
                // Two rules about one value: the narrower one says more.
                Some(known) if problem.error.len() < known.error.len() => *known = problem,
                Some(_) => {}
                None => problems.push(problem),
            }
        }
    }
    problems
}

#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "all other kinds have one place and one text"
)]
fn describe(
    schema: &Compiled,
    place: &str,
    keyword: &str,
    kind: &ValidationErrorKind,
) -> Vec<Problem> {
    match kind {
        ValidationErrorKind::Required { property } => {
            let name = property.as_str().unwrap_or_default();
            vec![Problem::new(
                member(place, name),
                "required",
                format!("Add the member `{name}`."),
            )]
        }
        ValidationErrorKind::AdditionalProperties { unexpected } => unexpected
            .iter()
            .map(|name| {
                let text = unknown_key(&known_names(&schema.bundle, place), name);
                Problem::new(member(place, name), "additionalProperties", text)
            })
            .collect(),
        other => vec![Problem::new(place, keyword, words(other))],
    }
}

/// What to correct. `wildcard`-free: a new kind of violation must be given words of its own.
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "kinds that our schemas cannot produce"
)]
fn words(kind: &ValidationErrorKind) -> String {
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
        ValidationErrorKind::AnyOf { .. } => "Give at least one of the alternatives.".to_owned(),
        ValidationErrorKind::Not { .. } => "These members exclude each other.".to_owned(),
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

/// `place` extended by one member name, escaped (RFC 6901 §3).
pub(super) fn member(place: &str, name: &str) -> String {
    format!("{place}/{}", name.replace('~', "~0").replace('/', "~1"))
}

fn unknown_key(known: &[String], name: &str) -> String {
    let alias = ALIASES
        .iter()
        .find(|(short, _)| *short == name.to_lowercase())
        .map(|(_, own)| *own);
    let alias = alias
        .filter(|own| known.iter().any(|k| k == own))
        .map(str::to_owned);
    let nearest = || {
        let scored = known
            .iter()
            .map(|k| (strsim::jaro_winkler(k, &name.to_lowercase()), k));
        let best = scored.max_by(|(a, _), (b, _)| a.total_cmp(b));
        best.filter(|(score, _)| *score >= ALIKE)
            .map(|(_, k)| k.clone())
    };
    match alias.or_else(nearest) {
        Some(suggestion) => format!("Unknown member; use `{suggestion}`."),
        None if known.is_empty() => "Unknown member; remove it.".to_owned(),
        None => format!(
            "Unknown member; remove it. Known here: {}.",
            known.join(", ")
        ),
    }
}

/// The member names that the schema allows at `place` of an instance.
fn known_names(bundle: &Value, place: &str) -> Vec<String> {
    let mut here = bundle;
    for step in place.split('/').skip(1) {
        let next = resolve(bundle, here);
        let inside = next
            .get("properties")
            .and_then(|p| p.get(step))
            .or_else(|| next.get("items"));
        let Some(inside) = inside else {
            return Vec::new();
        };
        here = inside;
    }
    let properties = resolve(bundle, here)
        .get("properties")
        .and_then(Value::as_object);
    properties
        .map(|p| p.keys().cloned().collect())
        .unwrap_or_default()
}

fn resolve<'a>(bundle: &'a Value, schema: &'a Value) -> &'a Value {
    let target = schema
        .get("$ref")
        .and_then(Value::as_str)
        .and_then(|r| r.strip_prefix('#'));
    target
        .and_then(|pointer| bundle.pointer(pointer))
        .unwrap_or(schema)
}
