//! Whole traversals: nothing missed while the inventory stands still, nothing twice while it changes, and
//! no cursor that was not given for exactly this.

use std::collections::BTreeSet;
use std::sync::Arc;

use jiff::SignedDuration;
use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::fixture::{World, car, ids, runtime, search, try_search};
use crate::inventory::{Inventory, InventoryError};
use crate::seal::KeyRing;

fn priced(prices: &[(usize, i64)]) -> Vec<Value> {
    let car = |(id, price): &(usize, i64)| {
        car(
            &format!("v{id:02}"),
            json!({"price": price, "make": format!("M{}", price % 5)}),
        )
    };
    prices.iter().map(car).collect()
}

fn by(field: &str, limit: usize, cursor: Option<&str>) -> Value {
    let mut request = json!({
        "sort": {"field": field, "order": "asc"},
        "pagination": {"limit": limit},
    });
    if let Some(cursor) = cursor {
        request["pagination"]["cursor"] = cursor.into();
    }
    request
}

fn refused(inventory: &Inventory, request: Value) {
    let result = try_search(inventory, request);
    assert!(
        matches!(result, Err(InventoryError::InvalidCursor)),
        "{result:?}"
    );
}

/// One later state of the inventory: units present, with their prices.
fn states() -> impl Strategy<Value = Vec<Vec<(usize, i64)>>> {
    let state = vec((any::<bool>(), 0..8_i64), 14).prop_map(|units| {
        let present = units
            .into_iter()
            .enumerate()
            .filter(|(_, (present, _))| *present);
        present.map(|(id, (_, price))| (id, price)).collect()
    });
    vec(state, 1..6)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(120) })]

    // AAP-425 AAP-428 AAP-429
    #[test]
    fn no_unit_comes_twice_and_none_that_is_gone(
        states in states(),
        limit in 1..5_usize,
        field in prop::sample::select(&["price", "make", "updated_at"][..]),
        refresh_every in 1..4_usize,
    ) {
        let mut world = World::new(priced(&states[0]));
        world.settings.shrink_guard = 1.0;
        let runtime = runtime();
        let inventory = runtime.block_on(world.start());
        let mut now = &states[0];
        let mut later = states[1..].iter();
        let mut cursor: Option<String> = None;
        let mut seen = BTreeSet::new();
        for page_number in 1.. {
            let page = search(&inventory, by(field, limit, cursor.as_deref()));
            for id in ids(&page) {
                let present = now.iter().any(|(unit, _)| format!("v{unit:02}") == id);
                prop_assert!(present, "{id} is gone");
                prop_assert!(seen.insert(id.clone()), "{id} came twice");
            }
            match page.next_cursor {
                Some(next) => cursor = Some(next),
                None => break,
            }
            if page_number % refresh_every == 0 && let Some(next) = later.next() {
                now = next;
                world.set(priced(next));
                runtime.block_on(inventory.refresh()).unwrap();
            }
        }
        // Who was there throughout at an unchanged place was met.
        let steady = states[0].iter().filter(|unit| states.iter().all(|s| s.contains(unit)));
        for (id, _) in steady {
            prop_assert!(seen.contains(&format!("v{id:02}")), "v{id:02} was missed");
        }
    }
}

// AAP-425
#[test]
fn a_price_change_moves_no_unit_across_the_page_boundary() {
    let world = World::new(priced(&[(1, 10), (2, 20), (3, 30), (4, 40)]));
    let runtime = runtime();
    let inventory = runtime.block_on(world.start());
    let first = search(&inventory, by("price", 2, None));
    assert_eq!(ids(&first), ["v01", "v02"]);
    world.set(priced(&[(1, 99), (2, 20), (3, 30), (4, 5)]));
    runtime.block_on(inventory.refresh()).unwrap();
    let rest = search(&inventory, by("price", 2, first.next_cursor.as_deref()));
    assert_eq!(ids(&rest), ["v03", "v04"], "as the first page saw them");
    assert_eq!(rest.next_cursor, None);
    let fresh = search(&inventory, by("price", 2, None));
    assert_eq!(
        ids(&fresh),
        ["v04", "v02"],
        "a new traversal sees the new order"
    );
}

// AAP-423 AAP-424 AAP-427
#[test]
fn a_cursor_is_good_for_its_own_request_only() {
    let world = World::new(priced(&[(1, 10), (2, 20), (3, 30)]));
    let inventory = runtime().block_on(world.start());
    let first = json!({
        "filters": {"make": ["m0", "M1"], "price_min": 1},
        "sort": {"field": "price", "order": "asc"},
        "pagination": {"limit": 1},
    });
    let cursor = search(&inventory, first.clone()).next_cursor.unwrap();
    let with = |change: &dyn Fn(&mut Value)| {
        let mut request = first.clone();
        request["pagination"]["cursor"] = cursor.as_str().into();
        change(&mut request);
        request
    };
    assert_eq!(ids(&search(&inventory, with(&|_| ()))), ["v02"]);
    let reordered = with(&|r| r["filters"]["make"] = json!(["M1", "M0"]));
    assert_eq!(ids(&search(&inventory, reordered)), ["v02"]);
    refused(&inventory, with(&|r| r["filters"]["make"] = json!(["M0"])));
    refused(&inventory, with(&|r| r["filters"]["price_min"] = json!(2)));
    refused(&inventory, with(&|r| r["filters"] = json!({})));
    refused(&inventory, with(&|r| r["sort"]["order"] = json!("desc")));
    refused(&inventory, with(&|r| r["sort"]["field"] = json!("msrp")));
    refused(&inventory, with(&|r| r["pagination"]["limit"] = json!(2)));
    for text in [
        "",
        "x",
        "AAAA",
        &cursor[..cursor.len() - 1],
        &format!("{cursor}A"),
    ] {
        refused(
            &inventory,
            with(&|r| r["pagination"]["cursor"] = json!(text)),
        );
    }
    for at in 0..cursor.len() {
        let mut altered = cursor.clone().into_bytes();
        altered[at] = if altered[at] == b'A' { b'B' } else { b'A' };
        let altered = String::from_utf8(altered).unwrap();
        refused(
            &inventory,
            with(&|r| r["pagination"]["cursor"] = json!(altered)),
        );
    }
    let request = serde_json::from_value(with(&|_| ())).unwrap();
    let other_caller = inventory.search(&request, "oauth:…");
    assert!(matches!(other_caller, Err(InventoryError::InvalidCursor)));
}

