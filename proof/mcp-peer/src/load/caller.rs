//! One caller on one connection.

use http_body_util::{BodyExt as _, Full};
use hyper::body::Bytes;
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HOST};
use hyper::{HeaderMap, Request, StatusCode, Uri};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::net::TcpStream;

use crate::error::PeerError;
use crate::fixture::Era;

const MODERN: &str = "2026-07-28";
const LEGACY: &str = "2025-11-25";

/// A caller. The older versions have shaken hands.
pub(super) struct Caller {
    connection: SendRequest<Full<Bytes>>,
    url: Uri,
    is_modern: bool,
    bearer: Option<String>,
    session: Option<String>,
    asked: u64,
}

impl Caller {
    pub(super) async fn connect(url: Uri, era: Era, bearer: Option<&str>) -> Result<Self, PeerError> {
        let authority = url.authority().ok_or_else(|| PeerError::new("the URL", "it has no host"))?;
        let (host, port) = (authority.host().to_owned(), authority.port_u16().unwrap_or(80));
        let stream = TcpStream::connect((host, port)).await.map_err(PeerError::at("connecting"))?;
        stream.set_nodelay(true).map_err(PeerError::at("connecting"))?;
        let (connection, driver) = handshake(TokioIo::new(stream)).await.map_err(PeerError::at("connecting"))?;
        tokio::spawn(driver);
        let bearer = bearer.map(|token| format!("Bearer {token}"));
        let mut caller = Self { connection, url, is_modern: era != Era::Legacy, bearer, session: None, asked: 0 };
        if !caller.is_modern {
            let client = json!({ "name": "load", "version": "1" });
            caller
                .ask("initialize", json!({ "protocolVersion": LEGACY, "capabilities": {}, "clientInfo": client }))
                .await?;
            let initialized = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
            caller.post(&initialized).await?;
        }
        Ok(caller)
    }

    /// Calls a tool, and sees whether it says back its text.
    pub(super) async fn call(&mut self, tool: &str, text: &str) -> Result<(), PeerError> {
        let answer = self.ask("tools/call", json!({ "name": tool, "arguments": { "text": text } })).await?;
        if answer["result"]["content"][0]["text"] == text {
            return Ok(());
        }
        Err(PeerError::new("a call", answer))
    }

    async fn ask(&mut self, method: &str, mut params: Value) -> Result<Value, PeerError> {
        self.asked += 1;
        if self.is_modern {
            params["_meta"] = json!({
                "io.modelcontextprotocol/protocolVersion": MODERN,
                "io.modelcontextprotocol/clientInfo": { "name": "load", "version": "1" },
                "io.modelcontextprotocol/clientCapabilities": {}
            });
        }
        let body =
            self.post(&json!({ "jsonrpc": "2.0", "id": self.asked, "method": method, "params": params })).await?;
        let answers = body
            .split(|byte| *byte == b'\n')
            .filter_map(|line| serde_json::from_slice::<Value>(line.strip_prefix(b"data:").unwrap_or(line)).ok());
        let answer = answers.into_iter().find(|answer| answer["id"] == self.asked);
        answer.ok_or_else(|| PeerError::new("an answer", String::from_utf8_lossy(&body)))
    }

    /// Sends a message. Answers with the whole body, and keeps the session.
    async fn post(&mut self, message: &Value) -> Result<Bytes, PeerError> {
        let mut request = Request::post(self.url.path());
        if let (Some(headers), Some(authority)) = (request.headers_mut(), self.url.authority()) {
            self.write(headers, authority.as_str(), message).map_err(PeerError::at("a header"))?;
        }
        let request = request.body(Full::from(message.to_string())).map_err(PeerError::at("a request"))?;
        self.connection.ready().await.map_err(PeerError::at("a request"))?;
        let response = self.connection.send_request(request).await.map_err(PeerError::at("a request"))?;
        let status = response.status();
        if let Some(session) = response.headers().get("mcp-session-id").and_then(|session| session.to_str().ok()) {
            self.session = Some(session.to_owned());
        }
        let body = response.into_body().collect().await.map_err(PeerError::at("a body"))?.to_bytes();
        if status == StatusCode::OK || status == StatusCode::ACCEPTED {
            return Ok(body);
        }
        Err(PeerError::new("a request", format!("{status}: {}", String::from_utf8_lossy(&body))))
    }

    fn write(
        &self,
        headers: &mut HeaderMap,
        host: &str,
        message: &Value,
    ) -> Result<(), hyper::header::InvalidHeaderValue> {
        headers.insert(HOST, host.parse()?);
        headers.insert(CONTENT_TYPE, "application/json".parse()?);
        headers.insert(ACCEPT, "application/json, text/event-stream".parse()?);
        headers.insert("mcp-protocol-version", if self.is_modern { MODERN } else { LEGACY }.parse()?);
        if self.is_modern {
            headers.insert("mcp-method", message["method"].as_str().unwrap_or_default().parse()?);
            headers.insert("mcp-name", message["params"]["name"].as_str().unwrap_or_default().parse()?);
        }
        if let Some(session) = &self.session {
            headers.insert("mcp-session-id", session.parse()?);
        }
        if let Some(bearer) = &self.bearer {
            headers.insert(AUTHORIZATION, bearer.parse()?);
        }
        Ok(())
    }
}
