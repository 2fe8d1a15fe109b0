//! A first mapping for a source that nobody has described yet: columns by the names that such systems use, steps
//! by the values that are there. Must not answer what only the dealer knows: what a price includes, when a file
//! was true, which zone a time is in and what an unknown code means become questions, and a mapping with an open
//! question does not load.

mod alias;
mod coded;
mod codes;
mod column;
mod draft;
mod equipment;
mod listing;
mod members;
mod schema;
mod steps;
mod words;
mod write;

use serde_json::{Map, Value};

use super::Row;
use codes::CodeList;
use column::Columns;

pub use schema::{Schema, choose};

/// A table with more columns says more than what its codes mean.
const MAX_LIST_COLUMNS: usize = 4;

/// What was seen of a source.
#[derive(Debug, Default)]
pub struct Sample {
    columns: Columns,
    lists: Vec<CodeList>,
}

/// A first mapping file.
#[derive(Clone, Debug)]
pub struct Draft {
    pub text: String,
    /// What only a person can answer; the file does not load before.
    pub questions: Vec<String>,
}

impl Sample {
    /// Nothing seen yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Looks at one row. Distinct values are kept up to a bound, not rows.
    pub fn add(&mut self, row: &Row) {
        self.columns.add(row);
    }

    /// Looks at a side table; whether it is only a list of codes, whose texts go into the mapping's own tables.
    pub fn side_table(&mut self, name: &str, rows: &[Map<String, Value>]) -> bool {
        let lists = codes::lists(name, rows);
        let narrow = rows
            .first()
            .is_some_and(|row| row.len() <= MAX_LIST_COLUMNS);
        let is_list = narrow && !lists.is_empty();
        self.lists.extend(lists);
        is_list
    }

    /// Rows seen.
    pub fn rows(&self) -> usize {
        self.columns.rows
    }

    /// Writes the mapping. `source` is its `[source]` section; `key` the column that names a row at a database.
    pub fn draft(&self, name: &str, source: &str, key: Option<&str>) -> Draft {
        draft::draft(&self.columns, &self.lists, name, source, key)
    }
}
