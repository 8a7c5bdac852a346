//! One request: progress, cancel, time, questions, tasks, loss.

use std::time::Duration;

use lockgate_contract::ports::{Report, Unanswered};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::peer::{Act, PATIENCE, Peer, Person, askable, call, doc, fail, legacy, line, modern, options, reply};
use crate::client::{ClientError, Options, Outgoing, Patience};

#[tokio::test]
async fn a_result_comes_back_as_it_was_sent() {
    let peer = modern(|message| {
        let id = &message["id"];
        vec![Act::Line(format!(
            r#"{{"jsonrpc":"2.0","id":{id},"result":{{"content":[],"structuredContent":{{"n":1.50,"big":12345678901234567890123}},"x-unknown":null}}}}"#
        ))]
    });
    let connection = peer.open(options()).await.unwrap();
    let asked = Outgoing {
        beside: Some(doc(&json!({
            "traceparent": "00-1-2-01", "vendor.example/x": 1, "io.modelcontextprotocol/clientInfo": "stolen", "progressToken": "theirs",
        }))),
        ..call("t")
    };
    let result = connection.request(asked).await.unwrap();
    assert_eq!(
        result.text(),
        r#"{"content":[],"structuredContent":{"n":1.50,"big":12345678901234567890123},"x-unknown":null}"#
    );
    let sent = peer.sent("tools/call").remove(0);
    let meta = &sent["params"]["_meta"];
    assert_eq!(meta["traceparent"], "00-1-2-01");
    assert_eq!(meta["vendor.example/x"], 1);
    assert_eq!(meta["io.modelcontextprotocol/clientInfo"], json!({ "name": "test", "version": "1" }));
    assert_eq!(meta["progressToken"], sent["id"]);
}

fn progress(message: &Value, progress: u64) -> Value {
    let token = &message["params"]["_meta"]["progressToken"];
    let params = json!({ "progressToken": token, "progress": progress, "total": 9, "message": "on it" });
    json!({ "jsonrpc": "2.0", "method": "notifications/progress", "params": params })
}

// anomalyco/opencode#28186, NousResearch/hermes-agent#94723, typescript-sdk#2250: a tool ends at 60 s although it reports progress
#[tokio::test(start_paused = true)]
async fn progress_keeps_a_call_alive_up_to_the_absolute_limit() {
    let peer = legacy(|_| Vec::new());
    let connection = peer.open(options()).await.unwrap();
    let person = Person::new(Err(Unanswered::Gone));
    let asked = Outgoing { caller: Some(person.clone()), ..call("slow") };
    let waiting = tokio::spawn(async move { (connection.request(asked).await, connection) });
    let sent = peer.until_sent(|message| message["method"] == "tools/call").await;
    for step in 1..=5 {
        tokio::time::sleep(Duration::from_secs(11)).await;
        peer.say(&progress(&sent, step));
    }
    let (outcome, connection) = waiting.await.unwrap();
    let Err(ClientError::TimedOut { waited, total, idle, absolute }) = outcome else { panic!("{outcome:?}") };
    assert_eq!((total.as_secs(), idle, absolute), (60, PATIENCE.idle, PATIENCE.absolute));
    assert!(waited < Duration::from_secs(6), "{waited:?}");
    let reports = person.reports.lock().unwrap().len();
    assert_eq!(reports, 5);
    assert!(
        matches!(&person.reports.lock().unwrap()[0], Report::Progress { progress, total: Some(total), message: Some(message) }
        if progress.text() == "1" && total.text() == "9" && message == "on it")
    );
    // openai/codex#26956, opencode#24312, IBM/mcp-context-forge#1983: the server is told
    let cancelled = peer.until_sent(|message| message["method"] == "notifications/cancelled").await;
    assert_eq!(cancelled["params"]["requestId"], sent["id"]);
    drop(connection);
}

#[tokio::test(start_paused = true)]
async fn without_a_sign_of_life_the_idle_limit_counts_and_both_numbers_are_said() {
    let peer = modern(|_| Vec::new());
    let connection = peer.open(options()).await.unwrap();
    let error = connection.request(call("silent")).await.unwrap_err();
    assert_eq!(error.to_string(), "no answer: 20s since the last sign of life (limit 20s), 20s in all (limit 60s)");
}

