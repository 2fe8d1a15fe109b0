//! ADF: the worked example, the DTD, an oracle, and any lead that can be made up.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use proptest::prelude::*;
use serde_json::{Value, json};

use super::super::record::{Receiver, RecordedCaller};
use super::super::settings::{Network, Vendor as VendorSettings};
use super::*;

pub(super) fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/data/adf")
        .join(name)
}

fn fixture(name: &str) -> Value {
    serde_json::from_str(&std::fs::read_to_string(data(name)).unwrap()).unwrap()
}

pub(super) fn record(request: Value) -> Record {
    Record {
        request,
        caller: RecordedCaller::Anonymous,
        receiver: Receiver {
            dealer_id: None,
            name: "Demo Auto Group".to_owned(),
            rooftop: "Demo Toyota".to_owned(),
            timezone: Some("America/Los_Angeles".to_owned()),
            contact_name: Some("Sales".to_owned()),
            phone: Some("+14155550100".to_owned()),
            email: None,
        },
        listing: None,
        booking: None,
    }
}

pub(super) fn settings() -> Settings {
    Settings {
        network: Some(Network {
            name: "Example Network".to_owned(),
            url: Some("https://network.example".to_owned()),
        }),
        ..Settings::new("demo", Vec::new())
    }
}

pub(super) fn accepted_at() -> Timestamp {
    "2026-04-30T10:16:00Z".parse().unwrap()
}

fn try_render(record: &Record, profile: &AdfProfile) -> Rendered {
    render("lead_0001", accepted_at(), record, profile, &settings()).unwrap()
}

fn document(record: &Record, profile: &AdfProfile) -> String {
    match try_render(record, profile).content {
        Content::Adf(document) => document,
        Content::Text(words) => panic!("no document but words:\n{words}"),
    }
}

fn standard(request: Value) -> String {
    document(&record(request), &AdfProfile::named("standard").unwrap())
}

fn profile(text: &str) -> AdfProfile {
    AdfProfile::parse("test", &format!("description = \"for a test\"\n{text}")).unwrap()
}

/// A small lead that every test can add to.
pub(super) fn lead() -> Value {
    json!({
        "type": "lead.submit.request",
        "customer": { "first_name": "Robin", "last_name": "Sample", "email": "robin@example.com", "phone": "+15035550142" },
        "consent": {
            "granted_at": "2026-04-30T10:00:00Z", "allowed_channels": ["email", "phone"],
            "consent_text": "Yes.", "scope": ["lead_submission"]
        },
        "vehicle_of_interest": { "year": 2021, "make": "Honda", "model": "Accord", "condition": "used" },
        "source_agent": { "name": "example-buyer" },
        "idempotency_key": "k"
    })
}

fn with(pointer: &str, value: Value) -> Value {
    let mut lead = lead();
    let (parent, name) = pointer.rsplit_once('/').unwrap();
    lead.pointer_mut(parent).unwrap()[name] = value;
    lead
}

/// Well-formed for a strict parser, valid against the DTD.
fn xmllint(document: &str) -> Result<(), String> {
    let mut child = Command::new("xmllint")
        .args(["--noout", "--nonet", "--dtdvalid"])
        .arg(data("adf.dtd"))
        .arg("-")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("xmllint (package libxml2-utils) must be installed");
    child
        .stdin
        .take()
        .unwrap()
        .write_all(document.as_bytes())
        .unwrap();
    let output = child.wait_with_output().unwrap();
    if output.status.success() {
        Ok(())
    } else {
        Err(String::from_utf8_lossy(&output.stderr).into_owned())
    }
}

/// The prose rules of the standard, as another implementation reads them.
fn oracle(document: &str) -> Result<(), String> {
    let parsed = ::adf::parse(document).map_err(|error| error.to_string())?;
    let report = parsed.validate_adf_1_0();
    let found: Vec<_> = report
        .issues
        .iter()
        .map(|issue| format!("{}: {}", issue.path, issue.message))
        .collect();
    if found.is_empty() {
        Ok(())
    } else {
        Err(found.join("; "))
    }
}

/// The text of an element as the oracle reads it.
fn heard(element: Option<&::adf::TextElement<'_>>) -> String {
    let parts = element
        .map(|element| element.parts.as_slice())
        .unwrap_or_default();
    let text = |part: &::adf::TextPart<'_>| {
        let ::adf::TextPart::Text(text) = part else {
            panic!("not plain text: {part:?}")
        };
        text.clone().into_owned()
    };
    parts.iter().map(text).collect()
}

