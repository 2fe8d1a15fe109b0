//! Several sellers' sources as one: what changed is asked of each, and one that failed is read whole again.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use sqlx::SqlitePool;

use super::fixture::World;
use super::mapped::{models, plain};
use crate::contract::capabilities::Scope;
use crate::inventory::{Inventory, Reader, SellerReader};
use crate::mapping::Mapping;
use crate::sources::{Settings, Source, feed};

const HOUR: Duration = Duration::from_hours(1);

async fn file_reader(file: &Path, rows: &str) -> Reader {
    std::fs::write(file, rows).unwrap();
    let text = "name = 'v'\n[source]\nkind = 'feed'\nformat = 'csv'\nas_of = 'file_time'\n[fields]\nvehicle_id = 'id'\n\
        model = 'model'\nmileage = { from = 'miles', steps = ['number'] }\nstatus = { value = 'available' }\n\
        [updated_at]\nprovenance = 'as_of'\n";
    let mapping = Arc::new(Mapping::parse(text).unwrap());
    let source = Source::open(Settings::Feed(feed::Settings::new(file)), mapping.plan());
    Reader::mapped(source.await.unwrap(), mapping)
}

/// A seller with a database that tells what changed, and one with a file.
async fn start(directory: &Path) -> (SqlitePool, Arc<Inventory>) {
    let (database, _, north) = plain(&directory.join("north.db")).await;
    let south = file_reader(
        &directory.join("south.csv"),
        "id,model,miles\n1,Eins,many\n2,Zehn,10\n",
    )
    .await;
    let seller = |dealer_id: &str, reader| SellerReader {
        dealer_id: dealer_id.to_owned(),
        reader,
    };
    let sellers = vec![seller("north", north), seller("south", south)];
    let world = World::in_scope(Scope::Aggregate, Vec::new());
    let reader = Reader::of_sellers(sellers, Some(HOUR));
    (database, world.start_reading(reader).await)
}

async fn run(database: &SqlitePool, sql: &'static str) {
    sqlx::raw_sql(sql).execute(database).await.unwrap();
}

// AAP-489 AAP-556
#[tokio::test]
async fn what_changed_is_asked_of_each_seller_and_the_whole_after_a_failure() {
    let directory = tempfile::tempdir().unwrap();
    let (database, inventory) = start(directory.path()).await;
    let all = ["Eins", "Four", "One", "Three", "Two", "Zehn"];
    assert_eq!(models(&inventory), all);

    let change = "UPDATE v SET name = 'Zwei', changed = '2026-11-30T11:00:00Z' WHERE id = '2';\
        UPDATE v SET state = 'S', changed = '2026-11-30T11:00:00Z' WHERE id = '1';\
        DELETE FROM v WHERE id = '3';";
    run(&database, change).await;
    inventory.refresh().await.unwrap();
    // That a row went, only a whole reading can see.
    assert_eq!(
        models(&inventory),
        ["Eins", "Four", "Three", "Zehn", "Zwei"]
    );

    run(&database, "ALTER TABLE v RENAME TO w").await;
    inventory.refresh().await.unwrap();
    assert_eq!(
        models(&inventory),
        ["Eins", "Four", "Three", "Zehn", "Zwei"],
        "a seller who is away keeps its cars for a while"
    );
    run(&database, "ALTER TABLE w RENAME TO v").await;
    inventory.refresh().await.unwrap();
    assert_eq!(models(&inventory), ["Eins", "Four", "Zehn", "Zwei"]);
}

#[tokio::test]
async fn what_a_seller_s_rows_lack_is_counted_with_its_name() {
    let directory = tempfile::tempdir().unwrap();
    let (_, inventory) = start(directory.path()).await;
    for reading in ["the first", "one that finds the file as it was"] {
        let dirty = inventory.status().dirty;
        let (reason, count) = dirty.by_reason.first_key_value().unwrap();
        assert!(
            reason.starts_with("south: mileage: column miles"),
            "{reason}"
        );
        assert_eq!((*count, dirty.total()), (1, 1), "{reading}");
        inventory.refresh().await.unwrap();
    }
}
