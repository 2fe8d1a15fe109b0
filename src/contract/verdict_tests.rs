use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::canonical::canonical_json;
use super::json::{JsonError, read};
use super::*;

fn contract() -> &'static Contract {
    static CONTRACT: LazyLock<Arc<Contract>> = LazyLock::new(|| Contract::v3_0().unwrap());
    &CONTRACT
}

/// The validators of the five tool input schemas, compiled once.
fn tool_validator(skill: Skill) -> &'static jsonschema::Validator {
    static TOOLS: LazyLock<BTreeMap<Skill, jsonschema::Validator>> = LazyLock::new(|| {
        let compile = |skill| schema::compile(contract().input_schema(skill)).unwrap();
        Skill::ALL
            .into_iter()
            .map(|skill| (skill, compile(skill)))
            .collect()
    });
    &TOOLS[&skill]
}

fn fixture(name: &str) -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/data/fixtures")
        .join(name);
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

fn refused(skill: Skill, payload: Value) -> (ErrorCode, Vec<(String, String, String)>) {
    let error = contract().validate(skill, payload).unwrap_err();
    let list = error.details["errors"].as_array().unwrap();
    let of = |e: &Value, key: &str| e[key].as_str().unwrap().to_owned();
    let problems = list
        .iter()
        .map(|e| (of(e, "instanceLocation"), of(e, "keyword"), of(e, "error")))
        .collect();
    (error.code, problems)
}

fn places(skill: Skill, payload: Value) -> (ErrorCode, Vec<String>) {
    let (code, problems) = refused(skill, payload);
    (code, problems.into_iter().map(|p| p.0).collect())
}

fn search(filters: impl Into<Value>) -> Value {
    json!({"type": "inventory.search.request", "filters": filters.into()})
}

fn lead() -> Value {
    fixture("lead.request.minimal.json")
}

// AAP-081 AAP-082 AAP-527: the specification's own examples are valid.
#[test]
fn every_example_of_the_specification_is_valid() {
    let contract = contract();
    let mut seen = 0;
    for entry in
        fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/fixtures")).unwrap()
    {
        let name = entry.unwrap().file_name().into_string().unwrap();
        if Path::new(&name).extension().is_none_or(|e| e != "json") {
            continue;
        }
        let value = fixture(&name);
        let Some(kind) = value["type"].as_str() else {
            continue;
        };
        seen += 1;
        if kind == "aap.error" {
            assert_eq!(contract.check_document("error", &value), Ok(()), "{name}");
        } else if let Some(skill) = kind.strip_suffix(".request").and_then(Skill::from_id) {
            assert!(contract.validate(skill, value.clone()).is_ok(), "{name}");
        } else {
            let skill = kind
                .strip_suffix(".response")
                .and_then(Skill::from_id)
                .unwrap();
            assert_eq!(contract.check_answer(skill, &value), Ok(()), "{name}");
        }
    }
    assert!(seen >= 20, "{seen}");
    assert_eq!(
        contract.check_listing(&fixture("listing.pricing-included-fees.json")),
        Ok(())
    );
}

// AAP-388 AAP-405 AAP-432: unknown keys are refused wherever they stand, with the right name.
#[test]
fn an_unknown_key_is_refused_with_its_correction() {
    let near = json!({"lat": 45.5, "longitude": -122.6, "radius_mi": 10});
    let (code, problems) = refused(
        Skill::InventorySearch,
        search(json!({"near": near, "makes": ["a"]})),
    );
    assert_eq!(code, ErrorCode::SchemaValidationFailed);
    let text = |place: &str| {
        &problems
            .iter()
            .find(|p| p.0 == place && p.1 != "required")
            .unwrap()
            .2
    };
    assert!(text("/filters/near/lat").contains("`latitude`"));
    assert!(text("/filters/makes").contains("`make`"));
    assert!(
        problems
            .iter()
            .any(|p| p.0 == "/filters/near/latitude" && p.1 == "required")
    );
    for (place, payload) in [
        ("/x", json!({"type": "inventory.search.request", "x": 1})),
        (
            "/pagination/x",
            json!({"type": "inventory.search.request", "pagination": {"x": 1}}),
        ),
        (
            "/privacy/x",
            json!({"type": "inventory.search.request", "privacy": {"x": 1}}),
        ),
        (
            "/sort/x",
            json!({"type": "inventory.search.request",
                   "sort": {"field": "price", "order": "asc", "x": 1}}),
        ),
    ] {
        let (code, found) = places(Skill::InventorySearch, payload);
        assert_eq!(
            (code, found),
            (ErrorCode::SchemaValidationFailed, vec![place.to_owned()])
        );
    }
}