pub(super) fn assert_valid(document: &str) {
    xmllint(document).unwrap_or_else(|error| panic!("{error}\n{document}"));
    oracle(document).unwrap_or_else(|error| panic!("{error}\n{document}"));
}

// AAP-560 AAP-563 AAP-565 AAP-568 AAP-569 AAP-570 AAP-571 AAP-572 AAP-576
#[test]
fn the_worked_example_comes_out_as_the_specification_shows_it() {
    let written = standard(fixture("lead.request.adf-worked-example.json"));
    // The example's `Z` is outside the forms that ADF allows: the same instant, with the rooftop's offset.
    let (zulu, local) = ("2026-04-30T10:15:10Z", "2026-04-30T03:15:10-07:00");
    assert_eq!(
        zulu.parse::<Timestamp>().unwrap(),
        local.parse::<Timestamp>().unwrap()
    );
    let expected = std::fs::read_to_string(data("adf.worked-example.xml"))
        .unwrap()
        .replace(zulu, local);
    assert_eq!(written.trim_end(), expected.trim_end());
    assert_valid(&written);
}

#[test]
fn the_validators_can_tell() {
    let index = std::fs::read_to_string(data("adf-index.csv")).unwrap();
    let mut reader = csv::Reader::from_reader(index.as_bytes());
    let mut counted = 0;
    for row in reader.records() {
        let row = row.unwrap();
        let bytes = std::fs::read(data("").join(row.get(0).unwrap())).unwrap();
        // Other encodings than UTF-8 are read as they are by xmllint only.
        let Ok(document) = String::from_utf8(bytes) else {
            continue;
        };
        let valid = xmllint(&document).is_ok();
        assert_eq!(valid, row.get(2) == Some("yes"), "{}", row.get(0).unwrap());
        counted += 1;
    }
    assert!(counted > 55, "{counted}");
}

// AAP-567 AAP-566 AAP-573
#[test]
fn notes_of_a_vehicle_are_one_comments_element() {
    let written = standard(with(
        "/vehicle_of_interest",
        json!({
            "vehicle_type": "motorcycle", "year": 2023, "make": "Harley-Davidson", "model": "Road King",
            "condition": "cpo", "displacement_cc": 1868, "transmission": "6-speed sequential",
            "other_attributes": { "final_drive": "belt", "wheel_count": 2, "abs": true, "cases": ["left", "right"] },
            "vehicle_id": "veh_1", "msrp": 30000
        }),
    ));
    assert_valid(&written);
    assert_eq!(written.matches("<comments>").count(), 1);
    assert!(written.contains(
        "<comments>certified pre-owned; Transmission: 6-speed sequential; Displacement: 1868cc; \
         final_drive: belt; wheel_count: 2; abs: true; cases: left, right; Vehicle type: motorcycle; \
         Listing: veh_1; MSRP: 30000 USD</comments>"
    ));
    assert!(!written.contains("<transmission>"));
}

// AAP-568
#[test]
fn transmission_mileage_and_price_have_their_elements() {
    let vehicle = |transmission: &str| {
        json!({ "year": 2021, "make": "Honda", "model": "Accord", "transmission": transmission,
                "mileage": 41000, "price": 24500, "exterior_color": "Blue" })
    };
    for (words, letter) in [
        ("automatic", "A"),
        ("8-speed automatic", "A"),
        ("Manual", "M"),
        ("CVT", "A"),
        ("m", "M"),
    ] {
        let written = standard(with("/vehicle_of_interest", vehicle(words)));
        assert_valid(&written);
        assert!(
            written.contains(&format!("<transmission>{letter}</transmission>")),
            "{words}: {written}"
        );
        assert!(written.contains("<odometer units=\"mi\">41000</odometer>"));
        assert!(written.contains("<price type=\"quote\" currency=\"USD\">24500</price>"));
    }
    let zeros = json!({ "year": 2021, "make": "Honda", "model": "Accord", "mileage": 0, "price": 0, "trim": " " });
    let written = standard(with("/vehicle_of_interest", zeros));
    assert_valid(&written);
    for absent in [
        "<odometer",
        "<price",
        "<trim",
        "<comments/>",
        "<comments></comments>",
    ] {
        assert!(!written.contains(absent), "{absent}");
    }
}

