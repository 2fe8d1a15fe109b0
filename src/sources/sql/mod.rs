//! Inventory in a SQL database: one row per vehicle, child rows joined by key, side tables. Sessions are
//! read-only, every query is one plain SELECT, one reading sees one state of the database.
//! Must not know what the columns mean.

mod cells;
mod changes;
pub(super) mod connection;
mod dialect;
mod look_up;
mod settings;
pub(super) mod sqlserver;
mod statement;

use std::collections::{BTreeSet, HashMap};
use std::time::Duration;

use serde_json::{Map, Value};

use crate::mapping::plan::{ColumnCase, SqlPlan};
use crate::mapping::{Row, Tables};

use super::mark::{Highest, Mark};
use super::{Fault, Read, Since, SourceError};
use connection::Connection;
use dialect::Dialect;

pub use settings::Settings;
pub(super) use settings::without_credentials;

/// Why a query or a session ends early.
type Failure = (Fault, String);

/// A database with the queries for it.
#[derive(Debug)]
pub(super) struct Database {
    settings: Settings,
    plan: SqlPlan,
    name: String,
}

/// Where rows go.
type Sink<'a> = dyn FnMut(Row, &Tables) + Send + 'a;

/// Child rows by name, then by the vehicle's key.
type Children = Vec<(String, HashMap<String, Vec<Map<String, Value>>>)>;

