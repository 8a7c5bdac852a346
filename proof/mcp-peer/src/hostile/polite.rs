//! What a hostile server does where it is not hostile: one tool `act {note}`, in both eras.

#![expect(clippy::disallowed_methods, reason = "a test program counts in a file of its own")]

use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::PathBuf;

use serde_json::{Value, json};

use super::wire::{Message, Wire};
use crate::error::PeerError;
use crate::fixture::Era;

/// The newest version of each era.
const VERSIONS: [&str; 2] = ["2025-11-25", "2026-07-28"];

/// The server.
pub(super) struct Polite {
    era: Era,
    file: Option<PathBuf>,
    /// The tools as they are listed.
    pub(super) tools: Vec<Value>,
    /// Who listens to changes: the ids of the requests that asked to.
    pub(super) listeners: Vec<Value>,
    /// How many calls there were.
    pub(super) calls: usize,
}

impl Polite {
    pub(super) fn new(era: Era, file: Option<PathBuf>) -> Self {
        Self { era, file, tools: vec![tool("act", "Acts.")], listeners: Vec::new(), calls: 0 }
    }

    /// Answers as the protocol wants it. Answers of the caller are passed over.
    pub(super) fn answer(&mut self, message: &Message, wire: &mut Wire) -> Result<(), PeerError> {
        if !message.is_request() {
            return Ok(());
        }
        let id = message.id();
        match message.method() {
            "server/discover" if self.era != Era::Legacy => {
                let versions: &[&str] = if self.era == Era::Modern { &VERSIONS[1..] } else { &VERSIONS };
                let capabilities = json!({ "tools": { "listChanged": true } });
                wire.result(
                    id,
                    &cached(message, json!({ "supportedVersions": versions, "capabilities": capabilities })),
                )
            }
            "initialize" if self.era != Era::Modern => wire.result(id, &handshake(VERSIONS[0])),
            "ping" => wire.result(id, &json!({})),
            "tools/list" => wire.result(id, &cached(message, json!({ "tools": self.tools }))),
            "tools/call" => {
                let result = self.act(message)?;
                wire.result(id, &result)
            }
            "subscriptions/listen" if self.era != Era::Legacy => {
                self.listeners.push(id.clone());
                let accepted = &message.params()["notifications"];
                let params = json!({ "notifications": accepted, "_meta": listener(id) });
                let method = "notifications/subscriptions/acknowledged";
                wire.send(&json!({ "jsonrpc": "2.0", "method": method, "params": params }))
            }
            method => wire.error(id, -32601, &format!("there is no method `{method}`")),
        }
    }

    /// Has the effect of a call, and answers it.
    pub(super) fn act(&mut self, message: &Message) -> Result<Value, PeerError> {
        self.calls += 1;
        self.effect()?;
        let note = message.params()["arguments"]["note"].as_str().unwrap_or_default();
        Ok(acted(message, &format!("acted: {note}")))
    }

    /// One byte in the file, on the disk, where there is a file.
    pub(super) fn effect(&self) -> Result<(), PeerError> {
        let Some(file) = &self.file else {
            return Ok(());
        };
        let file = OpenOptions::new().create(true).append(true).open(file);
        file.and_then(|mut file| file.write_all(b".").and_then(|()| file.sync_all())).map_err(PeerError::at("the file"))
    }
}

/// A tool with one optional argument.
pub(super) fn tool(name: &str, description: &str) -> Value {
    let schema = json!({ "type": "object", "properties": { "note": { "type": "string" } } });
    json!({ "name": name, "description": description, "inputSchema": schema })
}

/// The answer to a call.
pub(super) fn acted(message: &Message, text: &str) -> Value {
    complete(message, json!({ "content": [{ "type": "text", "text": text }] }))
}

/// A result as its caller's version has it.
pub(super) fn complete(message: &Message, mut result: Value) -> Value {
    if message.is_modern() {
        result["resultType"] = json!("complete");
    }
    result
}

/// A result that the newer version says how long to keep.
pub(super) fn cached(message: &Message, mut result: Value) -> Value {
    if message.is_modern() {
        result["ttlMs"] = json!(0);
        result["cacheScope"] = json!("private");
    }
    complete(message, result)
}

/// What ties a notification to whom it is for.
pub(super) fn listener(id: &Value) -> Value {
    json!({ "io.modelcontextprotocol/subscriptionId": id })
}

/// The answer to a handshake.
pub(super) fn handshake(version: &str) -> Value {
    let capabilities = json!({ "tools": { "listChanged": true } });
    json!({ "protocolVersion": version, "capabilities": capabilities, "serverInfo": { "name": "hostile", "version": "1" } })
}
