//! Which table of a database holds the vehicles, which ones belong to them row by row, and which stand beside.
//! Must not read anything.

use super::alias::{folded, worth};

/// Fewer members than this make no vehicle table.
const MIN_WORTH: usize = 8;

/// A database's tables with their columns, in the order in which it has them.
pub type Schema = Vec<(String, Vec<String>)>;

/// What to read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chosen {
    /// The table with a row per vehicle.
    pub main: String,
    /// The column that names its rows.
    pub key: String,
    /// Tables with rows of a vehicle, and their column that names it.
    pub children: Vec<(String, String)>,
    /// Tables that share a column with the vehicles, or look like code lists.
    pub side: Vec<String>,
}

/// The likeliest reading of a schema, or of it with this main table.
pub fn choose(schema: &Schema, main: Option<&str>) -> Option<Chosen> {
    let (main, columns) = match main {
        Some(name) => schema
            .iter()
            .find(|(table, _)| folded(table) == folded(name))?,
        None => schema
            .iter()
            .max_by_key(|(_, columns)| worth(columns))
            .filter(|(_, columns)| worth(columns) >= MIN_WORTH)?,
    };
    let key = key_of(columns)?.clone();
    let (mut children, mut side) = (Vec::new(), Vec::new());
    for (table, others) in schema.iter().filter(|(table, _)| table != main) {
        let named = |column: &&String| names_a_row(column, main, &key);
        if let Some(column) = others.iter().find(named) {
            children.push((table.clone(), column.clone()));
        } else {
            side.push(table.clone());
        }
    }
    Some(Chosen {
        main: main.clone(),
        key,
        children,
        side,
    })
}

fn key_of(columns: &[String]) -> Option<&String> {
    let known = ["id", "recno", "vehicleid", "inventoryid", "recordid", "pk"];
    columns
        .iter()
        .find(|column| known.contains(&folded(column).as_str()))
        .or_else(|| columns.first())
}

/// Whether a column of another table names a row of the main one.
fn names_a_row(column: &str, main: &str, key: &str) -> bool {
    let (column, main, key) = (folded(column), folded(main), folded(key));
    let plain_key = key == "id";
    (!plain_key && column == key)
        || column == format!("{main}{key}")
        || column == format!("{main}id")
}
