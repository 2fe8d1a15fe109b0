//! `forecourt mappings init` at a JSON API, from its configured address to the vehicles that are served: the same
//! ones as by the preset, after at most ten edited lines.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::sync::Arc;

use forecourt::app::App;
use forecourt::clock::Clock;
use forecourt::config::{Config, Sources};
use serde_json::{Value, json};

use crate::mappings_init::{edit, forecourt, fortellis_case, renamed_json, text};

/// An API with pages by offset, for whoever has the key; it answers until the test ends.
fn api(vehicles: Vec<Value>) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let vehicles = Arc::new(vehicles);
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let vehicles = Arc::clone(&vehicles);
            std::thread::spawn(move || drop(answer(stream, &vehicles)));
        }
    });
    address
}

fn answer(stream: TcpStream, vehicles: &[Value]) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream.try_clone()?);
    let mut lines = Vec::new();
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line)? == 0 || line == "\r\n" {
            break;
        }
        lines.push(line.trim_end().to_ascii_lowercase());
    }
    let query = lines.first().and_then(|line| line.split_once("/vehicles?"));
    let query = query.map_or("", |(_, query)| query.split(' ').next().unwrap());
    let number = |name: &str| {
        let pairs = query.split('&').filter_map(|pair| pair.split_once('='));
        let mut values = pairs
            .filter(|(key, _)| *key == name)
            .map(|(_, value)| value);
        values.next().and_then(|value| value.parse::<usize>().ok())
    };
    let (status, body) = if lines.iter().any(|line| line == "x-api-key: k-1") {
        let (offset, limit) = (number("offset").unwrap_or(0), number("limit").unwrap_or(10));
        let page: Vec<&Value> = vehicles.iter().skip(offset).take(limit).collect();
        (
            200,
            json!({ "meta": { "total": vehicles.len() }, "cars": page }).to_string(),
        )
    } else {
        (401, "{}".to_owned())
    };
    let mut stream = stream;
    write!(
        stream,
        "HTTP/1.1 {status} x\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    )
}

fn config(address: SocketAddr, key: &str) -> String {
    format!(
        "[data]\ndirectory = \"data\"\n[deployments.d]\ndomain = \"dealer.example\"\n\
         skills = [\"inventory.search\", \"inventory.vehicle\", \"inventory.facets\", \"dealer.information\"]\n\
         [deployments.d.profile]\nname = \"Harbor Point Motors\"\n\
         rooftops = [{{ name = \"Harbor Point Motors\" }}, {{ name = \"Harbor Point Cycles\" }}]\n\
         [deployments.d.inventory]\nmapping = \"mapping.toml\"\n\
         source = {{ kind = \"rest\", base_url = \"http://{address}\", danger_allow_http = true, \
         min_interval_ms = 0, auth = {{ by = \"header\", name = \"X-Api-Key\", value = \"{key}\" }} }}\n"
    )
}

/// Everything that is served, by id.
async fn served(config: &Path) -> Vec<Value> {
    let sources = Sources {
        files: vec![config.to_owned()],
        ..Sources::default()
    };
    let config = Config::load(&sources).unwrap_or_else(|findings| panic!("{findings}"));
    let app = App::build(&config, 1, Clock::system()).await.unwrap();
    let inventory = app.deployments[0].inventory.clone().unwrap();
    let all = json!({ "type": "inventory.search.request", "pagination": { "limit": 100 } });
    let page = inventory.search(&serde_json::from_value(all).unwrap(), "anonymous");
    let vehicles = page.unwrap().vehicles.found();
    let mut listings: Vec<Value> = vehicles.iter().map(|v| v.listing.to_value()).collect();
    listings.sort_by_key(|listing| listing["vehicle_id"].to_string());
    listings
}

#[tokio::test]
async fn an_api_becomes_the_same_vehicles_with_few_edits() {
    let case = fortellis_case();
    let folder = tempfile::tempdir().unwrap();
    let whole = renamed_json(&case, "results", folder.path());
    let mut whole: Value = serde_json::from_str(&fs::read_to_string(whole).unwrap()).unwrap();
    let Value::Array(vehicles) = whole["cars"].take() else {
        panic!("no vehicles")
    };
    let address = api(vehicles);
    let at = |name: &str| folder.path().join(name).display().to_string();
    let (file, mapping) = (at("forecourt.toml"), at("mapping.toml"));
    let init = |more: &[&str]| {
        let args = [
            "mappings", "init", "--config", &file, "--from", "d", "--to", &mapping,
        ];
        forecourt(&[&args[..], more].concat())
    };
    let place = ["--path", "/vehicles?limit=100", "--items", "cars"];

    fs::write(&file, config(address, "wrong")).unwrap();
    let output = init(&place);
    assert_eq!(output.status.code(), Some(69), "{}", text(&output));
    let said = text(&output);
    assert!(
        said.contains("401: the credentials are refused; check the user, the password or key"),
        "{said}"
    );
    fs::write(&file, config(address, "k-1")).unwrap();
    let output = init(&[]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output).contains("an API needs --path and --items"));
    let output = init(&["--path", "/vehicles?limit=100", "--items", "vehicles"]);
    assert_eq!(output.status.code(), Some(69));
    assert!(text(&output).contains("no list at `vehicles`: check `items`"));

    let output = init(&place);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    let check = || forecourt(&["mappings", "check", "--config", &file, "--output", "json"]);
    assert_eq!(check().status.code(), Some(78), "questions are open");
    // Those of the same sample as a file, and how the API pages.
    let paging = "paging = { by = \"offset\", parameter = \"offset\", limit_parameter = \"limit\", limit = 7, total = \"meta.total\" }";
    let own = [("path", "path = \"/vehicles\""), ("paging", paging)];
    let edits: Vec<_> = case.edits.iter().chain(&own).copied().collect();
    edit("fortellis-rest", Path::new(&mapping), &edits);
    let output = check();
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["mappings"][0]["rows"], 30, "{report}");
    let expected = fs::read_to_string("mappings/fortellis-rest/expected.json").unwrap();
    let mut expected: Vec<Value> = serde_json::from_str(&expected).unwrap();
    expected.sort_by_key(|listing| listing["vehicle_id"].to_string());
    let listings = served(Path::new(&file)).await;
    assert_eq!(json!(listings), json!(expected));
}
