//! `dealer.information`: who the dealer is. Must not know inventory or leads.

use serde_json::{Map, Value, json};

use super::fault;
use crate::contract::request::DealerInformationRequest;
use crate::contract::{AapError, Answer, Skill};
use crate::deployment::Deployment;

pub(super) fn run(
    deployment: &Deployment,
    request: &DealerInformationRequest,
) -> Result<Answer, AapError> {
    let mut data = Map::new();
    let profile = match &request.dealer_id {
        None => deployment
            .own_profile()
            .ok_or_else(|| fault::missing_room("profile"))?,
        Some(dealer_id) => {
            // AAP-347: the id as the caller gave it, so that identity can be compared.
            data.insert("dealer_id".to_owned(), dealer_id.as_str().into());
            deployment
                .profile(dealer_id)
                .ok_or_else(|| fault::dealer_not_found("/dealer_id"))?
        }
    };
    fault::known(profile)?;
    if let Value::Object(public) = profile.to_value() {
        data.extend(public);
    }
    Ok(Answer::from_value(&json!({
        "type": Skill::DealerInformation.response_type(),
        "data": data,
    })))
}
