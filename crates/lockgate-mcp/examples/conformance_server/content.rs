//! Pieces of results.

use serde_json::{Value, json};

/// A red pixel.
pub(crate) const PNG: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";
/// No sound: the header of a recording without samples.
const WAV: &str = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA=";

/// A tool's result of these pieces.
pub(crate) fn result(pieces: &[Value]) -> Value {
    json!({"content": pieces})
}

/// A tool's result of one text.
pub(crate) fn text_result(said: impl Into<String>) -> Value {
    result(&[text(said)])
}

/// A tool's result that says what went wrong.
pub(crate) fn failure(said: impl Into<String>) -> Value {
    json!({"content": [text(said)], "isError": true})
}

/// A text.
pub(crate) fn text(said: impl Into<String>) -> Value {
    json!({"type": "text", "text": said.into()})
}

/// The picture.
pub(crate) fn image() -> Value {
    json!({"type": "image", "data": PNG, "mimeType": "image/png"})
}

/// The recording.
pub(crate) fn audio() -> Value {
    json!({"type": "audio", "data": WAV, "mimeType": "audio/wav"})
}

/// A resource inside a result.
pub(crate) fn resource(uri: &str, kind: &str, said: &str) -> Value {
    json!({"type": "resource", "resource": {"uri": uri, "mimeType": kind, "text": said}})
}

/// A question by form, for one text.
pub(crate) fn form(message: &str, member: &str, kind: &str) -> Value {
    let schema = json!({"type": "object", "properties": {member: {"type": kind}}, "required": [member]});
    elicitation(message, &schema)
}

/// A question by form.
pub(crate) fn elicitation(message: &str, schema: &Value) -> Value {
    json!({"method": "elicitation/create", "params": {"message": message, "requestedSchema": schema}})
}

/// A question to the client's model.
pub(crate) fn sampling(prompt: &str, tokens: u32) -> Value {
    let messages = json!([{"role": "user", "content": text(prompt)}]);
    json!({"method": "sampling/createMessage", "params": {"messages": messages, "maxTokens": tokens}})
}

/// A question for the client's roots.
pub(crate) fn roots() -> Value {
    json!({"method": "roots/list", "params": {}})
}
