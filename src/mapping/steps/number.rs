//! Number steps: text to number by its written format, whole dollars, units. Must not round unasked.

use serde_json::Value;

use super::super::finish::{exact, number};
use super::super::spec::Unit;
use super::Stop;
use super::text::plain;

/// How a number is written.
#[derive(Clone, Debug, PartialEq)]
pub(in super::super) struct Format {
    pub(in super::super) group: Option<char>,
    pub(in super::super) decimal: char,
    pub(in super::super) implied_decimals: u8,
    shape: String,
}

impl Format {
    /// Reads the shape `1,234.56`, `1.234,56`, `1 234,56`, `1234.56` or `1234,56`.
    pub(in super::super) fn read(shape: &str, implied_decimals: u8) -> Result<Self, String> {
        let (group, decimal) = match shape {
            "1,234.56" => (Some(','), '.'),
            "1.234,56" => (Some('.'), ','),
            "1 234,56" => (Some(' '), ','),
            "1234.56" => (None, '.'),
            "1234,56" => (None, ','),
            _ => {
                return Err(
                    "a number's format is one of `1,234.56`, `1.234,56`, `1 234,56`, `1234.56`, `1234,56`"
                        .to_owned(),
                );
            }
        };
        if implied_decimals > 6 {
            return Err("at most 6 implied decimals".to_owned());
        }
        Ok(Self {
            group,
            decimal,
            implied_decimals,
            shape: shape.to_owned(),
        })
    }
}

/// A number from its text.
pub(super) fn parse(value: &Value, format: &Format) -> Result<Value, Stop> {
    if let Value::Number(given) = value {
        if format.implied_decimals == 0 {
            return Ok(given
                .as_f64()
                .map_or(Value::Null, number_or(given.as_i64())));
        }
    } else if !value.is_string() {
        return Err(Stop::dirty("is not a number"));
    }
    let text = plain(value);
    let bare = unadorned(&text);
    if bare.is_empty() {
        return Ok(Value::Null);
    }
    let canonical = canonical(bare, format)
        .ok_or_else(|| Stop::Dirty(format!("is not a number written as {}", format.shape)))?;
    read_canonical(&canonical).ok_or_else(|| Stop::dirty("is not a number that can be held"))
}

fn number_or(whole: Option<i64>) -> impl Fn(f64) -> Value {
    move |float| whole.map_or_else(|| number(float), Value::from)
}

/// The text without blanks and the currency around it.
fn unadorned(text: &str) -> &str {
    let mut bare = text.trim();
    for mark in ["US$", "USD", "$"] {
        bare = bare.strip_prefix(mark).unwrap_or(bare).trim();
        bare = bare.strip_suffix(mark).unwrap_or(bare).trim();
    }
    bare
}

/// `-1234.56` from the written form; nothing when groups or digits are not as the format says.
fn canonical(text: &str, format: &Format) -> Option<String> {
    let (sign, digits) = match text.strip_prefix('-') {
        Some(rest) => ("-", rest),
        None => ("", text.strip_prefix('+').unwrap_or(text)),
    };
    let (whole, fraction) = match digits.split_once(format.decimal) {
        Some(("", fraction)) if !fraction.is_empty() => ("0", fraction),
        Some((whole, fraction)) if !fraction.is_empty() => (whole, fraction),
        Some(_) => return None,
        None => (digits, ""),
    };
    let joined = ungrouped(whole, format.group)?;
    if !fraction.bytes().all(|byte| byte.is_ascii_digit()) || joined.len() > 18 {
        return None;
    }
    let implied = usize::from(format.implied_decimals);
    if implied == 0 {
        return Some(format!("{sign}{joined}.{fraction}0"));
    }
    if !fraction.is_empty() {
        return None;
    }
    let padded = format!("{joined:0>width$}", width = implied + 1);
    let (whole, cents) = padded.split_at_checked(padded.len() - implied)?;
    Some(format!("{sign}{whole}.{cents}"))
}

fn ungrouped(whole: &str, group: Option<char>) -> Option<String> {
    let all_digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let Some(group) = group else {
        return all_digits(whole).then(|| whole.to_owned());
    };
    // Who groups by blanks means one that does not break the line.
    let blank = |c: char| c == group || (group == ' ' && matches!(c, '\u{a0}' | '\u{202f}'));
    let mut parts = whole.split(blank);
    let first = parts.next()?;
    let rest: Vec<&str> = parts.collect();
    let fits = all_digits(first)
        && (rest.is_empty() || first.len() <= 3)
        && rest.iter().all(|part| part.len() == 3 && all_digits(part));
    fits.then(|| format!("{first}{}", rest.concat()))
}

