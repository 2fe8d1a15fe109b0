//! The program itself: its exit codes, its two output forms, the demo's life.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

pub(crate) fn forecourt(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_forecourt"));
    command.args(args).env_clear().stdin(Stdio::null());
    command
}

fn run(args: &[&str]) -> Output {
    forecourt(args).output().unwrap()
}

fn json(output: &Output) -> Value {
    let text = String::from_utf8(output.stdout.clone()).unwrap();
    assert_eq!(text.lines().count(), 1, "one JSON line: {text}");
    serde_json::from_str(&text).unwrap()
}

/// A demo that goes on until it is told to end.
pub(crate) struct Demo {
    process: Child,
    ready: Value,
}

impl Demo {
    pub(crate) fn start(data: &Path) -> Self {
        let data = data.to_str().unwrap();
        let args = [
            "demo",
            "--listen",
            "127.0.0.1:0",
            "--data",
            data,
            "--output",
            "json",
        ];
        Self::spawn(&args)
    }

    fn spawn(args: &[&str]) -> Self {
        let mut process = forecourt(args)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(process.stdout.as_mut().unwrap())
            .read_line(&mut line)
            .unwrap();
        let ready = serde_json::from_str(&line).unwrap();
        Self { process, ready }
    }

    pub(crate) fn text(&self, key: &str) -> String {
        self.ready[key].as_str().unwrap().to_owned()
    }

    /// Ends it by SIGTERM; the exit code, what else it printed, and how long that took.
    fn end(mut self) -> (Option<i32>, String, Duration) {
        let began = Instant::now();
        let pid = self.process.id().to_string();
        assert!(
            Command::new("kill")
                .args(["-TERM", &pid])
                .status()
                .unwrap()
                .success()
        );
        let status = self.process.wait().unwrap();
        let took = began.elapsed();
        let mut rest = String::new();
        self.process
            .stdout
            .take()
            .unwrap()
            .read_to_string(&mut rest)
            .unwrap();
        (status.code(), rest, took)
    }
}

impl Drop for Demo {
    fn drop(&mut self) {
        // It has ended already, or a test failed; in either case nothing may stay behind.
        drop(self.process.kill());
        drop(self.process.wait());
    }
}

#[test]
fn the_demo_says_where_it_is_ends_when_told_and_starts_again_on_its_folder() {
    let folder = tempfile::tempdir().unwrap();
    for round in ["fresh", "again"] {
        let demo = Demo::start(folder.path());
        for key in [
            "base_url",
            "mcp",
            "llms_txt",
            "leads_dir",
            "data_dir",
            "config",
        ] {
            assert!(
                demo.ready[key].is_string(),
                "{round}: {key} in {}",
                demo.ready
            );
        }
        assert_eq!(demo.ready["vehicles"], 26);
        assert!(demo.text("mcp").starts_with(&demo.text("base_url")));
        let address = demo.text("base_url").replace("http://", "");
        let health = run(&["healthcheck", "--address", &address]);
        assert_eq!(health.status.code(), Some(0));
        let (code, rest, took) = demo.end();
        assert_eq!((code, rest.as_str()), (Some(0), ""), "{round}");
        assert!(took < Duration::from_secs(2), "{round}: {took:?}");
        assert_eq!(
            run(&["healthcheck", "--address", &address]).status.code(),
            Some(69)
        );
    }
    let config = folder.path().join("forecourt.toml");
    let check = run(&[
        "check",
        "--config",
        config.to_str().unwrap(),
        "--output",
        "json",
    ]);
    assert_eq!(check.status.code(), Some(0));
    assert_eq!(json(&check)["inventories"][0]["published"], 26);
}

#[test]
fn the_demo_keeps_to_loopback_and_says_when_its_port_is_taken() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let data = data.to_str().unwrap();
    let wide = run(&["demo", "--listen", "0.0.0.0:0", "--data", data]);
    assert_eq!(wide.status.code(), Some(2));
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let refused = run(&["demo", "--listen", &address, "--data", data]);
    assert_eq!(refused.status.code(), Some(69));
    let words = String::from_utf8(refused.stderr).unwrap();
    assert!(
        words.contains(&address) && words.contains("--listen 127.0.0.1:0"),
        "{words}"
    );
    assert!(!Path::new(data).exists(), "nothing was made");
}

