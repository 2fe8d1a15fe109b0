//! The message that answers: a data part with the skill's finished response. Must not re-serialise it.

use serde_json::Value;

use crate::contract::{Answer, Skill};

/// Bytes of a message around its data.
const ENVELOPE: usize = 512;

/// The `SendMessageResponse` with one message (AAP-150, AAP-162); a context is made where none was sent.
pub(super) fn message(skill: Skill, answer: &Answer, context_id: Option<String>) -> String {
    let fresh = || uuid::Uuid::new_v4().to_string();
    let mut text = String::with_capacity(answer.json_len() + ENVELOPE);
    text.push_str(r#"{"message":{"messageId":"#);
    text.push_str(&Value::from(fresh()).to_string());
    text.push_str(r#","contextId":"#);
    text.push_str(&Value::from(context_id.unwrap_or_else(fresh)).to_string());
    text.push_str(r#","role":"ROLE_AGENT","parts":[{"data":"#);
    answer.write_json(&mut text);
    text.push_str(r#","mediaType":"#);
    text.push_str(&Value::from(skill.response_media_type()).to_string());
    text.push_str("}]}}");
    text
}
