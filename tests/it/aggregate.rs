//! Several sellers under one endpoint, from their configuration to the CRM that gets the lead.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use forecourt::app::App;
use forecourt::clock::Clock;
use serde_json::{Value, json};

use crate::fleet::{Fleet, feed, lay_out, lead, load, profile};
use crate::process::Process;

const HOST: &str = "market.example";
const VIN: &str = "1M8GDM9AXKP042788";

/// The marketplace's configuration; `north` is the first seller's name.
fn market(north: &str, more: &str) -> String {
    let mut text = format!(
        "[data]\ndirectory = \"../data\"\n[deployments.market]\ndomain = \"{HOST}\"\nscope = \"aggregate\"\n{}",
        profile("deployments.market.profile", "The Market")
    );
    for (id, name) in [("north", north), ("south", "South Cars")] {
        let key = format!("deployments.market.sellers.{id}");
        text.push_str(&profile(&format!("{key}.profile"), name));
        let table = format!(
            "[{key}.inventory]\nmapping = \"../mapping.toml\"\nsource = {{ kind = \"feed\", path = \"../{id}.csv\" }}\n\
             [deployments.market.leads.deliveries.crm-{id}]\nkind = \"directory\"\npath = \"../crm-{id}\"\nsellers = [\"{id}\"]\n"
        );
        text.push_str(&table);
    }
    text.push_str(more);
    text
}

/// Both sellers number their cars alike, and offer one car twice.
fn stock(id: &str) -> String {
    let twin = format!("twin,T1,{VIN},2023,Honda,Civic,Main Street,2026-11-01 08:00:00,18000\n");
    format!("{}{twin}", feed("car", if id == "north" { 3 } else { 4 }))
}

