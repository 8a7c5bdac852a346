//! Servers over HTTP.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use lockgate_contract::ports::BoxFuture;
use serde_json::json;
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpListener;

use super::peer::{Heard, Person, askable, call, doc, initialized, options, until};
use super::site::{Came, Reply, Site, answer, error, event, events, raw, result, serve};
use crate::client::{Bounds, ClientError, Connection, Endpoint, List, Options, Outgoing, Patience, Tokens, Transport};
use crate::wire::{Era, Version};

/// A modern server that says yes to the first question.
async fn modern(script: impl Fn(&Came) -> Reply + Send + Sync + 'static) -> Site {
    Site::new(move |came| match came.method() {
        "server/discover" => {
            result(came, &json!({ "resultType": "complete", "supportedVersions": ["2026-07-28"], "capabilities": {} }))
        }
        _ => script(came),
    })
    .await
}

/// A legacy one, with sessions.
async fn legacy(script: impl Fn(&Came) -> Reply + Send + Sync + 'static) -> Site {
    let sessions = std::sync::atomic::AtomicUsize::new(0);
    Site::new(move |came| match (came.verb.as_str(), came.method()) {
        ("POST", "server/discover") => answer(
            "400 Bad Request",
            "",
            &json!({ "jsonrpc": "2.0", "id": null, "error": { "code": -32000, "message": "Server not initialized" } }),
        ),
        ("POST", "initialize") => {
            let session = sessions.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
            let message = json!({ "jsonrpc": "2.0", "id": came.body["id"], "result": initialized("2025-11-25") });
            answer("200 OK", &format!("mcp-session-id: s-{session}\r\n"), &message)
        }
        ("POST", "notifications/initialized") => raw("202 Accepted", "", ""),
        _ => script(came),
    })
    .await
}

#[tokio::test]
async fn a_modern_request_says_in_headers_what_it_says_in_its_body() {
    let site = modern(|came| result(came, &json!({ "content": [] }))).await;
    let connection = site.open(options()).await.unwrap();
    let schema =
        json!({ "type": "object", "properties": { "region": { "type": "string", "x-mcp-header": "Region" } } });
    let mirror = crate::wire::Mirrors::of(doc(&schema).root()).unwrap().unwrap();
    let params = doc(&json!({ "name": "zürich", "arguments": { "region": "eu" } }));
    connection.request(Outgoing { mirror: Some(&mirror), params, ..call("") }).await.unwrap();
    let came = site.came("tools/call").remove(0);
    assert_eq!(came.header("mcp-protocol-version"), Some("2026-07-28"));
    assert_eq!(came.header("mcp-method"), Some("tools/call"));
    assert_eq!(came.header("mcp-name"), Some("=?base64?esO8cmljaA==?="));
    assert_eq!(came.header("mcp-param-region"), Some("eu"));
    assert_eq!(came.header("x-own"), Some("1"));
    assert_eq!(came.header("mcp-session-id"), None);
    assert!(!format!("{:?}", site.endpoint()).contains("\"1\""), "a header's value is secret");
}

#[tokio::test]
async fn an_answer_may_be_a_stream_with_progress() {
    let site = modern(|came| {
        let token = &came.body["params"]["_meta"]["progressToken"];
        events(&[
            ": alive\r\n\r\n".to_owned(),
            event(&json!({ "jsonrpc": "2.0", "method": "notifications/progress", "params": { "progressToken": token, "progress": 1 } })),
            "data: {\"jsonrpc\":\"2.0\",\ndata: \"method\":\"notifications/message\",\"params\":{\"level\":\"info\",\"data\":1}}\n\n".to_owned(),
            event(&json!({ "jsonrpc": "2.0", "id": came.body["id"], "result": { "content": [] } })),
        ])
    })
    .await;
    let connection = site.open(options()).await.unwrap();
    let person = Person::new(Ok(json!({})));
    connection.request(Outgoing { caller: Some(person.clone()), ..call("t") }).await.unwrap();
    assert_eq!(person.reports.lock().unwrap().len(), 2);
}

