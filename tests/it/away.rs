//! Sources that are away, broken or wrong when the process starts or is reloaded: everything else is served, no
//! empty inventory stands for one that could not be read, and the source's return heals it.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::{Value, json};

use crate::dms::{DMS, sql};
use crate::fleet::{feed, lead, profile};
use crate::process::{Process, call, dealer, exchange, tool_request, total};

/// A dealer whose source is asked again after a second.
fn eager(id: &str) -> String {
    dealer(id, &format!("Dealer {id}")).replace(
        "source = {",
        "refresh_interval_s = 1\nwatch_interval_ms = 0\nsource = {",
    )
}

fn answer(process: &Process, host: &str, tool: &str, arguments: &Value) -> Value {
    let mut answer = exchange(process.address, &tool_request(host, tool, arguments)).json();
    answer["result"]["structuredContent"].take()
}

/// Code and retryable of a refused call.
fn refused(process: &Process, host: &str, tool: &str, arguments: &Value) -> (String, bool) {
    let payload = answer(process, host, tool, arguments);
    assert_eq!(payload["type"], "aap.error", "{payload}");
    (
        payload["code"].as_str().unwrap().to_owned(),
        payload["retryable"].as_bool().unwrap(),
    )
}

fn search() -> Value {
    json!({ "type": "inventory.search.request" })
}

fn vehicle(id: &str) -> Value {
    json!({ "type": "inventory.vehicle.request", "vehicle_id": id })
}

/// The reasons of `/readyz`, each with its deployment, and the status.
fn readiness(process: &Process) -> (u16, Vec<(Option<String>, String)>) {
    let answer = process.admin("/readyz");
    let reasons = answer.json()["reasons"].as_array().unwrap().clone();
    let reasons = reasons.iter().map(|reason| {
        let deployment = reason["deployment"].as_str().map(str::to_owned);
        (deployment, reason["reason"].as_str().unwrap().to_owned())
    });
    (answer.status, reasons.collect())
}

fn series(process: &Process, name: &str) -> Option<String> {
    let text = process.admin("/metrics").text;
    let name = format!("{name} ");
    let line = text.lines().find_map(|line| line.strip_prefix(&name));
    line.map(str::to_owned)
}

fn errors(process: &Process) -> Vec<Value> {
    let log = process.log();
    // The last line may be under way.
    let lines = log
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok());
    lines.filter(|line| line["level"] == "ERROR").collect()
}

fn run(process: &Process, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_forecourt"))
        .args(arguments)
        .arg("--config")
        .arg(process.folder.join("conf"))
        .env_clear()
        .output()
        .unwrap()
}

const INTERNAL: (&str, bool) = ("INTERNAL_ERROR", true);

fn internal() -> (String, bool) {
    (INTERNAL.0.to_owned(), INTERNAL.1)
}

// AAP-443
#[test]
fn one_dealer_without_its_source_is_served_but_not_ready_until_it_is_read() {
    let files = [("conf/a.toml", eager("a"))];
    let away = |folder: &Path| fs::remove_file(folder.join("a.csv")).unwrap();
    let process = Process::start_unready("", &files, away);
    assert_eq!(process.admin("/livez").status, 200);
    let (status, reasons) = readiness(&process);
    assert_eq!(status, 503);
    assert_eq!(reasons.len(), 1, "{reasons:?}");
    assert_eq!(reasons[0].0.as_deref(), Some("a"));
    assert!(
        reasons[0].1.starts_with("not read since the start"),
        "{reasons:?}"
    );
    let tools = [
        ("aap_inventory_search", search()),
        (
            "aap_inventory_facets",
            json!({ "type": "inventory.facets.request" }),
        ),
        ("aap_inventory_vehicle", vehicle("a-1")),
        (
            "aap_lead_submit",
            lead("k1", &json!({ "vehicle_id": "a-1" })),
        ),
    ];
    for (tool, arguments) in tools {
        assert_eq!(
            refused(&process, "a.example", tool, &arguments),
            internal(),
            "{tool}"
        );
    }
    let who = call(&process, "a.example", "aap_dealer_information");
    assert_eq!(who["data"]["name"], "Dealer a");
    let mut general = lead("k2", &Value::Null);
    general
        .as_object_mut()
        .unwrap()
        .remove("vehicle_of_interest");
    let taken = answer(&process, "a.example", "aap_lead_submit", &general);
    assert_eq!(taken["type"], "lead.submit.response", "{taken}");
}

