//! SQL Server without a server: the driver's own cells and rows become what the other databases give,
//! addresses and statements are judged at load, and nobody's answer is a clear failure.

use serde_json::{Value, json};
use tiberius::numeric::Numeric;
use tiberius::time::{Date, DateTime, DateTime2, DateTimeOffset, SmallDateTime, Time};
use tiberius::xml::XmlData;
use tiberius::{ColumnData, ColumnType, Row};

use crate::mapping::Mapping;
use crate::sources::sql::sqlserver::{config, fields, of_number, value};
use crate::sources::{Fault, Settings, Source, sql};

fn shown(cell: &ColumnData<'static>) -> Value {
    value(cell).unwrap()
}

#[test]
fn cells_come_as_from_the_other_databases() {
    let text = |text: &'static str| ColumnData::String(Some(text.into()));
    // 738 853 days after 0001-01-01 is 2023-11-30.
    let date = Date::new(738_853);
    let time = Time::new(359_999_999, 4);
    for (cell, wanted) in [
        (ColumnData::U8(Some(7)), json!(7)),
        (ColumnData::I16(Some(-7)), json!(-7)),
        (ColumnData::I32(Some(31_000)), json!(31_000)),
        (ColumnData::I64(Some(1 << 40)), json!(1_u64 << 40)),
        (ColumnData::F32(Some(0.1)), json!(0.1)),
        (ColumnData::F64(Some(2.5)), json!(2.5)),
        (ColumnData::F64(Some(f64::NAN)), Value::Null),
        (ColumnData::Bit(Some(true)), json!(true)),
        (text("Größe"), json!("Größe")),
        (
            ColumnData::Numeric(Some(Numeric::new_with_scale(2_399_500, 2))),
            json!("23995.00"),
        ),
        (
            ColumnData::Numeric(Some(Numeric::new_with_scale(-5, 3))),
            json!("-0.005"),
        ),
        (
            ColumnData::Numeric(Some(Numeric::new_with_scale(42, 0))),
            json!("42"),
        ),
        (
            ColumnData::Xml(Some(std::borrow::Cow::Owned(XmlData::new("<a/>")))),
            json!("<a/>"),
        ),
        (ColumnData::Date(Some(date)), json!("2023-11-30")),
        (ColumnData::Time(Some(time)), json!("09:59:59.9999")),
        (
            ColumnData::DateTime2(Some(DateTime2::new(date, time))),
            json!("2023-11-30 09:59:59.9999"),
        ),
        (
            ColumnData::DateTimeOffset(Some(DateTimeOffset::new(
                DateTime2::new(date, Time::new(36_000, 0)),
                -300,
            ))),
            json!("2023-11-30T10:00:00Z"),
        ),
        // 45 258 days after 1900-01-01, ten o'clock and 1/300 s.
        (
            ColumnData::DateTime(Some(DateTime::new(45_258, 36_000 * 300 + 1))),
            json!("2023-11-30 10:00:00.003"),
        ),
        (
            ColumnData::DateTime(Some(DateTime::new(-1, 0))),
            json!("1899-12-31 00:00:00"),
        ),
        (
            ColumnData::SmallDateTime(Some(SmallDateTime::new(45_258, 90))),
            json!("2023-11-30 01:30:00"),
        ),
    ] {
        assert_eq!(shown(&cell), wanted, "{cell:?}");
    }
}

#[test]
fn nothing_is_null_and_bytes_are_refused() {
    for cell in [
        ColumnData::U8(None),
        ColumnData::I16(None),
        ColumnData::I32(None),
        ColumnData::I64(None),
        ColumnData::F32(None),
        ColumnData::F64(None),
        ColumnData::Bit(None),
        ColumnData::String(None),
        ColumnData::Guid(None),
        ColumnData::Binary(None),
        ColumnData::Numeric(None),
        ColumnData::Xml(None),
        ColumnData::DateTime(None),
        ColumnData::SmallDateTime(None),
        ColumnData::Time(None),
        ColumnData::Date(None),
        ColumnData::DateTime2(None),
        ColumnData::DateTimeOffset(None),
    ] {
        assert_eq!(shown(&cell), Value::Null);
    }
    let bytes = ColumnData::Binary(Some(vec![1].into()));
    assert!(value(&bytes).unwrap_err().contains("binary"));
    for impossible in [
        ColumnData::Time(Some(Time::new(86_400, 0))),
        ColumnData::Date(Some(Date::new(0x00ff_ffff))),
        ColumnData::DateTime(Some(DateTime::new(i32::MAX, 0))),
        ColumnData::DateTime(Some(DateTime::new(0, u32::MAX))),
        ColumnData::SmallDateTime(Some(SmallDateTime::new(0, u16::MAX))),
    ] {
        let reason = value(&impossible).unwrap_err();
        assert!(reason.starts_with("holds no"), "{impossible:?} {reason}");
    }
}

