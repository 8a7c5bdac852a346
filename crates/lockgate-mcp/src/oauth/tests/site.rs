//! A small HTTP server that answers as a test says, and remembers what it was asked.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

/// What it was asked.
#[derive(Debug, Clone)]
pub(super) struct Request {
    /// The path, without its query.
    pub(super) path: String,
    pub(super) query: String,
    pub(super) headers: BTreeMap<String, String>,
    pub(super) body: String,
}

/// What it answers.
#[derive(Debug, Clone)]
pub(super) struct Response {
    pub(super) status: u16,
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: String,
    /// How long it waits before.
    pub(super) after: Duration,
}

impl Response {
    pub(super) fn json(value: &serde_json::Value) -> Self {
        Self::status(200, &value.to_string())
    }

    pub(super) fn status(status: u16, body: &str) -> Self {
        Self { status, headers: Vec::new(), body: body.to_owned(), after: Duration::ZERO }
    }

    pub(super) fn elsewhere(to: &str) -> Self {
        Self { headers: vec![("location".to_owned(), to.to_owned())], ..Self::status(302, "") }
    }
}

impl Request {
    /// The fields of its body or its query.
    pub(super) fn fields(&self) -> BTreeMap<String, String> {
        let text = if self.body.is_empty() { &self.query } else { &self.body };
        let url = reqwest::Url::parse(&format!("http://localhost/?{text}")).unwrap();
        url.query_pairs().map(|(name, value)| (name.into_owned(), value.into_owned())).collect()
    }
}

pub(super) struct Site {
    pub(super) url: String,
    seen: Arc<Mutex<Vec<Request>>>,
    task: tokio::task::JoinHandle<()>,
}

/// A port, before it is known what answers there.
pub(super) async fn port() -> (TcpListener, String) {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let url = format!("http://127.0.0.1:{}", listener.local_addr().unwrap().port());
    (listener, url)
}

impl Site {
    pub(super) fn start(
        (listener, url): (TcpListener, String),
        answer: impl Fn(&Request) -> Response + Send + Sync + 'static,
    ) -> Self {
        let (answer, seen) = (Arc::new(answer), Arc::new(Mutex::new(Vec::new())));
        let log = Arc::clone(&seen);
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (answer, log) = (Arc::clone(&answer), Arc::clone(&log));
                tokio::spawn(async move { serve(stream, &*answer, &log).await });
            }
        });
        Self { url, seen, task }
    }

    /// What it was asked, in order.
    pub(super) fn seen(&self) -> Vec<Request> {
        self.seen.lock().unwrap().clone()
    }

    /// The requests of this path.
    pub(super) fn asked(&self, path: &str) -> Vec<Request> {
        self.seen().into_iter().filter(|request| request.path == path).collect()
    }

    pub(super) fn paths(&self) -> Vec<String> {
        self.seen().into_iter().map(|request| request.path).collect()
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn serve(mut stream: TcpStream, answer: &(impl Fn(&Request) -> Response + ?Sized), log: &Mutex<Vec<Request>>) {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let Ok(byte) = stream.read_u8().await else { return };
        head.push(byte);
    }
    let head = String::from_utf8(head).unwrap();
    let mut lines = head.lines();
    let mut words = lines.next().unwrap().split(' ');
    let target = words.nth(1).unwrap();
    let headers: BTreeMap<String, String> = lines
        .filter_map(|line| line.split_once(": "))
        .map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()))
        .collect();
    let length = headers.get("content-length").map_or(0, |length| length.parse().unwrap());
    let mut body = vec![0; length];
    stream.read_exact(&mut body).await.unwrap();
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let body = String::from_utf8(body).unwrap();
    let request = Request { path: path.to_owned(), query: query.to_owned(), headers, body };
    let response = answer(&request);
    log.lock().unwrap().push(request);
    tokio::time::sleep(response.after).await;
    let length = response.body.len();
    let headers: Vec<_> = response.headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
    let headers = headers.concat();
    let head = format!(
        "HTTP/1.1 {} X\r\ncontent-type: application/json\r\ncontent-length: {length}\r\nconnection: close\r\n{headers}\r\n",
        response.status
    );
    // Whoever asked may be gone by now, which is what some tests are about.
    let _ = stream.write_all(head.as_bytes()).await;
    let _ = stream.write_all(response.body.as_bytes()).await;
    let _ = stream.shutdown().await;
}
