//! How a source is read for a mapping: queries, file layout, paging. The mapping file holds it, so that a
//! preset is complete but for the address and the password. Must not open anything.

use std::collections::BTreeMap;

use serde::Deserialize;

/// The `[source]` section.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Plan {
    /// A SQL database.
    Sql(SqlPlan),
    /// A file in a known format.
    Feed(FeedPlan),
    /// JSON over HTTP.
    Rest(RestPlan),
}

/// Queries against a SQL database, all plain SELECTs.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct SqlPlan {
    /// One row per vehicle.
    pub query: String,
    /// The column that names a row for its children.
    pub key: String,
    /// How column names are told to the mapping: PostgreSQL writes unquoted names small.
    #[serde(default)]
    pub column_case: ColumnCase,
    /// Child rows by name.
    #[serde(default)]
    pub children: BTreeMap<String, ChildPlan>,
    /// Side tables by name, read before the first row.
    #[serde(default)]
    pub tables: BTreeMap<String, String>,
    /// The query for one vehicle, with `:key` where its key goes. Without it `query` is searched by `key`.
    pub look_up: Option<String>,
    /// How only what changed is read.
    pub changes: Option<SqlChanges>,
}

/// What changed since a reading.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct SqlChanges {
    /// The vehicles' query with `:since` where the watermark goes, best with `>=`.
    pub query: String,
    /// The column of both queries that says when a row changed; its text or number must sort by time.
    pub watermark: String,
}

/// The case of column names.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum ColumnCase {
    /// As the database gives them.
    #[default]
    AsIs,
    Upper,
    Lower,
}

/// One child query.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct ChildPlan {
    pub query: String,
    /// The column that holds the vehicle's key, when it is not named like it.
    pub key: Option<String>,
}

/// A file with one vehicle a row or element.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct FeedPlan {
    pub format: FeedFormat,
    #[serde(default)]
    pub encoding: Encoding,
    /// The separator of `csv`; found from the header line when absent.
    pub delimiter: Option<char>,
    /// Column names of a file without a header line.
    pub columns: Option<Vec<String>>,
    /// Other spellings of a header: `{ "Stock #" = ["StockNumber", "Stock"] }`.
    #[serde(default)]
    pub aliases: BTreeMap<String, Vec<String>>,
    /// Where the vehicles lie in JSON (`results`) or the element's name in XML (`vehicle`).
    pub items: Option<String>,
    /// When the file was written, if nothing in it says so.
    #[serde(default)]
    pub as_of: AsOf,
}

/// A file's format.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum FeedFormat {
    Csv,
    Json,
    JsonLines,
    Xml,
    Dbf,
}

/// A file's character encoding; a byte order mark wins.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
pub enum Encoding {
    #[default]
    #[serde(rename = "utf-8")]
    Utf8,
    #[serde(rename = "windows-1252")]
    Windows1252,
    #[serde(rename = "latin-1")]
    Latin1,
}

/// Where the time of a file comes from.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum AsOf {
    /// The mapping has no use for it.
    #[default]
    None,
    /// The file's own modification time.
    FileTime,
}

/// JSON over HTTP, page by page.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct RestPlan {
    /// The path and query below the deployment's base address.
    pub path: String,
    /// Where the vehicles lie in the answer.
    pub items: String,
    #[serde(default)]
    pub paging: Paging,
    /// A second call that names removed vehicles: its path.
    pub removed_path: Option<String>,
    /// The member that joins a removal to its vehicle.
    pub removed_key: Option<String>,
    /// Posted as JSON with every request, for an API that is asked so; what says which page is meant then
    /// goes in here (`page.cursor` for a member of a member) and not in the query.
    pub body: Option<serde_json::Map<String, serde_json::Value>>,
    /// How only what changed is read.
    pub changes: Option<RestChanges>,
}

/// What changed since a reading.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct RestChanges {
    /// The path and query with `{since}` where the watermark goes.
    pub path: String,
    /// The same for the removals; without it all of them are read.
    pub removed_path: Option<String>,
    /// The member of a vehicle that says when it changed; its text or number must sort by time.
    pub watermark: String,
}

/// How the next page is asked for.
#[derive(Clone, Debug, Default, Deserialize, PartialEq)]
#[serde(tag = "by", rename_all = "snake_case", deny_unknown_fields)]
pub enum Paging {
    /// All in one answer.
    #[default]
    None,
    /// `start`/`offset` counts vehicles; the end is a short page or the total.
    Offset {
        parameter: String,
        limit_parameter: String,
        limit: u32,
        total: Option<String>,
    },
    /// Pages are numbered.
    Page {
        parameter: String,
        #[serde(default = "one")]
        first: u32,
        limit_parameter: Option<String>,
        limit: u32,
    },
    /// The answer names the key of the next page; none or an empty one ends.
    NextKey { parameter: String, from: String },
    /// The answer names the next page's address, of the same server; none or an empty one ends.
    NextUrl { from: String },
    /// The answer's `Link` header names it.
    LinkHeader,
}

fn one() -> u32 {
    1
}
