//! Servers that fail: every failure is a typed error, and nothing is asked twice.

use std::time::Duration;

use lockgate_contract::ports::{Message, ModelAdapter, ModelError, ModelRequest, ModelResponse};
use lockgate_models::{Provider, RemoteModel, RemoteOptions};

use crate::server::{Received, Reply, Server};

const ANSWER: &str = r#"{"choices": [{"message": {"content": "hello"}, "finish_reason": "stop"}]}"#;

fn hello() -> ModelRequest {
    ModelRequest { step: 0, messages: vec![Message::User { text: "Hi".to_owned() }], tools: Vec::new() }
}

/// One exchange with a server that has one reply; a second request would find no server.
async fn ask(reply: Reply) -> Result<ModelResponse, ModelError> {
    let server = Server::start(vec![reply]);
    let response = server.model().respond(&hello()).await;
    assert_eq!(server.finish().await.len(), 1);
    response
}

#[tokio::test]
async fn a_rate_limit_says_when_to_come_back() {
    let reply = |retry_after: &str, date: &str| {
        let headers = vec![("retry-after", retry_after.to_owned()), ("date", date.to_owned())];
        Reply::Answer(429, headers, r#"{"error": {"message": "slow down"}}"#.to_owned())
    };
    let expected = |seconds| ModelError::RateLimited {
        detail: "status 429: slow down".to_owned(),
        retry_after: Some(Duration::from_secs(seconds)),
    };
    let date = "Sun, 06 Nov 1994 08:49:37 GMT";
    assert_eq!(ask(reply("12", date)).await.unwrap_err(), expected(12));
    assert_eq!(ask(reply("Sun, 06 Nov 1994 08:49:40 GMT", date)).await.unwrap_err(), expected(3));
}

#[tokio::test]
async fn a_server_error_is_an_overload_and_is_not_retried() {
    let error = ask(Reply::json(500, r#"{"error": {"message": "boom"}}"#)).await.unwrap_err();
    assert_eq!(error, ModelError::Overloaded { detail: "status 500: boom".to_owned(), retry_after: None });
    let page = "<html><body>Bad Gateway</body></html>".to_owned();
    let error = ask(Reply::Answer(502, vec![("content-type", "text/html".to_owned())], page)).await.unwrap_err();
    assert_eq!(error, ModelError::Overloaded { detail: "status 502: no message".to_owned(), retry_after: None });
}

#[tokio::test]
async fn a_connection_lost_in_the_body_is_unreachable() {
    let reply = Reply::Bytes(b"HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n{\"choices\"".to_vec());
    assert_eq!(ask(reply).await.unwrap_err().code(), "model_unreachable");
    assert_eq!(ask(Reply::Bytes(Vec::new())).await.unwrap_err().code(), "model_unreachable");
    // Lost in the body of an error, the status still counts.
    let reply = Reply::Bytes(b"HTTP/1.1 503 No\r\ncontent-length: 1000\r\n\r\n{\"err".to_vec());
    assert_eq!(ask(reply).await.unwrap_err().code(), "model_overloaded");
}

#[tokio::test]
async fn a_server_that_is_not_there_is_unreachable() {
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let base_url = Some(format!("http://127.0.0.1:{port}/v1"));
    let options = RemoteOptions { base_url, ..RemoteOptions::new(Provider::OpenaiCompatible, "m") };
    let model = RemoteModel::with_environment(options, |_| None).unwrap();
    assert_eq!(model.respond(&hello()).await.unwrap_err().code(), "model_unreachable");
}

#[tokio::test]
async fn a_silent_server_times_out_in_the_head_and_in_the_body() {
    let half = b"HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n{\"choices\"".to_vec();
    for said in [Vec::new(), half] {
        let server = Server::start(vec![Reply::Stall(said)]);
        let options = RemoteOptions { timeout: Duration::from_millis(100), ..server.options() };
        let model = RemoteModel::with_environment(options, |_| None).unwrap();
        assert_eq!(model.respond(&hello()).await.unwrap_err(), ModelError::TimedOut);
        server.finish().await;
    }
}

#[tokio::test]
async fn a_body_over_the_limit_is_not_read() {
    let large = format!(r#"{{"choices": [], "padding": "{}"}}"#, "x".repeat(5000));
    let chunked =
        format!("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n{:x}\r\n{large}\r\n0\r\n\r\n", large.len());
    for reply in [Reply::json(200, large.clone()), Reply::Bytes(chunked.into_bytes())] {
        let server = Server::start(vec![reply]);
        let options = RemoteOptions { max_response_bytes: 4096, ..server.options() };
        let model = RemoteModel::with_environment(options, |_| None).unwrap();
        let detail = "the body is larger than 4096 bytes".to_owned();
        assert_eq!(model.respond(&hello()).await.unwrap_err(), ModelError::InvalidResponse { detail });
        server.finish().await;
    }
}

#[tokio::test]
async fn a_body_that_is_no_json_is_an_invalid_response() {
    let page = "<!doctype html><title>Welcome to the portal</title>";
    assert_eq!(ask(Reply::json(200, page)).await.unwrap_err().code(), "model_invalid_response");
    let bytes = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n\xff\xfe".to_vec();
    assert_eq!(ask(Reply::Bytes(bytes)).await.unwrap_err().code(), "model_invalid_response");
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    let target = Server::start(vec![Reply::json(200, ANSWER)]);
    let location = format!("{}/chat/completions", target.options().base_url.unwrap());
    let error = ask(Reply::Answer(307, vec![("location", location)], String::new())).await.unwrap_err();
    assert_eq!(error.code(), "model_not_configured");
    // The target's one answer is still there: nobody asked for it.
    assert!(target.model().respond(&hello()).await.is_ok());
    assert_eq!(target.finish().await.len(), 1);
}

#[tokio::test]
async fn the_key_goes_into_its_header_and_never_into_an_error() {
    let refused = r#"{"error": {"message": "Incorrect API key provided: sk-very-secret"}}"#;
    let server = Server::start(vec![Reply::json(401, refused), Reply::json(200, refused)]);
    let model = RemoteModel::with_environment(server.options(), |name| {
        (name == "OPENAI_API_KEY").then(|| "sk-very-secret\n".to_owned())
    })
    .unwrap();
    assert!(!format!("{model:?}").contains("sk-very-secret"));
    let error = model.respond(&hello()).await.unwrap_err();
    assert_eq!(
        error,
        ModelError::Unauthorized { detail: "status 401: Incorrect API key provided: [key hidden]".to_owned() }
    );
    let error = model.respond(&hello()).await.unwrap_err();
    assert!(error.to_string().contains("[key hidden]") && !error.to_string().contains("sk-very-secret"), "{error}");
    for Received { head, .. } in server.finish().await {
        assert!(head.contains("authorization: bearer sk-very-secret\r\n"), "{head}");
    }
}

#[test]
fn an_adapter_for_the_default_server_needs_a_key_only() {
    let build = |key: Option<&str>| {
        RemoteModel::with_environment(RemoteOptions::new(Provider::OpenaiCompatible, "m"), |name| {
            key.filter(|_| name == "OPENAI_API_KEY").map(str::to_owned)
        })
    };
    assert_eq!(build(Some("k")).unwrap().name(), "openai-compatible");
    let error = ModelError::from(build(None).unwrap_err());
    assert_eq!(error.code(), "model_not_configured");
    assert!(error.to_string().contains("`OPENAI_API_KEY`"), "{error}");
}

#[tokio::test]
async fn a_request_without_a_key_has_no_such_header() {
    let server = Server::start(vec![Reply::json(200, ANSWER)]);
    assert_eq!(server.model().respond(&hello()).await.unwrap().text.as_deref(), Some("hello"));
    let [Received { head, body }] = server.finish().await.try_into().unwrap();
    assert!(head.starts_with("post /v1/chat/completions http/1.1\r\n"), "{head}");
    assert!(head.contains("content-type: application/json\r\n") && !head.contains("authorization"), "{head}");
    assert_eq!(body, r#"{"model":"test-model","messages":[{"role":"user","content":"Hi"}],"stream":false}"#);
}
