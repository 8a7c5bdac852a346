//! Lists, and hearing of their changes.

use serde_json::json;

use super::peer::{legacy, line, modern, modern_with, options, reply, until};
use crate::client::{Bounds, ClientError, List, Options};

#[tokio::test]
async fn all_pages_are_read_and_an_empty_cursor_is_one() {
    let peer = modern(|message| {
        let page = match message["params"].get("cursor").and_then(|cursor| cursor.as_str()) {
            None => json!({ "tools": [{ "name": "a" }], "nextCursor": "", "ttlMs": 900 }),
            Some("") => json!({ "tools": [{ "name": "b", "x-more": 1.0 }], "nextCursor": "2", "ttlMs": 300 }),
            Some(_) => json!({ "tools": [{ "name": "c" }], "ttlMs": 500 }),
        };
        vec![reply(message, &page)]
    });
    let connection = peer.open(options()).await.unwrap();
    let listing = connection.list(List::Tools).await.unwrap();
    let texts: Vec<_> = listing.items.iter().map(lockgate_contract::document::Document::text).collect();
    assert_eq!(texts, [r#"{"name":"a"}"#, r#"{"name":"b","x-more":1.0}"#, r#"{"name":"c"}"#]);
    assert_eq!((listing.ttl_ms, listing.warnings.len()), (300, 0));
    assert!(peer.sent("tools/list")[0]["params"].get("cursor").is_none());
}

#[tokio::test]
async fn a_cursor_that_comes_twice_ends_the_list_with_a_warning() {
    let peer = modern(|message| vec![reply(message, &json!({ "tools": [{}], "nextCursor": "again" }))]);
    let connection = peer.open(options()).await.unwrap();
    let listing = connection.list(List::Tools).await.unwrap();
    assert_eq!(listing.items.len(), 2);
    assert_eq!(listing.warnings, ["a cursor came twice: the rest of the list is left out"]);
}

#[tokio::test]
async fn pages_and_entries_without_end_are_cut_off() {
    let pages = std::sync::atomic::AtomicUsize::new(0);
    let peer = modern(move |message| {
        let page = pages.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
        vec![reply(message, &json!({ "prompts": [{}, {}], "nextCursor": page.to_string() }))]
    });
    let bounds = Bounds { pages: 7, items: 100, ..Bounds::default() };
    let connection = peer.open(Options { bounds, ..options() }).await.unwrap();
    let listing = connection.list(List::Prompts).await.unwrap();
    assert_eq!((listing.items.len(), listing.warnings.len(), listing.ttl_ms), (14, 1, 0));
    let bounds = Bounds { pages: 7, items: 3, ..Bounds::default() };
    let connection = peer.open(Options { bounds, ..options() }).await.unwrap();
    let listing = connection.list(List::Prompts).await.unwrap();
    assert_eq!((listing.items.len(), listing.warnings.len()), (3, 1));
}

#[tokio::test]
async fn what_is_no_list_is_an_error() {
    let peer = modern(|message| vec![reply(message, &json!({ "tools": {} }))]);
    let connection = peer.open(options()).await.unwrap();
    assert!(matches!(connection.list(List::Tools).await, Err(ClientError::Invalid(_))));
}

// openai/codex#33266, aaif-goose/goose#10433, maximhq/bifrost#6885, claude-code#79826: list_changed is ignored
#[tokio::test]
async fn a_modern_server_is_listened_to_for_what_it_tells() {
    let capabilities = json!({ "tools": { "listChanged": true }, "prompts": {}, "resources": { "listChanged": true } });
    let peer = modern_with(capabilities, |message| {
        if message["method"] != "subscriptions/listen" {
            return Vec::new();
        }
        let meta = json!({ "io.modelcontextprotocol/subscriptionId": message["id"] });
        let params = json!({ "_meta": meta, "notifications": { "toolsListChanged": true } });
        vec![
            line(&json!({ "jsonrpc": "2.0", "method": "notifications/subscriptions/acknowledged", "params": params })),
            line(
                &json!({ "jsonrpc": "2.0", "method": "notifications/tools/list_changed", "params": { "_meta": meta } }),
            ),
        ]
    });
    let _connection = peer.open(options()).await.unwrap();
    until(|| (peer.heard.shown() == ["ListChanged(Tools)"]).then_some(())).await;
    let asked = peer.sent("subscriptions/listen");
    assert_eq!(asked[0]["params"]["notifications"], json!({ "toolsListChanged": true, "resourcesListChanged": true }));
    assert_eq!(peer.sent("notifications/cancelled").len(), 0);
}

// typescript-sdk#2650: a subscription is held open for nothing
#[tokio::test]
async fn a_subscription_of_which_nothing_is_honoured_is_ended() {
    let peer = modern_with(json!({ "tools": { "listChanged": true } }), |message| {
        if message["method"] != "subscriptions/listen" {
            return Vec::new();
        }
        let meta = json!({ "io.modelcontextprotocol/subscriptionId": message["id"] });
        let params = json!({ "_meta": meta, "notifications": {} });
        vec![line(&json!({ "jsonrpc": "2.0", "method": "notifications/subscriptions/acknowledged", "params": params }))]
    });
    let _connection = peer.open(options()).await.unwrap();
    let cancelled = peer.until_sent(|message| message["method"] == "notifications/cancelled").await;
    assert_eq!(cancelled["params"]["requestId"], peer.sent("subscriptions/listen")[0]["id"]);
}

#[tokio::test(start_paused = true)]
async fn a_subscription_that_ended_is_begun_again_and_everything_may_have_changed() {
    let peer = modern_with(json!({ "tools": { "listChanged": true } }), |message| {
        let first = message["method"] == "subscriptions/listen";
        if first { vec![reply(message, &json!({ "resultType": "complete" }))] } else { Vec::new() }
    });
    let _connection = peer.open(options()).await.unwrap();
    until(|| (peer.sent("subscriptions/listen").len() >= 3).then_some(())).await;
    assert!(peer.heard.shown().iter().filter(|event| *event == "ListChanged(Tools)").count() >= 2);
}

#[tokio::test]
async fn a_server_that_tells_nothing_is_not_listened_to() {
    let peer = modern(|message| vec![reply(message, &json!({ "tools": [] }))]);
    let connection = peer.open(options()).await.unwrap();
    connection.list(List::Tools).await.unwrap();
    assert_eq!(peer.sent("subscriptions/listen").len(), 0);
}

#[tokio::test]
async fn a_legacy_server_tells_by_itself() {
    let peer = legacy(|_| Vec::new());
    let _connection = peer.open(options()).await.unwrap();
    peer.say(&json!({ "jsonrpc": "2.0", "method": "notifications/resources/list_changed" }));
    peer.say(&json!({ "jsonrpc": "2.0", "method": "notifications/resources/updated", "params": { "uri": "x:y" } }));
    peer.say(&json!({ "jsonrpc": "2.0", "method": "notifications/message", "params": { "level": "info", "data": 1 } }));
    let expected = [
        "ListChanged(Resources)",
        "ListChanged(ResourceTemplates)",
        r#"ResourceUpdated({"uri":"x:y"})"#,
        r#"Log({"data":1,"level":"info"})"#,
    ];
    let shown = until(|| Some(peer.heard.shown()).filter(|shown| shown.len() == 4)).await;
    assert_eq!(shown[..3], expected[..3]);
    assert!(shown[3].starts_with("Log("));
}
