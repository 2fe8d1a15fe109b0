//! The envelope of a message, read without the arguments that it holds, so that arguments which were read before
//! are not read again. Only sound messages come through; must not say what is wrong with another.

use std::fmt;

use serde::de::{Deserializer as _, MapAccess, Visitor};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::contract::json;

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
    let mut message = Map::new();
    let mut arguments = None;
    for (name, text) in members(std::str::from_utf8(body).ok()?)? {
        let value = if name == "params" {
            let (params, apart) = params(text)?;
            arguments = apart;
            Value::Object(params)
        } else {
            json::read_inside(1, text).ok()?
        };
        if message.insert(name, value).is_some() {
            return None;
        }
    }
    let arguments = arguments?;
    Some(Envelope { message, arguments })
}

/// `params` without its arguments, and these.
fn params(text: &str) -> Option<(Map<String, Value>, Option<&str>)> {
    let mut params = Map::new();
    let mut arguments = None;
    for (name, text) in members(text)? {
        let twice = if name == "arguments" {
            arguments.replace(text).is_some()
        } else {
            let value = json::read_inside(AROUND, text).ok()?;
            params.insert(name, value).is_some()
        };
        if twice {
            return None;
        }
    }
    Some((params, arguments))
}

/// The members of an object, each as it was written.
fn members(text: &str) -> Option<Vec<(String, &str)>> {
    let mut reader = serde_json::Deserializer::from_str(text);
    let members = reader.deserialize_map(Members).ok()?;
    reader.end().ok()?;
    Some(members)
}

struct Members;

impl<'de> Visitor<'de> for Members {
    type Value = Vec<(String, &'de str)>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Self::Value, A::Error> {
        let mut found = Vec::new();
        while let Some((name, value)) = members.next_entry::<String, &RawValue>()? {
            found.push((name, value.get()));
        }
        Ok(found)
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
