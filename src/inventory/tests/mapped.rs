//! A real database through a real mapping, end to end.

use std::sync::Arc;

use serde_json::{Value, json};
use sqlx::sqlite::{SqliteConnectOptions, SqlitePool};

use super::fixture::{World, search};
use crate::contract::Contract;
use crate::contract::capabilities::Scope;
use crate::contract::request::VehicleRequest;
use crate::inventory::{Frame, Inventory, InventoryError, Reader};
use crate::mapping::Mapping;
use crate::sources::{self, Source, sql};

const MAPPING: &str = include_str!("../../../mappings/dms-sqlserver/mapping.toml");
const SAMPLE: &str = include_str!("../../../mappings/dms-sqlserver/sample.sql");
const EXPECTED: &str = include_str!("../../../mappings/dms-sqlserver/expected.json");

// AAP-385 AAP-444 AAP-489
#[tokio::test]
async fn a_dealers_database_becomes_listings_and_look_ups_see_its_changes() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("dms.db");
    let options = SqliteConnectOptions::new()
        .filename(&file)
        .create_if_missing(true);
    let database = SqlitePool::connect_with(options).await.unwrap();
    sqlx::raw_sql(SAMPLE).execute(&database).await.unwrap();

    let mapping = Arc::new(Mapping::parse(MAPPING).unwrap());
    let settings = sql::Settings::new(format!("sqlite://{}", file.display()));
    let settings = sources::Settings::Sql(settings);
    let source = Source::open(settings, mapping.plan()).await.unwrap();
    let mut world = World::new(Vec::new());
    world.settings.look_up_cache_ms = 0;
    let contract = Contract::v3_0().unwrap();
    let inventory = Inventory::with_reader(
        world.settings.clone(),
        Reader::mapped(source, Arc::clone(&mapping)),
        Frame::new(Scope::Dealer, &[], mapping.features().to_vec()),
        Arc::new(move |listing: &Value| contract.check_listing(listing)),
        Arc::clone(&world.keys),
        world.clock.clone(),
    );
    let inventory = inventory.await.unwrap();

    let page = search(&inventory, json!({"pagination": {"limit": 100}}));
    let mut got: Vec<Value> = page
        .vehicles
        .found()
        .into_iter()
        .map(|f| f.listing.to_value())
        .collect();
    let mut expected: Vec<Value> = serde_json::from_str(EXPECTED).unwrap();
    for listings in [&mut got, &mut expected] {
        listings.sort_by_key(|listing| listing["vehicle_id"].to_string());
    }
    assert!(!expected.is_empty());
    assert_eq!(json!(got), json!(expected));

    let request = VehicleRequest {
        vehicle_id: Some("D4471:1".into()),
        ..VehicleRequest::default()
    };
    let sold = VehicleRequest {
        stock: Some("U10101".into()),
        vehicle_id: Some("D4471:1".into()),
        ..VehicleRequest::default()
    };
    assert!(inventory.vehicle(&request).await.is_ok());
    sqlx::raw_sql("UPDATE VEHMAST SET SOLDDT = '20261130' WHERE RECNO = 1")
        .execute(&database)
        .await
        .unwrap();
    let now = inventory.vehicle(&sold).await;
    assert!(matches!(now, Err(InventoryError::Unavailable)), "{now:?}");
    assert_eq!(
        search(&inventory, json!({"filters": {"stock": "U10101"}})).total,
        1
    );
    inventory.refresh().await.unwrap();
    assert_eq!(
        search(&inventory, json!({"filters": {"stock": "U10101"}})).total,
        0
    );
    let after = inventory.vehicle(&sold).await;
    assert!(
        matches!(after, Err(InventoryError::Unavailable)),
        "{after:?}"
    );
}

const PLAIN: &str = "name = 'v'\n[source]\nkind = 'sql'\nquery = 'SELECT id, vin, name, state, changed FROM v'\n\
    key = 'id'\nchanges = { query = 'SELECT id, vin, name, state, changed FROM v WHERE changed >= :since', watermark = 'changed' }\n\
    [fields]\nvehicle_id = 'id'\nvin = 'vin'\nmodel = 'name'\nstatus = { from = 'state', steps = [{ table = 'state' }] }\n\
    [tables.state]\nA = 'available'\nS = { hide = 'sold' }\n\
    [updated_at]\nprovenance = 'source_column'\nfrom = 'changed'\nsteps = [{ datetime = { format = 'rfc3339' } }]\n";

pub(super) async fn plain(file: &std::path::Path) -> (SqlitePool, World, Reader) {
    let options = SqliteConnectOptions::new()
        .filename(file)
        .create_if_missing(true);
    let database = SqlitePool::connect_with(options).await.unwrap();
    let rows = "CREATE TABLE v (id TEXT, vin TEXT, name TEXT, state TEXT, changed TEXT);\
        INSERT INTO v VALUES ('1', '1HGCM82633A004352', 'One', 'A', '2026-11-30T10:00:00Z'),\
        ('2', NULL, 'Two', 'A', '2026-11-29T10:00:00Z'), ('3', NULL, 'Three', 'A', '2026-11-01T10:00:00Z'),\
        ('4', NULL, 'Four', 'A', '2026-11-01T10:00:00Z');";
    sqlx::raw_sql(rows).execute(&database).await.unwrap();
    let mapping = Arc::new(Mapping::parse(PLAIN).unwrap());
    let settings = sql::Settings::new(format!("sqlite://{}", file.display()));
    let source = Source::open(sources::Settings::Sql(settings), mapping.plan())
        .await
        .unwrap();
    (
        database,
        World::new(Vec::new()),
        Reader::mapped(source, mapping),
    )
}

