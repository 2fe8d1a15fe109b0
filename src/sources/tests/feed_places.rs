//! Where a feed can lie: archives, watched folders, servers; and what can be wrong there.

use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::Value;

use super::feed::{gzip, rows, simple};
use crate::mapping::Row;
use crate::net::testing::{Door, Site};
use crate::sources::feed::{self, Place, Web};
use crate::sources::http::Auth;
use crate::sources::{Extent, Fault, Read, Settings, Since, Source, SourceError};

fn zipped(members: &[(&str, &[u8])]) -> Vec<u8> {
    let mut archive = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, content) in members {
        let options = zip::write::SimpleFileOptions::default();
        archive.start_file(*name, options).unwrap();
        archive.write_all(content).unwrap();
    }
    archive.finish().unwrap().into_inner()
}

#[tokio::test]
async fn a_zip_has_one_member_or_a_named_one() {
    let csv = "format = 'csv'";
    let one = zipped(&[("stock/", b""), ("stock/a.csv", b"id\n1\n2\n")]);
    assert_eq!(rows(csv, &one, |_| {}).await.unwrap().0.len(), 2);

    let two = zipped(&[("a.csv", b"id\n1\n"), ("b.csv", b"id\n2\n")]);
    let error = rows(csv, &two, |_| {}).await.unwrap_err();
    assert_eq!(error.fault, Fault::Settings);
    assert!(error.words.contains("`member`"), "{error}");
    let named = rows(csv, &two, |s| s.member = Some("b.csv".to_owned())).await;
    assert_eq!(named.unwrap().0[0]["id"], "2");
    let error = rows(csv, &two, |s| s.member = Some("c.csv".to_owned()))
        .await
        .unwrap_err();
    assert!(error.words.contains("a.csv, b.csv"), "{error}");
}

#[tokio::test]
async fn a_torn_or_damaged_zip_and_a_bomb_are_errors() {
    let csv = "format = 'csv'";
    let text: String = (0..5_000).fold("id\n".to_owned(), |all, n| all + &format!("{n}\n"));
    let whole = zipped(&[("a.csv", text.as_bytes())]);
    let torn = rows(csv, &whole[..whole.len() / 2], |_| {}).await;
    let error = torn.unwrap_err();
    assert_eq!(error.fault, Fault::Data);
    assert!(error.words.contains("ends early"), "{error}");
    let mut flipped = whole.clone();
    let middle = whole.len() / 2;
    flipped[middle] ^= 0xff;
    let error = rows(csv, &flipped, |_| {}).await.unwrap_err();
    assert_eq!(error.fault, Fault::Data, "{error}");
    let bomb = zipped(&[("a.csv", &vec![b'a'; 3_000_000])]);
    let error = rows(csv, &bomb, |s| s.max_bytes = 1_000_000).await;
    assert!(error.unwrap_err().words.contains("max_bytes"));
}

#[tokio::test]
async fn a_file_of_ten_gigabytes_is_refused_at_once() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("large.csv");
    std::fs::write(&path, "id\n1\n").unwrap();
    // Sparse: it takes no room.
    std::fs::File::options()
        .write(true)
        .open(&path)
        .and_then(|file| file.set_len(10 << 30))
        .unwrap();
    let read = |settings: feed::Settings| async {
        let mapping = simple("format = 'csv'");
        let source = Source::open(Settings::Feed(settings), mapping.plan()).await;
        source.unwrap().read(|_, _| {}).await.unwrap_err()
    };
    let error = read(feed::Settings::new(&path)).await;
    assert_eq!(error.fault, Fault::Limit);
    assert!(error.words.contains("max_bytes"), "{error}");
    let mut permitted = feed::Settings::new(&path);
    permitted.max_bytes = 20 << 30;
    let error = read(permitted).await;
    assert!(error.words.contains("max_row_bytes"), "{error}");
}

fn written(path: &Path, content: &str, age_s: u64) {
    std::fs::write(path, content).unwrap();
    let time = std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_700_000_000 - age_s);
    let file = std::fs::File::options().append(true).open(path).unwrap();
    file.set_modified(time).unwrap();
}

