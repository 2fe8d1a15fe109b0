//! Feed files: the presets, and what can be wrong with a file.

use std::io::Write;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use super::{MEMBERS, one_showroom};
use crate::mapping::tests::presets::{
    Mapped, check_expected, differences, expect, mapping, read, root,
};
use crate::mapping::{Mapping, Outcome, Row};
use crate::sources::{Fault, Read, Settings, Source, SourceError, feed};

/// When the samples were written, as far as the tests are concerned.
const WRITTEN: &str = "2026-11-29T06:00:00Z";

fn settings(path: &Path) -> Settings {
    Settings::Feed(feed::Settings::new(path))
}

async fn preset(name: &str) -> Mapped {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("sample.csv");
    std::fs::copy(root().join("mappings").join(name).join("sample.csv"), &path).unwrap();
    let written: jiff::Timestamp = WRITTEN.parse().unwrap();
    let file = std::fs::File::options().append(true).open(&path).unwrap();
    let since = std::time::Duration::from_secs(written.as_second().unsigned_abs());
    file.set_modified(std::time::UNIX_EPOCH + since).unwrap();
    let mapped = read(&mapping(name), settings(&path)).await;
    for listing in &mapped.resolved.kept {
        assert_eq!(listing["updated_at"], WRITTEN);
    }
    mapped
}

const ROOFTOP: &str = "the file names one dealership for both showrooms";
const STATUS: &str = "the file has no status";

#[tokio::test]
async fn homenet_gives_what_it_can_know() {
    let mapped = preset("homenet-csv").await;
    let mut members = MEMBERS.to_vec();
    members.extend(["fuel", "list_price", "price", "features"]);
    expect(
        &differences(&mapped.resolved.kept, &members),
        &one_showroom(
            ROOFTOP,
            &[
                ("N25104.status", "\"available\" for \"intransit\"", STATUS),
                ("U10105.status", "\"available\" for \"pending\"", STATUS),
                (
                    "U10115",
                    "published",
                    "sold yesterday and still in last night's file",
                ),
                ("N25119", "published", "on order, which the file cannot say"),
                ("U10116", "published", "sold, and the file still has it"),
                (
                    "U10117",
                    "published",
                    "wholesale, which the file cannot say",
                ),
                ("U10129.list_price", "- for 28888", "1 is a placeholder"),
                ("U10129.price", "- for 29387", "1 is a placeholder"),
            ],
        ),
    );
    check_expected("homenet-csv", &mapped.resolved.kept);
}

#[tokio::test]
async fn vauto_gives_what_it_can_know() {
    let mapped = preset("vauto-csv").await;
    let mut members = MEMBERS.to_vec();
    members.extend(["list_price", "features"]);
    expect(
        &differences(&mapped.resolved.kept, &members),
        &one_showroom(
            ROOFTOP,
            &[
                ("N25104.status", "\"available\" for \"intransit\"", STATUS),
                ("U10105.status", "\"available\" for \"pending\"", STATUS),
                (
                    "U10115",
                    "published",
                    "sold yesterday and still in last night's file",
                ),
                ("N25119", "published", "on order, which the file cannot say"),
                ("U10129.list_price", "- for 28888", "0 is a placeholder"),
            ],
        ),
    );
    assert!(
        mapped
            .resolved
            .kept
            .iter()
            .all(|listing| !listing.contains_key("price"))
    );
    check_expected("vauto-csv", &mapped.resolved.kept);
}

#[tokio::test]
async fn google_listings_give_what_they_can_know() {
    let mapped = preset("google-vehicle-listings").await;
    let mut members = MEMBERS.to_vec();
    members.extend(["fuel", "price"]);
    expect(
        &differences(&mapped.resolved.kept, &members),
        &one_showroom(
            ROOFTOP,
            &[
                ("N25104.status", "\"available\" for \"intransit\"", STATUS),
                ("U10105.status", "\"available\" for \"pending\"", STATUS),
                (
                    "U10115",
                    "published",
                    "sold yesterday and still in last night's file",
                ),
                (
                    "R10130",
                    "not published",
                    "the format is for cars: the trailer is not in the file",
                ),
            ],
        ),
    );
    check_expected("google-vehicle-listings", &mapped.resolved.kept);
}

