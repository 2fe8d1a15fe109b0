//! Compiles steps: patterns, zones, tables, number formats. Must not know sections.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::fmt::strtime::BrokenDownTime;
use jiff::tz::TimeZone;
use regex::Regex;
use serde_json::Value as JsonValue;
use toml::Value;

use super::super::expression::{Expr, Template};
use super::super::finding::suggest;
use super::super::finish::is_web_address;
use super::super::path::Path;
use super::super::shorthand;
use super::super::spec::{BooleanSpec, DateTimeSpec, SentinelSpec, Spec, TableSpec};
use super::super::step::{CodeTable, Entry, Step, TextStep, Zones};
use super::super::steps::number::Format;
use super::super::steps::text::plain;
use super::Compiler;

/// Formats that are no strftime texts.
const NAMED_TIMES: &[&str] = &["rfc3339", "epoch_s", "epoch_ms"];

impl Compiler {
    /// Compiles a field's steps in order.
    pub(super) fn steps(&mut self, at: &str, written: Vec<Value>, allowed: &[&str]) -> Vec<Step> {
        let mut steps: Vec<Step> = Vec::with_capacity(written.len());
        for (index, value) in written.into_iter().enumerate() {
            let key = format!("{at}.steps[{index}]");
            let compiled = shorthand::read(value).and_then(|spec| self.step(spec, &steps, allowed));
            match compiled {
                Ok(step) => steps.push(step),
                Err(reason) => {
                    self.findings
                        .add(key, reason, "see the steps in the mapping reference");
                }
            }
        }
        steps
    }

    fn step(&mut self, spec: Spec, before: &[Step], allowed: &[&str]) -> Result<Step, String> {
        Ok(match spec {
            Spec::Trim(_) => Step::Text(TextStep::Trim),
            Spec::Collapse(_) => Step::Text(TextStep::Collapse),
            Spec::Upper(_) => Step::Text(TextStep::Upper),
            Spec::Lower(_) => Step::Text(TextStep::Lower),
            Spec::Title(_) => Step::Text(TextStep::Title),
            Spec::Sentence(_) => Step::Text(TextStep::Sentence),
            Spec::StripHtml(_) => Step::Text(TextStep::StripHtml),
            Spec::FixEncoding(_) => Step::FixEncoding,
            Spec::Json(_) => Step::Json,
            Spec::First(_) => Step::First,
            Spec::Dedupe(_) => Step::Dedupe,
            Spec::Round(_) => Step::Round,
            Spec::Sentinel(spec) => sentinel(spec, allowed)?,
            Spec::Default(spec) => {
                Step::Default(serde_json::to_value(spec.value).map_err(|e| e.to_string())?)
            }
            Spec::Table(spec) => self.table_step(&spec, before)?,
            Spec::Number(spec) => Step::Number(Format::read(&spec.format, spec.implied_decimals)?),
            Spec::WholeDollars(spec) => Step::WholeDollars(spec.cents),
            Spec::Measure(spec) => Step::Measure {
                to: spec.to,
                unit: spec.unit,
                unit_from: spec.unit_from.as_deref().map(Path::parse).transpose()?,
            },
            Spec::Century(spec) => Step::Century(spec.pivot),
            Spec::Date(spec) => Step::Date(formats(spec.format.list(), &[])?),
            Spec::Time(spec) => Step::Time(formats(spec.format.list(), &[])?),
            Spec::Datetime(spec) => self.datetime(&spec)?,
            Spec::Boolean(spec) => Step::Boolean(words(&spec)?),
            Spec::Extract(spec) => Step::Extract(pattern(&spec.pattern)?),
            Spec::Replace(spec) => Step::Replace(pattern(&spec.pattern)?, spec.with),
            Spec::Template(spec) => Step::Template(Template::compile(&spec.value, allowed)?),
            Spec::Expr(spec) => Step::Expr(Expr::compile(&spec.value, allowed)?),
            Spec::Split(spec) => {
                let on = spec.on.list().to_vec();
                if on.is_empty() || on.iter().any(String::is_empty) {
                    return Err("a separator is empty".to_owned());
                }
                Step::Split(on)
            }
            Spec::Limit(spec) => Step::Limit(spec.count),
            Spec::Urls(spec) => {
                if let Some(base) = &spec.base
                    && !is_web_address(base)
                {
                    return Err(format!("`{base}` is no http(s) address to stand on"));
                }
                Step::Urls(spec.base)
            }
            Spec::Pick(spec) => Step::Pick(Path::parse(&spec.path)?),
        })
    }

    fn table_step(&mut self, spec: &TableSpec, before: &[Step]) -> Result<Step, String> {
        let table = self.table_of(&spec.of)?;
        if let Some((code, why)) = unreachable(table.0.keys(), before) {
            return Err(format!(
                "[tables.{}] entry \"{code}\" cannot be reached: {why}",
                spec.of
            ));
        }
        Ok(Step::Table {
            table,
            miss: spec.miss,
        })
    }

    fn datetime(&mut self, spec: &DateTimeSpec) -> Result<Step, String> {
        let formats = formats(spec.format.list(), NAMED_TIMES)?;
        let zone = spec.zone.as_deref().map(zone).transpose()?;
        let zone_from = spec.zone_from.as_deref().map(Path::parse).transpose()?;
        let zones = spec.zones.as_deref().map(|name| self.zones(name));
        let zones = zones.transpose()?.map(Arc::new);
        if zones.is_some() && zone_from.is_none() {
            return Err("`zones` needs `zone_from`, the column with a place's code".to_owned());
        }
        let needs_zone = formats.iter().any(|text| {
            !NAMED_TIMES.contains(&text.as_str()) && !text.contains("%z") && !text.contains("%:z")
        });
        if needs_zone && zone.is_none() && zone_from.is_none() {
            return Err("a time without an offset needs `zone` or `zone_from`".to_owned());
        }
        Ok(Step::DateTime {
            formats,
            zone,
            zone_from,
            zones,
            ambiguous: spec.ambiguous,
        })
    }

