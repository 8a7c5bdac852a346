//! Sessions: 2024-11-05 to 2025-11-25 over HTTP.

use ::http::{Request, StatusCode};
use serde_json::{Value, json};

use super::fixture::{Fixture, Reply, SOON, document, endpoint, endpoint_with, next, plain, principal, send, updated};
use crate::client::List;
use crate::server::Change;
use crate::server::http::{Body, Endpoint, Options};
use crate::wire::code;

/// A session at an endpoint.
pub(super) struct Client<'a> {
    pub(super) endpoint: &'a Endpoint,
    pub(super) session: String,
    credential: &'a str,
}

pub(super) fn initialize(version: &str, capabilities: &Value) -> Request<Body> {
    plain(&json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": version, "capabilities": capabilities, "clientInfo": {"name": "test", "version": "1"},
    }}))
}

impl<'a> Client<'a> {
    pub(super) async fn begin(endpoint: &'a Endpoint, version: &str, capabilities: &Value) -> Self {
        let reply = send(endpoint, initialize(version, capabilities)).await;
        assert_eq!(reply.json()["result"]["protocolVersion"], version);
        let session = reply.headers["mcp-session-id"].to_str().unwrap().to_owned();
        Self { endpoint, session, credential: "anna" }
    }

    pub(super) fn message(&self, message: &Value) -> Request<Body> {
        let mut request = plain(message);
        request.headers_mut().insert("mcp-session-id", self.session.parse().unwrap());
        request
    }

    pub(super) fn request(&self, method: &str, params: &Value) -> Request<Body> {
        self.message(&json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}))
    }

    pub(super) async fn ask(&self, method: &str, params: &Value) -> Reply {
        Reply::of(self.endpoint.answer(self.request(method, params), principal(self.credential)).await).await
    }

    /// The body of a stream that goes on.
    async fn open(&self, request: Request<Body>) -> Body {
        let response = self.endpoint.answer(request, principal(self.credential)).await;
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        response.into_body()
    }

    fn get(&self, last: Option<&str>) -> Request<Body> {
        let mut request = self.message(&json!({}));
        *request.method_mut() = "GET".parse().unwrap();
        if let Some(last) = last {
            request.headers_mut().insert("last-event-id", last.parse().unwrap());
        }
        request
    }
}