// AAP-192 AAP-503 AAP-529: all problems at once.
#[test]
fn every_problem_is_listed_at_once() {
    let payload = json!({"type": "inventory.search.request",
        "filters": {"year_min": "2020", "price_min": 9, "price_max": 3, "condition": [],
                    "body": ["SUV", "SUV"], "query": "  "},
        "pagination": {"limit": 0, "cursor": "c", "skip": 1}});
    let (code, mut found) = places(Skill::InventorySearch, payload);
    found.sort();
    assert_eq!(code, ErrorCode::SchemaValidationFailed);
    assert_eq!(
        found,
        [
            "/filters/body",
            "/filters/condition",
            "/filters/price_min",
            "/filters/query",
            "/filters/year_min",
            "/pagination",
            "/pagination/limit"
        ]
    );
}

// AAP-105 AAP-531: what the customer wrote is not in the error.
#[test]
fn no_customer_value_is_repeated() {
    let mut payload = lead();
    payload["customer"]["email"] = json!("not-an-address-canary");
    payload["customer"]["phone"] = json!("canary-5551234");
    payload["consent"]["granted_at"] = json!("canary-yesterday");
    payload["message"] = json!(7);
    let error = contract().validate(Skill::LeadSubmit, payload).unwrap_err();
    assert!(!error.to_value("e", "t").to_string().contains("canary"));
}

// AAP-461 AAP-540: missing consent and unusable consent have codes of their own.
#[test]
fn consent_has_its_own_codes() {
    let with = |change: &dyn Fn(&mut Value)| {
        let mut payload = lead();
        change(&mut payload);
        places(Skill::LeadSubmit, payload)
    };
    let none = with(&|p| drop(p.as_object_mut().unwrap().remove("consent")));
    assert_eq!(
        none,
        (
            ErrorCode::ContactConsentRequired,
            vec!["/consent".to_owned()]
        )
    );
    let sms = with(&|p| p["consent"]["allowed_channels"] = json!(["email", "sms"]));
    assert_eq!(
        sms,
        (
            ErrorCode::InvalidConsent,
            vec!["/customer/phone".to_owned()]
        )
    );
    let scope = with(&|p| p["consent"]["scope"] = json!(["marketing"]));
    assert_eq!(
        scope,
        (
            ErrorCode::InvalidConsent,
            vec!["/consent/scope/0".to_owned()]
        )
    );
    let preferred = with(&|p| {
        p["customer"]["phone"] = json!("+15035550142");
        p["customer"]["preferred_contact"] = json!("phone");
    });
    assert_eq!(preferred.0, ErrorCode::InvalidConsent);
    let order = with(&|p| p["consent"]["expires_at"] = p["consent"]["granted_at"].clone());
    assert_eq!(
        order,
        (
            ErrorCode::InvalidConsent,
            vec!["/consent/expires_at".to_owned()]
        )
    );
    let text = with(&|p| p["consent"] = json!("yes"));
    assert_eq!(
        text,
        (ErrorCode::InvalidConsent, vec!["/consent".to_owned()])
    );
    let both = with(&|p| {
        p["consent"]["scope"] = json!([]);
        p["customer"]["first_name"] = json!(" ");
    });
    assert_eq!(both.0, ErrorCode::SchemaValidationFailed);
}

// AAP-472 AAP-496: what every lead must have.
#[test]
fn absent_members_are_named() {
    for member in ["customer", "source_agent", "idempotency_key", "type"] {
        let mut payload = lead();
        payload.as_object_mut().unwrap().remove(member);
        let (code, found) = places(Skill::LeadSubmit, payload);
        assert_eq!(
            (code, found),
            (ErrorCode::MissingRequiredField, vec![format!("/{member}")])
        );
    }
    let (code, found) = places(
        Skill::InventoryVehicle,
        json!({"type": "inventory.vehicle.request"}),
    );
    assert_eq!(
        (code, found),
        (ErrorCode::MissingRequiredField, vec![String::new()])
    );
}

