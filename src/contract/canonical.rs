//! Canonical JSON (RFC 8785): one text for equal documents. Must not change a document's meaning.

use serde_json::{Number, Value};

/// The canonical text of `value`: members sorted by UTF-16 code units, numbers as ECMAScript writes them.
pub fn canonical_json(value: &Value) -> String {
    let mut out = String::new();
    write(value, &mut out);
    out
}

fn write(value: &Value, out: &mut String) {
    match value {
        Value::Null | Value::Bool(_) | Value::String(_) => out.push_str(&value.to_string()),
        Value::Number(number) => out.push_str(&number_text(number)),
        Value::Array(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                write(item, out);
            }
            out.push(']');
        }
        Value::Object(members) => {
            let mut sorted: Vec<_> = members.iter().collect();
            sorted.sort_by(|(a, _), (b, _)| a.encode_utf16().cmp(b.encode_utf16()));
            out.push('{');
            for (index, (name, member)) in sorted.into_iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                out.push_str(&Value::from(name.as_str()).to_string());
                out.push(':');
                write(member, out);
            }
            out.push('}');
        }
    }
}

/// RFC 8785 §3.2.2.3: the text of ECMAScript's `Number::toString` for the double nearest to `number`.
fn number_text(number: &Number) -> String {
    let float = number.as_f64().unwrap_or_default();
    if float == 0.0 {
        return "0".to_owned();
    }
    // Rust's `e` form gives the shortest digits that read back as the same double.
    let shortest = format!("{:e}", float.abs());
    let (mantissa, exponent) = shortest.split_once('e').unwrap_or((shortest.as_str(), "0"));
    let digits: String = mantissa.chars().filter(char::is_ascii_digit).collect();
    let point = exponent.parse::<i32>().unwrap_or_default() + 1;
    let sign = if float < 0.0 { "-" } else { "" };
    format!("{sign}{}", place_point(&digits, point))
}

/// Writes `0.digits × 10^point` as ECMAScript does.
fn place_point(digits: &str, point: i32) -> String {
    let count = i32::try_from(digits.len()).unwrap_or(i32::MAX);
    let zeros = |n: i32| "0".repeat(usize::try_from(n).unwrap_or_default());
    if count <= point && point <= 21 {
        format!("{digits}{}", zeros(point - count))
    } else if 0 < point && point <= 21 {
        let (whole, rest) = digits
            .split_at_checked(point.unsigned_abs() as usize)
            .unwrap_or((digits, ""));
        format!("{whole}.{rest}")
    } else if -6 < point && point <= 0 {
        format!("0.{}{digits}", zeros(-point))
    } else {
        let (first, rest) = digits.split_at_checked(1).unwrap_or((digits, ""));
        let dot = if rest.is_empty() { "" } else { "." };
        format!("{first}{dot}{rest}e{:+}", point - 1)
    }
}
