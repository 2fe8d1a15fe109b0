//! The envelope of a message, read without the arguments that it holds, so that arguments which were read before
//! are not read again. Only sound messages come through; must not say what is wrong with another.

use std::fmt;

use serde::de::{self, DeserializeSeed, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::contract::json::Strict;

/// Objects around the arguments: the message and `params`.
pub(super) const AROUND: usize = 2;

/// A message with `params.arguments` apart.
#[derive(Debug)]
pub(super) struct Envelope<'b> {
    pub(super) message: Map<String, Value>,
    /// As they were written: well-formed, but perhaps too deep or with a name twice.
    pub(super) arguments: &'b str,
}

/// Reads a message that has arguments, and nothing else.
pub(super) fn read(body: &[u8]) -> Option<Envelope<'_>> {
    let text = std::str::from_utf8(body).ok()?;
    let mut reader = serde_json::Deserializer::from_str(text);
    let mut arguments = None;
    let message = Object {
        apart: "params",
        with: Params(&mut arguments),
    };
    let message = message.deserialize(&mut reader).ok()?;
    reader.end().ok()?;
    let arguments = arguments?.get();
    Some(Envelope { message, arguments })
}

/// An object, one member of which is read in its own way.
struct Object<W> {
    apart: &'static str,
    with: W,
}

/// How that member is read.
trait Apart<'de> {
    /// Objects around it.
    const AROUND: usize;

    /// Its value; `None` leaves it out of the object.
    fn take<A: MapAccess<'de>>(&mut self, members: &mut A) -> Result<Option<Value>, A::Error>;
}

struct Params<'a, 'de>(&'a mut Option<&'de RawValue>);

impl<'de> Apart<'de> for Params<'_, 'de> {
    const AROUND: usize = 1;

    fn take<A: MapAccess<'de>>(&mut self, members: &mut A) -> Result<Option<Value>, A::Error> {
        let params = Object {
            apart: "arguments",
            with: Arguments(self.0),
        };
        let params = members.next_value_seed(params)?;
        Ok(Some(Value::Object(params)))
    }
}

struct Arguments<'a, 'de>(&'a mut Option<&'de RawValue>);

impl<'de> Apart<'de> for Arguments<'_, 'de> {
    const AROUND: usize = AROUND;

    fn take<A: MapAccess<'de>>(&mut self, members: &mut A) -> Result<Option<Value>, A::Error> {
        *self.0 = Some(members.next_value()?);
        Ok(None)
    }
}

impl<'de, W: Apart<'de>> DeserializeSeed<'de> for Object<W> {
    type Value = Map<String, Value>;

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<Self::Value, D::Error> {
        reader.deserialize_map(self)
    }
}

impl<'de, W: Apart<'de>> Visitor<'de> for Object<W> {
    type Value = Map<String, Value>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut members: A) -> Result<Self::Value, A::Error> {
        let twice = || Err(de::Error::custom("a name twice"));
        let (mut object, mut was_apart) = (Map::new(), false);
        while let Some(name) = members.next_key::<String>()? {
            if name == self.apart {
                if std::mem::replace(&mut was_apart, true) {
                    return twice();
                }
                if let Some(value) = self.with.take(&mut members)? {
                    object.insert(name, value);
                }
                continue;
            }
            let value = members.next_value_seed(Strict::inside_of(W::AROUND))?;
            if object.insert(name, value).is_some() {
                return twice();
            }
        }
        Ok(object)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    // AAP-097
    #[test]
    fn arguments_stand_apart_as_they_were_written_wherever_they_stand() {
        let body = r#"{"params":{"arguments": {"a":1, "a":2} ,"name":"t"},"id":7}"#;
        let envelope = read(body.as_bytes()).unwrap();
        assert_eq!(envelope.arguments, r#"{"a":1, "a":2}"#);
        let message = json!({"params": {"name": "t"}, "id": 7});
        assert_eq!(Value::Object(envelope.message), message);
        let elsewhere = r#"{"arguments":1,"params":{"arguments":null,"_meta":{"arguments":2}}}"#;
        let envelope = read(elsewhere.as_bytes()).unwrap();
        assert_eq!(envelope.arguments, "null");
        let message = json!({"arguments": 1, "params": {"_meta": {"arguments": 2}}});
        assert_eq!(Value::Object(envelope.message), message);
    }

    // AAP-097
    #[test]
    fn what_is_no_sound_message_with_arguments_is_left_to_others() {
        let deep = format!(r#"{{"x":{}1{}}}"#, "[".repeat(64), "]".repeat(64));
        for body in [
            "",
            "7",
            "[]",
            r#"{"params":{}}"#,
            r#"{"params":[{"arguments":{}}]}"#,
            r#"{"params":null}"#,
            r#"{"params":{"arguments":{}},"params":{"arguments":{}}}"#,
            r#"{"params":{"arguments":{},"arguments":{}}}"#,
            r#"{"params":{"arguments":{},"name":1,"name":1}}"#,
            r#"{"id":1,"id":1,"params":{"arguments":{}}}"#,
            r#"{"params":{"arguments":{}}} x"#,
            r#"{"params":{"arguments":{]}}"#,
            r#"{"params":{"arguments":{}}"#,
            &format!(r#"{{"params":{{"arguments":{{}},"_meta":{deep}}}}}"#),
        ] {
            assert!(read(body.as_bytes()).is_none(), "{body}");
        }
        assert!(read(b"{\"params\":{\"arguments\":{}},\"\xff\":1}").is_none());
    }
}