// AAP-576: a name of characters that no document carries is no name, but ADF wants one; a vehicle with such a make
// is no block.
#[test]
fn a_text_that_no_document_carries_is_none() {
    let nothing = Value::from("\u{7}\u{0}");
    let mut lead = with("/source_agent/name", " ".into());
    lead["customer"]["first_name"] = nothing.clone();
    lead["customer"]["last_name"] = nothing.clone();
    for parts in ["full", "first-last", "both"] {
        let names = profile(&format!("names = \"{parts}\""));
        let written = document(&record(lead.clone()), &names);
        assert_valid(&written);
        assert!(written.contains("<name part=\"full\">Unnamed</name>"));
        assert!(written.contains(">Unnamed agent</name>"), "{written}");
    }
    lead["source_agent"]["url"] = "https://buyer.example".into();
    let written = standard(lead.clone());
    assert!(
        written.contains(">https://buyer.example</name>"),
        "{written}"
    );
    for vehicle in ["vehicle_of_interest", "trade_in"] {
        lead.as_object_mut().unwrap().remove("vehicle_of_interest");
        lead[vehicle] =
            json!({ "year": 2021, "make": nothing, "model": "Accord", "condition": "good" });
        let record = record(lead.clone());
        assert!(is_vehicleless(&record), "{vehicle}");
        let content = try_render(&record, &AdfProfile::named("standard").unwrap()).content;
        assert!(matches!(content, Content::Text(_)), "{vehicle}");
    }
}

// AAP-564
#[test]
fn missing_facts_come_from_the_verified_listing_and_nowhere_else() {
    let mut record = record(with(
        "/vehicle_of_interest",
        json!({ "vin": "1HGCV1F32MA900101" }),
    ));
    assert!(is_vehicleless(&record));
    let standard = AdfProfile::named("standard").unwrap();
    assert!(matches!(
        try_render(&record, &standard).content,
        Content::Text(_)
    ));
    record.listing = Some(json!({
        "vin": "1HGCV1F32MA900101", "year": 2021, "make": "Honda", "model": "Accord", "stock": "U10101",
        "condition": "cpo", "price": 24500
    }));
    assert!(!is_vehicleless(&record));
    let written = document(&record, &standard);
    assert_valid(&written);
    for there in [
        "<year>2021</year>",
        "<stock>U10101</stock>",
        "status=\"used\"",
        "certified pre-owned",
    ] {
        assert!(written.contains(there), "{there}");
    }
    assert!(!written.contains("<price"), "the buyer named no price");
}

// AAP-575
#[test]
fn without_a_vehicle_there_is_no_document_but_words() {
    let minimal = record(fixture("lead.request.minimal.json"));
    let rendered = try_render(&minimal, &AdfProfile::named("standard").unwrap());
    let Content::Text(words) = rendered.content else {
        panic!("a vehicle was made up")
    };
    assert!(words.contains("Name: Ada Lovelace\nE-mail: ada@example.com\n"));
    assert!(words.ends_with("\nCould you email me about your available hybrid SUVs?\n"));
    assert!(!words.contains('<'));
    let mut partial = lead();
    partial["vehicle_of_interest"] = json!({ "make": "Honda", "model": "Civic", "stock": "U1" });
    partial["trade_in"] = json!({ "year": 2014, "make": "Toyota" });
    let Content::Text(words) =
        try_render(&record(partial), &AdfProfile::named("standard").unwrap()).content
    else {
        panic!("a vehicle was made up")
    };
    assert!(
        words.contains("Vehicle of interest: Honda, Civic, stock U1. Trade-in: 2014, Toyota."),
        "{words}"
    );
}

