//! A finished AAP response, put together from fragments that were serialised once. Must not re-serialise.

use std::sync::Arc;

use serde_json::Value;

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
        let mut escaped = String::with_capacity(json.len() + json.len() / 4);
        escape_into(&json, &mut escaped);
        Self {
            json,
            escaped: escaped.into(),
        }
    }

    /// The JSON text.
    pub fn json(&self) -> &str {
        &self.json
    }
}

#[derive(Clone, Debug)]
enum Piece {
    Own(String),
    Shared(Arc<Fragment>),
}

/// A complete AAP response payload, as a run of pieces.
#[derive(Clone, Debug, Default)]
pub struct Answer {
    pieces: Vec<Piece>,
}

impl Answer {
    /// An empty run; push pieces until it is one JSON object.
    pub fn new() -> Self {
        Self::default()
    }

    /// An answer from one value.
    pub fn from_value(value: &Value) -> Self {
        Self {
            pieces: vec![Piece::Own(value.to_string())],
        }
    }

    /// An answer from complete JSON text, e.g. a stored original.
    pub fn from_json(json: String) -> Self {
        Self {
            pieces: vec![Piece::Own(json)],
        }
    }

    /// Appends JSON text of this answer only.
    pub fn push(&mut self, json: &str) {
        if let Some(Piece::Own(last)) = self.pieces.last_mut() {
            last.push_str(json);
        } else {
            self.pieces.push(Piece::Own(json.to_owned()));
        }
    }

    /// Appends a shared fragment.
    pub fn push_fragment(&mut self, fragment: &Arc<Fragment>) {
        self.pieces.push(Piece::Shared(Arc::clone(fragment)));
    }

    /// Bytes of the JSON text.
    pub fn json_len(&self) -> usize {
        self.each_len(str::len, |fragment| fragment.json.len())
    }

    /// Bytes of the escaped text; what only this answer says is estimated.
    pub fn escaped_len(&self) -> usize {
        let estimate = |text: &str| text.len() + text.len() / 4;
        self.each_len(estimate, |fragment| fragment.escaped.len())
    }

    fn each_len(&self, own: impl Fn(&str) -> usize, shared: impl Fn(&Fragment) -> usize) -> usize {
        let len = |piece: &Piece| match piece {
            Piece::Own(text) => own(text),
            Piece::Shared(fragment) => shared(fragment),
        };
        self.pieces.iter().map(len).sum()
    }

    /// Writes the JSON text.
    pub fn write_json(&self, out: &mut String) {
        for piece in &self.pieces {
            match piece {
                Piece::Own(text) => out.push_str(text),
                Piece::Shared(fragment) => out.push_str(&fragment.json),
            }
        }
    }

    /// Writes the JSON text as it stands inside a JSON string, without the quotes.
    pub fn write_escaped(&self, out: &mut String) {
        for piece in &self.pieces {
            match piece {
                Piece::Own(text) => escape_into(text, out),
                Piece::Shared(fragment) => out.push_str(&fragment.escaped),
            }
        }
    }

    /// The JSON text.
    pub fn to_json(&self) -> String {
        let mut out = String::with_capacity(self.json_len());
        self.write_json(&mut out);
        out
    }
}

/// Appends `text` escaped for the inside of a JSON string (RFC 8259 §7).
fn escape_into(text: &str, out: &mut String) {
    // Writing a text's JSON cannot fail.
    let quoted = serde_json::to_string(text).unwrap_or_default();
    out.push_str(
        quoted
            .get(1..quoted.len().saturating_sub(1))
            .unwrap_or_default(),
    );
}