pub(super) fn models(inventory: &Inventory) -> Vec<String> {
    let page = search(inventory, json!({"pagination": {"limit": 100}}));
    let mut models: Vec<String> = page
        .vehicles
        .found()
        .iter()
        .map(|found| {
            found.listing.to_value()["model"]
                .as_str()
                .unwrap()
                .to_owned()
        })
        .collect();
    models.sort();
    models
}

// AAP-443 AAP-489
#[tokio::test]
async fn changes_join_what_is_known_and_the_whole_is_read_now_and_then() {
    let directory = tempfile::tempdir().unwrap();
    let (database, world, reader) = plain(&directory.path().join("v.db")).await;
    let inventory = world.start_reading(reader).await;
    assert_eq!(models(&inventory), ["Four", "One", "Three", "Two"]);
    let change = "UPDATE v SET name = 'Zwei', changed = '2026-11-30T11:00:00Z' WHERE id = '2';\
        UPDATE v SET state = 'S', changed = '2026-11-30T11:00:00Z' WHERE id = '1';\
        UPDATE v SET state = '?', changed = '2026-11-30T11:00:00Z' WHERE id = '4';\
        DELETE FROM v WHERE id = '3';\
        INSERT INTO v VALUES ('5', NULL, 'Five', 'A', '2026-11-30T11:00:00Z');";
    sqlx::raw_sql(change).execute(&database).await.unwrap();
    inventory.refresh().await.unwrap();
    // The sold one and the one that became unreadable are gone; that one row went, only a whole reading
    // can see.
    assert_eq!(models(&inventory), ["Five", "Three", "Zwei"]);
    let request = VehicleRequest {
        vehicle_id: Some("1".into()),
        ..VehicleRequest::default()
    };
    let sold = inventory.vehicle(&request).await;
    assert!(matches!(sold, Err(InventoryError::Unavailable)), "{sold:?}");
    inventory.accept_shrink().await;
    inventory.refresh().await.unwrap();
    assert_eq!(models(&inventory), ["Five", "Zwei"]);
    database.close().await;
}

#[tokio::test]
async fn a_renamed_column_is_held_with_a_suggestion_until_a_person_accepts_it() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("stock.csv");
    std::fs::write(&file, "id,model_name,state\n1,One,A\n2,Two,A\n").unwrap();
    let text = "name = 'v'\n[source]\nkind = 'feed'\nformat = 'csv'\nas_of = 'file_time'\n[fields]\nvehicle_id = 'id'\n\
        model = 'model_name'\ntrim = 'trim_name'\nstatus = { value = 'available' }\n[updated_at]\nprovenance = 'as_of'\n";
    let mapping = Arc::new(Mapping::parse(text).unwrap());
    let settings = sources::Settings::Feed(sources::feed::Settings::new(&file));
    let source = Source::open(settings, mapping.plan()).await.unwrap();
    let world = World::new(Vec::new());
    // `trim_name` was never there: that is a matter of the mapping, and no news.
    let inventory = world.start_reading(Reader::mapped(source, mapping)).await;
    assert_eq!(models(&inventory), ["One", "Two"]);
    std::fs::write(&file, "id,model_nam,state\n1,One,A\n2,Two,A\n3,Three,A\n").unwrap();
    let error = inventory.refresh().await.unwrap_err().to_string();
    assert!(
        error.contains("fields.model") && error.contains("model_nam"),
        "{error}"
    );
    assert_eq!(models(&inventory), ["One", "Two"]);
    assert!(inventory.status().last_failure.is_some());
    inventory.accept_shrink().await;
    inventory.refresh().await.unwrap();
    assert_eq!(search(&inventory, json!({})).total, 3);
}

#[tokio::test]
async fn garbled_rows_and_duplicates_are_counted_with_the_rejected() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("stock.jsonl");
    let rows = "{\"id\":\"1\",\"at\":\"2026-11-01T00:00:00Z\"}\nnot json\n{\"id\":\"1\",\"at\":\"2026-11-02T00:00:00Z\"}\n\
        {\"id\":\"2\",\"at\":\"2026-11-02T00:00:00Z\"}\n[]\n";
    std::fs::write(&file, rows).unwrap();
    let text = "name = 'v'\n[source]\nkind = 'feed'\nformat = 'json_lines'\n[fields]\nvehicle_id = 'id'\n\
        status = { value = 'available' }\n[updated_at]\nprovenance = 'source_column'\nfrom = 'at'\nsteps = [{ datetime = { format = 'rfc3339' } }]\n";
    let mapping = Arc::new(Mapping::parse(text).unwrap());
    let settings = sources::Settings::Feed(sources::feed::Settings::new(&file));
    let source = Source::open(settings, mapping.plan()).await.unwrap();
    let world = World::new(Vec::new());
    let inventory = world.start_reading(Reader::mapped(source, mapping)).await;
    let page = search(&inventory, json!({}));
    assert_eq!(page.total, 2);
    let first = page
        .vehicles
        .found()
        .into_iter()
        .find(|v| v.listing.vehicle_id == "1")
        .unwrap();
    assert_eq!(
        first.listing.to_value()["updated_at"],
        "2026-11-02T00:00:00Z"
    );
    let rejected = inventory.status().rejected;
    let counts: Vec<(&str, u64)> = rejected
        .by_reason
        .iter()
        .map(|(reason, count)| (reason.as_str(), *count))
        .collect();
    let wanted = [
        ("a row that cannot be read", 2),
        (
            "duplicate: another row with the same vehicle_id was updated later",
            1,
        ),
    ];
    assert_eq!(counts, wanted);
    // The same file again: nothing is read.
    inventory.refresh().await.unwrap();
    assert_eq!(
        (inventory.status().generation, inventory.status().unchanged),
        (1, 1)
    );
}
