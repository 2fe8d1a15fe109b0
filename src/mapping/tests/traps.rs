//! What dealers' files really hold, where a careless reading would show a wrong price or a sold car.
#![expect(
    clippy::needless_pass_by_value,
    clippy::wildcard_enum_match_arm,
    reason = "tables of cases read better so"
)]

use serde_json::{Map, Value, json};

use super::super::{Mapping, Outcome, Row, Tables};

fn parse(rest: &str) -> Mapping {
    let source = if rest.contains("[source]") {
        ""
    } else {
        "[source]\nkind = 'feed'\nformat = 'xml'\nitems = 'v'\n"
    };
    let text = format!(
        "name = 't'\n{source}{rest}\n[updated_at]\nprovenance = 'source_column'\nfrom = 'at'\n\
         steps = [{{ datetime = 'rfc3339' }}]\n"
    );
    Mapping::parse(&text).unwrap_or_else(|findings| panic!("{findings:?}"))
}

/// A mapping with these fields beside the required ones.
fn with(fields: &str) -> Mapping {
    let status = if fields.contains("status") {
        ""
    } else {
        "status = { value = 'available' }\n"
    };
    parse(&format!(
        "[fields]\nvehicle_id = {{ from = 'id' }}\n{status}{fields}"
    ))
}

fn row(fields: Value) -> Row {
    let mut all = json!({ "id": "1", "at": "2026-11-10T00:00:00Z" });
    for (name, value) in fields.as_object().unwrap() {
        all[name] = value.clone();
    }
    Row {
        fields: all.as_object().unwrap().clone(),
        ..Row::default()
    }
}

fn shown(mapping: &Mapping, fields: Value) -> (Map<String, Value>, Vec<String>) {
    match mapping.apply(&row(fields), &Tables::new()) {
        Outcome::Published(listing, warnings) => (
            listing,
            warnings
                .into_iter()
                .map(|w| format!("{} {}", w.field, w.reason))
                .collect(),
        ),
        other => panic!("{other:?}"),
    }
}

// AAP-511 AAP-519
#[test]
fn no_car_is_to_be_had_for_nothing() {
    let mapping = with(
        "msrp = { from = 'm', steps = ['number'] }\nlist_price = { from = 'l', steps = ['number', 'whole_dollars'] }\n\
         [[price]]\nbasis = 'all_mandatory_included'\nfrom = 'p'\nsteps = ['number', 'whole_dollars']\n\
         [[price]]\nbasis = 'all_mandatory_included'\nfrom = 'other'\nsteps = ['number', 'whole_dollars']\n",
    );
    for nothing in [json!(0), json!("0.00"), json!("$0"), json!(0.0)] {
        let (listing, warnings) = shown(
            &mapping,
            json!({ "m": nothing, "l": nothing, "p": nothing, "other": nothing }),
        );
        for member in ["msrp", "list_price", "price"] {
            assert!(!listing.contains_key(member), "{nothing}: {listing:?}");
        }
        assert_eq!(warnings.len(), 4, "{warnings:?}");
    }
    // The next amount that is stated counts, as after any cell that cannot be read.
    assert_eq!(
        shown(&mapping, json!({ "p": 0, "other": 24995 })).0["price"],
        24995
    );
}

#[test]
fn thousands_with_the_other_country_s_point_are_no_small_change() {
    let rounded =
        with("list_price = { from = 'p', steps = ['number', { whole_dollars = 'round' }] }");
    let german = with(
        "list_price = { from = 'p', steps = [{ number = '1.234,56' }, { whole_dollars = 'round' }] }",
    );
    for (mapping, text) in [
        (&rounded, "24.995"),
        (&german, "24,995"),
        (&rounded, "$1.999"),
    ] {
        let (listing, warnings) = shown(mapping, json!({ "p": text }));
        assert!(!listing.contains_key("list_price"), "{text}: {listing:?}");
        assert!(warnings[0].contains("thousands"), "{warnings:?}");
    }
    for (mapping, text, dollars) in [
        (&rounded, json!("24995.50"), 24996),
        (&rounded, json!("24,995.499"), 24995),
        (&rounded, json!("999.5"), 1000),
        (&rounded, json!("499.9900"), 500),
        (&rounded, json!(24_995.333), 24995),
        (&german, json!("24.995,00 $"), 24995),
    ] {
        assert_eq!(
            shown(mapping, json!({ "p": text })).0["list_price"],
            dollars,
            "{text}"
        );
    }
}

