//! Errors of lower rooms become the automotive error here and nowhere else. Texts tell an agent what to
//! correct; what really happened stays in the private cause.

use crate::contract::{AapError, ErrorCode, Problem, Skill};
use crate::inventory::InventoryError;
use crate::leads::LeadError;
use crate::profile::Profile;

/// The skill is not implemented on this deployment.
pub fn unsupported_skill(skill: Skill) -> AapError {
    AapError::new(
        ErrorCode::UnsupportedSkill,
        format!("This dealer does not offer {}.", skill.id()),
    )
    .with_hint("Use one of the skills that the dealer's discovery documents or tool list name.")
}

/// No seller of this endpoint has the id at `pointer` (AAP-349).
pub fn dealer_not_found(pointer: &str) -> AapError {
    let problem = Problem::new(
        pointer,
        "dealer_id",
        "No seller of this endpoint has this dealer_id. Copy dealer_id exactly from a listing of this endpoint.",
    );
    AapError::new(
        ErrorCode::DealerNotFound,
        "No seller with this dealer_id can be reached here. Do not substitute another dealer.",
    )
    .with_problems(&[problem])
    .with_hint("Search again and use the dealer_id of the listing, unchanged.")
}

/// A lead to an aggregate that does not say which seller is meant (AAP-455).
pub fn missing_recipient(pointers: &[&str]) -> AapError {
    let problems: Vec<Problem> = pointers
        .iter()
        .map(|pointer| {
            Problem::new(
                *pointer,
                "required",
                "This endpoint speaks for several sellers: copy dealer_id and vehicle_id from the chosen listing.",
            )
        })
        .collect();
    AapError::new(
        ErrorCode::MissingRequiredField,
        "The inquiry does not say which seller receives it.",
    )
    .with_problems(&problems)
}

/// The listing is offered by another seller than the one whom the buyer permitted (AAP-455): the grant does not
/// apply to that one (AAP-458).
pub fn recipient_changed() -> AapError {
    let problem = Problem::new(
        "/vehicle_of_interest/dealer_id",
        "dealer_id",
        "The vehicle with this vehicle_id is offered by another seller. Search again, and ask the buyer before contacting a different dealer.",
    );
    AapError::new(
        ErrorCode::InvalidConsent,
        "The buyer's consent names another seller than the one who offers this vehicle; nothing was sent.",
    )
    .with_problems(&[problem])
    .with_hint("Resolve the listing's dealer_id with dealer.information, and ask the buyer for a grant to that dealership.")
}

/// An inventory error; `prefix` is the JSON Pointer of the object that holds the identifiers.
pub fn inventory(error: InventoryError, prefix: &str) -> AapError {
    match error {
        InventoryError::NotFound => AapError::new(
            ErrorCode::VehicleNotFound,
            "No listing of this dealer has these identifiers.",
        )
        .with_hint("Search again and copy vin, stock or vehicle_id exactly from a current listing."),
        InventoryError::Unavailable => AapError::new(
            ErrorCode::VehicleUnavailable,
            "This vehicle was listed before and is no longer offered. Tell the buyer, and search again.",
        )
        .with_hint("Refresh the search; do not offer this vehicle from an earlier result."),
        InventoryError::Ambiguous(problems) => AapError::new(
            ErrorCode::SchemaValidationFailed,
            "The identifiers do not name exactly one listing. Send one unambiguous identifier, best vehicle_id.",
        )
        .with_problems(&moved(problems, prefix)),
        InventoryError::InvalidCursor => AapError::new(
            ErrorCode::InvalidCursor,
            "This cursor cannot be continued: it is altered, expired, or belongs to another search.",
        )
        .with_problems(&[Problem::new(
            "/pagination/cursor",
            "cursor",
            "Start again without a cursor, then repeat the same filters, sort and limit with each next_cursor.",
        )])
        .with_hint("Send the search again without pagination.cursor."),
        InventoryError::UnknownFeature(problems) => AapError::new(
            ErrorCode::UnsupportedFilter,
            "Some feature codes are not in this dealer's vocabulary; nothing was searched.",
        )
        .with_problems(&problems)
        .with_hint("Call inventory.facets and use the codes under data.features."),
        InventoryError::Stale(cause) | InventoryError::Source(cause) => AapError {
            message: "The dealer's inventory cannot be read at the moment. Try again later.".to_owned(),
            ..AapError::internal(cause)
        },
    }
}