async fn ids(source: &Source, since: Since<'_>) -> Result<(Vec<Value>, Read), SourceError> {
    let mut ids = Vec::new();
    let read = source
        .read_since(since, |row: Row, _| ids.push(row.fields["id"].clone()))
        .await?;
    Ok((ids, read))
}

#[tokio::test]
async fn a_watched_folder_tells_of_news_and_the_same_file_is_not_read_twice() {
    let directory = tempfile::tempdir().unwrap();
    let folder = directory.path();
    written(&folder.join("stock-1.csv"), "id\n1\n", 1_000);
    written(&folder.join("other.csv"), "id\n9\n", 10);
    let mut settings = feed::Settings::new(folder);
    settings.place = Place::Disk {
        path: folder.to_owned(),
        pattern: Some("stock-?.csv".to_owned()),
    };
    let mapping = simple("format = 'csv'");
    let source = Source::open(Settings::Feed(settings), mapping.plan());
    let source = source.await.unwrap();
    assert!(source.can_be_watched());
    let first = source.glance().unwrap();
    let (found, read) = ids(&source, Since::default()).await.unwrap();
    assert_eq!((found, read.extent), (vec!["1".into()], Extent::Whole));
    let since = Since {
        mark: Some(&read.mark),
        changes: false,
    };
    let (found, same) = ids(&source, since).await.unwrap();
    assert_eq!((found.len(), same.extent), (0, Extent::Same));
    assert_eq!(same.mark, read.mark);

    written(&folder.join("stock-2.csv"), "id\n2\n", 500);
    assert_ne!(source.glance().unwrap(), first);
    let (found, read) = ids(&source, since).await.unwrap();
    assert_eq!((found, read.extent), (vec!["2".into()], Extent::Whole));

    for file in ["stock-1.csv", "stock-2.csv"] {
        std::fs::remove_file(folder.join(file)).unwrap();
    }
    assert_eq!(source.glance(), None);
    let error = ids(&source, Since::default()).await.unwrap_err();
    assert!(error.words.contains("stock-?.csv"), "{error}");
}

/// As long as before and as old as before, as a copy that keeps times is.
#[tokio::test]
async fn another_price_of_as_many_digits_is_news() {
    use std::os::unix::fs::MetadataExt as _;

    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("stock.csv");
    written(&path, "id\n1\n", 100);
    let mapping = simple("format = 'csv'");
    let source = Source::open(Settings::Feed(feed::Settings::new(&path)), mapping.plan());
    let source = source.await.unwrap();
    let (glance, (_, read)) = (
        source.glance(),
        ids(&source, Since::default()).await.unwrap(),
    );
    let before = std::fs::metadata(&path).unwrap();
    // The file system's clock has ticks.
    while std::fs::metadata(&path).unwrap().ctime_nsec() == before.ctime_nsec() {
        written(&path, "id\n2\n", 100);
    }
    let after = std::fs::metadata(&path).unwrap();
    assert_eq!(
        (after.len(), after.modified().unwrap()),
        (before.len(), before.modified().unwrap())
    );
    assert_ne!(source.glance(), glance);
    let since = Since {
        mark: Some(&read.mark),
        changes: false,
    };
    let (found, read) = ids(&source, since).await.unwrap();
    assert_eq!((found, read.extent), (vec!["2".into()], Extent::Whole));
}

/// Reads 3,000 rows, more than are in flight, of a file that changes when the first is taken; how many came.
async fn read_while(
    path: &Path,
    mut change: impl FnMut() + Send,
) -> (Source, u64, Result<Read, SourceError>) {
    let text: String = (0..3_000).fold("id\n".to_owned(), |all, n| all + &format!("{n}\n"));
    written(path, &text, 100);
    let mapping = simple("format = 'csv'");
    let source = Source::open(Settings::Feed(feed::Settings::new(path)), mapping.plan());
    let source = source.await.unwrap();
    let mut rows = 0;
    let read = source.read(|_, _| {
        rows += 1;
        if rows == 1 {
            change();
        }
    });
    let read = read.await;
    (source, rows, read)
}

