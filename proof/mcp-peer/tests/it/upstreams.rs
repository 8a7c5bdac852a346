//! Servers over HTTP that tests start beside the gateway.

#![expect(clippy::disallowed_methods, reason = "a test starts the servers that it is about")]

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener};
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

use crate::gateway::Gateway;

/// A server over HTTP, which ends with this value.
pub(crate) struct Server {
    child: Child,
    pub(crate) address: SocketAddr,
}

impl Server {
    pub(crate) fn start(words: &[&str], address: &str, gateway: &Gateway) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_mcp-peer"));
        command.args(words).args(["--http", address]).args(["--file".as_ref(), gateway.path("paid").as_os_str()]);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut url = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut url).unwrap();
        let address = url.trim().trim_start_matches("http://").trim_end_matches("/mcp").parse().unwrap();
        Self { child, address }
    }

    /// Kills it, and gives its address for the next one.
    pub(crate) fn kill(mut self) -> String {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        self.address.to_string()
    }
}

/// A server over HTTP that says which token it was shown.
pub(crate) fn who_am_i() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            std::thread::spawn(move || {
                let mut reader = BufReader::new(stream.try_clone().unwrap());
                loop {
                    let (mut length, mut shown) = (0, "nobody".to_owned());
                    loop {
                        let mut line = String::new();
                        if reader.read_line(&mut line).unwrap_or(0) == 0 {
                            return;
                        }
                        match line.trim().split_once(": ") {
                            Some((name, value)) if name.eq_ignore_ascii_case("content-length") => {
                                length = value.parse().unwrap();
                            }
                            Some((name, value)) if name.eq_ignore_ascii_case("authorization") => {
                                value.clone_into(&mut shown);
                            }
                            None if line.trim().is_empty() => break,
                            Some(_) | None => {}
                        }
                    }
                    let mut body = vec![0; length];
                    reader.read_exact(&mut body).unwrap();
                    let asked: Value = serde_json::from_slice(&body).unwrap_or_default();
                    let mut result = match asked["method"].as_str() {
                        Some("server/discover") => {
                            json!({ "supportedVersions": ["2026-07-28"], "capabilities": { "tools": {} } })
                        }
                        Some("tools/list") => {
                            json!({ "tools": [{ "name": "who", "inputSchema": { "type": "object" } }] })
                        }
                        _ => {
                            json!({ "content": [{ "type": "text", "text": format!("it is {}", shown.len()) }, { "type": "text", "text": shown.chars().rev().collect::<String>() }] })
                        }
                    };
                    result["resultType"] = json!("complete");
                    result["ttlMs"] = json!(0);
                    result["cacheScope"] = json!("private");
                    let answer = json!({ "jsonrpc": "2.0", "id": asked["id"], "result": result }).to_string();
                    write!(
                        stream,
                        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{answer}",
                        answer.len()
                    )
                    .unwrap();
                }
            });
        }
    });
    address
}
