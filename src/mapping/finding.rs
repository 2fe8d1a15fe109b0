//! What is wrong with a mapping file: key, reason, remedy. Must not decide what is wrong.

use std::fmt;

/// One thing that keeps a mapping from loading.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Where in the file, e.g. `fields.vin.steps[1]`.
    pub key: String,
    /// What is wrong.
    pub reason: String,
    /// What to do about it.
    pub remedy: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}; {}", self.key, self.reason, self.remedy)
    }
}

/// Collects findings, so that a technician sees all of them at once.
#[derive(Debug, Default)]
pub(super) struct Findings(pub(super) Vec<Finding>);

impl Findings {
    pub(super) fn add(
        &mut self,
        key: impl Into<String>,
        reason: impl Into<String>,
        remedy: impl Into<String>,
    ) {
        self.0.push(Finding {
            key: key.into(),
            reason: reason.into(),
            remedy: remedy.into(),
        });
    }
}

/// "did you mean" for a misspelt word, or the list of what is allowed.
pub(super) fn suggest<'a>(word: &str, known: impl Iterator<Item = &'a str> + Clone) -> String {
    let nearest = known
        .clone()
        .map(|candidate| {
            let score = strsim::jaro_winkler(&word.to_lowercase(), &candidate.to_lowercase());
            (score, candidate)
        })
        .max_by(|a, b| a.0.total_cmp(&b.0));
    match nearest {
        Some((score, candidate)) if score > 0.75 => format!("did you mean `{candidate}`?"),
        _ => {
            let mut all: Vec<&str> = known.take(40).collect();
            all.sort_unstable();
            format!("known here: {}", all.join(", "))
        }
    }
}
