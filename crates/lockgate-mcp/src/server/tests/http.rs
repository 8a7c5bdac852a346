//! What is looked at before a message is.

use std::time::Duration;

use ::http::{Request, StatusCode};
use serde_json::json;

use super::fixture::{Fixture, Reply, endpoint, endpoint_with, modern, plain, principal, request, send, tool};
use crate::server::Limits;
use crate::server::http::{Body, Options};
use crate::wire::code;

#[tokio::test]
async fn bodies_that_are_no_message_are_answered_and_not_read_on() {
    let endpoint = endpoint(&Fixture::new());
    for (text, expected) in [
        ("{", code::PARSE_ERROR),
        ("\u{feff}{}", code::PARSE_ERROR),
        (r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}"#, code::PARSE_ERROR),
        ("[]", code::INVALID_REQUEST),
        (r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#, code::INVALID_REQUEST),
        (r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, code::INVALID_REQUEST),
        (r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#, code::INVALID_REQUEST),
        (r#"{"id":1,"method":"ping"}"#, code::INVALID_REQUEST),
    ] {
        let mut request = plain(&json!({}));
        *request.body_mut() = Body::from(text.to_owned());
        let reply = send(&endpoint, request).await;
        assert_eq!((reply.status, reply.code()), (StatusCode::BAD_REQUEST, expected), "{text}");
    }
    let mut deep = plain(&json!({}));
    *deep.body_mut() = Body::from("[".repeat(100_000));
    assert_eq!(send(&endpoint, deep).await.code(), code::PARSE_ERROR);
    let mut binary = plain(&json!({}));
    *binary.body_mut() = Body::from(vec![b'"', 0xff, b'"']);
    assert_eq!(send(&endpoint, binary).await.code(), code::PARSE_ERROR);
}

#[tokio::test]
async fn the_kind_of_the_body_and_of_the_answer_are_agreed_on() {
    let endpoint = endpoint(&Fixture::new());
    let list = || request("tools/list", &modern(json!({})));
    for (kind, status) in [("text/plain", 415), ("application/json; charset=utf-8", 200), ("APPLICATION/JSON", 200)] {
        let mut request = list();
        request.headers_mut().insert("content-type", kind.parse().unwrap());
        assert_eq!(send(&endpoint, request).await.status, status, "{kind}");
    }
    for (accept, status) in [
        ("text/html", 406),
        ("application/json;q=0", 406),
        ("*/*", 200),
        ("application/json", 200),
        ("text/event-stream", 200),
    ] {
        let mut request = list();
        request.headers_mut().insert("accept", accept.parse().unwrap());
        assert_eq!(send(&endpoint, request).await.status, status, "{accept}");
    }
}

#[tokio::test]
async fn a_body_is_no_larger_than_it_may_be() {
    let limits = Limits { message_bytes: 1000, ..Limits::default() };
    let endpoint = endpoint_with(&Fixture::new(), Options { limits, ..Options::default() });
    let long = modern(json!({"name": "echo", "arguments": {"a": "x".repeat(1000)}}));
    let reply = send(&endpoint, request("tools/call", &long)).await;
    assert_eq!((reply.status, reply.code()), (StatusCode::PAYLOAD_TOO_LARGE, code::INVALID_REQUEST));
}

/// A body of which no more comes, and that does not say how long it is.
struct Drip(Option<bytes::Bytes>);

impl http_body::Body for Drip {
    type Data = bytes::Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(
        mut self: std::pin::Pin<&mut Self>,
        _: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<Result<http_body::Frame<Self::Data>, Self::Error>>> {
        match self.0.take() {
            Some(piece) => std::task::Poll::Ready(Some(Ok(http_body::Frame::data(piece)))),
            None => std::task::Poll::Pending,
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_body_that_does_not_come_is_not_waited_for() {
    let endpoint = endpoint(&Fixture::new());
    let (parts, _) = plain(&json!({})).into_parts();
    let request = Request::from_parts(parts, Drip(Some(bytes::Bytes::from_static(b"{"))));
    let reply = Reply::of(endpoint.answer(request, principal("anna")).await).await;
    assert_eq!(reply.status, StatusCode::REQUEST_TIMEOUT);
}

/// GHSA-89vp-x53w-74fx: a page whose name was made to lead to loopback must not get in.
#[tokio::test]
async fn strangers_are_turned_away_before_anything_is_read() {
    let options = Options {
        bound: Some("192.0.2.7:8377".parse().unwrap()),
        hosts: vec!["mcp.example.com".to_owned(), "other.example.com:8443".to_owned()],
        origins: vec!["https://app.example.com".to_owned()],
        ..Options::default()
    };
    let fixture = Fixture::new();
    let endpoint = endpoint_with(&fixture, options);
    let cases = [
        ("localhost:1", None, 200),
        ("127.0.0.1:8377", None, 200),
        ("[::1]:8377", Some("http://[::1]:8377"), 200),
        ("192.0.2.7:8377", Some("http://192.0.2.7:8377"), 200),
        ("mcp.example.com", Some("https://app.example.com"), 200),
        ("MCP.example.com:443", None, 200),
        ("other.example.com:8443", None, 200),
        ("other.example.com", None, 403),
        ("evil.example.com", None, 403),
        ("localhost.evil.example.com", None, 403),
        ("localhost@evil.example.com", None, 403),
        ("192.0.2.8", None, 403),
        ("localhost", Some("http://evil.example.com"), 403),
        ("localhost", Some("null"), 403),
        ("localhost", Some("https://app.example.com.evil.example.com"), 403),
        ("localhost", Some("file://localhost"), 403),
        ("localhost", Some("http://localhost@evil.example.com"), 403),
    ];
    for (host, origin, status) in cases {
        let mut request = request("tools/list", &modern(json!({})));
        request.headers_mut().insert("host", host.parse().unwrap());
        if let Some(origin) = origin {
            request.headers_mut().insert("origin", origin.parse().unwrap());
        }
        let reply = send(&endpoint, request).await;
        assert_eq!(reply.status, status, "{host} {origin:?}");
        let may_read = reply.headers.get("access-control-allow-origin").map(|origin| origin.to_str().unwrap());
        assert_eq!(may_read, origin.filter(|_| status == 200));
    }
    let mut nobody = request("tools/list", &modern(json!({})));
    nobody.headers_mut().remove("host");
    assert_eq!(send(&endpoint, nobody).await.status, 403);
    // Nothing was read: a stranger's broken body is no parse error.
    let mut stranger = plain(&json!({}));
    stranger.headers_mut().insert("host", "evil.example.com".parse().unwrap());
    *stranger.body_mut() = Body::from("{".to_owned());
    assert_eq!(send(&endpoint, stranger).await.status, 403);
}

#[tokio::test]
async fn browsers_are_told_which_pages_may_send() {
    let endpoint = endpoint(&Fixture::new());
    let ask = |origin: &str| {
        let request = Request::options("/mcp")
            .header("host", "localhost:8377")
            .header("origin", origin)
            .header("access-control-request-method", "POST")
            .header("access-control-request-headers", "mcp-method, mcp-param-region");
        request.body(()).unwrap().into_parts().0
    };
    let told = Reply::of(endpoint.preflight(&ask("http://localhost:6274")).unwrap()).await;
    assert_eq!(told.status, 204);
    assert_eq!(told.headers["access-control-allow-origin"], "http://localhost:6274");
    assert_eq!(told.headers["access-control-allow-headers"], "mcp-method, mcp-param-region");
    let refused = Reply::of(endpoint.preflight(&ask("https://evil.example.com")).unwrap()).await;
    assert_eq!(refused.status, 403);
    let (no_question, _) = request("ping", &modern(json!({}))).into_parts();
    assert!(endpoint.preflight(&no_question).is_none());
}

#[tokio::test]
async fn one_principal_has_so_many_requests_under_way_and_no_more() {
    let fixture = Fixture::new();
    let limits = Limits { requests: 1, ..Limits::default() };
    let endpoint = endpoint_with(&fixture, Options { limits, ..Options::default() });
    let held = tokio::spawn({
        let endpoint = endpoint.clone();
        async move { send(&endpoint, request("tools/call", &tool("hold"))).await }
    });
    fixture.began.notified().await;
    let reply = send(&endpoint, request("tools/list", &modern(json!({})))).await;
    assert_eq!((reply.status, reply.code()), (StatusCode::TOO_MANY_REQUESTS, code::INTERNAL_ERROR));
    assert_eq!(reply.headers["retry-after"], "1");
    let other = endpoint.answer(request("tools/list", &modern(json!({}))), principal("berta")).await;
    assert_eq!(other.status(), StatusCode::OK);
    fixture.release.notify_one();
    assert_eq!(held.await.unwrap().status, StatusCode::OK);
    assert_eq!(send(&endpoint, request("tools/list", &modern(json!({})))).await.status, StatusCode::OK);
}

#[tokio::test]
async fn what_stops_takes_nothing_more_on() {
    let endpoint = endpoint(&Fixture::new());
    endpoint.close(Duration::from_secs(1)).await;
    let reply = send(&endpoint, request("tools/list", &modern(json!({})))).await;
    assert_eq!(reply.status, StatusCode::SERVICE_UNAVAILABLE);
}