// AAP-450 AAP-541: each vehicle has its own vocabulary of condition.
#[test]
fn a_condition_of_the_other_vocabulary_has_its_own_code() {
    for (vehicle, word, code) in [
        ("vehicle_of_interest", "good", ErrorCode::InvalidCondition),
        ("trade_in", "cpo", ErrorCode::InvalidCondition),
        ("trade_in", "mint", ErrorCode::SchemaValidationFailed),
    ] {
        let mut payload = lead();
        payload[vehicle] = json!({"condition": word});
        let found = places(Skill::LeadSubmit, payload);
        assert_eq!(found, (code, vec![format!("/{vehicle}/condition")]));
    }
    let (code, _) = places(
        Skill::InventorySearch,
        search(json!({"condition": ["good"]})),
    );
    assert_eq!(code, ErrorCode::SchemaValidationFailed);
}

// AAP-404: an order by distance needs an origin.
#[test]
fn distance_order_needs_near() {
    for extra in [json!({}), json!({"filters": {}})] {
        let mut payload = json!({"type": "inventory.search.request",
                                 "sort": {"field": "distance_mi", "order": "asc"}});
        payload
            .as_object_mut()
            .unwrap()
            .extend(extra.as_object().unwrap().clone());
        let (code, problems) = refused(Skill::InventorySearch, payload);
        assert_eq!(code, ErrorCode::SchemaValidationFailed);
        let found: Vec<_> = problems
            .iter()
            .map(|p| (p.0.as_str(), p.1.as_str()))
            .collect();
        assert_eq!(found, [("/filters/near", "required")]);
    }
}

// AAP-093 AAP-270: the payload's type is the operation's.
#[test]
fn another_operations_type_is_refused() {
    let (code, problems) = refused(
        Skill::InventorySearch,
        json!({"type": "inventory.facets.request"}),
    );
    assert_eq!(code, ErrorCode::SchemaValidationFailed);
    assert_eq!(
        (problems[0].0.as_str(), problems[0].1.as_str()),
        ("/type", "const")
    );
}

// AAP-510: a float with a zero fraction is an integer; a larger number is refused, not cut.
#[test]
fn numbers_are_normalised_and_never_cut() {
    let payload = read(
        br#"{"type":"inventory.search.request","pagination":{"limit":20.0},
        "filters":{"price_max":35000.0,"near":{"latitude":45,"longitude":-122.5,"radius_mi":10}}}"#,
    )
    .unwrap();
    let Request::InventorySearch(request) = contract()
        .validate(Skill::InventorySearch, payload)
        .unwrap()
    else {
        panic!("not a search")
    };
    assert_eq!(request.pagination.limit, Some(20));
    assert_eq!(
        serde_json::to_value(request.filters.unwrap()).unwrap()["price_max"],
        json!(35000)
    );
    for number in ["1e19", "99999999999999999999", "35000.5", "-1"] {
        let text =
            format!(r#"{{"type":"inventory.search.request","filters":{{"price_max":{number}}}}}"#);
        let (code, found) = places(Skill::InventorySearch, read(text.as_bytes()).unwrap());
        assert_eq!(code, ErrorCode::SchemaValidationFailed, "{number}");
        assert_eq!(found, ["/filters/price_max"], "{number}");
    }
}

// AAP-458: times need their offset; leap seconds and far years are times too.
#[test]
fn date_times_need_an_offset() {
    let granted = |text: &str| {
        let mut payload = lead();
        payload["consent"]["granted_at"] = json!(text);
        contract().validate(Skill::LeadSubmit, payload).is_ok()
    };
    for good in [
        "2026-10-24T15:00:00Z",
        "2026-10-24t15:00:00.123456789z",
        "2026-10-24T15:00:00+05:30",
        "2016-12-31T23:59:60Z",
        "9999-12-31T23:59:59Z",
    ] {
        assert!(granted(good), "{good}");
    }
    for bad in [
        "2026-10-24T15:00:00",
        "2026-10-24 15:00:00Z",
        "2026-02-30T15:00:00Z",
        "2026-10-24T25:00:00Z",
        "2026-10-24T15:00:00.Z",
        "20261024T150000Z",
        "2026-10-24",
        "",
    ] {
        assert!(!granted(bad), "{bad}");
    }
}

