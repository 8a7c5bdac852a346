//! What went wrong elsewhere, and must not here.

use ::http::StatusCode;
use serde_json::json;

use super::fixture::{Fixture, SOON, endpoint, endpoint_with, modern, next, principal, request, send, tool};
use super::legacy::{Client, initialize};
use crate::server::http::Options;

/// dcc-mcp-core#2432: `initialize` must not agree on a version that has no handshake.
#[tokio::test]
async fn initialize_never_agrees_on_a_version_without_a_handshake() {
    let endpoint = endpoint(&Fixture::new());
    for asked in ["2026-07-28", "2031-01-01", "nonsense"] {
        let reply = send(&endpoint, initialize(asked, &json!({}))).await;
        assert_eq!(reply.json()["result"]["protocolVersion"], "2025-11-25", "{asked}");
    }
}

/// `mcp_agent_mail_rust#321`: versions between the first and the last are spoken too.
#[tokio::test]
async fn every_version_with_a_handshake_is_agreed_on() {
    let endpoint = endpoint(&Fixture::new());
    for version in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        let client = Client::begin(&endpoint, version, &json!({})).await;
        let reply = client.ask("tools/call", &json!({"name": "who"})).await.json();
        assert_eq!(reply["result"]["content"][0]["text"], format!("anna {version}"));
    }
}

/// prowler PR 12235, obot#7929, kagent-dev/tools#84: sessions that nobody ends must not pile up.
#[tokio::test(start_paused = true)]
async fn sessions_are_bounded_and_the_longest_idle_one_makes_room() {
    let fixture = Fixture::new();
    let endpoint = endpoint_with(&fixture, Options { sessions_each: 2, sessions: 3, ..Options::default() });
    let mut clients = Vec::new();
    for _ in 0..2 {
        clients.push(Client::begin(&endpoint, "2025-11-25", &json!({})).await);
        tokio::time::advance(std::time::Duration::from_secs(1)).await;
    }
    // The first is used again, so the second is the longest idle one.
    assert_eq!(clients[0].ask("ping", &json!({})).await.status, StatusCode::OK);
    clients.push(Client::begin(&endpoint, "2025-11-25", &json!({})).await);
    let there = |client: &Client<'_>| client.request("ping", &json!({}));
    let mut statuses = Vec::new();
    for client in &clients {
        statuses.push(send(&endpoint, there(client)).await.status.as_u16());
    }
    assert_eq!(statuses, [200, 404, 200]);
    // Somebody else's sessions do not make room for a principal that has too many.
    for _ in 0..100 {
        assert_eq!(send(&endpoint, initialize("2025-11-25", &json!({}))).await.status, StatusCode::OK);
    }
    let other = endpoint.answer(initialize("2025-11-25", &json!({})), principal("berta")).await;
    assert_eq!(other.status(), StatusCode::OK);
}

/// The same, where all are in use: nobody who is at work is thrown out.
#[tokio::test]
async fn sessions_in_use_are_not_ended_for_another() {
    let fixture = Fixture::new();
    let endpoint = endpoint_with(&fixture, Options { sessions_each: 1, ..Options::default() });
    let client = Client::begin(&endpoint, "2025-11-25", &json!({})).await;
    let mut call = client.request("tools/call", &json!({"name": "hold"}));
    call.headers_mut().insert("accept", "text/event-stream".parse().unwrap());
    let mut body = endpoint.answer(call, principal("anna")).await.into_body();
    fixture.began.notified().await;
    let refused = send(&endpoint, initialize("2025-11-25", &json!({}))).await;
    assert_eq!(refused.status, StatusCode::SERVICE_UNAVAILABLE);
    fixture.release.notify_one();
    assert!(next(&mut body).await.unwrap()["result"].is_object());
}

/// typescript-sdk#2650: nobody holds a connection open for nothing.
#[tokio::test]
async fn listening_to_nothing_ends_at_once() {
    let endpoint = endpoint(&Fixture::with(json!({"tools": {}})));
    let params = modern(json!({"notifications": {"toolsListChanged": true, "resourceSubscriptions": ["a:b"]}}));
    let reply = send(&endpoint, request("subscriptions/listen", &params)).await;
    let messages = reply.messages();
    assert_eq!(messages.len(), 2);
    assert_eq!(messages[0]["params"]["notifications"], json!({}));
    assert_eq!(messages[1]["result"]["resultType"], "complete");
}

