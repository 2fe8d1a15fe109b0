//! When an inventory is read: pauses, files that change, orders, readings that find nothing new.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use jiff::SignedDuration;
use serde_json::json;
use tokio::sync::watch;

use super::fixture::{World, car, ids, listing_unit, runtime, search};
use crate::inventory::keeping::Pause;
use crate::inventory::{Inventory, Reader, RefreshError, Request, Told, Trace, order_refresh};

fn pause(failures: u32, took_s: u64, chance: f64, interval_s: u64) -> (u64, u64) {
    let mut settings = World::new(Vec::new()).settings;
    settings.refresh_interval_s = interval_s;
    let pause = Pause::after(&settings, failures, Duration::from_secs(took_s), chance);
    (pause.due.as_secs(), pause.news.as_secs())
}

// AAP-489
#[test]
fn pauses_spread_and_grow_and_are_never_shorter_than_the_reading_was() {
    assert_eq!(pause(0, 0, 0.5, 300), (300, 1));
    assert_eq!(pause(0, 0, 0.0, 300), (270, 1));
    assert_eq!(pause(0, 0, 1.0, 300), (330, 1));
    assert_eq!(pause(0, 400, 0.5, 300), (400, 400), "a slow source rests");
    let after: Vec<u64> = (1..8).map(|n| pause(n, 0, 0.5, 300).0).collect();
    assert_eq!(after, [30, 60, 120, 240, 480, 900, 900]);
    assert_eq!(pause(1, 0, 0.5, 300), (30, 1), "only news hurry a source");
    assert_eq!(pause(40, 0, 0.5, 7_200).0, 7_200);
    assert_eq!(pause(1, 0, 0.5, 5).0, 5);
    assert_eq!(pause(2, 100, 0.5, 300), (100, 100));
}

/// A reader that answers by `told` and notes what it was asked.
fn asked(
    told: impl Fn(&Request) -> Result<Told, String> + Send + Sync + 'static,
) -> (Reader, Arc<Mutex<Vec<String>>>) {
    let log = Arc::new(Mutex::new(Vec::new()));
    let (seen, told) = (Arc::clone(&log), Arc::new(told));
    let reader = Reader::asked(move |request| {
        let known = request
            .trace
            .as_ref()
            .map_or(0, |t| t.missing_columns.len());
        let current = request
            .current
            .as_ref()
            .map_or(0, |current| current.units(&|_| false).count());
        seen.lock().unwrap().push(format!(
            "{known} {current} {} {}",
            request.changes, request.accept
        ));
        let told = Arc::clone(&told);
        async move {
            tokio::task::spawn_blocking(move || told(&request))
                .await
                .unwrap()
        }
    });
    (reader, log)
}

fn trace(columns: usize) -> Trace {
    Trace {
        missing_columns: (0..columns).map(|n| n.to_string()).collect(),
        ..Trace::default()
    }
}

// AAP-443
#[test]
fn a_reading_that_finds_nothing_new_makes_the_inventory_young_again() {
    let mut world = World::new(Vec::new());
    world.settings.max_age_s = Some(100);
    let (reader, log) = asked(|request| {
        if request.trace.is_some() {
            return Ok(Told::Same(trace(2)));
        }
        request.sink.give(listing_unit(car("a", json!({}))))?;
        Ok(Told::Units(trace(1)))
    });
    let runtime = runtime();
    let inventory = runtime.block_on(world.start_reading(reader));
    world.clock.advance(SignedDuration::from_secs(90));
    runtime.block_on(inventory.refresh()).unwrap();
    let status = inventory.status();
    assert_eq!(
        (status.age_s, status.generation, status.unchanged),
        (Some(0), 1, 1)
    );
    world.clock.advance(SignedDuration::from_secs(90));
    assert!(
        inventory.answers(),
        "90 s since the source was last looked at"
    );
    assert_eq!(ids(&search(&inventory, json!({}))), ["a"]);
    runtime.block_on(inventory.refresh()).unwrap();
    // The first reading knows nothing; the later ones may ask for what changed since the trace.
    let log = log.lock().unwrap();
    assert_eq!(
        *log,
        ["0 0 false false", "1 1 true false", "2 1 true false"]
    );
}