// AAP-569
#[test]
fn a_trade_in_stands_last_and_bears_no_number_of_the_dealer() {
    let mut lead = lead();
    lead["trade_in"] = json!({
        "year": 2014, "make": "Toyota", "model": "Corolla", "condition": "fair", "mileage": 96000,
        "stock": "X1", "dealer_id": "d1", "vehicle_id": "v1", "vin": "2T1BURHE0EC000001"
    });
    let written = standard(lead.clone());
    assert_valid(&written);
    let (first, last) = written.split_once("</vehicle>").unwrap();
    assert!(first.contains("interest=\"buy\" status=\"used\""));
    assert!(last.contains("interest=\"trade-in\""));
    assert!(last.contains("Trade-in condition reported by the buyer: fair."));
    for absent in ["X1", "d1<", "v1"] {
        assert!(!last.contains(absent), "{absent}");
    }
    let written = document(
        &record(lead.clone()),
        &AdfProfile::named("condition-element").unwrap(),
    );
    assert_valid(&written);
    assert!(written.contains("<condition>fair</condition>"));
    assert!(!written.contains("reported by the buyer"));
    // Only a trade-in: a prospect with that one vehicle.
    lead.as_object_mut().unwrap().remove("vehicle_of_interest");
    assert_valid(&standard(lead));
}

// AAP-569 AAP-453
#[test]
fn appointments_are_wishes_in_the_comments() {
    let mut lead = with(
        "/appointment",
        json!({ "appointment_type": "service", "appointment_at": "2026-12-24T16:30:00Z",
                "duration_minutes": 45, "notes": "Brakes squeal" }),
    );
    lead["message"] = "Please call".into();
    let written = standard(lead.clone());
    assert_valid(&written);
    let comments = "<comments>Please call\nRequested service appointment: 2026-12-24 08:30 PT. Duration: 45 minutes. \
                    Notes: Brakes squeal</comments>";
    assert!(written.contains(comments), "{written}");
    assert!(written.contains("interest=\"buy\""));
    let mut elsewhere = record(lead);
    for (zone, shown) in [
        (Some("America/New_York"), "2026-12-24 11:30 ET"),
        (Some("America/Phoenix"), "2026-12-24 09:30 MST"),
        (Some("Europe/Berlin"), "2026-12-24 17:30 UTC+01:00"),
        (None, "2026-12-24 16:30 UTC"),
    ] {
        elsewhere.receiver.timezone = zone.map(str::to_owned);
        let written = document(&elsewhere, &AdfProfile::named("standard").unwrap());
        assert!(
            written.contains(&format!("Requested service appointment: {shown}.")),
            "{written}"
        );
    }
}

// AAP-576
#[test]
fn request_dates_bear_the_rooftops_offset_of_that_day() {
    let zone = Some("America/Los_Angeles");
    let date = |text: Option<&str>, zone| when::request_date(text, accepted_at(), zone);
    assert_eq!(
        date(Some("2026-01-15T12:00:00Z"), zone),
        "2026-01-15T04:00:00-08:00"
    );
    assert_eq!(
        date(Some("2026-07-15T12:00:00+02:00"), zone),
        "2026-07-15T03:00:00-07:00"
    );
    assert_eq!(
        date(Some("2026-07-15T12:00:00+02:00"), None),
        "2026-07-15T12:00:00+02:00"
    );
    assert_eq!(
        date(Some("2026-07-15T12:00:00.5Z"), Some("Not/AZone")),
        "2026-07-15T12:00:00+00:00"
    );
    assert_eq!(date(None, zone), "2026-04-30T03:16:00-07:00");
}

#[test]
fn an_address_without_a_street_goes_into_the_comments() {
    let whole = with(
        "/customer/address",
        json!({ "address_line_1": "1 Main St", "address_line_2": "Unit 2", "city": "Salem", "country": "us" }),
    );
    let written = standard(whole);
    assert_valid(&written);
    assert!(written.contains("<street line=\"2\">Unit 2</street>"));
    assert!(written.contains("<country>US</country>"));
    let no_street = with(
        "/customer/address",
        json!({ "city": "Salem", "state": "OR", "zip": "97301" }),
    );
    let written = standard(no_street);
    assert_valid(&written);
    assert!(!written.contains("<address"));
    assert!(written.contains("Address: Salem, OR, 97301."));
    let abroad = with(
        "/customer/address",
        json!({ "address_line_1": "1 Rue", "country": "Belgique" }),
    );
    let written = standard(abroad);
    assert_valid(&written);
    assert!(written.contains("Country: Belgique."), "{written}");
}

