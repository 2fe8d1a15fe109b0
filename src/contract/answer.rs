//! A finished AAP response, put together from fragments that were serialised once. Must not re-serialise.

use std::sync::Arc;

use serde::Serialize;
use serde_json::Value;

use super::fragment::{Form, Fragment, escaped};
use super::rope::Rope;

/// Room for what stands before the first fragment.
const OWN: usize = 512;

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
            // Much stands before the first fragment, and hardly anything between two.
            let room = if self.pieces.is_empty() { OWN } else { 0 };
            let mut own = String::with_capacity(room.max(json.len()));
            own.push_str(json);
            self.pieces.push(Piece::Own(own));
        }
    }

    /// Appends the JSON of a value that has one; text and numbers always do.
    pub fn push_value(&mut self, value: &impl Serialize) {
        self.push(&serde_json::to_string(value).unwrap_or_default());
    }

    /// Appends a shared fragment.
    pub fn push_fragment(&mut self, fragment: &Arc<Fragment>) {
        self.pieces.push(Piece::Shared(Arc::clone(fragment)));
    }

    /// About how many bytes are copied when both forms are written.
    pub fn copied_len(&self) -> usize {
        let len = |piece: &Piece| match piece {
            Piece::Own(text) => 2 * text.len() + text.len() / 4,
            Piece::Shared(fragment) => {
                Rope::copied(fragment, Form::Json) + Rope::copied(fragment, Form::Escaped)
            }
        };
        self.pieces.iter().map(len).sum()
    }

    /// Writes the JSON text.
    pub fn write_json(&self, out: &mut Rope) {
        for piece in &self.pieces {
            match piece {
                Piece::Own(text) => out.push(text),
                Piece::Shared(fragment) => out.push_fragment(fragment, Form::Json),
            }
        }
    }

    /// Writes the JSON text as it stands inside a JSON string, without the quotes.
    pub fn write_escaped(&self, out: &mut Rope) {
        for piece in &self.pieces {
            match piece {
                Piece::Own(text) => out.push(&escaped(text)),
                Piece::Shared(fragment) => out.push_fragment(fragment, Form::Escaped),
            }
        }
    }

    /// The JSON text on its way out.
    pub fn into_text(self) -> Rope {
        let mut out = Rope::with_capacity(self.copied_len());
        self.write_json(&mut out);
        out
    }

    /// The JSON text.
    pub fn to_json(&self) -> String {
        let len = |piece: &Piece| match piece {
            Piece::Own(text) => text.len(),
            Piece::Shared(fragment) => fragment.json().len(),
        };
        let mut out = String::with_capacity(self.pieces.iter().map(len).sum());
        for piece in &self.pieces {
            out.push_str(match piece {
                Piece::Own(text) => text,
                Piece::Shared(fragment) => fragment.json(),
            });
        }
        out
    }
}
