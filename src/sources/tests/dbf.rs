//! DBF tables, built byte by byte as dBase and `FoxPro` write them.

use serde_json::{Value, json};

use super::feed::rows;
use crate::sources::Fault;

/// Name, type, width and decimals of a column.
type Column = (&'static str, u8, u8, u8);

fn table(version: u8, columns: &[Column], records: &[(u8, Vec<&[u8]>)]) -> Vec<u8> {
    let width: usize = 1 + columns.iter().map(|c| usize::from(c.2)).sum::<usize>();
    let head = 32 + 32 * columns.len() + 1;
    let mut bytes = vec![version, 126, 11, 30];
    bytes.extend(u32::try_from(records.len()).unwrap().to_le_bytes());
    bytes.extend(u16::try_from(head).unwrap().to_le_bytes());
    bytes.extend(u16::try_from(width).unwrap().to_le_bytes());
    bytes.resize(32, 0);
    for (name, kind, width, decimals) in columns {
        let mut descriptor = [0; 32];
        descriptor[..name.len()].copy_from_slice(name.as_bytes());
        descriptor[11] = *kind;
        descriptor[16] = *width;
        descriptor[17] = *decimals;
        bytes.extend(descriptor);
    }
    bytes.push(0x0d);
    for (flag, cells) in records {
        bytes.push(*flag);
        for (cell, column) in cells.iter().zip(columns) {
            let mut padded = vec![b' '; usize::from(column.2)];
            padded[..cell.len()].copy_from_slice(cell);
            bytes.extend(padded);
        }
    }
    bytes.push(0x1a);
    bytes
}

const STOCK: &[Column] = &[
    ("id", b'C', 6, 0),
    ("PRICE", b'N', 9, 2),
    ("INDATE", b'D', 8, 0),
    ("SOLD", b'L', 1, 0),
    ("NOTES", b'M', 10, 0),
];

/// A table of one row.
pub(super) fn stock_table() -> Vec<u8> {
    table(3, STOCK, &[(b' ', vec![b"1", b"", b"", b"", b""])])
}

#[tokio::test]
async fn dbase_rows_come_without_deleted_ones_and_memos() {
    let bytes = table(
        0x83,
        STOCK,
        &[
            (b' ', vec![b"U1 caf", b"  23995.5", b"20261130", b"T", b"1"]),
            (b'*', vec![b"GONE", b"1", b"20260101", b"F", b""]),
            (b' ', vec![b"U2", b"", b"", b"?", b""]),
        ],
    );
    let (found, read) = rows("format = 'dbf'", &bytes, |_| {}).await.unwrap();
    let found: Vec<Value> = found.into_iter().map(Value::Object).collect();
    let wanted = [
        json!({"id": "U1 caf", "PRICE": "23995.5", "INDATE": "20261130", "SOLD": true}),
        json!({"id": "U2", "PRICE": "", "INDATE": "", "SOLD": null}),
    ];
    assert_eq!(found, wanted);
    assert!(read.columns_are_fixed && !read.columns.contains("NOTES"));
}

#[tokio::test]
async fn foxpro_s_binary_columns_are_read() {
    let columns: &[Column] = &[
        ("id", b'C', 2, 0),
        ("ODO", b'I', 4, 0),
        ("COST", b'Y', 8, 4),
        ("LITRES", b'B', 8, 2),
        ("CHANGED", b'T', 8, 0),
    ];
    let cost = (-239_955_000_i64).to_le_bytes();
    let moment = [2_461_375_i32.to_le_bytes(), 36_000_500_i32.to_le_bytes()].concat();
    let filled: Vec<&[u8]> = vec![
        b"1",
        &[0x39, 0x30, 0, 0],
        &cost,
        &[0, 0, 0, 0, 0, 0, 4, 64],
        &moment,
    ];
    let empty: Vec<&[u8]> = vec![b"2", &[0; 4], &[0; 8], &[0; 8], &[0; 8]];
    let bytes = table(0x30, columns, &[(b' ', filled), (b' ', empty)]);
    let (found, _) = rows("format = 'dbf'", &bytes, |_| {}).await.unwrap();
    let wanted = json!({"id": "1", "ODO": 12_345, "COST": "-23995.5000", "LITRES": 2.5, "CHANGED": "2026-11-30 10:00:00"});
    assert_eq!(Value::Object(found[0].clone()), wanted);
    assert_eq!(found[1]["CHANGED"], Value::Null);
}

#[tokio::test]
async fn code_pages_torn_tables_and_limits() {
    let bytes = table(3, STOCK, &[(b' ', vec![b"Caf\xe9", b"", b"", b"", b""])]);
    let (found, _) = rows("format = 'dbf'\nencoding = 'windows-1252'", &bytes, |_| {})
        .await
        .unwrap();
    assert_eq!(found[0]["id"], "Café");
    let error = rows("format = 'dbf'", &bytes, |_| {}).await.unwrap_err();
    assert!(
        error.words.contains("`id`") && error.words.contains("windows-1252"),
        "{error}"
    );

    let two = table(3, STOCK, &[(b' ', vec![b"1"; 1]), (b' ', vec![b"2"; 1])]);
    for length in [0, 20, 60, 200, bytes.len() - 20] {
        let error = rows("format = 'dbf'", &bytes[..length], |_| {})
            .await
            .unwrap_err();
        assert_eq!(error.fault, Fault::Data, "{length} {error}");
    }
    let error = rows("format = 'dbf'", &two, |_| {}).await.unwrap_err();
    assert!(
        error.words.contains("ends early") || error.words.contains("damaged"),
        "{error}"
    );
    for (change, word) in [
        (
            (|s| s.max_bytes = 10) as fn(&mut crate::sources::feed::Settings),
            "max_bytes",
        ),
        (|s| s.max_row_bytes = 10, "max_row_bytes"),
        (|s| s.max_columns = 2, "max_columns"),
    ] {
        let error = rows("format = 'dbf'", &bytes, change).await.unwrap_err();
        assert_eq!(
            (error.fault, error.words.contains(word)),
            (Fault::Limit, true),
            "{error}"
        );
    }
    let html = rows(
        "format = 'dbf'",
        b"<!DOCTYPE html><html><body>Sign in here please</body></html>",
        |_| {},
    );
    assert!(html.await.unwrap_err().words.contains("no DBF table"));
}