// AAP-562 AAP-459
#[test]
fn a_profile_may_pass_on_permitted_contact_values_only() {
    let permitted = profile("contact_values = \"permitted\"");
    for (channels, email, phone) in [
        (json!(["email"]), true, false),
        (json!(["phone"]), false, true),
        (json!(["sms"]), false, true),
        (json!(["email", "sms"]), true, true),
    ] {
        let record = record(with("/consent/allowed_channels", channels.clone()));
        let written = document(&record, &permitted);
        assert_valid(&written);
        assert_eq!(written.contains("robin@example.com"), email, "{channels}");
        assert_eq!(written.contains("+15035550142"), phone, "{channels}");
        assert!(written.contains("Permitted contact channels: "));
    }
    let noted = document(
        &record(with("/consent/allowed_channels", json!(["email"]))),
        &profile("contact_values = \"all_with_note\""),
    );
    assert!(noted.contains("+15035550142") && noted.contains("Permitted contact channels: email."));
}

#[test]
fn profiles_say_how_names_and_phones_look() {
    let names = document(
        &record(lead()),
        &profile("names = \"first-last\"\nphone = \"us-dashed\"\npreferred_contact = true"),
    );
    assert_valid(&names);
    assert!(names.contains("<name part=\"first\">Robin</name>"));
    assert!(names.contains("<name part=\"last\">Sample</name>"));
    assert!(names.contains("<phone>503-555-0142</phone>"));
    let mut preferring = with("/customer/preferred_contact", "phone".into());
    let written = document(
        &record(preferring.clone()),
        &profile("names = \"both\"\nphone = \"digits10\"\npreferred_contact = true"),
    );
    assert_valid(&written);
    assert!(written.contains("<phone preferredcontact=\"1\">5035550142</phone>"));
    assert_eq!(written.matches("<name part=").count(), 5);
    let typed = document(
        &record(preferring.clone()),
        &profile("phone_type = \"voice\"\npreferred_contact = true"),
    );
    assert_valid(&typed);
    assert!(
        typed.contains("<phone type=\"voice\" preferredcontact=\"1\">"),
        "{typed}"
    );
    preferring["customer"]["phone"] = "+442071838750".into();
    let abroad = document(&record(preferring), &profile("phone = \"us-dashed\""));
    assert!(abroad.contains("<phone>+442071838750</phone>"));
}

// AAP-570
#[test]
fn a_network_is_the_provider_and_the_agent_its_service() {
    let written = document(&record(lead()), &AdfProfile::named("lead-network").unwrap());
    assert_valid(&written);
    let (_, provider) = written.split_once("<provider>").unwrap();
    assert!(provider.contains("<name part=\"full\">Example Network</name>"));
    assert!(provider.contains("<service>example-buyer</service>"));
    assert!(provider.contains("<url>https://network.example</url>"));
    assert!(written.contains("<vendorname>Demo Toyota</vendorname>"));
    assert!(written.contains("<id sequence=\"1\" source=\"Forecourt\">lead_0001</id>"));
}

#[test]
fn a_programme_knows_store_and_source_by_its_own_ids() {
    let ours = Settings {
        provider_ids: vec![("GM".to_owned(), "CAMPAIGN-1".to_owned())],
        vendor: VendorSettings {
            ids: vec![
                ("BAC".to_owned(), "123456".to_owned()),
                ("Store".to_owned(), "A & B".to_owned()),
            ],
            ..VendorSettings::default()
        },
        ..settings()
    };
    for name in ["standard", "lead-network"] {
        let profile = AdfProfile::named(name).unwrap();
        let rendered = render("lead_0001", accepted_at(), &record(lead()), &profile, &ours);
        let Content::Adf(written) = rendered.unwrap().content else {
            panic!("no document")
        };
        assert_valid(&written);
        let (_, vendor) = written.split_once("<vendor>").unwrap();
        let (vendor, provider) = vendor.split_once("<provider>").unwrap();
        let ids = "<id sequence=\"1\" source=\"BAC\">123456</id>\n      \
                   <id sequence=\"2\" source=\"Store\">A &amp; B</id>\n      <vendorname>";
        assert!(vendor.trim_start().starts_with(ids), "{vendor}");
        let id = "<id sequence=\"1\" source=\"GM\">CAMPAIGN-1</id>\n      <name";
        assert!(provider.trim_start().starts_with(id), "{provider}");
    }
}

