//! Servers that send what nobody should.

use serde_json::json;

use super::peer::{Act, call, line, modern, options, reply, until};
use crate::client::{Bounds, ClientError, List, Options};

// modelcontextprotocol/rust-sdk#434, kerlenton/mcpsnoop#44: noise on standard output
#[tokio::test]
async fn noise_is_told_and_harms_nothing() {
    let peer = modern(|message| {
        vec![
            Act::Line("Server listening on stdio".to_owned()),
            Act::Line(String::new()),
            Act::Line("{ not json".to_owned()),
            Act::Line("[1, 2]".to_owned()),
            Act::Line(json!({ "jsonrpc": "1.0", "id": 99, "result": {} }).to_string()),
            reply(message, &json!({ "content": [] })),
        ]
    });
    let connection = peer.open(options()).await.unwrap();
    connection.request(call("t")).await.unwrap();
    let shown = peer.heard.shown();
    assert_eq!(shown.len(), 4, "{shown:?}");
    assert_eq!(shown[0], r#"Noise("Server listening on stdio")"#);
}

#[tokio::test]
async fn noise_without_end_is_told_to_an_end() {
    let peer = modern(|message| {
        let mut acts: Vec<_> = (0..5000).map(|_| Act::Line("x".repeat(2000))).collect();
        acts.push(reply(message, &json!({})));
        acts
    });
    let connection = peer.open(options()).await.unwrap();
    connection.request(call("t")).await.unwrap();
    let shown = peer.heard.shown();
    assert!(shown.len() < 300, "{}", shown.len());
    assert!(shown.iter().all(|event| event.len() < 1000));
}

#[tokio::test]
async fn a_line_of_ten_million_bytes_is_read_and_one_beyond_the_limit_is_not() {
    let peer = modern(|message| vec![reply(message, &json!({ "text": "y".repeat(10 << 20) }))]);
    let connection = peer.open(options()).await.unwrap();
    assert!(connection.request(call("t")).await.unwrap().text().len() > 10 << 20);

    let bounds = Bounds { message: 1 << 20, ..Bounds::default() };
    let connection = peer.open(Options { bounds, ..options() }).await.unwrap();
    let error = connection.request(call("t")).await.unwrap_err();
    assert_eq!(error.to_string(), "the server's answer cannot be used: it sent a line of more than 1048576 bytes");
    assert!(!connection.is_lost());
}

#[tokio::test]
async fn a_line_without_an_end_is_the_end_of_the_connection() {
    let peer = modern(|_| vec![Act::Line("y".repeat(2 << 20))]);
    let bounds = Bounds { message: 64 << 10, ..Bounds::default() };
    let connection = peer.open(Options { bounds, ..options() }).await.unwrap();
    let error = connection.request(call("t")).await.unwrap_err();
    assert!(error.to_string().contains("a line that does not end"), "{error}");
    assert!(connection.is_lost());
}

// opentokenz/mcpx#28, anthropics/claude-code#76040: one odd tool made a client reject all of them
#[tokio::test]
async fn one_entry_that_cannot_be_read_costs_no_other() {
    let deep = format!("{}1{}", "{\"a\":".repeat(10_000), "}".repeat(10_000));
    let peer = modern(move |message| {
        let tools =
            format!(r#"[{{"name":"a"}},{{"name":"b","inputSchema":{deep}}},{{"name":"c","name":"c"}},{{"name":"d"}}]"#);
        vec![Act::Line(format!(
            r#"{{"jsonrpc":"2.0","id":{},"result":{{"tools":{tools},"resultType":"complete"}}}}"#,
            message["id"]
        ))]
    });
    let connection = peer.open(options()).await.unwrap();
    let listing = connection.list(List::Tools).await.unwrap();
    assert_eq!(
        listing.items.iter().map(lockgate_contract::document::Document::text).collect::<Vec<_>>(),
        [r#"{"name":"a"}"#, r#"{"name":"d"}"#]
    );
    assert!(peer.heard.shown()[0].contains("nested too deep") || peer.heard.shown()[0].contains("too deep"));
}

/// Nobody waits for what was answered and cannot be read.
#[tokio::test]
async fn an_answer_that_cannot_be_read_ends_its_request_at_once() {
    let peer = modern(|message| {
        vec![Act::Line(format!(
            r#"{{"jsonrpc":"2.0","id":{},"result":{{"content":[{{"a":1,"a":2}}]}}}}"#,
            message["id"]
        ))]
    });
    let connection = peer.open(options()).await.unwrap();
    let error = connection.request(call("t")).await.unwrap_err();
    assert!(matches!(&error, ClientError::Invalid(why) if why.contains("twice")), "{error:?}");
}

#[tokio::test]
async fn answers_that_come_twice_or_to_nobody_are_told() {
    let peer = modern(|message| {
        vec![
            reply(message, &json!({ "content": ["first"] })),
            reply(message, &json!({ "content": ["second"] })),
            line(&json!({ "jsonrpc": "2.0", "id": 4711, "result": {} })),
            line(&json!({ "jsonrpc": "2.0", "id": "a", "result": {} })),
            line(&json!({ "jsonrpc": "2.0", "id": null, "error": { "code": 1, "message": "?" } })),
        ]
    });
    let connection = peer.open(options()).await.unwrap();
    let result = connection.request(call("t")).await.unwrap();
    assert_eq!(result.text(), r#"{"content":["first"]}"#);
    let told = || peer.heard.shown().iter().filter(|event| event.contains("answer to no request")).count();
    until(|| (told() == 4).then_some(())).await;
}

#[tokio::test]
async fn an_answer_that_is_none_ends_its_request() {
    let peer =
        modern(|message| vec![line(&json!({ "jsonrpc": "2.0", "id": message["id"], "result": {}, "error": {} }))]);
    let connection = peer.open(options()).await.unwrap();
    let error = connection.request(call("t")).await.unwrap_err();
    assert!(matches!(error, ClientError::Invalid(_)), "{error:?}");
}

#[tokio::test]
async fn a_modern_server_that_asks_by_itself_is_not_answered() {
    let peer = modern(|message| {
        vec![line(&json!({ "jsonrpc": "2.0", "id": 1, "method": "roots/list" })), reply(message, &json!({}))]
    });
    let connection = peer.open(options()).await.unwrap();
    connection.request(call("t")).await.unwrap();
    assert!(peer.log.lock().unwrap().iter().all(|message| message.get("method").is_some()));
    assert!(peer.heard.shown()[0].contains("must not"));
}
