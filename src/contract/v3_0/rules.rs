//! What AAP 3.0 demands of a request beyond its schemas, and which code several problems make together.
//! Must not look at a clock or at a deployment.

use serde_json::Value;

use crate::contract::{AapError, ErrorCode, Problem, Skill, instant};

/// The pairs of bounds that must not be inverted (AAP-382).
const RANGES: &[(&str, &str)] = &[
    ("year_min", "year_max"),
    ("price_min", "price_max"),
    ("electric_range_mi_min", "electric_range_mi_max"),
    ("displacement_cc_min", "displacement_cc_max"),
];
const SALE: &[&str] = &["new", "used", "cpo"];
const WEAR: &[&str] = &["excellent", "good", "fair", "poor"];

/// The problems that schemas cannot say.
pub(super) fn further(skill: Skill, request: &Value, problems: &mut Vec<Problem>) {
    match skill {
        Skill::InventorySearch => {
            ranges(request, problems);
            distance_order(request, problems);
        }
        Skill::InventoryFacets => ranges(request, problems),
        Skill::LeadSubmit => consent(request, problems),
        Skill::DealerInformation | Skill::InventoryVehicle => {}
    }
}

fn ranges(request: &Value, problems: &mut Vec<Problem>) {
    let Some(filters) = request.get("filters") else {
        return;
    };
    let bound = |name: &str| filters.get(name).and_then(Value::as_i64);
    for (least, most) in RANGES {
        let (low, high) = (bound(least), bound(most));
        if low.zip(high).is_some_and(|(low, high)| low > high) {
            let text = format!("The range is inverted: {least} must not exceed {most}.");
            problems.push(Problem::new(format!("/filters/{least}"), "maximum", text));
        }
    }
}

/// the order by distance needs an origin; the schema's own words for it are replaced.
fn distance_order(request: &Value, problems: &mut Vec<Problem>) {
    if is_ordered_by_distance(request) && request.pointer("/filters/near").is_none() {
        problems.retain(|p| {
            p.instance_location != "/filters" && p.instance_location != "/filters/near"
        });
        let text =
            "Ordering by distance_mi needs filters.near with latitude, longitude and radius_mi.";
        problems.push(Problem::new("/filters/near", "required", text));
    }
}

fn is_ordered_by_distance(request: &Value) -> bool {
    let field = request.get("sort").and_then(|sort| sort.get("field"));
    field.and_then(Value::as_str) == Some("distance_mi")
}

/// The cross-checks of a grant (AAP-457, AAP-460). Absent or mistyped members are the schema's business.
fn consent(request: &Value, problems: &mut Vec<Problem>) {
    let Some(consent) = request.get("consent") else {
        return;
    };
    let text = |pointer: &str| request.pointer(pointer).and_then(Value::as_str);
    let channels: Vec<_> = consent
        .get("allowed_channels")
        .and_then(Value::as_array)
        .map(|list| list.iter().filter_map(Value::as_str).collect())
        .unwrap_or_default();
    // A customer that is absent or no object is a problem of its own.
    let customer = request.get("customer").and_then(Value::as_object);
    let has = |member: &str| customer.is_none_or(|c| c.contains_key(member));
    if channels.contains(&"email") && !has("email") {
        let words = "The grant allows email: give customer.email, or leave email out of the grant.";
        problems.push(Problem::new("/customer/email", "consent", words));
    }
    if channels.iter().any(|c| matches!(*c, "phone" | "sms")) && !has("phone") {
        let words =
            "The grant allows phone or sms: give customer.phone, or leave them out of the grant.";
        problems.push(Problem::new("/customer/phone", "consent", words));
    }
    let preferred = text("/customer/preferred_contact");
    let known = preferred.filter(|p| matches!(*p, "email" | "phone" | "sms"));
    if known.is_some_and(|p| !channels.is_empty() && !channels.contains(&p)) {
        let words = "The preferred channel is not in consent.allowed_channels; ask the buyer.";
        problems.push(Problem::new(
            "/customer/preferred_contact",
            "consent",
            words,
        ));
    }
    let granted = text("/consent/granted_at").and_then(instant::parse);
    let expires = text("/consent/expires_at").and_then(instant::parse);
    if granted
        .zip(expires)
        .is_some_and(|(granted, expires)| expires <= granted)
    {
        let words = "The grant must end after it was given: expires_at after granted_at.";
        problems.push(Problem::new("/consent/expires_at", "consent", words));
    }
}

/// What a problem is about, as far as the choice of a code goes.
#[derive(PartialEq, Eq, Clone, Copy)]
enum Kind {
    Missing,
    NoConsent,
    Consent,
    Condition,
    Schema,
}

fn kind(skill: Skill, request: &Value, problem: &Problem) -> Kind {
    let place = problem.instance_location.as_str();
    let is_lead = skill == Skill::LeadSubmit;
    match (place, problem.keyword.as_str()) {
        ("/consent", "required") => Kind::NoConsent,
        (_, "consent") => Kind::Consent,
        _ if is_lead && (place == "/consent" || place.starts_with("/consent/")) => Kind::Consent,
        ("/vehicle_of_interest/condition", "enum") if other(request, place, WEAR) => {
            Kind::Condition
        }
        ("/trade_in/condition", "enum") if other(request, place, SALE) => Kind::Condition,
        // the missing origin of an order by distance.
        ("/filters/near", "required") if is_ordered_by_distance(request) => Kind::Schema,
        // "A specifically required field is absent": one of several alternatives is none.
        (_, "required") => Kind::Missing,
        _ => Kind::Schema,
    }
}

fn other(request: &Value, place: &str, vocabulary: &[&str]) -> bool {
    request
        .pointer(place)
        .and_then(Value::as_str)
        .is_some_and(|word| vocabulary.contains(&word))
}

/// The one error that says all `problems`.
pub(super) fn verdict(skill: Skill, request: &Value, problems: &[Problem]) -> AapError {
    let kinds: Vec<_> = problems.iter().map(|p| kind(skill, request, p)).collect();
    let all = |wanted: Kind| kinds.iter().all(|k| *k == wanted);
    let code = if all(Kind::NoConsent) {
        ErrorCode::ContactConsentRequired
    } else if kinds
        .iter()
        .all(|k| matches!(k, Kind::Missing | Kind::NoConsent))
    {
        ErrorCode::MissingRequiredField
    } else if all(Kind::Consent) {
        ErrorCode::InvalidConsent
    } else if all(Kind::Condition) {
        ErrorCode::InvalidCondition
    } else {
        ErrorCode::SchemaValidationFailed
    };
    AapError::new(code, message(code, problems.len())).with_problems(problems)
}

#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "a verdict on a request has these codes only"
)]
fn message(code: ErrorCode, count: usize) -> String {
    match code {
        ErrorCode::ContactConsentRequired => {
            "Ask the buyer for permission to be contacted and send it as `consent`.".to_owned()
        }
        ErrorCode::InvalidConsent => "The consent grant cannot be used as it is.".to_owned(),
        ErrorCode::InvalidCondition => {
            "A vehicle's condition is of the other vocabulary.".to_owned()
        }
        ErrorCode::MissingRequiredField => format!("The request lacks {count} required member(s)."),
        _ => format!("The request has {count} problem(s); details.errors names each."),
    }
}
