//! A peer on stdin and stdout.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

/// A running peer, which ends with this value.
pub(crate) struct Peer {
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: BufReader<ChildStdout>,
    asked: u64,
}

impl Peer {
    pub(crate) fn start(words: &[&str]) -> Self {
        let mut started = Command::new(env!("CARGO_BIN_EXE_mcp-peer"));
        let mut child = started.args(words).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (stdin, stdout) = (child.stdin.take(), BufReader::new(child.stdout.take().unwrap()));
        Self { child, stdin, stdout, asked: 0 }
    }

    /// Sends a request. Answers with its id.
    pub(crate) fn ask(&mut self, method: &str, params: &Value) -> u64 {
        self.asked += 1;
        self.send(&json!({ "jsonrpc": "2.0", "id": self.asked, "method": method, "params": params }));
        self.asked
    }

    pub(crate) fn call(&mut self, name: &str, arguments: &Value) -> u64 {
        self.ask("tools/call", &json!({ "name": name, "arguments": arguments }))
    }

    pub(crate) fn send(&mut self, message: &Value) {
        writeln!(self.stdin.as_mut().unwrap(), "{message}").unwrap();
    }

    /// The next line, or nothing at the end.
    pub(crate) fn line(&mut self) -> Option<Vec<u8>> {
        let mut line = Vec::new();
        self.stdout.read_until(b'\n', &mut line).unwrap();
        if line.is_empty() { None } else { Some(line) }
    }

    /// The next message, or nothing at the end.
    pub(crate) fn message(&mut self) -> Option<Value> {
        Some(serde_json::from_slice(&self.line()?).unwrap())
    }

    /// What a request was answered with, whatever else comes before it.
    pub(crate) fn answer(&mut self, id: u64) -> Value {
        loop {
            let line = self.line().expect("the peer ended");
            match serde_json::from_slice::<Value>(&line) {
                Ok(message) if message["id"] == id && message["method"].is_null() => return message,
                _ => {}
            }
        }
    }

    /// Takes so many bytes.
    pub(crate) fn bytes(&mut self, count: usize) -> Vec<u8> {
        let mut bytes = vec![0; count];
        self.stdout.read_exact(&mut bytes).unwrap();
        bytes
    }

    /// Whether it ended, and well, once its stdin did.
    pub(crate) fn ends(mut self) -> bool {
        drop(self.stdin.take());
        self.child.wait().unwrap().success()
    }

    pub(crate) fn handshake(&mut self) -> Value {
        let client = json!({ "name": "test", "version": "1" });
        let asked = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client });
        let id = self.ask("initialize", &asked);
        let answer = self.answer(id);
        self.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        answer
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What a request of the newer version says about itself.
pub(crate) fn modern(mut params: Value) -> Value {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {}
    });
    params
}
