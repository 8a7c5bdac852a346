//! Over standard input and output.

use std::sync::Arc;

use lockgate_contract::ports::Unanswered;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf, split};
use tokio::task::JoinHandle;

use super::fixture::{Fixture, SOON, document, modern, principal, tool};
use crate::client::List;
use crate::server::{Change, stdio};
use crate::wire::{code, key};

/// The client's end.
struct Client {
    input: WriteHalf<DuplexStream>,
    output: Lines<BufReader<ReadHalf<DuplexStream>>>,
    served: JoinHandle<std::io::Result<()>>,
}

impl Client {
    fn begin(fixture: &Arc<Fixture>) -> Self {
        let (ours, theirs) = tokio::io::duplex(1 << 16);
        let (input, output) = split(theirs);
        let service = Arc::clone(fixture) as _;
        let served =
            tokio::spawn(async move { stdio::serve(service, principal("anna"), BufReader::new(input), output).await });
        let (output, input) = split(ours);
        Self { input, output: BufReader::new(output).lines(), served }
    }

    async fn say(&mut self, message: &Value) {
        self.line(&message.to_string()).await;
    }

    async fn line(&mut self, line: &str) {
        self.input.write_all(format!("{line}\n").as_bytes()).await.unwrap();
    }

    async fn ask(&mut self, id: u64, method: &str, params: &Value) {
        self.say(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})).await;
    }

    async fn hear(&mut self) -> Value {
        let line = tokio::time::timeout(SOON, self.output.next_line()).await.unwrap().unwrap().unwrap();
        serde_json::from_str(&line).unwrap()
    }

    async fn initialize(&mut self, capabilities: &Value) {
        let params = json!({"protocolVersion": "2025-11-25", "capabilities": capabilities});
        self.ask(0, "initialize", &params).await;
        assert_eq!(self.hear().await["result"]["protocolVersion"], "2025-11-25");
    }
}

#[tokio::test]
async fn each_message_says_which_era_it_is_of() {
    let mut client = Client::begin(&Fixture::new());
    client.ask(1, "ping", &json!({})).await;
    assert_eq!(client.hear().await["result"], json!({}));
    client.ask(2, "tools/list", &json!({})).await;
    assert_eq!(client.hear().await["error"]["code"], code::INVALID_PARAMS);
    client.ask(3, "server/discover", &modern(json!({}))).await;
    assert_eq!(client.hear().await["result"]["supportedVersions"], json!(["2026-07-28"]));
    client.ask(4, "tools/call", &modern(json!({"name": "who"}))).await;
    assert_eq!(client.hear().await["result"]["content"][0]["text"], "anna 2026-07-28");
    // A client that only looked whether there is anything newer goes on as it always did.
    client.initialize(&json!({})).await;
    client.ask(5, "tools/call", &json!({"name": "who"})).await;
    assert_eq!(client.hear().await["result"]["content"][0]["text"], "anna 2025-11-25");
    client.ask(6, "initialize", &json!({"protocolVersion": "2025-11-25"})).await;
    assert_eq!(client.hear().await["error"]["code"], code::INVALID_REQUEST);
    let mut old = modern(json!({}));
    old["_meta"][key::PROTOCOL_VERSION] = json!("2025-11-25");
    client.ask(7, "tools/list", &old).await;
    assert_eq!(client.hear().await["error"]["code"], code::UNSUPPORTED_VERSION);
}

#[tokio::test]
async fn what_is_no_message_is_answered_and_the_next_line_is_read() {
    let mut client = Client::begin(&Fixture::new());
    for (line, expected) in [
        ("{", code::PARSE_ERROR),
        ("hello", code::PARSE_ERROR),
        ("[]", code::INVALID_REQUEST),
        (r#"{"jsonrpc":"2.0","id":{},"method":"ping"}"#, code::INVALID_REQUEST),
    ] {
        client.line("  ").await;
        client.line(line).await;
        assert_eq!(client.hear().await["error"]["code"], expected, "{line}");
    }
    client.input.write_all(b"\xff\xfe\n").await.unwrap();
    assert_eq!(client.hear().await["error"]["code"], code::PARSE_ERROR);
    let long = "x".repeat(5 << 20);
    client.line(&long).await;
    assert_eq!(client.hear().await["error"]["code"], code::INVALID_REQUEST);
    client.ask(1, "ping", &json!({})).await;
    assert_eq!(client.hear().await["id"], 1);
}

#[tokio::test]
async fn requests_run_beside_each_other_and_are_cancelled_by_name() {
    // R-255
    let fixture = Fixture::new();
    let mut client = Client::begin(&fixture);
    client.initialize(&json!({})).await;
    for (id, params) in [(1, tool("wait")), (2, json!({"name": "wait"}))] {
        client.ask(id, "tools/call", &params).await;
        client.ask(3, "tools/call", &tool("who")).await;
        assert_eq!(client.hear().await["id"], 3);
        let cancel = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}});
        client.say(&cancel).await;
        tokio::time::timeout(SOON, fixture.cancelled.notified()).await.unwrap();
    }
    // Whoever cancelled hears nothing more of it.
    client.ask(4, "tools/call", &tool("who")).await;
    assert_eq!(client.hear().await["id"], 4);
}

