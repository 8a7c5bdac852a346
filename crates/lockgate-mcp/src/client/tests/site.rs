//! A site: a small server over HTTP that answers as a script says, a connection each.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use super::peer::Heard;
use crate::client::{ClientError, Connection, Endpoint, Options, Transport};

/// A request, as it came.
#[derive(Clone, Debug)]
pub(super) struct Came {
    pub(super) verb: String,
    pub(super) path: String,
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: Value,
}

impl Came {
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    pub(super) fn method(&self) -> &str {
        self.body["method"].as_str().unwrap_or_default()
    }
}

/// What is sent back, piece by piece; the connection is closed behind the last one, unless it is held.
pub(super) struct Reply {
    pub(super) pieces: Vec<String>,
    pub(super) pause: Duration,
    pub(super) is_held: bool,
}

pub(super) fn raw(status: &str, headers: &str, body: &str) -> Reply {
    let head = format!("HTTP/1.1 {status}\r\n{headers}connection: close\r\n\r\n");
    Reply { pieces: vec![head + body], pause: Duration::ZERO, is_held: false }
}

pub(super) fn answer(status: &str, headers: &str, body: &Value) -> Reply {
    raw(status, &format!("content-type: application/json\r\n{headers}"), &body.to_string())
}

pub(super) fn result(came: &Came, result: &Value) -> Reply {
    answer("200 OK", "", &json!({ "jsonrpc": "2.0", "id": came.body["id"], "result": result }))
}

pub(super) fn error(status: &str, came: &Came, code: i64) -> Reply {
    answer(status, "", &json!({ "jsonrpc": "2.0", "id": came.body["id"], "error": { "code": code, "message": "no" } }))
}

pub(super) fn events(pieces: &[String]) -> Reply {
    let mut reply = raw("200 OK", "content-type: text/event-stream\r\n", "");
    reply.pieces.extend_from_slice(pieces);
    reply.pause = Duration::from_millis(5);
    reply
}

pub(super) fn event(message: &Value) -> String {
    format!("data: {message}\n\n")
}

pub(super) struct Site {
    pub(super) url: String,
    pub(super) log: Arc<Mutex<Vec<Came>>>,
    pub(super) heard: Arc<Heard>,
}

impl Site {
    pub(super) async fn new(script: impl Fn(&Came) -> Reply + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/mcp", listener.local_addr().unwrap());
        let log: Arc<Mutex<Vec<Came>>> = Arc::default();
        let (script, kept) = (Arc::new(script), log.clone());
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (script, kept) = (script.clone(), kept.clone());
                tokio::spawn(async move { serve(stream, &*script, &kept).await });
            }
        });
        Self { url, log, heard: Arc::default() }
    }

    pub(super) fn endpoint(&self) -> Endpoint {
        Endpoint { url: self.url.clone(), headers: vec![("x-own".to_owned(), "1".to_owned())], tokens: None }
    }

    pub(super) async fn open(&self, options: Options) -> Result<Connection, ClientError> {
        Connection::open(Transport::Http(self.endpoint()), options, self.heard.clone()).await
    }

    pub(super) fn came(&self, method: &str) -> Vec<Came> {
        self.log.lock().unwrap().iter().filter(|came| came.method() == method).cloned().collect()
    }

    pub(super) fn verbs(&self, verb: &str) -> Vec<Came> {
        self.log.lock().unwrap().iter().filter(|came| came.verb == verb).cloned().collect()
    }
}

pub(super) async fn serve(
    mut stream: TcpStream,
    script: &(dyn Fn(&Came) -> Reply + Send + Sync),
    log: &Mutex<Vec<Came>>,
) {
    let mut bytes = Vec::new();
    let head = loop {
        if let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            break end;
        }
        if stream.read_buf(&mut bytes).await.unwrap_or(0) == 0 {
            return;
        }
    };
    let text = String::from_utf8(bytes[..head].to_vec()).unwrap();
    let mut lines = text.lines();
    let mut first = lines.next().unwrap().split(' ').map(str::to_owned);
    let headers: Vec<(String, String)> = lines
        .map(|line| line.split_once(':').unwrap())
        .map(|(name, value)| (name.to_ascii_lowercase(), value.trim_matches(' ').to_owned()))
        .collect();
    let length =
        headers.iter().find(|(name, _)| name == "content-length").map_or(0, |(_, value)| value.parse().unwrap());
    while bytes.len() < head + 4 + length {
        stream.read_buf(&mut bytes).await.unwrap();
    }
    let body = serde_json::from_slice(&bytes[head + 4..]).unwrap_or(Value::Null);
    let came = Came { verb: first.next().unwrap(), path: first.next().unwrap(), headers, body };
    log.lock().unwrap().push(came.clone());
    let reply = script(&came);
    for piece in &reply.pieces {
        if stream.write_all(piece.as_bytes()).await.is_err() {
            return;
        }
        tokio::time::sleep(reply.pause).await;
    }
    if reply.is_held {
        let _ = stream.read(&mut [0; 64]).await;
        log.lock().unwrap().push(Came { verb: "GONE".to_owned(), ..came });
    }
}
