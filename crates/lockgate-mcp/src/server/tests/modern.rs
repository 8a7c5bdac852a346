//! Requests of 2026-07-28.

use ::http::StatusCode;
use serde_json::{Value, json};

use super::fixture::{Fixture, endpoint, endpoint_with, modern, next, plain, principal, request, send, tool};
use crate::server::http::Options;
use crate::wire::{code, key};

/// A request whose `_meta` is this.
async fn with_meta(meta: Value) -> super::fixture::Reply {
    send(&endpoint(&Fixture::new()), request("tools/list", &json!({"_meta": meta}))).await
}

#[tokio::test]
async fn discover_says_what_can_be_asked_and_by_which_version() {
    let reply = send(&endpoint(&Fixture::new()), request("server/discover", &modern(json!({})))).await;
    assert_eq!(reply.status, StatusCode::OK);
    let result = &reply.json()["result"];
    assert_eq!(result["supportedVersions"], json!(["2026-07-28"]));
    assert_eq!(result["resultType"], "complete");
    assert_eq!((&result["ttlMs"], &result["cacheScope"]), (&json!(0), &json!("private")));
    assert_eq!(result["instructions"], "Be kind.");
    assert_eq!(result["_meta"][key::SERVER_INFO]["name"], "fixture");
    assert_eq!(result["capabilities"]["tools"]["listChanged"], true);
}

#[tokio::test]
async fn what_every_request_has_to_say_is_asked_for() {
    for meta in [
        json!({}),
        json!({key::CLIENT_CAPABILITIES: {}}),
        json!({key::PROTOCOL_VERSION: "2026-07-28"}),
        json!({key::PROTOCOL_VERSION: "2026-07-28", key::CLIENT_CAPABILITIES: []}),
        json!({key::PROTOCOL_VERSION: "2026-07-28", key::CLIENT_CAPABILITIES: {}, key::LOG_LEVEL: "loud"}),
    ] {
        let reply = with_meta(meta.clone()).await;
        assert_eq!((reply.status, reply.code()), (StatusCode::BAD_REQUEST, code::INVALID_PARAMS), "{meta}");
        assert_eq!(reply.json()["id"], 1);
    }
    // Who sends it is for display: nobody needs it.
    let reply = with_meta(json!({key::PROTOCOL_VERSION: "2026-07-28", key::CLIENT_CAPABILITIES: {}})).await;
    assert_eq!(reply.status, StatusCode::OK);
}

#[tokio::test]
async fn a_version_that_is_not_spoken_is_answered_with_those_that_are() {
    let mut request = request("tools/list", &json!({"_meta": {key::PROTOCOL_VERSION: "2031-01-01"}}));
    request.headers_mut().insert("mcp-protocol-version", "2031-01-01".parse().unwrap());
    let reply = send(&endpoint(&Fixture::new()), request).await;
    assert_eq!((reply.status, reply.code()), (StatusCode::BAD_REQUEST, code::UNSUPPORTED_VERSION));
    let data = &reply.json()["error"]["data"];
    assert_eq!(data, &json!({"supported": ["2026-07-28"], "requested": "2031-01-01"}));
}

