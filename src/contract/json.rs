//! Strict JSON reading for everything that comes from outside: UTF-8, no duplicate member names, bounded
//! nesting. Must not know what the document means.

use std::fmt;

use serde::de::{self, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

/// Arrays and objects may stand this deep inside each other.
pub const MAX_DEPTH: usize = 64;

const DUPLICATE: &str = "duplicate member name";
const TOO_DEEP: &str = "nested too deeply";

/// Why bytes are not an acceptable JSON text. The texts are public and hold nothing of the input.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum JsonError {
    #[error("the body is not valid UTF-8")]
    NotUtf8,
    #[error("the body is not valid JSON (line {line}, column {column})")]
    Malformed { line: usize, column: usize },
    #[error("an object has the same member name twice (line {line}, column {column})")]
    DuplicateName { line: usize, column: usize },
    #[error("the JSON is nested more deeply than {MAX_DEPTH} levels")]
    TooDeep,
}

/// Reads exactly one JSON text. Lone surrogates and numbers beyond a double are malformed.
pub fn read(bytes: &[u8]) -> Result<Value, JsonError> {
    let text = std::str::from_utf8(bytes).map_err(|_| JsonError::NotUtf8)?;
    read_inside(0, text)
}

/// The same of a text that stands within so many arrays and objects.
pub fn read_inside(depth: usize, text: &str) -> Result<Value, JsonError> {
    let mut reader = serde_json::Deserializer::from_str(text);
    let value = Strict { depth }
        .deserialize(&mut reader)
        .map_err(|e| name(&e))?;
    reader.end().map_err(|e| name(&e))?;
    Ok(value)
}

fn name(error: &serde_json::Error) -> JsonError {
    let (line, column) = (error.line(), error.column());
    let words = error.to_string();
    if words.starts_with(DUPLICATE) {
        JsonError::DuplicateName { line, column }
    } else if words.starts_with(TOO_DEEP) || words.starts_with("recursion limit") {
        JsonError::TooDeep
    } else {
        JsonError::Malformed { line, column }
    }
}

/// Builds a [`Value`] at a known depth.
#[derive(Clone, Copy)]
struct Strict {
    depth: usize,
}

impl Strict {
    fn inside<E: de::Error>(self) -> Result<Self, E> {
        if self.depth >= MAX_DEPTH {
            return Err(E::custom(TOO_DEEP));
        }
        Ok(Self {
            depth: self.depth + 1,
        })
    }
}

impl<'de> DeserializeSeed<'de> for Strict {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Strict {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON text")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<Value, E> {
        Number::from_f64(value)
            .map(Value::Number)
            .ok_or_else(|| E::custom("not a number"))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let inside = self.inside()?;
        let mut list = Vec::new();
        while let Some(item) = items.next_element_seed(inside)? {
            list.push(item);
        }
        Ok(Value::Array(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        let inside = self.inside()?;
        let mut object = Map::new();
        while let Some(key) = members.next_key::<String>()? {
            let value = members.next_value_seed(inside)?;
            if object.insert(key, value).is_some() {
                return Err(de::Error::custom(DUPLICATE));
            }
        }
        Ok(Value::Object(object))
    }
}

/// Makes integers of numbers with a zero fraction, everywhere in `value`: official A2A clients write
/// `20.0` for `20`. Numbers that a double cannot hold exactly stay as they are.
pub fn normalise_numbers(value: &mut Value) {
    match value {
        Value::Number(number) => {
            if let Some(integer) = number.as_f64().filter(|_| number.is_f64()).and_then(exact) {
                *number = integer.into();
            }
        }
        Value::Array(items) => items.iter_mut().for_each(normalise_numbers),
        Value::Object(members) => members.values_mut().for_each(normalise_numbers),
        Value::Null | Value::Bool(_) | Value::String(_) => {}
    }
}

/// The integer that `float` is, within the range where doubles are exact.
fn exact(float: f64) -> Option<i64> {
    const LIMIT: f64 = 9_007_199_254_740_991.0;
    #[expect(clippy::cast_possible_truncation, reason = "integral and within 2^53")]
    (float.fract() == 0.0 && float.abs() <= LIMIT).then_some(float as i64)
}
