//! Canonical JSON (RFC 8785): one text for equal documents. Must not change a document's meaning.

use serde_json::{Number, Value};

/// The canonical text of `value`: members sorted by UTF-16 code units, numbers as ECMAScript writes them.
pub fn canonical_json(value: &Value) -> String {
    let mut out = String::new();
    write(value, &mut out);
    out
}

fn write(value: &Value, out: &mut String) {
    match value {
        Value::Null | Value::Bool(_) | Value::String(_) => out.push_str(&value.to_string()),
        Value::Number(number) => out.push_str(&number_text(number)),
        Value::Array(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                write(item, out);
            }
            out.push(']');
        }
        Value::Object(members) => {
            let mut sorted: Vec<_> = members.iter().collect();
            sorted.sort_by(|(a, _), (b, _)| a.encode_utf16().cmp(b.encode_utf16()));
            out.push('{');
            for (index, (name, member)) in sorted.into_iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                out.push_str(&Value::from(name.as_str()).to_string());
                out.push(':');
                write(member, out);
            }
            out.push('}');
        }
    }
}

/// RFC 8785 §3.2.2.3: the text of ECMAScript's `Number::toString` for the double nearest to `number`.
fn number_text(number: &Number) -> String {
    let float = number.as_f64().unwrap_or_default();
    ryu_js::Buffer::new().format(float).to_owned()
}
