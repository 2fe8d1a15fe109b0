//! Readings that succeed, fail, shrink and grow old; units that go; units re-read at the source.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use jiff::SignedDuration;
use serde_json::{Value, json};
use tokio::sync::watch;

use super::fixture::{World, car, ids, listing_unit, runtime, search, try_search};
use crate::contract::request::VehicleRequest;
use crate::inventory::{Identifiers, Inventory, InventoryError, Listing, RefreshError, Unit};

fn cars(ids: &[&str]) -> Vec<Value> {
    ids.iter()
        .map(|id| car(id, json!({"stock": format!("S{id}")})))
        .collect()
}

async fn by_id(inventory: &Inventory, id: &str) -> Result<Arc<Listing>, InventoryError> {
    let vehicle_id = Some(id.to_owned());
    let request = VehicleRequest {
        vehicle_id,
        ..VehicleRequest::default()
    };
    inventory.vehicle(&request).await
}

fn hidden(id: &str) -> Unit {
    Unit::Hidden(Identifiers {
        vehicle_id: Some(id.to_owned()),
        ..Identifiers::default()
    })
}

// AAP-443 AAP-444
#[test]
fn a_failed_reading_keeps_the_last_good_one_until_it_is_too_old() {
    let mut world = World::new(cars(&["a"]));
    world.settings.max_age_s = Some(100);
    let runtime = runtime();
    let inventory = runtime.block_on(world.start());
    *world.units.lock().unwrap() = None;
    world.clock.advance(SignedDuration::from_secs(100));
    let failed = runtime.block_on(inventory.refresh());
    assert!(matches!(failed, Err(RefreshError::Source(words)) if words == "the source is down"));
    assert_eq!(ids(&search(&inventory, json!({}))), ["a"]);
    let status = inventory.status();
    assert_eq!(
        (
            status.generation,
            status.failures,
            status.age_s,
            inventory.answers()
        ),
        (1, 1, Some(100), true)
    );
    world.clock.advance(SignedDuration::from_secs(1));
    let stale = try_search(&inventory, json!({}));
    let refused = matches!(stale, Err(InventoryError::Stale(_)));
    assert_eq!((refused, inventory.answers()), (true, false), "{stale:?}");
    assert!(matches!(
        inventory.facets(None),
        Err(InventoryError::Stale(_))
    ));
    let stale = runtime.block_on(by_id(&inventory, "a"));
    assert!(matches!(stale, Err(InventoryError::Stale(_))));
    world.set(cars(&["b"]));
    inventory_accepts(&runtime, &inventory);
    assert_eq!(ids(&search(&inventory, json!({}))), ["b"]);
    assert_eq!(inventory.status().failures, 0);
}

fn inventory_accepts(runtime: &tokio::runtime::Runtime, inventory: &Arc<Inventory>) {
    runtime.block_on(inventory.refresh()).unwrap();
}

// AAP-492
#[test]
fn a_reading_that_lost_too_many_units_is_held_for_a_person() {
    let world = World::new(cars(&["a", "b", "c", "d"]));
    let runtime = runtime();
    let inventory = runtime.block_on(world.start());
    world.set(cars(&["a"]));
    let held = runtime.block_on(inventory.refresh());
    assert!(matches!(
        held,
        Err(RefreshError::Shrunk { before: 4, now: 1 })
    ));
    assert_eq!(search(&inventory, json!({})).total, 4);
    assert_eq!(inventory.status().held, Some(1));
    runtime.block_on(inventory.accept_shrink());
    inventory_accepts(&runtime, &inventory);
    assert_eq!(search(&inventory, json!({})).total, 1);
    assert_eq!(inventory.status().held, None);
    world.set(cars(&["a", "b", "c", "d"]));
    inventory_accepts(&runtime, &inventory);
    world.set(cars(&["a", "b"]));
    inventory_accepts(&runtime, &inventory);
    assert_eq!(search(&inventory, json!({})).total, 2, "half may go");
}

