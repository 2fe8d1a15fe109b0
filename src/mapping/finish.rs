//! A mapped value as AAP wants the member: its type, its bounds, its form. Must not round or guess.

use serde_json::{Number, Value};

use super::field::Kind;

/// Gives a mapped value its AAP type, or says why it has none.
pub(super) fn finish(kind: Kind, value: Value) -> Result<Value, String> {
    match (kind, value) {
        (_, Value::Null) => Ok(Value::Null),
        (Kind::Text, value) => text(value),
        (Kind::Whole { min, max }, value) => whole(&value, min, max),
        (Kind::Amount, value) => amount(&value),
        (Kind::Flag, Value::Bool(flag)) => Ok(Value::Bool(flag)),
        (Kind::Flag, _) => Err("is not true or false; add a `boolean` step".to_owned()),
        (Kind::Word(words), Value::String(word)) => {
            if words.contains(&word.as_str()) {
                Ok(Value::String(word))
            } else {
                Err(format!("is none of {}", words.join(", ")))
            }
        }
        (Kind::Word(words), _) => Err(format!("is none of {}", words.join(", "))),
        (Kind::Date, Value::String(date)) => match date.parse::<jiff::civil::Date>() {
            Ok(_) if date.len() == 10 => Ok(Value::String(date)),
            _ => Err("is not a date as YYYY-MM-DD; add a `date` step".to_owned()),
        },
        (Kind::Date, _) => Err("is not a date; add a `date` step".to_owned()),
        (Kind::Url, Value::String(url)) if is_web_address(&url) => Ok(Value::String(url)),
        (Kind::Url, _) => Err("is not an http(s) address".to_owned()),
        (Kind::Urls, value) => list(value, is_web_address),
        (Kind::Texts, value) => list(value, |_| true),
        (Kind::Any, value) => any(value),
        (Kind::Instant, Value::String(text)) => match text.trim().parse::<jiff::Timestamp>() {
            Ok(instant) => Ok(Value::String(instant.to_string())),
            Err(_) => Err("is no instant; add a `datetime` step".to_owned()),
        },
        (Kind::Instant, _) => Err("is no instant; add a `datetime` step".to_owned()),
        (Kind::Label, value) => {
            let name = text(value)?;
            if name.as_str().is_some_and(|name| name.chars().count() > 120) {
                return Err("has more than 120 characters".to_owned());
            }
            Ok(name)
        }
        (Kind::Degrees(bound), value) => degrees(&value, bound),
        (Kind::Zone, Value::String(zone)) if jiff::tz::TimeZone::get(zone.trim()).is_ok() => {
            Ok(Value::String(zone.trim().to_owned()))
        }
        (Kind::Zone, _) => Err("is no IANA time zone".to_owned()),
        (Kind::Clock, Value::String(time)) if is_clock(&time) => Ok(Value::String(time)),
        (Kind::Clock, _) => Err("is no time as HH:MM; add a `time` step".to_owned()),
    }
}

fn text(value: Value) -> Result<Value, String> {
    match value {
        Value::String(text) if text.trim().is_empty() => Ok(Value::Null),
        Value::String(text) => Ok(Value::String(text)),
        Value::Number(number) => Ok(Value::String(number.to_string())),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => {
            Err("is not text".to_owned())
        }
    }
}

fn whole(value: &Value, min: i64, max: i64) -> Result<Value, String> {
    let number = match value {
        Value::Number(number) => number.as_i64().or_else(|| exact(number.as_f64()?)),
        Value::String(text) => text.trim().parse().ok(),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    };
    match number {
        None => Err("is not a whole number; add a `number` or `round` step".to_owned()),
        Some(number) if number < min || number > max => Err(format!("lies outside {min} to {max}")),
        Some(number) => Ok(number.into()),
    }
}

/// The integer that a float is, when it is one.
#[expect(
    clippy::cast_possible_truncation,
    reason = "the fraction is zero and the range is checked"
)]
pub(super) fn exact(float: f64) -> Option<i64> {
    (float.fract() == 0.0 && float.abs() < 9e15).then_some(float as i64)
}

fn amount(value: &Value) -> Result<Value, String> {
    let float = match value {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => text.trim().parse().ok(),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    };
    match float {
        Some(float) if float.is_finite() && (0.0..1e9).contains(&float) => Ok(number(float)),
        Some(_) => Err("lies outside 0 to 1,000,000,000".to_owned()),
        None => Err("is not a number; add a `number` step".to_owned()),
    }
}

#[expect(clippy::cast_precision_loss, reason = "a bound is 90 or 180")]
fn degrees(value: &Value, bound: i64) -> Result<Value, String> {
    let float = match value {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => text.trim().parse().ok(),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    };
    match float {
        Some(float) if float.abs() <= bound as f64 => Ok(number(float)),
        Some(_) => Err(format!("lies outside -{bound} to {bound} degrees")),
        None => Err("is not a number of degrees".to_owned()),
    }
}

/// `HH:MM`, 00:00 to 23:59.
fn is_clock(text: &str) -> bool {
    let part = |part: &str, end: u8| {
        part.len() == 2 && part.parse::<u8>().is_ok_and(|number| number < end)
    };
    text.split_once(':')
        .is_some_and(|(hour, minute)| part(hour, 24) && part(minute, 60))
}

/// A JSON number without a needless fraction.
pub(super) fn number(float: f64) -> Value {
    match exact(float) {
        Some(whole) => whole.into(),
        None => Number::from_f64(float).map_or(Value::Null, Value::Number),
    }
}

fn list(value: Value, fits: impl Fn(&str) -> bool) -> Result<Value, String> {
    let elements = match value {
        Value::Array(elements) => elements,
        Value::String(text) if text.trim().is_empty() => return Ok(Value::Null),
        Value::String(text) => vec![Value::String(text)],
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => {
            return Err("is not a list; add a `split` step".to_owned());
        }
    };
    if elements
        .iter()
        .all(|element| element.as_str().is_some_and(&fits))
    {
        Ok(Value::Array(elements))
    } else {
        Err("holds an element of the wrong form; for addresses add a `urls` step".to_owned())
    }
}

fn any(value: Value) -> Result<Value, String> {
    let fits = match &value {
        Value::Array(list) => {
            list.iter().all(Value::is_string) || list.iter().all(Value::is_number)
        }
        Value::Object(_) => false,
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => true,
    };
    if value.as_str().is_some_and(|text| text.trim().is_empty()) {
        return Ok(Value::Null);
    }
    if fits {
        Ok(value)
    } else {
        Err("is neither a text, a number, a truth value nor a list of those".to_owned())
    }
}

/// Whether text is an absolute http(s) address in the characters of RFC 3986, which the contract asks for.
pub(super) fn is_web_address(text: &str) -> bool {
    let rest = text
        .strip_prefix("https://")
        .or_else(|| text.strip_prefix("http://"));
    rest.is_some_and(|rest| !rest.is_empty() && !rest.starts_with('/'))
        && text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"-._~:/?#@!$&'()*+,;=%".contains(&byte))
        && text.split('%').skip(1).all(|after| {
            let mut digits = after.bytes();
            let mut hex = || digits.next().is_some_and(|digit| digit.is_ascii_hexdigit());
            hex() && hex()
        })
        && text.matches('#').count() < 2
        && text.parse::<http::Uri>().is_ok()
        && text.len() <= 2_000
}
