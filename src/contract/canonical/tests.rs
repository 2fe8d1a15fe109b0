use proptest::prelude::*;
use serde_json::json;

use super::*;

#[test]
fn numbers_are_written_as_ecmascript_writes_them() {
    // RFC 8785 appendix B
    for (bits, expected) in [
        (0x0000_0000_0000_0000, "0"),
        (0x8000_0000_0000_0000, "0"),
        (0x0000_0000_0000_0001, "5e-324"),
        (0x8000_0000_0000_0001, "-5e-324"),
        (0x7fef_ffff_ffff_ffff, "1.7976931348623157e+308"),
        (0xffef_ffff_ffff_ffff, "-1.7976931348623157e+308"),
        (0x4340_0000_0000_0000, "9007199254740992"),
        (0xc340_0000_0000_0000, "-9007199254740992"),
        (0x4430_0000_0000_0000, "295147905179352830000"),
        (0x44b5_2d02_c7e1_4af5, "9.999999999999997e+22"),
        (0x44b5_2d02_c7e1_4af6, "1e+23"),
        (0x44b5_2d02_c7e1_4af7, "1.0000000000000001e+23"),
        (0x444b_1ae4_d6e2_ef4e, "999999999999999700000"),
        (0x444b_1ae4_d6e2_ef4f, "999999999999999900000"),
        (0x444b_1ae4_d6e2_ef50, "1e+21"),
        (0x3eb0_c6f7_a0b5_ed8c, "9.999999999999997e-7"),
        (0x3eb0_c6f7_a0b5_ed8d, "0.000001"),
        (0x41b3_de43_5555_5553, "333333333.3333332"),
        (0x41b3_de43_5555_5554, "333333333.33333325"),
        (0x41b3_de43_5555_5555, "333333333.3333333"),
        (0xbecb_f647_612f_3696, "-0.0000033333333333333333"),
        (0x4314_3ff3_c1cb_0959, "1424953923781206.2"),
    ] {
        assert_eq!(canonical_json(&json!(f64::from_bits(bits))), expected);
    }
    assert_eq!(canonical_json(&json!(20.0)), "20");
    assert_eq!(
        canonical_json(&json!(9_007_199_254_740_993_u64)),
        "9007199254740993"
    );
}

#[test]
fn members_are_sorted_by_utf_16_code_units() {
    // RFC 8785 §3.2.3
    let value = json!({
        "\u{20ac}": "Euro Sign", "\r": "Carriage Return", "\u{fb33}": "Hebrew Letter Dalet With Dagesh",
        "1": "One", "\u{1f600}": "Emoji: Grinning Face", "\u{80}": "Control",
        "\u{f6}": "Latin Small Letter O With Diaeresis",
    });
    let text = canonical_json(&value);
    let order = [
        "Carriage", "One", "Control", "Latin", "Euro", "Emoji", "Hebrew",
    ];
    let places: Vec<_> = order.iter().map(|word| text.find(word).unwrap()).collect();
    assert!(places.is_sorted(), "{text}");
}

#[test]
fn strings_are_escaped_only_where_they_must_be() {
    let value = json!("\u{20ac}$\u{f}\nA'B\"\\\\\"/\u{7f}\u{8}\u{c}\t\r");
    assert_eq!(
        canonical_json(&value),
        "\"\u{20ac}$\\u000f\\nA'B\\\"\\\\\\\\\\\"/\u{7f}\\b\\f\\t\\r\""
    );
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-1_000_000_i64..1_000_000).prop_map(Value::from),
        any::<f64>()
            .prop_filter("finite", |real| real.is_finite())
            .prop_map(Value::from),
        "\\PC{0,8}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 32, 6, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            proptest::collection::btree_map("\\PC{0,6}", inner, 0..6)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

fn reversed(value: &Value) -> Value {
    match value {
        Value::Array(items) => items.iter().map(reversed).collect(),
        Value::Object(members) => Value::Object(
            members
                .iter()
                .rev()
                .map(|(name, member)| (name.clone(), reversed(member)))
                .collect(),
        ),
        other => other.clone(),
    }
}

proptest! {
    #[test]
    fn member_order_does_not_matter(value in value()) {
        prop_assert_eq!(canonical_json(&value), canonical_json(&reversed(&value)));
    }

    #[test]
    fn canonical_text_is_a_fixed_point(value in value()) {
        let text = canonical_json(&value);
        let again: Value = serde_json::from_str(&text).unwrap();
        prop_assert_eq!(canonical_json(&again), text);
    }

    #[test]
    fn numbers_read_back_exactly(real in any::<f64>().prop_filter("finite", |real| real.is_finite())) {
        let text = canonical_json(&json!(real));
        prop_assert_eq!(text.parse::<f64>().unwrap(), real);
    }
}