#[test]
fn exit_codes_tell_usage_configuration_and_findings_apart() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("forecourt.toml");
    std::fs::write(&file, "[server]\nlisten = 3\n[deployments.A]\n").unwrap();
    let file = file.to_str().unwrap();
    assert_eq!(run(&["nonsense"]).status.code(), Some(2));
    assert_eq!(run(&["--help"]).status.code(), Some(0));
    let wrong = run(&["serve", "--config", file, "--output", "json"]);
    assert_eq!(wrong.status.code(), Some(78));
    let error = &json(&wrong)["error"];
    assert_eq!(error["code"], 78);
    let keys: Vec<&str> = error["findings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|finding| finding["key"].as_str().unwrap())
        .collect();
    for key in [
        "server.listen",
        "deployments.A",
        "deployments.A.domain",
        "deployments.A.profile",
    ] {
        assert!(keys.contains(&key), "{key} in {keys:?}");
    }
    let words = run(&["check", "--config", file]);
    assert_eq!(words.status.code(), Some(78));
    assert!(
        String::from_utf8(words.stderr)
            .unwrap()
            .contains("× server.listen: is a number")
    );
    let filter = forecourt(&["version"])
        .env("FORECOURT_LOG", "=,=")
        .output()
        .unwrap();
    assert_eq!(filter.status.code(), Some(78));
}

#[test]
fn a_wrong_word_or_file_is_a_matter_of_usage_and_nothing_is_made_of_it() {
    let folder = tempfile::tempdir().unwrap();
    let there = folder.path().join("there");
    std::fs::write(&there, "not a key file").unwrap();
    let (there, away) = (there.to_str().unwrap(), folder.path().join("away"));
    let away = away.to_str().unwrap();
    for args in [
        &["keys", "generate", there][..],
        &["keys", "rotate", away],
        &["keys", "rotate", there],
        &["keys", "rotate", "--keep", "0", there],
        &["validate", "--type", "lead-submit-request", away],
        &["adf", "render", "--lead", away],
        &[
            "call",
            "inventory.search",
            "http://127.0.0.1:1",
            "--via",
            "mcp",
            "--payload",
            away,
        ],
        &["leads", "purge", "--yes"],
        &["leads", "list", "--limit", "0"],
        &[
            "init",
            away,
            "--domain",
            "https://x.example",
            "--name",
            "X",
            "--phone",
            "+1-312-555-0100",
            "--timezone",
            "UTC",
        ],
    ] {
        let output = run(args);
        assert_eq!(output.status.code(), Some(2), "{args:?}: {output:?}");
    }
    assert_eq!(std::fs::read_to_string(there).unwrap(), "not a key file");
    let left = std::fs::read_dir(away).into_iter().flatten().count();
    assert_eq!(left, 0, "init wrote something");
    for (name, word) in [("FORECOURT_OUTPUT", "jsn"), ("FORECOURT_LOG_FORMAT", "xml")] {
        let output = forecourt(&["version"]).env(name, word).output().unwrap();
        assert_eq!(output.status.code(), Some(78), "{name}");
        assert!(String::from_utf8(output.stderr).unwrap().contains(name));
    }
}

#[test]
fn a_probe_of_a_listener_with_tls_says_what_is_missing() {
    let folder = tempfile::tempdir().unwrap();
    let key = rcgen::KeyPair::generate().unwrap();
    let parameters = rcgen::CertificateParams::new(vec!["dealer.example".to_owned()]).unwrap();
    let certificate = parameters.self_signed(&key).unwrap();
    std::fs::write(folder.path().join("c.pem"), certificate.pem()).unwrap();
    std::fs::write(folder.path().join("k.pem"), key.serialize_pem()).unwrap();
    let file = folder.path().join("forecourt.toml");
    let text = "[server.tls]\ncertificate_file = \"c.pem\"\nkey_file = \"k.pem\"\n\
        [deployments.main]\ndomain = \"dealer.example\"\nskills = [\"dealer.information\"]\n\
        [deployments.main.profile]\nname = \"Dealer\"\nrooftops = [{ name = \"Dealer\" }]\n";
    std::fs::write(&file, text).unwrap();
    let output = run(&["healthcheck", "--config", file.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(78));
    assert!(
        String::from_utf8(output.stderr)
            .unwrap()
            .contains("server.admin_listen")
    );
}

// Whoever reads the log may end before the process does.
#[test]
fn a_log_that_nobody_reads_any_more_does_not_end_the_process() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let mut child = forecourt(&[
        "demo",
        "--listen",
        "127.0.0.1:0",
        "--output",
        "json",
        "--data",
    ])
    .arg(&data)
    .stdout(Stdio::piped())
    .stderr(Stdio::piped())
    .spawn()
    .unwrap();
    drop(child.stderr.take());
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap())
        .read_line(&mut line)
        .unwrap();
    assert!(line.contains("\"mcp\""), "{line:?}: {:?}", child.wait());
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn an_unreadable_source_names_itself_its_step_and_the_driver_s_words() {
    let folder = tempfile::tempdir().unwrap();
    let demo = Demo::start(folder.path());
    let (config, database) = (demo.text("config"), folder.path().join("dms.sqlite"));
    drop(demo);
    std::fs::write(
        &database,
        "this is no database, and long enough to be read as one",
    )
    .unwrap();
    // `serve` starts without it: see `away`.
    let output = run(&["check", "--config", &config]);
    assert_eq!(output.status.code(), Some(69));
    let text = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
    for words in [
        "dms.sqlite",
        "not a database",
        "`serve` starts without this inventory",
    ] {
        assert!(text.contains(words), "{words}: {text}");
    }
}

