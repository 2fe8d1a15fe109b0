//! `application/x-www-form-urlencoded` bodies: every field once, empty ones as good as absent
//! (RFC 6749 section 3.2). Pure.

use std::collections::BTreeMap;

use super::refusal::{Code, Refusal};

/// Fields that may stand in one form; more is no token request.
const MAX_FIELDS: usize = 32;

/// A form's fields. `resource` may occur more than once in OAuth, so repetition is judged on reading.
pub(super) struct Form(BTreeMap<String, Vec<String>>);

impl Form {
    pub(super) fn parse(media_type: Option<&[u8]>, body: &[u8]) -> Result<Self, Refusal> {
        let bad = |stage| Refusal::new(Code::InvalidRequest, stage);
        let essence = media_type
            .and_then(|value| std::str::from_utf8(value).ok())
            .and_then(|value| value.split(';').next())
            .map(str::trim);
        if !essence.is_some_and(|e| e.eq_ignore_ascii_case("application/x-www-form-urlencoded")) {
            return Err(bad("the body must be application/x-www-form-urlencoded"));
        }
        let body = std::str::from_utf8(body).map_err(|_| bad("the body is not UTF-8"))?;
        let mut fields: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for (index, pair) in body.split('&').filter(|pair| !pair.is_empty()).enumerate() {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            let (Some(name), Some(value)) = (decode(name), decode(value)) else {
                return Err(bad("the body is not well-formed"));
            };
            if index >= MAX_FIELDS {
                return Err(bad("too many fields"));
            }
            fields.entry(name).or_default().push(value);
        }
        Ok(Self(fields))
    }

    /// The one value of a field; an empty one counts as omitted.
    pub(super) fn optional(&self, name: &str) -> Result<Option<&str>, Refusal> {
        match self.0.get(name).map(Vec::as_slice) {
            None => Ok(None),
            Some([value]) => Ok(Some(value.as_str()).filter(|value| !value.is_empty())),
            Some(_) => Err(Refusal::new(Code::InvalidRequest, "a field occurs twice")),
        }
    }

    pub(super) fn required(&self, name: &str) -> Result<&str, Refusal> {
        self.optional(name)?.ok_or(Refusal::new(
            Code::InvalidRequest,
            "a required field is missing",
        ))
    }

    /// All non-empty values of a field.
    pub(super) fn all(&self, name: &str) -> impl Iterator<Item = &str> {
        let values = self.0.get(name).map(Vec::as_slice).unwrap_or_default();
        values.iter().map(String::as_str).filter(|v| !v.is_empty())
    }
}

/// Percent-decodes one name or value.
pub(super) fn decode(text: &str) -> Option<String> {
    let mut decoded = Vec::with_capacity(text.len());
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        match byte {
            b'+' => decoded.push(b' '),
            b'%' => {
                let high = char::from(bytes.next()?).to_digit(16)?;
                let low = char::from(bytes.next()?).to_digit(16)?;
                decoded.push(u8::try_from(high * 16 + low).ok()?);
            }
            _ => decoded.push(byte),
        }
    }
    String::from_utf8(decoded).ok()
}
