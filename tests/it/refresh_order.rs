//! `forecourt inventory refresh` beside a running `serve`: the source is read now, a reading that lost too much
//! waits for `--accept`, and nobody else's inventory is touched.

use std::process::{Command, Output};

use crate::dms::{DMS, sql};
use crate::fleet::profile;
use crate::process::{Process, total};

/// A dealer whose database nobody reads before tomorrow, unless somebody asks.
fn dealer(id: &str) -> String {
    format!(
        "[deployments.{id}]\ndomain = \"{id}.example\"\n{}\
         [deployments.{id}.inventory]\nmapping = \"../dms.toml\"\nrefresh_interval_s = 86400\n\
         watch_interval_ms = 20\nsource = {{ kind = \"sql\", url = \"sqlite://../{id}.sqlite\" }}\n\
         [deployments.{id}.leads.deliveries.crm]\nkind = \"directory\"\npath = \"../crm-{id}\"\n",
        profile(&format!("deployments.{id}.profile"), "The Dealer")
    )
}

const CARS: &str = "INSERT INTO car VALUES ('1', 'A'), ('2', 'B'), ('3', 'C'), ('4', 'D');";

fn refresh(process: &Process, more: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_forecourt"))
        .args(["inventory", "refresh", "--config"])
        .arg(process.folder.join("conf"))
        .args(more)
        .env_clear()
        .output()
        .unwrap()
}

fn metric(process: &Process, name: &str, deployment: &str) -> String {
    let series = format!("forecourt_inventory_{name}{{deployment=\"{deployment}\"}} ");
    let text = process.admin("/metrics").text;
    let line = text.lines().find_map(|line| line.strip_prefix(&series));
    line.unwrap_or_else(|| panic!("no {series}in {text}"))
        .to_owned()
}

// AAP-489 AAP-492
#[test]
fn an_operator_has_a_source_read_now() {
    let files = [
        ("dms.toml", DMS.to_owned()),
        ("conf/b.toml", dealer("b")),
        ("conf/c.toml", dealer("c")),
    ];
    let mut process = Process::start_with("", &files, |folder| {
        for id in ["b", "c"] {
            let table = format!("CREATE TABLE car (id TEXT, model TEXT); {CARS}");
            sql(&folder.join(format!("{id}.sqlite")), &table);
        }
    });
    let (b, c) = (
        process.folder.join("b.sqlite"),
        process.folder.join("c.sqlite"),
    );
    assert_eq!(total(&process.search("b.example")), 4);
    sql(&b, "INSERT INTO car VALUES ('5', 'E')");
    sql(&c, "INSERT INTO car VALUES ('5', 'E')");
    let asked = refresh(&process, &["--deployment", "b"]);
    assert_eq!(asked.status.code(), Some(0), "{asked:?}");
    let said = String::from_utf8(asked.stdout).unwrap();
    assert!(
        said.starts_with("b: the running process will read"),
        "{said}"
    );
    process.wait_until("b is read", |p| metric(p, "vehicles", "b") == "5");
    assert_eq!(total(&process.search("b.example")), 5);
    assert_eq!(
        total(&process.search("c.example")),
        4,
        "c was not asked for"
    );

    sql(&b, "DELETE FROM car WHERE id > '1'");
    assert_eq!(
        refresh(&process, &["--deployment", "b"]).status.code(),
        Some(0)
    );
    process.wait_until("the loss is held", |p| metric(p, "held", "b") == "1");
    assert_eq!(total(&process.search("b.example")), 5);
    assert_eq!(metric(&process, "failed_readings", "b"), "1");
    assert!(
        process
            .log()
            .contains("more vanished than the shrink guard permits"),
        "{}",
        process.log()
    );

    let asked = refresh(&process, &["--accept", "--output", "json"]);
    assert_eq!(asked.status.code(), Some(0));
    let said: serde_json::Value = serde_json::from_slice(&asked.stdout).unwrap();
    assert_eq!(said["asked"], serde_json::json!(["a", "b", "c"]));
    process.wait_until("all is read", |p| {
        metric(p, "vehicles", "b") == "1" && metric(p, "vehicles", "c") == "5"
    });
    assert_eq!(total(&process.search("b.example")), 1);
    assert_eq!(metric(&process, "held", "b"), "0");
    let asked = refresh(&process, &["--deployment", "nobody"]);
    assert_eq!(asked.status.code(), Some(2));
}
