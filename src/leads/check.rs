//! What is wrong with a deployment's settings for leads, all of it at once. Opens and sends nothing.

use std::collections::BTreeSet;

use super::adf::ProviderRule;
use super::record::Receiver;
use super::route::SUBJECTS;
use super::scheduling;
use super::settings::{MIN_RETENTION, Settings, TargetSettings, Vehicleless};
use crate::delivery::DeliveryError;
use crate::profile::Profile;
use crate::store::PERSON;

/// The most ids of a provider or vendor, and the longest part of one.
const MAX_IDS: usize = 8;
const MAX_ID_CHARS: usize = 100;

/// One thing to change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The key below `leads`, e.g. `deliveries.crm.vehicleless`.
    pub key: String,
    pub reason: String,
    pub remedy: String,
}

impl Finding {
    fn new(key: impl Into<String>, reason: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self {
            key: key.into(),
            reason: reason.into(),
            remedy: remedy.into(),
        }
    }
}

/// Checks the settings by themselves.
pub fn check(settings: &Settings) -> Vec<Finding> {
    let mut findings = Vec::new();
    if settings.retention < MIN_RETENTION {
        findings.push(Finding::new(
            "retention_days",
            "retries must be recognised for at least 24 hours",
            "Set it to 1 or more; 7 is usual.",
        ));
    }
    if settings
        .keep_ledger
        .is_some_and(|keep| keep < settings.retention)
    {
        findings.push(Finding::new(
            "keep_ledger_days",
            "leads would leave the ledger while retries of them are still recognised",
            "Set it to retention_days or more.",
        ));
    }
    let known = ["email", "phone", "sms"];
    if settings.honoured_channels.is_empty()
        || settings
            .honoured_channels
            .iter()
            .any(|channel| !known.contains(&channel.as_str()))
    {
        findings.push(Finding::new(
            "honoured_channels",
            "it must name one or more of email, phone, sms",
            "List the channels that the dealer's follow-up keeps to.",
        ));
    }
    for (key, ids) in [
        ("provider_ids", &settings.provider_ids),
        ("vendor.ids", &settings.vendor.ids),
    ] {
        check_ids(key, ids, &mut findings);
    }
    if settings.targets.is_empty() {
        findings.push(Finding::new(
            "deliveries",
            "accepted leads would have no way out",
            "Name a way out under [deployments.ID.leads.deliveries.NAME].",
        ));
    } else if settings.targets.iter().all(|target| target.route.copy) {
        findings.push(Finding::new(
            "deliveries",
            "every delivery is a copy of another",
            "Remove copy = true from the delivery that reaches the CRM.",
        ));
    }
    check_ways(settings, &mut findings);
    check_texts(settings, &mut findings);
    let mut names = BTreeSet::new();
    for target in &settings.targets {
        if !names.insert(target.name.as_str()) {
            let key = format!("deliveries.{}.name", target.name);
            findings.push(Finding::new(
                key,
                "another delivery has this name",
                "Give each its own.",
            ));
        }
        check_target(target, settings, &mut findings);
    }
    findings
}

/// What would be found only when the first lead is sent, or when the desk is opened.
fn check_ways(settings: &Settings, findings: &mut Vec<Finding>) {
    let targets = settings.targets.iter();
    let targets = targets.map(|one| (format!("deliveries.{}", one.name), &one.delivery));
    let alerts = settings.alerts.iter();
    let alerts = alerts.map(|one| (format!("alerts.{}", one.name), &one.delivery));
    let checked = targets
        .chain(alerts)
        .map(|(key, way)| (key, way.check()))
        .chain(
            settings
                .scheduling
                .iter()
                .map(|hook| ("scheduling".to_owned(), scheduling::check(hook))),
        );
    for (key, checked) in checked {
        let (key, reason) = match checked {
            Ok(()) => continue,
            Err(DeliveryError::Rule { key: rule, words }) => (format!("{key}.{rule}"), words),
            Err(error) => (key, error.to_string()),
        };
        findings.push(Finding::new(key, reason, "Correct the value."));
    }
}

/// Texts that stand for what the profile says: an empty one would take its place, too.
fn check_texts(settings: &Settings, findings: &mut Vec<Finding>) {
    let vendor = &settings.vendor;
    let network = settings.network.as_ref();
    let texts = [
        ("vendor.name", vendor.name.as_deref()),
        ("vendor.contact_name", vendor.contact_name.as_deref()),
        ("vendor.phone", vendor.phone.as_deref()),
        ("vendor.email", vendor.email.as_deref()),
        ("network.name", network.map(|network| network.name.as_str())),
        ("id_source", Some(settings.id_source.as_str())),
        ("answer_message", settings.answer_message.as_deref()),
    ];
    for (key, text) in texts {
        if text.is_some_and(|text| text.trim().is_empty()) {
            findings.push(Finding::new(key, "is empty", "Give it, or leave it out."));
        }
    }
}

