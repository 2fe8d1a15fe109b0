//! An inquiry in plain words, for what has no valid ADF form (AAP-575). Must not call itself ADF.

use serde_json::Value;

use super::{Page, RenderError, text, when};

impl Page<'_> {
    /// An inquiry that has no valid ADF form, for a person to read.
    pub(super) fn plain_words(&self) -> Result<String, RenderError> {
        let submitted_at = self
            .record
            .request
            .get("submitted_at")
            .and_then(Value::as_str);
        let vendor = self.vendor()?;
        let address = self.buyer.address().map(|address| {
            let region = [
                address.city,
                address.region,
                address.postal_code,
                address.country,
            ];
            address
                .streets
                .into_iter()
                .chain(region.into_iter().flatten())
                .collect::<Vec<_>>()
                .join(", ")
        });
        let lines = [
            ("Inquiry for", Some(vendor.name)),
            ("Lead", Some(self.lead_id.to_owned())),
            (
                "Received",
                Some(when::request_date(
                    submitted_at,
                    self.accepted_at,
                    self.zone(),
                )),
            ),
            ("Name", Some(self.buyer.full_name())),
            ("E-mail", self.buyer.email().map(|email| email.value)),
            ("Phone", self.buyer.phone().map(|phone| phone.value)),
            ("Address", address),
            (
                "Permitted contact channels",
                Some(self.buyer.channels().join(", ")),
            ),
            ("Sent by", Some(self.provider().name)),
        ];
        let mut words = String::new();
        for (label, value) in lines {
            let value = text::clean_line(&value.unwrap_or_default());
            if !value.is_empty() {
                words.extend([label, ": ", &value, "\n"]);
            }
        }
        let comments = text::clean(&self.usual_comments());
        if !comments.is_empty() {
            words.extend(["\n", &comments, "\n"]);
        }
        Ok(words)
    }
}