// AAP-443
#[test]
fn what_is_away_is_told_to_operators_and_so_is_its_return() {
    let files = [("conf/a.toml", eager("a"))];
    let away = |folder: &Path| fs::remove_file(folder.join("a.csv")).unwrap();
    let mut process = Process::start_unready("", &files, away);
    let answers = "forecourt_inventory_answers{deployment=\"a\"}";
    let vehicles = "forecourt_inventory_vehicles{deployment=\"a\"}";
    assert_eq!(series(&process, answers).as_deref(), Some("0"));
    assert_eq!(series(&process, vehicles), None, "no car is counted, not 0");
    let told = errors(&process);
    let of_start: Vec<&Value> = told
        .iter()
        .filter(|line| line["remedy"].is_string())
        .collect();
    assert_eq!(of_start.len(), 1, "said once: {told:?}");
    let fields = of_start[0];
    assert_eq!(fields["deployment"], "a");
    assert!(
        fields["reason"].as_str().unwrap().contains("a.csv"),
        "{fields}"
    );
    let checked = run(&process, &["check"]);
    assert_eq!(checked.status.code(), Some(69));
    let said = String::from_utf8(checked.stdout).unwrap();
    assert!(
        said.contains("`serve` starts without this inventory and tries again"),
        "{said}"
    );

    fs::write(process.folder.join("a.csv"), feed("a", 30)).unwrap();
    process.wait_until("it is healed", |process| {
        process.admin("/readyz").status == 200
    });
    assert_eq!(total(&process.search("a.example")), 30);
    assert_eq!(series(&process, vehicles).as_deref(), Some("30"));
    assert!(process.log().contains("the source is read again"));
    assert_eq!(readiness(&process), (200, Vec::new()));
}

// AAP-489
#[test]
fn one_broken_source_of_several_keeps_nobody_else_from_being_served() {
    let files = [
        ("conf/b.toml", eager("b")),
        ("conf/c.toml", eager("c")),
        ("c.csv", "<html>Access denied</html>".to_owned()),
    ];
    let mut process = Process::start_unready("", &files, |_| {});
    assert_eq!(total(&process.search("a.example")), 30);
    let (status, reasons) = readiness(&process);
    assert_eq!(status, 200);
    let words: Vec<&str> = reasons.iter().map(|(_, words)| words.as_str()).collect();
    assert_eq!(words[2], "2 of 3 inventories cannot be served");
    let whose: Vec<_> = reasons.iter().map(|(id, _)| id.as_deref()).collect();
    assert_eq!(whose, [Some("b"), Some("c"), None]);
    for host in ["b.example", "c.example"] {
        assert_eq!(
            refused(&process, host, "aap_inventory_search", &search()),
            internal()
        );
    }
    fs::write(process.folder.join("b.csv"), feed("b", 7)).unwrap();
    process.wait_until("b is healed", |process| readiness(process).1.len() == 2);
    assert_eq!(total(&process.search("b.example")), 7);
    assert_eq!(
        readiness(&process).1[1].1,
        "1 of 3 inventories cannot be served"
    );
}

