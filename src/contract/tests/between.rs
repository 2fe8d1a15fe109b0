//! Rules between members of one document, which no schema can say.

use serde_json::{Value, json};

use super::members::documents;
use super::*;

/// A change of one place: `null` removes it.
fn changed(document: &Value, pointer: &str, value: Value) -> Value {
    let mut changed = document.clone();
    let (parent, name) = pointer.rsplit_once('/').unwrap();
    let name = name.replace("~1", "/");
    let owner = changed.pointer_mut(parent).unwrap();
    if let Some(items) = owner.as_array_mut() {
        items[name.parse::<usize>().unwrap()] = value;
    } else if value.is_null() {
        owner.as_object_mut().unwrap().shift_remove(&name);
    } else {
        owner[name.as_str()] = value;
    }
    changed
}

#[track_caller]
fn broken(name: &str, document: &Value, place: &str, keyword: &str) {
    let problems = contract()
        .check_document(name, document)
        .err()
        .unwrap_or_default();
    let told = |p: &Problem| p.instance_location == place && p.keyword == keyword;
    assert!(
        problems.iter().any(told),
        "{name} {place} {keyword}: {problems:?}"
    );
}

#[track_caller]
fn right(name: &str, document: &Value) {
    assert_eq!(
        contract().check_document(name, document),
        Ok(()),
        "{document}"
    );
}