// openai/codex#26956, opencode#24312, IBM/mcp-context-forge#1983
#[tokio::test]
async fn a_cancelled_call_is_cancelled_at_the_server() {
    for peer in [modern(|_| Vec::new()), legacy(|_| Vec::new())] {
        let connection = peer.open(options()).await.unwrap();
        let cancel = CancellationToken::new();
        let asked = Outgoing { cancel: cancel.clone(), ..call("long") };
        let waiting = tokio::spawn(async move { (connection.request(asked).await, connection) });
        let sent = peer.until_sent(|message| message["method"] == "tools/call").await;
        cancel.cancel();
        let (outcome, _connection) = waiting.await.unwrap();
        assert!(matches!(outcome, Err(ClientError::Cancelled)), "{outcome:?}");
        let cancelled = peer.until_sent(|message| message["method"] == "notifications/cancelled").await;
        assert_eq!(cancelled["params"]["requestId"], sent["id"]);
        // The answer that comes all the same is nobody's.
        let peer_says = json!({ "jsonrpc": "2.0", "id": sent["id"], "result": {} });
        peer.say(&peer_says);
        super::peer::until(|| {
            peer.heard.shown().iter().any(|event| event.contains("answer to no request")).then_some(())
        })
        .await;
    }
}

#[tokio::test]
async fn a_call_whose_future_is_dropped_is_cancelled_too() {
    let peer = legacy(|_| Vec::new());
    let connection = peer.open(options()).await.unwrap();
    let dropped = tokio::time::timeout(Duration::from_millis(50), connection.request(call("long"))).await;
    assert!(dropped.is_err());
    peer.until_sent(|message| message["method"] == "notifications/cancelled").await;
}

// smg-project/smg#2441, Hmbown/Codewhale#4728: an outcome that nobody knows is not a failure, and nothing is sent again
#[tokio::test]
async fn the_end_of_the_process_ends_every_request_at_once_and_nothing_is_sent_again() {
    let peer = modern(|message| if message["params"]["name"] == "deadly" { vec![Act::Exit] } else { Vec::new() });
    let connection = peer.open(options()).await.unwrap();
    let (first, second) = tokio::join!(connection.request(call("patient")), async {
        peer.until_sent(|message| message["method"] == "tools/call").await;
        connection.request(call("deadly")).await
    });
    assert!(matches!(&first, Err(ClientError::Lost(why)) if why.contains("closed its standard output")), "{first:?}");
    assert!(matches!(second, Err(ClientError::Lost(_))));
    assert!(connection.is_lost());
    assert_eq!(peer.sent("tools/call").len(), 2);
    assert_eq!(*peer.starts.lock().unwrap(), 1);
    assert!(peer.heard.shown().iter().any(|event| event.starts_with("Lost")));
    let later = connection.request(call("late")).await;
    assert!(matches!(later, Err(ClientError::NotSent(_))), "{later:?}");
}

#[tokio::test]
async fn a_servers_error_is_its_own() {
    let peer = modern(|message| vec![fail(message, -32602, "Unknown tool: t")]);
    let connection = peer.open(options()).await.unwrap();
    let error = connection.request(call("t")).await.unwrap_err();
    assert!(matches!(&error, ClientError::Server(error) if error.code == -32602), "{error:?}");
}

fn input_required(message: &Value, state: Option<&str>) -> Act {
    let mut result = json!({
        "resultType": "input_required",
        "inputRequests": { "confirm": { "method": "elicitation/create", "params": { "message": "sure?", "requestedSchema": {} } } },
    });
    if let Some(state) = state {
        result["requestState"] = json!(state);
    }
    reply(message, &result)
}