#[test]
fn blanks_that_do_not_break_a_line_group_thousands_too() {
    let mapping =
        with("list_price = { from = 'p', steps = [{ number = '1 234,56' }, 'whole_dollars'] }");
    for text in [
        "24 995,00",
        "24\u{a0}995,00",
        "24\u{202f}995,00 $",
        "24995,00",
    ] {
        assert_eq!(
            shown(&mapping, json!({ "p": text })).0["list_price"],
            24995,
            "{text}"
        );
    }
    for text in ["24\u{a0}99,00", "24 99500"] {
        assert!(
            !shown(&mapping, json!({ "p": text }))
                .0
                .contains_key("list_price"),
            "{text}"
        );
    }
}

#[test]
fn number_reads_only_what_the_step_reads() {
    let mapping = with("list_price = { expr = 'number(row.p) - number(row.d)' }");
    for (price, discount, wanted) in [
        ("$24,995.00", "995", Some(24000)),
        (" 24995.00 USD", "0", Some(24995)),
        // Somebody else's decimals: not 50,000 dollars off.
        ("24995", "500,00", None),
        ("24.995,00", "0", None),
        ("1e5", "0", None),
        ("24995", "", None),
    ] {
        let (listing, _) = shown(&mapping, json!({ "p": price, "d": discount }));
        assert_eq!(
            listing.get("list_price").and_then(Value::as_i64),
            wanted,
            "{price} {discount}"
        );
    }
}

// AAP-356
#[test]
fn a_text_that_says_no_does_not_hold() {
    let filtered = with("[[filter]]\nkeep = 'row.for_sale'\nreason = 'not for sale'");
    for no in ["N", "no", "0", "false", " F "] {
        let outcome = filtered.apply(&row(json!({ "for_sale": no })), &Tables::new());
        let Outcome::Rejected { reason, .. } = outcome else {
            panic!("{no}: {outcome:?}")
        };
        assert!(reason.contains("compare it"), "{reason}");
    }
    for (cell, is_shown) in [
        (json!("Y"), true),
        (json!("1"), true),
        (json!(true), true),
        (json!(1), true),
        (json!(""), false),
        (json!(0), false),
        (json!(false), false),
        (json!(null), false),
    ] {
        let outcome = filtered.apply(&row(json!({ "for_sale": cell })), &Tables::new());
        assert_eq!(
            matches!(outcome, Outcome::Published(..)),
            is_shown,
            "{cell}: {outcome:?}"
        );
    }
    let priced =
        with("[[price]]\nbasis = 'all_mandatory_included'\nfrom = 'p'\nwhen = 'row.fees_inside'\n");
    assert!(
        !shown(&priced, json!({ "p": 24995, "fees_inside": "N" }))
            .0
            .contains_key("price")
    );
    assert_eq!(
        shown(&priced, json!({ "p": 24995, "fees_inside": "Y" })).0["price"],
        24995
    );
}

#[test]
fn a_filter_of_what_the_row_became_waits_for_it_however_it_is_written() {
    for keep in [
        "out.year > 2000",
        "out['year'] > 2000",
        "'year' in out and out | length > 2",
    ] {
        let mapping = with(&format!(
            "year = 'y'\n[[filter]]\nkeep = \"{keep}\"\nreason = 'old'"
        ));
        assert_eq!(
            shown(&mapping, json!({ "y": 2020 })).0["year"],
            2020,
            "{keep}"
        );
    }
}

