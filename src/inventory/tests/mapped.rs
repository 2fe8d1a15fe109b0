//! A real database through a real mapping, end to end.

use std::sync::Arc;

use serde_json::{Value, json};
use sqlx::sqlite::{SqliteConnectOptions, SqlitePool};

use super::fixture::{World, search};
use crate::contract::Contract;
use crate::contract::request::VehicleRequest;
use crate::inventory::{Inventory, InventoryError};
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
    let inventory = Inventory::start(
        world.settings.clone(),
        source,
        Arc::clone(&mapping),
        Contract::v3_0().unwrap(),
        Vec::new(),
        Arc::clone(&world.keys),
        world.clock.clone(),
    );
    let inventory = inventory.await.unwrap();

    let page = search(&inventory, json!({"pagination": {"limit": 100}}));
    let mut got: Vec<Value> = page.vehicles.iter().map(|f| f.listing.to_value()).collect();
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
