//! Feeds that are longer than a row may be, that end early, or whose quotes run on: what is half must not pass for
//! whole, and what is whole must be read.

use super::feed::{gzip, rows};
use crate::sources::Fault;

#[tokio::test]
async fn many_rows_are_no_long_row_in_any_format() {
    let few = |s: &mut crate::sources::feed::Settings| s.max_row_bytes = 1_000;
    let text = "x".repeat(100);
    let each = |row: &str| {
        (0..20_000)
            .map(|n| row.replace('N', &n.to_string()))
            .collect::<String>()
    };
    let object = format!("{{\"id\":N,\"d\":\"{text}\"}}");
    let list = each(&format!("{object},"));
    let list = list.trim_end_matches(',');
    let beside = format!("{{\"facets\":[1],\"v\":[{list}],\"more\":[2]}}");
    let elements = each(&format!("<v id=\"N\" d=\"{text}\"/><other>{text}</other>"));
    let nested = each(&format!("<v><id>N</id><d>{text}</d></v>"));
    for (plan, content) in [
        (
            "format = 'csv'",
            format!("id,d\n{}", each(&format!("N,{text}\n"))),
        ),
        ("format = 'json'", format!("[{list}]")),
        ("format = 'json'\nitems = 'v'", beside),
        ("format = 'json_lines'", each(&format!("{object}\n"))),
        (
            "format = 'xml'\nitems = 'v'",
            format!("<all>{elements}</all>"),
        ),
        (
            "format = 'xml'\nitems = 'v'",
            format!("<all>{nested}</all>"),
        ),
    ] {
        let read = rows(plan, content.as_bytes(), few).await;
        assert_eq!(
            read.map(|(found, _)| found.len())
                .map_err(|e| e.to_string()),
            Ok(20_000),
            "{plan}"
        );
    }
    // One that is as long as all those is still refused.
    let long = "x".repeat(3_000_000);
    for (plan, content) in [
        ("format = 'json'", format!("[{{\"id\":\"{long}\"}}]")),
        ("format = 'json_lines'", format!("{{\"id\":\"{long}\"}}")),
        (
            "format = 'xml'\nitems = 'v'",
            format!("<all><v id=\"{long}\"/></all>"),
        ),
        (
            "format = 'xml'\nitems = 'v'",
            format!("<all>{long}<v/></all>"),
        ),
    ] {
        let error = rows(plan, content.as_bytes(), few).await.unwrap_err();
        assert_eq!(error.fault, Fault::Limit, "{plan}: {error}");
    }
}

#[tokio::test]
async fn a_file_that_ends_within_a_row_is_no_whole_file() {
    for (plan, half) in [
        // 249 is what was written of 24995.
        ("format = 'csv'", &b"id,price,miles\nA1,24995,1\nA2,249"[..]),
        ("format = 'csv'", b"id,note\nA1,\"good\"\nA2,\"lea"),
        (
            "format = 'json_lines'",
            b"{\"id\":1,\"price\":24995}\n{\"id\":2,\"price\":249",
        ),
    ] {
        let error = rows(plan, half, |_| {}).await.unwrap_err();
        assert_eq!(
            (error.fault, error.words.contains("ends within")),
            (Fault::Data, true),
            "{error}"
        );
    }
    // A writer that leaves out empty cells at the end: only the row in doubt is left out.
    let careless = b"id,price,miles\nA1,24995\nA2,249";
    let (found, read) = rows("format = 'csv'", careless, |_| {}).await.unwrap();
    assert_eq!((found.len(), read.rows), (1, 2));
    assert_eq!(
        (read.skipped[0].row, read.skipped[0].reason.as_str()),
        (2, "is cut short by the end of the file")
    );
    // What a line, a Ctrl-Z or the last cell ends is whole.
    for whole in [
        &b"id,price,miles\nA1,24995,1\nA2,24995\n"[..],
        b"id,price,miles\r\nA1,24995,1\r\nA2,24995\r\n",
        b"id,price,miles\nA1,24995,1\nA2,24995\x1a",
        b"id,price,miles\nA1,24995,1\nA2,24995,2",
        b"id,price,note\nA1,24995,\"\"\nA2,24995,\"x\"",
    ] {
        let (found, read) = rows("format = 'csv'", whole, |_| {}).await.unwrap();
        assert_eq!(
            (found.len(), read.skipped_rows),
            (2, 0),
            "{}",
            String::from_utf8_lossy(whole)
        );
    }
    let lines = b"{\"id\":1}\n{\"id\":2}";
    assert_eq!(
        rows("format = 'json_lines'", lines, |_| {})
            .await
            .unwrap()
            .0
            .len(),
        2
    );
}

#[tokio::test]
async fn a_quote_that_runs_on_gives_no_car_another_s_price() {
    let text = b"id,note,price\nA1,\"Nice car,24995\nA2,\"Other\",19995\nA3,ok,17000\n";
    let (found, read) = rows("format = 'csv'", text, |_| {}).await.unwrap();
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0]["price"], "17000");
    assert_eq!((read.skipped_rows, read.skipped[0].row), (1, 1));
    // A comma behind inches shifts the cells, and an empty last one hides that there is one too many.
    let shifted = b"id,note,msrp,price,extra\nA1,\"19\" alloys, black\",30000,25000,\nA2,x,1,2,3\n";
    let (found, read) = rows("format = 'csv'", shifted, |_| {}).await.unwrap();
    assert_eq!((found.len(), read.skipped_rows), (1, 1), "{found:?}");
    // Inches alone, with the right cells on one line, are only written carelessly.
    let inches = b"id,note,price\nA1,\"19\" alloys,24995\nA2,\"say \"\"hi\"\"\nthere\",19995\n";
    let (found, read) = rows("format = 'csv'", inches, |_| {}).await.unwrap();
    assert_eq!((found.len(), read.skipped_rows), (2, 0), "{read:?}");
    assert_eq!(
        (&found[0]["price"], &found[1]["price"]),
        (&"24995".into(), &"19995".into())
    );
}

#[tokio::test]
async fn a_damaged_table_is_found_by_its_checksum() {
    let table = super::dbf::stock_table();
    let mut packed = gzip(&table);
    assert_eq!(
        rows("format = 'dbf'", &packed, |_| {})
            .await
            .unwrap()
            .0
            .len(),
        1
    );
    let checksum = packed.len() - 8;
    packed[checksum] ^= 1;
    let error = rows("format = 'dbf'", &packed, |_| {}).await.unwrap_err();
    assert_eq!(
        (error.fault, error.words.contains("damaged")),
        (Fault::Data, true),
        "{error}"
    );
}
