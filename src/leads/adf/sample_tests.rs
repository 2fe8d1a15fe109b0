//! Documents as the field writes them, right and wrong: our document for the same lead is valid, is read by another
//! implementation, and says the same.

use std::fs;

use regex::Regex;
use serde_json::{Value, json};

use super::tests::{accepted_at, assert_valid, data, lead, record, settings};
use super::*;

/// The first text of an element, unescaped; nothing when it is absent or empty.
fn first(document: &str, element: &str) -> Option<String> {
    let pattern = format!(r"(?is)<(?:\w+:)?{element}\b[^>]*>(.*?)</(?:\w+:)?{element}\s*>");
    let found = Regex::new(&pattern).unwrap().captures(document)?;
    let text = found.get(1)?.as_str().trim();
    let text = text
        .strip_prefix("<![CDATA[")
        .and_then(|text| text.split("]]>").next())
        .unwrap_or(text);
    let plain = [
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&quot;", "\""),
        ("&apos;", "'"),
        ("&amp;", "&"),
    ]
    .iter()
    .fold(text.to_owned(), |text, (name, sign)| {
        text.replace(name, sign)
    });
    let numbers = Regex::new(r"&#(\d+);").unwrap();
    let plain = numbers.replace_all(&plain, |found: &regex::Captures<'_>| {
        let number = found[1].parse().ok().and_then(char::from_u32);
        number.map_or_else(|| found[0].to_owned(), String::from)
    });
    let plain: String = plain.chars().filter(|c| !c.is_control()).collect();
    (!plain.trim().is_empty() && !plain.contains('<')).then(|| plain.trim().to_owned())
}

/// The first vehicle, and the first that is traded in.
fn vehicles(document: &str) -> (Option<String>, Option<String>) {
    let pattern =
        Regex::new(r"(?is)<(?:\w+:)?vehicle\b([^>]*)>(.*?)</(?:\w+:)?vehicle\s*>").unwrap();
    let (mut wanted, mut traded) = (None, None);
    for found in pattern.captures_iter(document) {
        let place = if found[1].to_lowercase().contains("trade") {
            &mut traded
        } else {
            &mut wanted
        };
        place.get_or_insert_with(|| found[2].to_owned());
    }
    (wanted, traded)
}

/// The description of a vehicle that AAP has members for.
fn vehicle(document: &str, members: &[&str]) -> Value {
    let mut vehicle = json!({});
    for member in members {
        match first(document, member) {
            Some(text) if *member == "year" => {
                if let Ok(year) = text.parse::<u32>()
                    && (1900..2100).contains(&year)
                {
                    vehicle[*member] = year.into();
                }
            }
            Some(text) => vehicle[*member] = text.into(),
            None => {}
        }
    }
    vehicle
}

/// The lead that this document stands for.
fn equivalent(document: &str) -> Value {
    let mut lead = lead();
    let (wanted, traded) = vehicles(document);
    match wanted {
        Some(wanted) => {
            lead["vehicle_of_interest"] =
                vehicle(&wanted, &["year", "make", "model", "vin", "stock", "trim"]);
        }
        None => drop(lead.as_object_mut().unwrap().remove("vehicle_of_interest")),
    }
    if let Some(traded) = traded {
        let traded = vehicle(&traded, &["year", "make", "model", "vin"]);
        if traded["make"].is_string() && traded["model"].is_string() && traded["year"].is_number() {
            lead["trade_in"] = traded;
        }
    }
    if let Some(comments) = first(document, "comments") {
        lead["message"] = comments.chars().take(4000).collect::<String>().into();
    }
    if let Some(email) =
        first(document, "email").filter(|email| email.contains('@') && !email.contains(':'))
    {
        lead["customer"]["email"] = email.into();
    }
    if let Some(city) = first(document, "city") {
        lead["customer"]["address"] = json!({ "city": city });
    }
    lead
}

fn decoded(bytes: &[u8]) -> String {
    let utf8 = std::str::from_utf8(bytes).map(str::to_owned);
    utf8.unwrap_or_else(|_| {
        let encoding = encoding_rs::Encoding::for_bom(bytes)
            .map_or(encoding_rs::WINDOWS_1252, |(found, _)| found);
        encoding.decode(bytes).0.into_owned()
    })
}

// AAP-563 AAP-565 AAP-571 AAP-576
#[test]
fn our_document_for_the_lead_behind_each_sample_is_valid_and_says_the_same() {
    let index = fs::read_to_string(data("adf-index.csv")).unwrap();
    let profile = AdfProfile::named("standard").unwrap();
    let (mut documents, mut words) = (0, 0);
    for line in index.lines().skip(1) {
        let name = line.split(',').next().unwrap();
        let sample = decoded(&fs::read(data(name)).unwrap());
        let request = equivalent(&sample);
        let rendered = render(
            "lead_0001",
            accepted_at(),
            &record(request.clone()),
            &profile,
            &settings(),
        )
        .unwrap();
        match rendered.content {
            Content::Adf(document) => {
                documents += 1;
                assert_valid(&document);
                let ours = equivalent(&document);
                for member in ["make", "model", "vin", "stock", "year"] {
                    let said = &request["vehicle_of_interest"][member];
                    assert_eq!(
                        &ours["vehicle_of_interest"][member], said,
                        "{name}: {member}"
                    );
                }
                assert_eq!(
                    ours["customer"]["email"], request["customer"]["email"],
                    "{name}"
                );
                if let Some(message) = request["message"].as_str() {
                    let beginning: String = message.chars().take(40).collect();
                    let said = ours["message"]
                        .as_str()
                        .unwrap_or_default()
                        .replace('\n', " ");
                    assert!(
                        said.contains(beginning.trim()),
                        "{name}: {said:?} lacks {beginning:?}"
                    );
                }
            }
            Content::Text(text) => {
                words += 1;
                assert!(!text.contains("<adf"), "{name}");
                let known = &request["vehicle_of_interest"];
                let complete = ["year", "make", "model"]
                    .iter()
                    .all(|member| !known[*member].is_null());
                assert!(!complete, "{name} has a vehicle but no document");
            }
        }
    }
    assert_eq!(documents + words, 63);
    assert!(documents >= 45, "{documents} documents");
}
