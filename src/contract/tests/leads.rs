//! What a lead may and must say.

use serde_json::{Value, json};

use super::*;

fn valid(change: impl FnOnce(&mut Value)) -> bool {
    let mut payload = lead();
    change(&mut payload);
    contract().validate(Skill::LeadSubmit, payload).is_ok()
}

fn code(change: impl FnOnce(&mut Value)) -> ErrorCode {
    let mut payload = lead();
    change(&mut payload);
    places(Skill::LeadSubmit, payload).0
}

// AAP-448: who calls makes no difference to what a lead must hold.
#[test]
fn customer_and_consent_are_never_left_out() {
    assert!(!valid(|lead| drop(
        lead.as_object_mut().unwrap().remove("customer")
    )));
    let without = |lead: &mut Value| drop(lead.as_object_mut().unwrap().remove("consent"));
    assert_eq!(code(without), ErrorCode::ContactConsentRequired);
}

// AAP-449
#[test]
fn vehicle_trade_in_and_appointment_combine_freely_and_each_in_part() {
    let parts = [
        ("vehicle_of_interest", json!({ "make": "Toyota" })),
        ("trade_in", json!({ "year": 2015 })),
        ("appointment", json!({ "appointment_type": "sales" })),
    ];
    for chosen in 0..8_u8 {
        let fits = valid(|lead| {
            for (bit, (name, part)) in parts.iter().enumerate() {
                if chosen & (1 << bit) != 0 {
                    lead[*name] = part.clone();
                }
            }
        });
        assert!(fits, "{chosen:03b}");
    }
}

// AAP-451
#[test]
fn an_appointment_has_one_of_four_types() {
    for kind in ["sales", "service", "test_drive", "trade_in"] {
        assert!(
            valid(|lead| lead["appointment"] = json!({ "appointment_type": kind })),
            "{kind}"
        );
    }
    for appointment in [
        json!({ "appointment_type": "lunch" }),
        json!({}),
        json!({ "notes": "x" }),
    ] {
        assert!(
            !valid(|lead| lead["appointment"] = appointment.clone()),
            "{appointment}"
        );
    }
}

// AAP-452
#[test]
fn a_message_ends_at_four_thousand_characters() {
    assert!(valid(|lead| lead["message"] = "ä".repeat(4000).into()));
    assert!(!valid(|lead| lead["message"] = "a".repeat(4001).into()));
}

// AAP-454
#[test]
fn a_grant_is_for_lead_submission_over_at_least_one_channel() {
    for scope in [
        json!([]),
        json!(["marketing"]),
        json!(["lead_submission", "marketing"]),
    ] {
        assert!(
            !valid(|lead| lead["consent"]["scope"] = scope.clone()),
            "{scope}"
        );
    }
    for channels in [json!([]), json!(["fax"]), json!(["email", "email"])] {
        assert!(
            !valid(|lead| lead["consent"]["allowed_channels"] = channels.clone()),
            "{channels}"
        );
    }
}

// AAP-457
#[test]
fn each_channel_has_its_value_and_the_preferred_one_is_allowed() {
    let channels = |channels: Value, phone: bool, preferred: &'static str| {
        move |lead: &mut Value| {
            lead["consent"]["allowed_channels"] = channels;
            lead["customer"]["preferred_contact"] = preferred.into();
            if phone {
                lead["customer"]["phone"] = "+15035550142".into();
            }
        }
    };
    assert!(valid(channels(
        json!(["email", "phone", "sms"]),
        true,
        "sms"
    )));
    assert!(valid(channels(json!(["email"]), true, "any")));
    for refused in [
        channels(json!(["phone"]), false, "any"),
        channels(json!(["sms"]), false, "any"),
        channels(json!(["email"]), true, "phone"),
        channels(json!(["phone"]), true, "sms"),
    ] {
        assert_eq!(code(refused), ErrorCode::InvalidConsent);
    }
    let no_address = |lead: &mut Value| {
        lead["customer"].as_object_mut().unwrap().remove("email");
        lead["customer"]["preferred_contact"] = "any".into();
        lead["customer"]["phone"] = "+15035550142".into();
    };
    assert_eq!(code(no_address), ErrorCode::InvalidConsent);
}

// AAP-460
#[test]
fn a_grant_ends_after_it_began() {
    let ends = |at: &'static str| move |lead: &mut Value| lead["consent"]["expires_at"] = at.into();
    assert!(valid(ends("2026-10-24T15:00:01Z")));
    // the same moment, and an earlier one written with an offset that looks later
    for at in ["2026-10-24T15:00:00Z", "2026-10-24T16:59:59+02:00"] {
        assert_eq!(code(ends(at)), ErrorCode::InvalidConsent, "{at}");
    }
}

// AAP-463
#[test]
fn a_label_is_no_consent() {
    let labelled = |lead: &mut Value| {
        lead.as_object_mut().unwrap().remove("consent");
        lead["source_agent"] =
            json!({ "name": "agent with consent", "url": "https://agent.example/" });
    };
    assert_eq!(code(labelled), ErrorCode::ContactConsentRequired);
}

// AAP-465
#[test]
fn duplicate_is_no_status() {
    let answer = |status: &str| json!({ "type": "lead.submit.response", "data": { "lead_id": "l", "status": status } });
    for (status, fits) in [("received", true), ("rejected", true), ("duplicate", false)] {
        let checked = contract().check_answer(Skill::LeadSubmit, &answer(status));
        assert_eq!(checked.is_ok(), fits, "{status}");
    }
}

// AAP-467 AAP-469
#[test]
fn an_appointments_status_brings_what_belongs_to_it() {
    let fits = |lead_status: &str, appointment: Value| {
        let mut appointment = appointment;
        appointment["appointment_id"] = "a".into();
        let answer = json!({
            "type": "lead.submit.response",
            "data": { "lead_id": "l", "status": lead_status, "appointment": appointment }
        });
        contract().check_answer(Skill::LeadSubmit, &answer).is_ok()
    };
    let time = "2026-12-01T10:00:00-08:00";
    assert!(fits(
        "received",
        json!({ "status": "confirmed", "confirmed_at": time })
    ));
    assert!(!fits("received", json!({ "status": "confirmed" })));
    assert!(fits(
        "received",
        json!({ "status": "proposed", "proposed_times": [time] })
    ));
    assert!(!fits(
        "received",
        json!({ "status": "proposed", "proposed_times": [] })
    ));
    assert!(!fits(
        "received",
        json!({ "status": "requested", "confirmed_at": time })
    ));
    assert!(fits("received", json!({ "status": "rejected" })));
    assert!(fits("rejected", json!({ "status": "rejected" })));
    for status in ["requested", "confirmed", "proposed"] {
        assert!(!fits("rejected", json!({ "status": status })), "{status}");
    }
}
