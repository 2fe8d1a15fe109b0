//! What would be accepted and then say nothing, or could never work, is found when the configuration is read.

use std::fs;

use super::whole::{self, CA, documented};

/// The findings' keys below the deployment, with `from` in the documented configuration being `to`, and `more` behind it.
fn keys(from: &str, to: &str, more: &str) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("ca.pem"), CA).unwrap();
    let base = documented("README.md");
    assert!(base.contains(from), "{from}");
    let text = format!("{}\n{more}", base.replace(from, to));
    let file = folder.path().join("forecourt.toml");
    // The documented source is read from a secret's file; another one says all of itself.
    let findings = if text.contains(SOURCE) {
        whole::load(folder.path(), &text, &[]).err()
    } else {
        fs::write(&file, text).unwrap();
        whole::load_file(&file, folder.path(), &[]).err()
    };
    let keys = findings.into_iter().flatten().map(|finding| finding.key);
    keys.map(|key| key.trim_start_matches("deployments.main.").to_owned())
        .collect()
}

const SOURCE: &str = "source = { kind = \"sql\", url_file = \"/run/secrets/dms-url\" }";
const CRM: &str = "[deployments.main.leads.deliveries.crm]\n";

#[test]
fn what_another_kind_would_read_is_found() {
    let feed = |more: &str| {
        let source = format!("source = {{ kind = \"feed\", {more} }}");
        keys(SOURCE, &source, "")
    };
    assert_eq!(feed("path = \"a.csv\""), [""; 0]);
    let keys_of_web = [
        ("max_download_bytes", "1000"),
        ("auth", "{ by = \"bearer\", token = \"t\" }"),
        ("headers", "{ x = \"y\" }"),
        ("extra_ca_file", "\"ca.pem\""),
        ("client_key_file", "\"k.pem\""),
        ("danger_allow_http", "true"),
        ("request_timeout_ms", "1000"),
    ];
    let said = keys_of_web.map(|(key, value)| format!("{key} = {value}"));
    let found = feed(&format!("path = \"a.csv\", {}", said.join(", ")));
    assert_eq!(
        found,
        keys_of_web.map(|(key, _)| format!("inventory.source.{key}"))
    );
    let found = feed("url = \"https://x.example\", pattern = \"*.csv\"");
    assert_eq!(found, ["inventory.source.pattern"]);
    let found = feed(
        "url = \"https://x.example\", auth = { by = \"bearer\", token = \"t\", user = \"u\", in_body = true }",
    );
    let auth = "inventory.source.auth";
    assert_eq!(found, [format!("{auth}.user"), format!("{auth}.in_body")]);
    let keys_of_redis = [
        ("password", "\"p\""),
        ("ca_file", "\"ca.pem\""),
        ("prefix", "\"p\""),
        ("wait_replicas", "1"),
        ("journal", "\"j\""),
        ("danger_allow_eviction", "true"),
        ("sentinel_password", "\"p\""),
    ];
    let said = keys_of_redis.map(|(key, value)| format!("{key} = {value}"));
    let found = keys("", "", &format!("[store]\n{}", said.join("\n")));
    assert_eq!(found, keys_of_redis.map(|(key, _)| format!("store.{key}")));
    let sentinels = "[store]\nkind = \"redis\"\nurl = \"redis://r\"\nsentinel_password = \"p\"";
    assert_eq!(keys("", "", sentinels), ["store.sentinel_password"]);
    let alert = "[deployments.main.leads.alerts.boss]\nkind = \"http\"\nurl = \"https://x.example\"\nper_minute = 3";
    assert_eq!(keys("", "", alert), ["leads.alerts.boss.per_minute"]);
}

#[test]
fn a_limit_of_nothing_is_found() {
    // Beyond 240 seconds is what a whole attempt may take.
    let crm = format!("{CRM}per_minute = 0\nstep_timeout_s = 600\n");
    let found = keys(
        CRM,
        &crm,
        "[server]\nrequests_per_minute_per_address = 0\n[deployments.main.limits]\n\
         leads_per_minute = 0\ncalls_per_minute = 0\nrequests_per_minute = 0",
    );
    let expected = [
        "server.requests_per_minute_per_address",
        "leads.deliveries.crm.step_timeout_s",
        "leads.deliveries.crm.per_minute",
        "limits.leads_per_minute",
        "limits.calls_per_minute",
        "limits.requests_per_minute",
    ];
    assert_eq!(found, expected);
}

