//! Whole configurations: what is shown to people works, and what is wrong is all said at once.

use std::fs;
use std::path::{Path, PathBuf};

use crate::config::{Config, Environment, Finding, Sources};
use crate::delivery;
use crate::sources;

/// What passes for a file of authorities until somebody opens it.
pub(super) const CA: &str = "-----BEGIN CERTIFICATE-----\n";

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// The fenced TOML texts of a document.
fn examples(name: &str) -> Vec<String> {
    let text = fs::read_to_string(root().join(name)).unwrap();
    let mut found = Vec::new();
    let mut inside: Option<Vec<&str>> = None;
    for line in text.lines() {
        match (line.trim(), &mut inside) {
            (fence, None) if fence.starts_with("```toml") => inside = Some(Vec::new()),
            ("```", Some(_)) => found.push(inside.take().unwrap().join("\n")),
            (line, Some(lines)) => lines.push(line),
            (_, None) => {}
        }
    }
    found
}

/// Loads `text` beside a mapping, with the secrets' files where a test can have them.
pub(super) fn load(
    folder: &Path,
    text: &str,
    variables: &[(&str, &str)],
) -> Result<Config, Vec<Finding>> {
    let file = folder.join("forecourt.toml");
    fs::write(&file, text).unwrap();
    let secret = folder.join("secret").display().to_string();
    let url = (
        "FORECOURT_DEPLOYMENTS__MAIN__INVENTORY__SOURCE__URL_FILE",
        secret.as_str(),
    );
    load_file(&file, folder, &[&[url], variables].concat())
}

pub(super) fn load_file(
    file: &Path,
    folder: &Path,
    variables: &[(&str, &str)],
) -> Result<Config, Vec<Finding>> {
    let mapping = examples("README.md")
        .into_iter()
        .find(|text| text.contains("[price]"));
    fs::write(folder.join("mapping.toml"), mapping.unwrap()).unwrap();
    let secret = folder.join("secret");
    fs::write(&secret, "sqlite:///nowhere.sqlite\n").unwrap();
    let secret = secret.display().to_string();
    let password = "FORECOURT_DEPLOYMENTS__MAIN__LEADS__DELIVERIES__CRM__PASSWORD_FILE";
    let variables = [&[(password, secret.as_str())], variables].concat();
    Config::load(&Sources {
        files: vec![file.to_owned()],
        flags: Vec::new(),
        environment: variables
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect::<Environment>(),
    })
    .map_err(|findings| findings.0)
}

pub(super) fn documented(name: &str) -> String {
    examples(name)
        .into_iter()
        .find(|text| text.contains("[deployments.main]"))
        .unwrap()
}

#[test]
fn the_examples_of_readme_and_reference_are_right() {
    for name in ["README.md", "docs/configuration.md"] {
        let folder = tempfile::tempdir().unwrap();
        let config = load(folder.path(), &documented(name), &[])
            .unwrap_or_else(|f| panic!("{name}: {f:#?}"));
        let main = &config.deployments[0];
        assert_eq!(main.public_url.urls(8080).mcp, "https://dealer.example/mcp");
        let leads = main.leads.as_ref().unwrap();
        let crm = leads
            .targets
            .iter()
            .find(|target| target.name == "crm")
            .unwrap();
        let delivery::Settings::Smtp(smtp) = &crm.delivery else {
            panic!("{:?}", crm.delivery);
        };
        assert_eq!(smtp.port, 587);
        assert_eq!(smtp.login.as_ref().unwrap().1, "sqlite:///nowhere.sqlite");
        let sources::Settings::Sql(sql) = &main.inventory.as_ref().unwrap().source else {
            panic!("not sql");
        };
        assert_eq!(sql.url, "sqlite:///nowhere.sqlite");
    }
}

#[test]
fn every_field_and_step_that_the_mapping_page_names_is_known() {
    let page = fs::read_to_string(root().join("docs/mapping.md")).unwrap();
    let (_, fields) = page.split_once("The names are AAP's: ").unwrap();
    let (fields, _) = fields.split_once("\n\n").unwrap();
    let names: Vec<&str> = fields.split('`').skip(1).step_by(2).collect();
    assert_eq!(names.len(), 35);
    let lines: Vec<String> = names
        .iter()
        .filter(|name| !["vehicle_id", "status"].contains(name))
        .map(|name| format!("{name} = \"X\""))
        .collect();
    let text = format!(
        "name = \"n\"\n[source]\nkind = \"sql\"\nquery = \"SELECT 1\"\nkey = \"K\"\n[fields]\nvehicle_id = \"K\"\n\
         status = \"S\"\n{}\n[updated_at]\nprovenance = \"source_column\"\nfrom = \"T\"\n",
        lines.join("\n")
    );
    crate::mapping::Mapping::parse(&text).unwrap();
}