#[tokio::test]
async fn a_question_is_asked_and_the_same_request_is_sent_with_the_answer() {
    for state in [Some("sealed \u{e9} =="), None] {
        let peer = modern(move |message| match message["params"].get("inputResponses") {
            None => vec![input_required(message, state)],
            Some(_) => vec![reply(message, &json!({ "resultType": "complete", "content": [] }))],
        });
        let connection = peer.open(askable()).await.unwrap();
        let person = Person::new(Ok(json!({ "action": "accept", "content": { "ok": true } })));
        let asked = Outgoing { caller: Some(person.clone()), ..call("t") };
        connection.request(asked).await.unwrap();
        let sent = peer.sent("tools/call");
        assert_ne!(sent[0]["id"], sent[1]["id"]);
        assert_eq!(sent[1]["params"]["inputResponses"]["confirm"]["content"]["ok"], true);
        assert_eq!(sent[1]["params"].get("requestState").and_then(Value::as_str), state);
        assert_eq!(sent[1]["params"]["arguments"], sent[0]["params"]["arguments"]);
        assert_eq!(person.asked.lock().unwrap().len(), 1);
    }
}

#[tokio::test]
async fn questions_without_end_are_not_answered_without_end() {
    let peer = modern(|message| vec![input_required(message, Some("again"))]);
    let connection = peer.open(askable()).await.unwrap();
    let person = Person::new(Ok(json!({ "action": "accept" })));
    let error = connection.request(Outgoing { caller: Some(person.clone()), ..call("t") }).await.unwrap_err();
    assert!(error.to_string().contains("it asked 10 times"), "{error}");
    assert_eq!((person.asked.lock().unwrap().len(), peer.sent("tools/call").len()), (10, 11));
}

#[tokio::test]
async fn what_nobody_answers_is_declined_or_refused() {
    let peer = modern(|message| match message["params"].get("inputResponses") {
        None => vec![input_required(message, None)],
        Some(_) => vec![reply(message, &json!({ "content": [] }))],
    });
    let connection = peer.open(askable()).await.unwrap();
    connection.request(call("t")).await.unwrap();
    assert_eq!(peer.sent("tools/call")[1]["params"]["inputResponses"]["confirm"], json!({ "action": "decline" }));

    // It was never told that anybody can be asked.
    let peer = modern(|message| vec![input_required(message, None)]);
    let connection = peer.open(options()).await.unwrap();
    let error = connection.request(call("t")).await.unwrap_err();
    assert!(matches!(error, ClientError::Invalid(_)), "{error:?}");
    assert_eq!(peer.sent("tools/call").len(), 1);
}

#[tokio::test]
async fn a_result_of_an_unknown_type_is_none() {
    let peer = modern(|message| vec![reply(message, &json!({ "resultType": "later" }))]);
    let connection = peer.open(options()).await.unwrap();
    let error = connection.request(call("t")).await.unwrap_err();
    assert_eq!(error.to_string(), "the server's answer cannot be used: its result is of the unknown type `later`");
}

fn with_tasks() -> Options {
    let capabilities = json!({ "elicitation": {}, "extensions": { "io.modelcontextprotocol/tasks": {} } });
    Options { capabilities: doc(&capabilities), ..options() }
}

fn tasks() -> Peer {
    let asked = std::sync::atomic::AtomicUsize::new(0);
    modern(move |message| {
        let task = |status: &str, more: Value| {
            let mut task = json!({ "resultType": "complete", "taskId": "t-1", "status": status, "pollIntervalMs": 50 });
            task.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            task
        };
        let question = json!({ "inputRequests": { "q1": { "method": "elicitation/create", "params": {} } } });
        let result = match message["method"].as_str() {
            Some("tools/call") => task("working", json!({ "resultType": "task" })),
            Some("tasks/get") => match asked.fetch_add(1, std::sync::atomic::Ordering::SeqCst) {
                0 => task("working", json!({})),
                1 | 2 => task("input_required", question),
                _ => task("completed", json!({ "result": { "content": [{ "type": "text", "text": "done" }] } })),
            },
            _ => json!({ "resultType": "complete" }),
        };
        vec![reply(message, &result)]
    })
}