fn read_canonical(text: &str) -> Option<Value> {
    let (whole, fraction) = text.split_once('.')?;
    if fraction.bytes().all(|byte| byte == b'0') {
        return whole.parse::<i64>().ok().map(Value::from);
    }
    text.parse::<f64>().ok().map(number)
}

fn float(value: &Value) -> Result<f64, Stop> {
    match value {
        Value::Number(given) => given.as_f64(),
        Value::String(text) => text.trim().parse().ok(),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
    .filter(|float| float.is_finite())
    .ok_or_else(|| Stop::dirty("is not a number; a `number` step belongs before"))
}

/// Whole US dollars; cents are refused, or rounded half up where the mapping says so.
pub(super) fn whole_dollars(value: &Value, round: bool) -> Result<Value, Stop> {
    let amount = float(value)?;
    if amount < 0.0 {
        return Err(Stop::dirty("is a negative amount"));
    }
    match exact(amount) {
        Some(whole) => Ok(whole.into()),
        None if round && is_grouped(amount) => Err(Stop::dirty(
            "looks like thousands that the number's format takes for a fraction",
        )),
        None if round => Ok(number((amount + 0.5).floor())),
        None => Err(Stop::dirty("has cents, and AAP amounts are whole dollars")),
    }
}

/// Whether an amount has up to three digits before and exactly three behind its point: `24.995` of somebody who
/// groups by points is not 25 dollars.
fn is_grouped(amount: f64) -> bool {
    let text = amount.to_string();
    amount < 1000.0
        && text
            .split_once('.')
            .is_some_and(|(_, behind)| behind.len() == 3)
}

/// A number from a text as the `number` step reads it without options.
pub(in super::super) fn of_text(text: &str) -> Option<f64> {
    let format = Format::read("1,234.56", 0).ok()?;
    canonical(unadorned(text), &format)?.parse().ok()
}

/// The nearest whole number, halves up.
pub(super) fn round(value: &Value) -> Result<Value, Stop> {
    Ok(number((float(value)? + 0.5).floor()))
}

/// A year of two digits made four.
pub(super) fn century(value: &Value, pivot: i64) -> Result<Value, Stop> {
    let year = exact(float(value)?).ok_or_else(|| Stop::dirty("is not a year"))?;
    Ok(match year {
        0..=99 if year <= pivot => (2000 + year).into(),
        0..=99 => (1900 + year).into(),
        _ => year.into(),
    })
}

/// A number with or without its unit, in the unit asked for, rounded to whole units.
pub(super) fn measure(
    value: &Value,
    to: Unit,
    unit: Option<Unit>,
    named: Option<&Value>,
) -> Result<Value, Stop> {
    let text = plain(value);
    let split = text
        .trim()
        .find(|c: char| c.is_alphabetic())
        .unwrap_or(text.trim().len());
    let (amount, suffix) = text.trim().split_at_checked(split).unwrap_or(("", ""));
    let amount = of_text(amount).ok_or_else(|| Stop::dirty("is not a number with a unit"))?;
    let from = if suffix.is_empty() {
        match named.map(plain) {
            Some(name) if !name.trim().is_empty() => Some(unit_named(&name)?),
            _ => unit,
        }
    } else {
        Some(unit_named(suffix)?)
    };
    let factor = match (from.unwrap_or(to), to) {
        (from, to) if from == to => return Ok(number(amount)),
        (Unit::Km, Unit::Mi) => 1.0 / 1.609_344,
        (Unit::Mi, Unit::Km) => 1.609_344,
        (Unit::Kw, Unit::Hp) => 1.0 / 0.745_699_871_582_270_2,
        (Unit::Hp, Unit::Kw) => 0.745_699_871_582_270_2,
        (Unit::L, Unit::Cc) => 1000.0,
        (Unit::Cc, Unit::L) => 0.001,
        _ => return Err(Stop::dirty("has a unit of another kind")),
    };
    let converted = amount * factor;
    Ok(number(if to == Unit::L {
        converted
    } else {
        converted.round()
    }))
}

fn unit_named(name: &str) -> Result<Unit, Stop> {
    Ok(match name.trim().to_lowercase().trim_end_matches('.') {
        "mi" | "mile" | "miles" => Unit::Mi,
        "km" | "kms" | "kilometer" | "kilometers" | "kilometre" | "kilometres" => Unit::Km,
        "hp" | "bhp" => Unit::Hp,
        "kw" => Unit::Kw,
        "cc" | "ccm" | "cm3" => Unit::Cc,
        "l" | "liter" | "liters" | "litre" | "litres" => Unit::L,
        _ => return Err(Stop::dirty("has a unit that is not known")),
    })
}