/// The text with every file under `/run/secrets` being one that is there.
fn with_secrets(folder: &Path, text: &str) -> String {
    let secret = folder.join("secret").display().to_string();
    let mut parts = text.split("\"/run/secrets/");
    let mut whole = parts.next().unwrap().to_owned();
    for part in parts {
        let (_, rest) = part.split_once('"').unwrap();
        whole = format!("{whole}\"{secret}\"{rest}");
    }
    whole
}

#[tokio::test]
async fn every_example_of_the_sources_page_is_right() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("forecourt.toml");
    for authority in ["dms-ca.pem", "feeds-ca.pem"] {
        fs::write(folder.path().join(authority), CA).unwrap();
    }
    let (mut settings, mut mappings) = (Vec::new(), Vec::new());
    for example in examples("docs/sources.md") {
        if !example.contains("[deployments.main") {
            let rest = "\n[fields]\nvehicle_id = \"ID\"\nstatus = \"STATUS\"\n[updated_at]\nprovenance = \"source_column\"\nfrom = \"MODIFIED\"\n";
            let text = format!("name = \"n\"\n{example}{rest}");
            let mapping = crate::mapping::Mapping::parse(&text);
            mappings.push(mapping.unwrap_or_else(|f| panic!("{example}: {f:#?}")));
            continue;
        }
        let base = documented("README.md");
        let source = "source = { kind = \"sql\", url_file = \"/run/secrets/dms-url\" }";
        assert!(base.contains(source));
        let text = if example.contains("inventory.source]") {
            base.replace(source, "") + "\n" + &example
        } else {
            let keys = example.split_once('\n').unwrap().1;
            base.replace(source, &format!("{source}\n{keys}"))
        };
        fs::write(&file, with_secrets(folder.path(), &text)).unwrap();
        let config = load_file(&file, folder.path(), &[]);
        let config = config.unwrap_or_else(|f| panic!("{example}: {f:#?}"));
        let inventory = config.deployments.into_iter().next().unwrap().inventory;
        settings.push(inventory.unwrap().source);
    }
    assert_eq!((settings.len(), mappings.len()), (9, 4));
    // Each mapping's queries and paths hold for the kind of source that they are for.
    for mapping in &mappings {
        let fits = match mapping.plan() {
            crate::mapping::Plan::Sql(_) => {
                sources::Settings::Sql(sources::sql::Settings::new("sqlite://x"))
            }
            crate::mapping::Plan::Feed(_) => {
                sources::Settings::Feed(sources::feed::Settings::new("x"))
            }
            crate::mapping::Plan::Rest(_) => {
                sources::Settings::Rest(sources::rest::Settings::new("https://api.example"))
            }
        };
        sources::Source::open(fits, mapping.plan()).await.unwrap();
    }
}

#[test]
fn a_feed_lies_in_one_place_and_a_certificate_has_its_key() {
    let folder = tempfile::tempdir().unwrap();
    let wrong = |source: &str| {
        let sql = "source = { kind = \"sql\", url_file = \"/run/secrets/dms-url\" }";
        let file = folder.path().join("forecourt.toml");
        fs::write(&file, documented("README.md").replace(sql, source)).unwrap();
        let findings = load_file(&file, folder.path(), &[]).unwrap_err();
        findings[0].key.rsplit_once("source.").unwrap().1.to_owned()
    };
    let both = "source = { kind = \"feed\", path = \"a\", url = \"https://x.example\" }";
    assert_eq!(wrong(both), "path");
    assert_eq!(wrong("source = { kind = \"feed\" }"), "path");
    let keyless = "source = { kind = \"rest\", base_url = \"https://x.example\", client_certificate_file = \"c.pem\" }";
    assert_eq!(wrong(keyless), "client_key_file");
    let bare =
        "source = { kind = \"feed\", url = \"https://x.example\", client_key_file = \"k.pem\" }";
    assert_eq!(wrong(bare), "client_certificate_file");
}

