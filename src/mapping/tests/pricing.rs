//! What a mapping makes of a dealer's money: which amount is a price, and which charges are fees.

use serde_json::{Map, Value, json};

use super::super::{Mapping, Outcome, Row, Tables};

fn text(extra: &str) -> String {
    format!(
        "name = 't'\n[source]\nkind = 'feed'\nformat = 'json'\n[fields]\nvehicle_id = {{ value = '1' }}\n\
         status = {{ value = 'available' }}\nlist_price = 'base'\nmsrp = 'msrp'\n[updated_at]\n\
         provenance = 'source_column'\nfrom = 'at'\nsteps = [{{ datetime = 'rfc3339' }}]\n{extra}"
    )
}

/// The listing that a row of these cells and charges becomes.
fn published(extra: &str, cells: &Value, charges: &Value) -> Map<String, Value> {
    let mapping = Mapping::parse(&text(extra)).unwrap_or_else(|findings| panic!("{findings:?}"));
    let mut row = Row {
        fields: cells.as_object().unwrap().clone(),
        ..Row::default()
    };
    row.fields
        .insert("at".into(), json!("2026-11-01T00:00:00Z"));
    let charges = charges.as_array().unwrap().iter();
    let charges = charges
        .map(|charge| charge.as_object().unwrap().clone())
        .collect();
    row.children.insert("charges".into(), charges);
    let outcome = mapping.apply(&row, &Tables::new());
    let Outcome::Published(listing, _) = outcome else {
        panic!("{outcome:?}")
    };
    listing
}

// AAP-511 AAP-512 AAP-517 AAP-519 AAP-524: an amount is a price only where the dealer vouches that it holds every
// mandatory charge; base amounts and charges make none.
#[test]
fn no_amount_is_a_price_without_a_stated_basis() {
    for price in [
        "[price]\nfrom = 'base'\n",
        "[price]\nbasis = 'base_amount'\nfrom = 'base'\n",
        "[price]\nbasis = 'without_fees'\nfrom = 'base'\n",
    ] {
        let findings = Mapping::parse(&text(price)).unwrap_err();
        assert!(
            findings.iter().any(|f| f.key.ends_with("basis")),
            "{findings:?}"
        );
    }
    // `price` cannot be smuggled in as a plain field
    let field = text("").replace("list_price = 'base'", "price = 'base'");
    assert!(Mapping::parse(&field).is_err());
    let fees = "[fees]\noverrides = 'charges'\ncode = 'c'\nname = 'n'\namount = 'a'\n";
    let charges = json!([{"c": "D", "n": "Documentation fee", "a": 500}]);
    let listing = published(fees, &json!({"base": 20_000, "msrp": 25_000}), &charges);
    assert_eq!(listing.get("price"), None);
    assert_eq!(
        (&listing["list_price"], &listing["msrp"]),
        (&json!(20_000), &json!(25_000))
    );
    assert_eq!(
        listing["fees"],
        json!([{"name": "Documentation fee", "amount": 500}])
    );
    // and a price is taken as it stands: nothing is added to it
    let price = "[price]\nbasis = 'all_mandatory_included'\nfrom = 'all'\n";
    let listing = published(
        &format!("{fees}{price}"),
        &json!({"base": 20_000, "all": 20_100}),
        &charges,
    );
    assert_eq!(listing["price"], 20_100);
}

// AAP-514 AAP-515 AAP-525: an amount that hangs on a condition of the buyer gives way to the unconditional one,
// or there is no price.
#[test]
fn a_conditional_amount_gives_way() {
    let conditional = "[[price]]\nbasis = 'all_mandatory_included'\nfrom = 'special'\n\
                       omit_when = \"row.rebate not in ['', 'everybody']\"\n";
    let both =
        format!("{conditional}[[price]]\nbasis = 'all_mandatory_included'\nfrom = 'plain'\n");
    let price = |mapping: &str, rebate: &str| {
        let cells = json!({"special": 18_000, "plain": 20_000, "rebate": rebate});
        published(mapping, &cells, &json!([])).get("price").cloned()
    };
    for everybodys in ["", "everybody"] {
        assert_eq!(price(&both, everybodys), Some(json!(18_000)));
    }
    for condition in ["military", "loyalty", "trade-in", "dealer financing"] {
        assert_eq!(price(&both, condition), Some(json!(20_000)), "{condition}");
        assert_eq!(price(conditional, condition), None, "{condition}");
    }
}

// AAP-513 AAP-516 AAP-522: fees are the mandatory charges of the dealer: no option, no government charge, no
// discount; nothing left is an empty list, and what cannot be read is no list.
#[test]
fn fees_are_the_dealers_mandatory_charges_only() {
    let fees = "[fees]\noverrides = 'charges'\ncode = 'c'\nname = 'n'\n\
                amount = { from = 'a', steps = ['number', 'whole_dollars'] }\n\
                mandatory = \"item.m == 'Y'\"\ngovernment = \"item.g == 'Y'\"\n";
    let charge = |code: &str, amount: i64, mandatory: &str, government: &str| json!({"c": code, "n": format!("Fee {code}"), "a": amount, "m": mandatory, "g": government});
    let list = |charges: Value| {
        published(fees, &json!({"base": 20_000}), &charges)
            .get("fees")
            .cloned()
    };
    let all = json!([
        charge("D", 500, "Y", "N"),
        charge("T", 399, "N", "N"),
        charge("R", 312, "Y", "Y"),
        charge("P", 1_000, "Y", "N"),
    ]);
    assert_eq!(
        list(all),
        Some(json!([{"name": "Fee D", "amount": 500}, {"name": "Fee P", "amount": 1_000}]))
    );
    assert_eq!(list(json!([charge("T", 399, "N", "N")])), Some(json!([])));
    let unreadable = json!([charge("D", 500, "Y", "N"), {"c": "Q", "n": "Fee Q", "a": "ask us", "m": "Y", "g": "N"}]);
    assert_eq!(list(unreadable), None);
    let discounted = json!([charge("D", 500, "Y", "N"), charge("X", -250, "Y", "N")]);
    assert_eq!(list(discounted), None);
    assert_eq!(list(json!([])), None);
}
