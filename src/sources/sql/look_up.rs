//! Single vehicles, read again by their keys. Must not know what the columns mean.

use std::time::Duration;

use super::super::{Fault, SourceError};
use super::{Database, statement};
use crate::mapping::{Row, Tables};

impl Database {
    /// Reads single vehicles, within the time that a look-up may take.
    pub(in super::super) async fn look_up(
        &self,
        keys: &[String],
    ) -> Result<(Vec<Row>, Tables), SourceError> {
        let limit = Duration::from_millis(self.settings.look_up_timeout_ms);
        match tokio::time::timeout(limit, self.look_up_all(keys)).await {
            Ok(result) => result,
            Err(_) => Err(self.error(
                "look_up",
                Fault::Timeout,
                "took longer than look_up_timeout_ms",
            )),
        }
    }

    async fn look_up_all(&self, keys: &[String]) -> Result<(Vec<Row>, Tables), SourceError> {
        let mut connection = self.connect(self.settings.look_up_timeout_ms).await?;
        let tables = self.tables(&mut connection).await?;
        let mut found = Vec::new();
        for key in keys {
            let literal = statement::literal(key)
                .map_err(|words| self.error("look_up", Fault::Settings, words))?;
            let literals = [literal];
            let query = match (&self.plan.look_up, &literals) {
                (Some(query), [literal]) => query.replace(":key", literal),
                (None, literals) => statement::narrowed(&self.plan.query, &self.plan.key, literals),
            };
            let mut rows = Vec::new();
            self.each(&mut connection, "look_up", &query, &mut |fields| {
                rows.push(fields);
                Ok(())
            })
            .await?;
            if rows.is_empty() {
                continue;
            }
            let mut children = self.children(&mut connection, Some(&literals)).await?;
            for fields in rows {
                let row = self.row(fields, &mut children);
                found.push(row.map_err(|(fault, words)| self.error("look_up", fault, words))?);
            }
        }
        connection.close().await;
        Ok((found, tables))
    }
}