#[test]
fn every_kind_of_source_and_of_credentials_is_taken() {
    let folder = tempfile::tempdir().unwrap();
    let sql = "source = { kind = \"sql\", url_file = \"/run/secrets/dms-url\" }";
    let compiled = |source: &str| {
        let text = documented("README.md").replace(sql, source);
        let file = folder.path().join("forecourt.toml");
        fs::write(&file, text).unwrap();
        load_file(&file, folder.path(), &[])
    };
    let config = compiled("source = { kind = \"feed\", path = \"feeds\" }").unwrap();
    let sources::Settings::Feed(feed) = &config.deployments[0].inventory.as_ref().unwrap().source
    else {
        panic!("not a feed");
    };
    assert!(
        matches!(&feed.place, sources::feed::Place::Disk { path, .. } if *path == folder.path().join("feeds"))
    );
    for auth in [
        "by = \"header\", name = \"X-Key\", value = \"k\"",
        "by = \"query\", name = \"key\", value = \"k\"",
        "by = \"basic\", user = \"u\", password_file = \"secret\"",
        "by = \"bearer\", token = \"t\"",
        "by = \"client_credentials\", token_url = \"https://id.example/token\", client_id = \"c\", client_secret = \"s\"",
    ] {
        let api = format!(
            "source = {{ kind = \"rest\", base_url = \"https://api.example\", auth = {{ {auth} }} }}"
        );
        let config = compiled(&api).unwrap_or_else(|findings| panic!("{auth}: {findings:#?}"));
        let source = &config.deployments[0].inventory.as_ref().unwrap().source;
        let sources::Settings::Rest(api) = source else {
            panic!("{auth}: not an API");
        };
        assert!(api.access.auth.is_some());
    }
    let wrong = "source = { kind = \"rest\", auth = { by = \"basic\" } }";
    let findings = compiled(wrong).unwrap_err();
    let keys: Vec<&str> = findings
        .iter()
        .map(|f| f.key.rsplit_once("source.").unwrap().1)
        .collect();
    assert_eq!(keys, ["base_url", "auth.user", "auth.password"]);
}

#[test]
fn the_demo_s_file_is_an_ordinary_configuration() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("forecourt.toml");
    fs::copy(root().join("demo/forecourt.toml"), &file).unwrap();
    let preset = root().join("mappings/dms-sqlserver/mapping.toml");
    fs::copy(preset, folder.path().join("mapping.toml")).unwrap();
    let sources = Sources {
        files: vec![file],
        ..Sources::default()
    };
    let config = Config::load(&sources).unwrap();
    assert_eq!(config.data_directory, folder.path().join("."));
    let urls = config.deployments[0].public_url.urls(1234);
    assert_eq!(urls.mcp, "http://127.0.0.1:1234/mcp");
    assert!(urls.serve_inventory_page);
}

#[test]
fn a_configuration_says_everything_that_is_wrong_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let text = documented("README.md")
        .replace(
            "domain = \"dealer.example\"",
            "domain = \"https://dealer.example/x\"\nskils = []",
        )
        .replace("timezone = \"America/Chicago\"", "timezone = \"Chicago\"")
        .replace("latitude = 41.88", "latitude = 141.88")
        .replace("kind = \"sql\"", "kind = \"sqll\"")
        .replace("host = \"smtp.dealer.example\"\n", "");
    let findings = load(
        folder.path(),
        &text,
        &[
            ("FORECOURT_SERVER__LISTEN", "here"),
            (
                "FORECOURT_DEPLOYMENTS__MAIN__SEARCH__DEFAULT_SORT",
                "beauty desc",
            ),
            ("FORECOURT_DEPLOYMENTS__MAIN__MCP__PATH", "mcp/"),
        ],
    )
    .unwrap_err();
    let keys: Vec<&str> = findings
        .iter()
        .map(|finding| finding.key.as_str())
        .collect();
    for key in [
        "deployments.main.domain",
        "deployments.main.skils",
        "deployments.main.profile.rooftops.0.timezone",
        "deployments.main.profile.rooftops.0.geo.latitude",
        "deployments.main.inventory.source.kind",
        "deployments.main.leads.deliveries.crm.host",
        "server.listen",
        "deployments.main.search.default_sort",
        "deployments.main.mcp.path",
    ] {
        assert!(keys.contains(&key), "{key} in {keys:?}");
    }
    assert!(
        findings
            .iter()
            .all(|f| !f.reason.is_empty() && !f.remedy.is_empty() && f.place.is_some())
    );
}

