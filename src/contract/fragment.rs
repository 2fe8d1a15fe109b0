//! A text that was finished once and is shared from then on. Must not know where it stands.

use std::borrow::Cow;

/// Which form of a fragment is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    Json,
    /// As it stands inside a JSON string.
    Escaped,
}

/// JSON text that was finished once, with its escaped form for the text copy that MCP wants.
#[derive(Debug, PartialEq, Eq)]
pub struct Fragment {
    json: Box<str>,
    escaped: Box<str>,
}

impl Fragment {
    /// Keeps `json` (one complete JSON text or a run of one) and its form inside a JSON string.
    pub fn new(json: impl Into<Box<str>>) -> Self {
        let json = json.into();
        let escaped = escaped(&json).into();
        Self { json, escaped }
    }

    /// The JSON text.
    pub fn json(&self) -> &str {
        &self.json
    }

    /// Bytes of both forms.
    pub fn bytes(&self) -> usize {
        self.json.len() + self.escaped.len()
    }

    pub(super) fn form(&self, form: Form) -> &str {
        match form {
            Form::Json => &self.json,
            Form::Escaped => &self.escaped,
        }
    }
}

/// `text` escaped for the inside of a JSON string (RFC 8259 §7).
pub(super) fn escaped(text: &str) -> Cow<'_, str> {
    let stands = |byte: u8| byte >= b' ' && byte != b'"' && byte != b'\\';
    if text.bytes().all(stands) {
        return Cow::Borrowed(text);
    }
    // Writing a text's JSON cannot fail.
    let mut quoted = serde_json::to_string(text).unwrap_or_default();
    quoted.pop();
    Cow::Owned(quoted.split_off(quoted.len().min(1)))
}

#[cfg(test)]
mod tests {
    use super::*;

    // AAP-095
    #[test]
    fn a_text_is_escaped_as_json_escapes_it() {
        let all: String = ('\0'..='\u{2fff}').collect();
        let each = all.chars().map(String::from);
        for text in each.chain([
            all.clone(),
            String::new(),
            "},".to_owned(),
            "}, \"".to_owned(),
        ]) {
            let whole = format!("\"{}\"", escaped(&text));
            assert_eq!(whole, serde_json::to_string(&text).unwrap());
        }
    }
}
