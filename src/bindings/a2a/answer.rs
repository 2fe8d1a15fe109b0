//! The message that answers: a data part with the skill's finished response. Must not re-serialise it.

use serde_json::Value;

use crate::contract::{Answer, Rope, Skill};

/// Bytes of a message around its data.
const ENVELOPE: usize = 512;

/// The `SendMessageResponse` with one message (AAP-150, AAP-162); a context is made where none was sent.
pub(super) fn message(skill: Skill, answer: &Answer, context_id: Option<String>) -> Rope {
    let fresh = || uuid::Uuid::new_v4().to_string();
    let mut text = Rope::with_capacity(answer.copied_len() + ENVELOPE);
    text.push(r#"{"message":{"messageId":"#);
    text.push(&Value::from(fresh()).to_string());
    text.push(r#","contextId":"#);
    text.push(&Value::from(context_id.unwrap_or_else(fresh)).to_string());
    text.push(r#","role":"ROLE_AGENT","parts":[{"data":"#);
    answer.write_json(&mut text);
    text.push(r#","mediaType":"#);
    text.push(&Value::from(skill.response_media_type()).to_string());
    text.push("}]}}");
    text
}
