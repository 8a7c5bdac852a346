//! JSON-RPC 2.0, as the protocol uses it: one message at a time.

use lockgate_contract::document::{Document, DocumentError, Kind, Limits, Node};
use serde::ser::{Serialize, SerializeMap as _, Serializer};

use super::{RpcError, code};

/// The name of a request, chosen by whoever sends it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RequestId {
    /// A number.
    Number(i64),
    /// A text.
    Text(String),
}

/// One message.
#[derive(Debug, Clone)]
pub enum Message {
    /// Wants an answer.
    Request(Request),
    /// Wants none.
    Notification(Notification),
    /// An answer.
    Response(Response),
}

/// What wants an answer.
#[derive(Debug, Clone)]
pub struct Request {
    /// Its name.
    pub id: RequestId,
    /// What is asked.
    pub method: String,
    /// With what.
    pub params: Option<Document>,
}

/// What wants no answer.
#[derive(Debug, Clone)]
pub struct Notification {
    /// What it is about.
    pub method: String,
    /// What it says.
    pub params: Option<Document>,
}

/// An answer.
#[derive(Debug, Clone)]
pub struct Response {
    /// The request that it answers; an error about something that could not be read names none.
    pub id: Option<RequestId>,
    /// What it says.
    pub outcome: Result<Document, RpcError>,
}

/// Why a text is no message.
#[derive(Debug, thiserror::Error)]
pub enum WireError {
    /// It is no JSON, or not as strictly as is asked for.
    #[error("this is no JSON text: {0}")]
    NotJson(#[from] DocumentError),
    /// It is JSON and no message. The id is there where it could be read.
    #[error("this is no message: {what}")]
    NotMessage {
        /// What is wrong.
        what: &'static str,
        /// The request's id, so that it can be answered.
        id: Option<RequestId>,
    },
}

impl WireError {
    /// The answer to whoever sent it.
    pub fn answer(&self) -> Response {
        let (code, id) = match self {
            Self::NotJson(_) => (code::PARSE_ERROR, None),
            Self::NotMessage { id, .. } => (code::INVALID_REQUEST, id.clone()),
        };
        Response { id, outcome: Err(RpcError::new(code, self.to_string())) }
    }
}

impl Message {
    /// Reads one message.
    ///
    /// # Errors
    ///
    /// The text is larger or deeper than `limits`, no JSON, or no message. A batch is none.
    pub fn read(text: impl Into<String>, limits: Limits) -> Result<Self, WireError> {
        Self::of(&Document::parse(text, limits)?)
    }

    /// Reads one message that was parsed already.
    ///
    /// # Errors
    ///
    /// It is no message.
    pub fn of(document: &Document) -> Result<Self, WireError> {
        let root = document.root();
        let wrong = |what, id| Err(WireError::NotMessage { what, id });
        if root.kind() != Kind::Object {
            return wrong("it is no object", None);
        }
        let id = root.get("id").filter(|id| !id.is_null());
        let known = id.and_then(RequestId::of);
        if id.is_some() && known.is_none() {
            return wrong("`id` is neither a text nor an integer", None);
        }
        if root.get("jsonrpc").and_then(|version| version.as_str()).as_deref() != Some("2.0") {
            return wrong("`jsonrpc` is not \"2.0\"", known);
        }
        if let Some(method) = root.get("method") {
            let Some(method) = method.as_str() else { return wrong("`method` is no text", known) };
            let params = root.get("params").filter(|params| !params.is_null());
            if params.is_some_and(|params| params.kind() != Kind::Object) {
                return wrong("`params` is no object", known);
            }
            let (method, params) = (method.into_owned(), params.map(|params| params.to_document()));
            return match known {
                Some(id) => Ok(Self::Request(Request { id, method, params })),
                None if root.get("id").is_some() => wrong("`id` is null", None),
                None => Ok(Self::Notification(Notification { method, params })),
            };
        }
        match (root.get("result"), root.get("error")) {
            (Some(result), None) if known.is_some() => {
                Ok(Self::Response(Response { id: known, outcome: Ok(result.to_document()) }))
            }
            (None, Some(error)) => match rpc_error(error) {
                Some(error) => Ok(Self::Response(Response { id: known, outcome: Err(error) })),
                None => wrong("`error` has no `code` or no `message`", known),
            },
            _ => wrong("it has no `method`, and not one of `result` and `error`", known),
        }
    }

    /// As it is sent: one line.
    pub fn text(&self) -> String {
        // INVARIANT: nothing in a message can fail to be written.
        let text = serde_json::to_string(self).unwrap_or_default();
        // A document keeps the white space it came with; inside a string no line can end.
        if text.contains(['\n', '\r']) { text.replace(['\n', '\r'], " ") } else { text }
    }
}

impl RequestId {
    /// The id that stands here, where one does.
    pub fn of(node: Node<'_>) -> Option<Self> {
        match node.kind() {
            Kind::String => node.as_str().map(|text| Self::Text(text.into_owned())),
            Kind::Number => node.decode().ok().map(Self::Number),
            _ => None,
        }
    }
}

fn rpc_error(error: Node<'_>) -> Option<RpcError> {
    Some(RpcError {
        code: error.get("code")?.decode().ok()?,
        message: error.get("message")?.as_str()?.into_owned(),
        data: error.get("data").map(|data| data.to_document()),
    })
}

impl Serialize for RequestId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Number(number) => serializer.serialize_i64(*number),
            Self::Text(text) => serializer.serialize_str(text),
        }
    }
}

impl std::fmt::Display for RequestId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Number(number) => number.fmt(f),
            Self::Text(text) => text.fmt(f),
        }
    }
}

impl Serialize for Message {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("jsonrpc", "2.0")?;
        match self {
            Self::Request(Request { id, method, params }) => {
                map.serialize_entry("id", id)?;
                map.serialize_entry("method", method)?;
                if let Some(params) = params {
                    map.serialize_entry("params", params)?;
                }
            }
            Self::Notification(Notification { method, params }) => {
                map.serialize_entry("method", method)?;
                if let Some(params) = params {
                    map.serialize_entry("params", params)?;
                }
            }
            Self::Response(Response { id, outcome }) => {
                map.serialize_entry("id", id)?;
                match outcome {
                    Ok(result) => map.serialize_entry("result", result)?,
                    Err(error) => map.serialize_entry("error", error)?,
                }
            }
        }
        map.end()
    }
}

#[cfg(test)]
mod tests;