// AAP-492
#[test]
fn the_first_reading_of_a_process_is_held_against_what_was_offered_before_it() {
    let directory = tempfile::tempdir().unwrap();
    let mut world = World::new(cars(&["a", "b", "c", "d"]));
    world.settings.directory = Some(directory.path().to_owned());
    let runtime = runtime();
    drop(runtime.block_on(world.start()));
    world.set(Vec::new());
    let refused = runtime.block_on(world.try_start(world.reader()));
    let words = refused.unwrap_err().to_string();
    let said = "the reading has 0 units, the last good one 4";
    assert!(
        words.contains(said) && words.contains("--accept"),
        "{words}"
    );
    // what was offered is not gone for that
    world.set(cars(&["a", "b", "c", "d"]));
    let again = runtime.block_on(world.start());
    assert_eq!(search(&again, json!({})).total, 4);
    drop(again);
    // a person looked, and orders it beside the process or before it
    world.set(cars(&["a"]));
    crate::inventory::order_refresh(directory.path(), true).unwrap();
    let accepted = runtime.block_on(world.start());
    assert_eq!(search(&accepted, json!({})).total, 1);
}

#[test]
fn a_source_that_is_down_at_the_start_is_an_error_with_its_words() {
    let world = World::new(Vec::new());
    *world.units.lock().unwrap() = None;
    let error = runtime()
        .block_on(world.try_start(world.reader()))
        .unwrap_err();
    assert_eq!(error.to_string(), "source: the source is down");
}

// AAP-443
#[test]
fn units_that_went_are_remembered_for_ninety_days_across_restarts() {
    let directory = tempfile::tempdir().unwrap();
    let mut world = World::new(cars(&["a", "b", "c"]));
    world.settings.directory = Some(directory.path().to_owned());
    let runtime = runtime();
    let first = runtime.block_on(world.start());
    world.set(cars(&["b", "c"]));
    world
        .units
        .lock()
        .unwrap()
        .as_mut()
        .unwrap()
        .push(hidden("sold"));
    inventory_accepts(&runtime, &first);
    let unavailable = |inventory: &Inventory, id| {
        matches!(
            runtime.block_on(by_id(inventory, id)),
            Err(InventoryError::Unavailable)
        )
    };
    assert!(unavailable(&first, "a") && unavailable(&first, "sold"));
    assert!(!unavailable(&first, "b") && !unavailable(&first, "never"));
    drop(first);

    // `c` goes while nothing runs, `a` comes back.
    world.set(cars(&["a", "b"]));
    let second = runtime.block_on(world.start());
    assert!(unavailable(&second, "c") && unavailable(&second, "sold"));
    assert_eq!(
        runtime.block_on(by_id(&second, "a")).unwrap().vehicle_id,
        "a"
    );
    let by_stock = VehicleRequest {
        stock: Some("Sc".into()),
        ..VehicleRequest::default()
    };
    let gone = runtime.block_on(second.vehicle(&by_stock));
    assert!(matches!(gone, Err(InventoryError::Unavailable)));
    let other = VehicleRequest {
        vehicle_id: Some("sold".into()),
        ..by_stock
    };
    let mixed = runtime.block_on(second.vehicle(&other));
    assert!(
        matches!(mixed, Err(InventoryError::NotFound)),
        "no one unit had both"
    );

    world.clock.advance(SignedDuration::from_hours(24 * 90 + 1));
    inventory_accepts(&runtime, &second);
    let forgotten = runtime.block_on(by_id(&second, "c"));
    assert!(matches!(forgotten, Err(InventoryError::NotFound)));
}

/// An inventory whose source answers look-ups by `answer`, and the number of look-ups.
fn with_look_up(
    world: &World,
    answer: impl Fn() -> Result<Vec<Unit>, String> + Send + Sync + 'static,
) -> (Arc<Inventory>, Arc<AtomicUsize>) {
    let asked = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&asked);
    let answer = Arc::new(answer);
    let reader = world.reader().with_look_up(move |_| {
        counter.fetch_add(1, Ordering::Relaxed);
        let answer = Arc::clone(&answer);
        async move {
            tokio::task::yield_now().await;
            answer()
        }
    });
    (runtime().block_on(world.start_reading(reader)), asked)
}