// AAP-233
#[test]
fn the_development_switches_of_net_go_with_a_loopback_listener_only() {
    let folder = tempfile::tempdir().unwrap();
    let ca = folder.path().join("ca.pem");
    fs::write(&ca, CA).unwrap();
    let ca = ca.display().to_string();
    let switches = [
        ("FORECOURT_NET__DANGER_ALLOW_LOOPBACK", "true"),
        ("FORECOURT_NET__DANGER_ALLOW_PRIVATE_ADDRESSES", "true"),
        ("FORECOURT_NET__EXTRA_CA_FILE", ca.as_str()),
    ];
    for (listen, faults) in [("127.0.0.1:0", 0), ("[::1]:0", 0), ("0.0.0.0:8080", 4)] {
        let variables = [switches.as_slice(), &[("FORECOURT_SERVER__LISTEN", listen)]].concat();
        let loaded = load(folder.path(), &documented("README.md"), &variables);
        let found = loaded.err().unwrap_or_default();
        assert_eq!(found.len(), faults, "{listen}: {found:?}");
        // The last is that plain HTTP would leave this machine.
        let known = |key: &str| key.starts_with("net.") || key == "server.listen";
        assert!(found.iter().all(|finding| known(&finding.key)));
    }
    let strict = load(folder.path(), &documented("README.md"), &[]).unwrap();
    assert_eq!(strict.peers.reach, crate::net::Reach::Public);
    assert!(!strict.peers.any_port && !strict.peers.allow_http);
    let missing = [("FORECOURT_NET__EXTRA_CA_FILE", "/nowhere/ca.pem")];
    assert!(load(folder.path(), &documented("README.md"), &missing).is_err());
}

// AAP-211 AAP-218 AAP-235
#[test]
fn a_deployment_s_issuer_hangs_below_its_own_url() {
    let folder = tempfile::tempdir().unwrap();
    let text = documented("README.md");
    let off = load(folder.path(), &text, &[]).unwrap();
    assert!(off.deployments[0].pap.is_none());
    let on = text.clone()
        + "\n[deployments.main.pap]\nenabled = true\nnonces = \"required\"\n\
           registration = \"block\"\nclients = [\"https://bad.example/c\"]\n";
    let on = load(folder.path(), &on, &[]).unwrap();
    let deployment = &on.deployments[0];
    let base = deployment.public_url.base(8080);
    let mcp = deployment.public_url.urls(8080).mcp;
    let pap = deployment.pap.as_ref().unwrap();
    let settings = pap.settings(&base, &mcp);
    assert_eq!(settings.issuer, "https://dealer.example/poppy");
    assert_eq!(settings.resource, settings.issuer);
    assert_eq!(settings.domains, ["dealer.example"]);
    assert_eq!(settings.nonces, crate::oauth::NonceMode::Required);
    assert!(settings.mcp.is_none());
    let native =
        format!("{text}\n[deployments.main.pap]\nenabled = true\nnative_mcp = \"bearer\"\n");
    let native = load(folder.path(), &native, &[]).unwrap();
    let pap = native.deployments[0].pap.as_ref().unwrap();
    let native = pap.settings(&base, &mcp).mcp.unwrap();
    assert_eq!(native.resource, "https://dealer.example/mcp");
    assert_eq!(native.tokens, crate::oauth::McpTokens::Bearer);
    for wrong in [
        "path = \"poppy/\"",
        "token_lifetime_s = 90000",
        "registration = \"allow\"",
        "clients = []",
        "nonces = \"sometimes\"",
    ] {
        let wrong = format!("{text}\n[deployments.main.pap]\nenabled = true\n{wrong}\n");
        let found = load(folder.path(), &wrong, &[]).unwrap_err();
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].key.starts_with("deployments.main.pap."));
    }
}

