//! A lead in the words of its receiver: an ADF document with its mail, or plain words where ADF has no valid
//! form. The mapping is code, the receiver's habits are a profile. Must not send or store anything.

mod country;
mod customer;
mod facts;
mod model;
mod plain;
mod profile;
mod text;
mod vehicle;
mod when;
mod writer;

use jiff::Timestamp;
use serde_json::{Value, json};

use super::record::Record;
use super::settings::Settings;
use crate::delivery::{Content, MailEncoding, MailLayout};
use customer::Buyer;
use model::{Customer, Id, Prospect, Provider, Vehicle, Vendor};
pub use profile::{
    AdfProfile, ConditionRule, ContactValues, MailForm, Names, PhoneForm, PhoneType, ProfileError,
    ProviderRule,
};
pub use text::Charset;

/// A lead, ready to be put into a parcel.
#[derive(Clone, Debug)]
pub struct Rendered {
    pub content: Content,
    pub subject: String,
    pub layout: MailLayout,
    pub encoding: MailEncoding,
    pub reply_to: Option<String>,
}

/// Why a lead cannot be rendered. The texts hold no customer data.
#[derive(Debug, thiserror::Error)]
pub enum RenderError {
    #[error(
        "the receiving store has neither a phone number nor an e-mail address: ADF requires one"
    )]
    NoVendorContact,
    #[error("a text of the ADF profile: {0}")]
    Profile(String),
    #[error("the document could not be written: {0}")]
    Write(#[from] std::io::Error),
}

/// Renders one lead for one profile.
pub fn render(
    lead_id: &str,
    accepted_at: Timestamp,
    record: &Record,
    profile: &AdfProfile,
    settings: &Settings,
) -> Result<Rendered, RenderError> {
    let page = Page {
        lead_id,
        accepted_at,
        record,
        profile,
        settings,
        buyer: Buyer::new(record, profile),
    };
    let facts = page.facts();
    let content = match page.vehicles() {
        vehicles if vehicles.is_empty() => Content::Text(page.plain_words()?),
        vehicles => Content::Adf(writer::write(
            &page.prospect(vehicles, &facts)?,
            profile.charset,
        )?),
    };
    let reply_to = page
        .buyer
        .reply_address()
        .filter(|_| profile.mail.reply_to_buyer);
    Ok(Rendered {
        content,
        subject: profile.subject(&facts).map_err(RenderError::Profile)?,
        layout: profile.mail.layout,
        encoding: profile.mail.encoding,
        reply_to,
    })
}

/// Whether the lead names no vehicle that ADF could carry.
pub fn is_vehicleless(record: &Record) -> bool {
    let request = &record.request;
    let wanted = vehicle::wanted(request, record.listing.as_ref());
    wanted.is_none() && !vehicle::is_offered(request)
}

struct Page<'a> {
    lead_id: &'a str,
    accepted_at: Timestamp,
    record: &'a Record,
    profile: &'a AdfProfile,
    settings: &'a Settings,
    buyer: Buyer<'a>,
}