/// An element that comes once is an object or a text where several are a list.
#[test]
fn what_xml_has_once_is_the_only_one_of_a_list() {
    let mapping = with(
        "list_price = { from = 'prices.price[type=RETAIL].text', steps = ['number', 'whole_dollars'] }\n\
         vdp_url = 'link[0]'\nphotos = { children = 'photos.photo', column = 'url', steps = ['urls'] }\n\
         [fees]\noverrides = 'fees.fee'\ncode = 'code'\nname = 'code'\namount = { from = 'amount', steps = ['number'] }\n",
    );
    let once = json!({
        "prices": { "price": { "type": "RETAIL", "text": "24995" } }, "link": "https://d.example/1",
        "photos": { "photo": { "url": "https://d.example/1.jpg" } },
        "fees": { "fee": { "code": "Documentation fee", "amount": "499" } },
    });
    let twice = json!({
        "prices": { "price": [{ "type": "MSRP", "text": "1" }, { "type": "RETAIL", "text": "24995" }] },
        "link": ["https://d.example/1", "https://d.example/2"],
        "photos": { "photo": [{ "url": "https://d.example/1.jpg" }] },
        "fees": { "fee": [{ "code": "Documentation fee", "amount": "499" }] },
    });
    assert_eq!(shown(&mapping, once.clone()).0, shown(&mapping, twice).0);
    let (listing, _) = shown(&mapping, once);
    assert_eq!(listing["list_price"], 24995);
    assert_eq!(listing["photos"], json!(["https://d.example/1.jpg"]));
    assert_eq!(
        listing["fees"],
        json!([{ "name": "Documentation fee", "amount": 499 }])
    );
    let other = json!({ "prices": { "price": { "type": "MSRP", "text": "1" } }, "link": "" });
    assert_eq!(shown(&mapping, other).0.len(), 3);

    let zipped = with(
        "list_price = 'p'\n[fees]\nzip = ['desc', 'amt']\ncode = 'desc'\nname = 'desc'\n\
         amount = { from = 'amt', steps = ['number'] }\n",
    );
    let once = json!({ "p": 9000, "desc": "Documentation fee", "amt": "499" });
    assert_eq!(
        shown(&zipped, once).0["fees"],
        json!([{ "name": "Documentation fee", "amount": 499 }])
    );
}

const FEES: &str = "[source]\nkind = 'sql'\nquery = 'SELECT * FROM v'\nkey = 'id'\n\
    tables = { defaults = 'SELECT * FROM f' }\n[fields]\nvehicle_id = 'id'\nstatus = { value = 'available' }\n\
    list_price = { value = 9000 }\n[fees]\ndefaults = { table = 'defaults', key = 'loc', when = \"item.kind == row.kind\" }\n\
    overrides = 'own'\ncode = 'code'\nname = 'name'\namount = 'amount'\nmandatory = \"item.mand == 'Y'\"\n";