#[tokio::test]
async fn a_stream_that_ends_before_the_answer_is_a_lost_one_and_nothing_is_sent_again() {
    let site = modern(|_| events(&["id: 1\ndata:\n\n".to_owned()])).await;
    let connection = site.open(options()).await.unwrap();
    let error = connection.request(call("t")).await.unwrap_err();
    assert!(matches!(error, ClientError::Lost(_)), "{error:?}");
    assert_eq!((site.came("tools/call").len(), site.verbs("GET").len()), (1, 0));
}

// hermes-agent PR 88821: a call is executed again after HTTP 503
#[tokio::test]
async fn a_server_error_leaves_the_outcome_open_and_nothing_is_sent_again() {
    for (status, is_lost) in [
        ("503 Service Unavailable", true),
        ("500 Oops", true),
        ("408 Timeout", true),
        ("429 Slow down", false),
        ("403 No", false),
    ] {
        let site = modern(move |came| error(status, came, -32603)).await;
        let connection = site.open(options()).await.unwrap();
        let error = connection.request(call("t")).await.unwrap_err();
        let is_right =
            if is_lost { matches!(error, ClientError::Lost(_)) } else { matches!(error, ClientError::NotSent(_)) };
        assert!(is_right, "{status}: {error:?}");
        assert_eq!(site.came("tools/call").len(), 1);
    }
}

// Some servers derive the status from the error's code, whoever raised it.
#[tokio::test]
async fn a_status_is_no_proof_that_a_tool_was_not_reached() {
    for (status, code, of_the_request) in
        [("400 Bad Request", -32602, false), ("404 Not Found", -32601, false), ("400 Bad Request", -32020, true)]
    {
        let site = modern(move |came| error(status, came, code)).await;
        let error = site.open(options()).await.unwrap().request(call("t")).await.unwrap_err();
        assert_eq!(matches!(&error, ClientError::Refused(_)), of_the_request, "{status}: {error:?}");
        assert_eq!(error.said().map(|error| error.code), Some(code));
    }
    // What could not be read is answered without the request's id.
    let unread = json!({ "jsonrpc": "2.0", "id": null, "error": { "code": -32600, "message": "no" } });
    let site = modern(move |_| answer("400 Bad Request", "", &unread)).await;
    let error = site.open(options()).await.unwrap().request(call("t")).await.unwrap_err();
    assert!(matches!(&error, ClientError::Refused(error) if error.code == -32600), "{error:?}");
    // What no protocol says of a request is no refusal of it either.
    for (status, is_lost) in [("422 Unprocessable", true), ("409 Conflict", true), ("413 Too Large", false)] {
        let site = modern(move |_| raw(status, "", "no")).await;
        let error = site.open(options()).await.unwrap().request(call("t")).await.unwrap_err();
        assert_eq!(matches!(&error, ClientError::Lost(_)), is_lost, "{status}: {error:?}");
        assert_eq!(matches!(&error, ClientError::NotSent(_)), !is_lost, "{status}: {error:?}");
    }
}

#[tokio::test]
async fn what_is_not_reached_was_not_sent() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    drop(listener);
    let transport = Transport::Http(Endpoint { url, headers: Vec::new(), tokens: None });
    let error = Connection::open(transport, options(), Arc::new(Heard::default())).await.unwrap_err();
    assert!(matches!(error, ClientError::NotSent(_)), "{error:?}");
}

#[tokio::test]
async fn refusals_that_say_nothing_about_the_era_are_errors() {
    for status in ["403 Forbidden", "407 Proxy", "408 Timeout", "429 Slow down", "500 Oops", "503 Later"] {
        let site = Site::new(move |_| raw(status, "", "")).await;
        site.open(options()).await.unwrap_err();
        assert_eq!((site.came("initialize").len(), site.verbs("GET").len()), (0, 0), "{status}");
    }
}