/// Ids stand in every document: each must be something, and they must be few and short.
fn check_ids(key: &str, ids: &[(String, String)], findings: &mut Vec<Finding>) {
    let fits = |text: &String| {
        let length = text.chars().count();
        !text.trim().is_empty() && length <= MAX_ID_CHARS && !text.chars().any(char::is_control)
    };
    let all_fit = ids
        .iter()
        .all(|(source, value)| fits(source) && fits(value));
    if ids.len() > MAX_IDS || !all_fit {
        findings.push(Finding::new(
            key,
            "an id is empty or too long, or there are too many",
            format!("Give at most {MAX_IDS}, source and value of 1 to {MAX_ID_CHARS} characters."),
        ));
    }
}

fn check_target(target: &TargetSettings, settings: &Settings, findings: &mut Vec<Finding>) {
    let key = |member: &str| format!("deliveries.{}.{member}", target.name);
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '-';
    if target.name == PERSON {
        findings.push(Finding::new(
            key("name"),
            "this name stands for what a person has to do about an appointment",
            "Use another.",
        ));
    }
    if target.name.is_empty() || target.name.len() > 40 || !target.name.chars().all(plain) {
        findings.push(Finding::new(
            key("name"),
            "a delivery's name stands in message ids and file names",
            "Use 1 to 40 letters, digits and hyphens.",
        ));
    }
    let known = |subject: &String| SUBJECTS.contains(&subject.as_str());
    if !target.route.subjects.iter().all(known) {
        findings.push(Finding::new(
            key("subjects"),
            "it names something that no lead is about",
            format!("Use {}.", SUBJECTS.join(", ")),
        ));
    }
    if target.concurrency == 0 {
        findings.push(Finding::new(
            key("concurrency"),
            "nothing would ever be sent",
            "Set it to 1 or more.",
        ));
    }
    if target.profile.provider == ProviderRule::Network && settings.network.is_none() {
        findings.push(Finding::new(
            key("adf_profile"),
            "this ADF profile names the lead network as the provider, and no network is configured",
            "Set leads.network.name, or choose a profile whose provider is the agent.",
        ));
    }
    if let Vehicleless::Target(other) = &target.vehicleless {
        let found = settings.targets.iter().find(|target| target.name == *other);
        let settled = found.is_some_and(|found| found.vehicleless == Vehicleless::PlainText);
        if !settled {
            findings.push(Finding::new(
                key("vehicleless"),
                "inquiries without a vehicle would go to a delivery that does not exist or passes them on",
                "Name a delivery that takes them in plain words.",
            ));
        }
    }
}

/// Checks that the rooftops that routes name are some dealer's, where all are known.
pub fn check_rooftops(settings: &Settings, profiles: &[&Profile]) -> Vec<Finding> {
    // Rooftops that lie in the source are known once they are read.
    if profiles.iter().any(|one| one.rooftops.is_empty()) {
        return Vec::new();
    }
    let known = |name: &String| profiles.iter().any(|one| one.rooftop(name).is_some());
    settings
        .targets
        .iter()
        .filter(|target| !target.route.rooftops.iter().all(known))
        .map(|target| {
            Finding::new(
                format!("deliveries.{}.rooftops", target.name),
                "it names a rooftop that the profile does not have",
                "Write the names as in profile.rooftops.",
            )
        })
        .collect()
}

/// Checks that a dealer's profile says what a document needs of it.
pub fn check_receiver(settings: &Settings, profile: &Profile) -> Vec<Finding> {
    let ours = &settings.vendor;
    if ours.phone.is_some() || ours.email.is_some() {
        return Vec::new();
    }
    profile
        .rooftops
        .iter()
        .filter_map(|rooftop| {
            let alone = Profile {
                rooftops: vec![rooftop.clone()],
                ..profile.clone()
            };
            let receiver = Receiver::of(&alone, &serde_json::Value::Null, None);
            let reachable = receiver.phone.is_some() || receiver.email.is_some();
            (!reachable).then(|| {
                Finding::new(
                    "vendor",
                    format!(
                        "rooftop {:?} has neither phone nor e-mail, and ADF requires one",
                        rooftop.name
                    ),
                    "Add phones or emails to the rooftop, or set leads.vendor.phone.",
                )
            })
        })
        .collect()
}
