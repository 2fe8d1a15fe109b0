//! The steps that a column's values ask for: numbers and their placeholders, dates, units, lists. Must not know
//! which other columns there are.

use jiff::fmt::strtime;

use super::column::Column;
use super::write::quoted;

/// Formats that are tried, the likeliest first.
const DATES: &[&str] = &[
    "%Y-%m-%d", "%m/%d/%Y", "%Y%m%d", "%d.%m.%Y", "%m-%d-%Y", "%d/%m/%Y", "%m/%d/%y",
];
const TIMES: &[&str] = &[
    "%Y-%m-%d %H:%M:%S",
    "%m/%d/%Y %I:%M:%S %p",
    "%Y-%m-%dT%H:%M:%S",
    "%Y-%m-%d %H:%M:%S%.f",
    "%m/%d/%Y %H:%M:%S",
    "%m/%d/%Y %H:%M",
    "%Y%m%d%H%M%S",
];
/// Values that stand for "not entered" where a date is meant.
const NO_DATES: &[&str] = &["00000000", "0000-00-00", "1900-01-01"];

fn number(text: &str) -> Option<f64> {
    let bare: String = text
        .chars()
        .filter(|c| !matches!(c, ',' | '$' | ' '))
        .collect();
    let bare = bare.trim_end_matches("USD").trim_start_matches("US");
    bare.parse().ok()
}

fn is(text: &str, wanted: f64) -> bool {
    number(text).is_some_and(|found| (found - wanted).abs() < f64::EPSILON)
}

/// A sentinel step for what is no number in a column of numbers.
fn wordy(column: &Column, also: &[&str]) -> Option<String> {
    let digits = |value: &str| value.bytes().any(|byte| byte.is_ascii_digit());
    let mut words: Vec<String> = column
        .values
        .iter()
        .filter(|value| !digits(value))
        .take(6)
        .map(|value| quoted(value))
        .collect();
    words.extend(also.iter().map(|also| (*also).to_owned()));
    (!words.is_empty()).then(|| format!("{{ sentinel = [{}] }}", words.join(", ")))
}

/// Steps for whole US dollars. 0 and 1 are placeholders in every feed, also where the sample has none yet.
pub(super) fn money(column: &Column) -> Vec<String> {
    let mut steps = Vec::new();
    steps.extend(wordy(column, &[]));
    if !column.typed {
        steps.push(quoted("number"));
    }
    steps.push("{ sentinel = [0, 1] }".to_owned());
    steps.push(quoted("whole_dollars"));
    steps
}

/// Steps for miles. `new` is the condition under which 0 is true.
pub(super) fn miles(column: &Column, unit_from: Option<&str>, new: Option<&str>) -> Vec<String> {
    let has = |wanted: f64| column.any(|value| is(without_unit(value), wanted));
    let nines: &[&str] = if has(999_999.0) { &["999999"] } else { &[] };
    let zero = has(0.0).then(|| match new {
        Some(new) => format!(
            "{{ sentinel = {{ values = [0], unless = {} }} }}",
            quoted(new)
        ),
        None => "{ sentinel = [0] }".to_owned(),
    });
    let suffixed = column.any(|value| {
        let digits = value.starts_with(|c: char| c.is_ascii_digit());
        digits && value.ends_with(|c: char| c.is_alphabetic())
    });
    let in_km = column.names.iter().any(|name| name == "kms");
    let unit = if in_km { "km" } else { "mi" };
    let measured = format!("{{ measure = {{ to = \"mi\", unit = \"{unit}\" }} }}");
    if suffixed && unit_from.is_none() {
        // The unit comes off first: only then is 0 a number.
        let mut steps: Vec<String> = wordy(column, &[]).into_iter().collect();
        steps.push(measured);
        if !nines.is_empty() {
            steps.push("{ sentinel = [999999] }".to_owned());
        }
        steps.extend(zero);
        return steps;
    }
    let mut steps: Vec<String> = wordy(column, nines).into_iter().collect();
    if !column.typed && unit_from.is_none() {
        steps.push(quoted("number"));
    }
    steps.extend(zero);
    let unit = unit_from.map(|unit| {
        format!(
            "{{ measure = {{ to = \"mi\", unit_from = {} }} }}",
            quoted(unit)
        )
    });
    steps.extend(unit.or_else(|| in_km.then_some(measured)));
    steps
}

fn without_unit(text: &str) -> &str {
    text.trim_end_matches(|c: char| c.is_alphabetic() || c == ' ' || c == '.')
}

/// Steps for a plain count.
pub(super) fn count(column: &Column, zero_is_nothing: bool) -> Vec<String> {
    let mut steps = Vec::new();
    steps.extend(wordy(column, &[]));
    if zero_is_nothing && column.any(|value| is(value, 0.0)) {
        steps.push("{ sentinel = [0] }".to_owned());
    }
    if !column.typed {
        steps.push(quoted("number"));
    }
    steps
}