fn rejected(mapped: &Mapped) -> Vec<(String, String, String)> {
    let outcomes = mapped.outcomes.iter();
    outcomes
        .filter_map(|outcome| match outcome {
            Outcome::Rejected {
                identifiers,
                column,
                reason,
                ..
            } => Some((identifiers.stock.clone()?, column.clone(), reason.clone())),
            Outcome::Published(..) | Outcome::Hidden { .. } => None,
        })
        .collect()
}

#[tokio::test]
async fn a_row_cut_short_is_rejected_and_named() {
    let mapped = preset("vauto-csv").await;
    let found = rejected(&mapped);
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].0, "S99999");
    assert!(found[0].2.contains("does not have"), "{found:?}");
}

/// A mapping that only needs an id.
pub(super) fn simple(source: &str) -> Mapping {
    Mapping::parse(&format!(
        "name = 't'\n[source]\nkind = 'feed'\n{source}\n[fields]\nvehicle_id = 'id'\n\
         status = {{ value = 'available' }}\n[updated_at]\nprovenance = 'as_of'\n"
    ))
    .unwrap()
}

pub(super) async fn rows(
    source: &str,
    content: &[u8],
    change: impl Fn(&mut feed::Settings),
) -> Result<(Vec<Map<String, Value>>, Read), SourceError> {
    let directory = tempfile::tempdir().unwrap();
    let path: PathBuf = directory.path().join("feed");
    std::fs::write(&path, content).unwrap();
    let mut settings = feed::Settings::new(path);
    change(&mut settings);
    let source = Source::open(Settings::Feed(settings), simple(source).plan()).await?;
    let mut all = Vec::new();
    let read = source.read(|row: Row, _| all.push(row.fields)).await?;
    Ok((all, read))
}

async fn csv(content: &[u8]) -> (Vec<Map<String, Value>>, Read) {
    rows("format = 'csv'", content, |_| {}).await.unwrap()
}

#[tokio::test]
async fn separators_quotes_marks_and_unequal_rows() {
    for separator in [",", "\t", "|", ";"] {
        let text = "\u{feff}id,Name,Name\r\n1,\"a,\"\"b\nc\",x\r\n2\r\n\r\n3,y,z,surplus\r\n\u{1a}";
        let text = text.replace("a,", "a;,|").replace(',', "\u{1}");
        let text = text.replace('\u{1}', separator);
        let (found, read) = csv(text.as_bytes()).await;
        assert_eq!(found.len(), 2, "{separator:?} {found:?}");
        assert_eq!(found[0]["id"], "1");
        assert!(found[0]["Name"].as_str().unwrap().ends_with("\"b\nc"));
        assert_eq!(found[0]["Name (2)"], "x");
        assert_eq!(
            found[1].len(),
            1,
            "a short row has no more members than cells"
        );
        assert_eq!(read.rows, 3);
        assert_eq!(read.skipped[0].row, 3);
        assert_eq!(read.skipped[0].reason, "has 4 cells for 3 columns");
    }
}