#[test]
fn schemas_are_written_and_documents_checked_against_them() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().to_str().unwrap();
    let written = run(&["generate", "schemas", "--out", out, "--output", "json"]);
    assert_eq!(written.status.code(), Some(0));
    for name in json(&written)["schemas"].as_array().unwrap() {
        let file = folder
            .path()
            .join(format!("{}.schema.json", name.as_str().unwrap()));
        let schema: Value = serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
        assert_eq!(
            schema["$schema"],
            "https://json-schema.org/draft/2020-12/schema"
        );
    }
    let lead = "tests/data/fixtures/lead.request.minimal.json";
    let validate = |name: &str| run(&["validate", "--type", name, lead]).status.code();
    assert_eq!(validate("lead-submit-request"), Some(0));
    assert_eq!(validate("inventory-search-request"), Some(1));
    assert_eq!(validate("nonsense"), Some(2));
}

#[test]
fn a_reader_that_goes_away_is_no_failure() {
    for args in [
        &["--help"][..],
        &["version"],
        &["version", "--output", "json"],
    ] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let output = forecourt(args).stdout(writer).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{args:?}");
        assert_eq!(String::from_utf8(output.stderr).unwrap(), "", "{args:?}");
    }
}

/// Posts one MCP call and gives the answer's structured result.
fn call(demo: &Demo, tool: &str, arguments: &Value) -> Value {
    let address = demo.text("base_url").replace("http://", "");
    let params = serde_json::json!({ "name": tool, "arguments": arguments });
    let body =
        serde_json::json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params })
            .to_string();
    let mut stream = std::net::TcpStream::connect(&address).unwrap();
    write!(
        stream,
        "POST /mcp HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\nContent-Type: application/json\r\n\
         Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: 2025-11-25\r\n\
         Content-Length: {}\r\n\r\n{body}",
        body.len()
    )
    .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (_, body) = answer.split_once("\r\n\r\n").unwrap();
    let answer: Value = serde_json::from_str(body).unwrap();
    answer["result"]["structuredContent"].clone()
}

fn lead() -> Value {
    let text = std::fs::read_to_string("tests/data/fixtures/lead.request.minimal.json").unwrap();
    let mut lead: Value = serde_json::from_str(&text).unwrap();
    lead["consent"]["granted_at"] = forecourt::clock::Clock::system().now().to_string().into();
    lead["vehicle_of_interest"] = serde_json::json!({ "vehicle_id": "D4471:3" });
    lead
}

