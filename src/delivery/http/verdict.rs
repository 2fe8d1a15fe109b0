//! What a receiver's answer means for one lead. Must not know how it was asked.

use minijinja::value::Serde;
use minijinja::{Environment, ErrorKind, UndefinedBehavior};
use serde_json::{Value, json};

use super::super::{DeliveryError, Outcome};
use crate::net::Response;

/// The most steps one expression may take.
const FUEL: u64 = 10_000;
/// The most of a body that expressions see.
const BODY_BYTES: usize = 64 * 1024;

/// How to read the answers of one receiver, as expressions over `status`, `media_type`, `body` (text) and
/// `json` (the parsed body, if it is JSON). They are asked in this order; the first that holds decides.
#[derive(Clone, Debug, Default)]
pub struct Rules {
    /// The receiver has the lead, e.g. `status == 200 and json.success and json.parseOk`.
    pub delivered: Option<String>,
    /// It certainly has not, and may be asked again, e.g. `status in [429, 500, 503]`.
    pub retry: Option<String>,
    /// It will never take it, e.g. `body is startingwith("ERROR")`.
    pub refused: Option<String>,
}

pub(super) struct Judge {
    environment: Environment<'static>,
    rules: Rules,
}

impl Judge {
    /// Tries each expression on an example.
    pub(super) fn new(rules: &Rules) -> Result<Self, DeliveryError> {
        let mut environment = Environment::new();
        // An answer without the member that an expression asks for is no success, and no error either.
        environment.set_undefined_behavior(UndefinedBehavior::Chainable);
        environment.set_fuel(Some(FUEL));
        let judge = Self {
            environment,
            rules: rules.clone(),
        };
        let example = json!({ "status": 200, "media_type": "", "json": {}, "body": "" });
        for (key, rule) in [
            ("delivered", &rules.delivered),
            ("retry", &rules.retry),
            ("refused", &rules.refused),
        ] {
            let Some(rule) = rule else { continue };
            let tried = judge
                .environment
                .compile_expression(rule)
                .and_then(|expression| expression.eval(Serde(&example)));
            if let Err(error) = tried
                && !depends_on_answer(error.kind())
            {
                let words = format!("expression {rule:?}: {error}");
                return Err(DeliveryError::Rule { key, words });
            }
        }
        Ok(judge)
    }

    pub(super) fn judge(&self, response: &Response) -> Outcome {
        let status = response.status.as_u16();
        let facts = facts(response);
        let said = format!("the receiver answered {status}");
        let holds =
            |rule: &Option<String>| rule.as_deref().is_some_and(|rule| self.holds(rule, &facts));
        if holds(&self.rules.delivered) {
            return Outcome::Delivered(said);
        }
        if holds(&self.rules.retry) {
            return Outcome::Retry(said);
        }
        if holds(&self.rules.refused) {
            return Outcome::Refused(said);
        }
        let page = facts
            .get("media_type")
            .is_some_and(|kind| kind == "text/html");
        match status {
            // Nothing says what a success looks like: a plain one will do, but not a page for people.
            200 | 201 | 202 | 204 if self.rules.delivered.is_none() && !page => {
                Outcome::Delivered(said)
            }
            200..300 => {
                Outcome::Unknown(format!("{said}, which its rules do not know as a success"))
            }
            429 => Outcome::Retry(said),
            300..500 => Outcome::Refused(said),
            _ => Outcome::Unknown(said),
        }
    }

    fn holds(&self, rule: &str, facts: &Value) -> bool {
        let value = self
            .environment
            .compile_expression(rule)
            .and_then(|expression| expression.eval(Serde(facts)));
        value.is_ok_and(|value| value.is_true())
    }
}

/// Whether an expression may fail on one answer and hold on another.
fn depends_on_answer(kind: ErrorKind) -> bool {
    matches!(
        kind,
        ErrorKind::InvalidOperation | ErrorKind::UndefinedError | ErrorKind::BadSerialization
    )
}

fn facts(response: &Response) -> Value {
    let shown = response.body.get(..BODY_BYTES).unwrap_or(&response.body);
    let body = String::from_utf8_lossy(shown);
    json!({
        "status": response.status.as_u16(),
        "media_type": response.media_type().unwrap_or_default(),
        "json": serde_json::from_slice::<Value>(&response.body).unwrap_or_default(),
        "body": body,
    })
}