// AAP-097: what is not one clean JSON text is refused as such.
#[test]
fn json_is_read_strictly() {
    assert_eq!(
        read(br#"{"a":[1,2.5,null,true,"x"]}"#).unwrap(),
        json!({"a": [1, 2.5, null, true, "x"]})
    );
    assert!(matches!(
        read(br#"{"a":{"b":1,"b":1}}"#),
        Err(JsonError::DuplicateName { .. })
    ));
    assert_eq!(read(b"\"\xff\""), Err(JsonError::NotUtf8));
    for bad in [
        &b"{bad"[..],
        b"",
        b"1 2",
        br#""\ud800""#,
        b"NaN",
        b"1e400",
        b"{\"a\":1}x",
    ] {
        assert!(
            matches!(read(bad), Err(JsonError::Malformed { .. })),
            "{bad:?}"
        );
    }
    let deep = |n: usize| "[".repeat(n) + &"]".repeat(n);
    assert!(read(deep(json::MAX_DEPTH).as_bytes()).is_ok());
    assert_eq!(
        read(deep(json::MAX_DEPTH + 1).as_bytes()),
        Err(JsonError::TooDeep)
    );
    assert_eq!(read(deep(100_000).as_bytes()), Err(JsonError::TooDeep));
}

// AAP-476 AAP-478: one canonical text for equal requests (RFC 8785 §3.2.3 and its appendix B).
#[test]
fn canonical_text_follows_the_rfc() {
    let value = read(
        "{\"\u{20ac}\":1,\"\\r\":2,\"\u{fb33}\":3,\"1\":4,\"\u{1f600}\":5,\"\u{80}\":6,\"\u{f6}\":7}"
            .as_bytes(),
    )
    .unwrap();
    assert_eq!(
        canonical_json(&value),
        "{\"\\r\":2,\"1\":4,\"\u{80}\":6,\"\u{f6}\":7,\"\u{20ac}\":1,\"\u{1f600}\":5,\"\u{fb33}\":3}"
    );
    for (number, text) in [
        (0.0, "0"),
        (-0.0, "0"),
        (5e-324, "5e-324"),
        (1.797_693_134_862_315_7e308, "1.7976931348623157e+308"),
        (9_007_199_254_740_992.0, "9007199254740992"),
        (295_147_905_179_352_830_000.0, "295147905179352830000"),
        (9.999_999_999_999_997e22, "9.999999999999997e+22"),
        (1e21, "1e+21"),
        (1e-6, "0.000001"),
        (1e-7, "1e-7"),
        (-333_333_333.333_333_3, "-333333333.3333333"),
    ] {
        assert_eq!(canonical_json(&json!(number)), text);
    }
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-1_000_000_i64..1_000_000).prop_map(Value::from),
        any::<f64>()
            .prop_filter("finite", |f| f.is_finite())
            .prop_map(Value::from),
        ".{0,12}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::hash_map(".{0,6}", inner, 0..5)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

/// A valid request of each skill, and what mutations start from.
fn seeds() -> Vec<(Skill, Value)> {
    vec![
        (
            Skill::DealerInformation,
            json!({"type": "dealer.information.request", "dealer_id": "d"}),
        ),
        (
            Skill::InventoryFacets,
            fixture("facets.request.scoped.json"),
        ),
        (
            Skill::InventorySearch,
            fixture("search.request.features-near.json"),
        ),
        (
            Skill::InventoryVehicle,
            fixture("vehicle.request.by-vehicle-id.json"),
        ),
        (
            Skill::LeadSubmit,
            fixture("lead.request.adf-worked-example.json"),
        ),
    ]
}

/// Every place of a document, as JSON Pointers.
fn every_place(value: &Value, at: &str, out: &mut Vec<String>) {
    out.push(at.to_owned());
    match value {
        Value::Object(members) => {
            for (name, member) in members {
                every_place(member, &problems::member(at, name), out);
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                every_place(item, &format!("{at}/{index}"), out);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn mutated(seed: &Value, place: usize, how: u8, with: Value) -> Value {
    let mut all = Vec::new();
    every_place(seed, "", &mut all);
    let pointer = &all[place % all.len()];
    let mut value = seed.clone();
    match how % 3 {
        0 => *value.pointer_mut(pointer).unwrap() = with,
        1 => {
            if let Some(members) = value.pointer_mut(pointer).unwrap().as_object_mut() {
                members.insert("made_up".into(), with);
            }
        }
        _ => {
            if let Some((parent, name)) = pointer.rsplit_once('/')
                && let Some(members) = value.pointer_mut(parent).unwrap().as_object_mut()
            {
                members.remove(name);
            }
        }
    }
    value
}

proptest! {
    // AAP-108 AAP-109: the tool's input schema accepts exactly what the canonical schema accepts.
    #[test]
    fn bundle_and_canonical_schema_agree(
        which in 0_usize..5, place in any::<usize>(), how in any::<u8>(), with in any_json(),
    ) {
        let contract = contract();
        let (skill, seed) = seeds().swap_remove(which);
        let value = mutated(&seed, place, how, with);
        let name = format!("{}-request", skill.stem());
        prop_assert_eq!(tool_validator(skill).is_valid(&value), contract.check_document(&name, &value).is_ok());
    }

    // AAP-502: no payload, however strange, makes validation panic, and every refusal names a place.
    #[test]
    fn a_refusal_always_names_its_places(
        which in 0_usize..5, place in any::<usize>(), how in any::<u8>(), with in any_json(),
    ) {
        let (skill, seed) = seeds().swap_remove(which);
        if let Err(error) = contract().validate(skill, mutated(&seed, place, how, with)) {
            prop_assert!(error.code != ErrorCode::InternalError, "{:?}", error);
            prop_assert!(!error.details["errors"].as_array().unwrap().is_empty());
        }
    }

    // AAP-476: canonical text does not depend on order or on how a number was written.
    #[test]
    fn canonical_text_reads_back_as_itself(value in any_json()) {
        let text = canonical_json(&value);
        let again: Value = serde_json::from_str(&text).unwrap();
        prop_assert_eq!(canonical_json(&again), text);
    }

    // AAP-097: arbitrary bytes never make the reader panic.
    #[test]
    fn arbitrary_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let strict = read(&bytes);
        if let Ok(value) = strict {
            prop_assert_eq!(serde_json::from_slice::<Value>(&bytes).unwrap(), value);
        }
    }
}

// AAP-083 AAP-108: what hosts are known to stumble over is not in the tool schemas.
#[test]
fn tool_schemas_are_portable() {
    fn walk(schema: &Value, root: &Value) {
        match schema {
            Value::Object(members) => {
                if let Some(target) = members.get("$ref") {
                    let target = target.as_str().unwrap();
                    assert!(target.starts_with("#/$defs/"), "{target}");
                    assert!(
                        root.pointer(target.strip_prefix('#').unwrap()).is_some(),
                        "{target}"
                    );
                }
                if let Some(properties) = members.get("properties") {
                    for (name, property) in properties.as_object().unwrap() {
                        assert!(property.is_object(), "{name}");
                    }
                }
                members.values().for_each(|member| walk(member, root));
            }
            Value::Array(items) => items.iter().for_each(|item| walk(item, root)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
    let contract = contract();
    for skill in Skill::ALL {
        for schema in [contract.input_schema(skill), contract.output_schema(skill)] {
            assert_eq!(schema["type"], "object");
            walk(schema, schema);
            schema::compile(schema).unwrap();
        }
        for keyword in ["oneOf", "anyOf", "allOf", "if", "not", "$ref"] {
            assert!(
                contract.input_schema(skill).get(keyword).is_none(),
                "{keyword}"
            );
        }
    }
}

fn offered() -> Capabilities {
    let supplied = [
        "make",
        "model",
        "price",
        "status",
        "year",
        "rooftop",
        "feature_evidence",
    ];
    let options = capabilities::SearchOptions {
        scope: capabilities::Scope::Dealer,
        default_sort: serde_json::from_value(json!({"field": "price", "order": "asc"})).unwrap(),
        default_limit: 20,
        max_limit: 50,
        offset: false,
        has_facets: true,
    };
    Capabilities::compile(
        &supplied.iter().map(|s| (*s).to_owned()).collect(),
        true,
        &options,
    )
    .unwrap()
}

fn typed_search(payload: Value) -> request::SearchRequest {
    let Request::InventorySearch(request) = contract()
        .validate(Skill::InventorySearch, payload)
        .unwrap()
    else {
        panic!("not a search")
    };
    request
}

// AAP-027 AAP-386 AAP-387 AAP-539: what is known but not offered is refused by its own code and place.
#[test]
fn what_is_not_offered_is_refused() {
    let capabilities = offered();
    let body = typed_search(search(json!({"body": ["SUV"], "make": ["Honda"]})));
    let error = capabilities.check_search(&body).unwrap_err();
    assert_eq!(error.code, ErrorCode::UnsupportedFilter);
    assert_eq!(
        error.details["errors"][0]["instanceLocation"],
        "/filters/body"
    );
    assert_eq!(error.details["errors"].as_array().unwrap().len(), 1);
    assert!(error.details.contains_key("hint"));
    let sort =
        json!({"type": "inventory.search.request", "sort": {"field": "msrp", "order": "asc"}});
    let error = capabilities.check_search(&typed_search(sort)).unwrap_err();
    assert_eq!(error.code, ErrorCode::UnsupportedSort);
}

// AAP-421 AAP-422: page size and offset are refused, never clamped.
#[test]
fn a_page_that_is_too_large_is_refused() {
    for (page, place) in [
        (json!({"limit": 51}), "/pagination/limit"),
        (json!({"skip": 0}), "/pagination/skip"),
    ] {
        let payload = json!({"type": "inventory.search.request", "pagination": page});
        let error = offered().check_search(&typed_search(payload)).unwrap_err();
        assert_eq!(error.code, ErrorCode::SchemaValidationFailed);
        assert_eq!(error.details["errors"][0]["instanceLocation"], place);
        assert!(error.details.contains_key("hint"));
    }
}

// AAP-025 AAP-026 AAP-392 AAP-404: capabilities that would mislead do not compile or leave the filter out.
#[test]
fn capabilities_are_compiled_from_what_is_supplied() {
    let capabilities = offered();
    let document = serde_json::to_value(&capabilities).unwrap();
    assert_eq!(
        contract().check_document("inventory-capabilities", &document),
        Ok(())
    );
    assert!(capabilities.filters.iter().any(|f| f == "features_all"));
    assert!(capabilities.sort_fields.iter().any(|f| f == "distance_mi"));
    let options = capabilities::SearchOptions {
        scope: capabilities::Scope::Aggregate,
        default_sort: serde_json::from_value(json!({"field": "distance_mi", "order": "asc"}))
            .unwrap(),
        default_limit: 60,
        max_limit: 50,
        offset: true,
        has_facets: false,
    };
    let supplied = ["rooftop", "feature_evidence"]
        .iter()
        .map(|s| (*s).to_owned())
        .collect();
    let faults = Capabilities::compile(&supplied, true, &options).unwrap_err();
    assert_eq!(faults.len(), 2, "{faults:?}");
    let options = capabilities::SearchOptions {
        default_sort: serde_json::from_value(json!({"field": "price", "order": "asc"})).unwrap(),
        default_limit: 5,
        ..options
    };
    let supplied = ["price", "rooftop", "feature_evidence"]
        .iter()
        .map(|s| (*s).to_owned())
        .collect();
    let aggregate = Capabilities::compile(&supplied, true, &options).unwrap();
    assert_eq!(aggregate.filters, ["price_min", "price_max", "near"]);
}

// AAP-012 AAP-013 AAP-025 AAP-196 AAP-220 AAP-221 AAP-224 AAP-247: documents beside the skills have
// schemas, which take the specification's examples and refuse what it forbids.
#[test]
fn documents_are_held_to_their_schemas() {
    let contract = contract();
    let ok = |name: &str, value: &Value| contract.check_document(name, value).is_ok();
    let poppy = fixture("poppy.document.json");
    let issuer = fixture("pap.oauth-metadata.response.json");
    let client = fixture("pap.client-metadata.json");
    let token = fixture("pap.token.response.guest.json");
    for (name, value) in [
        ("poppy", &poppy),
        ("poppy-document", &poppy),
        ("oauth-metadata", &issuer),
        ("client-metadata", &client),
        ("token-response", &token),
    ] {
        assert_eq!(contract.check_document(name, value), Ok(()), "{name}");
    }
    let with = |value: &Value, pointer: &str, name: &str, new: Value| {
        let mut value = value.clone();
        value
            .pointer_mut(pointer)
            .unwrap()
            .as_object_mut()
            .unwrap()
            .insert(name.to_owned(), new);
        value
    };
    // A removed 0.2 member may be read, never published (AAP-223, AAP-301).
    let direct = with(&poppy, "/auth", "direct", json!({}));
    assert!(!ok("poppy", &direct) && ok("poppy-document", &direct));
    let conversation = with(&poppy, "/apis/0", "type", json!("a2a"));
    assert!(!ok("poppy", &conversation) && ok("poppy-document", &conversation));
    assert!(!ok(
        "poppy",
        &with(&poppy, "/auth", "scopes", json!({"poppy:x": "no"}))
    ));
    assert!(!ok(
        "oauth-metadata",
        &with(
            &issuer,
            "",
            "grant_types_supported",
            json!(["refresh_token"])
        )
    ));
    assert!(!ok(
        "oauth-metadata",
        &with(&issuer, "", "poppy_domains", json!([]))
    ));
    assert!(!ok(
        "client-metadata",
        &with(&client, "", "jwks_uri", json!("http://a.example/k"))
    ));
    assert!(!ok(
        "client-metadata",
        &with(&client, "", "redirect_uris", json!(["http://localhost/"]))
    ));
    assert!(!ok("token-response", &with(&token, "", "scope", json!(""))));
    assert!(!ok(
        "token-response",
        &with(&token, "", "expires_in", json!(0))
    ));
}

fn card() -> Value {
    let schema = |stem: &str, end: &str| {
        format!("https://autoagentprotocol.org/v3.0/schemas/{stem}-{end}.schema.json")
    };
    json!({
        "name": "Example Motors", "description": "A dealer.", "version": "1.2.3",
        "supportedInterfaces": [{"url": "https://dealer.example/a2a", "protocolBinding": "JSONRPC",
                                 "protocolVersion": "1.0"}],
        "capabilities": {"extensions": [{
            "uri": "https://autoagentprotocol.org/extensions/aap/v3.0", "required": true,
            "params": {
                "id": "example", "version": "3.0.0",
                "schema_base_url": "https://autoagentprotocol.org/v3.0/schemas/",
                "skills": {"inventory.search": {
                    "request_schema": schema("inventory-search", "request"),
                    "response_schema": schema("inventory-search", "response"),
                    "capabilities": serde_json::to_value(offered()).unwrap()}},
                "mcp": {"url": "https://dealer.example/mcp", "transport": "streamable-http",
                        "protocol_versions": ["2026-07-28", "2025-11-25"], "public_read": true},
                "poppy": "https://dealer.example/.well-known/poppy.json",
                "llms_txt": "https://dealer.example/llms.txt"}}]},
        "defaultInputModes": ["application/vnd.autoagent.inventory-search-request+json"],
        "defaultOutputModes": ["application/vnd.autoagent.inventory-search-response+json"],
        "skills": [{"id": "inventory.search", "name": "Search", "description": "Finds cars.",
                    "tags": ["inventory"]}],
    })
}

// AAP-012 AAP-013 AAP-016 AAP-018 AAP-023 AAP-057 AAP-582: an Agent Card has one complete AAP extension.
#[test]
fn an_agent_card_has_one_complete_extension() {
    let contract = contract();
    let ok = |value: &Value| contract.check_document("agent-card", value).is_ok();
    let card = card();
    assert_eq!(contract.check_document("agent-card", &card), Ok(()));
    let changed = |pointer: &str, new: Value| {
        let mut value = card.clone();
        *value.pointer_mut(pointer).unwrap() = new;
        value
    };
    let entry = card.pointer("/capabilities/extensions/0").unwrap();
    let params = "/capabilities/extensions/0/params";
    assert!(!ok(&changed("/capabilities/extensions", json!([]))));
    assert!(!ok(&changed(
        "/capabilities/extensions",
        json!([entry, entry])
    )));
    assert!(!ok(&changed(
        "/capabilities/extensions/0/required",
        json!(false)
    )));
    assert!(!ok(&changed(
        "/supportedInterfaces/0/protocolBinding",
        json!("MCP")
    )));
    assert!(!ok(&changed(
        "/supportedInterfaces/0/protocolVersion",
        json!("0.3")
    )));
    assert!(!ok(&changed(
        &format!("{params}/mcp/protocol_versions"),
        json!(["2026-07-28"])
    )));
    assert!(!ok(&changed(&format!("{params}/version"), json!("2.1.0"))));
    for member in [
        "id",
        "version",
        "schema_base_url",
        "skills",
        "mcp",
        "poppy",
        "llms_txt",
    ] {
        let mut value = card.clone();
        value
            .pointer_mut(params)
            .unwrap()
            .as_object_mut()
            .unwrap()
            .remove(member);
        assert!(!ok(&value), "{member}");
    }
}
