//! How a source that nobody has described can be read: a file's format and where its vehicles lie, a database's
//! tables. Must not look at what columns mean.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufReader, Read as _};
use std::path::{Path, PathBuf};

use serde_json::Value;
use toml::Value as Toml;

use super::init::plan;
use super::{Exit, Failure};
use crate::mapping::init::{self, Schema};
use crate::mapping::{Row, Tables};
use crate::sources::feed::Place;
use crate::sources::{Settings, Source};

/// As much of a file is looked at to find its format.
const MAX_LOOK: u64 = 64 << 20;
/// Side tables that are looked at, and rows of each.
const MAX_SIDE: usize = 30;
const SIDE_ROWS: usize = 2_000;

/// A way to read a source.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// The `[source]` section to look with.
    pub(super) probe: String,
    /// The one for the mapping, without side tables.
    pub(super) text: String,
    pub(super) key: Option<String>,
    /// Names of side tables that were read with `probe`.
    pub(super) side: Vec<String>,
    pub(super) side_queries: Vec<(String, String)>,
}

pub(super) async fn look(
    settings: &Settings,
    table: Option<&str>,
    path: Option<&str>,
    items: Option<&str>,
) -> Result<Found, Failure> {
    match settings {
        Settings::Feed(feed) => match &feed.place {
            Place::Disk { path, .. } => file(path, items),
            Place::Web(_) => {
                let words = "a feed at an address cannot be looked at before its format is known";
                let hint = "save one file of it and name that with --from";
                Err(Failure::new(Exit::Usage, words).hint(hint))
            }
        },
        Settings::Sql(sql) => database(settings, &sql.url, table).await,
        Settings::Rest(_) => api(path, items),
    }
}

fn api(path: Option<&str>, items: Option<&str>) -> Result<Found, Failure> {
    let (Some(path), Some(items)) = (path, items) else {
        let words = "an API needs --path and --items";
        let hint = "e.g. --path '/vehicles?limit=100' --items results; or save an answer and name the file";
        return Err(Failure::new(Exit::Usage, words).hint(hint));
    };
    let text = format!(
        "[source]\nkind = \"rest\"\npath = {}\nitems = {}\n",
        Toml::from(path),
        Toml::from(items)
    );
    Ok(Found {
        probe: text.clone(),
        text: format!(
            "{text}# How does the API page? \"none\", \"offset\", \"page\" or \"next_key\" with their parameters (docs/mapping.md).\n\
             paging = {{ by = \"?\" }}\n"
        ),
        ..Found::default()
    })
}

fn file(path: &Path, items: Option<&str>) -> Result<Found, Failure> {
    let failed =
        |error: std::io::Error| Failure::new(Exit::Usage, format!("{}: {error}", path.display()));
    let bytes = start_of(path).map_err(failed)?;
    if path
        .extension()
        .is_some_and(|kind| kind.eq_ignore_ascii_case("dbf"))
    {
        let source =
            "[source]\nkind = \"feed\"\nformat = \"dbf\"\nas_of = \"file_time\"\n".to_owned();
        return Ok(Found {
            probe: source.clone(),
            text: source,
            ..Found::default()
        });
    }
    let text = String::from_utf8_lossy(&bytes);
    let text = text.trim_start_matches('\u{feff}').trim_start();
    let (format, items) = match text.chars().next() {
        Some('<') => ("xml", items.map(str::to_owned).or_else(|| element(text))),
        Some('[') => ("json", None),
        Some('{') => match serde_json::from_str(text) {
            Ok(whole) => (
                "json",
                items.map(str::to_owned).or_else(|| longest_list(&whole)),
            ),
            Err(_) => ("json_lines", None),
        },
        _ => ("csv", None),
    };
    let mut source = format!("[source]\nkind = \"feed\"\nformat = \"{format}\"\n");
    if let Some(items) = items {
        source.extend([format!("items = {}\n", Toml::from(items))]);
    }
    if std::str::from_utf8(&bytes).is_err_and(|error| error.error_len().is_some()) {
        source.push_str("encoding = \"windows-1252\"\n");
    }
    source.push_str("as_of = \"file_time\"\n");
    Ok(Found {
        probe: source.clone(),
        text: source,
        ..Found::default()
    })
}

/// The beginning of a file, or of a folder's first one; unpacked.
fn start_of(path: &Path) -> std::io::Result<Vec<u8>> {
    let path = if path.is_dir() {
        first_of(path)?
    } else {
        path.to_owned()
    };
    let mut head = [0; 2];
    let length = File::open(&path)?.read(&mut head)?;
    let whole = BufReader::new(File::open(&path)?);
    let mut bytes = Vec::new();
    if length == 2 && head == [0x1f, 0x8b] {
        flate2::read::MultiGzDecoder::new(whole)
            .take(MAX_LOOK)
            .read_to_end(&mut bytes)?;
    } else {
        whole.take(MAX_LOOK).read_to_end(&mut bytes)?;
    }
    Ok(bytes)
}

fn first_of(folder: &Path) -> std::io::Result<PathBuf> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder)?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.is_file())
        .collect();
    files.sort();
    files
        .into_iter()
        .next()
        .ok_or_else(|| std::io::Error::other("the folder holds no file"))
}

/// The path of the longest list of objects.
fn longest_list(whole: &Value) -> Option<String> {
    fn walk(at: &str, value: &Value, depth: usize, best: &mut Option<(usize, String)>) {
        let Some(members) = value.as_object().filter(|_| depth < 3) else {
            return;
        };
        for (name, value) in members {
            let path = if at.is_empty() {
                name.clone()
            } else {
                format!("{at}.{name}")
            };
            let length = value.as_array().map_or(0, |list| {
                list.iter().filter(|element| element.is_object()).count()
            });
            if length > best.as_ref().map_or(0, |(length, _)| *length) {
                *best = Some((length, path.clone()));
            }
            walk(&path, value, depth + 1, best);
        }
    }
    let mut best = None;
    walk("", whole, 0, &mut best);
    best.map(|(_, path)| path)
}

/// The element that repeats most directly below the root, or below its only child.
fn element(text: &str) -> Option<String> {
    use quick_xml::events::Event;
    let mut reader = quick_xml::Reader::from_str(text);
    let mut counts: BTreeMap<(usize, String), usize> = BTreeMap::new();
    let mut depth = 0_usize;
    loop {
        match reader.read_event() {
            Ok(Event::Start(tag)) => {
                *counts
                    .entry((depth, tag.name().as_ref().to_owned()))
                    .or_default() += 1;
                depth += 1;
            }
            Ok(Event::Empty(tag)) => {
                *counts
                    .entry((depth, tag.name().as_ref().to_owned()))
                    .or_default() += 1;
            }
            Ok(Event::End(_)) => depth = depth.saturating_sub(1),
            Ok(Event::Eof) | Err(_) => break,
            Ok(_) => {}
        }
    }
    for level in 1..=3 {
        let at_level = counts.iter().filter(|((depth, _), _)| *depth == level);
        let most = at_level.max_by_key(|(_, count)| **count);
        if let Some(((_, name), count)) = most
            && *count > 1
        {
            return Some(name.clone());
        }
    }
    None
}

async fn database(settings: &Settings, url: &str, table: Option<&str>) -> Result<Found, Failure> {
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
