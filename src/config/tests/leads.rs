//! Stores and deliveries as a configuration says them.

use std::fs;
use std::time::Duration;

use super::whole::{self, CA, documented};
use crate::config::{Config, Finding, StoreSettings};
use crate::delivery::{self, HttpAuth, HttpForm};
use crate::leads::Vehicleless;
use crate::store::Topology;

/// The documented configuration with these lines more.
fn load(more: &str) -> Result<Config, Vec<Finding>> {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("ca.pem"), CA).unwrap();
    let text = format!("{}\n{more}", documented("README.md"));
    whole::load(folder.path(), &text, &[])
}

fn keys(more: &str) -> Vec<String> {
    let findings = load(more).unwrap_err();
    findings.into_iter().map(|finding| finding.key).collect()
}

#[test]
fn every_shape_of_redis_is_taken() {
    let redis = |more: &str| match load(&format!("[store]\nkind = \"redis\"\n{more}")) {
        Ok(config) => match config.store {
            StoreSettings::Redis(settings) => settings,
            StoreSettings::Embedded(_) => panic!("embedded"),
        },
        Err(findings) => panic!("{findings:#?}"),
    };
    let one = redis(
        "url = \"rediss://r.example:6380\"\npassword_file = \"secret\"\nca_file = \"ca.pem\"\nwait_replicas = 1",
    );
    assert_eq!(one.topology, Topology::Single);
    assert_eq!(one.password.as_deref(), Some("sqlite:///nowhere.sqlite"));
    assert_eq!(one.ca_pem.as_deref(), Some(CA.as_bytes()));
    assert_eq!(one.wait, Some((1, Duration::from_secs(1))));
    assert_eq!(one.prefix, "forecourt");
    assert!(one.journal.as_ref().unwrap().ends_with("journal"));
    assert!(!one.danger_allow_eviction && !one.danger_allow_no_persistence);
    let watched = redis(
        "nodes = [\"redis://s1:26379\", \"redis://s2:26379\"]\nsentinel_master = \"m\"\nsentinel_password = \"p\"",
    );
    let Topology::Sentinel {
        master, password, ..
    } = watched.topology
    else {
        panic!("no Sentinel");
    };
    assert_eq!((master.as_str(), password.as_deref()), ("m", Some("p")));
    let cluster = redis("nodes = [\"redis://c1\", \"redis://c2\"]\ncluster = true");
    assert_eq!(cluster.topology, Topology::Cluster);
    assert_eq!(cluster.urls.len(), 2);
    let stored = StoreSettings::Redis(cluster).without_journal();
    assert!(matches!(stored, StoreSettings::Redis(settings) if settings.journal.is_none()));
}

#[test]
fn a_redis_that_cannot_be_meant_is_found() {
    let cases = [
        ("kind = \"redis\"", "store.url"),
        ("kind = \"redis\"\nurl = \"http://r\"", "store.url"),
        (
            "kind = \"redis\"\nurl = \"rediss://r#insecure\"",
            "store.url",
        ),
        (
            "kind = \"redis\"\nurl = \"redis://r\"\nca_file = \"ca.pem\"",
            "store.url",
        ),
        (
            "kind = \"redis\"\nurl = \"redis://r\"\nfile = \"x\"",
            "store.file",
        ),
        (
            "kind = \"redis\"\nurl = \"redis://r\"\nprefix = \"{x}\"",
            "store.prefix",
        ),
        (
            "kind = \"redis\"\nnodes = [\"redis://a\", \"redis://b\"]",
            "store.nodes",
        ),
        ("url = \"redis://r\"", "store.url"),
    ];
    for (text, key) in cases {
        assert_eq!(keys(&format!("[store]\n{text}")), [key], "{text}");
    }
}

const HTTP: &str = "[deployments.main.leads.deliveries.intake]\nkind = \"http\"\n";