#[tokio::test]
async fn headers_say_what_the_body_says_or_nothing_runs() {
    let fixture = Fixture::new();
    let endpoint = endpoint(&fixture);
    for (header, value) in [
        ("mcp-protocol-version", Some("2025-11-25")),
        ("mcp-protocol-version", None),
        ("mcp-method", Some("TOOLS/CALL")),
        ("mcp-method", Some("tools/list")),
        ("mcp-method", None),
        ("mcp-name", Some("other")),
        ("mcp-name", None),
        ("mcp-name", Some("=?base64?!?=")),
    ] {
        let mut request = request("tools/call", &tool("fail"));
        request.headers_mut().remove(header);
        if let Some(value) = value {
            request.headers_mut().insert(header, value.parse().unwrap());
        }
        let reply = send(&endpoint, request).await;
        assert_eq!(
            (reply.status, reply.code()),
            (StatusCode::BAD_REQUEST, code::HEADER_MISMATCH),
            "{header} {value:?}"
        );
    }
    // Twice is no agreement, whatever the second says.
    let mut twice = request("tools/call", &tool("fail"));
    twice.headers_mut().append("mcp-name", "fail".parse().unwrap());
    assert_eq!(send(&endpoint, twice).await.code(), code::HEADER_MISMATCH);
    assert!(fixture.asked("tools/call").is_empty());
    for value in ["  fail ", "=?base64?ZmFpbA==?="] {
        let mut request = request("tools/call", &tool("fail"));
        request.headers_mut().insert("mcp-name", value.parse().unwrap());
        assert_eq!(send(&endpoint, request).await.status, StatusCode::OK, "{value}");
    }
    let uri = request("resources/read", &modern(json!({"uri": "a:b"})));
    assert_eq!(send(&endpoint, uri).await.status, StatusCode::OK);
}

#[tokio::test]
async fn mirrored_arguments_are_compared_too() {
    let fixture = Fixture::new();
    let endpoint = endpoint(&fixture);
    let call = |region: Option<&str>, count: Option<&str>| {
        let arguments = json!({"region": "Zürich", "options": {"count": 7}});
        let mut request = request("tools/call", &modern(json!({"name": "echo", "arguments": arguments})));
        for (header, value) in [("mcp-param-region", region), ("mcp-param-count", count)] {
            if let Some(value) = value {
                request.headers_mut().insert(header, value.parse().unwrap());
            }
        }
        request
    };
    let encoded = Some("=?base64?WsO8cmljaA==?=");
    assert_eq!(send(&endpoint, call(encoded, Some("7.0"))).await.status, StatusCode::OK);
    for (region, count) in [(encoded, None), (encoded, Some("8")), (Some("Bern"), Some("7")), (None, Some("7"))] {
        let reply = send(&endpoint, call(region, count)).await;
        assert_eq!((reply.status, reply.code()), (StatusCode::BAD_REQUEST, code::HEADER_MISMATCH));
    }
    // A header about nothing that the arguments have.
    let mut request = request("tools/call", &modern(json!({"name": "echo", "arguments": {"region": null}})));
    assert_eq!(fixture.asked("tools/call").len(), 1);
    request.headers_mut().insert("mcp-param-region", "Bern".parse().unwrap());
    assert_eq!(send(&endpoint, request).await.code(), code::HEADER_MISMATCH);
}

#[tokio::test]
async fn methods_that_are_gone_or_never_were_are_not_found() {
    let endpoint = endpoint(&Fixture::new());
    for method in [
        "initialize",
        "ping",
        "logging/setLevel",
        "resources/subscribe",
        "resources/unsubscribe",
        "tasks/list",
        "tasks/result",
        "unknown/method",
    ] {
        let reply = send(&endpoint, request(method, &modern(json!({"level": "info"})))).await;
        assert_eq!((reply.status, reply.code()), (StatusCode::NOT_FOUND, code::METHOD_NOT_FOUND), "{method}");
    }
}

#[tokio::test]
async fn only_post_is_there_for_modern_clients() {
    let endpoint = endpoint(&Fixture::new());
    for method in ["GET", "DELETE", "PUT"] {
        let mut request = request("ping", &modern(json!({})));
        *request.method_mut() = method.parse().unwrap();
        let reply = send(&endpoint, request).await;
        assert_eq!(reply.status, StatusCode::METHOD_NOT_ALLOWED);
        assert_eq!(reply.headers["allow"], "POST");
    }
    // No session is made, and none is looked at.
    let mut request = request("tools/list", &modern(json!({})));
    request.headers_mut().insert("mcp-session-id", "nonsense".parse().unwrap());
    let reply = send(&endpoint, request).await;
    assert_eq!(reply.status, StatusCode::OK);
    assert!(!reply.headers.contains_key("mcp-session-id"));
}

