//! Lines of JSON on stdin and stdout.

use std::io::{BufRead as _, Stdin, Write as _};
use std::time::Duration;

use serde_json::{Value, json};

use crate::error::PeerError;

/// How long a byte takes where every one is waited for.
const DRIP: Duration = Duration::from_millis(50);

/// Both directions.
pub(super) struct Wire {
    stdin: Stdin,
    drips: bool,
}

/// A request, a notification, or an answer of the caller.
pub(super) struct Message(Value);

impl Message {
    /// What is asked for; nothing in an answer.
    pub(super) fn method(&self) -> &str {
        self.0["method"].as_str().unwrap_or_default()
    }

    /// Nothing (null) in a notification.
    pub(super) fn id(&self) -> &Value {
        &self.0["id"]
    }

    pub(super) fn params(&self) -> &Value {
        &self.0["params"]
    }

    pub(super) fn is_request(&self) -> bool {
        !self.method().is_empty() && !self.id().is_null()
    }

    pub(super) fn is_call(&self) -> bool {
        self.method() == "tools/call" && self.is_request()
    }

    /// Whether it says by itself that it is of a version without a handshake.
    pub(super) fn is_modern(&self) -> bool {
        self.params()["_meta"]["io.modelcontextprotocol/protocolVersion"].is_string()
    }

    pub(super) fn text(&self) -> String {
        self.0.to_string()
    }
}

impl Wire {
    pub(super) fn new(drips: bool) -> Self {
        Self { stdin: std::io::stdin(), drips }
    }

    /// The next message, or nothing at the end. Lines that are none are passed over.
    pub(super) fn next(&mut self) -> Result<Option<Message>, PeerError> {
        for line in self.stdin.lock().lines() {
            let line = line.map_err(PeerError::at("stdin"))?;
            if let Ok(message) = serde_json::from_str(&line) {
                return Ok(Some(Message(message)));
            }
        }
        Ok(None)
    }

    /// Writes a message as one line.
    pub(super) fn send(&mut self, message: &Value) -> Result<(), PeerError> {
        self.raw(format!("{message}\n").as_bytes())
    }

    /// Answers a request.
    pub(super) fn result(&mut self, id: &Value, result: &Value) -> Result<(), PeerError> {
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "result": result }))
    }

    /// Refuses a request.
    pub(super) fn error(&mut self, id: &Value, code: i64, message: &str) -> Result<(), PeerError> {
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": message } }))
    }

    /// Writes bytes as they are.
    pub(super) fn raw(&mut self, bytes: &[u8]) -> Result<(), PeerError> {
        let mut stdout = std::io::stdout().lock();
        if self.drips {
            for byte in bytes {
                stdout.write_all(&[*byte]).and_then(|()| stdout.flush()).map_err(PeerError::at("stdout"))?;
                std::thread::sleep(DRIP);
            }
            return Ok(());
        }
        stdout.write_all(bytes).and_then(|()| stdout.flush()).map_err(PeerError::at("stdout"))
    }
}
