//! Strict JSON reading for everything that comes from outside: UTF-8, no duplicate member names, bounded
//! nesting. Must not know what the document means.

use serde_json::Value;

/// Why bytes are not an acceptable JSON text. The texts are public and hold nothing of the input.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum JsonError {
    #[error("the body is not valid UTF-8")]
    NotUtf8,
    #[error("the body is not valid JSON (line {line}, column {column})")]
    Malformed { line: usize, column: usize },
    #[error("an object has the same member name twice (line {line}, column {column})")]
    DuplicateName { line: usize, column: usize },
    #[error("the JSON is nested more deeply than {0} levels")]
    TooDeep(usize),
}

/// Reads exactly one JSON text.
pub fn read(_bytes: &[u8]) -> Result<Value, JsonError> {
    unimplemented!()
}
