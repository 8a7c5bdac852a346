//! Resources that a server is to tell of.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::{Value, json};

use super::peer::{Act, Peer, fail, legacy, line, modern, options, reply, until};
use super::site::{Site, answer, raw, result};
use crate::client::ClientError;

/// Says what of a subscription it honours: all but secrets.
fn acknowledges(message: &Value) -> Vec<Act> {
    let uris = message["params"]["notifications"]["resourceSubscriptions"].as_array().unwrap();
    let uris: Vec<_> = uris.iter().filter(|uri| !uri.as_str().unwrap().contains("secret")).collect();
    let honoured = if uris.is_empty() { json!({}) } else { json!({ "resourceSubscriptions": uris }) };
    let params =
        json!({ "_meta": { "io.modelcontextprotocol/subscriptionId": message["id"] }, "notifications": honoured });
    vec![line(&json!({ "jsonrpc": "2.0", "method": "notifications/subscriptions/acknowledged", "params": params }))]
}

/// What it is listened to for, by the requests that were not ended.
fn listened_to(peer: &Peer) -> Vec<Value> {
    let ended: Vec<_> =
        peer.sent("notifications/cancelled").iter().map(|sent| sent["params"]["requestId"].clone()).collect();
    let open = peer.sent("subscriptions/listen").into_iter().filter(|sent| !ended.contains(&sent["id"]));
    open.map(|sent| sent["params"]["notifications"]["resourceSubscriptions"].clone()).collect()
}

#[tokio::test]
async fn a_modern_server_is_listened_to_for_what_is_watched() {
    let peer = modern(|message| match message["method"].as_str() {
        Some("subscriptions/listen") => acknowledges(message),
        _ => Vec::new(),
    });
    let connection = peer.open(options()).await.unwrap();
    connection.watch("a:1").await.unwrap();
    connection.watch("a:2").await.unwrap();
    until(|| (listened_to(&peer) == [json!(["a:1", "a:2"])]).then_some(())).await;
    // Another one was there before the first one ended.
    let order: Vec<_> = peer.log.lock().unwrap().iter().map(|sent| sent["method"].clone()).collect();
    assert_eq!(order[1..], ["subscriptions/listen", "subscriptions/listen", "notifications/cancelled"]);
    let refused = connection.watch("a:secret").await.unwrap_err();
    assert!(matches!(refused, ClientError::Invalid(_)), "{refused:?}");
    connection.watch("a:2").await.unwrap();
    connection.unwatch("a:1").await.unwrap();
    until(|| (listened_to(&peer) == [json!(["a:2"])]).then_some(())).await;
    peer.say(&json!({ "jsonrpc": "2.0", "method": "notifications/resources/updated", "params": { "uri": "a:2" } }));
    until(|| (peer.heard.shown() == [r#"ResourceUpdated({"uri":"a:2"})"#]).then_some(())).await;
    connection.unwatch("a:2").await.unwrap();
    until(|| listened_to(&peer).is_empty().then_some(())).await;
}

#[tokio::test(start_paused = true)]
async fn a_stream_that_ended_is_begun_again_and_what_is_watched_may_have_changed() {
    let ends = Arc::new(AtomicBool::new(false));
    let is_over = Arc::clone(&ends);
    let peer = modern(move |message| match message["method"].as_str() {
        Some("subscriptions/listen") => {
            let mut acts = acknowledges(message);
            if is_over.swap(false, Ordering::SeqCst) {
                acts.push(reply(message, &json!({ "resultType": "complete" })));
            }
            acts
        }
        _ => Vec::new(),
    });
    let connection = peer.open(options()).await.unwrap();
    ends.store(true, Ordering::SeqCst);
    connection.watch("a:1").await.unwrap();
    until(|| (peer.heard.shown() == [r#"ResourceUpdated({"uri":"a:1"})"#]).then_some(())).await;
    assert_eq!(peer.sent("subscriptions/listen").len(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_server_that_does_not_listen_says_so_and_is_not_asked_without_end() {
    let peer = modern(|message| vec![fail(message, -32601, "no such method")]);
    let connection = peer.open(options()).await.unwrap();
    for _ in 0..2 {
        let error = connection.watch("a:1").await.unwrap_err();
        assert!(matches!(&error, ClientError::Server(error) if error.code == -32601), "{error:?}");
    }
    tokio::time::sleep(Duration::from_hours(1)).await;
    assert_eq!(peer.sent("subscriptions/listen").len(), 2);
    let silent = modern(|_| Vec::new());
    let connection = silent.open(options()).await.unwrap();
    assert!(matches!(connection.watch("a:1").await, Err(ClientError::Lost(_))));
}

#[tokio::test]
async fn a_legacy_server_is_told_and_its_refusal_is_its_own() {
    let peer = legacy(|message| match message["params"]["uri"].as_str() {
        Some("a:secret") => vec![fail(message, -32002, "no such resource")],
        _ => vec![reply(message, &json!({}))],
    });
    let connection = peer.open(options()).await.unwrap();
    connection.watch("a:1").await.unwrap();
    let error = connection.watch("a:secret").await.unwrap_err();
    assert!(matches!(&error, ClientError::Server(error) if error.code == -32002), "{error:?}");
    connection.unwatch("a:1").await.unwrap();
    assert_eq!((peer.sent("resources/subscribe").len(), peer.sent("resources/unsubscribe").len()), (2, 1));
}

// What was watched was a matter of the session that the server forgot.
#[tokio::test]
async fn another_session_is_told_what_is_watched() {
    let sessions = std::sync::atomic::AtomicUsize::new(0);
    let site = Site::new(move |came| match (came.verb.as_str(), came.method()) {
        ("POST", "server/discover") => raw("400 Bad Request", "", ""),
        ("POST", "initialize") => {
            let session = sessions.fetch_add(1, Ordering::SeqCst);
            let capabilities = json!({ "resources": { "subscribe": true } });
            let server = json!({ "name": "s", "version": "1" });
            let said = json!({ "protocolVersion": "2025-11-25", "capabilities": capabilities, "serverInfo": server });
            let message = json!({ "jsonrpc": "2.0", "id": came.body["id"], "result": said });
            answer("200 OK", &format!("mcp-session-id: s-{session}\r\n"), &message)
        }
        ("POST", "tools/call") if came.header("mcp-session-id") == Some("s-0") => raw("404 Not Found", "", ""),
        ("POST", "notifications/initialized") => raw("202 Accepted", "", ""),
        ("POST", _) => result(came, &json!({})),
        _ => raw("405 Method Not Allowed", "", ""),
    })
    .await;
    let connection = site.open(options()).await.unwrap();
    connection.watch("a:1").await.unwrap();
    connection.watch("a:2").await.unwrap();
    connection.unwatch("a:2").await.unwrap();
    connection.request(super::peer::call("t")).await.unwrap();
    until(|| site.heard.shown().contains(&r#"ResourceUpdated({"uri":"a:1"})"#.to_owned()).then_some(())).await;
    let told: Vec<_> = site
        .came("resources/subscribe")
        .iter()
        .map(|came| (came.header("mcp-session-id").map(str::to_owned), came.body["params"]["uri"].clone()))
        .collect();
    let session = |name: &str| Some(name.to_owned());
    assert_eq!(told, [(session("s-0"), json!("a:1")), (session("s-0"), json!("a:2")), (session("s-1"), json!("a:1"))]);
}