    /// A code table whose values are time zones.
    fn zones(&mut self, name: &str) -> Result<Zones, String> {
        let table = self.table_of(name)?;
        let zones = table.0.iter().map(|(code, entry)| match entry {
            Entry::Value(JsonValue::String(named)) => Ok((code.clone(), zone(named)?)),
            Entry::Value(_) | Entry::Hide(_) => {
                Err(format!("[tables.{name}] entry \"{code}\" is no time zone"))
            }
        });
        zones.collect()
    }

    fn table_of(&mut self, name: &str) -> Result<Arc<CodeTable>, String> {
        let Some(table) = self.tables.get(name) else {
            let near = suggest(name, self.tables.keys().map(String::as_str));
            return Err(format!("there is no [tables.{name}]; {near}"));
        };
        self.used_tables.insert(name.to_owned());
        Ok(Arc::clone(table))
    }
}

fn zone(name: &str) -> Result<TimeZone, String> {
    TimeZone::get(name).map_err(|_| format!("`{name}` is no time zone"))
}

/// A code that the steps before a table never let through, and why.
#[expect(clippy::wildcard_enum_match_arm, reason = "most steps lose no code")]
fn unreachable<'a>(
    codes: impl Iterator<Item = &'a String>,
    before: &[Step],
) -> Option<(&'a str, &'static str)> {
    let mut codes: Vec<&String> = codes.collect();
    codes.sort();
    before.iter().find_map(|step| {
        let code = codes.iter().find(|code| loses(step, code))?;
        let why = match step {
            Step::Text(TextStep::Upper) => "the step before writes capitals",
            Step::Text(TextStep::Lower) => "the step before writes small letters",
            Step::Sentinel { .. } => "the step before takes it for \"not entered\"",
            _ => "the step before makes a number, which is not written so",
        };
        Some((code.as_str(), why))
    })
}

/// Whether no value can be this code any more after a step.
#[expect(clippy::wildcard_enum_match_arm, reason = "most steps lose no code")]
fn loses(step: &Step, code: &str) -> bool {
    match step {
        Step::Text(TextStep::Upper) => code.to_uppercase() != code,
        Step::Text(TextStep::Lower) => code.to_lowercase() != code,
        Step::Number(_) | Step::Round | Step::Century(_) => {
            let number = code.parse::<f64>().ok().map(super::super::finish::number);
            number.is_none_or(|number| plain(&number) != code)
        }
        Step::Sentinel {
            texts,
            unless: None,
            ..
        } => texts.iter().any(|text| text.eq_ignore_ascii_case(code)),
        _ => false,
    }
}

fn sentinel(spec: SentinelSpec, allowed: &[&str]) -> Result<Step, String> {
    let (mut texts, mut numbers) = (Vec::new(), Vec::new());
    for value in spec.values {
        match value {
            Value::String(text) => texts.push(text.trim().to_owned()),
            #[expect(clippy::cast_precision_loss, reason = "a sentinel is a small number")]
            Value::Integer(number) => numbers.push(number as f64),
            Value::Float(number) => numbers.push(number),
            Value::Boolean(_) | Value::Datetime(_) | Value::Array(_) | Value::Table(_) => {
                return Err("a sentinel is a text or a number".to_owned());
            }
        }
    }
    if texts.is_empty() && numbers.is_empty() {
        return Err("no sentinel is given".to_owned());
    }
    let unless = spec
        .unless
        .map(|text| Expr::compile(&text, allowed))
        .transpose()?;
    Ok(Step::Sentinel {
        texts,
        numbers,
        unless,
    })
}

fn pattern(text: &str) -> Result<Regex, String> {
    regex::RegexBuilder::new(text)
        .size_limit(1 << 20)
        .build()
        .map_err(|error| error.to_string())
}

/// Checks strftime texts by formatting a known time with them.
fn formats(texts: &[String], named: &[&str]) -> Result<Vec<String>, String> {
    if texts.is_empty() {
        return Err("no format is given".to_owned());
    }
    let sample = jiff::civil::date(2026, 1, 31).at(13, 5, 9, 0);
    let sample = TimeZone::UTC
        .to_timestamp(sample)
        .map_err(|error| error.to_string())?;
    for text in texts {
        if named.contains(&text.as_str()) {
            continue;
        }
        if !text.contains('%') {
            return Err(format!(
                "`{text}` is no format: write %Y-%m-%d and the like"
            ));
        }
        BrokenDownTime::from(sample)
            .to_string(text)
            .map_err(|error| format!("`{text}`: {error}"))?;
    }
    Ok(texts.to_vec())
}

fn words(spec: &BooleanSpec) -> Result<Arc<BTreeMap<String, Option<bool>>>, String> {
    let mut words = BTreeMap::new();
    let lists = [
        (&spec.yes, Some(true)),
        (&spec.no, Some(false)),
        (&spec.unknown, None),
    ];
    for (list, meaning) in lists {
        for word in list {
            let word = word.trim().to_lowercase();
            if words.insert(word.clone(), meaning).is_some() {
                return Err(format!("`{word}` stands in two lists"));
            }
        }
    }
    Ok(Arc::new(words))
}
