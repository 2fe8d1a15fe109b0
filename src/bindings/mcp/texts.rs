//! The words an agent reads that has never heard of AAP: what each tool does, when to use it, what to ask
//! the buyer first. Must not promise what the deployment does not offer.

use std::time::Duration;

use crate::contract::Skill;
use crate::deployment::Deployment;

/// A tool's words.
#[derive(Debug)]
pub(super) struct ToolText {
    pub(super) title: &'static str,
    pub(super) description: String,
}

/// What the whole endpoint is for.
pub(super) fn instructions(deployment: &Deployment) -> String {
    let mut text = format!(
        "This server answers for {}, a vehicle seller, under the Auto Agent Protocol {}. \
         Reading inventory needs {}no personal data. Say only what the answers say: a missing \
         field is unknown, `price` already includes the seller's mandatory charges, and only `status` tells \
         whether a vehicle is on offer.",
        deployment.name(),
        deployment.contract.version(),
        if deployment.public_read() {
            "no sign-in and "
        } else {
            ""
        },
    );
    text.push_str(
        " A result whose type is aap.error says in details.errors what to correct, each with its place; \
         repeat the same call only when it says retryable.",
    );
    if deployment.offers(Skill::InventoryFacets) && deployment.offers(Skill::InventorySearch) {
        text.push_str(
            " Start with aap_inventory_facets to learn which filter values and feature codes exist, then use aap_inventory_search.",
        );
    }
    if deployment.offers(Skill::LeadSubmit) {
        text.push_str(
            " Contact the seller with aap_lead_submit only after the buyer has agreed, in this conversation, to be contacted by the channels you name.",
        );
    }
    if let Some(own) = &deployment.mcp.instructions {
        text.push(' ');
        text.push_str(own);
    }
    text
}

/// The words of one skill's tool.
pub(super) fn tool(deployment: &Deployment, skill: Skill) -> ToolText {
    let (title, description) = match skill {
        Skill::DealerInformation => ("Dealer information", dealer_information(deployment)),
        Skill::InventoryFacets => ("Inventory filters and counts", inventory_facets(deployment)),
        Skill::InventorySearch => ("Search vehicles", inventory_search(deployment)),
        Skill::InventoryVehicle => ("Vehicle details", inventory_vehicle(deployment)),
        Skill::LeadSubmit => ("Contact the dealer", lead_submit(deployment)),
    };
    ToolText { title, description }
}

fn dealer_information(deployment: &Deployment) -> String {
    format!(
        "Tells who {} is: its locations with address, telephone, opening hours, time zone and usual fees. Use it \
         when the buyer asks where the seller is or when it is open, and before proposing an appointment. Opening \
         hours are local to each location; a day that is not listed is unknown, null means closed. Asks for no \
         personal data.{}",
        deployment.name(),
        example(Skill::DealerInformation),
    )
}

fn inventory_facets(deployment: &Deployment) -> String {
    format!(
        "Lists what the inventory of {} can be filtered by: makes, models, colours, price and year ranges, and the \
         feature codes that searches understand, each with its exact count. Use it before a search when you do not \
         know the seller's own spelling of a value or the code of a feature, or to tell the buyer what there is. \
         Counts cover every vehicle that matches the filters you send, not one page; without filters they cover \
         everything on offer.{}",
        deployment.name(),
        example(Skill::InventoryFacets),
    )
}

fn inventory_search(deployment: &Deployment) -> String {
    let mut text = format!(
        "Finds vehicles that {} has on offer now. Ask the buyer first what matters: kind of vehicle, new or used, \
         budget, distance, features that must be there. Filters are combined with AND; several values of one filter \
         mean any of them. Leave out what the buyer did not ask for. `price` is the advertised price with mandatory \
         charges included, in whole US dollars; a vehicle without a price never matches a price filter, so say so \
         rather than that there is none. `total` is exact. To read on, send the same arguments again with \
         pagination.cursor set to data.next_cursor until that is null. ",
        deployment.name()
    );
    if let Some(inventory) = &deployment.inventory {
        let offered = inventory.capabilities();
        let offers = |filter: &str| offered.filters.iter().any(|offered| offered == filter);
        if offers("features_all") {
            text.push_str(
                "A feature filter matches only vehicles whose source states the feature; take the codes from \
                 aap_inventory_facets. ",
            );
        }
        if offers("near") {
            text.push_str(
                "`near` takes coordinates, not a ZIP code: {\"latitude\":45.5,\"longitude\":-122.7,\"radius_mi\":25}. ",
            );
        }
        let words = format!(
            "Filters offered here: {}. Sort by {}. At most {} vehicles a page, {} when you do not say.",
            offered.filters.join(", "),
            offered.sort_fields.join(", "),
            offered.max_limit,
            offered.default_limit,
        );
        text.push_str(&words);
    }
    text.push_str(&example(Skill::InventorySearch));
    text
}

