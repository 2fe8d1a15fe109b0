//! What discovery documents and credentials of 3.0 must hold beyond their schemas: parts of one document
//! that must agree. What must agree across documents is for whoever holds both.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{EXTENSION_URI, SCHEMA_BASE_URL};
use crate::contract::{Problem, Skill};

/// The longest life of an assertion in seconds (AAP-239).
const LONGEST_ASSERTION: i64 = 300;

/// The grants by which a person signs in; each needs `scopes_supported` (AAP-222).
const SIGN_IN: [&str; 2] = [
    "authorization_code",
    "urn:ietf:params:oauth:grant-type:device_code",
];

/// Adds every broken rule of a document that has the schema `name`.
pub(super) fn check(name: &str, document: &Value, found: &mut Vec<Problem>) {
    match name {
        "agent-card" => card(document, found),
        "aap-extension-params" => params(document, "", found),
        "inventory-capabilities" => capabilities(document, "", found),
        "poppy" => poppy(document, found),
        "oauth-metadata" => issuer(document, found),
        "client-metadata" => client(document, found),
        "client-assertion" | "session-assertion" => assertion(name, document, found),
        _ => {}
    }
}

/// The card's AAP skills are unique and those of the extension (AAP-017).
fn card(card: &Value, found: &mut Vec<Problem>) {
    let mut listed = BTreeSet::new();
    for (index, skill) in items(card, "/skills").enumerate() {
        let id = skill.get("id").and_then(Value::as_str).unwrap_or_default();
        if Skill::from_id(id).is_some() && !listed.insert(id) {
            let place = format!("/skills/{index}/id");
            found.push(Problem::new(place, "uniqueItems", "Name each skill once."));
        }
    }
    for (index, extension) in items(card, "/capabilities/extensions").enumerate() {
        let Some(own) = extension.get("params") else {
            continue;
        };
        if extension.get("uri").and_then(Value::as_str) == Some(EXTENSION_URI) {
            let place = format!("/capabilities/extensions/{index}/params");
            params(own, &place, found);
            if skills(own).collect::<BTreeSet<_>>() != listed {
                let words = "Must name exactly the AAP skills of the card's `skills`.";
                found.push(Problem::new(format!("{place}/skills"), "const", words));
            }
        }
    }
}

/// Each skill's schemas are the canonical ones (AAP-021), the links the well-known ones (AAP-024), and
/// search has what makes it usable (AAP-004, AAP-346).
fn params(params: &Value, place: &str, found: &mut Vec<Problem>) {
    for (member, path) in [
        ("poppy", "/.well-known/poppy.json"),
        ("llms_txt", "/llms.txt"),
    ] {
        let url = params.get(member).and_then(Value::as_str);
        if url.is_some_and(|url| path_of(url) != Some(path)) {
            let words = format!("Must be the dealer's own {path}.");
            found.push(Problem::new(format!("{place}/{member}"), "const", words));
        }
    }
    for skill in Skill::ALL {
        for kind in ["request", "response"] {
            let inside = format!("/skills/{}/{kind}_schema", skill.id());
            let canonical = format!("{SCHEMA_BASE_URL}{}-{kind}.schema.json", skill.stem());
            let given = params.pointer(&inside).and_then(Value::as_str);
            if given.is_some_and(|given| given != canonical) {
                let words = format!("Must be {canonical}.");
                found.push(Problem::new(format!("{place}{inside}"), "const", words));
            }
        }
    }
    let inside = "/skills/inventory.search/capabilities";
    if let Some(search) = params.pointer(inside) {
        let place = format!("{place}{inside}");
        capabilities(search, &place, found);
        needed(params, search, &place, found);
    }
}

/// The skills that some kinds of search need beside them.
fn needed(params: &Value, search: &Value, place: &str, found: &mut Vec<Problem>) {
    let has = |skill: Skill| skills(params).any(|id| id == skill.id());
    let by_feature = texts(search, "/filters").any(|filter| filter.starts_with("features_"));
    if by_feature && !has(Skill::InventoryFacets) {
        let words = "Filters by feature need the skill inventory.facets, which lists the codes.";
        found.push(Problem::new(
            format!("{place}/filters"),
            "dependentRequired",
            words,
        ));
    }
    let aggregate = search.get("scope").and_then(Value::as_str) == Some("aggregate");
    if aggregate && !has(Skill::DealerInformation) {
        let words = "An aggregate needs the skill dealer.information.";
        found.push(Problem::new(
            format!("{place}/scope"),
            "dependentRequired",
            words,
        ));
    }
}

