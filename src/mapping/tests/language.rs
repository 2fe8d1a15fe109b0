//! The mapping language step by step: what each one makes of a cell, and what it says of a dirty one.
#![expect(
    clippy::needless_pass_by_value,
    clippy::wildcard_enum_match_arm,
    reason = "tables of cases read better so"
)]

use serde_json::{Map, Value, json};

use super::super::report::Report;
use super::super::{Finding, Mapping, Outcome, Row, Tables};

/// A mapping with one field `x` under test, as `other_attributes.x`.
fn with_field(field: &str, rest: &str) -> Mapping {
    let text = format!(
        "name = 't'\n[source]\nkind = 'feed'\nformat = 'json'\n[fields]\nvehicle_id = {{ value = '1' }}\n\
         status = {{ value = 'available' }}\n[updated_at]\nprovenance = 'as_of'\n\
         [other_attributes]\nx = {field}\n{rest}"
    );
    Mapping::parse(&text).unwrap_or_else(|findings| panic!("{findings:?}"))
}

fn tables() -> Tables {
    Tables::new().with_as_of("2026-11-29T06:00:00Z".parse().unwrap())
}

fn row(fields: Value) -> Row {
    let Value::Object(fields) = fields else {
        panic!("a row is an object")
    };
    Row {
        fields,
        ..Row::default()
    }
}

/// What `steps` make of `cell`: a value, or the reason why there is none.
fn run(steps: &str, cell: Value) -> Result<Value, String> {
    run_in(
        steps,
        json!({ "c": cell, "unit": "km", "zone": "America/Los_Angeles", "NU": "U" }),
    )
}

fn run_in(steps: &str, fields: Value) -> Result<Value, String> {
    let codes = if steps.contains("table") {
        "[tables.codes]\n'10' = 'ten'\n'20' = 20\n'90' = { hide = 'sold' }"
    } else {
        ""
    };
    let mapping = with_field(&format!("{{ from = 'c', steps = {steps} }}"), codes);
    match mapping.apply(&row(fields), &tables()) {
        Outcome::Published(listing, warnings) => match warnings.into_iter().next() {
            Some(warning) => Err(warning.reason),
            None => Ok(listing
                .get("other_attributes")
                .map_or(Value::Null, |attributes| attributes["x"].clone())),
        },
        Outcome::Hidden { reason, .. } => Err(format!("hidden: {reason}")),
        Outcome::Rejected { reason, .. } => Err(format!("rejected: {reason}")),
    }
}

fn gives(steps: &str, cell: Value, wanted: Value) {
    assert_eq!(run(steps, cell.clone()), Ok(wanted), "{steps} of {cell}");
}

fn refuses(steps: &str, cell: Value, word: &str) {
    let reason = run(steps, cell.clone()).expect_err(&format!("{steps} of {cell}"));
    assert!(reason.contains(word), "{steps} of {cell}: {reason}");
}

#[test]
fn text_steps() {
    gives("['trim']", json!("HONDA      "), json!("HONDA"));
    gives("['trim']", json!("\u{feff}a\u{1a}"), json!("a"));
    gives("['trim']", json!("   "), Value::Null);
    gives("['collapse']", json!(" a \n b "), json!("a b"));
    gives("['upper']", json!("é1"), json!("É1"));
    gives("['lower']", json!("ABC"), json!("abc"));
    gives(
        "['title']",
        json!("GRAND CHEROKEE"),
        json!("Grand Cherokee"),
    );
    gives(
        "['sentence']",
        json!("DOCUMENTATION FEE"),
        json!("Documentation fee"),
    );
    gives(
        "['strip_html']",
        json!("<p>Bedliner &amp; cover.<br/>Call&nbsp;us! 3 < 4 &#233; &unknown;</p>"),
        json!("Bedliner & cover. Call us! 3 < 4 é &unknown;"),
    );
    gives(
        "['fix_encoding']",
        json!("cafÃ© â€“ â€œokâ€\u{9d}"),
        json!("café – “ok”"),
    );
    gives("['fix_encoding']", json!("already é"), json!("already é"));
    gives(
        "[{ extract = '([0-9]+)dr' }]",
        json!("sedan 4dr"),
        json!("4"),
    );
    gives("[{ extract = 'x' }]", json!("abc"), Value::Null);
    gives(
        "[{ replace = { pattern = '-', with = '' } }]",
        json!("a-b"),
        json!("ab"),
    );
}

#[test]
fn number_steps() {
    gives("['number']", json!("$34,750.00"), json!(34750));
    gives("['number']", json!("27,949.50 USD"), json!(27949.5));
    gives("['number']", json!("-5"), json!(-5));
    gives("['number']", json!(18.1), json!(18.1));
    gives(
        "[{ number = '1.234,56' }]",
        json!("27.949,50"),
        json!(27949.5),
    );
    gives("[{ number = '1234,56' }]", json!("27949,5"), json!(27949.5));
    gives(
        "[{ number = { implied_decimals = 2 } }]",
        json!("003475000"),
        json!(34750),
    );
    gives(
        "[{ number = { implied_decimals = 2 } }]",
        json!(3_475_050),
        json!(34750.5),
    );
    gives(
        "[{ number = { implied_decimals = 2 } }]",
        json!("5"),
        json!(0.05),
    );
    for bad in [
        "27.949,50",
        "1,2,3",
        "12,34",
        "abc",
        "1.",
        ".",
        "1e5",
        "0x10",
        "٣",
        "NaN",
        "1 2",
    ] {
        refuses("['number']", json!(bad), "not a number written as 1,234.56");
    }
    gives(
        "['number', 'whole_dollars']",
        json!("23995.00"),
        json!(23995),
    );
    refuses("['number', 'whole_dollars']", json!("20294.50"), "cents");
    gives(
        "['number', { whole_dollars = 'round' }]",
        json!("20294.50"),
        json!(20295),
    );
    refuses("['number', 'whole_dollars']", json!("-3"), "negative");
    gives("['number', 'round']", json!("2.4"), json!(2));
    gives("['number', 'century']", json!("21"), json!(2021));
    gives("['number', 'century']", json!("67"), json!(1967));
    gives("['number', 'century']", json!("2021"), json!(2021));
}