fn row() -> Row {
    Row::builder()
        .column(
            "STK",
            ColumnType::NVarchar,
            ColumnData::String(Some("U1".into())),
        )
        .column("ODO", ColumnType::Int4, ColumnData::I32(Some(12)))
        .build()
}

#[test]
fn rows_keep_their_columns_and_the_limits() {
    let limits = sql::Settings::new("");
    let found = fields(&row(), &limits).unwrap();
    assert_eq!(Value::Object(found), json!({ "STK": "U1", "ODO": 12 }));
    let mut narrow = sql::Settings::new("");
    narrow.max_columns = 1;
    assert_eq!(fields(&row(), &narrow).unwrap_err().0, Fault::Limit);
    let mut small = sql::Settings::new("");
    small.max_row_bytes = 9;
    assert!(
        fields(&row(), &small)
            .unwrap_err()
            .1
            .contains("max_row_bytes")
    );
    let bytes = Row::builder().column(
        "PIC",
        ColumnType::BigVarBin,
        ColumnData::Binary(Some(vec![0].into())),
    );
    let (fault, words) = fields(&bytes.build(), &limits).unwrap_err();
    assert_eq!((fault, words.contains("`PIC`")), (Fault::Data, true));
}

#[test]
fn addresses_are_read_and_their_mistakes_named() {
    let of = |url: &str| config(&sql::Settings::new(url));
    let good = of("sqlserver://fore%40court:p%3Aw@db.dealer.example:14330/DMS").unwrap();
    assert_eq!(good.get_addr(), "db.dealer.example:14330");
    let shown = format!("{good:?}");
    assert!(shown.contains("DMS") && !shown.contains("p:w"), "{shown}");
    assert_eq!(
        of("mssql://u@10.0.0.7/DMS").unwrap().get_addr(),
        "10.0.0.7:1433"
    );
    for (url, word) in [
        ("sqlserver://db.dealer.example/DMS", "login"),
        ("sqlserver://u@db.dealer.example", "DATABASE"),
        ("sqlserver://u@h:x/DMS", "port"),
        ("sqlserver://u%4@h/DMS", "%"),
        ("sqlserver://u@h/DMS?encrypt=no", "parameters"),
    ] {
        let error = of(url).unwrap_err();
        assert!(error.contains(word), "{url}: {error}");
    }
    let mut settings = sql::Settings::new("sqlserver://u@h/DMS");
    settings.ca_file = Some("/nowhere/ca.pem".into());
    assert!(config(&settings).unwrap_err().contains("/nowhere/ca.pem"));
    settings.danger_accept_any_certificate = true;
    assert!(config(&settings).is_ok(), "no authority is asked");
}

#[test]
fn error_numbers_say_what_kind_of_failure_it_is() {
    for (number, fault) in [
        (18_456, Fault::Refused),
        (4_060, Fault::Refused),
        (229, Fault::Refused),
        (208, Fault::Query),
        (207, Fault::Query),
        (1_222, Fault::Timeout),
        (6_005, Fault::Unreachable),
    ] {
        assert_eq!(of_number(number), fault, "{number}");
    }
}

fn mapping(query: &str) -> Mapping {
    Mapping::parse(&format!(
        "name = 'v'\n[source]\nkind = 'sql'\nquery = '{query}'\nkey = 'id'\n[fields]\n\
         vehicle_id = 'id'\nstatus = {{ value = 'available' }}\n[updated_at]\nprovenance = 'as_of'\n"
    ))
    .unwrap()
}

#[tokio::test]
async fn a_second_statement_of_a_batch_is_refused_at_load() {
    let address = "sqlserver://u:secret@127.0.0.1:1/DMS";
    for query in [
        "SELECT id FROM v SHUTDOWN",
        "SELECT id FROM v WAITFOR DELAY 1",
        "SELECT id FROM OPENQUERY(other, q)",
        "SELECT id FROM v DELETE FROM v",
    ] {
        let settings = Settings::Sql(sql::Settings::new(address));
        let error = Source::open(settings, mapping(query).plan())
            .await
            .unwrap_err();
        assert_eq!(error.fault, Fault::Settings, "{query}");
        assert!(error.words.contains("only reads"), "{error}");
        // `DISABLE` and the like are names in other databases.
        if query.contains("SHUTDOWN") {
            let other = Settings::Sql(sql::Settings::new("sqlite://x"));
            assert!(Source::open(other, mapping(query).plan()).await.is_ok());
        }
    }
}

#[tokio::test]
async fn a_server_that_is_not_there_is_unreachable_and_the_password_is_not_told() {
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = closed.local_addr().unwrap();
    drop(closed);
    let url = format!("sqlserver://u:secret@{address}/DMS");
    let settings = Settings::Sql(sql::Settings::new(url));
    let query = mapping("SELECT id FROM v");
    let source = Source::open(settings, query.plan()).await.unwrap();
    let error = source.read(|_, _| {}).await.unwrap_err();
    assert_eq!(
        (error.fault, error.step.as_str()),
        (Fault::Unreachable, "connect")
    );
    assert!(!error.to_string().contains("secret"), "{error}");
}
