//! `[deployments.ID.leads.deliveries.NAME]`.

use std::fs;
use std::path::Path;
use std::time::Duration;

use figment::value::Value;

use super::super::raw;
use super::Scope;
use super::http;
use super::source::kind;
use crate::delivery::{self, SmtpSettings, SmtpTls};
use crate::leads::{AdfProfile, AlertSettings, Retry, Route, TargetSettings, Vehicleless};

pub(super) const DAY_S: u64 = 24 * 60 * 60;
const KINDS: [&str; 3] = ["smtp", "http", "directory"];

pub(super) fn target(scope: &mut Scope<'_>, name: &str, table: &Value) -> Option<TargetSettings> {
    let mut scope = scope.below("deliveries");
    let kind = kind(&mut scope, name, table, &KINDS);
    let mut scope = scope.below(name);
    let raw: raw::Delivery = scope.read("");
    let profile = adf_profile(&mut scope, raw.adf_profile.as_deref());
    let kind = kind?;
    if kind == "http" && raw.vehicleless.is_none() {
        let remedy = "say \"plain_text\" if it takes plain words, or name another delivery";
        scope.fault(
            "vehicleless",
            "is missing: ADF cannot carry an inquiry without a vehicle",
            remedy,
        );
    }
    let delivery = way(&mut scope, kind, &raw::DELIVERY_KEYS);
    let default = Retry::default();
    let mut seconds = |key: &str, value: Option<u64>, default: Duration| {
        Duration::from_secs(scope.bounded(key, value, default.as_secs(), (1, 30 * DAY_S)))
    };
    let retry = Retry {
        first: seconds("retry_first_s", raw.retry_first_s, default.first),
        longest: seconds("retry_longest_s", raw.retry_longest_s, default.longest),
        give_up_after: seconds(
            "give_up_after_s",
            raw.give_up_after_s,
            default.give_up_after,
        ),
    };
    Some(TargetSettings {
        route: Route {
            subjects: raw.subjects,
            rooftops: raw.rooftops,
            sellers: raw.sellers,
            copy: raw.copy,
        },
        vehicleless: match raw.vehicleless {
            Some(other) if other != "plain_text" => Vehicleless::Target(other),
            Some(_) | None => Vehicleless::PlainText,
        },
        per_minute: scope.limit("per_minute", raw.per_minute),
        retry,
        concurrency: scope.bounded("concurrency", raw.concurrency, 2, (1, 64)),
        ..TargetSettings::new(name, delivery?, profile?)
    })
}

/// A way to the operator.
pub(super) fn alert(scope: &mut Scope<'_>, name: &str, table: &Value) -> Option<AlertSettings> {
    let mut scope = scope.below("alerts");
    let kind = kind(&mut scope, name, table, &["smtp", "http"])?;
    let delivery = way(&mut scope.below(name), kind, &["kind"])?;
    Some(AlertSettings {
        name: name.to_owned(),
        delivery,
    })
}

/// The settings of one kind; `beside` are the keys that every kind has.
fn way(scope: &mut Scope<'_>, kind: &str, beside: &[&str]) -> Option<delivery::Settings> {
    Some(match kind {
        "smtp" => {
            let raw: raw::Smtp = scope.read_without(beside);
            delivery::Settings::Smtp(Box::new(smtp(scope, &raw)?))
        }
        "http" => {
            let raw: raw::Http = scope.read_without(beside);
            delivery::Settings::Http(Box::new(http::compile(scope, &raw)?))
        }
        _ => {
            let raw: raw::Directory = scope.read_without(beside);
            let path = scope.need("path", raw.path.as_ref(), "name the folder")?;
            delivery::Settings::Directory {
                path: scope.path("path", path),
            }
        }
    })
}

/// A built-in profile by its name, or the operator's own by its file.
fn adf_profile(scope: &mut Scope<'_>, name: Option<&str>) -> Option<AdfProfile> {
    let name = name.unwrap_or("standard");
    let result = if Path::new(name).extension().is_some_and(|ext| ext == "toml") {
        let file = scope.path("adf_profile", Path::new(name));
        fs::read_to_string(&file)
            .map_err(|error| format!("{}: {error}", file.display()))
            .and_then(|text| AdfProfile::parse(name, &text).map_err(|error| error.to_string()))
    } else {
        AdfProfile::named(name).map_err(|error| error.to_string())
    };
    match result {
        Ok(profile) => Some(profile),
        Err(reason) => {
            let names: Vec<_> = AdfProfile::names().into_iter().collect();
            let remedy = format!(
                "use one of {}, or the path of a .toml file",
                names.join(", ")
            );
            scope.fault("adf_profile", reason, remedy);
            None
        }
    }
}

fn smtp(scope: &mut Scope<'_>, raw: &raw::Smtp) -> Option<SmtpSettings> {
    let host = raw.host.clone().filter(|host| !host.trim().is_empty());
    let host = scope.need("host", host, "name the mail relay");
    let from = scope.need(
        "from",
        raw.from.clone(),
        "give an address of your own domain",
    );
    if raw.to.is_empty() {
        scope.fault("to", "is missing", "give the CRM's lead address");
    }
    let tls = match raw.tls.unwrap_or_default() {
        raw::SmtpTls::Starttls => SmtpTls::Starttls,
        raw::SmtpTls::Implicit => SmtpTls::Implicit,
        raw::SmtpTls::DangerPlaintext => SmtpTls::DangerPlaintext,
    };
    let default_port = if tls == SmtpTls::Implicit { 465 } else { 587 };
    let password = scope.secret(
        "password",
        raw.password.as_ref(),
        raw.password_file.as_deref(),
    );
    let login = match (&raw.username, password) {
        (Some(user), Some(password)) => Some((user.clone(), password.expose().to_owned())),
        (None, None) => None,
        // A password that could not be read has its own finding.
        (Some(_), None) if raw.password.is_some() || raw.password_file.is_some() => None,
        (Some(_), None) => {
            scope.fault(
                "password",
                "is missing beside `username`",
                "give password or password_file",
            );
            None
        }
        (None, Some(_)) => {
            scope.fault(
                "username",
                "is missing beside the password",
                "give the user name",
            );
            None
        }
    };
    let step_timeout = scope.bounded("step_timeout_s", raw.step_timeout_s, 30, (1, 240));
    Some(SmtpSettings {
        roots_pem: raw
            .extra_ca_file
            .as_deref()
            .map(|file| scope.authorities("extra_ca_file", file).1),
        host: host?,
        port: raw.port.unwrap_or(default_port),
        tls,
        login,
        from: from?,
        to: raw.to.clone(),
        bounce: raw.bounce.clone(),
        verp: raw.verp,
        step_timeout: Duration::from_secs(step_timeout),
    })
}