#[tokio::test]
async fn notifications_are_taken_and_answers_are_not() {
    let endpoint = endpoint(&Fixture::new());
    let mut note = plain(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}));
    note.headers_mut().insert("mcp-protocol-version", "2026-07-28".parse().unwrap());
    let reply = send(&endpoint, note).await;
    assert_eq!((reply.status, reply.text.as_str()), (StatusCode::ACCEPTED, ""));
    let mut answer = plain(&json!({"jsonrpc": "2.0", "id": 1, "result": {}}));
    answer.headers_mut().insert("mcp-protocol-version", "2026-07-28".parse().unwrap());
    assert_eq!(send(&endpoint, answer).await.status, StatusCode::BAD_REQUEST);
}

#[tokio::test]
async fn what_may_be_cached_says_so_and_is_private_whatever_the_service_says() {
    let endpoint = endpoint(&Fixture::new());
    let read = send(&endpoint, request("resources/read", &modern(json!({"uri": "a:b"})))).await.json();
    assert_eq!((&read["result"]["ttlMs"], &read["result"]["cacheScope"]), (&json!(500), &json!("private")));
    let list = send(&endpoint, request("tools/list", &modern(json!({})))).await.json();
    assert_eq!((&list["result"]["ttlMs"], &list["result"]["cacheScope"]), (&json!(0), &json!("private")));
    let call = send(&endpoint, request("tools/call", &tool("fail"))).await.json();
    assert_eq!(call["result"].get("ttlMs"), None);
    assert_eq!(call["result"]["resultType"], "complete");
}

#[tokio::test]
async fn errors_of_the_service_keep_their_data_and_get_their_status() {
    let endpoint = endpoint(&Fixture::new());
    let unknown = send(&endpoint, request("tools/call", &tool("nothing"))).await;
    assert_eq!((unknown.status, unknown.code()), (StatusCode::OK, code::INVALID_PARAMS));
    let mut params = tool("ask");
    params["_meta"][key::CLIENT_CAPABILITIES] = json!({});
    let cannot = send(&endpoint, request("tools/call", &params)).await;
    assert_eq!((cannot.status, cannot.code()), (StatusCode::BAD_REQUEST, code::MISSING_CAPABILITY));
}

#[tokio::test]
async fn progress_and_log_come_before_the_answer_and_only_to_those_who_want_them() {
    let endpoint = endpoint(&Fixture::new());
    let silent = send(&endpoint, request("tools/call", &tool("progress"))).await;
    assert!(!silent.is_stream(), "nobody asked for progress");
    let wanted = modern(json!({"name": "progress", "_meta": {"progressToken": 7}}));
    let told = send(&endpoint, request("tools/call", &wanted)).await;
    assert!(told.is_stream());
    assert_eq!(told.headers["x-accel-buffering"], "no");
    let messages = told.messages();
    let progress: Vec<_> = messages.iter().map(|message| message["params"]["progress"].clone()).collect();
    assert_eq!(progress, [json!(1), json!(2), json!(3), Value::Null]);
    assert!(messages[..3].iter().all(|message| message["params"]["progressToken"] == 7));
    assert_eq!(messages[3]["id"], 1);

    assert!(!send(&endpoint, request("tools/call", &tool("log"))).await.is_stream());
    let wanted = modern(json!({"name": "log", "_meta": {key::LOG_LEVEL: "info"}}));
    let told = send(&endpoint, request("tools/call", &wanted)).await.messages();
    let levels: Vec<_> = told.iter().map(|message| message["params"]["level"].clone()).collect();
    assert_eq!(levels, [json!("info"), json!("error"), Value::Null]);
}

