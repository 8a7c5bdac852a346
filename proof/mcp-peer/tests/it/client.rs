//! A client of the gateway that can be told to send anything.

use std::io::{ErrorKind, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};

use serde_json::{Value, json};

use crate::gateway::SOON;

/// What a server answered, and closed the connection after.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    head: String,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    fn read(mut stream: TcpStream) -> std::io::Result<Self> {
        let mut bytes = Vec::new();
        match stream.read_to_end(&mut bytes) {
            // It closes before it has read everything, where there is too much to read.
            Err(error) if error.kind() == ErrorKind::ConnectionReset && !bytes.is_empty() => {}
            read => drop(read?),
        }
        let end = bytes.windows(4).position(|window| window == b"\r\n\r\n");
        let end = end.ok_or_else(|| std::io::Error::new(ErrorKind::UnexpectedEof, "no answer"))?;
        // The names of headers in lower case, and their values as they are.
        let head: Vec<String> = String::from_utf8_lossy(&bytes[..end])
            .lines()
            .map(|line| match line.split_once(": ") {
                Some((name, value)) => format!("{}: {value}", name.to_ascii_lowercase()),
                None => line.to_owned(),
            })
            .collect();
        let head = head.join("\n");
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or_default();
        let rest = &bytes[end + 4..];
        let body = if head.contains("transfer-encoding: chunked") { unchunked(rest) } else { rest.to_vec() };
        Ok(Self { status, head, body })
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// Every message in it: one, or those of its events.
    pub(crate) fn messages(&self) -> Vec<Value> {
        let text = self.text();
        if let Ok(message) = serde_json::from_str(&text) {
            return vec![message];
        }
        let data = text.lines().filter_map(|line| line.strip_prefix("data:"));
        data.filter_map(|data| serde_json::from_str(data.trim()).ok()).collect()
    }

    /// The last message in it.
    pub(crate) fn json(&self) -> Value {
        self.messages().pop().unwrap_or_else(|| panic!("{} {}", self.status, self.text()))
    }
}

fn unchunked(mut rest: &[u8]) -> Vec<u8> {
    let mut body = Vec::new();
    while let Some(end) = rest.windows(2).position(|window| window == b"\r\n") {
        let size = std::str::from_utf8(&rest[..end]).ok().and_then(|size| usize::from_str_radix(size, 16).ok());
        let Some(size @ 1..) = size.filter(|size| end + 2 + size <= rest.len()) else { break };
        body.extend_from_slice(&rest[end + 2..end + 2 + size]);
        rest = rest.get(end + 4 + size..).unwrap_or_default();
    }
    body
}

/// Sends bytes as they are.
pub(crate) fn open(address: SocketAddr, bytes: &[u8]) -> std::io::Result<TcpStream> {
    let mut stream = TcpStream::connect(address)?;
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(SOON))?;
    stream.set_write_timeout(Some(SOON))?;
    match stream.write_all(bytes) {
        // What it did not want to read is no fault of whoever wants to read its answer.
        Err(error) if matches!(error.kind(), ErrorKind::BrokenPipe | ErrorKind::ConnectionReset) => {}
        sent => sent?,
    }
    Ok(stream)
}

/// Sends bytes as they are, and reads until the server closes.
pub(crate) fn exchange(address: SocketAddr, bytes: &[u8]) -> std::io::Result<Answer> {
    Answer::read(open(address, bytes)?)
}

