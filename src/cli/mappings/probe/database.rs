//! Which tables of a database hold vehicles, what belongs to them, and how they are asked for. Must not look at
//! what columns mean.

use serde_json::Value;
use toml::Value as Toml;

use super::super::{Exit, Failure};
use super::{Found, plan};
use crate::mapping::init::{self, Schema};
use crate::mapping::{Row, Tables};
use crate::sources::{Settings, Source};

/// Side tables that are looked at, and rows of each.
const MAX_SIDE: usize = 30;
const SIDE_ROWS: usize = 2_000;

pub(super) async fn look(
    settings: &Settings,
    url: &str,
    table: Option<&str>,
) -> Result<Found, Failure> {
    let schema = schema(settings, url).await?;
    let Some(chosen) = init::choose(&schema, table) else {
        let names: Vec<&str> = schema.iter().map(|(name, _)| name.as_str()).collect();
        let words = match table {
            Some(table) => format!("there is no table `{table}`"),
            None => "no table looks like one with a row per vehicle".to_owned(),
        };
        let hint = format!("name it with --table; there are: {}", names.join(", "));
        return Err(Failure::new(Exit::Findings, words).hint(hint));
    };
    let quote = |name: &str| quoted(name, url);
    let select = |query: String| Toml::from(query);
    let mut text = format!(
        "[source]\nkind = \"sql\"\nquery = {}\nkey = {}\n",
        select(format!("SELECT * FROM {}", quote(&chosen.main))),
        Toml::from(chosen.key.as_str())
    );
    for (child, column) in &chosen.children {
        let query = format!("SELECT * FROM {} ORDER BY {}", quote(child), quote(column));
        text.extend([format!(
            "children.{child} = {{ query = {}, key = {} }}\n",
            select(query),
            Toml::from(column.as_str())
        )]);
    }
    let side: Vec<String> = chosen.side.into_iter().take(MAX_SIDE).collect();
    let mut probe = text.clone();
    probe.push_str("[source.tables]\n");
    let mut side_queries = Vec::new();
    for name in &side {
        let query = format!("SELECT * FROM {}", quote(name));
        probe.extend([format!("{name} = {}\n", select(bounded(name, &quote, url)))]);
        side_queries.push((name.clone(), query));
    }
    Ok(Found {
        probe,
        text,
        key: Some(chosen.key),
        side,
        side_queries,
    })
}

/// The first rows of a table.
fn bounded(name: &str, quote: &impl Fn(&str) -> String, url: &str) -> String {
    let table = quote(name);
    if is_sql_server(url) {
        return format!("SELECT TOP {SIDE_ROWS} * FROM {table}");
    }
    format!("SELECT * FROM {table} LIMIT {SIDE_ROWS}")
}

fn is_sql_server(url: &str) -> bool {
    url.starts_with("sqlserver") || url.starts_with("mssql")
}

fn quoted(name: &str, url: &str) -> String {
    let plain = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    match (
        plain,
        url.starts_with("mysql") || url.starts_with("mariadb"),
    ) {
        (true, _) => name.to_owned(),
        (false, true) => format!("`{}`", name.replace('`', "")),
        (false, false) => format!("\"{}\"", name.replace('"', "")),
    }
}

/// The database's own list of its columns.
async fn schema(settings: &Settings, url: &str) -> Result<Schema, Failure> {
    let query = if url.starts_with("sqlite") {
        "SELECT m.name || '.' || p.cid AS n, m.name AS t, p.name AS c FROM sqlite_master m JOIN pragma_table_info(m.name) p \
         WHERE m.type IN ('table', 'view') AND m.name NOT LIKE 'sqlite%' ORDER BY m.name, p.cid"
    } else if url.starts_with("postgres") {
        "SELECT CAST(table_name || '.' || ordinal_position AS text) AS n, CAST(table_name AS text) AS t, \
         CAST(column_name AS text) AS c FROM information_schema.columns \
         WHERE table_schema NOT IN ('pg_catalog', 'information_schema') ORDER BY table_name, ordinal_position"
    } else if is_sql_server(url) {
        "SELECT CONCAT(TABLE_NAME, '.', ORDINAL_POSITION) AS n, TABLE_NAME AS t, COLUMN_NAME AS c \
         FROM INFORMATION_SCHEMA.COLUMNS ORDER BY TABLE_NAME, ORDINAL_POSITION"
    } else {
        "SELECT CONCAT(table_name, '.', ordinal_position) AS n, table_name AS t, column_name AS c \
         FROM information_schema.columns WHERE table_schema = DATABASE() ORDER BY table_name, ordinal_position"
    };
    let text = format!(
        "[source]\nkind = \"sql\"\nquery = {}\nkey = \"n\"\n",
        Toml::from(query)
    );
    let source = Source::open(settings.clone(), &plan(&text)?).await?;
    let mut schema: Schema = Vec::new();
    let take = |row: Row, _: &Tables| {
        let cell = |name: &str| {
            row.fields
                .get(name)
                .and_then(Value::as_str)
                .map(str::to_owned)
        };
        if let (Some(table), Some(column)) = (cell("t"), cell("c")) {
            match schema.last_mut().filter(|(last, _)| *last == table) {
                Some((_, columns)) => columns.push(column),
                None => schema.push((table, vec![column])),
            }
        }
    };
    source.read(take).await?;
    Ok(schema)
}
