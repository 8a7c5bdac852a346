//! A tiny server, and a client that sends exactly what a test says.

use std::convert::Infallible;
use std::fmt::Write as _;
use std::future::Future;
use std::net::SocketAddr;
use std::sync::Arc;

use http::request::Parts;
use http::{Request, Response};
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

/// Answers requests on loopback until the test ends.
pub(super) async fn serve<F, A>(answer: F) -> SocketAddr
where
    F: Fn(Parts, Vec<u8>) -> A + Send + Sync + 'static,
    A: Future<Output = Response<String>> + Send,
{
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let answer = Arc::new(answer);
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let answer = Arc::clone(&answer);
            tokio::spawn(async move {
                let service = service_fn(move |request: Request<Incoming>| {
                    let answer = Arc::clone(&answer);
                    async move {
                        let (parts, body) = request.into_parts();
                        let body = Limited::new(body, 1 << 20).collect().await.unwrap().to_bytes().to_vec();
                        Ok::<_, Infallible>(answer(parts, body).await.map(|text| Full::new(Bytes::from(text))))
                    }
                });
                // A client that goes away is no matter of the test's.
                let _ = http1::Builder::new().serve_connection(TokioIo::new(stream), service).await;
            });
        }
    });
    address
}

/// What came back.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) status: u16,
    headers: Vec<(String, String)>,
    pub(super) body: String,
}

impl Answer {
    /// The one header of this name.
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        let mut found = self.headers.iter().filter(|(known, _)| known.eq_ignore_ascii_case(name));
        let value = found.next().map(|(_, value)| value.as_str());
        assert!(found.next().is_none(), "`{name}` stands twice: {self:?}");
        value
    }

    /// Every header of this name.
    pub(super) fn all(&self, name: &str) -> Vec<&str> {
        let found = self.headers.iter().filter(|(known, _)| known.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str()).collect()
    }

    pub(super) fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }
}

/// Sends one request.
pub(super) async fn send(
    address: SocketAddr,
    method: &str,
    target: &str,
    headers: &[(&str, &str)],
    body: &str,
) -> Answer {
    let mut text = format!("{method} {target} HTTP/1.1\r\nconnection: close\r\n");
    if !headers.iter().any(|(name, _)| *name == "host") {
        write!(text, "host: {address}\r\n").unwrap();
    }
    for (name, value) in headers {
        write!(text, "{name}: {value}\r\n").unwrap();
    }
    if method == "POST" {
        write!(text, "content-length: {}\r\n", body.len()).unwrap();
    }
    text.push_str("\r\n");
    text.push_str(body);
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(text.as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await.unwrap();
    let answer = String::from_utf8(answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    let mut lines = head.lines();
    let status = lines.next().unwrap().split(' ').nth(1).unwrap().parse().unwrap();
    let headers =
        lines.map(|line| line.split_once(": ").unwrap()).map(|(name, value)| (name.to_owned(), value.to_owned()));
    Answer { status, headers: headers.collect(), body: body.to_owned() }
}
