//! `[deployments.ID.leads]`.

use std::time::Duration;

use super::super::raw;
use super::Scope;
use super::delivery::{DAY_S, alert, target};
use super::http;
use crate::leads::{Network, Settings, Vendor};
use crate::profile::Profile;

pub(super) fn compile(
    scope: &mut Scope<'_>,
    deployment: &str,
    raw: &raw::Leads,
    profile: Option<&Profile>,
) -> Option<Settings> {
    if raw.deliveries.is_empty() {
        scope.fault(
            "deliveries",
            "is missing",
            "name a way out under [deployments.ID.leads.deliveries.NAME]",
        );
    }
    let mut targets = Vec::new();
    for (name, table) in &raw.deliveries {
        targets.extend(target(scope, name, table));
    }
    let mut alerts = Vec::new();
    for (name, table) in &raw.alerts {
        alerts.extend(alert(scope, name, table));
    }
    let scheduling = raw
        .scheduling
        .as_ref()
        .and_then(|raw| http::scheduling(&mut scope.below("scheduling"), raw));
    if targets.len() < raw.deliveries.len() || targets.is_empty() {
        return None;
    }
    let default = Settings::new(deployment, targets);
    let days = scope.bounded(
        "retention_days",
        raw.retention_days.map(u64::from),
        7,
        (1, 3_650),
    );
    let keep = raw.keep_ledger_days.map(u64::from);
    let settings = Settings {
        keep_ledger: keep.map(|days| Duration::from_secs(days.saturating_mul(DAY_S))),
        retention: Duration::from_secs(days * DAY_S),
        honoured_channels: raw
            .honoured_channels
            .clone()
            .unwrap_or(default.honoured_channels),
        seal_ledger: raw.seal_ledger.unwrap_or(default.seal_ledger),
        answer_message: raw.answer_message.clone(),
        provider_ids: raw.provider_ids.clone().into_iter().collect(),
        vendor: Vendor {
            ids: raw.vendor.ids.clone().into_iter().collect(),
            name: raw.vendor.name.clone(),
            contact_name: raw.vendor.contact_name.clone(),
            phone: raw.vendor.phone.clone(),
            email: raw.vendor.email.clone(),
        },
        id_source: raw.id_source.clone().unwrap_or(default.id_source),
        network: raw
            .network
            .as_ref()
            .and_then(|network| self::network(scope, network)),
        scheduling,
        alerts,
        ..default
    };
    let mut findings = crate::leads::check(&settings);
    if let Some(profile) = profile {
        findings.extend(crate::leads::check_receiver(&settings, profile));
        findings.extend(crate::leads::check_rooftops(&settings, &[profile]));
    }
    for finding in findings {
        scope.fault(&finding.key, finding.reason, finding.remedy);
    }
    Some(settings)
}

fn network(scope: &mut Scope<'_>, raw: &raw::Network) -> Option<Network> {
    let name = scope.need("network.name", raw.name.clone(), "give the network's name")?;
    Some(Network {
        name,
        url: raw.url.clone(),
    })
}
