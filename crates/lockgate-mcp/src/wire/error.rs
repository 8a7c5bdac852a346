//! The protocol's errors.

use lockgate_contract::document::Document;
use serde::Serialize;

/// The protocol's error codes (JSON-RPC 2.0, and MCP of the version named).
pub mod code {
    /// What came is no JSON.
    pub const PARSE_ERROR: i64 = -32700;
    /// It is no request.
    pub const INVALID_REQUEST: i64 = -32600;
    /// There is no such method.
    pub const METHOD_NOT_FOUND: i64 = -32601;
    /// Its parameters are wrong; also an unknown tool, prompt or, from 2026-07-28 on, resource.
    pub const INVALID_PARAMS: i64 = -32602;
    /// The server failed.
    pub const INTERNAL_ERROR: i64 = -32603;
    /// There is no such resource (up to 2025-11-25).
    pub const RESOURCE_NOT_FOUND: i64 = -32002;
    /// A URL has to be visited first (2025-11-25).
    pub const URL_ELICITATION_REQUIRED: i64 = -32042;
    /// A header says something else than the body (2026-07-28).
    pub const HEADER_MISMATCH: i64 = -32020;
    /// The request needs something that its sender cannot do (2026-07-28).
    pub const MISSING_CAPABILITY: i64 = -32021;
    /// The request is of a version that is not spoken here (2026-07-28).
    pub const UNSUPPORTED_VERSION: i64 = -32022;
}

/// An error that answers a request.
#[derive(Debug, Clone, Serialize, thiserror::Error)]
#[error("{message} ({code})")]
pub struct RpcError {
    /// What kind it is: see [`code`].
    pub code: i64,
    /// What is wrong, for people.
    pub message: String,
    /// What more there is to say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<Document>,
}

impl RpcError {
    /// An error without data.
    pub fn new(code: i64, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), data: None }
    }

    /// With data.
    #[must_use]
    pub fn with_data(self, data: Document) -> Self {
        Self { data: Some(data), ..self }
    }

    /// There is no such method.
    pub fn method_not_found(method: &str) -> Self {
        Self::new(code::METHOD_NOT_FOUND, format!("there is no method `{}`", shown(method)))
    }

    /// The parameters are wrong.
    pub fn invalid_params(message: impl Into<String>) -> Self {
        Self::new(code::INVALID_PARAMS, message)
    }

    /// This side failed. Why, is for its own log.
    pub fn internal() -> Self {
        Self::new(code::INTERNAL_ERROR, "the server failed")
    }
}

/// A peer's word, short enough to be repeated.
fn shown(word: &str) -> &str {
    const LONGEST: usize = 128;
    &word[..word.floor_char_boundary(LONGEST)]
}