/// Holds that it is known where the dealer is: rooftops can lie in a source that nobody could read yet.
pub fn known(profile: &Profile) -> Result<(), AapError> {
    if profile.rooftops.is_empty() {
        return Err(AapError {
            message: "The dealer's places cannot be read at the moment. Try again later."
                .to_owned(),
            ..AapError::internal("no rooftop was read from the source")
        });
    }
    Ok(())
}

/// An error of the lead desk. In each case nothing was accepted or sent a second time.
pub fn lead(error: LeadError) -> AapError {
    match error {
        LeadError::Conflict => AapError::new(
            ErrorCode::IdempotencyConflict,
            "This idempotency_key was used before with other content; nothing was sent.",
        )
        .with_problems(&[Problem::new(
            "/idempotency_key",
            "idempotency",
            "Repeat the original request unchanged to get its result, or use a new key for a new inquiry the buyer agreed to.",
        )])
        .with_hint("A retry must repeat the whole payload, submitted_at included."),
        LeadError::InvalidConsent(problems) => AapError::new(
            ErrorCode::InvalidConsent,
            "The buyer's consent cannot be used as given; nothing was sent.",
        )
        .with_problems(&problems)
        .with_hint("Ask the buyer again which channels the dealer may use, and send the new grant."),
        LeadError::NoTime => AapError::new(
            ErrorCode::AppointmentTimeUnavailable,
            "No appointment time could be accepted, so the inquiry was not taken; nothing was sent.",
        )
        .with_problems(&[Problem::new(
            "/appointment/appointment_at",
            "availability",
            "Neither this time nor another one near it can be had. Ask the buyer for another time, or leave the appointment out.",
        )])
        .with_hint("Send what the buyer agrees to as a new request with a new idempotency_key."),
        LeadError::InProgress => AapError {
            message: "The same inquiry is being worked on. Repeat the same request with the same idempotency_key in a moment.".to_owned(),
            ..AapError::internal("the original submission is still in progress")
        },
        LeadError::Store(cause) => AapError {
            message: "It is not certain that the inquiry was recorded. Repeat the same request with the same idempotency_key to get its outcome; it is never delivered twice.".to_owned(),
            ..AapError::internal(cause)
        },
    }
}

/// A room that this deployment should have and has not: an error of ours.
pub fn missing_room(room: &str) -> AapError {
    AapError::internal(format!("the deployment has no {room}"))
}

/// An answer of ours that breaks the contract: never sent. The cause names places, not values.
pub fn bad_answer(skill: Skill, problems: &[Problem]) -> AapError {
    let places: Vec<String> = problems
        .iter()
        .take(8)
        .map(|problem| format!("{} ({})", problem.instance_location, problem.keyword))
        .collect();
    AapError::internal(format!(
        "the answer of {} breaks the contract at {}",
        skill.id(),
        places.join(", ")
    ))
}

fn moved(problems: Vec<Problem>, prefix: &str) -> Vec<Problem> {
    problems
        .into_iter()
        .map(|mut problem| {
            problem.instance_location.insert_str(0, prefix);
            problem
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    // AAP-104 AAP-529: pointers are those of the request that was sent.
    #[test]
    fn identifiers_of_a_lead_are_pointed_at_where_they_stand() {
        let problems = vec![Problem::new("/vin", "identifier", "names another listing")];
        let error = inventory(InventoryError::Ambiguous(problems), "/vehicle_of_interest");
        assert_eq!(error.code, ErrorCode::SchemaValidationFailed);
        assert_eq!(
            error.details["errors"][0]["instanceLocation"],
            "/vehicle_of_interest/vin"
        );
    }

    // AAP-105 AAP-531: the private cause never enters the public error.
    #[test]
    fn a_lower_rooms_cause_stays_private_and_the_error_is_retryable() {
        for error in [
            inventory(InventoryError::Source("password=hunter2".into()), ""),
            inventory(InventoryError::Stale("password=hunter2".into()), ""),
            lead(LeadError::Store("password=hunter2".into())),
        ] {
            assert!(error.retryable);
            assert!(!error.to_value("e", "t").to_string().contains("hunter2"));
            assert!(error.cause.unwrap().contains("hunter2"));
        }
    }
}
