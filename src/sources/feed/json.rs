//! JSON feeds: an array, an array inside an envelope, or one object a line. Elements stream; the document
//! is never held whole. Must not look into an element.

use std::fmt;
use std::io::BufRead;

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Value;

use super::super::Fault;
use super::super::http::Failure;
use super::bytes::{Allowance, Text};
use super::{Emit, Item};

/// Reads the elements at `items` (`results`, `data.vehicles`; the root without it).
pub(super) fn parse(
    mut text: Text<'_>,
    items: Option<&str>,
    emit: Emit<'_>,
) -> Result<(), Failure> {
    refuse_web_page(&mut text)?;
    let path: Vec<&str> = items
        .map(|items| items.split('.').filter(|part| !part.is_empty()).collect())
        .unwrap_or_default();
    let mut failure = None;
    let mut state = State {
        emit,
        allowance: text.allowance(),
        failure: &mut failure,
        found: false,
        number: 0,
    };
    let mut deserializer = serde_json::Deserializer::from_reader(&mut text);
    let result = Walk {
        path: &path,
        state: &mut state,
    }
    .deserialize(&mut deserializer)
    .and_then(|()| deserializer.end());
    let found = state.found;
    drop(deserializer);
    match (failure, result) {
        (Some(failure), _) => Err(failure),
        (None, Err(error)) => Err(text.failure(error)),
        (None, Ok(())) if !found => {
            let words = format!("there is no list at `{}`", path.join("."));
            Err((Fault::Data, words))
        }
        (None, Ok(())) => Ok(()),
    }
}

/// Reads one object a line.
pub(super) fn lines(mut text: Text<'_>, emit: Emit<'_>) -> Result<(), Failure> {
    refuse_web_page(&mut text)?;
    let mut line = String::new();
    let mut number = 0;
    loop {
        line.clear();
        match text.read_line(&mut line) {
            Ok(0) => return Ok(()),
            Ok(_) => text.row_done(),
            Err(error) => return Err(text.failure(error)),
        }
        let trimmed = line.trim_matches(|c: char| c.is_whitespace() || c == '\u{1a}');
        if trimmed.is_empty() {
            continue;
        }
        number += 1;
        emit(match serde_json::from_str(trimmed) {
            Ok(Value::Object(fields)) => Item::Row(fields),
            Ok(_) => Item::Skipped(number, "is no JSON object".to_owned()),
            // The last line without its end is half a line, and so is the file.
            Err(error) if error.is_eof() && !line.ends_with(['\n', '\u{1a}']) => {
                let words = "the file ends within its last line: let it be sent again, whole";
                return Err((Fault::Data, words.to_owned()));
            }
            Err(error) => Item::Skipped(number, format!("is no JSON: {error}")),
        })?;
    }
}

fn refuse_web_page(text: &mut Text<'_>) -> Result<(), Failure> {
    let first = match text.fill_buf() {
        Ok(start) => start
            .iter()
            .copied()
            .find(|byte| !byte.is_ascii_whitespace()),
        Err(error) => return Err(text.failure(error)),
    };
    match first {
        Some(b'<') => {
            let words = "begins with `<`, not like JSON: a login or error page?";
            Err((Fault::Data, words.to_owned()))
        }
        None => Err((Fault::Data, "is empty".to_owned())),
        Some(_) => Ok(()),
    }
}

struct State<'a> {
    emit: Emit<'a>,
    allowance: Allowance,
    failure: &'a mut Option<Failure>,
    found: bool,
    number: u64,
}

struct Walk<'a, 'b> {
    path: &'a [&'a str],
    state: &'a mut State<'b>,
}

impl<'de> DeserializeSeed<'de> for Walk<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Walk<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.path.first() {
            Some(key) => write!(f, "an object with `{key}`"),
            None => f.write_str("a list of vehicles"),
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let Some((wanted, rest)) = self.path.split_first() else {
            return Err(serde::de::Error::custom(
                "a list was expected; state `items`",
            ));
        };
        while let Some(key) = map.next_key::<String>()? {
            if key == *wanted {
                map.next_value_seed(Walk {
                    path: rest,
                    state: self.state,
                })?;
            } else {
                map.next_value::<IgnoredAny>()?;
            }
            self.state.allowance.row_done();
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        if !self.path.is_empty() {
            return Err(serde::de::Error::custom(
                "a list where `items` expects an object",
            ));
        }
        self.state.found = true;
        while let Some(element) = seq.next_element::<Value>()? {
            self.state.number += 1;
            self.state.allowance.row_done();
            let item = match element {
                Value::Object(fields) => Item::Row(fields),
                Value::Null
                | Value::Bool(_)
                | Value::Number(_)
                | Value::String(_)
                | Value::Array(_) => {
                    Item::Skipped(self.state.number, "is no JSON object".to_owned())
                }
            };
            if let Err(failure) = (self.state.emit)(item) {
                *self.state.failure = Some(failure);
                return Err(serde::de::Error::custom("stopped"));
            }
        }
        Ok(())
    }
}