// AAP-571
#[test]
fn the_vendor_needs_a_way_to_be_reached() {
    let mut record = record(lead());
    record.receiver.phone = None;
    let standard = AdfProfile::named("standard").unwrap();
    let refused = render("lead_0001", accepted_at(), &record, &standard, &settings());
    assert!(matches!(refused, Err(RenderError::NoVendorContact)));
    record.receiver.email = Some("sales@demo.example".to_owned());
    let written = document(&record, &standard);
    assert_valid(&written);
    assert!(written.contains("<email>sales@demo.example</email>"));
    let ours = Settings {
        vendor: VendorSettings {
            name: Some("Harbor Point".to_owned()),
            phone: Some("+15035550100".to_owned()),
            ..VendorSettings::default()
        },
        ..settings()
    };
    let Content::Adf(written) = render("lead_0001", accepted_at(), &record, &standard, &ours)
        .unwrap()
        .content
    else {
        panic!("no document")
    };
    assert!(written.contains("<vendorname>Harbor Point</vendorname>"));
    assert!(written.contains("<phone>+15035550100</phone>"));
}

// AAP-576
#[test]
fn text_is_escaped_once_and_controls_are_dropped() {
    let lead = with("/message", "Tom & Jerry <b>\"x\"</b> &amp; ]]> \u{0}\u{8}\u{b}\u{1f}\u{fffe}tab\there\r\nnext 日本 😀 é".into());
    let written = standard(lead.clone());
    assert_valid(&written);
    assert!(written.is_ascii());
    assert!(written.contains(
        "Tom &amp; Jerry &lt;b&gt;\"x\"&lt;/b&gt; &amp;amp; ]]&gt; tab\there\nnext &#26085;&#26412; &#128512; &#233;"
    ), "{written}");
    let utf8 = document(&record(lead.clone()), &profile("charset = \"utf-8\""));
    assert_valid(&utf8);
    assert!(utf8.contains("日本 😀 é"));
    let translit = document(&record(lead), &profile("charset = \"translit\""));
    assert_valid(&translit);
    assert!(translit.contains("&#128512; e<"), "{translit}");
    let name = standard(with("/customer/last_name", "Sam\nple\u{7}".into()));
    assert!(
        name.contains("<name part=\"full\">Robin Sam ple</name>"),
        "{name}"
    );
}

#[test]
fn every_shipped_profile_writes_valid_documents() {
    for name in AdfProfile::names() {
        let profile = AdfProfile::named(name).unwrap();
        let rendered = try_render(
            &record(fixture("lead.request.adf-worked-example.json")),
            &profile,
        );
        let Content::Adf(document) = rendered.content else {
            panic!("{name}")
        };
        assert_valid(&document);
        assert!(
            rendered.subject.contains("Demo Toyota"),
            "{name}: {}",
            rendered.subject
        );
        assert_eq!(rendered.reply_to, None);
    }
}

#[test]
fn every_profile_has_its_line_in_the_manual() {
    let manual = include_str!("../../../docs/leads.md");
    let (_, chapter) = manual.split_once("\n## ADF profiles\n").unwrap();
    let (chapter, _) = chapter.split_once("\n## ").unwrap();
    let (_, list) = chapter.split_once("\n```text\n").unwrap();
    let (list, _) = list.split_once("\n```").unwrap();
    let told = list.lines().filter_map(|line| line.split(' ').next());
    let shipped = AdfProfile::names();
    assert_eq!(told.collect::<Vec<_>>(), shipped);
    // and what the table of CRMs names is one of them, a file's name, or a key
    let (_, crms) = manual
        .split_once("\n## What CRMs are known to want\n")
        .unwrap();
    let (crms, _) = crms.split_once("\n## ").unwrap();
    let named: Vec<&str> = crms
        .split("profile `")
        .skip(1)
        .filter_map(|rest| rest.split('`').next())
        .collect();
    assert!(named.len() > 8, "{named:?}");
    for name in named {
        assert!(shipped.contains(&name), "{name}");
    }
}

#[test]
fn profiles_are_read_strictly_and_their_texts_tried() {
    let bad = [
        "names = \"nick\"",
        "surprise = 1",
        "[mail]\nsubject = \"{{ custmer }}\"",
        "customer_comments = \"{% for a in range(100000) %}x{% endfor %}\"",
        "customer_comments = \"{{ \"",
    ];
    for text in bad {
        let text = format!("description = \"bad\"\n{text}");
        assert!(AdfProfile::parse("bad", &text).is_err(), "{text}");
    }
    assert!(
        AdfProfile::named("unheard-of")
            .unwrap_err()
            .to_string()
            .contains("standard")
    );
    let own = profile(
        "customer_comments = \"{{ agent }} asks: {{ usual }} ({{ channels | join('/') }})\"",
    );
    let written = document(&record(with("/message", "Hi.".into())), &own);
    assert_valid(&written);
    assert!(written.contains("<comments>example-buyer asks: Hi. (email/phone)</comments>"));
}

