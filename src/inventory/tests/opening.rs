//! Inventories that cannot be read when they begin: nothing is published in their place, and the first good
//! reading makes them whole.

use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};

use super::fixture::{World, car, ids, runtime, search, try_search};
use super::keeping::run_until;
use crate::contract::request::VehicleRequest;
use crate::inventory::keeping::{Pause, counted};
use crate::inventory::{Failed, Inventory, InventoryError, Reader, RefreshError};

fn asked_for(id: &str) -> VehicleRequest {
    VehicleRequest {
        vehicle_id: Some(id.to_owned()),
        ..VehicleRequest::default()
    }
}

fn cars(ids: &[&str]) -> Vec<Value> {
    ids.iter().map(|id| car(id, json!({}))).collect()
}

/// A world whose process before this one offered `a` and `c`, and `b` until it was sold.
fn after_another_process(directory: &Path) -> World {
    let mut world = World::new(cars(&["a", "b", "c"]));
    world.settings.directory = Some(directory.to_owned());
    let runtime = runtime();
    let before = runtime.block_on(world.start());
    world.set(cars(&["a", "c"]));
    runtime.block_on(before.refresh()).unwrap();
    *world.units.lock().unwrap() = None;
    world
}

fn is_stale<T>(answer: &Result<T, InventoryError>) -> bool {
    matches!(answer, Err(InventoryError::Stale(_)))
}

// AAP-443
#[test]
fn what_was_never_read_is_no_empty_inventory_and_what_was_sold_stays_so() {
    let directory = tempfile::tempdir().unwrap();
    let world = after_another_process(directory.path());
    let runtime = runtime();
    let inventory = world.open(world.reader());
    let failed = runtime.block_on(inventory.first_reading());
    assert!(matches!(failed, Err(RefreshError::Source(words)) if words == "the source is down"));
    assert_eq!(
        (
            inventory.was_read(),
            inventory.answers(),
            inventory.offered_before()
        ),
        (false, false, 2)
    );
    assert!(is_stale(&try_search(&inventory, json!({}))));
    assert!(is_stale(&inventory.facets(None)));
    let vehicle = |id: &str| runtime.block_on(inventory.vehicle(&asked_for(id)));
    assert!(is_stale(&vehicle("a")), "offered before, unknown now");
    assert!(matches!(vehicle("b"), Err(InventoryError::Unavailable)));
    assert!(is_stale(&vehicle("z")));
}

// AAP-492
#[test]
fn a_first_reading_that_lost_everything_is_held_and_a_good_one_heals() {
    let directory = tempfile::tempdir().unwrap();
    let world = after_another_process(directory.path());
    let remembered = || std::fs::read(directory.path().join("offered-units.jsonl")).unwrap();
    let known = remembered();
    let runtime = runtime();
    let inventory = world.open(world.reader());
    world.set(Vec::new());
    let held = runtime.block_on(inventory.first_reading());
    assert!(matches!(
        held,
        Err(RefreshError::Shrunk { before: 2, now: 0 })
    ));
    assert_eq!(
        (inventory.was_read(), inventory.status().held),
        (false, Some(0))
    );
    assert_eq!(remembered(), known, "nothing was called gone");
    world.set(cars(&["a", "c"]));
    runtime.block_on(inventory.refresh()).unwrap();
    assert_eq!(ids(&search(&inventory, json!({}))), ["a", "c"]);
    let status = inventory.status();
    assert_eq!(
        (status.generation, status.failures, status.held),
        (1, 0, None)
    );
}

// AAP-489
#[test]
fn it_is_read_once_the_source_is_back_and_asked_once_a_minute_till_then() {
    let mut world = World::new(Vec::new());
    world.settings.refresh_interval_s = 0;
    *world.units.lock().unwrap() = None;
    let inventory = world.open(world.reader());
    runtime().block_on(async {
        assert!(inventory.first_reading().await.is_err());
        run_until(&inventory, || inventory.status().failures > 2).await;
        assert!(!inventory.was_read());
        world.set(vec![car("a", json!({}))]);
        run_until(&inventory, || inventory.was_read()).await;
    });
    assert_eq!(ids(&search(&inventory, json!({}))), ["a"]);
    let waits = |was_read| {
        let settings = World::new(Vec::new()).settings;
        let wait = |n| Pause::after(&settings, counted(n, was_read), Duration::ZERO, 0.5).due;
        (1..6).map(move |n| wait(n).as_secs()).collect::<Vec<_>>()
    };
    assert_eq!(waits(false), [30, 60, 60, 60, 60]);
    assert_eq!(waits(true), [30, 60, 120, 240, 480]);
}

#[test]
fn a_reading_says_whether_waiting_helps() {
    let world = World::new(Vec::new());
    let failing = |lasting| {
        Reader::telling(move |_| async move {
            Err(Failed {
                words: "no such column".to_owned(),
                lasting,
            })
        })
    };
    let first = |lasting| {
        let inventory = world.open(failing(lasting));
        runtime().block_on(inventory.first_reading())
    };
    assert!(matches!(first(true), Err(RefreshError::Mistaken(words)) if words == "no such column"));
    assert!(matches!(first(false), Err(RefreshError::Source(words)) if words == "no such column"));
}

/// The keys change while it is served; what was sealed with those that are still known goes on.
// AAP-423
#[test]
fn its_keys_can_change_under_it() {
    let world = World::new(vec![car("a", json!({})), car("b", json!({}))]);
    let runtime = runtime();
    let inventory = runtime.block_on(world.start());
    let page = |inventory: &Inventory, cursor: Option<&str>| {
        let mut pagination = json!({ "limit": 1 });
        if let Some(cursor) = cursor {
            pagination["cursor"] = cursor.into();
        }
        try_search(inventory, json!({ "pagination": pagination }))
    };
    let first = page(&inventory, None).unwrap();
    let cursor = first.next_cursor.as_deref();
    assert_eq!(ids(&page(&inventory, cursor).unwrap()), ["b"]);
    let strangers = crate::seal::KeyRing::generate().unwrap();
    inventory.use_keys(std::sync::Arc::new(strangers));
    assert!(matches!(
        page(&inventory, cursor),
        Err(InventoryError::InvalidCursor)
    ));
    let again = page(&inventory, None).unwrap();
    assert_eq!(
        ids(&page(&inventory, again.next_cursor.as_deref()).unwrap()),
        ["b"]
    );
}
