//! The answer to a lead, and the same answer again. Must not store it.

use serde_json::{Map, Value, json};

use super::LeadError;
use super::record::Receiver;
use super::scheduling::Booking;
use super::settings::Settings;
use crate::contract::request::LeadRequest;
use crate::contract::{Answer, ErrorCode, Skill};

/// The longest `message` (contract section 6.6).
const MESSAGE_CHARS: usize = 2000;

/// The answer to a lead that is accepted for follow-up. Nothing in it promises a booking (AAP-468).
pub(super) fn received(
    lead_id: &str,
    appointment_id: &str,
    request: &LeadRequest,
    receiver: &Receiver,
    settings: &Settings,
) -> Value {
    let mut data = Map::new();
    data.insert("lead_id".into(), lead_id.into());
    data.insert("status".into(), "received".into());
    if request.payload.get("appointment").is_some() {
        let mut appointment = Map::new();
        appointment.insert("appointment_id".into(), appointment_id.into());
        appointment.insert("status".into(), "requested".into());
        data.insert("appointment".into(), Value::Object(appointment));
    }
    let mut dealer = Map::new();
    dealer.insert("name".into(), receiver.name.as_str().into());
    if let Some(phone) = receiver.phone.as_deref().filter(|phone| is_e164(phone)) {
        dealer.insert("phone".into(), phone.into());
    }
    data.insert("dealer".into(), Value::Object(dealer));
    let mut answer = Map::new();
    answer.insert("type".into(), Skill::LeadSubmit.response_type().into());
    answer.insert("data".into(), Value::Object(data));
    answer.insert(
        "message".into(),
        message(request, receiver, settings).into(),
    );
    Value::Object(answer)
}

/// The same answer with what became of its appointment.
pub(super) fn with_booking(mut answer: Value, booking: &Booking) -> Value {
    let rejected = booking.declines_lead();
    if let Some(data) = answer.get_mut("data").and_then(Value::as_object_mut) {
        if rejected {
            data.insert("status".into(), "rejected".into());
        }
        let appointment = data.get_mut("appointment").and_then(Value::as_object_mut);
        if let Some(appointment) = appointment {
            appointment.extend(booking.members());
        }
    }
    if rejected && let Some(answer) = answer.as_object_mut() {
        let words = "No appointment could be made, and the inquiry was not passed on.";
        answer.insert("message".into(), words.into());
    }
    answer
}

/// The stored outcome of an inquiry that was refused because no time could be had for it. It is no answer: an
/// error has an id of its own each time, so what is kept is what the error says (AAP-471, AAP-477).
pub(super) fn no_time(lead_id: &str) -> String {
    let code = ErrorCode::AppointmentTimeUnavailable.id();
    json!({ "type": "aap.error", "code": code, "lead_id": lead_id }).to_string()
}

/// What is stored, as it was answered first.
pub(super) fn stored(original: &str) -> Result<Answer, LeadError> {
    read(original).map(|answer| Answer::from_value(&answer))
}

/// What is stored with `data.replayed: true` and nothing else changed (AAP-476).
pub(super) fn replayed(original: &str) -> Result<Answer, LeadError> {
    let mut answer = read(original)?;
    let data = answer.get_mut("data").and_then(Value::as_object_mut);
    data.ok_or_else(unreadable)?
        .insert("replayed".into(), true.into());
    Ok(Answer::from_value(&answer))
}

fn read(original: &str) -> Result<Value, LeadError> {
    let answer: Value = serde_json::from_str(original).map_err(|_| unreadable())?;
    if answer.get("type").is_some_and(|kind| kind == "aap.error") {
        return Err(LeadError::NoTime);
    }
    Ok(answer)
}

fn unreadable() -> LeadError {
    LeadError::Store("an unreadable stored answer".to_owned())
}

fn message(request: &LeadRequest, receiver: &Receiver, settings: &Settings) -> String {
    let honoured = |channel: &&String| settings.honoured_channels.contains(channel);
    let channels: Vec<&str> = request
        .consent
        .allowed_channels
        .iter()
        .filter(honoured)
        .map(|channel| match channel.as_str() {
            "email" => "e-mail",
            "sms" => "text message",
            other => other,
        })
        .collect();
    let usual = "Your inquiry was received. {dealer} will reply by {channels}.";
    let text = settings.answer_message.as_deref().unwrap_or(usual);
    let text = text
        .replace("{channels}", &channels.join(" or "))
        .replace("{dealer}", &receiver.name);
    text.chars().take(MESSAGE_CHARS).collect()
}

/// The form of `data.dealer.phone`.
pub(super) fn is_e164(phone: &str) -> bool {
    let Some(digits) = phone.strip_prefix('+') else {
        return false;
    };
    (2..=15).contains(&digits.len())
        && digits.bytes().all(|byte| byte.is_ascii_digit())
        && !digits.starts_with('0')
}
