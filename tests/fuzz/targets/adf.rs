//! Leads as ADF documents, and back: what is written is a valid document that says what the buyer said.

use std::sync::{Arc, LazyLock};

use forecourt::contract::request::Request;
use forecourt::contract::{Contract, Skill, json};
use forecourt::delivery::Content;
use forecourt::leads::adf::{RenderError, render};
use forecourt::leads::{AdfProfile, Receiver, Record, RecordedCaller, Settings};
use serde_json::Value;

use super::halves;

static CONTRACT: LazyLock<Arc<Contract>> = LazyLock::new(|| Contract::v3_0().unwrap());

/// The profiles that come with the program and keep every letter.
const SHIPPED: [&str; 4] = [
    "standard",
    "lead-network",
    "attachment",
    "condition-element",
];

/// A lead in texts: names, address, vehicle, agent, each on its line, and the rest is the message.
fn lead(text: &str) -> Value {
    let mut lead: Value = serde_json::from_str(include_str!(
        "../../data/fixtures/lead.request.adf-worked-example.json"
    ))
    .unwrap();
    let mut lines = text.splitn(11, '\n');
    for place in [
        "/customer/first_name",
        "/customer/last_name",
        "/customer/address/address_line_1",
        "/customer/address/city",
        "/vehicle_of_interest/make",
        "/vehicle_of_interest/model",
        "/vehicle_of_interest/trim",
        "/vehicle_of_interest/body",
        "/trade_in/make",
        "/source_agent/name",
        "/message",
    ] {
        if let (Some(line), Some(member)) = (lines.next(), lead.pointer_mut(place)) {
            *member = line.into();
        }
    }
    lead
}

/// A lead (JSON, or texts in lines) for a shipped profile, or after a profile's own TOML.
pub fn adf(bytes: &[u8]) {
    let (own, rest) = halves(bytes);
    let (profile, bytes) = match (std::str::from_utf8(own), rest) {
        (Ok(text), Some(rest)) => match AdfProfile::parse("fuzzed", text) {
            Ok(profile) => (profile, rest),
            Err(error) => {
                assert!(!error.to_string().is_empty());
                return;
            }
        },
        (Err(_), Some(_)) => return,
        (_, None) => (AdfProfile::named(SHIPPED[bytes.len() % 4]).unwrap(), bytes),
    };
    let request = match std::str::from_utf8(bytes) {
        Ok(text) if text.starts_with('{') => json::read(bytes).ok(),
        Ok(text) => Some(lead(text)),
        Err(_) => None,
    };
    let accepted = request.map(|request| CONTRACT.validate(Skill::LeadSubmit, request));
    let Some(Ok(Request::LeadSubmit(accepted))) = accepted else {
        return;
    };
    check(&accepted.payload, &profile, rest.is_some());
}

fn check(request: &Value, profile: &AdfProfile, is_own: bool) {
    let record = Record {
        request: request.clone(),
        caller: RecordedCaller::Anonymous,
        receiver: Receiver {
            name: "Demo Auto Group".to_owned(),
            rooftop: "Demo Toyota".to_owned(),
            timezone: Some("America/Los_Angeles".to_owned()),
            contact_name: Some("Sales".to_owned()),
            phone: Some("+14155550100".to_owned()),
            ..Receiver::default()
        },
        listing: None,
        booking: None,
    };
    let settings = Settings::new("demo", Vec::new());
    let at = "2026-04-30T10:16:00Z".parse().unwrap();
    let rendered = match render("lead_0001", at, &record, profile, &settings) {
        Ok(rendered) => rendered,
        Err(RenderError::Profile(_)) if is_own => return,
        Err(error) => panic!("{error}"),
    };
    let Content::Adf(document) = rendered.content else {
        return;
    };
    assert!(
        document.len() < 64 * 1024 + 16 * request.to_string().len(),
        "an unbounded document"
    );
    let parsed = ::adf::parse(&document).unwrap();
    let found: Vec<_> = parsed
        .validate_adf_1_0()
        .issues
        .into_iter()
        .map(|issue| issue.message)
        .collect();
    assert!(found.is_empty(), "{found:?}\n{document}");
    let prospect = &parsed.adf().prospects[0];
    let wanted = &request["vehicle_of_interest"];
    // what has no letters may be no vehicle
    let said = |name: &str| {
        wanted[name]
            .as_str()
            .is_some_and(|text| !words(text).is_empty())
    };
    if !is_own && said("make") && said("model") && wanted["year"].is_number() {
        let vehicle = &prospect.vehicles[0];
        for (heard, said) in [
            (&vehicle.make, &wanted["make"]),
            (&vehicle.model, &wanted["model"]),
        ] {
            let (heard, said) = (heard.as_ref(), said.as_str());
            if let (Some(heard), Some(said)) = (heard, said) {
                assert_eq!(words(&text(heard)), words(said), "{document}");
            }
        }
        if let Some(message) = request["message"].as_str() {
            let comments = prospect.customer.as_ref().unwrap().comments.as_ref();
            let heard = comments.map(text).unwrap_or_default();
            assert!(words(&heard).starts_with(&words(message)), "{document}");
        }
    }
}

/// The text of an element as the other library reads it.
fn text(element: &::adf::TextElement<'_>) -> String {
    let part = |part: &::adf::TextPart<'_>| {
        let ::adf::TextPart::Text(text) = part else {
            panic!("not plain text: {part:?}")
        };
        text.clone().into_owned()
    };
    element.parts.iter().map(part).collect()
}

/// What every reader must hear alike: letters and digits.
fn words(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).collect()
}