#[tokio::test(start_paused = true)]
async fn a_task_is_followed_to_its_end_and_each_of_its_questions_is_asked_once() {
    let peer = tasks();
    let connection = peer.open(with_tasks()).await.unwrap();
    let person = Person::new(Ok(json!({ "action": "accept" })));
    let result = connection.request(Outgoing { caller: Some(person.clone()), ..call("t") }).await.unwrap();
    assert_eq!(result.text(), r#"{"content":[{"type":"text","text":"done"}]}"#);
    assert_eq!(person.asked.lock().unwrap().len(), 1);
    let updated = peer.sent("tasks/update");
    assert_eq!(updated.len(), 1);
    assert_eq!(updated[0]["params"]["inputResponses"]["q1"], json!({ "action": "accept" }));
}

#[tokio::test(start_paused = true)]
async fn a_task_that_nobody_waits_for_is_cancelled() {
    let peer = modern(|message| {
        let kind = if message["method"] == "tools/call" { "task" } else { "complete" };
        vec![reply(message, &json!({ "resultType": kind, "taskId": "t-1", "status": "working", "pollIntervalMs": 50 }))]
    });
    let connection = peer.open(with_tasks()).await.unwrap();
    let patience = Patience { idle: Duration::from_secs(2), absolute: Duration::from_secs(3) };
    let error = connection.request(Outgoing { patience, ..call("t") }).await.unwrap_err();
    assert!(matches!(error, ClientError::TimedOut { .. }), "{error:?}");
    let cancelled = peer.until_sent(|message| message["method"] == "tasks/cancel").await;
    assert_eq!(cancelled["params"]["taskId"], "t-1");
}

// A task goes on at its server, whatever becomes of a question after it: that nothing happened is never said.
#[tokio::test(start_paused = true)]
async fn a_task_that_cannot_be_asked_after_is_no_call_that_never_happened() {
    for about_task in [-32602, -32601] {
        let peer = modern(move |message| match message["method"].as_str() {
            Some("tools/call") => {
                vec![reply(message, &json!({ "resultType": "task", "taskId": "t-1", "status": "working" }))]
            }
            _ => vec![fail(message, about_task, "no such task")],
        });
        let connection = peer.open(with_tasks()).await.unwrap();
        let error = connection.request(call("t")).await.unwrap_err();
        assert!(matches!(&error, ClientError::Lost(why) if why.contains("tasks/get")), "{error:?}");
    }
    let taken_up = [
        ClientError::NotSent("gone".to_owned()),
        ClientError::AuthorizationNeeded { url: "https://login.example".to_owned() },
        ClientError::Unauthorized { challenge: None },
    ];
    for error in taken_up.map(ClientError::after_it_was_taken_up) {
        assert!(matches!(error, ClientError::Lost(_)), "{error:?}");
    }
}

// What a task ends with, it was taken up for: whatever code its error has, the server got to it.
#[tokio::test(start_paused = true)]
async fn a_task_that_failed_was_no_request_that_was_refused() {
    for code in [-32602, -32020, -32022] {
        let peer = modern(move |message| {
            let error = json!({ "code": code, "message": "no" });
            let task = match message["method"].as_str() {
                Some("tools/call") => json!({ "resultType": "task", "taskId": "t-1", "status": "working" }),
                _ => json!({ "resultType": "complete", "taskId": "t-1", "status": "failed", "error": error }),
            };
            vec![reply(message, &task)]
        });
        let connection = peer.open(with_tasks()).await.unwrap();
        let error = connection.request(call("t")).await.unwrap_err();
        assert!(matches!(&error, ClientError::Server(error) if error.code == code), "{error:?}");
    }
}

#[tokio::test]
async fn only_what_no_tool_can_have_said_is_a_refusal() {
    for (code, is_refusal) in [(-32602, false), (-32601, false), (-32021, false), (-32020, true), (-32022, true)] {
        let peer = modern(move |message| vec![fail(message, code, "no")]);
        let error = peer.open(options()).await.unwrap().request(call("t")).await.unwrap_err();
        assert_eq!(matches!(&error, ClientError::Refused(_)), is_refusal, "{error:?}");
        // The same, once a question of the tool's was answered.
        let peer = modern(move |message| match message["params"].get("inputResponses") {
            None => vec![input_required(message, None)],
            Some(_) => vec![fail(message, code, "no")],
        });
        let person = Person::new(Ok(json!({ "action": "accept" })));
        let connection = peer.open(askable()).await.unwrap();
        let error = connection.request(Outgoing { caller: Some(person), ..call("t") }).await.unwrap_err();
        assert!(matches!(&error, ClientError::Server(error) if error.code == code), "{error:?}");
    }
}

#[tokio::test]
async fn a_task_that_nobody_said_to_follow_is_refused() {
    let peer = tasks();
    let connection = peer.open(askable()).await.unwrap();
    let error = connection.request(call("t")).await.unwrap_err();
    assert!(error.to_string().contains("task"), "{error}");
    assert_eq!(peer.sent("tasks/get").len(), 0);
}

fn question(id: u64, method: &str) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": { "message": "?", "requestedSchema": {} } })
}

