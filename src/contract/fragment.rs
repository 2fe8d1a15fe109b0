//! A text that was finished once and is shared from then on. Must not know where it stands.

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
pub(super) fn escaped(text: &str) -> String {
    // Writing a text's JSON cannot fail.
    let mut quoted = serde_json::to_string(text).unwrap_or_default();
    quoted.pop();
    quoted.split_off(quoted.len().min(1))
}