/// openai/codex#26956, opencode#24312, IBM/mcp-context-forge#1983: whoever goes away has cancelled, and the work ends.
#[tokio::test]
async fn a_client_that_goes_away_has_cancelled() {
    // R-255
    let fixture = Fixture::new();
    let endpoint = endpoint(&fixture);
    // While nothing was sent yet.
    let waiting = tokio::spawn({
        let endpoint = endpoint.clone();
        async move { endpoint.answer(request("tools/call", &tool("wait")), principal("anna")).await }
    });
    fixture.began.notified().await;
    waiting.abort();
    tokio::time::timeout(SOON, fixture.cancelled.notified()).await.unwrap();
    // In the middle of a stream.
    let mut call = request("tools/call", &tool("wait"));
    call.headers_mut().insert("accept", "text/event-stream".parse().unwrap());
    let response = endpoint.answer(call, principal("anna")).await;
    fixture.began.notified().await;
    drop(response);
    tokio::time::timeout(SOON, fixture.cancelled.notified()).await.unwrap();
}

/// IBM/mcp-context-forge#1258, mcp-hangar#880, maximhq/bifrost#2373, stacklok/toolhive PR 4090 and more: what nobody here knows is
/// passed on, as it came.
#[tokio::test]
async fn results_keep_their_members_their_order_and_their_digits() {
    let endpoint = endpoint(&Fixture::new());
    let arguments = r#"{"z":1.10,"a":9007199254740993,"b":"\u00e9"}"#;
    let mut call = request("tools/call", &tool("echo"));
    let text = format!(
        r#"{{"jsonrpc":"2.0","id":"a\"b","method":"tools/call","params":{{"name":"echo","arguments":{arguments},"_meta":{}}}}}"#,
        super::fixture::meta()
    );
    *call.body_mut() = text.into();
    let reply = send(&endpoint, call).await.text;
    let expected = format!(
        r#"{{"jsonrpc":"2.0","id":"a\"b","result":{{"content":[],"structuredContent":{arguments},"unknown":1.10,"resultType":"complete","_meta":{{"example.com/a":1e2,"io.modelcontextprotocol/serverInfo":{{"name":"fixture","version":"1"}}}}}}}}"#
    );
    assert_eq!(reply, expected);
}

/// opentokenz/mcpx#28, anthropics/claude-code#76040: one schema that older clients cannot read costs them all tools.
#[tokio::test]
async fn older_clients_are_not_shown_what_they_cannot_read() {
    let fixture = Fixture::new();
    let tools = r#"{"tools":[{"name":"a","outputSchema":{"type":"array"},"x":1.0},{"name":"b","outputSchema":{"type":"object"}}]}"#;
    tools.clone_into(&mut fixture.tools.lock().unwrap());
    let endpoint = endpoint(&fixture);
    let client = Client::begin(&endpoint, "2025-06-18", &json!({})).await;
    let shown = client.ask("tools/list", &json!({})).await.text;
    let expected = r#"{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"a","x":1.0},{"name":"b","outputSchema":{"type":"object"}}]}}"#;
    assert_eq!(shown, expected);
    let all = send(&endpoint, request("tools/list", &modern(json!({})))).await.json();
    assert_eq!(all["result"]["tools"][0]["outputSchema"], json!({"type": "array"}));
}

/// anthropics/claude-code#55970, punkpeye/mcp-remote#106, spring-ai#3337: after a restart a client has to learn that its session is
/// gone, by the status that tells it to begin again.
#[tokio::test]
async fn a_session_of_another_process_is_not_found() {
    let (before, after) = (endpoint(&Fixture::new()), endpoint(&Fixture::new()));
    let client = Client::begin(&before, "2025-11-25", &json!({})).await;
    let reply = send(&after, client.request("tools/list", &json!({}))).await;
    assert_eq!(reply.status, StatusCode::NOT_FOUND);
}

/// anomalyco/opencode#28186 and its like: a client that sends a token hears of progress, in every era.
#[tokio::test]
async fn progress_is_told_in_the_legacy_era_too() {
    let endpoint = endpoint(&Fixture::new());
    let client = Client::begin(&endpoint, "2024-11-05", &json!({})).await;
    let params = json!({"name": "progress", "_meta": {"progressToken": "p"}});
    let messages = client.ask("tools/call", &params).await.messages();
    assert_eq!(messages.len(), 4);
    assert!(messages[..3].iter().all(|message| message["params"]["progressToken"] == "p"));
}

/// Whoever does not read costs a bounded amount of memory, and gets the answer all the same.
#[tokio::test]
async fn reports_that_nobody_reads_are_forgotten_and_the_answer_is_not() {
    let endpoint = endpoint(&Fixture::new());
    let call = request("tools/call", &modern(json!({"name": "chatter", "_meta": {"progressToken": 1}})));
    let reply = send(&endpoint, call).await;
    let messages = reply.messages();
    assert!(messages.len() < 20_000, "{}", messages.len());
    assert!(messages.last().unwrap()["result"].is_object());
    assert_eq!(messages[messages.len() - 2]["params"]["progress"], 99_999, "the newest are kept");
}