/// Each row: the place that changes, its new value, where the problem is told and by which keyword.
type Row = (&'static str, Value, &'static str, &'static str);

fn each(name: &str, document: &Value, rows: Vec<Row>) {
    right(name, document);
    for (pointer, value, place, keyword) in rows {
        broken(name, &changed(document, pointer, value), place, keyword);
    }
}

// AAP-025 AAP-391 AAP-392 AAP-404: what a search offers can be used as it stands.
#[test]
fn capabilities_do_not_contradict_themselves() {
    let name = "inventory-capabilities";
    let all = json!({"scope": "dealer", "filters": ["make", "near", "rooftops"],
        "sort_fields": ["price", "distance_mi"], "default_sort": {"field": "price", "order": "asc"},
        "default_limit": 20, "max_limit": 100, "offset": false});
    each(
        name,
        &all,
        vec![
            (
                "/default_sort/field",
                json!("year"),
                "/default_sort/field",
                "enum",
            ),
            (
                "/default_sort/field",
                json!("distance_mi"),
                "/default_sort/field",
                "enum",
            ),
            ("/max_limit", json!(10), "/default_limit", "maximum"),
            ("/filters", json!(["make"]), "/filters", "contains"),
            ("/scope", json!("aggregate"), "/filters", "not"),
        ],
    );
}

// AAP-004 AAP-017 AAP-021 AAP-346 AAP-394: a card's parts agree.
#[test]
fn a_card_agrees_with_itself() {
    let name = "agent-card";
    let card = documents(name).remove(0);
    let params = "/capabilities/extensions/0/params";
    let search = "/capabilities/extensions/0/params/skills/inventory.search/capabilities";
    each(
        name,
        &card,
        vec![(
            "/skills/0/id",
            json!("lead.submit"),
            "/capabilities/extensions/0/params/skills",
            "const",
        )],
    );
    let mut twice = card.clone();
    let skill = card["skills"][0].clone();
    twice["skills"].as_array_mut().unwrap().push(skill);
    broken(name, &twice, "/skills/1/id", "uniqueItems");
    let features = changed(&card, &format!("{search}/filters"), json!(["features_any"]));
    broken(
        name,
        &features,
        &format!("{search}/filters"),
        "dependentRequired",
    );
    let aggregate = changed(&card, &format!("{search}/scope"), json!("aggregate"));
    broken(
        name,
        &aggregate,
        &format!("{search}/scope"),
        "dependentRequired",
    );
    for (member, wrong) in [
        ("poppy", "https://a.example/poppy.json"),
        ("llms_txt", "https://a.example/llms.txt?v=1"),
        (
            "skills/inventory.search/request_schema",
            "https://a.example/s.json",
        ),
        (
            "skills/inventory.search/response_schema",
            "https://a.example/s.json",
        ),
    ] {
        let place = format!("{params}/{member}");
        broken(name, &changed(&card, &place, json!(wrong)), &place, "const");
    }
    let older = json!("https://autoagentprotocol.org/extensions/aap/v2.1");
    let at = "/capabilities/extensions/0/uri";
    broken(name, &changed(&card, at, older), at, "const");
}

// AAP-042 AAP-223 AAP-301 AAP-302 AAP-304: a published discovery document has no removed member, and a reader
// takes words it does not know.
#[test]
fn poppy_documents_agree_with_themselves() {
    let mcp = changed(&documents("poppy")[0], "/apis/0/type", json!("mcp"));
    let mcp = changed(&mcp, "/apis/0/url", json!("https://a.example/mcp"));
    broken("poppy", &mcp, "/apis/0/resource", "const");
    right(
        "poppy",
        &changed(&mcp, "/apis/0/resource", json!("https://a.example/mcp")),
    );
    each(
        "poppy",
        &documents("poppy")[0],
        vec![
            (
                "/auth/scopes",
                json!({"poppy:read": "Reads"}),
                "/auth/scopes",
                "propertyNames",
            ),
            (
                "/auth/direct",
                json!({}),
                "/auth/direct",
                "additionalProperties",
            ),
            (
                "/auth/custom_scopes",
                json!({}),
                "/auth/custom_scopes",
                "additionalProperties",
            ),
            ("/apis/0/type", json!("a2a"), "/apis/0/type", "enum"),
        ],
    );
    let reader = changed(
        &documents("poppy-document")[0],
        "/auth/scope_hints/a/changes",
        json!("some"),
    );
    right("poppy-document", &reader);
}

// AAP-220 AAP-221 AAP-222 AAP-588: an issuer names what agents and sign-in need.
#[test]
fn an_issuer_names_what_agents_need() {
    let issuer = documents("oauth-metadata").remove(0);
    let jwt = "urn:ietf:params:oauth:grant-type:jwt-bearer";
    each(
        "oauth-metadata",
        &issuer,
        vec![
            (
                "/grant_types_supported",
                json!([jwt]),
                "/grant_types_supported",
                "contains",
            ),
            (
                "/dpop_signing_alg_values_supported",
                json!(["RS256"]),
                "/dpop_signing_alg_values_supported",
                "contains",
            ),
            (
                "/token_endpoint_auth_methods_supported",
                json!(["none"]),
                "/token_endpoint_auth_methods_supported",
                "contains",
            ),
            (
                "/scopes_supported",
                json!(["poppy:read"]),
                "/scopes_supported/0",
                "not",
            ),
            ("/poppy_domains", json!(["a.example"]), "", "not"),
        ],
    );
    let device = "urn:ietf:params:oauth:grant-type:device_code";
    for (grant, endpoint) in [
        ("authorization_code", "/authorization_endpoint"),
        (device, "/device_authorization_endpoint"),
    ] {
        let grants = json!([jwt, "refresh_token", grant]);
        let signs_in = changed(&issuer, "/grant_types_supported", grants);
        right("oauth-metadata", &signs_in);
        broken(
            "oauth-metadata",
            &changed(&signs_in, endpoint, json!(null)),
            endpoint,
            "required",
        );
        let scopes = "/scopes_supported";
        broken(
            "oauth-metadata",
            &changed(&signs_in, scopes, json!(null)),
            scopes,
            "required",
        );
    }
}

// AAP-224 AAP-226: a client's keys and redirects are its own.
#[test]
fn a_client_is_of_one_domain() {
    let elsewhere = json!("https://b.example/x");
    each(
        "client-metadata",
        &documents("client-metadata")[0],
        vec![
            ("/jwks_uri", elsewhere.clone(), "/jwks_uri", "const"),
            ("/redirect_uris/0", elsewhere, "/redirect_uris/0", "const"),
            (
                "/client_id",
                json!("http://127.0.0.1/c"),
                "/client_id",
                "pattern",
            ),
        ],
    );
    let loopback = json!(["http://127.0.0.1:8080/cb", "http://[::1]/cb"]);
    right(
        "client-metadata",
        &changed(&documents("client-metadata")[0], "/redirect_uris", loopback),
    );
}

// AAP-239 AAP-244 AAP-246 AAP-247 AAP-322: forms and answers of the token endpoint.
#[test]
fn tokens_and_assertions_keep_their_forms() {
    each(
        "client-assertion",
        &documents("client-assertion")[0],
        vec![
            ("/exp", json!(1301), "/exp", "maximum"),
            ("/exp", json!(1000), "/exp", "maximum"),
            ("/sub", json!("user-1"), "/sub", "const"),
            ("/aud", json!(["https://a.example"]), "/aud", "type"),
        ],
    );
    right(
        "session-assertion",
        &changed(&documents("session-assertion")[0], "/sub", json!("user-1")),
    );
    broken(
        "token-request",
        &changed(&documents("token-request")[0], "/session_id", json!("s")),
        "",
        "not",
    );
    for removed in ["scope", "session_id", "signed_in", "refresh_token"] {
        let answer = changed(
            &documents("token-response")[0],
            &format!("/{removed}"),
            json!("x"),
        );
        broken("token-response", &answer, "", "not");
    }
    let exchanged = changed(
        &documents("token-exchange-response")[0],
        "/refresh_token",
        json!("x"),
    );
    broken("token-exchange-response", &exchanged, "", "not");
}

// AAP-355 AAP-367 AAP-373 AAP-516 AAP-521: names and codes are unique, ranges run upwards.
#[test]
fn names_and_codes_are_unique_and_ranges_run_upwards() {
    let twice = |list: &Value, change: (&str, Value)| {
        let mut other = list[0].clone();
        other[change.0] = change.1;
        json!([list[0], other])
    };
    let dealer = documents("dealer-information-response").remove(0);
    let rooftops = twice(
        &dealer["data"]["rooftops"],
        ("timezone", json!("America/Chicago")),
    );
    let fees = twice(&dealer["data"]["rooftops"][0]["fees"], ("amount", json!(7)));
    each(
        "dealer-information-response",
        &dealer,
        vec![
            (
                "/data/rooftops",
                rooftops,
                "/data/rooftops/1/name",
                "uniqueItems",
            ),
            (
                "/data/rooftops/0/fees",
                fees.clone(),
                "/data/rooftops/0/fees/1/name",
                "uniqueItems",
            ),
        ],
    );
    let listing = documents("inventory-listing").remove(0);
    let evidence = twice(&listing["feature_evidence"], ("text", json!("another")));
    each(
        "inventory-listing",
        &listing,
        vec![
            ("/fees", fees.clone(), "/fees/1/name", "uniqueItems"),
            (
                "/feature_evidence",
                evidence,
                "/feature_evidence/1/code",
                "uniqueItems",
            ),
        ],
    );
    right("inventory-listing", &changed(&listing, "/fees", json!([])));
    let detail = documents("vehicle-detail-response").remove(0);
    broken(
        "vehicle-detail-response",
        &changed(&detail, "/data/fees", fees),
        "/data/fees/1/name",
        "uniqueItems",
    );
    let facets = documents("inventory-facets-response").remove(0);
    let codes = twice(&facets["data"]["features"], ("count", json!(9)));
    let mut rows = vec![(
        "/data/features",
        codes,
        "/data/features/1/code",
        "uniqueItems",
    )];
    for (range, min) in [
        ("/data/price_range", "/data/price_range/min"),
        ("/data/year_range", "/data/year_range/min"),
    ] {
        rows.push((range, json!({"min": 2, "max": 1}), min, "maximum"));
    }
    each("inventory-facets-response", &facets, rows);
}

// AAP-397 AAP-402 AAP-408 AAP-411 AAP-412: a page keeps what it says was applied.
#[test]
fn a_page_keeps_what_it_says_was_applied() {
    let page = documents("inventory-search-response").remove(0);
    let car = &page["data"]["vehicles"][0];
    each(
        "inventory-search-response",
        &page,
        vec![
            (
                "/data/vehicles",
                json!([car, car]),
                "/data/limit",
                "minimum",
            ),
            ("/data/total", json!(0), "/data/total", "minimum"),
            (
                "/data/query_terms",
                json!(null),
                "/data/query_terms",
                "dependentRequired",
            ),
            (
                "/data/applied_filters/query",
                json!(null),
                "/data/query_terms",
                "dependentRequired",
            ),
            (
                "/data/vehicles/0/distance_mi",
                json!(null),
                "/data/vehicles/0/distance_mi",
                "required",
            ),
            (
                "/data/vehicles/0/feature_evidence/0/status",
                json!("unknown"),
                "/data/vehicles/0/feature_evidence",
                "contains",
            ),
            (
                "/data/applied_filters/features_all",
                json!(["heated_seats", "abs"]),
                "/data/vehicles/0/feature_evidence",
                "contains",
            ),
            (
                "/data/applied_filters/features_any",
                json!(["abs"]),
                "/data/vehicles/0/feature_evidence",
                "contains",
            ),
        ],
    );
    let unknown = changed(
        &page,
        "/data/applied_filters/features_any",
        json!(["abs", "heated_seats"]),
    );
    right(
        "inventory-search-response",
        &changed(&unknown, "/data/total", json!(7)),
    );
}

// AAP-414 AAP-438: a listing has one identifier that is not empty.
#[test]
fn a_listing_has_an_identifier() {
    let mut listing = documents("inventory-listing").remove(0);
    for member in ["vin", "stock", "vehicle_id"] {
        listing = changed(&listing, &format!("/{member}"), json!(null));
    }
    broken("inventory-listing", &listing, "", "anyOf");
    for member in ["/stock", "/vehicle_id"] {
        broken(
            "inventory-listing",
            &changed(&listing, member, json!("")),
            "",
            "anyOf",
        );
        right("inventory-listing", &changed(&listing, member, json!("N1")));
    }
}

// AAP-399 AAP-493: a claim that a feature is there, or is not, has its source and text.
#[test]
fn a_claim_of_presence_or_absence_has_its_source() {
    let listing = documents("inventory-listing").remove(0);
    for status in ["present", "absent"] {
        let claimed = changed(&listing, "/feature_evidence/0/status", json!(status));
        for member in ["source", "text"] {
            let place = format!("/feature_evidence/0/{member}");
            broken(
                "inventory-listing",
                &changed(&claimed, &place, json!(null)),
                &place,
                "required",
            );
            broken(
                "inventory-listing",
                &changed(&claimed, &place, json!("")),
                &place,
                "minLength",
            );
        }
    }
    let unknown = json!([{"code": "abs", "label": "ABS", "status": "unknown"}]);
    right(
        "inventory-listing",
        &changed(&listing, "/feature_evidence", unknown),
    );
}

// AAP-464 AAP-465 AAP-466 AAP-467 AAP-469: an appointment says what happened and when, and a rejected lead
// has no other appointment than a rejected one.
#[test]
fn an_outcome_says_what_happened() {
    let at = "2026-05-03T18:00:00Z";
    let with = |lead: &str, appointment: Value| {
        json!({"type": "lead.submit.response",
               "data": {"lead_id": "l", "status": lead, "appointment": appointment}})
    };
    let of = |status: &str| json!({"appointment_id": "a", "status": status});
    let and = |status: &str, member: &str, value: Value| {
        let mut appointment = of(status);
        appointment[member] = value;
        appointment
    };
    for answer in [
        with("received", of("requested")),
        with("received", of("rejected")),
        with("received", and("confirmed", "confirmed_at", json!(at))),
        with("received", and("proposed", "proposed_times", json!([at]))),
        with("rejected", of("rejected")),
    ] {
        right("lead-submit-response", &answer);
    }
    for (answer, place, keyword) in [
        (with("duplicate", of("rejected")), "/data/status", "enum"),
        (
            with("rejected", of("requested")),
            "/data/appointment/status",
            "const",
        ),
        (
            with("rejected", and("confirmed", "confirmed_at", json!(at))),
            "/data/appointment/status",
            "const",
        ),
        (
            with("received", of("confirmed")),
            "/data/appointment/confirmed_at",
            "required",
        ),
        (
            with("received", of("proposed")),
            "/data/appointment/proposed_times",
            "required",
        ),
        (
            with("received", and("proposed", "proposed_times", json!([]))),
            "/data/appointment/proposed_times",
            "minItems",
        ),
        (
            with("received", and("requested", "confirmed_at", json!(at))),
            "/data/appointment",
            "not",
        ),
        (
            with("received", and("confirmed", "proposed_times", json!([at]))),
            "/data/appointment",
            "not",
        ),
    ] {
        broken("lead-submit-response", &answer, place, keyword);
    }
}

// AAP-419 AAP-529 AAP-545: what a code needs in its details; cursor and skip exclude each other.
#[test]
fn details_and_pages_are_complete() {
    let error = documents("error").remove(0);
    for code in [
        "SCHEMA_VALIDATION_FAILED",
        "MISSING_REQUIRED_FIELD",
        "INVALID_CONDITION",
    ] {
        let error = changed(&error, "/code", json!(code));
        right("error", &error);
        broken(
            "error",
            &changed(&error, "/details/errors", json!(null)),
            "/details/errors",
            "required",
        );
        broken(
            "error",
            &changed(&error, "/details", json!(null)),
            "/details",
            "required",
        );
    }
    let throttled = changed(&error, "/code", json!("RATE_LIMITED"));
    let less = changed(&throttled, "/details/retry_after_ms", json!(null));
    broken("error", &less, "/details/retry_after_ms", "required");
    let both =
        json!({"type": "inventory.search.request", "pagination": {"cursor": "c", "skip": 0}});
    let (code, problems) = refused(Skill::InventorySearch, both);
    assert_eq!(code, ErrorCode::SchemaValidationFailed);
    assert_eq!(
        (problems[0].0.as_str(), problems[0].1.as_str()),
        ("/pagination", "not")
    );
    assert!(problems[0].2.contains("cursor, skip"), "{problems:?}");
}