// AAP-516 AAP-521
#[test]
fn a_breakdown_that_may_be_incomplete_is_none() {
    let mapping = parse(FEES);
    let fee = |code: &str, name: &str, amount: i64, mand: &str| json!({ "loc": "A", "kind": "car", "code": code, "name": name, "amount": amount, "mand": mand });
    let objects = |list: &[Value]| -> Vec<Map<String, Value>> {
        list.iter()
            .map(|fee| fee.as_object().unwrap().clone())
            .collect()
    };
    let fees = |defaults: &[Value], own: &[Value]| {
        let mut tables = Tables::new();
        tables.insert("defaults", objects(defaults));
        let mut row = row(json!({ "loc": "A", "kind": "car" }));
        row.children.insert("own".to_owned(), objects(own));
        let Outcome::Published(listing, warnings) = mapping.apply(&row, &tables) else {
            panic!("not published")
        };
        (listing.get("fees").cloned(), warnings.len())
    };
    let doc = fee("DOC", "Documentation fee", 499, "Y");
    let one = Some(json!([{ "name": "Documentation fee", "amount": 499 }]));
    assert_eq!(fees(std::slice::from_ref(&doc), &[]), (one.clone(), 0));
    // The same row twice, as a join gives it.
    assert_eq!(fees(&[doc.clone(), doc.clone()], &[]), (one.clone(), 0));
    // Two charges of one code: one would be lost, or is out of date.
    let other = fee("DOC", "Dealer preparation", 895, "Y");
    for (defaults, own) in [
        (vec![doc.clone(), other.clone()], vec![]),
        (vec![], vec![other.clone(), doc.clone()]),
        (
            vec![doc.clone()],
            vec![other.clone(), fee("DOC", "Tint", 99, "N")],
        ),
    ] {
        assert_eq!(fees(&defaults, &own), (None, 1), "{defaults:?} {own:?}");
    }
    let optional = [fee("OPT", "Tint", 399, "N"), fee("OPT", "Wax", 99, "N")];
    assert_eq!(fees(std::slice::from_ref(&doc), &optional), (one, 0));
    // A default of which nobody can tell whether it applies.
    let mut unclear = doc.clone();
    unclear.as_object_mut().unwrap().shift_remove("kind");
    assert_eq!(fees(&[doc, unclear], &[]), (None, 1));
}

#[test]
fn a_car_without_a_place_has_no_place_s_charges() {
    let mapping = parse(&FEES.replace(", when = \"item.kind == row.kind\"", ""));
    let mut tables = Tables::new();
    let fee = json!({ "LOC": "A", "code": "DOC", "name": "Doc", "amount": 499, "mand": "Y" });
    tables.insert("defaults", vec![fee.as_object().unwrap().clone()]);
    let Outcome::Published(listing, _) = mapping.apply(&row(json!({ "loc": " " })), &tables) else {
        panic!("not published")
    };
    assert!(!listing.contains_key("fees"), "{listing:?}");
}

// AAP-356
#[test]
fn a_car_that_was_sold_since_is_not_shown_by_its_older_row() {
    let mapping = with(
        "status = { from = 's', steps = [{ table = { of = 'status', miss = 'hide' } }] }\n\
         [[filter]]\nkeep = \"row.deleted != 'Y'\"\nreason = 'deleted'\n\
         [tables]\nstatus = { A = 'available', S = { hide = 'sold' } }",
    );
    let outcome = |id: &str, status: &str, deleted: &str, day: &str| {
        let at = format!("2026-11-{day}T00:00:00Z");
        let fields = json!({ "id": id, "s": status, "deleted": deleted, "at": at });
        mapping.apply(&row(fields), &Tables::new())
    };
    let on_offer = outcome("1", "A", "N", "10");
    for (other, stays) in [
        (outcome("1", "S", "N", "20"), false),
        (outcome("1", "A", "Y", "20"), false),
        // Taken back after it was sold, and another car.
        (outcome("1", "S", "N", "05"), true),
        (outcome("2", "S", "N", "20"), true),
        // A row that was only left out because another one says more.
        (outcome("1", "S", "N", "10"), true),
        (outcome("1", "S", "N", "??"), true),
    ] {
        for both in [
            [on_offer.clone(), other.clone()],
            [other.clone(), on_offer.clone()],
        ] {
            let resolved = mapping.resolve_duplicates(both.to_vec());
            assert_eq!(resolved.kept.len(), usize::from(stays), "{both:?}");
            assert_eq!(
                mapping.standing(both.to_vec()).len(),
                1 + usize::from(stays)
            );
            if let Some(dropped) = resolved.dropped.first() {
                assert_eq!(
                    dropped.reason,
                    "a newer row with the same vehicle_id is not shown"
                );
            }
        }
    }
}

