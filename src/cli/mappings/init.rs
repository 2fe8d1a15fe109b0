//! `forecourt mappings init`: looks at a source and writes a first mapping for it. Must not decide what columns
//! mean (that is `mapping::init`), nor write over a file.

use std::io::Write as _;
use std::path::PathBuf;

use serde_json::{Value, json};

use super::probe::{self, Found};
use super::{Exit, Failure, Output};
use crate::config::{Config, Sources};
use crate::mapping::init::Sample;
use crate::mapping::{Row, Tables};
use crate::sources::{self, Source};

/// What to look at.
#[derive(Debug, clap::Args)]
pub(in crate::cli) struct Arguments {
    /// A feed file, a database's URL (sqlite:, postgres:, mysql:), or the id of a configured deployment
    #[arg(long, value_name = "SOURCE")]
    from: String,
    /// The table with a row per vehicle, where a database has several that look like it
    #[arg(long, value_name = "NAME")]
    table: Option<String>,
    /// For an API: the path and query below its base URL
    #[arg(long, value_name = "PATH")]
    path: Option<String>,
    /// Where the vehicles lie in JSON (`results`), or the name of a vehicle's element in XML
    #[arg(long, value_name = "NAME")]
    items: Option<String>,
    /// Where to write the mapping [default: standard output]
    #[arg(long, value_name = "FILE")]
    to: Option<PathBuf>,
}

pub(super) async fn run(
    arguments: Arguments,
    configuration: &Sources,
    output: Output,
) -> Result<Exit, Failure> {
    let (text, value) = write(arguments, configuration).await?;
    output.print(&text, &value)?;
    Ok(Exit::Fine)
}

/// Writes the mapping, or gives it; what to say about it, for people and for machines.
async fn write(arguments: Arguments, configuration: &Sources) -> Result<(String, Value), Failure> {
    let settings = settings(&arguments.from, configuration)?;
    let found = probe::look(
        &settings,
        arguments.table.as_deref(),
        arguments.path.as_deref(),
        arguments.items.as_deref(),
    )
    .await?;
    let mut sample = Sample::new();
    let mut beside = Vec::new();
    let source = Source::open(settings, &probe::plan(&found.probe)?).await?;
    let read = source.read(|row: Row, _: &Tables| sample.add(&row)).await?;
    for table in &found.side {
        if !sample.side_table(table, read.tables.rows(table)) {
            beside.push(table.as_str());
        }
    }
    if sample.rows() == 0 {
        return Err(Failure::new(
            Exit::Findings,
            "the source has no row to look at",
        ));
    }
    let draft = sample.draft("My dealership", &found.source(&beside), found.key());
    let questions: Vec<String> = draft.questions.iter().map(|q| format!("  ? {q}")).collect();
    let value = json!({ "schema_version": 1, "mapping": draft.text, "questions": draft.questions });
    let Some(file) = &arguments.to else {
        return Ok((draft.text.trim_end().to_owned(), value));
    };
    let failed =
        |error: std::io::Error| Failure::new(Exit::Usage, format!("{}: {error}", file.display()));
    let mut new = std::fs::File::create_new(file).map_err(failed)?;
    new.write_all(draft.text.as_bytes()).map_err(failed)?;
    let text = format!(
        "{} is written from {} rows; it loads once these are answered in it:\n{}",
        file.display(),
        sample.rows(),
        questions.join("\n")
    );
    Ok((text.trim_end().to_owned(), value))
}

/// Writes the mapping of `from` into `to`; what it asks, for people and for machines.
pub(super) async fn draft(from: &str, to: &std::path::Path) -> Result<(String, Value), Failure> {
    let arguments = Arguments {
        from: from.to_owned(),
        table: None,
        path: None,
        items: None,
        to: Some(to.to_owned()),
    };
    write(arguments, &Sources::default()).await
}

/// The source that is meant: an address, a file, or a deployment's.
fn settings(from: &str, configuration: &Sources) -> Result<sources::Settings, Failure> {
    let database = [
        "sqlite:",
        "postgres:",
        "postgresql:",
        "mysql:",
        "mariadb:",
        "sqlserver:",
        "mssql:",
    ];
    if database.iter().any(|scheme| from.starts_with(scheme)) {
        return Ok(sources::Settings::Sql(sources::sql::Settings::new(from)));
    }
    let path = PathBuf::from(from);
    if path.exists() {
        return Ok(sources::Settings::Feed(sources::feed::Settings::new(path)));
    }
    match Config::source(configuration, from)? {
        Some(settings) => Ok(settings),
        None => Err(Failure::new(
            Exit::Usage,
            format!(
                "{from} is neither a file, nor a database's URL, nor a deployment with a source"
            ),
        )),
    }
}

impl Found {
    /// The mapping's `[source]`: `beside` are the side tables that are no code lists.
    fn source(&self, beside: &[&str]) -> String {
        let mut text = self.text.clone();
        let tables: Vec<String> = self
            .side_queries
            .iter()
            .filter(|(table, _)| beside.contains(&table.as_str()))
            .map(|(table, query)| format!("{table} = {}\n", toml::Value::from(query.as_str())))
            .collect();
        if !tables.is_empty() {
            text.push_str("[source.tables]\n");
            text.push_str(&tables.concat());
        }
        text
    }

    fn key(&self) -> Option<&str> {
        self.key.as_deref()
    }
}