impl Database {
    pub(super) fn open(settings: Settings, plan: SqlPlan) -> Result<Self, SourceError> {
        let name = without_credentials(&settings.url);
        let queries = std::iter::once(("query".to_owned(), &plan.query))
            .chain(
                plan.children
                    .iter()
                    .map(|(n, c)| (format!("child {n}"), &c.query)),
            )
            .chain(plan.tables.iter().map(|(n, q)| (format!("table {n}"), q)))
            .chain(plan.look_up.iter().map(|q| ("look_up".to_owned(), q)))
            .chain(
                plan.changes
                    .iter()
                    .map(|c| ("changes".to_owned(), &c.query)),
            );
        for (step, query) in queries {
            let dialect = Dialect::of(&settings.url);
            statement::check(query, dialect)
                .map_err(|reason| SourceError::new(&name, step, Fault::Settings, reason))?;
        }
        let lacks = |query: Option<&String>, part| query.is_some_and(|q| !q.contains(part));
        if lacks(plan.changes.as_ref().map(|c| &c.query), ":since") {
            let words = "the query has no :since";
            return Err(SourceError::new(&name, "changes", Fault::Settings, words));
        }
        if lacks(plan.look_up.as_ref(), ":key") {
            let words = "the query has no :key, and would read every vehicle for one";
            return Err(SourceError::new(&name, "look_up", Fault::Settings, words));
        }
        connection::options(&settings)
            .map_err(|words| SourceError::new(&name, "open", Fault::Settings, words))?;
        Ok(Self {
            settings,
            plan,
            name,
        })
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn gives_changes(&self) -> bool {
        self.plan.changes.is_some()
    }

    /// Reads everything, or what changed where that is asked for and known; within the time allowed.
    pub(super) async fn read(
        &self,
        since: Since<'_>,
        mut sink: impl FnMut(Row, &Tables) + Send,
    ) -> Result<Read, SourceError> {
        let limit = Duration::from_millis(self.settings.read_timeout_ms);
        let work = async {
            match (&self.plan.changes, since.watermark()) {
                (Some(plan), Some(mark)) => {
                    self.read_changes(plan, mark, since.mark, &mut sink).await
                }
                (None, _) | (_, None) => self.read_all(&mut sink).await,
            }
        };
        match tokio::time::timeout(limit, work).await {
            Ok(result) => result,
            Err(_) => Err(self.error("read", Fault::Timeout, "took longer than read_timeout_ms")),
        }
    }

    async fn read_all(&self, sink: &mut Sink<'_>) -> Result<Read, SourceError> {
        let mut connection = self.connect(self.settings.read_timeout_ms).await?;
        let tables = self.tables(&mut connection).await?;
        let mut children = self.children(&mut connection, None).await?;
        let mut rows = 0;
        let mut columns = BTreeSet::new();
        let mut highest = Highest::new(None);
        let watermark = self.plan.changes.as_ref().map(|c| c.watermark.as_str());
        self.each(&mut connection, "query", &self.plan.query, &mut |fields| {
            if rows == 0 {
                columns = fields.keys().cloned().collect();
            }
            rows += 1;
            if rows > self.settings.max_rows {
                return Err((Fault::Limit, "more rows than max_rows".to_owned()));
            }
            if let Some(column) = watermark {
                highest.see(fields.get(column), column)?;
            }
            sink(self.row(fields, &mut children)?, &tables);
            Ok(())
        })
        .await?;
        connection.close().await;
        Ok(Read {
            rows,
            columns,
            columns_are_fixed: rows > 0,
            tables,
            mark: Mark {
                watermark: highest.found(),
                ..Mark::default()
            },
            ..Read::default()
        })
    }

    async fn connect(&self, statement_ms: u64) -> Result<Connection, SourceError> {
        let limit = Duration::from_millis(self.settings.connect_timeout_ms);
        match tokio::time::timeout(limit, Connection::open(&self.settings, statement_ms)).await {
            Ok(Ok(connection)) => Ok(connection),
            Ok(Err((fault, words))) => Err(self.error("connect", fault, words)),
            Err(_) => Err(self.error("connect", Fault::Timeout, "no answer in connect_timeout_ms")),
        }
    }

    async fn tables(&self, connection: &mut Connection) -> Result<Tables, SourceError> {
        let mut tables = Tables::new();
        for (name, query) in &self.plan.tables {
            let mut rows = Vec::new();
            self.each(connection, &format!("table {name}"), query, &mut |row| {
                rows.push(row);
                if rows.len() as u64 > self.settings.max_child_rows {
                    return Err((Fault::Limit, "more rows than max_child_rows".to_owned()));
                }
                Ok(())
            })
            .await?;
            tables.insert(name.clone(), rows);
        }
        Ok(tables)
    }

    /// Child rows grouped by their vehicle's key; of some vehicles only when `literals` say which.
    async fn children(
        &self,
        connection: &mut Connection,
        literals: Option<&[String]>,
    ) -> Result<Children, SourceError> {
        let mut all = Vec::new();
        let mut count = 0;
        for (name, child) in &self.plan.children {
            let key = child.key.as_ref().unwrap_or(&self.plan.key);
            let query = match literals {
                Some(literals) => statement::narrowed(&child.query, key, literals),
                None => child.query.clone(),
            };
            let mut grouped: HashMap<String, Vec<Map<String, Value>>> = HashMap::new();
            self.each(connection, &format!("child {name}"), &query, &mut |row| {
                count += 1;
                if count > self.settings.max_child_rows {
                    return Err((Fault::Limit, "more rows than max_child_rows".to_owned()));
                }
                grouped.entry(key_of(&row, key)?).or_default().push(row);
                Ok(())
            })
            .await?;
            all.push((name.clone(), grouped));
        }
        Ok(all)
    }

    async fn each(
        &self,
        connection: &mut Connection,
        step: &str,
        query: &str,
        take: &mut (dyn FnMut(Map<String, Value>) -> Result<(), Failure> + Send),
    ) -> Result<(), SourceError> {
        let case = self.plan.column_case;
        connection
            .each(query, &self.settings, &mut |row| take(cased(row, case)?))
            .await
            .map_err(|(fault, words)| self.error(step, fault, words))
    }

    /// A vehicle's row with its children taken out of the pool, so that memory falls as reading goes on.
    fn row(&self, fields: Map<String, Value>, children: &mut Children) -> Result<Row, Failure> {
        let mut row = Row::default();
        if !children.is_empty() {
            let key = key_of(&fields, &self.plan.key)?;
            for (name, grouped) in children {
                let rows = grouped.remove(&key).unwrap_or_default();
                row.children.insert(name.clone(), rows);
            }
        }
        row.fields = fields;
        Ok(row)
    }

    fn dialect(&self) -> Dialect {
        Dialect::of(&self.settings.url)
    }

    fn error(&self, step: &str, fault: Fault, words: impl std::fmt::Display) -> SourceError {
        SourceError::new(&self.name, step, fault, words)
    }
}

/// A row with its column names in one case.
fn cased(row: Map<String, Value>, case: ColumnCase) -> Result<Map<String, Value>, Failure> {
    let rename: fn(&str) -> String = match case {
        ColumnCase::AsIs => return Ok(row),
        ColumnCase::Upper => str::to_uppercase,
        ColumnCase::Lower => str::to_lowercase,
    };
    let mut renamed = Map::with_capacity(row.len());
    for (name, value) in row {
        cells::put(&mut renamed, &rename(&name), value)?;
    }
    Ok(renamed)
}

/// The text of a key cell; padded and unpadded codes are the same key.
fn key_of(row: &Map<String, Value>, column: &str) -> Result<String, Failure> {
    match row.get(column) {
        Some(Value::String(text)) => Ok(text.trim_end().to_owned()),
        Some(Value::Null) | None => Err((
            Fault::Data,
            format!("a row has no key: column `{column}` is missing or empty"),
        )),
        Some(other) => Ok(other.to_string()),
    }
}