#[test]
fn a_side_table_that_nobody_reads_is_found_at_load() {
    for (from, to) in [
        ("table = 'defaults'", "table = 'default'"),
        ("tables = { defaults = 'SELECT * FROM f' }", ""),
    ] {
        let text = format!(
            "name = 't'\n{}[updated_at]\nprovenance = 'as_of'\n",
            FEES.replace(from, to)
        );
        let findings = Mapping::parse(&text).unwrap_err();
        assert_eq!(findings[0].key, "fees.defaults.table", "{findings:?}");
    }
}

#[test]
fn columns_that_steps_and_rows_are_read_from_are_missed_too() {
    let mapping = parse(
        "[source]\nkind = 'sql'\nquery = 'SELECT * FROM v'\nkey = 'id'\nchildren = { options = { query = 'SELECT * FROM o' } }\n\
         [fields]\nvehicle_id = 'id'\nstatus = { value = 'available' }\n\
         mileage = { from = 'id', steps = [{ measure = { to = 'mi', unit_from = 'UNIT' } }] }\n\
         year = { from = 'id', steps = [{ sentinel = { values = [0], unless = 'row.NU' } }, { expr = 'value + row.BASE' }] }\n\
         trim = { from = 'id', steps = [{ template = '{{ row.SERIES }}' }] }\n\
         inventory_date = { from = 'id', steps = [{ datetime = { format = '%Y', zone_from = 'ZONE' } }, { date = '%Y' }] }\n\
         photos = { children = 'pictures', column = 'URL' }\n\
         [fees]\noverrides = 'charges'\ncode = 'C'\nname = 'N'\namount = 'A'\n\
         [features]\nchildren = 'options'\ntext = 'T'\nsource = { value = 'dealer' }\ndictionary = []\n",
    );
    let seen = ["id", "at"].map(str::to_owned).into();
    let missing: Vec<String> = mapping
        .missing_columns(&seen)
        .into_iter()
        .map(|finding| finding.reason)
        .collect();
    for column in [
        "UNIT", "NU", "BASE", "SERIES", "ZONE", "pictures", "charges",
    ] {
        let wanted = format!("the source has no column `{column}`");
        assert!(missing.contains(&wanted), "{column}: {missing:?}");
    }
    assert_eq!(missing.len(), 7, "{missing:?}");
}

// AAP-356
#[test]
fn a_word_for_sold_that_nobody_listed_is_not_on_offer() {
    let status = |table: &str, cell: &str| {
        let text = format!(
            "name = 't'\n[source]\nkind = 'feed'\nformat = 'csv'\n[fields]\nvehicle_id = 'id'\n\
             status = {{ from = 's', steps = [{{ table = {table} }}, {{ default = 'available' }}] }}\n\
             [updated_at]\nprovenance = 'source_column'\nfrom = 'at'\nsteps = [{{ datetime = 'rfc3339' }}]\n\
             [tables]\nstatus = {{ A = 'available', S = {{ hide = 'sold' }} }}\n"
        );
        let mapping = Mapping::parse(&text).map_err(|findings| findings[0].to_string())?;
        let outcome = mapping.apply(&row(json!({ "s": cell })), &Tables::new());
        Ok::<bool, String>(matches!(outcome, Outcome::Published(..)))
    };
    let found = status("{ of = 'status', miss = 'omit' }", "SLD").unwrap_err();
    assert!(
        found.contains("fields.status") && found.contains("also one for sold"),
        "{found}"
    );
    for table in [
        "'status'",
        "{ of = 'status', miss = 'hide' }",
        "{ of = 'status', miss = 'pass' }",
    ] {
        for (cell, shown) in [
            ("A", true),
            ("", true),
            (" a ", false),
            ("S", false),
            ("Sold", false),
            ("SLD", false),
        ] {
            assert_eq!(status(table, cell), Ok(shown), "{table} {cell}");
        }
    }
}
