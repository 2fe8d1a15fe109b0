//! What is wrong with a configuration, said so that its writer can mend it. Must not hold secret values.

use std::fmt;

use serde::Serialize;

/// One thing that is wrong, with the way to mend it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// The file, environment variable or flag that said it; nothing where a default did.
    pub place: Option<String>,
    /// The dotted key, e.g. `server.listen`; empty for the whole file.
    pub key: String,
    /// What is wrong. Never the value of a secret.
    pub reason: String,
    /// What to do about it.
    pub remedy: String,
}

/// Everything that is wrong with a configuration; never empty.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, thiserror::Error)]
pub struct Findings(pub Vec<Finding>);

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let subject = if self.key.is_empty() {
            "configuration"
        } else {
            &self.key
        };
        write!(f, "{subject}: {}", self.reason)?;
        if let Some(place) = &self.place {
            write!(f, "    [{place}]")?;
        }
        write!(f, "\n      {}", self.remedy)
    }
}

impl fmt::Display for Findings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for finding in &self.0 {
            writeln!(f, "  × {finding}")?;
        }
        let count = self.0.len();
        let noun = if count == 1 { "problem" } else { "problems" };
        write!(f, "{count} {noun}")
    }
}

/// The name in `known` that `given` was probably meant to be.
pub(crate) fn nearest<'a>(
    given: &str,
    known: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    let given = given.to_lowercase();
    known
        .into_iter()
        .map(|name| (name, strsim::damerau_levenshtein(&given, name)))
        .filter(|(name, distance)| *distance <= 1 + name.len().min(given.len()) / 4)
        .min_by_key(|(_, distance)| *distance)
        .map(|(name, _)| name)
}
