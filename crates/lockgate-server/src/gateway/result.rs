//! The gate's answers on the wire.

use lockgate::contract::document::{Document, Kind};
use lockgate::contract::result::{ToolError, ToolResult};
use lockgate::harness::DirectAnswer;
use lockgate_mcp::upstream::{SERVER_REFUSED, TOOL_FAILED};
use lockgate_mcp::wire::{Edit, Era, RpcError, code, is_reserved};
use serde_json::{Map, Value, json};

use super::State;
use super::call::APPROVAL_IN_META;

/// What the gate says of a result, for clients that know Lockgate.
pub(super) const RESULT_IN_META: &str = "dev.lockgate/result";

/// The result of a call as a client of this era gets it.
pub(super) fn on_the_wire(state: &State, answer: DirectAnswer, era: Era) -> Result<Document, RpcError> {
    let DirectAnswer { run_id, result, .. } = answer;
    match &result.error {
        None => Ok(success(state, &result)),
        Some(error) => failure(state, run_id.as_str(), &result, error, era),
    }
}

/// An error of the server's own, for a client of this era, where the call failed by one.
pub(super) fn servers_error(error: &ToolError, era: Era) -> Option<RpcError> {
    let details = error.details.as_ref().filter(|_| is_refused(error))?.root();
    let error = RpcError {
        code: details.get("code")?.as_number()?.as_i64()?,
        message: details.get("message")?.as_str()?.into_owned(),
        data: details.get("data").map(|data| data.to_document()),
    };
    Some(in_era(error, era))
}

/// Whether a server answered a call with an error of the protocol.
pub(super) fn is_refused(error: &ToolError) -> bool {
    error.code.word() == SERVER_REFUSED
}

/// A server's error under the code by which a client of this era knows it; what a server says about the hop to it is no client's.
pub(super) fn in_era(error: RpcError, era: Era) -> RpcError {
    let code = match (era, error.code) {
        (Era::Modern, code::RESOURCE_NOT_FOUND) => code::INVALID_PARAMS,
        // The client would look for the fault in its own headers, or leave for another version. The last was taken back, and codes from
        // -32020 to -32099 are the protocol's own (MCP 2026-07-28 §errors).
        (_, code::HEADER_MISMATCH | code::UNSUPPORTED_VERSION) | (Era::Modern, code::URL_ELICITATION_REQUIRED) => {
            code::INTERNAL_ERROR
        }
        (_, code) => code,
    };
    RpcError { code, ..error }
}

/// What a client is told that lacks this, such as `sampling` or `elicitation.url`, for what it asked.
pub(super) fn needs(capability: &str) -> RpcError {
    let nested = capability.rsplit('.').fold(json!({}), |inner, name| json!({ name: inner }));
    let data = json!({ "requiredCapabilities": nested });
    let message = format!("this needs a client that declares `{capability}`");
    RpcError::new(code::MISSING_CAPABILITY, message).with_data(Document::from_json_value(&data))
}

/// What the gate says of a failure.
pub(super) fn words_of(state: &State, run: &str, result: &ToolResult, error: &ToolError) -> Value {
    let mut words = Map::new();
    words.insert("code".to_owned(), json!(error.code.word()));
    if let Some(reason) = &error.reason {
        words.insert("reason".to_owned(), json!(reason));
    }
    words.insert("retryable".to_owned(), json!(error.retryable));
    words.insert("run_id".to_owned(), json!(run));
    if let Some(approval) = &result.meta.approval_id {
        words.insert("approval_id".to_owned(), json!(approval.as_str()));
        if let Some(url) = state.page(approval) {
            words.insert("url".to_owned(), json!(url));
        }
    }
    if let Some(effect) = &result.meta.effect_state {
        words.insert("effect_state".to_owned(), json!(effect.word()));
    }
    if let Some(id) = &result.meta.error_id {
        words.insert("error_id".to_owned(), json!(id.as_str()));
    }
    Value::Object(words)
}

/// What a server said in a result, with its resources named as clients reach them.
fn shown(state: &State, tool: &str, said: &Document) -> Document {
    let tool = state.assembly.registry.get(tool);
    let server = tool.as_ref().and_then(|tool| state.server(tool.spec().source().strip_prefix("mcp:")?));
    server.map_or_else(|| said.clone(), |server| server.settings().shown_result(said))
}

fn success(state: &State, result: &ToolResult) -> Document {
    let data = result.data.clone().unwrap_or_else(Document::null);
    let meta = said(result);
    if is_result(&data) {
        let data = shown(state, &result.tool_name, &data);
        return match meta {
            None => data,
            Some(said) => with_meta(&data, &said),
        };
    }
    // A tool that is no server's: its value, and the same for whoever reads text.
    let text = data.root().as_str().map_or_else(|| data.text().to_owned(), std::borrow::Cow::into_owned);
    let content = json!([{ "type": "text", "text": text }]);
    let mut object = Edit::new().with("content", Document::from_json_value(&content));
    if data.root().kind() != Kind::Null {
        object = object.with("structuredContent", data);
    }
    let whole = object.document();
    match meta {
        None => whole,
        Some(said) => with_meta(&whole, &said),
    }
}

fn failure(state: &State, run: &str, result: &ToolResult, error: &ToolError, era: Era) -> Result<Document, RpcError> {
    if let Some(error) = servers_error(error, era) {
        return Err(error);
    }
    let words = words_of(state, run, result, error);
    if let Some(reported) = error.details.as_ref().filter(|_| error.code.word() == TOOL_FAILED) {
        return Ok(with_meta(&shown(state, &result.tool_name, reported), &words));
    }
    let text = match (&result.meta.approval_id, words.get("url").and_then(Value::as_str)) {
        (Some(id), Some(url)) => format!(
            "{} A person decides at {url} . Then send the same call again, with `_meta[\"{APPROVAL_IN_META}\"] = \"{}\"` or as it is.",
            error.message,
            id.as_str()
        ),
        (Some(id), None) => format!(
            "{} A person decides with `lockgate approvals show {}`. Then send the same call again.",
            error.message,
            id.as_str()
        ),
        (None, _) => error.message.clone(),
    };
    let whole = json!({ "content": [{ "type": "text", "text": text }], "structuredContent": words, "isError": true });
    Ok(with_meta(&Document::from_json_value(&whole), &words))
}

/// What there is to say of a result beside it, where there is anything.
fn said(result: &ToolResult) -> Option<Value> {
    if result.meta.is_empty() {
        return None;
    }
    serde_json::to_value(&result.meta).ok()
}

/// Whether an output is the result of an MCP tool.
fn is_result(data: &Document) -> bool {
    let root = data.root();
    root.kind() == Kind::Object
        && root.get("content").is_some_and(|content| {
            content.kind() == Kind::Array && content.elements().all(|block| block.get("type").is_some())
        })
}

fn with_meta(result: &Document, words: &Value) -> Document {
    let root = result.root();
    let mut meta = root.get("_meta").map_or_else(Edit::new, Edit::of);
    meta.retain(|name| !is_reserved(name));
    let meta = meta.with(RESULT_IN_META, Document::from_json_value(words)).document();
    Edit::of(root).with("_meta", meta).document()
}