/// The one mail, when it has come.
fn mail(demo: &Demo) -> String {
    let deadline = Instant::now() + Duration::from_secs(20);
    loop {
        let mails: Vec<_> = std::fs::read_dir(demo.text("leads_dir"))
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .filter(|path| path.extension().is_some_and(|ext| ext == "eml"))
            .collect();
        if let [mail] = &mails[..] {
            return std::fs::read_to_string(mail).unwrap();
        }
        assert!(mails.is_empty() && Instant::now() < deadline, "{mails:?}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// The ledger notes the delivery after the mail has come.
fn listed_when_delivered(leads: &dyn Fn(&[&str]) -> Output) -> Value {
    let deadline = Instant::now() + Duration::from_secs(20);
    loop {
        let listed = json(&leads(&["list"]));
        if listed["leads"][0]["deliveries"][0]["state"] == "delivered" || Instant::now() > deadline
        {
            return listed;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_person_sees_renders_exports_and_erases_a_lead_beside_the_running_demo() {
    let folder = tempfile::tempdir().unwrap();
    let demo = Demo::start(folder.path());
    let answer = call(&demo, "aap_lead_submit", &lead());
    let id = answer["data"]["lead_id"].as_str().unwrap();
    let mail = mail(&demo);
    let config = demo.text("config");
    let leads =
        |args: &[&str]| run(&[&["leads", "--config", &config, "--output", "json"], args].concat());
    let listed = listed_when_delivered(&leads);
    assert_eq!(listed["leads"][0]["lead_id"], id);
    assert_eq!(listed["leads"][0]["deliveries"][0]["state"], "delivered");
    assert!(
        !listed.to_string().contains("Lovelace"),
        "a list holds no customer data"
    );
    let shown = json(&leads(&["show", id]));
    assert_eq!(
        shown["lead"]["record"]["request"]["customer"]["last_name"],
        "Lovelace"
    );
    assert_eq!(shown["lead"]["answer"], answer);
    assert_eq!(shown["lead"]["history"][0]["attempt"], 1);
    let rendered = json(&leads(&["render", id]));
    let adf = rendered["content"].as_str().unwrap().replace('\n', "\r\n");
    assert!(
        mail.replace("\r\n", "\n")
            .contains(adf.replace("\r\n", "\n").trim_end()),
        "{mail}\n{adf}"
    );
    assert_eq!(
        leads(&["retry", id]).status.code(),
        Some(1),
        "delivered is delivered"
    );
    assert_eq!(leads(&["show", "lead_nobody"]).status.code(), Some(1));
    assert_eq!(json(&leads(&["export"]))["lead_id"], id);
    assert_eq!(
        json(&leads(&["purge", "--lead", id]))["erased"],
        0,
        "only with --yes"
    );
    assert_eq!(json(&leads(&["purge", "--lead", id, "--yes"]))["erased"], 1);
    assert_eq!(json(&leads(&["list"]))["leads"], serde_json::json!([]));
    assert_eq!(
        leads(&["purge", "--yes"]).status.code(),
        Some(2),
        "never everything at once"
    );
}

#[test]
fn config_show_hides_secrets_and_names_places() {
    let folder = tempfile::tempdir().unwrap();
    let demo = Demo::start(folder.path());
    let config = demo.text("config");
    drop(demo);
    let prefix = "FORECOURT_DEPLOYMENTS__DEMO__LEADS__DELIVERIES__CRM__";
    let intake = folder.path().join("intake.toml");
    std::fs::write(
        &intake,
        "[deployments.demo.leads.deliveries.intake]\nkind = \"http\"\nvehicleless = \"plain_text\"\n\
         url = \"https://crm.example/hunter2\"\nform = \"json\"\njson_others = { key = \"hunter2\" }\n\
         signature_header = \"x-sum\"\nsignature_secret = \"hunter2\"\nheaders = { x-key = \"hunter2\" }\n\
         auth = { by = \"basic\", user = \"harry\", password = \"hunter2\" }\n",
    )
    .unwrap();
    let store = folder.path().join("store.toml");
    std::fs::write(
        &store,
        "[store]\nkind = \"redis\"\nnodes = [\"redis://harry:hunter2@r.example\"]\nsentinel_master = \"m\"\n\
         sentinel_username = \"harry\"\nsentinel_password = \"hunter2\"\n",
    )
    .unwrap();
    let (intake, store) = (intake.to_str().unwrap(), store.to_str().unwrap());
    let files = ["--config", &config, "--config", intake, "--config", store];
    let output = forecourt(&["config", "show"])
        .args(files)
        .env(format!("{prefix}PASSWORD"), "hunter2")
        .env(format!("{prefix}USERNAME"), "harry")
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert!(
        !text.contains("hunter2") && !text.contains("harry"),
        "{text}"
    );
    let place = format!("crm.password = ***    [environment variable {prefix}PASSWORD]");
    assert!(text.contains(&place), "{text}");
    assert!(
        text.contains(&format!(
            "deployments.demo.domain = \"127.0.0.1\"    [{config}]"
        )),
        "{text}"
    );
}

#[test]
fn the_shipped_cases_hold_and_a_broken_one_is_found() {
    let mut cases: Vec<String> = std::fs::read_dir("mappings")
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_dir())
        .map(|path| path.display().to_string())
        .collect();
    cases.sort();
    assert_eq!(cases.len(), 7, "{cases:?}");
    let mut args = vec!["mappings", "test"];
    args.extend(cases.iter().map(String::as_str));
    let output = run(&args);
    let text = String::from_utf8(output.stdout).unwrap();
    let wanted: Vec<String> = cases.iter().map(|case| format!("√ {case}")).collect();
    assert_eq!(text.lines().collect::<Vec<_>>(), wanted);
    assert_eq!(output.status.code(), Some(0));
    let case = "mappings/dms-sqlserver";
    let folder = tempfile::tempdir().unwrap();
    for name in ["mapping.toml", "sample.sql", "expected.json"] {
        let text = std::fs::read_to_string(Path::new(case).join(name)).unwrap();
        std::fs::write(
            folder.path().join(name),
            text.replace("\"price\": 24494", "\"price\": 1"),
        )
        .unwrap();
    }
    let output = run(&["mappings", "test", folder.path().to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(1));
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("D4471:1: price: 24494, expected 1"), "{text}");
}