// AAP-122 AAP-142
#[test]
fn tokens_are_asked_for_where_an_issuer_is_named_and_nowhere_else() {
    let folder = tempfile::tempdir().unwrap();
    let text = documented("README.md");
    let open = load(folder.path(), &text, &[]).unwrap();
    assert!(open.deployments[0].oauth.is_none());
    let issuer = "[deployments.main.oauth]\nissuer = \"https://login.example/r\"\n\
        scopes = [\"inventory\"]\nalgorithms = [\"ES256\"]\n";
    let mcp = "[deployments.main.mcp]\naccess = \"oauth\"\naudience = \"https://api.example\"\n";
    let a2a = "[deployments.main.a2a]\nlead_access = \"oauth\"\n";
    let protected = format!("{text}\n{issuer}{mcp}{a2a}");
    let config = load(folder.path(), &protected, &[]).unwrap();
    let oauth = config.deployments[0].oauth.as_ref().unwrap();
    let gate = oauth.mcp("https://dealer.example/mcp", "A").unwrap();
    assert!(gate.everything);
    assert_eq!(gate.resource, "https://dealer.example/mcp");
    assert_eq!(gate.audience, "https://api.example");
    let gate = oauth.a2a("https://dealer.example/a2a", "A").unwrap();
    assert!(!gate.everything);
    assert_eq!(gate.audience, "https://dealer.example/a2a");
    assert!(!oauth.authority.policy.allow_http);
    assert_eq!(oauth.authority.algorithms, [crate::oauth::Algorithm::Es256]);
    for (wrong, key) in [
        (mcp.to_owned(), "oauth"),
        (issuer.to_owned(), "oauth"),
        (issuer.replace("https", "http") + a2a, "oauth.issuer"),
        (issuer.replace("/r", "/r?x") + a2a, "oauth.issuer"),
        (issuer.replace("/r", "/r#x") + a2a, "oauth.issuer"),
        (
            "[deployments.main.oauth]\n".to_owned() + a2a,
            "oauth.issuer",
        ),
        (
            issuer.replace("\"inventory\"", "\"a b\"") + a2a,
            "oauth.scopes",
        ),
        (issuer.replace("ES256", "none") + a2a, "oauth.algorithms"),
        (issuer.replace("\"ES256\"", "") + a2a, "oauth.algorithms"),
        (
            issuer.to_owned() + "clock_skew_s = 301\n" + a2a,
            "oauth.clock_skew_s",
        ),
        (
            issuer.to_owned() + "ca_file = \"absent\"\n" + a2a,
            "oauth.ca_file",
        ),
        (
            issuer.to_owned() + "jwks_url = \"http://login.example/k\"\n" + a2a,
            "oauth.jwks_url",
        ),
        (
            "[deployments.main.mcp]\naudience = \"x\"\n".to_owned(),
            "mcp.audience",
        ),
        (
            format!("{issuer}{mcp}{a2a}audience = \"https://api.example\"\n"),
            "a2a.audience",
        ),
    ] {
        let found = load(folder.path(), &format!("{text}\n{wrong}"), &[]).unwrap_err();
        let keys: Vec<&str> = found.iter().map(|finding| finding.key.as_str()).collect();
        assert_eq!(keys, [format!("deployments.main.{key}")], "{wrong}");
    }
}

// AAP-007 AAP-048 AAP-049 AAP-216
#[test]
fn plain_http_is_for_loopback_only() {
    let folder = tempfile::tempdir().unwrap();
    let name = "FORECOURT_DEPLOYMENTS__MAIN__PUBLIC_URL";
    let domain = "FORECOURT_DEPLOYMENTS__MAIN__DOMAIN";
    for (host, url) in [
        ("127.0.0.1", "http://127.0.0.1:8080"),
        ("::1", "http://[::1]:8080"),
    ] {
        let loaded = load(
            folder.path(),
            &documented("README.md"),
            &[(name, url), (domain, host)],
        );
        assert!(loaded.is_ok(), "{url}: {loaded:?}");
    }
    for (url, fine) in [
        ("https://dealer.example", true),
        ("https://Dealer.example:8443", true),
        ("https://www.dealer.example", false),
        ("http://127.0.0.1:8080", false),
        ("http://dealer.example", false),
        ("http://127.0.0.1.dealer.example", false),
        ("ftp://dealer.example", false),
        ("https://user@dealer.example", false),
        ("https://dealer.example/base", false),
        ("dealer.example", false),
    ] {
        let loaded = load(folder.path(), &documented("README.md"), &[(name, url)]);
        let found = loaded.err().unwrap_or_default();
        let keys: Vec<&str> = found.iter().map(|finding| finding.key.as_str()).collect();
        let wanted: &[&str] = if fine {
            &[]
        } else {
            &["deployments.main.public_url"]
        };
        assert_eq!(keys, wanted, "{url}");
    }
}

