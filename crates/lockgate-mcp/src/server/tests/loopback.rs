//! Over sockets.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::fixture::{Fixture, SOON, endpoint, modern, principal, tool};
use crate::server::http::{ListenerLimits, serve};

struct Server {
    address: SocketAddr,
    stop: CancellationToken,
    served: JoinHandle<()>,
}

impl Server {
    async fn start(fixture: &Arc<Fixture>, limits: ListenerLimits) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let (address, stop) = (listener.local_addr().unwrap(), CancellationToken::new());
        let endpoint = endpoint(fixture);
        let handler = move |request, _| {
            let endpoint = endpoint.clone();
            async move { endpoint.answer(request, principal("anna")).await }
        };
        let served = tokio::spawn(serve(listener, limits, handler, stop.clone()));
        Self { address, stop, served }
    }

    async fn connect(&self) -> TcpStream {
        TcpStream::connect(self.address).await.unwrap()
    }
}

fn bytes(method: &str, name: Option<&str>, params: &Value) -> Vec<u8> {
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).to_string();
    let name = name.map(|name| format!("mcp-name: {name}\r\n")).unwrap_or_default();
    format!(
        "POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\naccept: application/json, text/event-stream\r\n\
         mcp-protocol-version: 2026-07-28\r\nmcp-method: {method}\r\n{name}content-length: {}\r\n\r\n{body}",
        body.len()
    )
    .into_bytes()
}

/// Reads until this was read.
async fn until(stream: &mut TcpStream, what: &str) -> String {
    let mut read = Vec::new();
    let mut piece = [0; 4096];
    tokio::time::timeout(SOON, async {
        while !String::from_utf8_lossy(&read).contains(what) {
            let length = stream.read(&mut piece).await.unwrap();
            assert!(length > 0, "it ended: {}", String::from_utf8_lossy(&read));
            read.extend_from_slice(&piece[..length]);
        }
    })
    .await
    .unwrap_or_else(|_| panic!("it did not come: {what}"));
    String::from_utf8(read).unwrap()
}

#[tokio::test]
async fn connections_are_used_again_and_their_end_cancels() {
    let fixture = Fixture::new();
    let server = Server::start(&fixture, ListenerLimits::default()).await;
    let mut stream = server.connect().await;
    for _ in 0..3 {
        stream.write_all(&bytes("tools/list", None, &modern(json!({})))).await.unwrap();
        let read = until(&mut stream, "private").await;
        assert!(read.starts_with("HTTP/1.1 200"), "{read}");
    }
    stream.write_all(&bytes("tools/call", Some("wait"), &tool("wait"))).await.unwrap();
    fixture.began.notified().await;
    drop(stream);
    tokio::time::timeout(SOON, fixture.cancelled.notified()).await.unwrap();
}

#[tokio::test]
async fn requests_under_way_end_before_the_server_does() {
    let fixture = Fixture::new();
    let server = Server::start(&fixture, ListenerLimits::default()).await;
    let mut stream = server.connect().await;
    stream.write_all(&bytes("tools/call", Some("hold"), &tool("hold"))).await.unwrap();
    fixture.began.notified().await;
    server.stop.cancel();
    // Nobody is let in any more.
    tokio::time::timeout(SOON, async { while TcpStream::connect(server.address).await.is_ok() {} }).await.unwrap();
    fixture.release.notify_one();
    assert!(until(&mut stream, "released").await.contains("connection: close"));
    tokio::time::timeout(SOON, server.served).await.unwrap().unwrap();
}

#[tokio::test]
async fn whoever_is_slow_holds_no_place() {
    let fixture = Fixture::new();
    let short = Duration::from_millis(100);
    let limits = ListenerLimits { connections: 1, request_within: short, ..ListenerLimits::default() };
    let server = Server::start(&fixture, limits).await;
    let mut slow = server.connect().await;
    slow.write_all(b"POST /mcp HTTP/1.1\r\nhost: loc").await.unwrap();
    let mut next = server.connect().await;
    next.write_all(&bytes("tools/list", None, &modern(json!({})))).await.unwrap();
    until(&mut next, "private").await;
}

/// Whether the other side has closed.
async fn is_over(stream: &mut TcpStream) -> bool {
    let mut rest = Vec::new();
    matches!(tokio::time::timeout(SOON, stream.read_to_end(&mut rest)).await.expect("it ends"), Ok(0) | Err(_))
}

#[tokio::test]
async fn the_longest_idle_connection_gives_way_and_one_with_a_request_does_not() {
    let fixture = Fixture::new();
    let server = Server::start(&fixture, ListenerLimits { connections: 3, ..ListenerLimits::default() }).await;
    let list = bytes("tools/list", None, &modern(json!({})));
    let mut held = server.connect().await;
    held.write_all(&bytes("tools/call", Some("hold"), &tool("hold"))).await.unwrap();
    fixture.began.notified().await;
    let (mut silent, mut used) = (server.connect().await, server.connect().await);
    used.write_all(&list).await.unwrap();
    until(&mut used, "private").await;
    // Full: two that hold nothing, and one that waits for its answer.
    let mut next = server.connect().await;
    next.write_all(&list).await.unwrap();
    until(&mut next, "private").await;
    assert!(is_over(&mut silent).await, "it said nothing for longest");
    let mut another = server.connect().await;
    another.write_all(&list).await.unwrap();
    until(&mut another, "private").await;
    assert!(is_over(&mut used).await, "its another request was answered before the other's");
    next.write_all(&list).await.unwrap();
    until(&mut next, "private").await;
    fixture.release.notify_one();
    until(&mut held, "released").await;
}

#[tokio::test]
async fn headers_that_drip_are_cut_off() {
    let fixture = Fixture::new();
    let limits = ListenerLimits { headers_within: Duration::from_millis(200), ..ListenerLimits::default() };
    let server = Server::start(&fixture, limits).await;
    let mut stream = server.connect().await;
    // A second request has as much time as the first.
    for _ in 0..2 {
        stream.write_all(&bytes("tools/list", None, &modern(json!({})))).await.unwrap();
        until(&mut stream, "private").await;
    }
    let drip = async {
        stream.write_all(b"POST /mcp HTTP/1.1\r\n").await?;
        loop {
            stream.write_all(b"x: y\r\n").await?;
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    let dripped: std::io::Result<()> = tokio::time::timeout(SOON, drip).await.expect("it is cut off");
    assert!(dripped.is_err());
}

#[tokio::test]
async fn a_client_that_reads_nothing_is_cut_off() {
    let fixture = Fixture::new();
    let limits = ListenerLimits { read_within: Duration::from_millis(200), ..ListenerLimits::default() };
    let server = Server::start(&fixture, limits).await;
    let mut stream = server.connect().await;
    // Larger than every buffer between.
    let large = json!({"name": "echo", "arguments": {"text": "x".repeat(3 << 20)}});
    let mut requests = 0;
    let cut_off = tokio::time::timeout(SOON, async {
        let request = bytes("tools/call", Some("echo"), &modern(large));
        while stream.write_all(&request).await.is_ok() {
            requests += 1;
        }
    });
    cut_off.await.expect("the connection is closed");
}
