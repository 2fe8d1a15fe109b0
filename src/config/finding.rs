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

/// The name in `known` that `given` was probably meant to be: a few letters apart, or alike from the start.
pub(crate) fn nearest<'a>(
    given: &str,
    known: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    /// From here on, Jaro and Winkler's measure means the same word in another form.
    const ALIKE: f64 = 0.88;
    let given = given.to_lowercase();
    let close = |name: &str| {
        let letters = 1 + name.len().min(given.len()) / 4;
        strsim::damerau_levenshtein(&given, name) <= letters
    };
    known
        .into_iter()
        .map(|name| (name, strsim::jaro_winkler(&given, name)))
        .filter(|(name, alike)| *alike >= ALIKE || close(name))
        .max_by(|(_, one), (_, other)| one.total_cmp(other))
        .map(|(name, _)| name)
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn a_misspelt_name_finds_its_own_and_a_strange_one_none() {
        let known = [
            "listen",
            "max_connections",
            "refresh_interval_s",
            "mapping",
            "skills",
        ];
        for (given, meant) in [
            ("lisen", Some("listen")),
            ("Listen", Some("listen")),
            ("max_conections", Some("max_connections")),
            ("refresh_interval_seconds", Some("refresh_interval_s")),
            ("refresh_interval", Some("refresh_interval_s")),
            ("mappings", Some("mapping")),
            ("skils", Some("skills")),
            ("colour", None),
            ("", None),
        ] {
            assert_eq!(nearest(given, known), meant, "{given}");
        }
    }
}
