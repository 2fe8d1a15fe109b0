//! ADF profiles: what one CRM wants of a document and its mail, as data. Must not hold the mapping itself.

use minijinja::value::Serde;
use minijinja::{Environment, UndefinedBehavior};
use serde::Deserialize;
use serde_json::{Value, json};

use super::text::Charset;
use crate::delivery::{MailEncoding, MailLayout};

/// The most steps a profile's text may take.
const FUEL: u64 = 20_000;

/// The profiles that come with the program.
const SHIPPED: [(&str, &str); 9] = [
    (
        "standard",
        include_str!("../../../adf-templates/standard.toml"),
    ),
    (
        "lead-network",
        include_str!("../../../adf-templates/lead-network.toml"),
    ),
    (
        "name-parts",
        include_str!("../../../adf-templates/name-parts.toml"),
    ),
    ("utf-8", include_str!("../../../adf-templates/utf-8.toml")),
    (
        "store-in-subject",
        include_str!("../../../adf-templates/store-in-subject.toml"),
    ),
    (
        "attachment",
        include_str!("../../../adf-templates/attachment.toml"),
    ),
    (
        "us-forms",
        include_str!("../../../adf-templates/us-forms.toml"),
    ),
    (
        "us-digits",
        include_str!("../../../adf-templates/us-digits.toml"),
    ),
    (
        "condition-element",
        include_str!("../../../adf-templates/condition-element.toml"),
    ),
];

/// What one kind of receiver wants.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AdfProfile {
    #[serde(skip)]
    name: String,
    pub description: String,
    #[serde(default)]
    pub names: Names,
    #[serde(default)]
    pub phone: PhoneForm,
    #[serde(default)]
    pub phone_type: PhoneType,
    #[serde(default)]
    pub charset: Charset,
    #[serde(default)]
    pub provider: ProviderRule,
    /// Whether the prospect carries the lead's id.
    #[serde(default)]
    pub ids: bool,
    #[serde(default)]
    pub contact_values: ContactValues,
    /// Whether the preferred way of contact is marked.
    #[serde(default)]
    pub preferred_contact: bool,
    /// Whether a trade-in is marked as used; without the mark ADF's default is new.
    #[serde(default)]
    pub trade_in_status: bool,
    #[serde(default)]
    pub trade_in_condition: ConditionRule,
    /// A text of its own for the customer's comments.
    pub customer_comments: Option<String>,
    #[serde(default)]
    pub mail: MailForm,
}

/// How a profile's mail looks.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct MailForm {
    pub subject: String,
    pub layout: MailLayout,
    /// How text beyond ASCII travels; it matters to profiles whose character set is `utf-8`.
    pub encoding: MailEncoding,
    /// Whether the buyer may be answered directly, where e-mail is permitted.
    pub reply_to_buyer: bool,
}

impl Default for MailForm {
    fn default() -> Self {
        Self {
            subject: "New lead for {{ vendor }}".to_owned(),
            layout: MailLayout::Body,
            encoding: MailEncoding::Auto,
            reply_to_buyer: false,
        }
    }
}

/// How the buyer's name is given.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Names {
    #[default]
    Full,
    FirstLast,
    Both,
}

/// How a phone number is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PhoneForm {
    #[default]
    E164,
    /// 503-555-0142
    UsDashed,
    /// 5035550142
    Digits10,
}

/// Whether a phone says that it is one for voice, which is ADF's default; some readers look for the word.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PhoneType {
    #[default]
    Unsaid,
    Voice,
}

/// Who the provider is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ProviderRule {
    /// The buyer's agent.
    #[default]
    Agent,
    /// The lead network, with the agent as its service.
    Network,
}

/// Which contact values go to the CRM, since ADF has no place for consent (AAP-562).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ContactValues {
    #[default]
    All,
    /// All, and a line that names the permitted channels.
    AllWithNote,
    /// Those of permitted channels only, and the line.
    Permitted,
}

/// Where the condition of a trade-in stands (AAP-572).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ConditionRule {
    #[default]
    Comments,
    Element,
}

/// Why a profile cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ProfileError {
    #[error("there is no ADF profile {name:?}; there are {known}")]
    Unknown { name: String, known: String },
    #[error("ADF profile {name:?}: {cause}")]
    Malformed { name: String, cause: String },
}

impl AdfProfile {
    /// The names of the shipped profiles.
    pub fn names() -> Vec<&'static str> {
        SHIPPED.iter().map(|(name, _)| *name).collect()
    }

    /// A shipped profile.
    pub fn named(name: &str) -> Result<Self, ProfileError> {
        match SHIPPED.iter().find(|(other, _)| *other == name) {
            Some((name, text)) => Self::parse(name, text),
            None => Err(ProfileError::Unknown {
                name: name.to_owned(),
                known: Self::names().join(", "),
            }),
        }
    }

    /// Reads a profile and tries its texts.
    pub fn parse(name: &str, text: &str) -> Result<Self, ProfileError> {
        let malformed = |cause: String| ProfileError::Malformed {
            name: name.to_owned(),
            cause,
        };
        let mut profile: Self =
            toml::from_str(text).map_err(|error| malformed(error.to_string()))?;
        name.clone_into(&mut profile.name);
        let example = example();
        profile.subject(&example).map_err(malformed)?;
        profile.own_comments(&example).map_err(malformed)?;
        Ok(profile)
    }

    /// The name it was asked for by.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The mail's subject.
    pub(super) fn subject(&self, facts: &Value) -> Result<String, String> {
        speak(&self.mail.subject, facts)
    }

    /// The profile's own text for the customer's comments, if it has one.
    pub(super) fn own_comments(&self, facts: &Value) -> Result<Option<String>, String> {
        self.customer_comments
            .as_deref()
            .map(|text| speak(text, facts))
            .transpose()
    }
}

impl Names {
    /// Whether this way gives the name's parts.
    pub(super) fn parts(self) -> bool {
        self != Self::Full
    }

    /// Whether this way gives the whole name.
    pub(super) fn whole(self) -> bool {
        self != Self::FirstLast
    }
}

impl PhoneForm {
    /// Writes an E.164 number this way. Numbers outside the North American plan stay as they are.
    pub(super) fn write(self, number: &str) -> String {
        let national = number.strip_prefix("+1").filter(|rest| rest.len() == 10);
        let Some(digits) = national else {
            return number.to_owned();
        };
        let parts = (digits.get(..3), digits.get(3..6), digits.get(6..));
        match (self, parts) {
            (Self::UsDashed, (Some(area), Some(exchange), Some(line))) => {
                format!("{area}-{exchange}-{line}")
            }
            (Self::Digits10, _) => digits.to_owned(),
            _ => number.to_owned(),
        }
    }
}

/// Renders one human-readable text. The facts are the only thing it can see.
fn speak(template: &str, facts: &Value) -> Result<String, String> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_fuel(Some(FUEL));
    environment
        .render_str(template, Serde(facts))
        .map_err(|error| error.to_string())
}

/// Facts of every name a text may use, to try a profile with.
fn example() -> Value {
    json!({
        "lead_id": "lead_example", "vendor": "Example Motors", "dealer": "Example Motors",
        "customer": "Robin Sample", "agent": "example-buyer", "message": "Is it still there?",
        "vehicle": "2022 Honda Civic", "appointment": "Requested test-drive: 2026-05-03 11:00 PT.",
        "further": ["Address: Salem, OR"], "channels": ["email"], "note": "", "usual": "Is it still there?",
    })
}