#[tokio::test]
async fn encodings_aliases_and_files_without_a_header() {
    let bytes = b"1|Caf\xe9 \x96 \x93ok\x94\n\x1a";
    let plan = "format = 'csv'\nencoding = 'windows-1252'\ncolumns = ['id', 'text']";
    let (found, _) = rows(plan, bytes, |_| {}).await.unwrap();
    assert_eq!(found[0]["text"], "Café – “ok”");

    let error = rows("format = 'csv'", b"id\nCaf\xe9\n", |_| {})
        .await
        .unwrap_err();
    assert_eq!(error.fault, Fault::Data);
    assert!(error.words.contains("windows-1252"), "{error}");

    let plan = "format = 'csv'\naliases = { id = ['Stock Number'] }";
    let (found, _) = rows(plan, b"STOCK_NUMBER\n7\n", |_| {}).await.unwrap();
    assert_eq!(found[0]["id"], "7");

    // A column of the very name is not pushed aside by one that is called so elsewhere.
    let plan = "format = 'csv'\naliases = { Price = ['Internet Price', 'Sale'] }";
    let both = b"id,Internet Price,Price\n1,19995,24995\n";
    let (found, _) = rows(plan, both, |_| {}).await.unwrap();
    assert_eq!(
        (&found[0]["Price"], &found[0]["Internet Price"]),
        (&"24995".into(), &"19995".into())
    );

    let utf16: Vec<u8> = "\u{feff}id\n9\n"
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .collect();
    assert_eq!(csv(&utf16).await.0[0]["id"], "9");
}

pub(super) fn gzip(content: &[u8]) -> Vec<u8> {
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packer.write_all(content).unwrap();
    packer.finish().unwrap()
}

#[tokio::test]
async fn gzip_is_unpacked_and_a_torn_one_is_an_error() {
    let text: String = (0..5_000).fold("id\n".to_owned(), |all, n| all + &format!("{n}\n"));
    let packed = gzip(text.as_bytes());
    assert_eq!(csv(&packed).await.0.len(), 5_000);
    let torn = &packed[..packed.len() / 2];
    let error = rows("format = 'csv'", torn, |_| {}).await.unwrap_err();
    assert_eq!(error.fault, Fault::Data);
    assert!(error.words.contains("ends early"), "{error}");
    // A small file that unpacks into a large one.
    let bomb = gzip(&vec![b'a'; 3_000_000]);
    let error = rows("format = 'csv'", &bomb, |s| s.max_bytes = 1_000_000)
        .await
        .unwrap_err();
    assert_eq!(
        (error.fault, error.words.contains("max_bytes")),
        (Fault::Limit, true),
        "{error}"
    );
}

#[tokio::test]
async fn limits_hold_for_rows_columns_and_bytes() {
    let many = "id\n1\n2\n3\n";
    let error = rows("format = 'csv'", many.as_bytes(), |s| s.max_rows = 2)
        .await
        .unwrap_err();
    assert!(error.words.contains("max_rows"), "{error}");
    let wide = "x,".repeat(1_000_000);
    let error = rows("format = 'csv'", wide.as_bytes(), |_| {})
        .await
        .unwrap_err();
    assert_eq!(error.fault, Fault::Limit, "{error}");
    // A quote that never closes must not pull the whole file into one cell.
    let open = format!("id\n\"{}", "a\n".repeat(2_000_000));
    let error = rows("format = 'csv'", open.as_bytes(), |_| {})
        .await
        .unwrap_err();
    assert!(error.words.contains("max_row_bytes"), "{error}");
}

#[tokio::test]
async fn a_web_page_an_empty_file_or_none_is_named() {
    for format in ["csv", "json", "json_lines"] {
        let plan = format!("format = '{format}'");
        let page = b"<!DOCTYPE html><title>Sign in</title>";
        let error = rows(&plan, page, |_| {}).await.unwrap_err();
        assert!(error.words.contains("login"), "{format}: {error}");
    }
    let error = rows("format = 'csv'", b"", |_| {}).await.unwrap_err();
    assert!(error.words.contains("empty"), "{error}");
    let mapping = simple("format = 'csv'");
    let source = Source::open(settings(Path::new("/nowhere/feed.csv")), mapping.plan());
    let error = source.await.unwrap().read(|_, _| {}).await.unwrap_err();
    assert_eq!(error.fault, Fault::Unreachable);
    assert!(error.to_string().contains("/nowhere/feed.csv"), "{error}");
}