// AAP-443 AAP-492
#[test]
fn a_restart_over_a_broken_source_calls_no_car_gone() {
    let files = [("conf/a.toml", eager("a"))];
    let mut process = Process::start_with("", &files, |_| {});
    let file = process.folder.join("a.csv");
    fs::write(&file, feed("a", 29)).unwrap();
    process.wait_until("a-29 is sold", |process| {
        total(&process.search("a.example")) == 29
    });
    let sold = |process: &Process| {
        refused(
            process,
            "a.example",
            "aap_inventory_vehicle",
            &vehicle("a-29"),
        )
        .0
    };
    assert_eq!(sold(&process), "VEHICLE_UNAVAILABLE");
    let memory = process.folder.join("data/inventory/a/offered-units.jsonl");
    let known = fs::read(&memory).unwrap();
    let head = feed("a", 0);
    for broken in [None, Some(head.as_str())] {
        match broken {
            None => fs::remove_file(&file).unwrap(),
            Some(text) => fs::write(&file, text).unwrap(),
        }
        process.restart();
        assert_eq!(process.admin("/readyz").status, 503);
        let known_car = refused(
            &process,
            "a.example",
            "aap_inventory_vehicle",
            &vehicle("a-1"),
        );
        assert_eq!(known_car, internal(), "not called gone");
        assert_eq!(sold(&process), "VEHICLE_UNAVAILABLE");
        assert_eq!(fs::read(&memory).unwrap(), known);
    }
    assert!(
        readiness(&process).1[0]
            .1
            .contains("a reading of 0 vehicles is held"),
        "{:?}",
        readiness(&process)
    );
    fs::write(&file, feed("a", 29)).unwrap();
    process.wait_until("it is healed", |process| {
        process.admin("/readyz").status == 200
    });
    assert_eq!(total(&process.search("a.example")), 29);
    assert_eq!(sold(&process), "VEHICLE_UNAVAILABLE");
}

fn reloads(process: &Process, result: &str) -> String {
    series(
        process,
        &format!("forecourt_reloads_total{{result=\"{result}\"}}"),
    )
    .unwrap()
}

// AAP-489
#[test]
fn a_reload_never_exchanges_a_good_inventory_for_none() {
    let files = [("conf/a.toml", eager("a"))];
    let mut process = Process::start_with("", &files, |_| {});
    fs::remove_file(process.folder.join("a.csv")).unwrap();

    // A new dealer comes whose source is away: that is no reason to refuse the rest.
    fs::write(process.folder.join("conf/b.toml"), eager("b")).unwrap();
    process.signal("-HUP");
    process.wait_until("b is served", |process| {
        process.search("b.example").status == 200
    });
    assert_eq!(
        refused(&process, "b.example", "aap_inventory_search", &search()),
        internal()
    );
    assert_eq!(total(&process.search("a.example")), 30);

    // The ground changes, and with it every deployment: the snapshot is kept, its source is not asked.
    let rotated = run(&process, &["keys", "rotate"]);
    assert_eq!(rotated.status.code(), Some(0), "{rotated:?}");
    let done = reloads(&process, "done");
    process.signal("-HUP");
    process.wait_until("the keys are taken", |process| {
        reloads(process, "done") != done
    });
    assert_eq!(total(&process.search("a.example")), 30);

    // Its own settings change, and it cannot be read with them: what is in use stays.
    let other = eager("a").replace("refresh_interval_s = 1\n", "refresh_interval_s = 2\n");
    fs::write(process.folder.join("conf/a.toml"), &other).unwrap();
    process.signal("-HUP");
    process.wait_until("it is refused", |process| {
        reloads(process, "refused") != "0"
    });
    assert_eq!(total(&process.search("a.example")), 30);
    assert!(
        process
            .log()
            .contains("configuration not taken; the one in use stays"),
        "{}",
        process.log()
    );

    // The dealer that never had anything may change as it likes.
    fs::write(process.folder.join("conf/a.toml"), eager("a")).unwrap();
    let renamed = eager("b").replace("Dealer b", "Dealer bee");
    fs::write(process.folder.join("conf/b.toml"), renamed).unwrap();
    process.signal("-HUP");
    process.wait_until("b has its new name", |process| {
        let who = call(process, "b.example", "aap_dealer_information");
        who["data"]["name"] == "Dealer bee"
    });
    fs::write(process.folder.join("b.csv"), feed("b", 7)).unwrap();
    process.wait_until("b is read", |process| {
        process.admin("/readyz").text.contains("\"ok\"")
    });
    assert_eq!(total(&process.search("b.example")), 7);
}