#[test]
fn units_convert_by_suffix_sibling_or_statement() {
    gives("[{ measure = 'mi' }]", json!("59739 km"), json!(37120));
    gives("[{ measure = 'mi' }]", json!("28,450 miles"), json!(28450));
    gives(
        "[{ measure = { to = 'mi', unit_from = 'unit' } }]",
        json!(48079),
        json!(29875),
    );
    gives(
        "[{ measure = { to = 'hp', unit = 'kw' } }]",
        json!(208),
        json!(279),
    );
    gives(
        "[{ measure = { to = 'cc', unit = 'l' } }]",
        json!("1.868L"),
        json!(1868),
    );
    refuses(
        "[{ measure = 'mi' }]",
        json!("5 parsecs"),
        "unit that is not known",
    );
    refuses(
        "[{ measure = 'mi' }]",
        json!("5 kw"),
        "unit of another kind",
    );
    refuses("[{ measure = 'mi' }]", json!("many"), "not a number");
}

#[test]
fn sentinels_become_nothing_unless_they_may_stand() {
    let steps = "[{ sentinel = [0, 1, 999999, 'N/A', 'Call', '00000000', '0000-00-00'] }]";
    for sentinel in [
        "0",
        "0.00",
        "1",
        "999999",
        "n/a ",
        "Call",
        "00000000",
        "0000-00-00",
    ] {
        gives(steps, json!(sentinel), Value::Null);
    }
    gives(steps, json!(0), Value::Null);
    gives(steps, json!("28450"), json!("28450"));
    gives(
        "[{ sentinel = { values = [0], unless = \"row.NU == 'U'\" } }]",
        json!(0),
        json!(0),
    );
    gives(
        "[{ sentinel = { values = [0], unless = \"row.NU == 'N'\" } }]",
        json!(0),
        Value::Null,
    );
}

#[test]
fn code_tables_and_their_misses() {
    gives("[{ table = 'codes' }]", json!(" 10 "), json!("ten"));
    gives("[{ table = 'codes' }]", json!(20), json!(20));
    refuses(
        "[{ table = 'codes' }]",
        json!("11"),
        "not in the code table",
    );
    refuses("[{ table = 'codes' }]", json!("90"), "hidden: sold");
    gives(
        "[{ table = { of = 'codes', miss = 'pass' } }]",
        json!("11"),
        json!("11"),
    );
    gives(
        "[{ table = { of = 'codes', miss = 'omit' } }]",
        json!("11"),
        Value::Null,
    );
    refuses(
        "[{ table = { of = 'codes', miss = 'hide' } }]",
        json!("11"),
        "hidden",
    );
}

#[test]
fn booleans_are_three_valued() {
    for yes in ["Y", "yes", "TRUE", "t", "1"] {
        gives("['boolean']", json!(yes), json!(true));
    }
    for no in ["N", "No", "false", "F", "0"] {
        gives("['boolean']", json!(no), json!(false));
    }
    gives(
        "[{ boolean = { unknown = ['?'] } }]",
        json!("?"),
        Value::Null,
    );
    refuses("['boolean']", json!("?"), "neither");
    gives("['boolean']", json!(1), json!(true));
}

#[test]
fn dates_and_times() {
    gives(
        "[{ date = '%Y%m%d' }]",
        json!("20260902"),
        json!("2026-09-02"),
    );
    gives(
        "[{ date = '%m/%d/%Y' }]",
        json!("9/2/2026"),
        json!("2026-09-02"),
    );
    gives(
        "[{ date = ['%Y-%m-%d', '%m/%d/%Y'] }]",
        json!("9/2/2026"),
        json!("2026-09-02"),
    );
    for bad in ["20261345", "00000000", "2026090", "202609021", "x"] {
        refuses("[{ date = '%Y%m%d' }]", json!(bad), "no date");
    }
    refuses("[{ date = '%Y-%m-%d' }]", json!("0000-00-00"), "no date");
    let us = "[{ datetime = { format = '%m/%d/%Y %I:%M:%S %p', zone = 'America/New_York' } }]";
    gives(
        us,
        json!("7/30/2026 1:59:46 PM"),
        json!("2026-07-30T17:59:46Z"),
    );
    gives(
        "[{ datetime = 'epoch_ms' }]",
        json!(1_764_412_500_000_i64),
        json!("2025-11-29T10:35:00Z"),
    );
    gives(
        "[{ datetime = 'epoch_s' }]",
        json!("1764412500"),
        json!("2025-11-29T10:35:00Z"),
    );
    gives(
        "[{ datetime = 'rfc3339' }]",
        json!("2026-11-27T10:10:00.000Z"),
        json!("2026-11-27T10:10:00Z"),
    );
    gives(
        "[{ datetime = '%Y-%m-%d %H:%M:%S%:z' }]",
        json!("2026-11-27 10:10:00+02:00"),
        json!("2026-11-27T08:10:00Z"),
    );
    refuses(
        "[{ datetime = 'rfc3339' }]",
        json!("2026-11-27 10:10"),
        "no time",
    );
}