fn inventory_vehicle(deployment: &Deployment) -> String {
    format!(
        "Gives everything {} states about one vehicle, as it is now: price and fees, mileage, equipment with its \
         evidence, photos, availability. Use it before recommending a vehicle or contacting the seller about it, and \
         again when an earlier result is old. Send vehicle_id from a search result, or the VIN or stock number; \
         several identifiers must name the same vehicle. VEHICLE_UNAVAILABLE means that it was listed and is gone: \
         tell the buyer. The answer reserves nothing.{}",
        deployment.name(),
        example(Skill::InventoryVehicle),
    )
}

fn lead_submit(deployment: &Deployment) -> String {
    let retention = deployment.leads.as_ref().map(|leads| leads.retention());
    let sign_in = match &deployment.gates.mcp {
        Some(gate) => format!(
            " Needs an access token of {}; without one your client is asked to sign in, which does not replace the \
             buyer's agreement.",
            gate.issuer()
        ),
        None => String::new(),
    };
    format!(
        "Sends the buyer's inquiry to {}: a question, interest in a vehicle, a trade-in, or a wish for an \
         appointment. This passes personal data on and makes the seller contact the buyer.{sign_in} Before you call \
         it, show the buyer what will be sent and ask: may the seller contact you about this, and by which of email, \
         telephone or text message? Put exactly those channels into consent.allowed_channels, with the customer's \
         email or phone that each of them needs, the buyer's agreement in words into consent.consent_text, and the \
         time of agreement into consent.granted_at; scope is [\"lead_submission\"]. Never invent names, addresses or \
         agreement. For a vehicle, copy vehicle_id from a current listing. Choose a new idempotency_key, best a UUID, \
         for each inquiry. When the result is lost or uncertain, repeat exactly the same arguments with the same key: \
         keys are remembered for {}, and a repetition returns the first result with data.replayed true instead of \
         sending twice. An appointment with status requested is not booked: the seller has to confirm it.{}",
        deployment.name(),
        window(retention.unwrap_or_default()),
        example(Skill::LeadSubmit),
    )
}

fn example(skill: Skill) -> String {
    format!(" Example arguments: {}", example_arguments(skill))
}

/// Arguments that a call could be made with; a test holds them to the schema.
fn example_arguments(skill: Skill) -> &'static str {
    match skill {
        Skill::DealerInformation => r#"{"type":"dealer.information.request"}"#,
        Skill::InventoryFacets => {
            r#"{"type":"inventory.facets.request","filters":{"make":["Toyota"]}}"#
        }
        Skill::InventorySearch => {
            r#"{"type":"inventory.search.request","filters":{"condition":["used"],"price_max":35000,"status":["available"]},"sort":{"field":"price","order":"asc"},"pagination":{"limit":10}}"#
        }
        Skill::InventoryVehicle => {
            r#"{"type":"inventory.vehicle.request","vehicle_id":"D12:1042"}"#
        }
        Skill::LeadSubmit => {
            r#"{"type":"lead.submit.request","idempotency_key":"6f1c2f0a-8b0e-4c55-9a4e-2f6f0f3f9d10","customer":{"first_name":"Alex","last_name":"Example","email":"alex@example.com"},"consent":{"granted_at":"2026-11-30T10:15:00-08:00","allowed_channels":["email"],"consent_text":"Yes, the dealer may answer me by email.","scope":["lead_submission"]},"vehicle_of_interest":{"vehicle_id":"D12:1042"},"source_agent":{"name":"Example assistant"},"message":"Is it still there, and could I see it on Saturday?"}"#
        }
    }
}

/// A retention window in words (AAP-089).
fn window(retention: Duration) -> String {
    let hours = retention.as_secs() / 3600;
    if hours >= 48 && hours.is_multiple_of(24) {
        format!("{} days", hours / 24)
    } else {
        format!("{hours} hours")
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use crate::contract::Contract;

    #[test]
    fn every_example_is_a_request_that_the_contract_takes() {
        let contract = Contract::v3_0().unwrap();
        for skill in Skill::ALL {
            let arguments: Value = serde_json::from_str(example_arguments(skill)).unwrap();
            let taken = contract.validate(skill, arguments);
            assert!(taken.is_ok(), "{}: {taken:?}", skill.id());
        }
    }

    // AAP-089
    #[test]
    fn the_window_is_told_in_days_or_hours() {
        for (hours, words) in [
            (24, "24 hours"),
            (36, "36 hours"),
            (48, "2 days"),
            (168, "7 days"),
        ] {
            assert_eq!(window(Duration::from_hours(hours)), words);
        }
    }
}