/// Steps for a model year.
pub(super) fn year(column: &Column) -> Vec<String> {
    let mut steps = Vec::new();
    if !column.typed {
        steps.push(quoted("number"));
    }
    if column.any(|value| value.len() == 2) {
        steps.push(quoted("century"));
    }
    steps
}

/// Steps for an engine's size in cubic centimetres.
pub(super) fn displacement(column: &Column) -> Vec<String> {
    let small = |value: &str| number(value).is_some_and(|number| number < 20.0);
    let litres = |value: &str| value.to_lowercase().contains('l') || small(value);
    if column.any(litres) {
        return vec!["{ measure = { to = \"cc\", unit = \"l\" } }".to_owned()];
    }
    count(column, false)
}

fn reads_date(format: &str, value: &str) -> bool {
    strtime::parse(format, value).is_ok_and(|parts| parts.to_date().is_ok())
}

/// The formats that read most of a column, until those left read nothing more.
fn formats(column: &Column, known: &[&'static str], skip: &[&str]) -> Vec<&'static str> {
    let mut left: Vec<&String> = column
        .values
        .iter()
        .filter(|value| !skip.contains(&value.as_str()))
        .collect();
    let mut chosen = Vec::new();
    while chosen.len() < 3 {
        let reads = |format: &&'static str| {
            left.iter()
                .filter(|value| reads_date(format, value))
                .count()
        };
        // Of two that read as much, the one that stands first.
        let best = known.iter().rev().max_by_key(|format| reads(format));
        let Some(format) = best.filter(|format| reads(format) > 0) else {
            break;
        };
        left.retain(|value| !reads_date(format, value));
        chosen.push(*format);
    }
    chosen
}

fn formatted(formats: &[&str]) -> String {
    match formats {
        [one] => quoted(one),
        many => {
            let many: Vec<String> = many.iter().map(|format| quoted(format)).collect();
            format!("[{}]", many.join(", "))
        }
    }
}

/// Steps for a calendar date; nothing where no format fits.
pub(super) fn date(column: &Column) -> Option<Vec<String>> {
    let skip: Vec<&str> = NO_DATES.to_vec();
    let mut steps = Vec::new();
    let placeholders: Vec<String> = NO_DATES
        .iter()
        .filter(|none| column.any(|value| value == **none))
        .map(|none| quoted(none))
        .collect();
    if !placeholders.is_empty() {
        steps.push(format!("{{ sentinel = [{}] }}", placeholders.join(", ")));
    }
    if column.all(is_rfc3339) {
        steps.push("{ extract = '^(\\d{4}-\\d{2}-\\d{2})' }".to_owned());
        steps.push("{ date = \"%Y-%m-%d\" }".to_owned());
        return Some(steps);
    }
    let all: Vec<&'static str> = DATES.iter().chain(TIMES).copied().collect();
    let found = formats(column, &all, &skip);
    if found.is_empty() {
        return None;
    }
    steps.push(format!("{{ date = {} }}", formatted(&found)));
    Some(steps)
}

fn is_rfc3339(value: &str) -> bool {
    value.parse::<jiff::Timestamp>().is_ok()
}

/// The step for an instant, and whether it leaves the time zone open.
pub(super) fn instant(column: &Column) -> Option<(String, bool)> {
    let digits = |count: usize| {
        column.all(|value| value.len() == count && value.bytes().all(|byte| byte.is_ascii_digit()))
    };
    if digits(10) {
        return Some(("{ datetime = \"epoch_s\" }".to_owned(), false));
    }
    if digits(13) {
        return Some(("{ datetime = \"epoch_ms\" }".to_owned(), false));
    }
    if column.all(is_rfc3339) {
        return Some(("{ datetime = \"rfc3339\" }".to_owned(), false));
    }
    let found = formats(column, TIMES, &[]);
    let step = format!(
        "{{ datetime = {{ format = {}, zone = \"?\", ambiguous = \"earlier\" }} }}",
        formatted(&found)
    );
    (!found.is_empty()).then_some((step, true))
}

/// Steps that make a list of a column, where it is not one yet.
pub(super) fn split(column: &Column, separators: &[&str]) -> Vec<String> {
    if column.lists {
        return Vec::new();
    }
    let used: Vec<&str> = separators
        .iter()
        .filter(|separator| column.any(|value| value.contains(**separator)))
        .copied()
        .collect();
    if used.is_empty() && !column.any(|value| value.starts_with('[')) {
        return Vec::new();
    }
    let used = if used.is_empty() { vec![","] } else { used };
    vec![format!("{{ split = {} }}", formatted(&used))]
}

/// Steps for people's text.
pub(super) fn prose(column: &Column) -> Vec<String> {
    let mut steps = Vec::new();
    if column.garbled {
        steps.push(quoted("fix_encoding"));
    }
    let html =
        |value: &str| (value.contains('<') && value.contains('>')) || value.contains("&amp;");
    if column.any(html) {
        steps.push(quoted("strip_html"));
    } else if column.garbled {
        steps.insert(0, quoted("trim"));
    }
    steps
}