/// A column that the source never had is a mistake of the configuration; one that it lost is the source's.
#[test]
fn an_unknown_column_stops_the_first_start_and_no_later_one() {
    let of_sql = eager("d")
        .replace("../mapping.toml", "../dms.toml")
        .replace(
            "{ kind = \"feed\", path = \"../d.csv\" }",
            "{ kind = \"sql\", url = \"sqlite://../d.sqlite\" }",
        );
    let wrong = DMS.replace("SELECT id, model,", "SELECT id, modell,");
    let files = [("dms.toml", wrong), ("conf/d.toml", of_sql)];
    let kept = tempfile::tempdir().unwrap();
    crate::fleet::lay_out(kept.path(), &files);
    let common = "[server]\nlisten = \"127.0.0.1:0\"\n[data]\ndirectory = \"../data\"\n";
    fs::write(kept.path().join("conf/00.toml"), common).unwrap();
    sql(
        &kept.path().join("d.sqlite"),
        "CREATE TABLE car (id TEXT, model TEXT); INSERT INTO car VALUES ('1', 'A')",
    );
    let stopped = Command::new(env!("CARGO_BIN_EXE_forecourt"))
        .args(["serve", "--config"])
        .arg(kept.path().join("conf"))
        .env_clear()
        .output()
        .unwrap();
    assert_eq!(stopped.status.code(), Some(78), "{stopped:?}");
    let said = String::from_utf8(stopped.stderr).unwrap();
    assert!(
        said.contains("modell") && said.contains("deployment d"),
        "{said}"
    );

    let [_, conf] = files;
    let files = [("dms.toml", DMS.to_owned()), conf];
    let mut process = Process::start_with("", &files, |folder| {
        sql(
            &folder.join("d.sqlite"),
            "CREATE TABLE car (id TEXT, model TEXT); INSERT INTO car VALUES ('1', 'A')",
        );
    });
    assert_eq!(total(&process.search("d.example")), 1);
    let database = process.folder.join("d.sqlite");
    sql(&database, "ALTER TABLE car RENAME COLUMN model TO modell");
    process.restart();
    assert_eq!(
        total(&process.search("a.example")),
        30,
        "the others are served"
    );
    let search = search();
    assert_eq!(
        refused(&process, "d.example", "aap_inventory_search", &search),
        internal()
    );
    sql(&database, "ALTER TABLE car RENAME COLUMN modell TO model");
    process.wait_until("it is healed", |process| {
        process.admin("/readyz").text.contains("\"ok\"")
    });
    assert_eq!(total(&process.search("d.example")), 1);
}

// AAP-489
#[test]
fn a_source_that_takes_the_call_and_says_nothing_holds_nobody_up_for_long() {
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("postgres://dms@{}/dms", silent.local_addr().unwrap());
    let silent_one = eager("d")
        .replace("../mapping.toml", "../dms.toml")
        .replace(
            "{ kind = \"feed\", path = \"../d.csv\" }",
            &format!("{{ kind = \"sql\", url = \"{url}\", connect_timeout_ms = 3600000 }}"),
        );
    let files = [("dms.toml", DMS.to_owned()), ("conf/d.toml", silent_one)];
    let process = Process::start_with("", &files, |_| {});
    assert_eq!(total(&process.search("a.example")), 30);
    assert_eq!(
        refused(&process, "d.example", "aap_inventory_search", &search()),
        internal()
    );
    assert!(process.log().contains("its reading goes on"));
}

/// Where a mapping finds rooftops, and what a database of them is made with.
const PLACES: &str = "[profile]\nname = \"name\"\nphones = { sales = \"phone\" }\n\
    [profile.source]\nkind = \"sql\"\nquery = \"SELECT name, phone FROM place\"\nkey = \"name\"\n";
const PLACE_AND_CAR: &str = "\
    CREATE TABLE place (name TEXT, phone TEXT); INSERT INTO place VALUES ('North', '+1-503-555-0100');\
    CREATE TABLE car (id TEXT, model TEXT); INSERT INTO car VALUES ('1', 'A')";