/// The new file is written under another name and renamed while the old one is read: that one is read to its end.
#[tokio::test]
async fn a_file_that_is_replaced_while_it_is_read_is_read_whole() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("feed.csv");
    let replaced = read_while(&path, || {
        let new = directory.path().join(".feed.csv");
        written(&new, "id\nnew\n", 10);
        std::fs::rename(new, &path).unwrap();
    });
    let (source, rows, read) = replaced.await;
    assert_eq!(rows, 3_000);
    let mark = read.unwrap().mark;
    let since = Since {
        mark: Some(&mark),
        changes: false,
    };
    assert_eq!(ids(&source, since).await.unwrap().0, ["new"]);
}

#[tokio::test]
async fn a_file_that_grows_while_it_is_read_is_an_error() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("feed.csv");
    let grown = read_while(&path, || {
        let mut file = std::fs::File::options().append(true).open(&path).unwrap();
        file.write_all(b"x\n").unwrap();
    });
    let error = grown.await.2.unwrap_err();
    assert!(error.words.contains("while it was read"), "{error}");
}

/// A site that answers each whole request by `script`, and the settings to reach it.
async fn site(
    door: Door,
    path: &str,
    script: impl Fn(&str) -> Option<Vec<u8>> + Send + Sync + 'static,
) -> (Site, feed::Settings) {
    let site = Site::start_behind(door, &["localhost"], Arc::new(script)).await;
    let url = format!("https://localhost:{}{path}", site.address.port());
    let mut settings = feed::Settings::from_url(url);
    web(&mut settings).access.ca_file = Some(site.ca_file.clone());
    web(&mut settings).access.retry_base_ms = 1;
    web(&mut settings).access.min_interval_ms = 0;
    (site, settings)
}

fn web(settings: &mut feed::Settings) -> &mut Web {
    match &mut settings.place {
        Place::Web(web) => web,
        Place::Disk { .. } => panic!("on disk"),
    }
}

#[expect(clippy::unnecessary_wraps, reason = "a script may also stay silent")]
fn bytes(status: u16, headers: &str, body: &[u8]) -> Option<Vec<u8>> {
    let length = body.len();
    let head = format!("HTTP/1.1 {status} x\r\nContent-Length: {length}\r\n{headers}\r\n");
    Some([head.as_bytes(), body].concat())
}

async fn open(settings: feed::Settings, plan: &str) -> Source {
    let mapping = simple(plan);
    Source::open(Settings::Feed(settings), mapping.plan())
        .await
        .unwrap()
}

#[tokio::test]
async fn a_feed_is_fetched_once_and_then_asked_for_news() {
    let headers = "ETag: \"v1\"\r\nLast-Modified: Sun, 29 Nov 2026 06:00:00 GMT\r\n";
    let (site, mut settings) = site(Door::Open, "/stock.csv.gz?key=k1", move |request| {
        let request = request.to_lowercase();
        if request.contains("if-none-match: \"v1\"") {
            assert!(request.contains("if-modified-since: sun, 29 nov 2026 06:00:00 gmt"));
            return bytes(304, "", b"");
        }
        bytes(200, headers, &gzip(b"id\n1\n2\n"))
    })
    .await;
    web(&mut settings).access.auth = Some(Auth::Basic {
        user: "u".to_owned(),
        password: "p".to_owned(),
    });
    let source = open(settings, "format = 'csv'\nas_of = 'file_time'").await;
    assert!(!source.can_be_watched());
    assert_eq!(source.glance(), None);
    assert!(!source.describe().contains("k1"), "{}", source.describe());
    let (found, read) = ids(&source, Since::default()).await.unwrap();
    assert_eq!(found, ["1", "2"]);
    let as_of = read.tables.as_of().unwrap();
    assert_eq!(as_of.to_string(), "2026-11-29T06:00:00Z");
    let since = Since {
        mark: Some(&read.mark),
        changes: false,
    };
    let (found, same) = ids(&source, since).await.unwrap();
    assert_eq!((found.len(), same.extent), (0, Extent::Same));
    assert_eq!(same.mark, read.mark);
    let requests = site.requests();
    assert_eq!(requests.len(), 2);
    assert!(requests[0].starts_with("GET /stock.csv.gz?key=k1 "));
    assert!(requests[0].to_lowercase().contains("authorization: basic"));
}

