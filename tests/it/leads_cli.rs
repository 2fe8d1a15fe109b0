//! `forecourt leads` and `forecourt adf` beside a running process whose CRM is away: everything that a person may do.

use std::process::Output;

use serde_json::{Value, json};

use crate::cli::forecourt;
use crate::fleet::lead;
use crate::process::{Process, dealer, exchange, free, tool_request};

/// A dealer whose mail relay does not answer, and who does not give up soon.
fn unreachable() -> Process {
    let relay = free().port();
    let mail = format!(
        "kind = \"smtp\"\nhost = \"127.0.0.1\"\nport = {relay}\ntls = \"danger_plaintext\"\n\
         from = \"leads@dealer.example\"\nto = [\"crm@intake.example\"]\nretry_first_s = 3600\n"
    );
    let text =
        dealer("a", "Dealer a").replace("kind = \"directory\"\npath = \"../crm-a\"\n", &mail);
    Process::start("", &[("conf/a.toml", text)])
}

struct Person<'a>(&'a Process);

impl Person<'_> {
    fn run(&self, words: &[&str]) -> Output {
        let conf = self.0.folder.join("conf");
        let mut all = vec!["leads", "--config", conf.to_str().unwrap()];
        all.extend(words);
        forecourt(&all).output().unwrap()
    }

    /// What it prints for people; the command must do it.
    fn says(&self, words: &[&str]) -> String {
        let output = self.run(words);
        assert_eq!(output.status.code(), Some(0), "{words:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    fn json(&self, words: &[&str]) -> Value {
        let text = self.says(&[&["--output", "json"], words].concat());
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"))
    }

    fn state(&self) -> String {
        let listed = self.json(&["list"]);
        let state = &listed["leads"][0]["deliveries"][0]["state"];
        state.as_str().unwrap_or_default().to_owned()
    }
}

fn inquiry() -> Value {
    lead(
        "one",
        &json!({ "make": "Honda", "model": "Accord", "year": 2003 }),
    )
}

/// The id of the lead that was accepted for this inquiry.
fn submit(process: &Process, inquiry: &Value) -> String {
    let request = tool_request("a.example", "aap_lead_submit", inquiry);
    let answer = exchange(process.address, &request).json();
    let id = &answer["result"]["structuredContent"]["data"]["lead_id"];
    id.as_str().unwrap_or_else(|| panic!("{answer}")).to_owned()
}

#[test]
fn a_person_decides_about_a_lead_that_stands_still() {
    let mut process = unreachable();
    let id = submit(&process, &inquiry());
    process.wait_until("it waits", |process| Person(process).state() == "waiting");
    let person = Person(&process);
    let list = person.says(&["list", "--state", "waiting"]);
    assert!(
        list.contains(&id) && list.contains("crm: waiting"),
        "{list}"
    );
    assert_eq!(person.says(&["list", "--state", "held"]).trim(), "no leads");
    assert!(
        person
            .says(&["render", &id])
            .contains("<model>Accord</model>")
    );
    assert_eq!(person.json(&["render", &id])["form"], "adf");
    let show = person.says(&["show", &id]);
    assert!(
        show.contains("attempt 1: waiting") && show.contains("alex@example.com"),
        "{show}"
    );

    assert_eq!(person.json(&["hold", &id])["state"], "held");
    assert_eq!(person.state(), "held");
    // what may have arrived is not sent again by a slip
    let refused = person.run(&["retry", &id]);
    assert_eq!(refused.status.code(), Some(1));
    let words = String::from_utf8(refused.stderr).unwrap();
    assert!(words.contains("leads resolve"), "{words}");
    let given_up = person.says(&["resolve", &id, "--as", "refused"]);
    assert!(given_up.contains("crm is now refused"), "{given_up}");
    assert_eq!(
        person.json(&["retry", &id, "--delivery", "crm"])["deliveries"],
        json!(["crm"])
    );
    process.wait_until("it waits again", |process| {
        Person(process).state() == "waiting"
    });
    let person = Person(&process);
    person.says(&["hold", &id]);
    assert_eq!(
        person.json(&["resolve", &id, "--as", "delivered"])["state"],
        "delivered"
    );
    let history = person.json(&["show", &id])["lead"]["history"].clone();
    let states: Vec<&str> = history
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["state"].as_str().unwrap())
        .collect();
    assert_eq!(
        states,
        [
            "waiting",
            "held",
            "refused",
            "queued",
            "waiting",
            "held",
            "delivered"
        ]
    );
}

#[test]
fn leads_are_erased_for_a_customer_and_move_to_another_store() {
    let mut process = unreachable();
    let inquiry = inquiry();
    let id = submit(&process, &inquiry);
    process.wait_until("it waits", |process| Person(process).state() == "waiting");
    let person = Person(&process);
    let file = process.folder.join("leads.jsonl");
    std::fs::write(&file, person.says(&["export"])).unwrap();
    let file = file.to_str().unwrap();
    let elsewhere = format!(
        "data.directory={}",
        process.folder.join("elsewhere").display()
    );
    let there = ["--set", &elsewhere];
    let import = |known: u64| {
        let imported = person.json(&[&there[..], &["import", file]].concat());
        assert_eq!(
            (&imported["leads"], &imported["known"]),
            (&json!(1 - known), &json!(known))
        );
    };
    import(0);
    import(1);
    let moved = person.json(&[&there[..], &["show", &id]].concat());
    assert_eq!(
        moved["lead"]["record"]["request"]["customer"]["first_name"],
        "Alex"
    );

    // what is not delivered stays, unless that is meant
    let customer = ["purge", "--customer", "ALEX@example.com"];
    let found = person.json(&customer);
    assert_eq!(
        (&found["erased"], &found["undelivered"]),
        (&json!(0), &json!(1))
    );
    let all = [&customer[..], &["--undelivered-too"]].concat();
    assert!(
        person
            .says(&all)
            .contains("1 leads would be erased; repeat with --yes")
    );
    assert_eq!(person.state(), "waiting", "nothing without --yes");
    let erased = person.json(&[&all[..], &["--yes"]].concat());
    assert_eq!(erased["erased"], 1);
    assert_eq!(person.says(&["list"]).trim(), "no leads");
    assert_eq!(
        submit(&process, &inquiry),
        id,
        "its key still knows the retry"
    );
}

#[test]
fn a_lead_is_shown_as_a_crm_would_get_it() {
    let lead = "tests/data/fixtures/lead.request.adf-worked-example.json";
    let render = |more: &[&str]| {
        let output = forecourt(&[&["adf", "render", "--lead", lead], more].concat())
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    let standard = render(&[]);
    assert!(
        standard.contains("<name part=\"full\">Anna Lee</name>"),
        "{standard}"
    );
    assert!(
        standard.contains("<phone>+14155550123</phone>"),
        "{standard}"
    );
    let forms = render(&["--profile", "us-forms"]);
    assert!(
        forms.contains("<phone type=\"voice\">415-555-0123</phone>"),
        "{forms}"
    );
    let told: Value = serde_json::from_str(&render(&[
        "--profile",
        "store-in-subject",
        "--output",
        "json",
    ]))
    .unwrap();
    assert_eq!(told["subject"], "ADF lead for Example Motors");
    let unknown = forecourt(&["adf", "render", "--lead", lead, "--profile", "no-such"])
        .output()
        .unwrap();
    assert_eq!(unknown.status.code(), Some(2));
    let words = String::from_utf8(unknown.stderr).unwrap();
    assert!(words.contains("name-parts"), "{words}");
}