#[tokio::test]
async fn a_server_that_wants_to_know_who_asks_says_how() {
    let site = Site::new(|_| raw("401 Unauthorized", "www-authenticate: Bearer scope=\"a\"\r\n", "")).await;
    let error = site.open(options()).await.unwrap_err();
    assert!(
        matches!(&error, ClientError::Unauthorized { challenge: Some(challenge) } if challenge == "Bearer scope=\"a\""),
        "{error:?}"
    );
    assert_eq!(site.log.lock().unwrap().len(), 1);
}

/// Has a token once it was challenged.
#[derive(Default)]
struct Wallet {
    challenges: Mutex<Vec<Option<String>>>,
}

impl Tokens for Wallet {
    fn token(&self) -> Option<String> {
        (!self.challenges.lock().unwrap().is_empty()).then(|| "t-1".to_owned())
    }

    fn challenged(&self, _: Option<String>, challenge: Option<String>) -> BoxFuture<'_, Result<bool, ClientError>> {
        self.challenges.lock().unwrap().push(challenge);
        Box::pin(async { Ok(true) })
    }
}

#[tokio::test]
async fn a_token_that_there_is_after_a_challenge_is_shown() {
    let site = Site::new(|came| match came.header("authorization") {
        Some("Bearer t-1") => result(came, &json!({ "supportedVersions": ["2026-07-28"], "capabilities": {} })),
        _ => raw("401 Unauthorized", "www-authenticate: Bearer\r\n", ""),
    })
    .await;
    let wallet = Arc::new(Wallet::default());
    let endpoint = Endpoint { tokens: Some(wallet.clone()), ..site.endpoint() };
    Connection::open(Transport::Http(endpoint), options(), site.heard.clone()).await.unwrap();
    assert_eq!(*wallet.challenges.lock().unwrap(), [Some("Bearer".to_owned())]);
}

#[tokio::test]
async fn tokens_are_not_fetched_without_end() {
    let site = Site::new(|_| raw("401 Unauthorized", "", "")).await;
    let wallet = Arc::new(Wallet::default());
    let endpoint = Endpoint { tokens: Some(wallet.clone()), ..site.endpoint() };
    Connection::open(Transport::Http(endpoint), options(), site.heard.clone()).await.unwrap_err();
    assert_eq!(wallet.challenges.lock().unwrap().len(), 2);
}

#[tokio::test]
async fn redirects_are_not_followed() {
    let site = Site::new(|_| raw("307 Temporary Redirect", "location: http://127.0.0.1:1/\r\n", "")).await;
    let error = site.open(options()).await.unwrap_err();
    assert!(error.to_string().contains("HTTP 307"), "{error}");
    assert_eq!(site.log.lock().unwrap().len(), 1);
}

#[tokio::test]
async fn a_dropped_modern_request_ends_its_connection_and_nothing_else_is_said() {
    let site = modern(|_| Reply { is_held: true, ..events(&[": alive\n\n".to_owned()]) }).await;
    let connection = site.open(options()).await.unwrap();
    let patience = Patience { idle: Duration::from_millis(200), absolute: Duration::from_secs(1) };
    let error = connection.request(Outgoing { patience, ..call("t") }).await.unwrap_err();
    assert!(matches!(error, ClientError::TimedOut { .. }));
    until(|| (!site.verbs("GONE").is_empty()).then_some(())).await;
    assert_eq!(site.came("notifications/cancelled").len(), 0);
}

#[tokio::test]
async fn a_slow_drip_does_not_count_as_life() {
    let drips: Vec<_> = (0..400).map(|_| ":\n".to_owned()).collect();
    let site = modern(move |_| events(&drips)).await;
    let connection = site.open(options()).await.unwrap();
    let patience = Patience { idle: Duration::from_millis(300), absolute: Duration::from_secs(5) };
    let error = connection.request(Outgoing { patience, ..call("t") }).await.unwrap_err();
    assert!(matches!(error, ClientError::TimedOut { .. }), "{error:?}");
}