#[tokio::test]
async fn questions_and_reports_go_the_way_of_their_era() {
    let mut client = Client::begin(&Fixture::new());
    client.ask(1, "tools/call", &tool("ask")).await;
    let asked = client.hear().await;
    assert_eq!(asked["result"]["resultType"], "input_required");
    let mut params = tool("ask");
    params["inputResponses"] = json!({"name": {"action": "decline"}});
    params["requestState"] = asked["result"]["requestState"].clone();
    client.ask(2, "tools/call", &params).await;
    assert_eq!(client.hear().await["result"]["resultType"], "complete");

    client.initialize(&json!({"elicitation": {}})).await;
    client.ask(3, "tools/call", &json!({"name": "ask"})).await;
    let asked = client.hear().await;
    assert_eq!(asked["method"], "elicitation/create");
    client.say(&json!({"jsonrpc": "2.0", "id": asked["id"], "result": {"action": "cancel"}})).await;
    assert_eq!(client.hear().await["id"], 3);
    client.ask(4, "tools/call", &json!({"name": "progress", "_meta": {"progressToken": "p"}})).await;
    for _ in 0..3 {
        assert_eq!(client.hear().await["method"], "notifications/progress");
    }
    assert_eq!(client.hear().await["id"], 4);
}

#[tokio::test]
async fn changes_are_told_to_those_who_listen_and_to_every_session() {
    let fixture = Fixture::new();
    let mut client = Client::begin(&fixture);
    client.ask(9, "subscriptions/listen", &modern(json!({"notifications": {"promptsListChanged": true}}))).await;
    assert_eq!(client.hear().await["method"], "notifications/subscriptions/acknowledged");
    fixture.changes.send(Change::List(List::Tools)).unwrap();
    fixture.changes.send(Change::List(List::Prompts)).unwrap();
    let told = client.hear().await;
    assert_eq!(told["method"], "notifications/prompts/list_changed");
    assert_eq!(told["params"]["_meta"][key::SUBSCRIPTION_ID], 9);
    let cancel = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 9}});
    client.say(&cancel).await;
    client.initialize(&json!({})).await;
    fixture.changes.send(Change::List(List::Prompts)).unwrap();
    fixture.changes.send(Change::Log(document(r#"{"level":"error","data":"x"}"#))).unwrap();
    assert_eq!(client.hear().await, json!({"jsonrpc": "2.0", "method": "notifications/prompts/list_changed"}));
    assert_eq!(client.hear().await["params"]["data"], "x");
}

#[tokio::test]
async fn the_end_of_the_input_ends_everything() {
    let fixture = Fixture::new();
    let mut client = Client::begin(&fixture);
    client.initialize(&json!({})).await;
    client.ask(1, "tools/call", &json!({"name": "wait"})).await;
    fixture.began.notified().await;
    client.ask(2, "tools/call", &tool("wait")).await;
    fixture.began.notified().await;
    client.ask(3, "tools/call", &tool("ask")).await;
    assert_eq!(client.hear().await["id"], 3);
    client.ask(4, "subscriptions/listen", &modern(json!({"notifications": {"toolsListChanged": true}}))).await;
    client.hear().await;
    client.input.shutdown().await.unwrap();
    // Nobody is told of anything any more but that nobody listens, and the output ends.
    while let Some(line) = tokio::time::timeout(SOON, client.output.next_line()).await.unwrap().unwrap() {
        assert_eq!(serde_json::from_str::<Value>(&line).unwrap()["id"], 4, "{line}");
    }
    tokio::time::timeout(SOON, client.served).await.unwrap().unwrap().unwrap();
    assert_eq!(fixture.changes.receiver_count(), 0);
    // Both tools ended, and so did the question.
    assert_eq!(*fixture.unanswered.lock().unwrap(), Some(Unanswered::Gone));
    assert_eq!(Arc::strong_count(&fixture), 1, "nothing is left of the client");
}
