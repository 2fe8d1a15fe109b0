//! How a step may be written short: a word alone, or its main option alone. Must not know what an option means.

use super::spec::Spec;

/// The option that stands alone: `{ split = "," }` is `{ split = { on = "," } }`.
const MAIN_OPTION: &[(&str, &str)] = &[
    ("sentinel", "values"),
    ("default", "value"),
    ("table", "of"),
    ("number", "format"),
    ("whole_dollars", "cents"),
    ("measure", "to"),
    ("century", "pivot"),
    ("date", "format"),
    ("time", "format"),
    ("datetime", "format"),
    ("extract", "pattern"),
    ("template", "value"),
    ("expr", "value"),
    ("split", "on"),
    ("limit", "count"),
    ("urls", "base"),
    ("pick", "path"),
];

/// Reads one step, long or short.
pub(super) fn read(written: toml::Value) -> Result<Spec, String> {
    const SHAPE: &str = "a step is a word or a table with one key, the step's name";
    let (name, options) = if let toml::Value::String(name) = written {
        (name, toml::Value::Table(toml::Table::new()))
    } else {
        let table: toml::Table = written.try_into().map_err(|_| SHAPE)?;
        let mut entries = table.into_iter();
        match (entries.next(), entries.next()) {
            (Some(only), None) => only,
            _ => return Err(SHAPE.to_owned()),
        }
    };
    let main = MAIN_OPTION.iter().find(|(step, _)| *step == name);
    let options = match (main, options) {
        (_, options @ toml::Value::Table(_)) => options,
        (Some((_, option)), lone) => {
            let mut table = toml::Table::new();
            table.insert((*option).to_owned(), lone);
            toml::Value::Table(table)
        }
        (None, _) => return Err(format!("step `{name}` takes no value alone")),
    };
    let mut whole = toml::Table::new();
    whole.insert(name, options);
    toml::Value::Table(whole)
        .try_into()
        .map_err(|error: toml::de::Error| error.message().to_owned())
}