/// Rooftops that lie in the source come with it.
// AAP-354
#[test]
fn a_dealer_whose_places_lie_in_the_source_gets_them_when_it_is_back() {
    let of_sql = "[deployments.d]\ndomain = \"d.example\"\n[deployments.d.profile]\nname = \"Dealer d\"\n\
         [deployments.d.inventory]\nmapping = \"../dms.toml\"\nrefresh_interval_s = 1\n\
         source = { kind = \"sql\", url = \"sqlite://../d.sqlite\" }\n\
         [deployments.d.leads.deliveries.crm]\nkind = \"directory\"\npath = \"../crm-d\"\n";
    let files = [
        ("dms.toml", format!("{DMS}{PLACES}")),
        ("conf/d.toml", of_sql.to_owned()),
    ];
    let mut process = Process::start_unready("", &files, |_| {});
    assert_eq!(total(&process.search("a.example")), 30);
    let information = json!({ "type": "dealer.information.request" });
    let mut general = lead("k", &Value::Null);
    general
        .as_object_mut()
        .unwrap()
        .remove("vehicle_of_interest");
    for (tool, arguments) in [
        ("aap_dealer_information", &information),
        ("aap_inventory_search", &search()),
        ("aap_lead_submit", &general),
    ] {
        assert_eq!(
            refused(&process, "d.example", tool, arguments),
            internal(),
            "{tool}"
        );
    }
    sql(&process.folder.join("d.sqlite"), PLACE_AND_CAR);
    process.wait_until("it is healed", |process| {
        process.admin("/readyz").text.contains("\"ok\"")
    });
    let who = answer(
        &process,
        "d.example",
        "aap_dealer_information",
        &information,
    );
    assert_eq!(who["data"]["rooftops"][0]["name"], "North", "{who}");
    assert_eq!(total(&process.search("d.example")), 1);
    let taken = answer(&process, "d.example", "aap_lead_submit", &general);
    assert_eq!(taken["type"], "lead.submit.response", "{taken}");
}

/// A marketplace is served while one seller's places cannot be read; that seller alone waits for them.
// AAP-354 AAP-489
#[test]
fn one_seller_whose_places_cannot_be_read_holds_no_other_up() {
    let seller = "deployments.market.sellers";
    let market = format!(
        "[deployments.market]\ndomain = \"market.example\"\nscope = \"aggregate\"\n{}\
         [deployments.market.inventory]\nrefresh_interval_s = 1\nwatch_interval_ms = 0\n{}\
         [{seller}.north.inventory]\nmapping = \"../mapping.toml\"\n\
         source = {{ kind = \"feed\", path = \"../a.csv\" }}\n\
         [{seller}.south.profile]\nname = \"South Cars\"\n\
         [{seller}.south.inventory]\nmapping = \"../dms.toml\"\n\
         source = {{ kind = \"sql\", url = \"sqlite://../d.sqlite\" }}\n\
         [deployments.market.leads.deliveries.crm]\nkind = \"directory\"\npath = \"../crm\"\n",
        profile("deployments.market.profile", "The Market"),
        profile(&format!("{seller}.north.profile"), "North Motors"),
    );
    let files = [
        ("dms.toml", format!("{DMS}{PLACES}")),
        ("conf/market.toml", market),
    ];
    let host = "market.example";
    let mut process = Process::start_unready("", &files, |_| {});
    assert_eq!(total(&process.search(host)), 30, "north's cars");
    let of = |id: &str| json!({ "type": "dealer.information.request", "dealer_id": id });
    let tool = "aap_dealer_information";
    let north = answer(&process, host, tool, &of("north"));
    assert_eq!(north["data"]["dealer_id"], "north", "{north}");
    assert_eq!(refused(&process, host, tool, &of("south")), internal());
    sql(&process.folder.join("d.sqlite"), PLACE_AND_CAR);
    process.wait_until("south is there", |process| {
        total(&process.search(host)) == 31
    });
    let south = answer(&process, host, tool, &of("south"));
    assert_eq!(south["data"]["rooftops"][0]["name"], "North", "{south}");
}