#[test]
fn everything_is_read_when_it_is_time_and_after_a_failure() {
    let mut world = World::new(Vec::new());
    world.settings.full_refresh_interval_s = 0;
    let give = |request: &Request| {
        request.sink.give(listing_unit(car("a", json!({}))))?;
        Ok(Told::Units(Trace::default()))
    };
    let (reader, log) = asked(give);
    let runtime = runtime();
    let inventory = runtime.block_on(world.start_reading(reader));
    runtime.block_on(inventory.refresh()).unwrap();
    assert_eq!(
        log.lock().unwrap()[1],
        "0 1 false false",
        "the interval is over"
    );

    let world = World::new(Vec::new());
    let count = AtomicUsize::new(0);
    let (reader, log) = asked(move |request| match count.fetch_add(1, Ordering::SeqCst) {
        1 => Err("too many changes".to_owned()),
        _ => give(request),
    });
    let inventory = runtime.block_on(world.start_reading(reader));
    runtime.block_on(inventory.refresh()).unwrap_err();
    runtime.block_on(inventory.refresh()).unwrap();
    runtime.block_on(inventory.refresh()).unwrap();
    let log = log.lock().unwrap();
    let changes: Vec<&str> = log.iter().map(|line| &line[4..]).collect();
    assert_eq!(
        changes,
        ["false false", "true false", "false false", "true false"]
    );
}

// AAP-492
#[test]
fn a_held_reading_leaves_no_mark_and_is_accepted_whole() {
    let world = World::new(Vec::new());
    let count = AtomicUsize::new(0);
    let (reader, log) = asked(move |request| {
        let first = count.fetch_add(1, Ordering::SeqCst) == 0;
        let cars = if first { 0..4 } else { 0..1 };
        for id in cars {
            request
                .sink
                .give(listing_unit(car(&id.to_string(), json!({}))))?;
        }
        Ok(Told::Units(trace(if first { 1 } else { 2 })))
    });
    let runtime = runtime();
    let inventory = runtime.block_on(world.start_reading(reader));
    let held = runtime.block_on(inventory.refresh());
    assert!(matches!(
        held,
        Err(RefreshError::Shrunk { before: 4, now: 1 })
    ));
    runtime.block_on(inventory.accept_shrink());
    runtime.block_on(inventory.refresh()).unwrap();
    assert_eq!(search(&inventory, json!({})).total, 1);
    runtime.block_on(inventory.refresh()).unwrap();
    let log = log.lock().unwrap();
    assert_eq!(
        log[1..],
        ["1 4 true false", "1 4 false true", "2 1 true false"]
    );
}

/// Runs the loop until `done`, and ends it.
pub(super) async fn run_until(inventory: &Arc<Inventory>, done: impl Fn() -> bool) {
    let (end, ended) = watch::channel(false);
    let running = tokio::spawn(Arc::clone(inventory).run(ended));
    let patience = std::time::Instant::now();
    while !done() {
        assert!(patience.elapsed() < Duration::from_mins(1), "it never came");
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    end.send(true).unwrap();
    running.await.unwrap();
}

#[test]
fn a_changed_file_is_read_once_it_has_settled() {
    let mut world = World::new(vec![car("a", json!({}))]);
    world.settings.refresh_interval_s = 86_400;
    world.settings.watch_interval_ms = 1;
    let look = Arc::new(Mutex::new("one".to_owned()));
    let seen = Arc::clone(&look);
    let looks = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&looks);
    let reader = world.reader().with_glance(move || {
        count.fetch_add(1, Ordering::SeqCst);
        Some(seen.lock().unwrap().clone())
    });
    runtime().block_on(async {
        let inventory = world.start_reading(reader).await;
        run_until(&inventory, || looks.load(Ordering::SeqCst) > 4).await;
        assert_eq!(inventory.status().generation, 1, "nothing changed");
        "two".clone_into(&mut look.lock().unwrap());
        run_until(&inventory, || inventory.status().generation == 2).await;
        let before = looks.load(Ordering::SeqCst);
        run_until(&inventory, || looks.load(Ordering::SeqCst) > before + 4).await;
        assert_eq!(inventory.status().generation, 2, "once a change");
    });
}