/// Defaults are usable (AAP-025), distance has an origin (AAP-404), and an aggregate has no rooftops
/// (AAP-392).
fn capabilities(search: &Value, place: &str, found: &mut Vec<Problem>) {
    let offers = |list: &str, name: &str| texts(search, list).any(|known| known == name);
    let text = |pointer: &str| search.pointer(pointer).and_then(Value::as_str);
    let number = |member: &str| search.get(member).and_then(Value::as_i64);
    let field = text("/default_sort/field");
    let above = number("default_limit").zip(number("max_limit"));
    for (wrong, at, keyword, words) in [
        (
            field.is_some_and(|field| !offers("/sort_fields", field)),
            "/default_sort/field",
            "enum",
            "Must be one of sort_fields.",
        ),
        (
            above.is_some_and(|(default, most)| default > most),
            "/default_limit",
            "maximum",
            "Must not exceed max_limit.",
        ),
        (
            offers("/sort_fields", "distance_mi") && !offers("/filters", "near"),
            "/filters",
            "contains",
            "An order by distance_mi needs the filter near.",
        ),
        (
            text("/scope") == Some("aggregate") && offers("/filters", "rooftops"),
            "/filters",
            "not",
            "An aggregate cannot offer rooftops: their names are not unique.",
        ),
    ] {
        if wrong {
            found.push(Problem::new(format!("{place}{at}"), keyword, words));
        }
    }
}

/// A native MCP entry is its own resource (AAP-042).
fn poppy(document: &Value, found: &mut Vec<Problem>) {
    for (index, api) in items(document, "/apis").enumerate() {
        let is_mcp = api.get("type").and_then(Value::as_str) == Some("mcp");
        if is_mcp && api.get("resource") != api.get("url") {
            let place = format!("/apis/{index}/resource");
            found.push(Problem::new(
                place,
                "const",
                "Must be the entry's url, exactly.",
            ));
        }
    }
}

/// Who lets people sign in names the scopes (AAP-222).
fn issuer(metadata: &Value, found: &mut Vec<Problem>) {
    let signs_in = texts(metadata, "/grant_types_supported").any(|grant| SIGN_IN.contains(&grant));
    if signs_in && metadata.get("scopes_supported").is_none() {
        let words = "Signing in needs the member `scopes_supported`.";
        found.push(Problem::new("/scopes_supported", "required", words));
    }
}

/// Keys and redirects are on the client's own domain (AAP-224); loopback redirects excepted.
fn client(metadata: &Value, found: &mut Vec<Problem>) {
    let text = |member: &str| metadata.get(member).and_then(Value::as_str);
    let Some(own) = text("client_id").and_then(host_of) else {
        return;
    };
    let is_own = |url: &str| host_of(url).is_some_and(|host| host.eq_ignore_ascii_case(own));
    if text("jwks_uri").is_some_and(|url| !is_own(url)) {
        let words = "Must be on the domain of client_id.";
        found.push(Problem::new("/jwks_uri", "const", words));
    }
    for (index, url) in texts(metadata, "/redirect_uris").enumerate() {
        if url.starts_with("https://") && !is_own(url) {
            let words = "Must be on the domain of client_id, or a loopback address.";
            found.push(Problem::new(
                format!("/redirect_uris/{index}"),
                "const",
                words,
            ));
        }
    }
}

/// Assertions are short-lived (AAP-239), and a client speaks for itself.
fn assertion(name: &str, claims: &Value, found: &mut Vec<Problem>) {
    let time = |member: &str| claims.get(member).and_then(Value::as_i64);
    let life = time("iat")
        .zip(time("exp"))
        .map(|(from, to)| to.saturating_sub(from));
    if life.is_some_and(|life| !(1..=LONGEST_ASSERTION).contains(&life)) {
        let words = "Must be later than iat, by at most 300 seconds.";
        found.push(Problem::new("/exp", "maximum", words));
    }
    if name == "client-assertion" && claims.get("sub") != claims.get("iss") {
        found.push(Problem::new("/sub", "const", "Must equal iss."));
    }
}

/// The items of the array at `pointer`, none where there is no array.
pub(super) fn items<'a>(document: &'a Value, pointer: &str) -> impl Iterator<Item = &'a Value> {
    let array = document.pointer(pointer).and_then(Value::as_array);
    array.into_iter().flatten()
}

/// The texts of the array at `pointer`.
pub(super) fn texts<'a>(document: &'a Value, pointer: &str) -> impl Iterator<Item = &'a str> {
    items(document, pointer).filter_map(Value::as_str)
}

fn skills(params: &Value) -> impl Iterator<Item = &str> {
    let members = params.get("skills").and_then(Value::as_object);
    members
        .into_iter()
        .flat_map(|skills| skills.keys().map(String::as_str))
}

/// The host and port of an absolute URL.
fn host_of(url: &str) -> Option<&str> {
    url.split_once("://")?.1.split(['/', '?', '#']).next()
}

/// What follows the host of an absolute URL.
fn path_of(url: &str) -> Option<&str> {
    let rest = url.split_once("://")?.1;
    rest.get(rest.find('/')?..)
}