#[tokio::test]
async fn events_and_bodies_without_end_are_not_read_without_end() {
    let bounds = Bounds { message: 10_000, ..Bounds::default() };
    let site = modern(|came| match came.body["params"]["name"].as_str() {
        Some("event") => events(&["data: ".to_owned(), "x".repeat(9_000), "x".repeat(9_000)]),
        Some("lines") => events(&vec!["data: y\n".repeat(1000); 20]),
        _ => raw("200 OK", "content-type: application/json\r\n", &"1".repeat(20_000)),
    })
    .await;
    let connection = site.open(Options { bounds, ..options() }).await.unwrap();
    for name in ["event", "lines", "body"] {
        let error = connection.request(call(name)).await.unwrap_err();
        assert!(
            matches!(&error, ClientError::Invalid(what) if what.contains("longer than it may be")),
            "{name}: {error:?}"
        );
    }
}

#[tokio::test]
async fn an_answer_to_something_else_is_none() {
    let site = modern(|_| answer("200 OK", "", &json!({ "jsonrpc": "2.0", "id": 999, "result": {} }))).await;
    let connection = site.open(options()).await.unwrap();
    assert!(matches!(connection.request(call("t")).await, Err(ClientError::Invalid(_))));
    assert_eq!(site.heard.shown().len(), 1);
}

#[tokio::test]
async fn a_tool_with_a_wrong_annotation_is_left_out_alone() {
    let site = modern(|came| {
        let wrong = json!({ "name": "wrong", "inputSchema": { "properties": { "a": { "type": "number", "x-mcp-header": "A" } } } });
        result(came, &json!({ "tools": [wrong, { "name": "right", "inputSchema": {} }] }))
    })
    .await;
    let connection = site.open(options()).await.unwrap();
    let listing = connection.list(List::Tools).await.unwrap();
    assert_eq!((listing.items.len(), listing.warnings.len()), (1, 1));
    assert!(listing.warnings[0].contains("`wrong`"));
}

#[tokio::test]
async fn a_legacy_session_is_named_in_every_request_and_ended() {
    let site = legacy(|came| match came.verb.as_str() {
        "DELETE" => raw("204 No Content", "", ""),
        _ => result(came, &json!({ "content": [] })),
    })
    .await;
    let connection = site.open(options()).await.unwrap();
    assert_eq!(connection.server().version, Version::V2025_11_25);
    connection.request(call("t")).await.unwrap();
    connection.close().await;
    assert_eq!(site.came("initialize")[0].header("mcp-protocol-version"), None);
    for came in [&site.came("notifications/initialized")[0], &site.came("tools/call")[0], &site.verbs("DELETE")[0]] {
        assert_eq!(came.header("mcp-session-id"), Some("s-0"), "{came:?}");
        assert_eq!(came.header("mcp-protocol-version"), Some("2025-11-25"));
    }
    assert_eq!(site.came("tools/call")[0].header("mcp-method"), None);
}

// anthropics/claude-code#55970, punkpeye/mcp-remote#106, spring-ai#3337: every call fails for ever once the server was restarted
#[tokio::test]
async fn a_session_that_is_gone_is_begun_again_once() {
    let site = legacy(|came| match came.header("mcp-session-id") {
        Some("s-0") => raw("404 Not Found", "", ""),
        _ => result(came, &json!({ "content": [] })),
    })
    .await;
    let connection = site.open(options()).await.unwrap();
    let (first, second) = tokio::join!(connection.request(call("a")), connection.request(call("b")));
    first.unwrap();
    second.unwrap();
    assert_eq!(site.came("initialize").len(), 2);

    let site = legacy(|_| raw("404 Not Found", "", "")).await;
    let connection = site.open(options()).await.unwrap();
    let error = connection.request(call("a")).await.unwrap_err();
    assert!(matches!(error, ClientError::NotSent(_)), "{error:?}");
    assert_eq!((site.came("initialize").len(), site.came("tools/call").len()), (2, 2));
}