#[test]
fn a_secret_is_given_once_and_never_shown() {
    let folder = tempfile::tempdir().unwrap();
    let text = documented("README.md");
    let password = "FORECOURT_DEPLOYMENTS__MAIN__LEADS__DELIVERIES__CRM__PASSWORD";
    let findings = load(folder.path(), &text, &[(password, "hunter2")]).unwrap_err();
    assert_eq!(findings.len(), 1, "{findings:?}");
    assert_eq!(
        findings[0].key,
        "deployments.main.leads.deliveries.crm.password_file"
    );
    assert!(!format!("{findings:?}").contains("hunter2"));
    let missing = [(
        "FORECOURT_DEPLOYMENTS__MAIN__LEADS__DELIVERIES__CRM__PASSWORD_FILE",
        "/nowhere",
    )];
    let findings = load(folder.path(), &text, &missing).unwrap_err();
    assert!(findings[0].reason.contains("/nowhere"), "{findings:?}");
}

#[test]
fn a_missing_mapping_and_a_wrong_one_are_findings() {
    let folder = tempfile::tempdir().unwrap();
    let name = "FORECOURT_DEPLOYMENTS__MAIN__INVENTORY__MAPPING";
    let text = documented("README.md");
    let findings = load(folder.path(), &text, &[(name, "/nowhere.toml")]).unwrap_err();
    assert_eq!(findings[0].key, "deployments.main.inventory.mapping");
    let wrong = folder.path().join("wrong.toml");
    fs::write(&wrong, "name = 3\n[fieldz]\n").unwrap();
    let findings = load(folder.path(), &text, &[(name, wrong.to_str().unwrap())]).unwrap_err();
    assert!(
        findings
            .iter()
            .all(|finding| finding.reason.contains("wrong.toml")),
        "{findings:?}"
    );
}

#[test]
fn defaults_lie_below_each_deployment_and_are_wrong_once() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("forecourt.toml");
    let text = "[defaults.search]\ndefault_limit = 7\nmax_limit = 9\noffsets = true\n\
        [deployments.one.search]\nmax_limit = 8\n[deployments.two]\ndomain = \"two.example\"\n";
    fs::write(&file, text).unwrap();
    let sources = Sources {
        files: vec![file],
        ..Sources::default()
    };
    let mut findings = Vec::new();
    let mut tree = sources.merge(&mut findings);
    let key = ["defaults".to_owned()];
    let _read: crate::config::raw::Deployment = tree.read(&key, &mut findings);
    tree.lay_below("defaults", "deployments");
    let raw: crate::config::raw::Raw = tree.read(&[], &mut findings);
    let said: Vec<_> = findings.iter().map(|f| f.key.as_str()).collect();
    assert_eq!(said, ["defaults.search.offsets"]);
    for (id, max_limit) in [("one", 8), ("two", 9)] {
        let search = &raw.deployments[id].search;
        assert_eq!(search.default_limit, Some(7), "{id}");
        assert_eq!(search.max_limit, Some(max_limit), "{id}");
    }
    let place = tree.place(&["deployments", "two", "search", "max_limit"].map(str::to_owned));
    assert!(place.unwrap().ends_with("forecourt.toml"));
}

#[test]
fn the_aggregate_that_is_shown_is_right() {
    let folder = tempfile::tempdir().unwrap();
    let shown = examples("docs/deployments.md");
    let text = shown
        .iter()
        .find(|text| text.contains("aggregate"))
        .unwrap();
    let mapping = examples("README.md")
        .into_iter()
        .find(|text| text.contains("[price]"));
    fs::write(folder.path().join("north.toml"), mapping.as_ref().unwrap()).unwrap();
    let file = folder.path().join("forecourt.toml");
    fs::write(&file, text).unwrap();
    let sources = Sources {
        files: vec![file],
        ..Sources::default()
    };
    let config = Config::load(&sources).unwrap_or_else(|findings| panic!("{findings}"));
    let names: Vec<_> = config.deployments[0]
        .inventories()
        .into_iter()
        .map(|(name, ..)| name)
        .collect();
    assert_eq!(names, ["market/north"]);
    // What all dealers of the process have in common holds for the sellers, too.
    let shared = text.replace("mapping = \"north.toml\", ", "");
    assert_ne!(&shared, text);
    let defaults = "[defaults.inventory]\nmapping = \"north.toml\"\n";
    fs::write(&sources.files[0], format!("{defaults}{shared}")).unwrap();
    let config = Config::load(&sources).unwrap_or_else(|findings| panic!("{findings}"));
    let (_, _, inventory) = config.deployments[0]
        .inventories()
        .into_iter()
        .next()
        .unwrap();
    let own = mapping.unwrap();
    assert!(own.contains(&format!("name = \"{}\"", inventory.mapping.name())));
}