#[tokio::test]
async fn a_client_that_reads_no_streams_gets_the_answer_alone() {
    let endpoint = endpoint(&Fixture::new());
    let mut call = request("tools/call", &modern(json!({"name": "progress", "_meta": {"progressToken": 7}})));
    call.headers_mut().insert("accept", "application/json".parse().unwrap());
    let reply = send(&endpoint, call).await;
    assert!(!reply.is_stream());
    assert_eq!(reply.json()["id"], 1);
    let mut listen = request("subscriptions/listen", &modern(json!({"notifications": {}})));
    listen.headers_mut().insert("accept", "application/json".parse().unwrap());
    assert_eq!(send(&endpoint, listen).await.status, StatusCode::NOT_ACCEPTABLE);
    // And one that would rather have a stream gets one.
    let mut call = request("tools/call", &tool("fail"));
    call.headers_mut().insert("accept", "text/event-stream, application/json;q=0.5".parse().unwrap());
    let reply = send(&endpoint, call).await;
    assert_eq!((reply.is_stream(), reply.messages().len()), (true, 1));
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_takes_long_becomes_a_stream_with_signs_of_life() {
    let fixture = Fixture::new();
    let endpoint = endpoint_with(&fixture, Options::default());
    let response = endpoint.answer(request("tools/call", &tool("hold")), principal("anna")).await;
    assert_eq!(response.headers()["content-type"], "text/event-stream");
    let mut body = response.into_body();
    let comment = http_body_util::BodyExt::frame(&mut body).await.unwrap().unwrap().into_data().unwrap();
    assert!(comment.starts_with(b":"), "{comment:?}");
    fixture.release.notify_one();
    assert_eq!(next(&mut body).await.unwrap()["result"]["content"][0]["text"], "released");
    assert!(next(&mut body).await.is_none());
}

#[tokio::test]
async fn a_panic_of_the_service_is_an_error_and_nothing_else() {
    let reply = send(&endpoint(&Fixture::new()), request("tools/call", &tool("panic"))).await;
    assert_eq!((reply.status, reply.code()), (StatusCode::OK, code::INTERNAL_ERROR));
    assert!(!reply.text.contains("as it was told"));
}

#[tokio::test]
async fn tasks_are_for_those_who_can_follow_them() {
    let endpoint = endpoint(&Fixture::new());
    for reply in [
        send(&endpoint, request("tools/call", &tool("task"))).await,
        send(&endpoint, request("tasks/get", &modern(json!({"taskId": "t-1"})))).await,
    ] {
        assert_eq!((reply.status, reply.code()), (StatusCode::BAD_REQUEST, code::MISSING_CAPABILITY));
        let needed = &reply.json()["error"]["data"]["requiredCapabilities"];
        assert_eq!(needed, &json!({"extensions": {key::TASKS: {}}}));
    }
    let follows = json!({key::CLIENT_CAPABILITIES: {"extensions": {key::TASKS: {}}}});
    let call = send(&endpoint, request("tools/call", &modern(json!({"name": "task", "_meta": follows})))).await.json();
    assert_eq!(call["result"]["resultType"], "task");
    let params = modern(json!({"taskId": "t-1", "_meta": follows}));
    let get = send(&endpoint, request("tasks/get", &params)).await.json();
    assert_eq!((&get["result"]["resultType"], &get["result"]["status"]), (&json!("complete"), &json!("working")));
    let mut other = request("tasks/get", &params);
    other.headers_mut().insert("mcp-name", "t-2".parse().unwrap());
    assert_eq!(send(&endpoint, other).await.code(), code::HEADER_MISMATCH);
}

#[tokio::test]
async fn what_is_passed_on_beside_the_parameters_belongs_to_no_hop() {
    let beside = json!({"traceparent": "00-1-2-01", "example.com/a": 1, "progressToken": 1});
    let call = request("tools/call", &modern(json!({"name": "beside", "_meta": beside})));
    let reply = send(&endpoint(&Fixture::new()), call).await.json();
    assert_eq!(
        reply["result"],
        json!({
            "traceparent": "00-1-2-01", "example.com/a": 1, "resultType": "complete",
            "_meta": {key::SERVER_INFO: {"name": "fixture", "version": "1"}},
        })
    );
}