// AAP-423
#[test]
fn a_cursor_of_another_deployment_or_ring_is_foreign() {
    let mut world = World::new(priced(&[(1, 10), (2, 20)]));
    let inventory = runtime().block_on(world.start());
    let cursor = search(&inventory, by("price", 1, None))
        .next_cursor
        .unwrap();
    world.settings.deployment = "other".into();
    let other = runtime().block_on(world.start());
    refused(&other, by("price", 1, Some(&cursor)));
    world.settings.deployment = "d".into();
    world.keys = Arc::new(KeyRing::generate().unwrap());
    let other_ring = runtime().block_on(world.start());
    refused(&other_ring, by("price", 1, Some(&cursor)));
}

// AAP-409 AAP-423
#[test]
fn members_that_equal_the_defaults_may_be_left_out() {
    let listings = (0..25).map(|n| car(&format!("v{n:02}"), json!({})));
    let world = World::new(listings.collect());
    let inventory = runtime().block_on(world.start());
    let first = search(&inventory, json!({}));
    let cursor = first.next_cursor.unwrap();
    let explicit = json!({
        "filters": {},
        "sort": {"field": "updated_at", "order": "desc"},
        "pagination": {"limit": 20, "cursor": cursor},
    });
    assert_eq!(search(&inventory, explicit).vehicles.found().len(), 5);
}

// AAP-426 AAP-427
#[test]
fn a_cursor_expires_and_each_page_renews_it() {
    let world = World::new(priced(&[(1, 10), (2, 20), (3, 30), (4, 40)]));
    let inventory = runtime().block_on(world.start());
    let first = search(&inventory, by("price", 1, None))
        .next_cursor
        .unwrap();
    world.clock.advance(SignedDuration::from_secs(15 * 60 - 1));
    let second = search(&inventory, by("price", 1, Some(&first)))
        .next_cursor
        .unwrap();
    world.clock.advance(SignedDuration::from_secs(1));
    refused(&inventory, by("price", 1, Some(&first)));
    assert_eq!(
        ids(&search(&inventory, by("price", 1, Some(&second)))),
        ["v03"]
    );
}

// AAP-426
#[test]
fn a_traversal_ends_for_good_some_time() {
    let world = World::new(priced(&[(1, 10), (2, 20)]));
    let inventory = runtime().block_on(world.start());
    let listings: Vec<(usize, i64)> = (0..40).map(|n| (n, 1)).collect();
    world.set(priced(&listings));
    runtime().block_on(inventory.refresh()).unwrap();
    let mut cursor = search(&inventory, by("price", 1, None))
        .next_cursor
        .unwrap();
    for _ in 0..16 {
        world.clock.advance(SignedDuration::from_secs(15 * 60 - 1));
        cursor = search(&inventory, by("price", 1, Some(&cursor)))
            .next_cursor
            .unwrap();
    }
    world.clock.advance(SignedDuration::from_secs(16));
    refused(&inventory, by("price", 1, Some(&cursor)));
}

// AAP-423 AAP-425
#[test]
fn a_traversal_goes_on_elsewhere_after_a_restart_and_a_rotation() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("keys");
    let ring = KeyRing::read_or_create(&file).unwrap();
    let old = std::fs::read_to_string(&file).unwrap();
    let mut world = World::new(priced(&[(1, 10), (2, 20), (3, 30), (4, 40)]));
    world.keys = Arc::new(ring);
    let one = runtime().block_on(world.start());
    let first = search(&one, by("price", 1, None));

    // Another replica reads the ring with a new first key.
    let fresh = directory.path().join("fresh");
    KeyRing::read_or_create(&fresh).unwrap();
    let rotated = std::fs::read_to_string(&fresh).unwrap() + &old;
    std::fs::write(&file, rotated).unwrap();
    world.keys = Arc::new(KeyRing::read(&file).unwrap());
    world.clock.advance(SignedDuration::from_secs(60));
    let two = runtime().block_on(world.start());
    let second = search(&two, by("price", 1, first.next_cursor.as_deref()));
    assert_eq!(
        (ids(&first), ids(&second)),
        (vec!["v01".into()], vec!["v02".into()])
    );

    // A third one starts after the first unit's price moved behind the boundary.
    let mut moved = priced(&[(1, 35), (2, 20), (3, 30), (4, 40)]);
    moved[0]["updated_at"] = json!("2026-11-30T12:00:30Z");
    world.set(moved);
    let three = runtime().block_on(world.start());
    let rest = search(&three, by("price", 1, second.next_cursor.as_deref()));
    assert_eq!(ids(&rest), ["v03"]);
    let rest = search(&three, by("price", 1, rest.next_cursor.as_deref()));
    assert_eq!(ids(&rest), ["v04"], "v01 was on the first page");
    assert_eq!((rest.total, rest.next_cursor), (4, None));
}
