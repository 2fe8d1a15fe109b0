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
    let mut scored: Vec<(f64, &str)> = known
        .clone()
        .map(|candidate| {
            (
                likeness(&word.to_lowercase(), &candidate.to_lowercase()),
                candidate,
            )
        })
        .filter(|(score, _)| *score > 0.75)
        .collect();
    scored.sort_by(|a, b| b.0.total_cmp(&a.0));
    if scored.is_empty() {
        let mut all: Vec<&str> = known.take(40).collect();
        all.sort_unstable();
        return format!("known here: {}", all.join(", "));
    }
    let near: Vec<String> = scored
        .iter()
        .take(3)
        .map(|(_, candidate)| format!("`{candidate}`"))
        .collect();
    format!("did you mean {}?", near.join(" or "))
}

/// How alike two names are; an abbreviation (`stk` of `stock`) counts as near.
fn likeness(a: &str, b: &str) -> f64 {
    let (short, long) = if a.len() < b.len() { (a, b) } else { (b, a) };
    let mut letters = long.chars();
    let abbreviates = short.chars().count() > 2
        && short.chars().next() == long.chars().next()
        && short.chars().all(|wanted| letters.any(|c| c == wanted));
    let score = strsim::jaro_winkler(a, b);
    if abbreviates { score.max(0.9) } else { score }
}