#[test]
fn the_repeated_and_the_skipped_hour_need_a_policy() {
    let steps = |policy: &str| {
        format!("[{{ datetime = {{ format = '%Y-%m-%d %H:%M:%S', zone_from = 'zone'{policy} }} }}]")
    };
    let repeated = json!("2026-11-01 01:30:00");
    refuses(&steps(""), repeated.clone(), "repeat");
    gives(
        &steps(", ambiguous = 'earlier'"),
        repeated.clone(),
        json!("2026-11-01T08:30:00Z"),
    );
    gives(
        &steps(", ambiguous = 'later'"),
        repeated,
        json!("2026-11-01T09:30:00Z"),
    );
    refuses(
        &steps(", ambiguous = 'earlier'"),
        json!("2026-03-08 02:30:00"),
        "skipped",
    );
    let nowhere = run_in(
        &steps(""),
        json!({ "c": "2026-06-01 00:00:00", "zone": "Mars/Olympus" }),
    );
    assert!(nowhere.unwrap_err().contains("no known zone"));
    let unnamed = run_in(
        &steps(""),
        json!({ "c": "2026-06-01 00:00:00", "zone": " " }),
    );
    assert!(unnamed.unwrap_err().contains("names no zone"));
}

#[test]
fn lists_and_addresses() {
    gives(
        "[{ split = ['|', ','] }]",
        json!("a| b ||c,d"),
        json!(["a", "b", "c,d"]),
    );
    gives(
        "[{ split = ['|', ','] }]",
        json!("[\"x\", \"y\"]"),
        json!(["x", "y"]),
    );
    gives(
        "[{ split = ',' }, 'dedupe', { limit = 2 }]",
        json!("a,a,b,c"),
        json!(["a", "b"]),
    );
    gives("['first']", json!(["2020", "2021"]), json!("2020"));
    gives(
        "[{ split = ',' }, 'upper']",
        json!("a,b"),
        json!(["A", "B"]),
    );
    let urls = "[{ split = ',' }, { urls = 'https://www.dealer.example/shop' }, 'dedupe']";
    gives(
        urls,
        json!(
            "https://i.example/1.jpg,javascript:alert(1),/2.jpg,3.jpg,//evil.example/x,data:x,https://i.example/1.jpg"
        ),
        json!([
            "https://i.example/1.jpg",
            "https://www.dealer.example/2.jpg",
            "https://www.dealer.example/shop/3.jpg"
        ]),
    );
    gives(
        "['json', { pick = 'a[k=2].v' }]",
        json!("{\"a\":[{\"k\":1,\"v\":3},{\"k\":2,\"v\":4}]}"),
        json!(4),
    );
    refuses("['json']", json!("{not json"), "is not JSON");
}

#[test]
fn nothing_in_is_nothing_out_save_for_a_default() {
    for steps in [
        "['number']",
        "['upper', { split = ',' }, 'urls']",
        "[{ template = 'a{{ value }}' }]",
    ] {
        gives(steps, Value::Null, Value::Null);
        gives(steps, json!(""), Value::Null);
    }
    gives("['trim', { default = 'car' }]", json!(" "), json!("car"));
    gives("['trim', { default = 'car' }]", json!("rv"), json!("rv"));
}

#[test]
fn origins() {
    let value =
        |field: &str, fields: Value| match with_field(field, "").apply(&row(fields), &tables()) {
            Outcome::Published(listing, _) => listing
                .get("other_attributes")
                .map_or(Value::Null, |attributes| attributes["x"].clone()),
            other => panic!("{other:?}"),
        };
    let both =
        json!({ "a": "0", "b": "7", "Stock #": "s", "image[0].url": "u", "o": { "p": "q" } });
    assert_eq!(
        value(
            "{ from = ['a', 'b'], steps = [{ sentinel = [0] }] }",
            both.clone()
        ),
        "7"
    );
    assert_eq!(value("'Stock #'", both.clone()), "s");
    assert_eq!(value("'image[0].url'", both.clone()), "u");
    assert_eq!(value("'o.p'", both.clone()), "q");
    assert_eq!(
        value("{ template = '{{ row.a }}-{{ row.b }}' }", both.clone()),
        "0-7"
    );
    assert_eq!(
        value(
            "{ template = '{{ row.a }}-{{ row.n }}' }",
            json!({"a": 1, "n": null})
        ),
        Value::Null
    );
    assert_eq!(value("{ expr = 'number(row.b) + 1' }", both.clone()), 8.0);
    assert_eq!(
        value("{ from = 'b', when = \"row.a == '1'\" }", both.clone()),
        Value::Null
    );
    assert_eq!(value("{ expr = 'row.missing' }", both), Value::Null);
}

