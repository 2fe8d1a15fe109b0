//! The customer of a lead: contact values as the grant and the profile allow, and the one comments text.

use serde_json::Value;

use super::super::record::Record;
use super::country;
use super::facts::{positive, text, texts};
use super::model::{Address, NamePart, Reachable};
use super::profile::{AdfProfile, ContactValues, PhoneType};
use super::when::appointment_time;

/// The code of an address's country; the United States when none is given (AAP-508).
fn country(address: Option<&Value>) -> Option<String> {
    match text(address, "country") {
        Some(given) => country::code(&given),
        None => Some("US".to_owned()),
    }
}

/// The buyer, as far as this receiver may know.
pub(super) struct Buyer<'a> {
    request: &'a Value,
    profile: &'a AdfProfile,
    /// What became of the appointment, where a scheduling system was asked.
    booking: Option<&'a Value>,
    channels: Vec<String>,
}

impl<'a> Buyer<'a> {
    pub(super) fn new(record: &'a Record, profile: &'a AdfProfile) -> Self {
        let request = &record.request;
        Self {
            request,
            profile,
            booking: record.booking.as_ref(),
            channels: texts(request.pointer("/consent/allowed_channels")),
        }
    }

    fn customer(&self) -> Option<&Value> {
        self.request.get("customer")
    }

    pub(super) fn channels(&self) -> &[String] {
        &self.channels
    }

    fn permits(&self, channel: &str) -> bool {
        self.channels.iter().any(|other| other == channel)
    }

    /// Whether a value that these channels need may be passed on.
    fn passes(&self, channels: &[&str]) -> bool {
        self.profile.contact_values != ContactValues::Permitted
            || channels.iter().any(|channel| self.permits(channel))
    }

    fn prefers(&self, channels: &[&str]) -> bool {
        let preferred = text(self.customer(), "preferred_contact");
        self.profile.preferred_contact
            && preferred.is_some_and(|preferred| channels.contains(&preferred.as_str()))
    }

    /// First and last name joined by one space (AAP-563). ADF has no contact without a name.
    pub(super) fn full_name(&self) -> String {
        let customer = self.customer();
        let parts = [text(customer, "first_name"), text(customer, "last_name")];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        if parts.is_empty() {
            "Unnamed".to_owned()
        } else {
            parts.join(" ")
        }
    }

    pub(super) fn names(&self) -> Vec<(NamePart, String)> {
        let customer = self.customer();
        let mut names = Vec::new();
        if self.profile.names.whole() {
            names.push((NamePart::Full, self.full_name()));
        }
        if self.profile.names.parts() {
            names.extend(text(customer, "first_name").map(|name| (NamePart::First, name)));
            names.extend(text(customer, "last_name").map(|name| (NamePart::Last, name)));
        }
        if names.is_empty() {
            names.push((NamePart::Full, self.full_name()));
        }
        names
    }

    pub(super) fn email(&self) -> Option<Reachable> {
        let value = text(self.customer(), "email").filter(|_| self.passes(&["email"]))?;
        Some(Reachable {
            value,
            preferred: self.prefers(&["email"]),
            kind: None,
        })
    }

    pub(super) fn phone(&self) -> Option<Reachable> {
        let number = text(self.customer(), "phone").filter(|_| self.passes(&["phone", "sms"]))?;
        Some(Reachable {
            value: self.profile.phone.write(&number),
            preferred: self.prefers(&["phone", "sms"]),
            kind: (self.profile.phone_type == PhoneType::Voice).then_some("voice"),
        })
    }

    /// The buyer's own mail address, where a mail to it is permitted whatever the profile passes on.
    pub(super) fn reply_address(&self) -> Option<String> {
        text(self.customer(), "email").filter(|_| self.permits("email"))
    }

    fn address_value(&self) -> Option<&Value> {
        self.customer()?.get("address")
    }

    /// ADF has no address without a street.
    pub(super) fn address(&self) -> Option<Address> {
        let address = self.address_value();
        let first = text(address, "address_line_1")?;
        Some(Address {
            streets: [Some(first), text(address, "address_line_2")]
                .into_iter()
                .flatten()
                .collect(),
            city: text(address, "city"),
            region: text(address, "state"),
            postal_code: text(address, "zip"),
            country: country(address),
        })
    }

    /// What is known of an address that has no street.
    fn address_sentence(&self) -> Option<String> {
        let address = self.address_value();
        if text(address, "address_line_1").is_some() {
            // ADF wants a country's code; a name is for people.
            let named = text(address, "country").filter(|_| country(address).is_none());
            return named.map(|named| format!("Country: {named}."));
        }
        let keys = ["address_line_2", "city", "state", "zip", "country"];
        let parts: Vec<String> = keys.iter().filter_map(|key| text(address, key)).collect();
        (!parts.is_empty()).then(|| format!("Address: {}.", parts.join(", ")))
    }

    pub(super) fn message(&self) -> Option<String> {
        text(Some(self.request), "message")
    }

    /// The appointment that is asked for; never more than a wish (AAP-453).
    pub(super) fn appointment(&self, zone: Option<&str>) -> Option<String> {
        let appointment = self.request.get("appointment")?;
        let kind = match text(Some(appointment), "appointment_type").as_deref() {
            Some("test_drive") => "test-drive",
            Some("sales") => "sales appointment",
            Some("service") => "service appointment",
            Some("trade_in") => "trade-in appointment",
            _ => "appointment",
        };
        let time = text(Some(appointment), "appointment_at");
        let time = time.map_or_else(
            || "no time given".to_owned(),
            |at| appointment_time(&at, zone),
        );
        let mut sentence = format!("Requested {kind}: {time}.");
        if let Some(minutes) = positive(Some(appointment), "duration_minutes") {
            sentence.extend([" Duration: ", &minutes.to_string(), " minutes."]);
        }
        if let Some(notes) = text(Some(appointment), "notes") {
            sentence.extend([" Notes: ", &notes]);
        }
        sentence.extend(self.booked(zone));
        Some(sentence)
    }

    /// What the scheduling system said; nothing when it left the matter open.
    fn booked(&self, zone: Option<&str>) -> Option<String> {
        let at = |text: &str| appointment_time(text, zone);
        match text(self.booking, "status")?.as_str() {
            "confirmed" => {
                let time = text(self.booking, "confirmed_at")?;
                Some(format!(" Booked: {}.", at(&time)))
            }
            "proposed" => {
                let times = texts(self.booking?.get("proposed_times"));
                let times: Vec<_> = times.iter().map(|time| at(time)).collect();
                Some(format!(" Proposed instead: {}.", times.join(", ")))
            }
            "rejected" => Some(" Declined by the scheduling system.".to_owned()),
            _ => None,
        }
    }

    /// The line that names the permitted channels, where the profile has it.
    pub(super) fn channel_note(&self) -> Option<String> {
        let wanted = self.profile.contact_values != ContactValues::All;
        wanted.then(|| format!("Permitted contact channels: {}.", self.channels.join(", ")))
    }

    /// The comments in their usual order, each part a sentence of its own.
    pub(super) fn usual_comments(&self, zone: Option<&str>, further: &[String]) -> String {
        let parts = self
            .message()
            .into_iter()
            .chain(self.appointment(zone))
            .chain(self.address_sentence())
            .chain(further.iter().cloned())
            .chain(self.channel_note());
        let mut comments = String::new();
        for part in parts {
            if !comments.is_empty() {
                let ended = comments.ends_with(['.', '?', '!']);
                comments.push(if ended { ' ' } else { '\n' });
            }
            comments.push_str(&part);
        }
        comments
    }
}
