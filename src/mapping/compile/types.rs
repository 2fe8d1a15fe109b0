//! What a field's last step gives against what its member takes: a mapping that could never fill a member does not
//! load. Must not run a step.

use super::super::field::Kind;
use super::super::finish::finish;
use super::super::model::Origin;
use super::super::step::{Entry, Step, TextStep, name_of};
use super::Compiler;

/// What a step gives.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Gives {
    Text,
    Number,
    Truth,
    List,
    /// It depends on the value.
    Unknown,
}

impl Compiler {
    /// Adds what cannot work about a field whose origin and steps are known.
    pub(super) fn types(&mut self, at: &str, kind: Kind, origin: &Origin, steps: &[Step]) {
        if let (Origin::Constant(value), []) = (origin, steps)
            && let Err(reason) = finish(kind, value.clone())
        {
            let remedy = format!("the value must be {}", named(kind));
            self.findings.add(format!("{at}.value"), reason, remedy);
        }
        for (index, step) in steps.iter().enumerate() {
            let at = format!("{at}.steps[{index}]");
            let last = index + 1 == steps.len();
            if let Step::Default(value) = step
                && last
                && let Err(reason) = finish(kind, value.clone())
            {
                let reason = format!("the default {reason}");
                self.findings
                    .add(&at, reason, format!("it must be {}", named(kind)));
            }
            if let (Step::Table { table, .. }, true) = (step, last) {
                self.entries(&at, kind, &table.0);
            }
        }
        let result = steps
            .iter()
            .rev()
            .find(|step| !matches!(step, Step::Default(_)));
        if let Some(step) = result
            && !takes(kind, gives(step))
        {
            let reason = format!("`{}` does not give {}", name_of(step), named(kind));
            let remedy = "end with a step that does; see the steps in the mapping reference";
            self.findings.add(at, reason, remedy);
        }
    }

    /// Each value of a code table that ends a field must be one that the member takes.
    fn entries(
        &mut self,
        at: &str,
        kind: Kind,
        entries: &std::collections::HashMap<String, Entry>,
    ) {
        let mut wrong: Vec<(&String, String)> = entries
            .iter()
            .filter_map(|(code, entry)| match entry {
                Entry::Value(value) => Some((code, finish(kind, value.clone()).err()?)),
                Entry::Hide(_) => None,
            })
            .collect();
        wrong.sort();
        for (code, reason) in wrong {
            let reason = format!("the table's value for \"{code}\" {reason}");
            let remedy = "correct the entry, or write { hide = \"reason\" } for what is not shown";
            self.findings.add(at, reason, remedy);
        }
    }
}

fn gives(step: &Step) -> Gives {
    match step {
        Step::Number(_)
        | Step::WholeDollars(_)
        | Step::Round
        | Step::Century(_)
        | Step::Measure { .. } => Gives::Number,
        Step::Boolean(_) => Gives::Truth,
        Step::Split(_) | Step::Dedupe | Step::Limit(_) => Gives::List,
        Step::Date(_)
        | Step::Time(_)
        | Step::DateTime { .. }
        | Step::Template(_)
        | Step::Extract(_)
        | Step::Text(TextStep::StripHtml) => Gives::Text,
        // Text steps and the like leave what is no text as it is.
        Step::Text(_)
        | Step::FixEncoding
        | Step::Json
        | Step::First
        | Step::Sentinel { .. }
        | Step::Default(_)
        | Step::Table { .. }
        | Step::Replace(..)
        | Step::Expr(_)
        | Step::Urls(_)
        | Step::Pick(_) => Gives::Unknown,
    }
}

fn takes(kind: Kind, gives: Gives) -> bool {
    match kind {
        Kind::Any => true,
        // A list step leaves a text that is no list as it is; a list as such is never a text.
        Kind::Text
        | Kind::Word(_)
        | Kind::Date
        | Kind::Url
        | Kind::Zone
        | Kind::Clock
        | Kind::Instant
        | Kind::Label => {
            !matches!(gives, Gives::Truth | Gives::List)
                && (gives != Gives::Number || matches!(kind, Kind::Text | Kind::Label))
        }
        Kind::Whole { .. } | Kind::Amount | Kind::Degrees(_) => {
            !matches!(gives, Gives::Truth | Gives::List)
        }
        Kind::Flag => matches!(gives, Gives::Truth | Gives::Unknown),
        Kind::Urls | Kind::Texts => !matches!(gives, Gives::Truth | Gives::Number),
    }
}

/// A kind as people call it.
fn named(kind: Kind) -> String {
    match kind {
        Kind::Text => "a text".to_owned(),
        Kind::Whole { min, max } => format!("a whole number from {min} to {max}"),
        Kind::Amount => "a number".to_owned(),
        Kind::Flag => "true or false".to_owned(),
        Kind::Word(words) => format!("one of {}", words.join(", ")),
        Kind::Date => "a date as YYYY-MM-DD".to_owned(),
        Kind::Url => "an http(s) address".to_owned(),
        Kind::Urls => "a list of http(s) addresses".to_owned(),
        Kind::Texts => "a list of texts".to_owned(),
        Kind::Any => "a text, a number, a truth value or a list".to_owned(),
        Kind::Degrees(bound) => format!("a number from -{bound} to {bound}"),
        Kind::Instant => "an instant, by a `datetime` step".to_owned(),
        Kind::Label => "a text of up to 120 characters".to_owned(),
        Kind::Zone => "an IANA time zone".to_owned(),
        Kind::Clock => "a time of day as HH:MM".to_owned(),
    }
}
