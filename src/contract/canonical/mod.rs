//! Canonical JSON (RFC 8785): equal values give equal text, whatever their member order or number form.
//! What idempotency fingerprints are made of. Must not know what the values mean.

use serde_json::{Number, Value};

#[cfg(test)]
mod tests;

/// The canonical text of `value`. Integers beyond 2^53, which RFC 8785 leaves out, keep all their digits,
/// so that two different ones never give one text.
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
            for (position, item) in items.iter().enumerate() {
                separate(position, out);
                write(item, out);
            }
            out.push(']');
        }
        Value::Object(members) => {
            let mut sorted: Vec<_> = members.iter().collect();
            // RFC 8785 §3.2.3: by UTF-16 code units, which is not the order of code points
            sorted.sort_by(|(a, _), (b, _)| a.encode_utf16().cmp(b.encode_utf16()));
            out.push('{');
            for (position, (name, member)) in sorted.into_iter().enumerate() {
                separate(position, out);
                out.push_str(&Value::from(name.as_str()).to_string());
                out.push(':');
                write(member, out);
            }
            out.push('}');
        }
    }
}

fn separate(position: usize, out: &mut String) {
    if position > 0 {
        out.push(',');
    }
}

/// A number as ECMAScript's `Number::toString` writes it (RFC 8785 §3.2.2.3).
fn number_text(number: &Number) -> String {
    match number.as_f64() {
        Some(real) if number.is_f64() => real_text(real),
        _ => number.to_string(),
    }
}

fn real_text(real: f64) -> String {
    if real == 0.0 {
        return "0".to_owned();
    }
    let sign = if real < 0.0 { "-" } else { "" };
    // Rust writes the shortest digits that read back as the same number, as ECMAScript asks
    let scientific = format!("{:e}", real.abs());
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let digits: String = mantissa.chars().filter(char::is_ascii_digit).collect();
    // the decimal point stands after this many digits
    let point = exponent.parse::<i32>().unwrap_or(0) + 1;
    let body = match usize::try_from(point) {
        Ok(point @ 1..=21) => positional(&digits, point),
        _ if (-5..=0).contains(&point) => {
            let zeros = usize::try_from(-point).unwrap_or(0);
            format!("0.{}{digits}", "0".repeat(zeros))
        }
        _ => exponential(&digits, point - 1),
    };
    format!("{sign}{body}")
}

/// `digits` with the decimal point after the first `point` of them.
fn positional(digits: &str, point: usize) -> String {
    match digits.split_at_checked(point) {
        Some((whole, "")) => whole.to_owned(),
        Some((whole, fraction)) => format!("{whole}.{fraction}"),
        None => format!("{digits}{}", "0".repeat(point - digits.len())),
    }
}

fn exponential(digits: &str, exponent: i32) -> String {
    let sign = if exponent < 0 { '-' } else { '+' };
    let exponent = exponent.unsigned_abs();
    match digits.split_at_checked(1) {
        Some((first, rest)) if !rest.is_empty() => format!("{first}.{rest}e{sign}{exponent}"),
        _ => format!("{digits}e{sign}{exponent}"),
    }
}