fn words() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => "[ -~]{1,40}",
        2 => "\\PC{1,40}",
        1 => any::<String>(),
    ]
}

fn visible() -> impl Strategy<Value = String> {
    words().prop_filter("a contract asks for more than blanks", |text| {
        !text::clean_line(text).is_empty()
    })
}

prop_compose! {
    fn any_lead()(
        names in (visible(), visible()),
        message in proptest::option::of(words()),
        vehicle in (1900_i64..2100, visible(), visible(), words(), words()),
        numbers in (any::<u32>(), any::<u16>()),
        condition in prop_oneof![Just("new"), Just("used"), Just("cpo")],
        attributes in proptest::collection::btree_map("[a-z_]{1,12}", words(), 0..4),
        address in proptest::option::of((words(), words(), words())),
        kind in prop_oneof![Just(None), Just(Some("sales")), Just(Some("service")), Just(Some("test_drive")), Just(Some("trade_in"))],
        agent in visible(),
        trade_in in proptest::option::of((1900_i64..2100, visible(), visible())),
    ) -> Value {
        let mut lead = lead();
        lead["customer"]["first_name"] = names.0.into();
        lead["customer"]["last_name"] = names.1.into();
        if let Some(message) = message { lead["message"] = message.into(); }
        let (year, make, model, trim, body) = vehicle;
        lead["vehicle_of_interest"] = json!({
            "year": year, "make": make, "model": model, "trim": trim, "body": body, "condition": condition,
            "mileage": numbers.0, "price": numbers.1, "other_attributes": attributes,
        });
        if let Some((street, city, country)) = address {
            lead["customer"]["address"] = json!({ "address_line_1": street, "city": city, "country": country });
        }
        if let Some(kind) = kind { lead["appointment"] = json!({ "appointment_type": kind }); }
        lead["source_agent"]["name"] = agent.into();
        if let Some((year, make, model)) = trade_in {
            lead["trade_in"] = json!({ "year": year, "make": make, "model": model });
        }
        lead
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    // AAP-576
    #[test]
    fn any_lead_is_a_valid_document_whose_text_comes_back(
        lead in any_lead(),
        name in prop_oneof![Just("standard"), Just("lead-network"), Just("attachment"), Just("condition-element"), Just("name-parts")],
    ) {
        let written = document(&record(lead.clone()), &AdfProfile::named(name).unwrap());
        prop_assert_eq!(oracle(&written), Ok(()));
        let parsed = ::adf::parse(&written).unwrap();
        let prospect = &parsed.adf().prospects[0];
        let vehicle = &prospect.vehicles[0];
        let asked = &lead["vehicle_of_interest"];
        let said = |value: &Value| text::clean_line(value.as_str().unwrap());
        prop_assert_eq!(heard(vehicle.make.as_ref()), said(&asked["make"]));
        prop_assert_eq!(heard(vehicle.model.as_ref()), said(&asked["model"]));
        prop_assert_eq!(prospect.vehicles.len(), 1 + usize::from(lead.get("trade_in").is_some()));
        if let Some(message) = lead.get("message").map(|message| text::clean(message.as_str().unwrap())) {
            let comments = prospect.customer.as_ref().unwrap().comments.as_ref();
            let comments = heard(comments);
            prop_assert!(comments.starts_with(&message), "{:?} in {:?}", message, comments);
        }
    }
}

proptest! {
    // Each case starts a process.
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn any_lead_is_valid_against_the_dtd(lead in any_lead()) {
        let written = document(&record(lead), &AdfProfile::named("standard").unwrap());
        prop_assert_eq!(xmllint(&written), Ok(()));
    }
}

// AAP-576: a line end of any kind reaches every reader as the same one.
#[test]
fn line_ends_of_every_kind_are_one() {
    assert_eq!(
        text::clean("a\r\nb\rc\u{85}d\u{2028}e\nf\u{b}"),
        "a\nb\nc\nd\ne\nf"
    );
    assert_eq!(text::clean_line("a\u{2028}b\u{85}c"), "a b c");
}