#[tokio::test]
async fn what_comes_instead_of_a_feed_is_named() {
    let plan = "format = 'csv'";
    let page = b"<!DOCTYPE html><title>Sign in</title>";
    let packed = gzip("id\n1\n".repeat(5_000).as_bytes());
    let torn = packed[..packed.len() / 2].to_vec();
    for (status, body, fault, word) in [
        (200, page.to_vec(), Fault::Data, "login"),
        (401, Vec::new(), Fault::Refused, "401"),
        (404, Vec::new(), Fault::Query, "404"),
        (302, Vec::new(), Fault::Settings, "redirected"),
        (304, Vec::new(), Fault::Data, "not modified"),
        (503, Vec::new(), Fault::Unreachable, "503"),
        (200, torn, Fault::Data, "ends early"),
    ] {
        let (_site, settings) = site(Door::Open, "/f", move |_| bytes(status, "", &body)).await;
        let error = ids(&open(settings, plan).await, Since::default()).await;
        let error = error.unwrap_err();
        assert_eq!(error.fault, fault, "{error}");
        assert!(error.words.contains(word), "{error}");
    }
    let (_site, settings) = site(Door::Open, "/f", |_| bytes(200, "", b"id\n1\n")).await;
    let dateless = open(settings, "format = 'csv'\nas_of = 'file_time'").await;
    let error = ids(&dateless, Since::default()).await.unwrap_err();
    assert!(error.words.contains("Last-Modified"), "{error}");
}

#[tokio::test]
async fn a_download_is_bounded_and_a_lost_one_begins_anew() {
    for announced in [true, false] {
        let (_site, mut settings) = site(Door::Open, "/f", move |_| {
            let length = if announced {
                "Content-Length: 9000\r\n"
            } else {
                ""
            };
            let body = "id\n".repeat(3_000);
            Some(format!("HTTP/1.1 200 x\r\n{length}\r\n{body}").into_bytes())
        })
        .await;
        web(&mut settings).max_download_bytes = 8_000;
        let error = ids(&open(settings, "format = 'csv'").await, Since::default()).await;
        assert_eq!(error.unwrap_err().fault, Fault::Limit, "{announced}");
    }
    let tries = AtomicUsize::new(0);
    let (site, settings) = site(Door::Open, "/f", move |_| {
        match tries.fetch_add(1, Ordering::SeqCst) {
            0 => Some(b"HTTP/1.1 200 x\r\nContent-Length: 900\r\n\r\nid\n7\n8\n9\n10\n".to_vec()),
            _ => bytes(200, "", b"id\n1\n"),
        }
    })
    .await;
    let (found, _) = ids(&open(settings, "format = 'csv'").await, Since::default())
        .await
        .unwrap();
    assert_eq!((found, site.requests().len()), (vec!["1".into()], 2));
}

#[tokio::test]
async fn a_server_that_asks_for_a_certificate_is_shown_one() {
    let script = |_: &str| bytes(200, "", b"id\n1\n");
    let (site, mut settings) = site(Door::Certificate, "/f", script).await;
    let stranger = open(settings.clone(), "format = 'csv'").await;
    let error = ids(&stranger, Since::default()).await.unwrap_err();
    assert_eq!(error.fault, Fault::Unreachable, "{error}");
    web(&mut settings).access.client_certificate = Some(site.client.clone());
    let known = open(settings.clone(), "format = 'csv'").await;
    assert_eq!(ids(&known, Since::default()).await.unwrap().0, ["1"]);
    // Without the extra authority the server is a stranger.
    web(&mut settings).access.ca_file = None;
    let wary = open(settings.clone(), "format = 'csv'").await;
    let error = ids(&wary, Since::default()).await.unwrap_err();
    assert!(error.words.contains("TLS"), "{error}");
    let plain = web(&mut settings).url.replace("https", "http");
    web(&mut settings).url = plain;
    let open = open(settings, "format = 'csv'").await;
    let error = ids(&open, Since::default()).await.unwrap_err();
    assert_eq!(error.fault, Fault::Settings, "plain HTTP is refused");
}

#[tokio::test]
async fn silence_ends_with_the_time_out() {
    let (_site, mut settings) = site(Door::Open, "/f", |_| None).await;
    web(&mut settings).access.request_timeout_ms = 200;
    let error = ids(&open(settings, "format = 'csv'").await, Since::default()).await;
    assert_eq!(error.unwrap_err().fault, Fault::Timeout);
}