pub(crate) fn get(address: SocketAddr, path: &str) -> Answer {
    let request = format!("GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
    exchange(address, request.as_bytes()).unwrap()
}

/// A request with these headers beside the usual ones, and this body.
pub(crate) fn request(address: SocketAddr, path: &str, headers: &str, body: &str) -> String {
    format!(
        "POST {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\nContent-Type: application/json\r\n\
         Accept: application/json, text/event-stream\r\n{headers}Content-Length: {}\r\n\r\n{body}",
        body.len()
    )
}

/// A request of the newer version, as text.
pub(crate) fn modern(address: SocketAddr, path: &str, bearer: Option<&str>, method: &str, mut params: Value) -> String {
    params["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!("2026-07-28");
    if params["_meta"]["io.modelcontextprotocol/clientCapabilities"].is_null() {
        params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = json!({});
    }
    let mut headers = format!("MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: {method}\r\n");
    for name in ["name", "uri", "taskId"] {
        if let Some(name) = params[name].as_str() {
            headers.extend(["Mcp-Name: ", name, "\r\n"]);
        }
    }
    headers.push_str(&authorization(bearer));
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
    request(address, path, &headers, &body.to_string())
}

/// A request of the newer version, and the answer to it.
pub(crate) fn post(
    address: SocketAddr,
    path: &str,
    bearer: Option<&str>,
    method: &str,
    params: Value,
) -> std::io::Result<Answer> {
    exchange(address, modern(address, path, bearer, method, params).as_bytes())
}

fn authorization(bearer: Option<&str>) -> String {
    bearer.map_or_else(String::new, |bearer| format!("Authorization: Bearer {bearer}\r\n"))
}

/// Reads until this was said; what was read.
pub(crate) fn until(stream: &mut TcpStream, words: &str) -> String {
    let mut read = Vec::new();
    while !String::from_utf8_lossy(&read).contains(words) {
        let mut piece = [0; 4096];
        let length = stream.read(&mut piece).unwrap();
        assert!(length > 0, "it ended without `{words}`: {}", String::from_utf8_lossy(&read));
        read.extend_from_slice(&piece[..length]);
    }
    String::from_utf8_lossy(&read).into_owned()
}

/// A client of the older versions, in a session.
pub(crate) struct Session {
    address: SocketAddr,
    pub(crate) id: String,
    bearer: Option<String>,
    asked: std::cell::Cell<u64>,
}

impl Session {
    pub(crate) fn begin(address: SocketAddr, version: &str) -> Self {
        Self::begin_as(None, address, version)
    }

    /// With this token.
    pub(crate) fn begin_as(bearer: Option<&str>, address: SocketAddr, version: &str) -> Self {
        let client = json!({ "name": "test", "version": "1" });
        let params = json!({ "protocolVersion": version, "capabilities": {}, "clientInfo": client });
        let body = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params });
        let bearer = bearer.map(str::to_owned);
        let begin = request(address, "/mcp", &authorization(bearer.as_deref()), &body.to_string());
        let answer = exchange(address, begin.as_bytes()).unwrap();
        let id = answer.header("mcp-session-id").unwrap_or_else(|| panic!("{}", answer.text())).to_owned();
        let session = Self { address, id, bearer, asked: std::cell::Cell::new(0) };
        let noted = session.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        assert_eq!(noted.status, 202);
        session
    }

    pub(crate) fn text(&self, message: &Value) -> String {
        request(self.address, "/mcp", &self.headers(), &message.to_string())
    }

    fn headers(&self) -> String {
        let authorization = authorization(self.bearer.as_deref());
        format!("Mcp-Session-Id: {}\r\nMCP-Protocol-Version: 2025-11-25\r\n{authorization}", self.id)
    }

    /// A request of this session without a body: `GET`, with or without what was read last, or `DELETE`.
    pub(crate) fn bare(&self, method: &str, last_event: Option<&str>) -> String {
        let (address, headers) = (self.address, self.headers());
        let last = last_event.map_or_else(String::new, |last| format!("Last-Event-ID: {last}\r\n"));
        format!(
            "{method} /mcp HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\nAccept: text/event-stream\r\n{headers}{last}\r\n"
        )
    }

    /// The same session, as somebody else would use it.
    pub(crate) fn taken_by(&self, bearer: &str) -> Self {
        Self { address: self.address, id: self.id.clone(), bearer: Some(bearer.to_owned()), asked: 1000.into() }
    }

    pub(crate) fn send(&self, message: &Value) -> Answer {
        exchange(self.address, self.text(message).as_bytes()).unwrap()
    }

    pub(crate) fn ask(&self, method: &str, params: &Value) -> Answer {
        self.asked.set(self.asked.get() + 1);
        self.send(&json!({ "jsonrpc": "2.0", "id": self.asked.get(), "method": method, "params": params }))
    }
}
