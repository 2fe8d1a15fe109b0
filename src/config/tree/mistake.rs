//! A mistake in a value, in words for the person who wrote it. Must not know what any key means.

use figment::error::{Actual, Kind};

use super::super::finding::nearest;

/// What is wrong and what to do. The value itself is never repeated: it may be a secret at the wrong key.
pub(super) fn words(kind: &Kind) -> (String, String) {
    match kind {
        Kind::UnknownField(name, known) => {
            let remedy = match nearest(name, known.iter().copied()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("known here: {}", known.join(", ")),
            };
            ("is not a known key".to_owned(), remedy)
        }
        Kind::UnknownVariant(name, known) => {
            let near = nearest(name, known.iter().copied());
            let remedy = match near {
                Some(near) => format!("did you mean \"{near}\"?"),
                None => format!("use one of: {}", known.join(", ")),
            };
            ("is not one of the permitted words".to_owned(), remedy)
        }
        Kind::InvalidType(found, wanted) => {
            let wanted = wanted_words(wanted);
            (
                format!("is {}, not {wanted}", found_words(found)),
                format!("set it to {wanted}"),
            )
        }
        Kind::InvalidValue(_, wanted) => (
            "is outside the permitted values".to_owned(),
            format!("set it to {}", wanted_words(wanted)),
        ),
        Kind::MissingField(name) => (format!("lacks `{name}`"), format!("add `{name}`")),
        Kind::Message(text) => (text.clone(), "correct the value".to_owned()),
        Kind::InvalidLength(..)
        | Kind::DuplicateField(_)
        | Kind::ISizeOutOfRange(_)
        | Kind::USizeOutOfRange(_)
        | Kind::Unsupported(_)
        | Kind::UnsupportedKey(..) => {
            let reason = "has a form that is not taken here".to_owned();
            (reason, "correct the value".to_owned())
        }
    }
}

fn found_words(found: &Actual) -> &'static str {
    match found {
        Actual::Bool(_) => "true or false",
        Actual::Unsigned(_) | Actual::Signed(_) | Actual::Float(_) => "a number",
        Actual::Str(_) | Actual::Char(_) => "a string",
        Actual::Seq => "a list",
        Actual::Map => "a table",
        Actual::Bytes(_)
        | Actual::Unit
        | Actual::Option
        | Actual::NewtypeStruct
        | Actual::Enum
        | Actual::UnitVariant
        | Actual::NewtypeVariant
        | Actual::TupleVariant
        | Actual::StructVariant
        | Actual::Other(_) => "something else",
    }
}

fn wanted_words(wanted: &str) -> &str {
    match wanted {
        "u8" | "u16" | "u32" | "u64" | "usize" => "a whole number, not negative and not too large",
        "i8" | "i16" | "i32" | "i64" | "isize" => "a whole number",
        "f32" | "f64" => "a number",
        "a boolean" => "true or false",
        "a sequence" => "a list",
        "a map" => "a table",
        other if other.starts_with("struct ") => "a table",
        other => other,
    }
}
