//! Only what changed: the rows since the watermark, with their children. Must not decide when that
//! suffices.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::super::mark::{Highest, Mark, Watermark};
use super::super::{Extent, Fault, Read, SourceError};
use super::connection::Connection;
use super::{Children, Database, Sink, key_of, statement};
use crate::mapping::plan::SqlChanges;

/// Changed vehicles whose children are asked for by name; for more, all children are read.
const BY_NAME: usize = 500;

impl Database {
    pub(super) async fn read_changes(
        &self,
        plan: &SqlChanges,
        watermark: &Watermark,
        mark: Option<&Mark>,
        sink: &mut Sink<'_>,
    ) -> Result<Read, SourceError> {
        let literal = statement::since(watermark)
            .map_err(|words| self.error("changes", Fault::Data, words))?;
        let query = plan.query.replace(":since", &literal);
        let mut connection = self.connect(self.settings.read_timeout_ms).await?;
        let tables = self.tables(&mut connection).await?;
        let mut highest = Highest::new(mark);
        let mut changed: Vec<Map<String, Value>> = Vec::new();
        self.each(&mut connection, "changes", &query, &mut |fields| {
            highest.see(fields.get(&plan.watermark), &plan.watermark)?;
            changed.push(fields);
            // A watermark that selects everything would fill the memory: then it is no watermark.
            if changed.len() as u64 > self.settings.max_changed_rows {
                let words = "more changed rows than max_changed_rows";
                return Err((Fault::Limit, words.to_owned()));
            }
            Ok(())
        })
        .await?;
        let mut children = self.children_of(&changed, &mut connection).await?;
        connection.close().await;
        let first = changed.first();
        let columns: BTreeSet<String> = first
            .map(|row| row.keys().cloned().collect())
            .unwrap_or_default();
        let mut read = Read {
            rows: changed.len() as u64,
            columns_are_fixed: !changed.is_empty(),
            columns,
            tables,
            extent: Extent::Changes,
            mark: Mark {
                watermark: highest.found(),
                ..Mark::default()
            },
            ..Read::default()
        };
        for fields in changed {
            let row = self.row(fields, &mut children);
            let row = row.map_err(|(fault, words)| self.error("changes", fault, words))?;
            sink(row, &read.tables);
        }
        if read.rows == 0 {
            read.extent = Extent::Same;
        }
        Ok(read)
    }

    async fn children_of(
        &self,
        changed: &[Map<String, Value>],
        connection: &mut Connection,
    ) -> Result<Children, SourceError> {
        if changed.is_empty() || self.plan.children.is_empty() {
            return Ok(Vec::new());
        }
        let literal =
            |row| statement::literals(&key_of(row, &self.plan.key).ok()?, self.dialect()).ok();
        let literals: Option<Vec<String>> = changed.iter().map(literal).collect();
        match literals.filter(|literals| literals.len() <= BY_NAME) {
            Some(literals) => self.children(connection, Some(&literals)).await,
            None => self.children(connection, None).await,
        }
    }
}
