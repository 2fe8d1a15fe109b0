//! What was found, check by check, for people and for machines. Must not look at anything itself.

use std::fmt::Write as _;

use serde_json::{Value, json};

/// How a check ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    Good,
    /// Works, but not for everybody or not for good.
    Warning,
    Fault,
}

impl Verdict {
    fn mark(self) -> &'static str {
        match self {
            Self::Good => "√",
            Self::Warning => "‼",
            Self::Fault => "×",
        }
    }

    fn id(self) -> &'static str {
        match self {
            Self::Good => "ok",
            Self::Warning => "warning",
            Self::Fault => "fault",
        }
    }
}

/// One thing that should hold.
#[derive(Clone, Debug)]
pub struct Check {
    pub section: &'static str,
    /// Stable, for machines.
    pub id: String,
    /// What should hold.
    pub claim: String,
    pub verdict: Verdict,
    /// What was seen instead.
    pub reason: Option<String>,
    pub remedy: Option<&'static str>,
}

/// Everything that was looked at.
#[derive(Clone, Debug)]
pub struct Report {
    url: String,
    pub checks: Vec<Check>,
}

/// Longest reason that is shown: what a stranger's document says has no end of its own.
const MAX_REASON: usize = 600;

impl Report {
    pub(super) fn new(url: &str) -> Self {
        Self {
            url: url.to_owned(),
            checks: Vec::new(),
        }
    }

    /// Notes that something holds.
    pub(super) fn good(&mut self, section: &'static str, id: &str, claim: impl Into<String>) {
        self.note((section, id), claim, Verdict::Good, None);
    }

    /// Notes that something works only so far.
    pub(super) fn warn(
        &mut self,
        place: (&'static str, &str),
        claim: impl Into<String>,
        reason: impl Into<String>,
        remedy: &'static str,
    ) {
        let why = Some((reason.into(), remedy));
        self.note(place, claim, Verdict::Warning, why);
    }

    /// Notes that something does not hold.
    pub(super) fn fault(
        &mut self,
        place: (&'static str, &str),
        claim: impl Into<String>,
        reason: impl Into<String>,
        remedy: &'static str,
    ) {
        let why = Some((reason.into(), remedy));
        self.note(place, claim, Verdict::Fault, why);
    }

    /// Notes a check by its outcome.
    pub(super) fn outcome(
        &mut self,
        place: (&'static str, &str),
        claim: &str,
        outcome: Result<(), String>,
        remedy: &'static str,
    ) {
        match outcome {
            Ok(()) => self.good(place.0, place.1, claim),
            Err(reason) => self.fault(place, claim, reason, remedy),
        }
    }

    fn note(
        &mut self,
        (section, id): (&'static str, &str),
        claim: impl Into<String>,
        verdict: Verdict,
        why: Option<(String, &'static str)>,
    ) {
        self.checks.push(Check {
            section,
            id: id.to_owned(),
            claim: claim.into(),
            verdict,
            reason: why.as_ref().map(|(reason, _)| printable(reason)),
            remedy: why.map(|(_, remedy)| remedy),
        });
    }

    fn count(&self, verdict: Verdict) -> usize {
        let counted = self.checks.iter().filter(|check| check.verdict == verdict);
        counted.count()
    }

    /// How many things do not hold.
    pub fn findings(&self) -> usize {
        self.count(Verdict::Fault)
    }

    /// The report for people.
    pub(super) fn text(&self) -> String {
        let mut text = format!("{}\n", self.url);
        let mut section = "";
        // Writing to a string cannot fail.
        for check in &self.checks {
            if check.section != section {
                section = check.section;
                let _fine = writeln!(text, "\n{section}");
            }
            let _fine = writeln!(text, "  {} {}", check.verdict.mark(), check.claim);
            if let Some(reason) = &check.reason {
                let _fine = writeln!(text, "      {reason}");
            }
            if let Some(remedy) = check.remedy {
                let _fine = writeln!(text, "      » {remedy}");
            }
        }
        let (faults, warnings) = (self.findings(), self.count(Verdict::Warning));
        let mark = if faults == 0 { "√" } else { "×" };
        let _fine = write!(text, "\n{mark} {faults} findings, {warnings} warnings");
        text
    }

    /// The report for machines.
    pub(super) fn to_value(&self) -> Value {
        let checks = self.checks.iter().map(|check| {
            json!({
                "section": check.section, "id": check.id, "claim": check.claim,
                "verdict": check.verdict.id(), "reason": check.reason, "remedy": check.remedy,
            })
        });
        json!({
            "schema_version": 1,
            "url": self.url,
            "ok": self.findings() == 0,
            "findings": self.findings(),
            "warnings": self.count(Verdict::Warning),
            "checks": checks.collect::<Vec<_>>(),
        })
    }
}

/// A stranger's words on one line, without what would command a terminal.
fn printable(text: &str) -> String {
    let mut line: String = text
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .take(MAX_REASON)
        .collect();
    if text.chars().count() > MAX_REASON {
        line.push('…');
    }
    line
}