impl Page<'_> {
    fn zone(&self) -> Option<&str> {
        self.record.receiver.timezone.as_deref()
    }

    fn vehicles(&self) -> Vec<Vehicle> {
        let request = &self.record.request;
        let wanted = vehicle::wanted(request, self.record.listing.as_ref());
        wanted
            .into_iter()
            .chain(vehicle::trade_in(request, self.profile))
            .collect()
    }

    fn prospect(&self, vehicles: Vec<Vehicle>, facts: &Value) -> Result<Prospect, RenderError> {
        let own = self
            .profile
            .own_comments(facts)
            .map_err(RenderError::Profile)?;
        let submitted_at = self
            .record
            .request
            .get("submitted_at")
            .and_then(Value::as_str);
        Ok(Prospect {
            id: self.profile.ids.then(|| Id {
                source: self.settings.id_source.clone(),
                value: self.lead_id.to_owned(),
            }),
            request_date: when::request_date(submitted_at, self.accepted_at, self.zone()),
            vehicles,
            customer: Customer {
                names: self.buyer.names(),
                email: self.buyer.email(),
                phone: self.buyer.phone(),
                address: self.buyer.address(),
                comments: Some(own.unwrap_or_else(|| self.usual_comments())),
            },
            vendor: self.vendor()?,
            provider: self.provider(),
        })
    }

    fn usual_comments(&self) -> String {
        self.buyer.usual_comments(self.zone(), &self.further())
    }

    /// Vehicles that are no block, in words.
    fn further(&self) -> Vec<String> {
        let request = &self.record.request;
        let wanted = vehicle::wanted(request, self.record.listing.as_ref());
        let trade_in = vehicle::trade_in(request, self.profile);
        let sentences = [
            wanted.is_none().then(|| {
                vehicle::sentence("Vehicle of interest", request.get("vehicle_of_interest"))
            }),
            trade_in
                .is_none()
                .then(|| vehicle::sentence("Trade-in", request.get("trade_in"))),
        ];
        sentences.into_iter().flatten().flatten().collect()
    }

    /// The selling dealership, from its own profile (AAP-571).
    fn vendor(&self) -> Result<Vendor, RenderError> {
        let (ours, theirs) = (&self.settings.vendor, &self.record.receiver);
        let phone = ours.phone.clone().or_else(|| theirs.phone.clone());
        let email = ours.email.clone().or_else(|| match phone {
            Some(_) => None,
            None => theirs.email.clone(),
        });
        if phone.is_none() && email.is_none() {
            return Err(RenderError::NoVendorContact);
        }
        let contact_name = ours
            .contact_name
            .clone()
            .or_else(|| theirs.contact_name.clone());
        Ok(Vendor {
            ids: ids(&ours.ids),
            name: self.vendor_name(),
            contact_name: contact_name.unwrap_or_else(|| "Sales".to_owned()),
            email,
            phone,
        })
    }

    fn vendor_name(&self) -> String {
        self.settings
            .vendor
            .name
            .clone()
            .unwrap_or_else(|| self.record.receiver.rooftop.clone())
    }

    /// Direct delivery names the agent; a network names itself, with the agent as its service (AAP-570). ADF has
    /// no provider without a name.
    fn provider(&self) -> Provider {
        let agent = self.record.request.get("source_agent");
        let agent = facts::text(agent, "name").or_else(|| facts::text(agent, "url"));
        let agent = agent.unwrap_or_else(|| "Unnamed agent".to_owned());
        let ids = ids(&self.settings.provider_ids);
        match (self.profile.provider, &self.settings.network) {
            (ProviderRule::Network, Some(network)) => Provider {
                ids,
                name: network.name.clone(),
                service: Some(agent),
                url: network.url.clone(),
            },
            (ProviderRule::Agent, _) | (ProviderRule::Network, None) => Provider {
                ids,
                name: agent,
                service: None,
                url: None,
            },
        }
    }

    /// What a profile's texts may speak of.
    fn facts(&self) -> Value {
        let request = &self.record.request;
        json!({
            "lead_id": self.lead_id,
            "vendor": self.vendor_name(),
            "dealer": self.record.receiver.name,
            "customer": self.buyer.full_name(),
            "agent": facts::text(request.get("source_agent"), "name").unwrap_or_default(),
            "message": self.buyer.message().unwrap_or_default(),
            "vehicle": self.vehicles().first().map(|vehicle| {
                format!("{} {} {}", vehicle.year, vehicle.make, vehicle.model)
            }).unwrap_or_default(),
            "appointment": self.buyer.appointment(self.zone()).unwrap_or_default(),
            "further": self.further(),
            "channels": self.buyer.channels(),
            "note": self.buyer.channel_note().unwrap_or_default(),
            "usual": self.usual_comments(),
        })
    }
}

fn ids(configured: &[(String, String)]) -> Vec<Id> {
    let id = |(source, value): &(String, String)| Id {
        source: source.clone(),
        value: value.clone(),
    };
    configured.iter().map(id).collect()
}

#[cfg(test)]
mod sample_tests;
#[cfg(test)]
mod tests;