#[tokio::test]
async fn json_documents_and_lines() {
    let plan = "format = 'json'\nitems = 'data.vehicles'";
    let text = br#"{"meta":{"vehicles":[{"id":9}]},"data":{"count":2,"vehicles":[{"id":1,"a":[{"b":2}]},{"id":2},7]}}"#;
    let (found, read) = rows(plan, text, |_| {}).await.unwrap();
    assert_eq!(found.len(), 2);
    assert_eq!(found[0]["a"][0]["b"], 2);
    assert_eq!(read.skipped.len(), 1);
    assert!(!read.columns_are_fixed);

    assert_eq!(
        rows("format = 'json'", b"[{\"id\":1}]", |_| {})
            .await
            .unwrap()
            .0
            .len(),
        1
    );
    for (bad, word) in [
        (&b"{\"data\":{}}"[..], "no list"),
        (b"{\"data\":{\"vehicles\":[{\"id\":1}", "EOF"),
        (b"[1", "expects an object"),
    ] {
        let error = rows(plan, bad, |_| {}).await.unwrap_err();
        assert!(error.words.contains(word), "{error}");
    }
    let lines = b"{\"id\":1}\n\nnot json\n{\"id\":2}\n\x1a";
    let (found, read) = rows("format = 'json_lines'", lines, |_| {}).await.unwrap();
    assert_eq!((found.len(), read.skipped[0].row), (2, 2));
}

#[tokio::test]
async fn xml_elements_become_rows() {
    let plan = "format = 'xml'\nitems = 'vehicle'";
    let text = br#"<?xml version="1.0"?><!DOCTYPE d [<!ENTITY x SYSTEM "file:///etc/passwd">]>
        <inventory><dealer>D</dealer><vehicle id="1"><name>Land &amp; Sea &#233;</name>
        <photo>a</photo><photo>b</photo><price type="MSRP">5</price><note><![CDATA[<b>]]></note></vehicle>
        <vehicle id="2"/></inventory>"#;
    let (found, _) = rows(plan, text, |_| {}).await.unwrap();
    assert_eq!(found.len(), 2);
    let wanted = serde_json::json!({
        "id": "1", "name": "Land & Sea é", "photo": ["a", "b"],
        "price": { "type": "MSRP", "text": "5" }, "note": "<b>",
    });
    assert_eq!(Value::Object(found[0].clone()), wanted);
    for bad in [
        &b"<inventory><vehicle>"[..],
        b"<inventory></inventory>",
        b"<a><vehicle>&x;</vehicle></a>",
        b"<a><vehicle></b></a>",
    ] {
        assert!(
            rows(plan, bad, |_| {}).await.is_err(),
            "{}",
            String::from_utf8_lossy(bad)
        );
    }
    let deep = format!("<a>{}", "<vehicle>".repeat(1000));
    let error = rows(plan, deep.as_bytes(), |_| {}).await.unwrap_err();
    assert_eq!(error.fault, Fault::Limit);
}

#[tokio::test]
async fn the_newest_file_of_a_directory_counts() {
    let directory = tempfile::tempdir().unwrap();
    for (name, age) in [("new.csv", 10), ("old.csv", 1_000), (".hidden", 1)] {
        let path = directory.path().join(name);
        std::fs::write(&path, format!("id\n{name}\n")).unwrap();
        let time = std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_700_000_000 - age);
        std::fs::File::options()
            .append(true)
            .open(&path)
            .unwrap()
            .set_modified(time)
            .unwrap();
    }
    let mapping = simple("format = 'csv'\nas_of = 'file_time'");
    let source = Source::open(settings(directory.path()), mapping.plan())
        .await
        .unwrap();
    let mut found = Vec::new();
    source
        .read(|row, tables| found.push(mapping.apply(&row, tables)))
        .await
        .unwrap();
    let Outcome::Published(listing, _) = &found[0] else {
        panic!("{found:?}")
    };
    assert_eq!(listing["vehicle_id"], "new.csv");
    assert_eq!(listing["updated_at"], "2023-11-14T22:13:10Z");
}
