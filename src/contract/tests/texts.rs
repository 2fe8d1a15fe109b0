//! Strict JSON, numbers, times and canonical text.

use serde_json::json;

use super::*;
use crate::contract::canonical::canonical_json;
use crate::contract::json::{JsonError, read};

// AAP-510: a float with a zero fraction is an integer; a larger number is refused, not cut.
#[test]
fn numbers_are_normalised_and_never_cut() {
    let payload = read(
        br#"{"type":"inventory.search.request","pagination":{"limit":20.0},
        "filters":{"price_max":35000.0,"near":{"latitude":45,"longitude":-122.5,"radius_mi":10}}}"#,
    )
    .unwrap();
    let Request::InventorySearch(request) = contract()
        .validate(Skill::InventorySearch, payload)
        .unwrap()
    else {
        panic!("not a search")
    };
    assert_eq!(request.pagination.limit, Some(20));
    assert_eq!(request.filters.as_ref().unwrap().price_max, Some(35000));
    for number in ["1e19", "99999999999999999999", "35000.5", "-1"] {
        let text =
            format!(r#"{{"type":"inventory.search.request","filters":{{"price_max":{number}}}}}"#);
        let (code, found) = places(Skill::InventorySearch, read(text.as_bytes()).unwrap());
        assert_eq!(code, ErrorCode::SchemaValidationFailed, "{number}");
        assert_eq!(found, ["/filters/price_max"], "{number}");
    }
}

// AAP-458: times need their offset; leap seconds and far years are times too.
#[test]
fn date_times_need_an_offset() {
    let granted = |text: &str| {
        let mut payload = lead();
        payload["consent"]["granted_at"] = json!(text);
        contract().validate(Skill::LeadSubmit, payload).is_ok()
    };
    for good in [
        "2026-10-24T15:00:00Z",
        "2026-10-24t15:00:00.123456789z",
        "2026-10-24T15:00:00+05:30",
        "2016-12-31T23:59:60Z",
        "9999-12-31T23:59:59Z",
    ] {
        assert!(granted(good), "{good}");
    }
    for bad in [
        "2026-10-24T15:00:00",
        "2026-10-24 15:00:00Z",
        "2026-02-30T15:00:00Z",
        "2026-10-24T25:00:00Z",
        "2026-10-24T15:00:00.Z",
        "20261024T150000Z",
        "2026-10-24",
        "",
    ] {
        assert!(!granted(bad), "{bad}");
    }
}

// AAP-097: what is not one clean JSON text is refused as such.
#[test]
fn json_is_read_strictly() {
    assert_eq!(
        read(br#"{"a":[1,2.5,null,true,"x"]}"#).unwrap(),
        json!({"a": [1, 2.5, null, true, "x"]})
    );
    assert!(matches!(
        read(br#"{"a":{"b":1,"b":1}}"#),
        Err(JsonError::DuplicateName { .. })
    ));
    assert_eq!(read(b"\"\xff\""), Err(JsonError::NotUtf8));
    for bad in [
        &b"{bad"[..],
        b"",
        b"1 2",
        br#""\ud800""#,
        b"NaN",
        b"1e400",
        b"{\"a\":1}x",
    ] {
        assert!(
            matches!(read(bad), Err(JsonError::Malformed { .. })),
            "{bad:?}"
        );
    }
    let deep = |n: usize| "[".repeat(n) + &"]".repeat(n);
    assert!(read(deep(crate::contract::json::MAX_DEPTH).as_bytes()).is_ok());
    assert_eq!(
        read(deep(crate::contract::json::MAX_DEPTH + 1).as_bytes()),
        Err(JsonError::TooDeep)
    );
    assert_eq!(read(deep(100_000).as_bytes()), Err(JsonError::TooDeep));
}

// AAP-476 AAP-478: one canonical text for equal requests (RFC 8785 §3.2.3 and its appendix B).
#[test]
fn canonical_text_follows_the_rfc() {
    let value = read(
        "{\"\u{20ac}\":1,\"\\r\":2,\"\u{fb33}\":3,\"1\":4,\"\u{1f600}\":5,\"\u{80}\":6,\"\u{f6}\":7}"
            .as_bytes(),
    )
    .unwrap();
    assert_eq!(
        canonical_json(&value),
        "{\"\\r\":2,\"1\":4,\"\u{80}\":6,\"\u{f6}\":7,\"\u{20ac}\":1,\"\u{1f600}\":5,\"\u{fb33}\":3}"
    );
    for (number, text) in [
        (0.0, "0"),
        (-0.0, "0"),
        (5e-324, "5e-324"),
        (1.797_693_134_862_315_7e308, "1.7976931348623157e+308"),
        (9_007_199_254_740_992.0, "9007199254740992"),
        (295_147_905_179_352_830_000.0, "295147905179352830000"),
        (9.999_999_999_999_997e22, "9.999999999999997e+22"),
        (1e21, "1e+21"),
        (1e-6, "0.000001"),
        (1e-7, "1e-7"),
        (-333_333_333.333_333_3, "-333333333.3333333"),
        // Halfway between two shortest texts: the even one.
        (f64::from_bits(0x4314_3ff3_c1cb_0959), "1424953923781206.2"),
    ] {
        assert_eq!(canonical_json(&json!(number)), text);
    }
}