#[test]
fn a_runaway_expression_runs_out_of_fuel() {
    let mapping = with_field(
        "{ expr = \"range(99999) | map('string') | join | length\" }",
        "",
    );
    let Outcome::Published(_, warnings) = mapping.apply(&row(json!({})), &tables()) else {
        panic!("not published")
    };
    assert_eq!(warnings.len(), 1, "{warnings:?}");
}

fn findings(text: &str) -> Vec<Finding> {
    Mapping::parse(text).expect_err("this mapping must not load")
}

#[test]
fn every_mistake_is_found_at_once_with_key_and_remedy() {
    let found = findings(
        r#"
name = "t"
surprise = 1
[source]
kind = "sql"
query = "SELECT 1"
key = "id"
[fields]
status = { from = "S", steps = [{ table = "stauts" }, "trimm", { number = "1'234" }] }
price = "P"
colour = "C"
vin = { from = "V", expr = "row.V" }
year = { expr = "row.Y +" }
make = { expr = "Row.M" }
mileage = { from = "M", steps = [{ datetime = "%Y" }, { date = "yyyy" }, { extract = "(" }] }
[updated_at]
from = "U"
[price]
from = "P"
[features]
list = "F"
source = { value = "inventory" }
[[features.dictionary]]
code = "Heated-Seats"
label = "Heated Seats"
[tables.status]
"10" = "available"
"10 " = "pending"
"#,
    );
    let keys: Vec<&str> = found.iter().map(|finding| finding.key.as_str()).collect();
    for key in [
        "surprise",
        "fields.vehicle_id",
        "fields.status.steps[0]",
        "fields.status.steps[1]",
        "fields.status.steps[2]",
        "fields.price",
        "fields.colour",
        "fields.vin",
        "fields.year.expr",
        "fields.make.expr",
        "fields.mileage.steps[0]",
        "fields.mileage.steps[1]",
        "fields.mileage.steps[2]",
        "updated_at.provenance",
        "price[0].basis",
        "features.dictionary[0].code",
        "tables.status.\"10 \"",
        "tables.status",
    ] {
        assert!(keys.contains(&key), "{key} is not among {keys:?}");
    }
    assert!(found.iter().all(|finding| !finding.remedy.is_empty()));
    let step = found
        .iter()
        .find(|f| f.key == "fields.status.steps[0]")
        .unwrap();
    assert!(step.reason.contains("`status`"), "{step}");
}

#[test]
fn broken_toml_is_one_finding_with_its_line() {
    let found = findings("name = 't'\n[source\n");
    assert_eq!(found.len(), 1);
    assert!(found[0].remedy.contains("line 2"), "{}", found[0]);
}

#[test]
fn a_table_entry_that_no_value_can_reach_is_found() {
    let found = findings(
        "name = 't'\n[source]\nkind = 'feed'\nformat = 'csv'\n[fields]\nvehicle_id = 'a'\n\
         status = { from = 's', steps = ['upper', { table = 'st' }] }\n[updated_at]\nprovenance = 'as_of'\n\
         [tables.st]\nActive = 'available'\n",
    );
    assert_eq!(found[0].key, "fields.status.steps[1]");
    assert!(
        found[0].reason.contains("cannot be reached"),
        "{}",
        found[0]
    );
}

/// A DMS-like mapping for rules over whole listings.
fn dealer(extra: &str) -> Mapping {
    dealer_at("kind = 'feed'\nformat = 'json'", extra)
}

fn dealer_at(source: &str, extra: &str) -> Mapping {
    let text = format!(
        "name = 't'\n[source]\n{source}\n[fields]\nvehicle_id = 'id'\nstatus = 'status'\n\
         vin = 'vin'\nstock = 'stock'\ncondition = 'condition'\nyear = 'year'\nlist_price = 'list'\n\
         [updated_at]\nprovenance = 'source_column'\nfrom = 'at'\nsteps = [{{ datetime = 'rfc3339' }}]\n{extra}"
    );
    Mapping::parse(&text).unwrap_or_else(|findings| panic!("{findings:?}"))
}

fn listing(mapping: &Mapping, fields: Value) -> Outcome {
    let mut all = json!({ "id": "1", "status": "available", "at": "2026-11-01T00:00:00Z" });
    for (name, value) in fields.as_object().unwrap() {
        all[name] = value.clone();
    }
    mapping.apply(&row(all), &tables())
}