#[tokio::test]
async fn a_legacy_servers_questions_go_to_whoever_called() {
    let peer = legacy(|message| match (message["method"].as_str(), message["id"].as_u64()) {
        (Some("tools/call"), _) => vec![line(&question(7, "elicitation/create"))],
        // The answer to the question is what the call waits for.
        (None, Some(7)) => vec![line(&json!({ "jsonrpc": "2.0", "id": 2, "result": { "content": [] } }))],
        _ => Vec::new(),
    });
    let connection = peer.open(Options { era: Some(crate::wire::Era::Legacy), ..askable() }).await.unwrap();
    let person = Person::new(Ok(json!({ "action": "accept", "content": {} })));
    connection.request(Outgoing { caller: Some(person), ..call("t") }).await.unwrap();
    let answer = peer.until_sent(|message| message["id"] == 7).await;
    assert_eq!(answer["result"], json!({ "action": "accept", "content": {} }));
}

#[tokio::test]
async fn a_legacy_server_that_asks_nobody_gets_an_answer() {
    let peer = legacy(|_| Vec::new());
    let _connection = peer.open(askable()).await.unwrap();
    for (id, method, outcome) in [
        (1, "ping", json!({ "result": {} })),
        (2, "elicitation/create", json!({ "result": { "action": "decline" } })),
        (
            3,
            "sampling/createMessage",
            json!({ "error": { "code": -32601, "message": "there is no method `sampling/createMessage`" } }),
        ),
        (4, "roots/list", json!({ "error": { "code": -32601, "message": "there is no method `roots/list`" } })),
        (5, "no/such", json!({ "error": { "code": -32601, "message": "there is no method `no/such`" } })),
    ] {
        peer.say(&question(100 + id, method));
        let mut answer = peer.until_sent(|message| message["id"] == 100 + id && message.get("method").is_none()).await;
        answer.as_object_mut().unwrap().retain(|key, _| key == "result" || key == "error");
        assert_eq!(answer, outcome, "{method}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_is_not_idle_while_a_person_is_asked() {
    struct Slow;
    impl lockgate_contract::ports::Caller for Slow {
        fn beside(&self) -> Option<lockgate_contract::document::Document> {
            None
        }
        fn report(&self, _: Report) {}
        fn ask(
            &self,
            _: lockgate_contract::document::Document,
        ) -> lockgate_contract::ports::BoxFuture<'_, Result<lockgate_contract::document::Document, Unanswered>>
        {
            Box::pin(async {
                tokio::time::sleep(Duration::from_secs(50)).await;
                Ok(doc(&json!({ "question": { "action": "cancel" } })))
            })
        }
    }
    let peer = legacy(|message| match (message["method"].as_str(), message["id"].as_u64()) {
        (Some("tools/call"), _) => vec![line(&question(70, "elicitation/create"))],
        (None, Some(70)) => vec![line(&json!({ "jsonrpc": "2.0", "id": 3, "result": { "content": [] } }))],
        _ => Vec::new(),
    });
    let connection = peer.open(askable()).await.unwrap();
    let asked = Outgoing { caller: Some(std::sync::Arc::new(Slow)), ..call("t") };
    connection.request(asked).await.unwrap();
}