#[test]
fn a_way_out_that_would_take_no_lead_is_found() {
    let found = keys(CRM, &format!("{CRM}sellers = [\"north\"]\n"), "");
    assert_eq!(found, ["leads.deliveries.crm.sellers"]);
}

#[test]
fn what_would_fail_at_the_first_lead_is_found() {
    let found = keys("from = \"", "from = \"not an address", "");
    assert_eq!(found, ["leads.deliveries.crm"]);
    let way = |name: &str, line: &str| {
        format!(
            "[deployments.main.leads.deliveries.{name}]\nkind = \"http\"\nvehicleless = \"plain_text\"\ncopy = true\n\
             url = \"https://crm.example\"\n{line}\n"
        )
    };
    let ways = [
        way("a", "").replace("https://", ""),
        way("b", "headers = { \"not a name\" = \"x\" }"),
        way("c", "correlation_header = \"not a name\""),
        way("d", "content_type = \"two\\nlines\""),
        way("e", "retry = \"status in\""),
        way("f", "extra_ca_file = \"away.pem\""),
        way("g", "extra_ca_file = \"forecourt.toml\""),
        "[deployments.main.leads]\nanswer_message = \" \"\nid_source = \"\"\nvendor = { phone = \"\" }\n".to_owned(),
        "[deployments.main.leads.scheduling]\nurl = \"https://book.example\"\noutcome = \"json.\"\n".to_owned(),
    ];
    let mut found = keys("", "", &ways.concat());
    found.sort();
    let expected = [
        "leads.answer_message",
        "leads.deliveries.a",
        "leads.deliveries.b",
        "leads.deliveries.c",
        "leads.deliveries.d",
        "leads.deliveries.e.retry",
        "leads.deliveries.f.extra_ca_file",
        "leads.deliveries.g.extra_ca_file",
        "leads.id_source",
        "leads.scheduling",
        "leads.vendor.phone",
    ];
    assert_eq!(found, expected);
    let empty = "[deployments.main.leads.scheduling]\nurl = \"https://book.example\"\noutcome = \"json.x\"\n\
        auth = { by = \"bearer\", token = \"\" }";
    assert_eq!(keys("", "", empty), ["leads.scheduling.auth.token"]);
}

#[test]
fn what_nobody_could_reach_is_found() {
    for (line, key) in [
        ("[deployments.main.mcp]\npath = \"/livez\"", "mcp.path"),
        ("[deployments.main.mcp]\npath = \"/inventory\"", "mcp.path"),
        ("[deployments.main.mcp]\npath = \"/a2a\"", "a2a.path"),
        (
            "[deployments.main.a2a]\npath = \"/.well-known/agent-card.json\"",
            "a2a.path",
        ),
        (
            "[deployments.main.mcp]\nallowed_origins = [\"*\", \"https://app.example\", \"app.example\"]",
            "mcp.allowed_origins.2",
        ),
    ] {
        assert_eq!(keys("", "", line), [key]);
    }
    let domain = "domain = \"dealer.example\"";
    let hosts =
        format!("{domain}\nextra_hosts = [\"forecourt.svc\", \"[::1]\", \"forecourt.svc:8080\"]");
    assert_eq!(keys(domain, &hosts, ""), ["extra_hosts.2"]);
    let other = "[deployments.other]\ndomain = \"other.example\"\nskills = [\"dealer.information\"]\nextra_hosts = [\"dealer.example\"]\n\
        [deployments.other.profile]\nname = \"Other\"\nrooftops = [{ name = \"Other\" }]";
    assert_eq!(keys("", "", other), ["deployments.other"]);
}

#[test]
fn a_profile_that_no_answer_could_carry_is_found() {
    let website = "timezone = \"America/Chicago\"\nwebsite = \"dealer.example\"";
    let found = keys("timezone = \"America/Chicago\"", website, "");
    assert_eq!(found, ["profile.rooftops.0.website"]);
}
