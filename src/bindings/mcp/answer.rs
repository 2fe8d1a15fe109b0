//! What goes back: a tool's result in both of its copies, and the two encodings of a message. Must not
//! serialise an answer again.

use http::{HeaderValue, Response, StatusCode, header};

use super::jsonrpc::Id;
use super::version::Revision;
use crate::contract::{Answer, Rope};
use crate::dispatch::Refusal;

/// Bytes of an envelope around both copies.
const ENVELOPE: usize = 256;

/// The response to `tools/call`: the AAP payload as `structuredContent` and, the same text escaped, as a text
/// block (AAP-094, AAP-095).
pub(super) fn tool_response(
    id: &Id,
    revision: Revision,
    outcome: &Result<Answer, Refusal>,
    server_info: &str,
) -> Rope {
    let refused;
    let (answer, is_error) = match outcome {
        Ok(answer) => (answer, false),
        Err(refusal) => {
            refused = Answer::from_value(&refusal.to_value());
            (&refused, true)
        }
    };
    let id = id.to_string();
    let own = answer.copied_len() + id.len() + server_info.len() + ENVELOPE;
    let mut out = Rope::with_capacity(own);
    out.push(r#"{"jsonrpc":"2.0","id":"#);
    out.push(&id);
    out.push(r#","result":{"#);
    if revision.is_modern() {
        out.push(r#""resultType":"complete","#);
    }
    out.push(r#""content":[{"type":"text","text":""#);
    answer.write_escaped(&mut out);
    out.push(r#""}],"structuredContent":"#);
    answer.write_json(&mut out);
    out.push(if is_error {
        r#","isError":true"#
    } else {
        r#","isError":false"#
    });
    if revision.is_modern() {
        out.push(r#","_meta":"#);
        out.push(server_info);
    }
    out.push("}}");
    out
}

/// A JSON answer.
pub(super) fn json(status: StatusCode, body: impl Into<Rope>) -> Response<Rope> {
    let mut answer = Response::new(body.into());
    *answer.status_mut() = status;
    set(&mut answer, "application/json", "no-store");
    answer
}

/// The one event of a stream that is complete at once.
pub(super) fn event(body: Rope) -> Response<Rope> {
    let mut event = Rope::from("event: message\ndata: ".to_owned());
    event.append(body);
    event.push("\n\n");
    let mut answer = Response::new(event);
    set(&mut answer, "text/event-stream", "no-store");
    let off = HeaderValue::from_static("no");
    answer.headers_mut().insert("x-accel-buffering", off);
    answer
}

fn set(answer: &mut Response<Rope>, content_type: &'static str, cache: &'static str) {
    let headers = answer.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(content_type));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static(cache));
}