#[test]
fn a_file_that_is_another_one_is_read_however_often_the_last_one_failed() {
    const BROKEN: usize = 3;
    let mut world = World::new(Vec::new());
    world.settings.refresh_interval_s = 86_400;
    world.settings.watch_interval_ms = 1;
    let file = Arc::new(AtomicUsize::new(0));
    let (read, looked_at) = (Arc::clone(&file), Arc::clone(&file));
    let (reader, _) = asked(move |request| {
        if (1..=BROKEN).contains(&read.load(Ordering::SeqCst)) {
            return Err("half a file".to_owned());
        }
        request.sink.give(listing_unit(car("a", json!({}))))?;
        Ok(Told::Units(Trace::default()))
    });
    let reader = reader.with_glance(move || Some(looked_at.load(Ordering::SeqCst).to_string()));
    runtime().block_on(async {
        let inventory = world.start_reading(reader).await;
        // By the rule for failing sources alone, the second failure would come after half a minute.
        run_until(&inventory, || {
            let failures = usize::try_from(inventory.status().failures).unwrap();
            file.fetch_max(failures + 1, Ordering::SeqCst);
            inventory.status().generation == 2
        })
        .await;
        assert_eq!(file.load(Ordering::SeqCst), BROKEN + 1);
    });
}

#[test]
fn a_person_who_accepts_a_held_reading_does_not_wait_for_it() {
    let directory = tempfile::tempdir().unwrap();
    let folder = directory.path().join("inventory/main");
    let mut world = World::new(["a", "b", "c"].map(|id| car(id, json!({}))).to_vec());
    world.settings.refresh_interval_s = 86_400;
    world.settings.watch_interval_ms = 1;
    world.settings.shrink_guard = 0.1;
    world.settings.directory = Some(folder.clone());
    runtime().block_on(async {
        let inventory = world.start().await;
        world.set(vec![car("a", json!({}))]);
        order_refresh(&folder, false).unwrap();
        run_until(&inventory, || {
            let status = inventory.status();
            // Looked at, and let pass only after it was held three times.
            if status.held.is_some() && !folder.join("refresh").exists() {
                order_refresh(&folder, status.failures >= 3).unwrap();
            }
            status.generation == 2
        })
        .await;
        assert_eq!(search(&inventory, json!({})).total, 1);
    });
}

#[test]
fn a_reading_can_be_ordered_and_what_it_lost_accepted() {
    let directory = tempfile::tempdir().unwrap();
    let folder = directory.path().join("inventory/main");
    let cars = ["a", "b", "c"].map(|id| car(id, json!({})));
    let mut world = World::new(cars.to_vec());
    world.settings.refresh_interval_s = 86_400;
    world.settings.watch_interval_ms = 1;
    world.settings.shrink_guard = 0.1;
    world.settings.directory = Some(folder.clone());
    runtime().block_on(async {
        let inventory = world.start().await;
        order_refresh(&folder, false).unwrap();
        run_until(&inventory, || inventory.status().generation == 2).await;
        world.set(vec![car("a", json!({}))]);
        order_refresh(&folder, false).unwrap();
        run_until(&inventory, || inventory.status().held == Some(1)).await;
        assert_eq!(search(&inventory, json!({})).total, 3);
        order_refresh(&folder, true).unwrap();
        run_until(&inventory, || inventory.status().generation == 3).await;
        assert_eq!(search(&inventory, json!({})).total, 1);
        assert!(!folder.join("refresh").exists());
    });
}