// AAP-444
#[test]
fn a_vehicle_is_answered_as_the_source_has_it_now() {
    let world = World::new(vec![car("a", json!({"price": 100}))]);
    let fresh = car(
        "a",
        json!({"price": 90, "updated_at": "2026-11-30T11:00:00Z"}),
    );
    let (inventory, asked) = with_look_up(&world, move || Ok(vec![listing_unit(fresh.clone())]));
    runtime().block_on(async {
        let (one, two) = tokio::join!(by_id(&inventory, "a"), by_id(&inventory, "a"));
        assert_eq!(one.unwrap().to_value()["price"], 90);
        assert_eq!(two.unwrap().to_value()["price"], 90);
    });
    assert_eq!(asked.load(Ordering::Relaxed), 1, "equal questions are one");
}

// AAP-443 AAP-444
#[test]
fn sold_since_the_reading_is_unavailable() {
    for said in [
        vec![],
        vec![hidden("a")],
        vec![listing_unit(car("other", json!({})))],
    ] {
        let world = World::new(cars(&["a"]));
        let (inventory, _) = with_look_up(&world, move || Ok(said.clone()));
        let sold = runtime().block_on(by_id(&inventory, "a"));
        assert!(matches!(sold, Err(InventoryError::Unavailable)), "{sold:?}");
    }
}

// AAP-444
#[test]
fn a_source_that_cannot_answer_leaves_the_last_known_listing() {
    let world = World::new(cars(&["a"]));
    let (inventory, _) = with_look_up(&world, || Err("down".into()));
    assert!(runtime().block_on(by_id(&inventory, "a")).is_ok());
    let (inventory, _) = with_look_up(&world, || Ok(vec![Unit::Rejected("price: text".into())]));
    assert!(runtime().block_on(by_id(&inventory, "a")).is_ok());
    let mut world = World::new(cars(&["a"]));
    world.settings.look_up_timeout_ms = 1;
    let never = world.reader().with_look_up(|_| std::future::pending());
    let inventory = runtime().block_on(world.start_reading(never));
    assert!(runtime().block_on(by_id(&inventory, "a")).is_ok());
}

// AAP-435 AAP-444
#[test]
fn a_unit_that_no_longer_has_the_asked_stock_number_is_not_substituted() {
    let world = World::new(vec![car("a", json!({"stock": "S1"}))]);
    let renamed = car("a", json!({"stock": "S2"}));
    let (inventory, _) = with_look_up(&world, move || Ok(vec![listing_unit(renamed.clone())]));
    let request = VehicleRequest {
        stock: Some("S1".into()),
        ..VehicleRequest::default()
    };
    let found = runtime().block_on(inventory.vehicle(&request));
    assert!(matches!(found, Err(InventoryError::Unavailable)));
}

// AAP-489
#[test]
fn the_loop_refreshes_and_ends_when_told() {
    let mut world = World::new(cars(&["a"]));
    world.settings.refresh_interval_s = 0;
    runtime().block_on(async {
        let inventory = world.start().await;
        let (end, ended) = watch::channel(false);
        let running = tokio::spawn(Arc::clone(&inventory).run(ended));
        while inventory.status().generation < 3 {
            tokio::task::yield_now().await;
        }
        end.send(true).unwrap();
        running.await.unwrap();
    });
}

// AAP-502
#[test]
fn the_index_tells_its_size() {
    let inventory = runtime().block_on(World::new(cars(&["a", "b"])).start());
    let status = inventory.status();
    assert_eq!((status.vehicles, status.generation), (2, 1));
    let index = status.index.unwrap();
    assert!(index.columns > 0 && index.orders > 0 && index.look_up > 0 && index.keywords > 0);
}

// AAP-505
#[test]
fn questions_are_timed_by_kind() {
    let inventory = runtime().block_on(World::new(cars(&["a"])).start());
    search(&inventory, json!({}));
    search(&inventory, json!({"filters": {"query": "x"}}));
    search(&inventory, json!({"filters": {"query": "y"}}));
    inventory.facets(None).unwrap();
    let timings = inventory.timings();
    let counts: Vec<(&str, u64)> = timings
        .iter()
        .map(|timing| (timing.kind.label(), timing.counts.iter().sum()))
        .collect();
    let expected = [
        ("search", 1),
        ("search_near", 0),
        ("search_keyword", 2),
        ("facets", 1),
    ];
    assert_eq!(counts, expected);
}
