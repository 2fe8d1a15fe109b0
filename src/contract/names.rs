//! A member name that the contract does not know, and the one that was probably meant. Must never look at
//! a value of the request.

use std::collections::BTreeSet;

use serde_json::Value;

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
    ("sort_by", "field"),
    ("keyword", "query"),
    ("keywords", "query"),
    ("q", "query"),
    ("text", "query"),
    ("page_size", "limit"),
    ("per_page", "limit"),
    ("size", "limit"),
    ("page_token", "cursor"),
    ("next_cursor", "cursor"),
    ("zip_code", "zip"),
    ("postal_code", "zip"),
    ("street", "address_line_1"),
    ("id", "vehicle_id"),
    ("stock_number", "stock"),
    ("telephone", "phone"),
    ("mobile", "phone"),
];

/// How alike two names must be (Jaro–Winkler) to suggest one for the other.
const ALIKE: f64 = 0.82;

/// What to do about the unknown member `name` of the object at `place`.
pub(super) fn unknown(bundle: &Value, place: &str, name: &str) -> String {
    let here = object_at(bundle, place);
    let known: Vec<&str> = here
        .map(|schema| properties(schema).collect())
        .unwrap_or_default();
    let plain = snake(name);
    if let Some(meant) = alias(&known, &plain).or_else(|| nearest(&known, &plain)) {
        return format!("Unknown member; use `{meant}`.");
    }
    if let Some(owner) = here.and_then(|schema| owner(bundle, schema, &plain)) {
        return format!("Unknown member here; put it at `{owner}.{plain}`.");
    }
    if known.is_empty() {
        return "Unknown member; remove it.".to_owned();
    }
    format!(
        "Unknown member; remove it. Known here: {}.",
        known.join(", ")
    )
}

fn alias<'a>(known: &[&'a str], name: &str) -> Option<&'a str> {
    let meant = |own: &str| known.iter().find(|k| **k == own).copied();
    ALIASES
        .iter()
        .filter(|(short, _)| *short == name)
        .find_map(|(_, own)| meant(own))
}

/// The known name with the same words in another order (`max_price`), the only one that has all its words
/// (`channels`), or else the most alike.
fn nearest<'a>(known: &[&'a str], name: &str) -> Option<&'a str> {
    let words =
        |name: &'_ str| -> BTreeSet<String> { name.split('_').map(str::to_owned).collect() };
    let given = words(name);
    if let Some(same) = known.iter().find(|k| words(k) == given) {
        return Some(same);
    }
    let mut fuller = known.iter().filter(|k| words(k).is_superset(&given));
    if let (Some(only), None) = (fuller.next(), fuller.next()) {
        return Some(only);
    }
    let scored = known.iter().map(|k| (strsim::jaro_winkler(k, name), *k));
    let best = scored.max_by(|(a, _), (b, _)| a.total_cmp(b));
    best.filter(|(score, _)| *score >= ALIKE).map(|(_, k)| k)
}

/// `minYear`, `min-year` and `Min Year` as AAP writes names.
fn snake(name: &str) -> String {
    let mut out = String::with_capacity(name.len() + 4);
    for letter in name.chars() {
        let broken = out.is_empty() || out.ends_with('_');
        if letter.is_uppercase() && !broken {
            out.push('_');
        }
        match letter {
            '-' | ' ' => out.push('_'),
            _ => out.extend(letter.to_lowercase()),
        }
    }
    out
}

/// The member of this object whose own members include `name`.
fn owner<'a>(bundle: &'a Value, schema: &'a Value, name: &str) -> Option<&'a str> {
    let members = schema.get("properties").and_then(Value::as_object)?;
    let holds = |schema: &Value| properties(resolve(bundle, schema)).any(|known| known == name);
    members
        .iter()
        .find(|(_, schema)| holds(schema))
        .map(|(owner, _)| owner.as_str())
}

fn properties(schema: &Value) -> impl Iterator<Item = &str> {
    let properties = schema.get("properties").and_then(Value::as_object);
    properties
        .into_iter()
        .flat_map(|p| p.keys().map(String::as_str))
}

/// The schema of the object at `place` of an instance.
fn object_at<'a>(bundle: &'a Value, place: &str) -> Option<&'a Value> {
    let mut here = bundle;
    for step in place.split('/').skip(1) {
        let next = resolve(bundle, here);
        let inside = next.get("properties").and_then(|p| p.get(step));
        here = inside.or_else(|| next.get("items"))?;
    }
    Some(resolve(bundle, here))
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