#[tokio::test]
async fn a_legacy_stream_that_is_closed_early_is_gone_on_with_after_the_pause_that_was_asked_for() {
    let site = legacy(|came| match came.verb.as_str() {
        "POST" => events(&["id: e-1\nretry: 100\ndata:\n\n".to_owned()]),
        _ => events(&[event(&json!({ "jsonrpc": "2.0", "id": 3, "result": { "content": [] } }))]),
    })
    .await;
    let connection = site.open(options()).await.unwrap();
    let began = tokio::time::Instant::now();
    connection.request(call("t")).await.unwrap();
    assert!(began.elapsed() >= Duration::from_millis(100));
    let resumed = site.verbs("GET").remove(0);
    assert_eq!(resumed.header("last-event-id"), Some("e-1"));
    assert_eq!(resumed.header("mcp-session-id"), Some("s-0"));
    assert_eq!(site.came("tools/call").len(), 1);
}

#[tokio::test]
async fn a_legacy_servers_question_on_a_stream_is_answered_by_whoever_called() {
    let site = legacy(|came| match (came.verb.as_str(), came.method()) {
        ("POST", "tools/call") => Reply {
            pause: Duration::from_millis(300),
            ..events(&[
                event(&json!({ "jsonrpc": "2.0", "id": "q", "method": "elicitation/create", "params": { "message": "?" } })),
                event(&json!({ "jsonrpc": "2.0", "id": came.body["id"], "result": {} })),
            ])
        },
        ("POST", _) => raw("202 Accepted", "", ""),
        _ => raw("405 Method Not Allowed", "", ""),
    })
    .await;
    let connection = site.open(askable()).await.unwrap();
    let person = Person::new(Ok(json!({ "action": "accept", "content": {} })));
    connection.request(Outgoing { caller: Some(person), ..call("t") }).await.unwrap();
    let answers: Vec<_> = site.verbs("POST").into_iter().filter(|came| came.body["id"] == "q").collect();
    assert_eq!(answers[0].body["result"]["action"], "accept");
    assert_eq!(answers[0].header("mcp-session-id"), Some("s-0"));
}

async fn first_version(address: &'static str) -> Site {
    let (says, said) = tokio::sync::watch::channel(Vec::<String>::new());
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/sse", listener.local_addr().unwrap());
    let log: Arc<Mutex<Vec<Came>>> = Arc::default();
    let (kept, says) = (log.clone(), Arc::new(says));
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let (kept, mut said, says) = (kept.clone(), said.clone(), says.clone());
            tokio::spawn(async move {
                let mut first = [0; 4];
                stream.peek(&mut first).await.unwrap();
                if &first == b"GET " {
                    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n";
                    stream.write_all(format!("{head}event: endpoint\ndata: {address}\n\n").as_bytes()).await.unwrap();
                    let mut told = 0;
                    while said.changed().await.is_ok() {
                        let all = said.borrow_and_update().clone();
                        for line in &all[told..] {
                            stream.write_all(line.as_bytes()).await.unwrap();
                        }
                        told = all.len();
                    }
                    return;
                }
                let script = |came: &Came| {
                    let result = match (came.path.as_str(), came.method()) {
                        ("/sse", _) => return raw("405 Method Not Allowed", "", ""),
                        (_, "initialize") => initialized("2024-11-05"),
                        _ => json!({ "content": [] }),
                    };
                    let message = json!({ "jsonrpc": "2.0", "id": came.body["id"], "result": result });
                    if came.body.get("id").is_some() {
                        says.send_modify(|said| said.push(event(&message)));
                    }
                    raw("202 Accepted", "", "")
                };
                serve(stream, &script, &kept).await;
            });
        }
    });
    Site { url, log, heard: Arc::default() }
}

#[tokio::test]
async fn a_server_of_the_first_version_is_spoken_with() {
    let site = first_version("/messages?session=1").await;
    let connection = site.open(options()).await.unwrap();
    assert_eq!(connection.server().version, Version::V2024_11_05);
    connection.request(call("t")).await.unwrap();
    assert_eq!(site.came("tools/call")[0].path, "/messages?session=1");
}

#[tokio::test]
async fn messages_go_to_no_other_origin() {
    let site = first_version("http://127.0.0.1:1/messages").await;
    site.open(Options { era: Some(Era::Legacy), ..options() }).await.unwrap_err();
    assert!(site.log.lock().unwrap().iter().all(|came| came.path == "/sse"));
}
