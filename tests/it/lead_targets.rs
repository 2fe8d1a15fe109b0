//! Which car a lead may be about, as the dealer's own list says it, and what a retry gets when that has changed.

use std::fs;

use serde_json::{Value, json};

use crate::fleet::{feed, lead};
use crate::process::{Process, dealer, exchange, tool_request, total};

fn submit(process: &Process, request: &Value) -> Value {
    let answer = exchange(
        process.address,
        &tool_request("a.example", "aap_lead_submit", request),
    );
    let mut answer = answer.json();
    answer["result"]["structuredContent"].take()
}

/// The only file in the CRM's folder that holds these words, once it is there.
fn delivered(process: &mut Process, words: &str) -> String {
    let found = |process: &Process| {
        let files = fs::read_dir(process.folder.join("crm-a"));
        let mut texts = files.into_iter().flatten().filter_map(|file| {
            let path = file.ok()?.path();
            fs::read_to_string(path).ok()
        });
        texts.find(|text| text.contains(words))
    };
    process.wait_until(words, |process| found(process).is_some());
    found(process).unwrap()
}

fn serve() -> Process {
    let often = dealer("a", "Dealer a").replace(
        "[deployments.a.inventory]\n",
        "[deployments.a.inventory]\nrefresh_interval_s = 1\nshrink_guard = 1.0\n",
    );
    Process::start("", &[("conf/a.toml", often)])
}

// AAP-441 AAP-497 AAP-564
#[test]
fn a_lead_names_a_car_on_offer_or_describes_one() {
    let mut process = serve();
    for (vehicle, code) in [
        (json!({ "vehicle_id": "nobody" }), "VEHICLE_NOT_FOUND"),
        (
            json!({ "vehicle_id": "a-1", "stock": "S2" }),
            "SCHEMA_VALIDATION_FAILED",
        ),
    ] {
        let refused = submit(&process, &lead("refused", &vehicle));
        assert_eq!(refused["code"], code, "{vehicle}: {refused}");
    }
    // a refusal claims no key
    let listed = lead("refused", &json!({ "stock": "S3" }));
    assert_eq!(submit(&process, &listed)["data"]["status"], "received");
    // the missing facts come from the listing behind the number
    let text = delivered(&mut process, "<stock>S3</stock>");
    assert!(text.contains("<make>Toyota</make>") && text.contains("<year>2024</year>"));
    let vin = "1HGCM82633A004352";
    let stranger = json!({ "vin": vin, "make": "Honda", "model": "Accord", "year": 2003 });
    let answer = submit(&process, &lead("stranger", &stranger));
    assert_eq!(answer["data"]["status"], "received", "{answer}");
    let text = delivered(&mut process, vin);
    assert!(
        text.contains("<model>Accord</model>") && !text.contains("Toyota"),
        "{text}"
    );
    // of a number that is unknown here nothing more is known, and nothing is made up
    let answer = submit(&process, &lead("number", &json!({ "stock": "ZZ-9" })));
    assert_eq!(answer["data"]["status"], "received", "{answer}");
    let text = delivered(&mut process, "ZZ-9");
    assert!(
        !text.contains("<adf>") && !text.contains("Toyota"),
        "{text}"
    );
}

// AAP-444 AAP-476 AAP-480
#[test]
fn a_retry_is_answered_though_the_car_is_sold_since() {
    let mut process = serve();
    let mut request = lead("first", &json!({ "vehicle_id": "a-29" }));
    let mut first = submit(&process, &request);
    assert_eq!(first["data"]["status"], "received", "{first}");
    fs::write(process.folder.join("a.csv"), feed("a", 29)).unwrap();
    process.wait_until("it is sold", |process| {
        total(&process.search("a.example")) == 29
    });
    first["data"]["replayed"] = json!(true);
    assert_eq!(submit(&process, &request), first);
    request["idempotency_key"] = json!("second");
    let refused = submit(&process, &request);
    assert_eq!(refused["code"], "VEHICLE_UNAVAILABLE", "{refused}");
}
