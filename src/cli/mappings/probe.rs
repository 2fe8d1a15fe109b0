//! How a source that nobody has described can be read: a file's format and where its vehicles lie, a database's
//! tables. Must not look at what columns mean.

mod database;
mod file;

use serde::Deserialize;
use toml::Value as Toml;

use super::{Exit, Failure};
use crate::mapping::Plan;
use crate::sources::Settings;
use crate::sources::feed::Place;

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
            Place::Disk { path, .. } => file::look(path, items),
            Place::Web(_) => {
                let words = "a feed at an address cannot be looked at before its format is known";
                let hint = "save one file of it and name that with --from";
                Err(Failure::new(Exit::Usage, words).hint(hint))
            }
        },
        Settings::Sql(sql) => database::look(settings, &sql.url, table).await,
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

/// A plan from its text.
pub(super) fn plan(text: &str) -> Result<Plan, Failure> {
    #[derive(Deserialize)]
    struct Whole {
        source: Plan,
    }
    toml::from_str::<Whole>(text)
        .map(|whole| whole.source)
        .map_err(|error| Failure::new(Exit::Internal, error.message().to_owned()))
}