#[tokio::test]
async fn a_session_is_needed_and_is_its_owners() {
    let endpoint = endpoint(&Fixture::new());
    let client = Client::begin(&endpoint, "2025-11-25", &json!({})).await;
    assert!(client.session.len() >= 43 && client.session.bytes().all(|byte| byte.is_ascii_graphic()));
    assert_eq!(client.ask("ping", &json!({})).await.json()["result"], json!({}));

    let missing = send(&endpoint, plain(&json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}))).await;
    assert_eq!((missing.status, missing.code()), (StatusCode::BAD_REQUEST, code::INVALID_REQUEST));
    let stranger = Client { credential: "berta", session: client.session.clone(), ..client };
    assert_eq!(stranger.ask("ping", &json!({})).await.status, StatusCode::NOT_FOUND);
    let mut wrong = client.request("ping", &json!({}));
    wrong.headers_mut().insert("mcp-protocol-version", "1999-01-01".parse().unwrap());
    assert_eq!(send(&endpoint, wrong).await.status, StatusCode::BAD_REQUEST);

    let note = client.message(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    assert_eq!(send(&endpoint, note).await.status, StatusCode::ACCEPTED);
    assert_eq!(client.ask("initialize", &json!({"protocolVersion": "2025-11-25"})).await.status, StatusCode::OK);

    let mut end = client.message(&json!({}));
    *end.method_mut() = "DELETE".parse().unwrap();
    assert_eq!(send(&endpoint, end).await.status, StatusCode::NO_CONTENT);
    assert_eq!(client.ask("ping", &json!({})).await.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn results_are_as_that_era_knows_them() {
    let fixture = Fixture::new();
    let endpoint = endpoint(&fixture);
    let reply = send(&endpoint, initialize("2025-06-18", &json!({}))).await.json();
    assert_eq!(reply["result"]["serverInfo"]["name"], "fixture");
    assert_eq!(reply["result"]["instructions"], "Be kind.");
    assert_eq!(reply["result"]["capabilities"].get("extensions"), None);
    assert_eq!(reply["result"].get("resultType"), None);

    let client = Client::begin(&endpoint, "2025-06-18", &json!({})).await;
    let read = client.ask("resources/read", &json!({"uri": "a:b"})).await.text;
    assert_eq!(read, r#"{"jsonrpc":"2.0","id":1,"result":{"contents":[]}}"#);
    let task = client.ask("tools/call", &json!({"name": "task"})).await;
    assert_eq!(task.code(), code::MISSING_CAPABILITY, "no client of that era can follow it");
    for method in ["tasks/get", "server/other", "subscriptions/listen"] {
        let reply = client.ask(method, &json!({})).await;
        assert_eq!((reply.status, reply.code()), (StatusCode::OK, code::METHOD_NOT_FOUND));
    }
}

#[tokio::test]
async fn questions_are_requests_on_the_calls_own_stream() {
    let fixture = Fixture::new();
    let endpoint = endpoint(&fixture);
    let client = Client::begin(&endpoint, "2025-11-25", &json!({"elicitation": {"form": {}, "url": {}}})).await;
    let mut body = client.open(client.request("tools/call", &json!({"name": "ask_two"}))).await;
    for content in [json!({"a": 1}), json!({"b": 2})] {
        let question = next(&mut body).await.unwrap();
        assert_eq!(question["method"], "elicitation/create");
        let answer =
            json!({"jsonrpc": "2.0", "id": question["id"], "result": {"action": "accept", "content": content}});
        // An answer to nothing changes nothing, and neither does a second one.
        for answer in [&json!({"jsonrpc": "2.0", "id": 4711, "result": {}}), &answer, &answer] {
            assert_eq!(send(&endpoint, client.message(answer)).await.status, StatusCode::ACCEPTED);
        }
    }
    let done = next(&mut body).await.unwrap();
    assert_eq!(
        done["result"]["content"][0]["text"],
        r#"{"name":{"action":"accept","content":{"a":1}},"color":{"action":"accept","content":{"b":2}}}"#
    );
    // That era's URLs have ids.
    let mut body = client.open(client.request("tools/call", &json!({"name": "ask_by_url"}))).await;
    let question = next(&mut body).await.unwrap();
    assert!(question["params"]["elicitationId"].is_string());
    let refusal = json!({"jsonrpc": "2.0", "id": question["id"], "error": {"code": -1, "message": "no"}});
    send(&endpoint, client.message(&refusal)).await;
    assert_eq!(next(&mut body).await.unwrap()["error"]["code"], code::MISSING_CAPABILITY);
}

#[tokio::test]
async fn nothing_is_asked_that_was_not_declared_or_is_not_known_yet() {
    let endpoint = endpoint(&Fixture::new());
    for (version, declared, name) in [
        ("2025-11-25", json!({}), "ask"),
        ("2025-11-25", json!({"elicitation": {}}), "ask_by_url"),
        ("2025-06-18", json!({"elicitation": {"url": {}}}), "ask_by_url"),
        ("2025-03-26", json!({"elicitation": {}}), "ask"),
        ("2025-11-25", json!({"elicitation": {}}), "ask_model"),
    ] {
        let client = Client::begin(&endpoint, version, &declared).await;
        let reply = client.ask("tools/call", &json!({"name": name})).await;
        assert_eq!(reply.code(), code::MISSING_CAPABILITY, "{version} {declared} {name}");
    }
}

#[tokio::test]
async fn log_messages_are_of_the_level_that_was_set() {
    let endpoint = endpoint(&Fixture::new());
    let client = Client::begin(&endpoint, "2025-11-25", &json!({})).await;
    assert_eq!(client.ask("logging/setLevel", &json!({"level": "loud"})).await.code(), code::INVALID_PARAMS);
    assert_eq!(client.ask("logging/setLevel", &json!({"level": "error"})).await.json()["result"], json!({}));
    let reply = client.ask("tools/call", &json!({"name": "log"})).await;
    assert!(reply.text.starts_with("id: 1-0\nretry: 1000\ndata: \n\n"), "{}", reply.text);
    let levels: Vec<_> = reply.messages().iter().map(|message| message["params"]["level"].clone()).collect();
    assert_eq!(levels, [json!("error"), Value::Null]);
}

#[tokio::test]
async fn a_call_is_cancelled_by_a_message_and_not_by_a_lost_connection() {
    let fixture = Fixture::new();
    let endpoint = endpoint(&fixture);
    let client = Client::begin(&endpoint, "2025-11-25", &json!({})).await;
    let mut call = client.request("tools/call", &json!({"name": "hold", "_meta": {"progressToken": 1}}));
    call.headers_mut().insert("accept", "text/event-stream".parse().unwrap());
    let body = client.open(call).await;
    drop(body);
    fixture.release.notify_one();
    // The stream is read on where it broke off; the answer is there.
    let mut body = client.open(client.get(Some("1-0"))).await;
    assert_eq!(next(&mut body).await.unwrap()["result"]["content"][0]["text"], "released");
    assert!(next(&mut body).await.is_none());
    assert_eq!(send(&endpoint, client.get(Some("99-0"))).await.status, StatusCode::BAD_REQUEST);

    let mut call = client.request("tools/call", &json!({"name": "wait"}));
    call.headers_mut().insert("accept", "text/event-stream".parse().unwrap());
    let _body = client.open(call).await;
    let cancel = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}});
    send(&endpoint, client.message(&cancel)).await;
    tokio::time::timeout(SOON, fixture.cancelled.notified()).await.unwrap();
}

