//! A dealer's database in a file of SQLite, with the mapping that reads its one table of cars. Must not start
//! anything.

use std::path::Path;

use sqlx::{ConnectOptions as _, Connection as _};

/// Its mapping file.
pub(crate) const DMS: &str = r#"
name = "DMS"
[source]
kind = "sql"
query = "SELECT id, model, '2026-11-29T10:00:00Z' AS changed FROM car"
key = "id"
[fields]
vehicle_id = "id"
model = "model"
status = { value = "available" }
[updated_at]
provenance = "source_column"
from = "changed"
steps = [{ datetime = "rfc3339" }]
"#;

/// Runs statements on the database, which is made when it is not there.
pub(crate) fn sql(file: &Path, text: &str) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let options = sqlx::sqlite::SqliteConnectOptions::new();
        let options = options.filename(file).create_if_missing(true);
        let mut session = options.connect().await.unwrap();
        let text = sqlx::AssertSqlSafe(text.to_owned());
        sqlx::raw_sql(text).execute(&mut session).await.unwrap();
        session.close().await.unwrap();
    });
}
