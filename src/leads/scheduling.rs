//! Asks a scheduling system about an appointment and reads what it says. What it did not clearly say is no
//! booking: the appointment stays requested, and a person settles it. Must not store.

use std::time::Duration;

use jiff::Timestamp;
use minijinja::value::Serde;
use minijinja::{Environment, UndefinedBehavior};
use serde_json::{Map, Value, json};

use super::record::Record;
use super::settings::{Scheduling, SchedulingAnswer};
use crate::delivery::{DeliveryError, Exchange, Reply};

/// The most steps one expression may take.
const FUEL: u64 = 10_000;
/// The most alternatives that are passed on.
const MAX_TIMES: usize = 20;

/// What became of the appointment, and with `LeadRejected` and `NoTime` of the whole inquiry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Booking {
    Requested,
    Proposed(Vec<String>),
    Confirmed(String),
    Rejected,
    LeadRejected,
    /// Neither the wished time nor another can be had, and nothing is taken without one.
    NoTime,
}

impl Booking {
    /// Whether the inquiry was not taken, so that it is delivered nowhere.
    pub(super) fn declines_lead(&self) -> bool {
        matches!(self, Self::LeadRejected | Self::NoTime)
    }

    /// The members that go beside `appointment_id` (AAP's `AppointmentOutcome`).
    pub(super) fn members(&self) -> Map<String, Value> {
        let (status, more) = match self {
            Self::Requested => ("requested", None),
            Self::Proposed(times) => ("proposed", Some(("proposed_times", json!(times)))),
            Self::Confirmed(at) => ("confirmed", Some(("confirmed_at", json!(at)))),
            Self::Rejected | Self::LeadRejected | Self::NoTime => ("rejected", None),
        };
        let mut members = Map::new();
        members.insert("status".to_owned(), status.into());
        if let Some((name, value)) = more {
            members.insert(name.to_owned(), value);
        }
        members
    }
}

/// The hook, ready to be asked.
#[derive(Debug)]
pub(super) struct Hook {
    settings: Scheduling,
    exchange: Exchange,
    environment: Environment<'static>,
}

/// The ids that the question names.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ids<'a> {
    pub(super) lead: &'a str,
    pub(super) appointment: &'a str,
    /// The same at a retry, for a system that knows it again.
    pub(super) key: &'a str,
}

/// What is wrong with the settings of a hook; opens nothing.
pub(super) fn check(settings: &Scheduling) -> Result<(), DeliveryError> {
    settings.http.check()?;
    let environment = environment();
    let answer = &settings.answer;
    let rules = [
        Some(&answer.outcome),
        answer.confirmed_at.as_ref(),
        answer.proposed_times.as_ref(),
        answer.reject_lead.as_ref(),
    ];
    let asked = settings.request.iter().map(|(_, rule)| rule);
    for rule in rules.into_iter().flatten().chain(asked) {
        let compiled = environment.compile_expression(rule);
        compiled.map_err(|error| {
            DeliveryError::Http(format!("scheduling expression {rule:?}: {error}"))
        })?;
    }
    Ok(())
}

impl Hook {
    /// Expressions were checked with the other settings.
    pub(super) fn open(settings: &Scheduling) -> Result<Self, DeliveryError> {
        Ok(Self {
            exchange: Exchange::new(&settings.http)?,
            settings: settings.clone(),
            environment: environment(),
        })
    }

    pub(super) fn timeout(&self) -> Duration {
        self.settings.timeout
    }

    /// Asks once. An error says why nothing is known; it holds no customer data.
    pub(super) async fn ask(&self, record: &Record, ids: Ids<'_>) -> Result<Booking, String> {
        let body = self.question(record, ids)?.to_string();
        let asking = self.exchange.ask(&body, ids.key);
        let reply = tokio::time::timeout(self.settings.timeout, asking)
            .await
            .map_err(|_| "the scheduling system did not answer in time".to_owned())??;
        self.read(&reply)
    }

    fn question(&self, record: &Record, ids: Ids<'_>) -> Result<Value, String> {
        let facts = json!({
            "lead": record.request, "vehicle": record.listing, "dealer": record.receiver,
            "lead_id": ids.lead, "appointment_id": ids.appointment, "key": ids.key,
        });
        if self.settings.request.is_empty() {
            let part = |name: &str| record.request.get(name).cloned().unwrap_or_default();
            return Ok(json!({
                "idempotency_key": ids.key,
                "lead_id": ids.lead,
                "appointment_id": ids.appointment,
                "rooftop": record.receiver.rooftop,
                "appointment": part("appointment"),
                "vehicle_of_interest": part("vehicle_of_interest"),
                "customer": part("customer"),
            }));
        }
        let mut members = Map::new();
        for (name, rule) in &self.settings.request {
            let value = self
                .value(rule, &facts)
                .ok_or_else(|| format!("the expression for {name:?} does not fit this inquiry"))?;
            members.insert(name.clone(), value);
        }
        Ok(Value::Object(members))
    }

    fn read(&self, reply: &Reply) -> Result<Booking, String> {
        let SchedulingAnswer {
            outcome,
            confirmed_at,
            proposed_times,
            reject_lead,
        } = &self.settings.answer;
        let facts = json!({ "status": reply.status, "json": reply.json, "body": reply.body });
        let ask = |rule: &Option<String>| self.value(rule.as_deref()?, &facts);
        if ask(reject_lead) == Some(Value::Bool(true)) {
            return Ok(Booking::LeadRejected);
        }
        let unclear = || {
            format!(
                "the scheduling system answered {}, which says nothing clear",
                reply.status
            )
        };
        let said = self.value(outcome, &facts).ok_or_else(unclear)?;
        match said.as_str() {
            Some("requested") => Ok(Booking::Requested),
            Some("rejected") => Ok(Booking::Rejected),
            Some("unavailable") => Ok(Booking::NoTime),
            Some("confirmed") => {
                let at = ask(confirmed_at).and_then(|at| time(&at));
                at.map(Booking::Confirmed).ok_or_else(unclear)
            }
            Some("proposed") => {
                let times = ask(proposed_times).as_ref().and_then(times);
                times.map(Booking::Proposed).ok_or_else(unclear)
            }
            Some(_) | None => Err(unclear()),
        }
    }

    fn value(&self, rule: &str, facts: &Value) -> Option<Value> {
        let compiled = self.environment.compile_expression(rule).ok()?;
        let value = compiled.eval(Serde(facts)).ok()?;
        if value.is_undefined() {
            return None;
        }
        serde_json::to_value(&value).ok()
    }
}

fn environment() -> Environment<'static> {
    let mut environment = Environment::new();
    // An answer without a member that an expression asks for says nothing, which is no error.
    environment.set_undefined_behavior(UndefinedBehavior::Chainable);
    environment.set_fuel(Some(FUEL));
    environment
}

/// A time with its offset, as AAP writes times.
fn time(value: &Value) -> Option<String> {
    let text = value.as_str()?;
    text.parse::<Timestamp>().ok().map(|_| text.to_owned())
}

fn times(value: &Value) -> Option<Vec<String>> {
    let times: Vec<String> = value.as_array()?.iter().map(time).collect::<Option<_>>()?;
    (!times.is_empty() && times.len() <= MAX_TIMES).then_some(times)
}

#[cfg(test)]
mod tests;