fn files(north: &str) -> [(&'static str, String); 3] {
    [
        ("conf/market.toml", market(north, "")),
        ("north.csv", stock("north")),
        ("south.csv", stock("south")),
    ]
}

#[test]
fn an_operator_has_the_sellers_sources_read_now() {
    let files = files("North Motors");
    let mut process = Process::start("", &files);
    let published = |process: &Process| {
        let log = process.log();
        let lines = log
            .lines()
            .filter(|line| line.contains("inventory published"));
        lines
            .filter(|line| line.contains("\"deployment\":\"market\""))
            .count()
    };
    process.wait_until("the market is read", |process| published(process) == 1);
    let asked = Command::new(env!("CARGO_BIN_EXE_forecourt"))
        .args(["inventory", "refresh", "--deployment", "market", "--config"])
        .arg(process.folder.join("conf"))
        .env_clear()
        .output()
        .unwrap();
    assert_eq!(asked.status.code(), Some(0), "{asked:?}");
    process.wait_until("it is read again", |process| published(process) == 2);
}

fn vehicle(members: Value) -> Value {
    let mut request = members;
    request["type"] = json!("inventory.vehicle.request");
    request
}

// AAP-356 AAP-393 AAP-394 AAP-437 AAP-556
#[test]
fn every_vehicle_has_its_seller_and_an_id_that_finds_it_again() {
    let fleet = Fleet::start(&files("North Motors"));
    let request = json!({ "type": "inventory.search.request" });
    let page = fleet.call(HOST, "aap_inventory_search", &request);
    assert_eq!(page["data"]["total"], 9, "{page}");
    for listing in page["data"]["vehicles"].as_array().unwrap() {
        let id = &listing["vehicle_id"];
        let found = fleet.call(
            HOST,
            "aap_inventory_vehicle",
            &vehicle(json!({ "vehicle_id": id })),
        );
        assert_eq!(found["data"]["dealer_id"], listing["dealer_id"], "{found}");
        assert_eq!(found["data"]["vehicle_id"], *id);
        let dealer =
            json!({ "type": "dealer.information.request", "dealer_id": listing["dealer_id"] });
        let dealer = fleet.call(HOST, "aap_dealer_information", &dealer);
        assert_eq!(dealer["data"]["dealer_id"], listing["dealer_id"]);
    }
}

// AAP-435 AAP-436 AAP-556
#[test]
fn a_vin_or_stock_number_that_two_sellers_have_names_no_car() {
    let fleet = Fleet::start(&files("North Motors"));
    for members in [
        json!({ "vin": VIN }),
        json!({ "stock": "S1" }),
        json!({ "vin": VIN, "stock": "T1" }),
    ] {
        let code = fleet.refused(HOST, "aap_inventory_vehicle", &vehicle(members.clone()));
        assert_eq!(code, "SCHEMA_VALIDATION_FAILED", "{members}");
    }
    for id in ["north.twin", "south.twin"] {
        let request = vehicle(json!({ "vehicle_id": id, "vin": VIN, "stock": "T1" }));
        let found = fleet.call(HOST, "aap_inventory_vehicle", &request);
        assert_eq!(found["data"]["vehicle_id"], id);
    }
    // Only south has a fourth car with this number.
    let one = fleet.call(
        HOST,
        "aap_inventory_vehicle",
        &vehicle(json!({ "stock": "S3" })),
    );
    assert_eq!(one["data"]["dealer_id"], "south");
}

// AAP-343 AAP-347 AAP-348 AAP-349 AAP-350 AAP-392
#[test]
fn sellers_are_known_by_their_id_alone() {
    let fleet = Fleet::start(&files("North Motors"));
    let dealer = |id: Option<&str>| {
        let mut request = json!({ "type": "dealer.information.request" });
        if let Some(id) = id {
            request["dealer_id"] = json!(id);
        }
        request
    };
    let own = fleet.call(HOST, "aap_dealer_information", &dealer(None));
    assert_eq!(own["data"]["name"], "The Market");
    let north = fleet.call(HOST, "aap_dealer_information", &dealer(Some("north")));
    assert_eq!(north["data"]["name"], "North Motors");
    for id in ["North", "north ", "north.", "market", "east"] {
        let code = fleet.refused(HOST, "aap_dealer_information", &dealer(Some(id)));
        assert_eq!(code, "DEALER_NOT_FOUND", "{id:?}");
    }
    let request =
        json!({ "type": "inventory.search.request", "filters": { "rooftops": ["Main Street"] } });
    let code = fleet.refused(HOST, "aap_inventory_search", &request);
    assert_eq!(code, "UNSUPPORTED_FILTER");
}

// AAP-455 AAP-456 AAP-556
#[test]
fn a_lead_reaches_the_seller_of_the_car_and_nobody_else() {
    let fleet = Fleet::start(&files("North Motors"));
    let submit = |key: &str, members: Value| {
        let mut vehicle = members;
        vehicle["condition"] = json!("used");
        fleet.call(HOST, "aap_lead_submit", &lead(key, &vehicle))
    };
    for (key, members, code) in [
        ("1", json!({ "vin": VIN }), "MISSING_REQUIRED_FIELD"),
        (
            "2",
            json!({ "vehicle_id": "south.twin" }),
            "MISSING_REQUIRED_FIELD",
        ),
        (
            "3",
            json!({ "dealer_id": "south" }),
            "MISSING_REQUIRED_FIELD",
        ),
        (
            "4",
            json!({ "dealer_id": "north", "vehicle_id": "south.twin" }),
            "INVALID_CONSENT",
        ),
        (
            "5",
            json!({ "dealer_id": "east", "vehicle_id": "south.twin" }),
            "DEALER_NOT_FOUND",
        ),
    ] {
        let error = submit(key, members);
        assert_eq!(error["code"], code, "{key}: {error}");
    }
    let answer = submit(
        "6",
        json!({ "dealer_id": "south", "vehicle_id": "south.twin", "vin": VIN }),
    );
    assert_eq!(answer["data"]["status"], "received", "{answer}");
    let south = fleet.folder.path().join("crm-south");
    let text = wait_for_file(&south);
    assert!(
        text.contains("South Cars") || text.contains("Main Street"),
        "{text}"
    );
    assert_eq!(count(&fleet.folder.path().join("crm-north")), 0);
    assert_eq!(count(&south), 1);
}

fn count(folder: &Path) -> usize {
    fs::read_dir(folder).map_or(0, Iterator::count)
}

/// The one file of a folder, as soon as it is there.
fn wait_for_file(folder: &Path) -> String {
    let began = Instant::now();
    loop {
        // one that is being written is hidden, and gone at any moment
        let mut files = fs::read_dir(folder)
            .into_iter()
            .flatten()
            .map(|file| file.unwrap().path())
            .filter(|path| {
                !path
                    .file_name()
                    .unwrap()
                    .as_encoded_bytes()
                    .starts_with(b".")
            });
        if let Some(path) = files.next() {
            return fs::read_to_string(path).unwrap();
        }
        assert!(began.elapsed() < Duration::from_secs(30), "nothing came");
        std::thread::sleep(Duration::from_millis(10));
    }
}

// AAP-352
#[test]
fn another_business_is_not_served_under_a_known_id() {
    let folder = tempfile::tempdir().unwrap();
    let built = |north: &str| {
        lay_out(folder.path(), &files(north));
        let config = load(folder.path()).unwrap();
        let runtime = tokio::runtime::Runtime::new().unwrap();
        let built = runtime.block_on(App::build(&config, 8080, Clock::system()));
        built.map(|_| ()).map_err(|error| error.to_string())
    };
    assert_eq!(built("North Motors"), Ok(()));
    let refused = built("Quite Another Business").unwrap_err();
    assert!(
        refused.contains("never given to another business"),
        "{refused}"
    );
    // `check` says what `serve` would, and enters nothing.
    let checked = Command::new(env!("CARGO_BIN_EXE_forecourt"))
        .args(["check", "--offline", "--config"])
        .arg(folder.path().join("conf"))
        .env_clear()
        .output()
        .unwrap();
    assert_eq!(checked.status.code(), Some(78));
    let said = String::from_utf8(checked.stdout).unwrap();
    assert!(said.contains("never given to another business"), "{said}");
    assert_eq!(built("North Motors"), Ok(()));
}

#[test]
fn a_seller_without_a_way_out_and_a_stranger_in_a_route_are_findings() {
    let folder = tempfile::tempdir().unwrap();
    let text = market("North Motors", "").replace("sellers = [\"south\"]", "sellers = [\"east\"]");
    lay_out(folder.path(), &[("conf/market.toml", text)]);
    let findings = load(folder.path()).unwrap_err();
    for part in [
        "no delivery takes the leads of seller south",
        "\"east\", which is no seller",
    ] {
        assert!(findings.contains(part), "{findings}");
    }
}