fn published(outcome: Outcome) -> (Map<String, Value>, Vec<String>) {
    match outcome {
        Outcome::Published(listing, warnings) => (
            listing,
            warnings
                .into_iter()
                .map(|w| format!("{}: {}", w.field, w.reason))
                .collect(),
        ),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_listing_without_id_status_or_time_is_rejected() {
    let mapping = dealer("");
    for missing in ["id", "status", "at"] {
        let outcome = listing(&mapping, json!({ missing: null }));
        assert!(
            matches!(outcome, Outcome::Rejected { .. }),
            "{missing}: {outcome:?}"
        );
    }
    let Outcome::Rejected {
        column,
        value_class,
        reason,
        ..
    } = listing(&mapping, json!({ "status": "sold secret 42" }))
    else {
        panic!("not rejected")
    };
    assert_eq!(column, "status");
    assert_eq!(value_class, "text of 14 characters with digits");
    assert!(!reason.contains("secret"), "{reason}");
}

#[test]
fn dirty_members_are_left_out_and_the_vehicle_stays() {
    let dirty = json!({ "year": "21", "list": "20294.50", "condition": "like new" });
    let (found, warnings) = published(listing(&dealer(""), dirty));
    assert_eq!(
        found.keys().collect::<Vec<_>>(),
        ["vehicle_id", "status", "updated_at"]
    );
    assert_eq!(warnings.len(), 3, "{warnings:?}");
}

#[test]
fn vins_are_checked_and_short_ones_go_elsewhere() {
    let mapping = dealer("");
    let (found, warnings) = published(listing(&mapping, json!({ "vin": "1hgcv1f32ma900101" })));
    assert_eq!(
        (found["vin"].as_str(), warnings.len()),
        (Some("1HGCV1F32MA900101"), 0)
    );
    let (found, warnings) = published(listing(&mapping, json!({ "vin": "1HGCV1F33MA900101" })));
    assert!(found.contains_key("vin") && warnings[0].contains("check digit"));
    for short in ["7F01C900123", "1HGCV1F32MA90010I"] {
        let (found, warnings) = published(listing(&mapping, json!({ "vin": short })));
        assert!(!found.contains_key("vin"));
        assert_eq!(found["other_attributes"]["serial_number"], short);
        assert!(warnings[0].contains("no VIN"));
    }
    let strict = dealer("[vin]\notherwise = 'reject'");
    let outcome = listing(&strict, json!({ "vin": "7F01C900123" }));
    assert!(matches!(outcome, Outcome::Rejected { .. }));
}

#[test]
fn the_first_price_that_nothing_speaks_against_wins() {
    let mapping = dealer(
        "[[price]]\nbasis = 'all_mandatory_included'\nfrom = 'a'\nomit_when = 'value < out.list_price'\n\
         [[price]]\nbasis = 'all_mandatory_included'\nfrom = 'b'\n",
    );
    let price = |fields: Value| published(listing(&mapping, fields));
    assert_eq!(price(json!({ "a": 5, "b": 6, "list": 4 })).0["price"], 5);
    let (found, warnings) = price(json!({ "a": 3, "b": 6, "list": 4 }));
    assert_eq!(found["price"], 6);
    assert_eq!(warnings.len(), 1);
    // The condition cannot be judged without a list price: then the price is not published.
    assert!(!price(json!({ "a": 3 })).0.contains_key("price"));
    assert!(!price(json!({})).0.contains_key("price"));
}

#[test]
fn the_effective_fees_replace_remove_and_leave_government_out() {
    let mapping = dealer_at(
        "kind = 'sql'\nquery = 'SELECT 1'\nkey = 'id'\ntables = { rooftop = 'SELECT 2' }",
        "[fees]\ndefaults = { table = 'rooftop', key = 'loc' }\noverrides = 'own'\ncode = 'code'\nname = 'name'\n\
         amount = { from = 'amount', steps = ['number', 'whole_dollars'] }\n\
         mandatory = \"item.mand == 'Y'\"\ngovernment = \"item.gov == 'Y'\"\n",
    );
    let fee = |code: &str, name: &str, amount: &str, mand: &str, gov: &str| json!({ "loc": "MAIN  ", "code": code, "name": name, "amount": amount, "mand": mand, "gov": gov });
    let rows = |list: Vec<Value>| -> Vec<Map<String, Value>> {
        list.into_iter()
            .map(|v| v.as_object().unwrap().clone())
            .collect()
    };
    let mut tables = Tables::new();
    tables.insert(
        "rooftop",
        rows(vec![
            fee("DOC ", "Doc", "499.00", "Y", "N"),
            fee("REG", "Registration", "312.50", "Y", "Y"),
        ]),
    );
    let fees = |own: Vec<Value>, list: Value| {
        let mut all = row(json!({
            "id": "1", "status": "available", "at": "2026-11-01T00:00:00Z", "loc": "MAIN", "list": list,
        }));
        all.children.insert("own".to_owned(), rows(own));
        let (found, warnings) = published(mapping.apply(&all, &tables));
        (found.get("fees").cloned(), warnings)
    };
    let doc = json!([{ "name": "Doc", "amount": 499 }]);
    assert_eq!(fees(vec![], json!(9)).0, Some(doc.clone()));
    assert_eq!(
        fees(vec![], Value::Null).0,
        None,
        "fees belong to an amount"
    );
    assert_eq!(
        fees(vec![fee("DOC", "Doc", "0.00", "Y", "N")], json!(9)).0,
        Some(json!([]))
    );
    assert_eq!(
        fees(vec![fee("TINT", "Tint", "399.00", "N", "N")], json!(9)).0,
        Some(doc)
    );
    let more = fees(
        vec![
            fee("DOC", "Doc", "299", "Y", "N"),
            fee("P", "Paint", "895", "Y", "N"),
        ],
        json!(9),
    );
    let wanted = json!([{ "name": "Doc", "amount": 299 }, { "name": "Paint", "amount": 895 }]);
    assert_eq!(more.0, Some(wanted));
    // What cannot be read makes the breakdown incomplete, and an incomplete one is not published.
    for bad in [
        fee("P", "Paint", "some", "Y", "N"),
        fee("P", "Doc", "5", "Y", "N"),
        fee("P", "", "5", "Y", "N"),
    ] {
        let (found, warnings) = fees(vec![bad], json!(9));
        assert_eq!((found, warnings.len()), (None, 1));
    }
}

// AAP-373 AAP-374 AAP-396 AAP-398
#[test]
fn evidence_comes_from_this_vehicles_own_record_only() {
    let mapping = dealer(
        "[features]\nchildren = 'opts'\ntext = 'text'\nskip = \"item.src == 'V'\"\n\
         source = { from = 'src' }\nstatus = { from = 'flag', steps = [{ table = 'flags' }] }\nunmatched = 'drop'\n\
         [[features.dictionary]]\ncode = 'heated_front_seats'\nlabel = 'Heated Front Seats'\nmatch = ['Seats: heated, front']\n\
         [[features.dictionary]]\ncode = 'sunroof'\nlabel = 'Sunroof'\n\
         [tables.flags]\nY = 'present'\nN = 'absent'\nU = 'unknown'\n",
    );
    assert_eq!(mapping.features().len(), 2);
    let option =
        |text: &str, src: &str, flag: &str| json!({ "text": text, "src": src, "flag": flag });
    let opts = json!([
        option("SEATS - HEATED FRONT ", "F", "Y"),
        option("Heated front seats", "D", "Y"),
        option("SUNROOF", "V", "Y"),
        option("sunroof", "D", "N"),
        option("Winter package", "D", "Y"),
    ]);
    let (found, _) = published(listing(&mapping, json!({ "opts": opts })));
    assert_eq!(found["features"], json!(["Heated Front Seats"]));
    assert_eq!(
        found["feature_evidence"],
        json!([
            { "code": "heated_front_seats", "label": "Heated Front Seats", "status": "present",
              "source": "F", "text": "SEATS - HEATED FRONT" },
            { "code": "sunroof", "label": "Sunroof", "status": "absent", "source": "D", "text": "sunroof" },
        ])
    );
}

// AAP-374 AAP-398: what a trim, a model or a body is called says nothing of the equipment.
#[test]
fn names_that_read_like_equipment_are_no_evidence() {
    let mapping = dealer(
        "[fields.make]\nfrom = 'make'\n[fields.model]\nfrom = 'model'\n[fields.trim]\nfrom = 'trim'\n\
         [fields.body]\nfrom = 'body'\n[features]\nchildren = 'opts'\ntext = 'text'\nsource = { value = 'dealer' }\n\
         [[features.dictionary]]\ncode = 'sunroof'\nlabel = 'Sunroof'\n",
    );
    let named = json!({ "make": "Sunroof", "model": "Sunroof", "trim": "Sunroof", "body": "Sunroof", "year": 2024 });
    let (found, _) = published(listing(&mapping, named.clone()));
    assert_eq!(found["trim"], "Sunroof");
    for member in ["features", "feature_evidence"] {
        assert_eq!(found.get(member), None, "{found:?}");
    }
    let mut recorded = named;
    recorded["opts"] = json!([{ "text": "sunroof" }]);
    let (found, _) = published(listing(&mapping, recorded));
    assert_eq!(found["feature_evidence"][0]["code"], "sunroof");
}

#[test]
fn duplicates_give_way_by_a_stated_rule() {
    let keep = dealer("[duplicates]\nsame_vin = 'keep'");
    let newest = dealer("");
    let one = |id: &str, vin: &str, stock: &str, at: &str| {
        let value = json!({ "vehicle_id": id, "vin": vin, "stock": stock, "updated_at": at });
        Outcome::Published(value.as_object().unwrap().clone(), Vec::new())
    };
    let all = vec![
        one("1", "A", "s1", "2026-11-10T00:00:00Z"),
        one("2", "A", "s2", "2026-11-24T00:00:00Z"),
        one("3", "B", "s2", "2026-11-01T00:00:00Z"),
        one("3", "C", "s3", "2026-11-01T00:00:00Z"),
    ];
    let resolved = newest.resolve_duplicates(all.clone());
    let ids = |r: &super::super::Resolved| {
        r.kept
            .iter()
            .map(|l| l["vin"].as_str().unwrap().to_owned() + l["stock"].as_str().unwrap())
            .collect::<Vec<_>>()
    };
    assert_eq!(ids(&resolved), ["As2", "Bs2"]);
    assert_eq!(resolved.shared_stock, ["s2"]);
    let reasons: Vec<&str> = resolved.dropped.iter().map(|d| d.reason.as_str()).collect();
    assert_eq!(
        reasons,
        [
            "another row with the same vehicle_id came first and is as new",
            "another row with the same vin was updated later"
        ]
    );
    assert_eq!(ids(&keep.resolve_duplicates(all)), ["As1", "As2", "Bs2"]);
}

#[test]
fn an_explanation_shows_each_way() {
    let mapping = with_field(
        "{ from = ['a', 'b'], steps = ['trim', { sentinel = ['N/A'] }, 'upper'] }",
        "",
    );
    let explanation = mapping.explain(&row(json!({ "a": " N/A ", "b": "x" })), &tables());
    let text = explanation.to_string();
    assert!(
        text.contains("a = \" N/A \"  > trim: \"N/A\"  > sentinel: nothing"),
        "{text}"
    );
    assert!(
        text.contains("b = \"x\"  > trim: \"x\"  > sentinel: \"x\"  > upper: \"X\"\n  = \"X\""),
        "{text}"
    );
    assert!(text.ends_with("published\n"), "{text}");
}

#[test]
fn a_report_counts_without_showing_cells() {
    let mapping = dealer("[[filter]]\nkeep = 'row.sold != 1'\nreason = 'sold'");
    let mut report = super::super::report::Report::new(&mapping);
    for fields in [
        json!({ "sold": 0, "year": "secret 5" }),
        json!({ "sold": 0, "year": 2020 }),
        json!({ "sold": 1 }),
        json!({}),
        json!({ "sold": 0, "status": "secret" }),
    ] {
        report.add(&listing(&mapping, fields));
    }
    let found = report.to_json();
    assert_eq!(
        (&found["rows"], &found["published"]),
        (&json!(5), &json!(2))
    );
    assert_eq!(found["hidden"], json!({ "sold": 1 }));
    assert_eq!(found["rejected"].as_array().unwrap().len(), 2);
    assert_eq!(found["filled"]["year"], 1);
    assert_eq!(
        found["dirty"][0]["value_class"],
        "text of 8 characters with digits"
    );
    assert!(report.has_findings());
    assert!(!report.to_string().contains("secret"), "{report}");
}

#[test]
fn rows_that_cannot_be_served_are_findings_of_the_report() {
    let mut report = Report::new(&dealer(""));
    report.add(&listing(&dealer(""), json!({})));
    assert!(!report.has_findings());
    report.refused("/price");
    report.garbled("has 3 cells for 2 columns");
    assert!(report.has_findings());
    assert_eq!(
        (report.rows(), report.published(), report.left_out()),
        (2, 0, 2)
    );
    let unusable = &report.to_json()["unusable"];
    assert_eq!(
        unusable,
        &json!({ "breaks the contract at /price": 1, "garbled row: has 3 cells for 2 columns": 1 })
    );
}

/// What the contract would refuse a whole listing for costs only the member.
#[test]
fn a_member_that_breaks_the_contract_does_not_cost_the_vehicle() {
    let mapping = Mapping::parse(
        "name = 't'\n[source]\nkind = 'feed'\nformat = 'json'\n[fields]\nvehicle_id = { value = '1' }\n\
         status = { value = 'available' }\nphotos = { from = 'p', steps = ['urls'] }\nlist_price = 'l'\n\
         [fees]\noverrides = 'fees'\ncode = 'c'\nname = 'n'\namount = 'a'\n\
         [updated_at]\nprovenance = 'source_column'\nfrom = 't'\n",
    )
    .unwrap_or_else(|findings| panic!("{findings:?}"));
    let photos = [
        "https://i.example/a|b.jpg",
        "https://i.example/{1}.jpg",
        "https://i.example/%zz",
        "https://i.example/1.jpg",
    ];
    let fees = [json!({ "c": "D", "n": "x".repeat(121), "a": 1 })];
    let cells = json!({ "p": photos, "l": 9000, "fees": fees, "t": "2026-11-01T01:00:00+01:00" });
    let Outcome::Published(listing, warnings) = mapping.apply(&row(cells), &tables()) else {
        panic!("not published")
    };
    assert_eq!(listing["photos"], json!(["https://i.example/1.jpg"]));
    assert!(!listing.contains_key("fees"), "{listing:?}");
    assert_eq!(warnings.len(), 1);
    assert_eq!(listing["updated_at"], "2026-11-01T00:00:00Z");
    let Outcome::Rejected { reason, .. } =
        mapping.apply(&row(json!({ "t": "yesterday" })), &tables())
    else {
        panic!("a vehicle without a time of its own is not shown")
    };
    assert!(reason.contains("is no instant"), "{reason}");
}

/// Wrong types are found at load: a constant, a default, a table's value, a last step.
#[test]
fn what_could_never_fill_a_member_does_not_load() {
    for (field, key, words) in [
        (
            "year = { value = 'old' }",
            "fields.year.value",
            "is not a whole number",
        ),
        (
            "year = { from = 'y', steps = ['boolean'] }",
            "fields.year",
            "`boolean` does not give a whole number",
        ),
        (
            "vin = { from = 'v', steps = [{ split = ',' }] }",
            "fields.vin",
            "`split` does not give a text",
        ),
        (
            "dc_fast_charge = { from = 'd', steps = ['number'] }",
            "fields.dc_fast_charge",
            "does not give true or false",
        ),
        (
            "inventory_date = { from = 'd', steps = ['number'] }",
            "fields.inventory_date",
            "does not give a date",
        ),
        (
            "photos = { from = 'p', steps = ['number'] }",
            "fields.photos",
            "does not give a list of http(s) addresses",
        ),
        (
            "condition = { from = 'c', steps = [{ table = 'c' }] }",
            "fields.condition.steps[0]",
            "value for \"D\" is none of new, used, cpo",
        ),
        (
            "condition = { from = 'c', steps = ['number', { table = 'c' }] }",
            "fields.condition.steps[1]",
            "cannot be reached",
        ),
        (
            "condition = { from = 'c', steps = [{ sentinel = ['d'] }, { table = 'c' }] }",
            "fields.condition.steps[1]",
            "not entered",
        ),
        (
            "vehicle_type = { from = 't', steps = [{ default = 'bike' }] }",
            "fields.vehicle_type.steps[0]",
            "the default is none of",
        ),
    ] {
        let codes = if field.contains("table") {
            "[tables]\nc = { D = 'demo', N = 'new' }\n"
        } else {
            ""
        };
        let found = findings(&format!(
            "name = 't'\n[source]\nkind = 'feed'\nformat = 'json'\n[fields]\nvehicle_id = 'i'\nstatus = 's'\n{field}\n\
             [updated_at]\nprovenance = 'as_of'\n{codes}"
        ));
        let fits = |finding: &&Finding| finding.key == key && finding.reason.contains(words);
        assert!(
            found.iter().any(|finding| fits(&finding)),
            "{field}: {found:?}"
        );
    }
}

/// Sold, deleted and withdrawn: hidden with the reason, and known by their identifiers, so that an agent who asks
/// for one hears that it is no longer offered. No status but AAP's three is ever published.
// AAP-356
#[test]
fn what_is_not_for_sale_is_never_published() {
    let mapping = Mapping::parse(
        "name = 't'\n[source]\nkind = 'feed'\nformat = 'json'\n[[filter]]\nkeep = \"row.deleted != 'Y'\"\nreason = 'deleted'\n\
         [[filter]]\nkeep = \"not text(row.sold_on)\"\nreason = 'sold'\n[fields]\nvehicle_id = 'id'\nstock = 'id'\n\
         status = { from = 'status', steps = ['lower', { table = { of = 'status', miss = 'hide' } }] }\n\
         [updated_at]\nprovenance = 'as_of'\n[tables]\n\
         status = { active = 'available', sold = { hide = 'sold' }, withdrawn = { hide = 'withdrawn' } }\n",
    )
    .unwrap_or_else(|findings| panic!("{findings:?}"));
    let with = |member: &str, value: &str| {
        let mut cells = json!({ "id": "1", "deleted": "N", "sold_on": "", "status": "Active" });
        cells[member] = value.into();
        mapping.apply(&row(cells), &tables())
    };
    assert!(matches!(with("id", "1"), Outcome::Published(..)));
    for (member, value, why) in [
        ("deleted", "Y", "deleted"),
        ("sold_on", "20261128", "sold"),
        ("status", "SOLD", "sold"),
        ("status", "Withdrawn", "withdrawn"),
        ("status", "who knows", "a code that the table lacks"),
    ] {
        let Outcome::Hidden {
            identifiers,
            reason,
            ..
        } = with(member, value)
        else {
            panic!("{member} {value} is shown")
        };
        assert_eq!(reason, why);
        assert_eq!(identifiers.stock.as_deref(), Some("1"));
    }
    // Neither is a row that a filter cannot judge, nor one without any status.
    let torn = mapping.apply(
        &row(json!({ "id": "1", "status": "Active", "deleted": "N" })),
        &tables(),
    );
    assert!(matches!(torn, Outcome::Rejected { .. }), "{torn:?}");
    assert!(matches!(with("status", ""), Outcome::Rejected { .. }));
}

#[test]
fn a_time_is_read_in_the_zone_of_its_rooftop() {
    let text = "name = 'z'\n[source]\nkind = 'feed'\nformat = 'csv'\n[fields]\nvehicle_id = 'id'\n\
        status = { value = 'available' }\n[updated_at]\nprovenance = 'source_column'\nfrom = 'at'\n\
        steps = [{ datetime = { format = '%Y-%m-%d %H:%M', zone_from = 'LOC', zones = 'zones', ambiguous = 'later' } }]\n\
        [tables]\nzones = { W = 'America/Los_Angeles', E = 'America/New_York', P = 'America/Phoenix' }\n";
    let mapping = Mapping::parse(text).unwrap();
    let at = |time: &str, place: &str| {
        let fields = json!({ "id": "1", "at": time, "LOC": place });
        match mapping.apply(&row(fields), &Tables::new()) {
            Outcome::Published(listing, _) => {
                Ok(listing["updated_at"].as_str().unwrap().to_owned())
            }
            Outcome::Rejected { reason, .. } | Outcome::Hidden { reason, .. } => Err(reason),
        }
    };
    for (time, place, instant) in [
        ("2026-11-20 04:00", "W ", "2026-11-20T12:00:00Z"),
        ("2026-11-20 04:00", "E", "2026-11-20T09:00:00Z"),
        // The hour that the clocks repeat in one place and not in the other.
        ("2026-11-01 01:30", "W", "2026-11-01T09:30:00Z"),
        ("2026-11-01 01:30", "P", "2026-11-01T08:30:00Z"),
    ] {
        assert_eq!(at(time, place).unwrap(), instant, "{time} {place}");
    }
    assert!(
        at("2026-11-20 04:00", "X")
            .unwrap_err()
            .contains("not in the table of zones")
    );
    assert!(
        at("2026-11-20 04:00", "").is_err(),
        "no place, no zone, no time"
    );
    for (change, to, word) in [
        (
            "'America/Phoenix'",
            "'Mars/Base'",
            "`Mars/Base` is no time zone",
        ),
        (
            "'America/Phoenix'",
            "{ hide = 'x' }",
            "entry \"P\" is no time zone",
        ),
        (
            "zones = 'zones'",
            "zones = 'zone'",
            "there is no [tables.zone]",
        ),
        (
            "zone_from = 'LOC'",
            "zone = 'UTC'",
            "`zones` needs `zone_from`",
        ),
    ] {
        let found = findings(&text.replacen(change, to, 1));
        assert!(
            found.iter().any(|finding| finding.reason.contains(word)),
            "{word}: {found:?}"
        );
    }
}
