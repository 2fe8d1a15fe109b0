//! Schema violations in words that an agent can act on. Must never repeat a value of the request.

use jsonschema::error::ValidationErrorKind;
use serde_json::Value;

use super::Problem;
use super::schema::Compiled;
use super::{names, words};

/// How many problems one answer names. A request may hold a hundred thousand unknown members; its answer
/// must stay small.
const MOST: usize = 200;

/// Every violation of `schema` by `value`, one entry a place and keyword, in the order of the document.
pub(super) fn find(schema: &Compiled, value: &Value) -> Vec<Problem> {
    // Nearly everything is valid, and that is seen for less than where a problem would stand.
    if schema.validator.is_valid(value) {
        return Vec::new();
    }
    let mut problems: Vec<Problem> = Vec::new();
    let errors = schema.validator.iter_errors(value);
    let described = errors.flat_map(|error| {
        let place = error.instance_path().to_string();
        describe(schema, &place, error.kind().keyword(), error.kind())
    });
    for problem in described {
        let same = |p: &Problem| {
            p.instance_location == problem.instance_location && p.keyword == problem.keyword
        };
        let known = problems.iter().position(same);
        if known.is_none() && problems.len() == MOST {
            break;
        }
        match known.and_then(|index| problems.get_mut(index)) {
            // Two rules about one value: the narrower one says more.
            Some(known) if problem.error.len() < known.error.len() => *known = problem,
            Some(_) => {}
            None => problems.push(problem),
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
            .take(MOST)
            .map(|name| {
                let text = names::unknown(&schema.bundle, place, name);
                Problem::new(member(place, name), "additionalProperties", text)
            })
            .collect(),
        other => vec![Problem::new(place, keyword, words::correction(other))],
    }
}

/// `place` extended by one member name, escaped (RFC 6901 §3).
pub(super) fn member(place: &str, name: &str) -> String {
    format!("{place}/{}", name.replace('~', "~0").replace('/', "~1"))
}