/// openai/codex#33266 and its like, from the other side: whoever listens is told of changes.
#[tokio::test]
async fn what_belongs_to_no_request_comes_on_the_stream_that_get_opens() {
    let fixture = Fixture::new();
    let endpoint = endpoint(&fixture);
    let client = Client::begin(&endpoint, "2025-11-25", &json!({})).await;
    let mut body = client.open(client.get(None)).await;
    client.ask("resources/subscribe", &json!({"uri": "a:b"})).await;
    client.ask("resources/subscribe", &json!({"uri": "a:c"})).await;
    client.ask("resources/unsubscribe", &json!({"uri": "a:c"})).await;
    assert_eq!(client.ask("resources/subscribe", &json!({"uri": "a:secret"})).await.code(), code::INVALID_PARAMS);
    for change in [
        updated(r#"{"uri":"a:c"}"#),
        updated(r#"{"uri":"a:secret"}"#),
        updated(r#"{"uri":"a:b"}"#),
        Change::List(List::Tools),
        Change::Log(document(r#"{"level":"debug","data":1}"#)),
        Change::Log(document(r#"{"level":"error","data":2}"#)),
    ] {
        fixture.changes.send(change).unwrap();
    }
    assert_eq!(next(&mut body).await.unwrap()["params"]["uri"], "a:b");
    assert_eq!(next(&mut body).await.unwrap()["method"], "notifications/tools/list_changed");
    drop(body);
    // What is said meanwhile waits, and nothing comes twice.
    let mut body = client.open(client.get(None)).await;
    assert_eq!(next(&mut body).await.unwrap()["params"]["data"], 2);
    // A later connection takes over; the one before ends.
    let mut later = client.open(client.get(None)).await;
    assert!(next(&mut body).await.is_none());
    fixture.changes.send(Change::List(List::ResourceTemplates)).unwrap();
    assert_eq!(next(&mut later).await.unwrap()["method"], "notifications/resources/list_changed");
}

#[tokio::test]
async fn a_session_that_nobody_reads_keeps_a_bounded_number_of_messages_and_says_that_some_were_missed() {
    let fixture = Fixture::new();
    let endpoint = endpoint(&fixture);
    let client = Client::begin(&endpoint, "2025-11-25", &json!({})).await;
    drop(client.open(client.get(None)).await);
    for _ in 0..1000 {
        fixture.changes.send(Change::List(List::Prompts)).unwrap();
        tokio::task::yield_now().await;
    }
    let mut body = client.open(client.get(None)).await;
    let mut told = Vec::new();
    while !told.contains(&json!("notifications/tools/list_changed")) {
        told.push(next(&mut body).await.unwrap()["method"].take());
    }
    assert!(told.len() < 300, "{}", told.len());
}

// A client that says twice that it listens, or leaves twice, counts once.
#[tokio::test]
async fn a_session_listens_once_however_often_it_says_so() {
    let fixture = Fixture::new();
    let endpoint = endpoint(&fixture);
    let [one, other] = [
        Client::begin(&endpoint, "2025-11-25", &json!({})).await,
        Client::begin(&endpoint, "2025-06-18", &json!({})).await,
    ];
    let count = || fixture.listeners.lock().unwrap().len();
    for client in [&one, &one, &other] {
        client.ask("resources/subscribe", &json!({"uri": "a:b"})).await;
    }
    assert_eq!(count(), 2);
    for _ in 0..2 {
        assert_eq!(one.ask("resources/unsubscribe", &json!({"uri": "a:b"})).await.json()["result"], json!({}));
        assert_eq!(count(), 1, "the other one still listens");
    }
    assert_eq!(one.ask("resources/unsubscribe", &json!({})).await.code(), code::INVALID_PARAMS);
    other.ask("resources/unsubscribe", &json!({"uri": "a:b"})).await;
    assert_eq!(count(), 0);
    for n in 0..1024 {
        one.ask("resources/subscribe", &json!({"uri": format!("a:{n}")})).await;
    }
    assert_eq!(one.ask("resources/subscribe", &json!({"uri": "a:b"})).await.code(), code::INVALID_PARAMS);
    assert_eq!(count(), 1024);
}

#[tokio::test]
async fn what_belongs_to_a_user_is_told_to_nobody_else() {
    let fixture = Fixture::new();
    let endpoint = endpoint(&fixture);
    let client = Client::begin(&endpoint, "2025-11-25", &json!({})).await;
    let mut body = client.open(client.get(None)).await;
    client.ask("resources/subscribe", &json!({"uri": "a:b"})).await;
    let subject = principal("anna").subject;
    for (user, n) in [("somebody else", 1), (subject.user.as_str(), 2)] {
        let params = document(&format!(r#"{{"uri":"a:b","n":{n}}}"#));
        let user = Some((subject.tenant.clone(), user.to_owned()));
        fixture.changes.send(Change::Resource { params, user }).unwrap();
    }
    assert_eq!(next(&mut body).await.unwrap()["params"]["n"], 2);
}

#[tokio::test(start_paused = true)]
async fn idle_sessions_end_and_give_their_subscriptions_back() {
    let fixture = Fixture::new();
    let endpoint = endpoint_with(&fixture, Options::default());
    let client = Client::begin(&endpoint, "2025-11-25", &json!({})).await;
    client.ask("resources/subscribe", &json!({"uri": "a:b"})).await;
    assert_eq!(fixture.listeners.lock().unwrap().len(), 1);
    tokio::time::advance(Options::default().session_idle).await;
    assert_eq!(client.ask("ping", &json!({})).await.status, StatusCode::NOT_FOUND);
    tokio::time::timeout(SOON, async {
        while !fixture.listeners.lock().unwrap().is_empty() {
            tokio::time::sleep(std::time::Duration::from_millis(1)).await;
        }
    })
    .await
    .unwrap();
}