#[test]
fn an_http_delivery_says_all_that_its_receiver_wants() {
    let config = load(&format!(
        "{HTTP}url = \"https://crm.example/adf\"\nvehicleless = \"plain_text\"\nform = \"json\"\njson_member = \"adf\"\n\
         json_others = {{ kind = \"adf\", version = 1 }}\nauth = {{ by = \"basic\", user = \"u\", password = \"p\" }}\n\
         headers = {{ X-Store = \"7\" }}\nsignature_header = \"x-sig\"\nsignature_secret = \"s\"\n\
         delivered = \"status == 200 and json.success\"\nretry = \"status == 503\"\ndeduplicates = true\n\
         correlation_header = \"Idempotency-Key\"\nsubjects = [\"new\"]\nrooftops = [\"Example Motors\"]\nper_minute = 30\n\
         [deployments.main.leads.deliveries.copy]\nkind = \"directory\"\npath = \"out\"\ncopy = true\n\
         [deployments.main.leads.provider_ids]\nGM = \"C-1\"\n[deployments.main.leads.vendor.ids]\nBAC = \"123\""
    ))
    .unwrap_or_else(|findings| panic!("{findings:#?}"));
    let leads = config.deployments[0].leads.as_ref().unwrap();
    let pair = |source: &str, value: &str| [(source.to_owned(), value.to_owned())];
    assert_eq!(leads.provider_ids, pair("GM", "C-1"));
    assert_eq!(leads.vendor.ids, pair("BAC", "123"));
    let target = |name: &str| leads.targets.iter().find(|one| one.name == name).unwrap();
    assert!(target("copy").route.copy);
    let intake = target("intake");
    assert_eq!(intake.route.subjects, ["new"]);
    assert_eq!(intake.per_minute, Some(30));
    assert_eq!(intake.vehicleless, Vehicleless::PlainText);
    let delivery::Settings::Http(http) = &intake.delivery else {
        panic!("not HTTP");
    };
    assert!(matches!(&http.auth, HttpAuth::Basic { user, .. } if user == "u"));
    let HttpForm::Json { member, others } = &http.form else {
        panic!("not JSON");
    };
    assert_eq!(member, "adf");
    assert_eq!(
        serde_json::Value::Object(others.clone()),
        serde_json::json!({"kind": "adf", "version": 1})
    );
    assert!(http.deduplicates && !http.policy.allow_http);
    assert_eq!(http.signature.as_ref().unwrap().0, "x-sig");
}

// AAP-575
#[test]
fn an_http_delivery_that_would_fail_later_is_found_now() {
    let url = "url = \"https://crm.example/adf\"\n";
    let words = "vehicleless = \"plain_text\"\n";
    let at = |key: &str| format!("deployments.main.leads.deliveries.intake.{key}");
    let cases = [
        (String::new() + words, at("url")),
        (url.to_owned(), at("vehicleless")),
        (
            "url = \"http://crm.example/\"\n".to_owned() + words,
            at("url"),
        ),
        (
            format!("{url}{words}signature_header = \"x\"\n"),
            at("signature_secret"),
        ),
        (
            format!("{url}{words}json_member = \"x\"\n"),
            at("json_member"),
        ),
        (
            format!("{url}{words}auth = {{ by = \"header\", name = \"n\", value = \"v\" }}\n"),
            at("auth.by"),
        ),
        (
            format!("{url}{words}delivered = \"status ==\"\n"),
            at("delivered"),
        ),
        (
            format!("{url}{words}subjects = [\"boats\"]\n"),
            at("subjects"),
        ),
        (
            format!("{url}{words}rooftops = [\"Elsewhere\"]\n"),
            at("rooftops"),
        ),
    ];
    for (text, key) in cases {
        assert_eq!(keys(&format!("{HTTP}{text}")), [key], "{text}");
    }
}

#[test]
fn a_scheduling_system_and_alerts_are_taken() {
    let config = load(
        "[deployments.main.leads.scheduling]\nurl = \"https://book.example/\"\noutcome = \"json.state\"\n\
         confirmed_at = \"json.at\"\nrequest = { slot = \"lead.appointment.appointment_at\" }\n\
         [deployments.main.leads.alerts.ops]\nkind = \"http\"\nurl = \"https://hooks.example/x\"\nform = \"json\"\njson_member = \"text\"\n\
         [deployments.main.leads.alerts.mail]\nkind = \"smtp\"\nhost = \"relay\"\nfrom = \"f@dealer.example\"\nto = [\"ops@dealer.example\"]",
    )
    .unwrap_or_else(|findings| panic!("{findings:#?}"));
    let leads = config.deployments[0].leads.as_ref().unwrap();
    assert_eq!(leads.alerts.len(), 2);
    let scheduling = leads.scheduling.as_ref().unwrap();
    assert_eq!(scheduling.timeout, Duration::from_secs(5));
    assert_eq!(
        scheduling.http.correlation_header.as_deref(),
        Some("Idempotency-Key")
    );
    let missing = keys("[deployments.main.leads.scheduling]\nurl = \"http://book.example/\"");
    assert_eq!(
        missing,
        [
            "deployments.main.leads.scheduling.outcome",
            "deployments.main.leads.scheduling.url"
        ]
    );
}
