//! Single vehicles, read again by their keys. Must not know what the columns mean.

use std::time::Duration;

use super::super::{Fault, SourceError};
use super::{Database, statement};
use crate::mapping::{Row, Tables};

/// Rows that one key may have; the right one is told by what it becomes.
const MOST: usize = 100;

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
            let wrong = |words: String| self.error("look_up", Fault::Settings, words);
            let literals = [statement::literals(key, self.dialect()).map_err(wrong)?];
            let query = match &self.plan.look_up {
                Some(query) => {
                    let literal = statement::literal(key, self.dialect()).map_err(wrong)?;
                    query.replace(":key", &literal)
                }
                None => statement::narrowed(&self.plan.query, &self.plan.key, &literals),
            };
            let mut rows = Vec::new();
            self.each(&mut connection, "look_up", &query, &mut |fields| {
                rows.push(fields);
                if rows.len() > MOST {
                    let words = "one key has more rows than a vehicle can have: check the query";
                    return Err((Fault::Data, words.to_owned()));
                }
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
