//! Feed files in every format: CSV, XML, JSON, JSON Lines, DBF, packed or not.

use std::io::Write as _;
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;
use forecourt::mapping::plan::{FeedPlan, Plan};
use forecourt::mapping::{Row, Tables};
use forecourt::sources::{Read, Settings, Source, SourceError, feed as feeds};

use super::shop::runtime;

const MAX_ROWS: u64 = 500;
const MAX_COLUMNS: usize = 40;
const MAX_BYTES: u64 = 1 << 20;

thread_local! {
    static RUNTIME: tokio::runtime::Runtime = runtime();
}

type Outcome = Result<(Read, Vec<Row>), SourceError>;

fn read(folder: &Path, plan: &FeedPlan, content: &[u8]) -> Outcome {
    let path = folder.join("feed");
    std::fs::write(&path, content).unwrap();
    let settings = feeds::Settings {
        max_bytes: MAX_BYTES,
        max_rows: MAX_ROWS,
        max_columns: MAX_COLUMNS,
        max_row_bytes: 1 << 16,
        ..feeds::Settings::new(path)
    };
    RUNTIME.with(|runtime| {
        runtime.block_on(async {
            let source = Source::open(Settings::Feed(settings), &Plan::Feed(plan.clone())).await?;
            let mut rows = Vec::new();
            let read = source.read(|row: Row, _: &Tables| rows.push(row)).await?;
            Ok((read, rows))
        })
    })
}

/// A plan in one line, then the file: it is read whole or not at all, within its bounds, every time alike, and
/// alike when it comes packed.
pub fn feed(bytes: &[u8]) {
    let mut parts = bytes.splitn(2, |byte| *byte == b'\n');
    let (Some(plan), Some(content)) = (parts.next(), parts.next()) else {
        return;
    };
    let Ok(plan) = serde_json::from_slice::<FeedPlan>(plan) else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let outcome = read(folder.path(), &plan, content);
    let again = read(folder.path(), &plan, content);
    match (&outcome, &again) {
        (Ok((_, rows)), Ok((_, same))) => assert_eq!(rows, same, "two readings"),
        (Err(error), Err(same)) => {
            assert_eq!((error.fault, &error.words), (same.fault, &same.words));
            assert_ne!(error.words, "the parser failed", "a panic of the parser");
            assert!(!error.words.is_empty() && error.words.len() < 2_000);
        }
        _ => panic!("read once and not twice"),
    }
    let Ok((read_whole, rows)) = outcome else {
        return;
    };
    assert_eq!(rows.len() as u64 + read_whole.skipped_rows, read_whole.rows);
    assert!(read_whole.rows <= MAX_ROWS);
    if read_whole.columns_are_fixed {
        assert!(read_whole.columns.len() <= MAX_COLUMNS);
        let known = |row: &Row| {
            row.fields
                .keys()
                .all(|name| read_whole.columns.contains(name))
        };
        assert!(rows.iter().all(known), "a cell without a column");
    }
    let is_packed = content.starts_with(&[0x1f, 0x8b]) || content.starts_with(b"PK");
    if !is_packed {
        let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
        packed.write_all(content).unwrap();
        let packed = packed.finish().unwrap();
        let (_, unpacked) = read(folder.path(), &plan, &packed).unwrap();
        assert_eq!(unpacked, rows, "another content when packed");
    }
}
