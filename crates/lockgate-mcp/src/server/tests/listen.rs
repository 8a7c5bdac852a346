//! `subscriptions/listen`.

use std::time::Duration;

use serde_json::{Value, json};

use super::fixture::{Fixture, SOON, document, endpoint, modern, next, principal, request, send, tool, updated};
use crate::client::List;
use crate::server::http::Endpoint;
use crate::server::{Change, Standing};
use crate::wire::{code, key};

async fn listen(endpoint: &Endpoint, notifications: Value, meta: Value) -> crate::server::http::Body {
    let params = modern(json!({"notifications": notifications, "_meta": meta}));
    let response = endpoint.answer(request("subscriptions/listen", &params), principal("anna")).await;
    assert_eq!(response.headers()["content-type"], "text/event-stream");
    response.into_body()
}

#[tokio::test]
async fn what_is_honoured_is_said_first_and_then_what_changes() {
    let fixture = Fixture::new();
    let endpoint = endpoint(&fixture);
    let wanted = json!({
        "toolsListChanged": true, "promptsListChanged": false, "resourceSubscriptions": ["a:b", "a:secret"],
        "taskIds": ["t-1"], "other": true,
    });
    let mut body = listen(&endpoint, wanted, json!({})).await;
    let first = next(&mut body).await.unwrap();
    assert_eq!(first["method"], "notifications/subscriptions/acknowledged");
    assert_eq!(
        first["params"],
        json!({
            "notifications": {"toolsListChanged": true, "resourceSubscriptions": ["a:b"]},
            "_meta": {key::SUBSCRIPTION_ID: 1},
        })
    );
    for change in [
        Change::List(List::Prompts),
        updated(r#"{"uri":"a:other"}"#),
        Change::Task(document(r#"{"taskId":"t-1"}"#)),
        Change::Log(document(r#"{"level":"error","data":1}"#)),
        Change::List(List::Tools),
        updated(r#"{"uri":"a:b","_meta":{"example.com/a":1}}"#),
    ] {
        fixture.changes.send(change).unwrap();
    }
    let tools = next(&mut body).await.unwrap();
    assert_eq!(tools["method"], "notifications/tools/list_changed");
    assert_eq!(tools["params"]["_meta"][key::SUBSCRIPTION_ID], 1);
    let resource = next(&mut body).await.unwrap();
    assert_eq!(resource["method"], "notifications/resources/updated");
    assert_eq!(resource["params"]["_meta"], json!({"example.com/a": 1, key::SUBSCRIPTION_ID: 1}));
    // The service knows who listens, and hears when that ends.
    assert_eq!(fixture.asked("resources/subscribe").len(), 2);
    assert_eq!(*fixture.listeners.lock().unwrap(), [r#"{"uri":"a:b"}"#]);
    drop(body);
    tokio::time::timeout(SOON, async {
        while !fixture.listeners.lock().unwrap().is_empty() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    })
    .await
    .unwrap();
    assert_eq!(fixture.changes.receiver_count(), 0, "nothing is kept for a client that went away");
}

#[tokio::test]
async fn tasks_are_told_of_to_those_who_follow_them() {
    let fixture = Fixture::new();
    let endpoint = endpoint(&fixture);
    let follows = json!({key::CLIENT_CAPABILITIES: {"extensions": {key::TASKS: {}}}});
    let mut body = listen(&endpoint, json!({"taskIds": ["t-1", "of-another"]}), follows).await;
    assert_eq!(next(&mut body).await.unwrap()["params"]["notifications"], json!({"taskIds": ["t-1"]}));
    fixture.changes.send(Change::Task(document(r#"{"taskId":"t-2"}"#))).unwrap();
    fixture.changes.send(Change::Task(document(r#"{"taskId":"t-1","status":"completed"}"#))).unwrap();
    let told = next(&mut body).await.unwrap();
    assert_eq!((&told["method"], &told["params"]["taskId"]), (&json!("notifications/tasks"), &json!("t-1")));
}

#[tokio::test]
async fn whoever_missed_something_is_told_that_everything_may_have_changed() {
    let fixture = Fixture::new();
    let endpoint = endpoint(&fixture);
    let mut body =
        listen(&endpoint, json!({"promptsListChanged": true, "resourceSubscriptions": ["a:b"]}), json!({})).await;
    next(&mut body).await.unwrap();
    // More than are kept, before the stream's task gets to run.
    for _ in 0..100 {
        fixture.changes.send(Change::List(List::Tools)).unwrap();
    }
    let mut told = [next(&mut body).await.unwrap()["method"].take(), next(&mut body).await.unwrap()["method"].take()];
    told.sort_by_key(ToString::to_string);
    assert_eq!(told, [json!("notifications/prompts/list_changed"), json!("notifications/resources/updated")]);
}

#[tokio::test]
async fn it_ends_with_a_result_when_the_server_stops() {
    let endpoint = endpoint(&Fixture::new());
    let mut body = listen(&endpoint, json!({"toolsListChanged": true}), json!({})).await;
    let mut other = listen(&endpoint, json!({"promptsListChanged": true}), json!({})).await;
    next(&mut body).await.unwrap();
    next(&mut other).await.unwrap();
    endpoint.close(SOON).await;
    for body in [&mut body, &mut other] {
        let last = next(body).await.unwrap();
        assert_eq!((&last["id"], &last["result"]["resultType"]), (&json!(1), &json!("complete")));
        assert_eq!(last["result"]["_meta"][key::SUBSCRIPTION_ID], 1);
        assert!(next(body).await.is_none());
    }
}

#[tokio::test]
async fn what_cannot_be_read_is_refused() {
    let endpoint = endpoint(&Fixture::new());
    for notifications in [json!(null), json!([]), json!({"resourceSubscriptions": "a:b"}), json!({"taskIds": [1]})] {
        let params = modern(json!({"notifications": notifications}));
        assert_eq!(send(&endpoint, request("subscriptions/listen", &params)).await.code(), code::INVALID_PARAMS);
    }
}

#[tokio::test]
async fn nobody_listens_beyond_the_end_of_a_credential_and_calls_go_on() {
    let fixture = Fixture::new();
    let endpoint = endpoint(&fixture);
    let wanted = json!({"toolsListChanged": true});
    let mut listening = listen(&endpoint, wanted, json!({})).await;
    assert!(next(&mut listening).await.is_some());
    let under_way = |endpoint: &Endpoint| {
        let endpoint = endpoint.clone();
        tokio::spawn(async move { send(&endpoint, request("tools/call", &tool("hold"))).await })
    };
    let call = under_way(&endpoint);
    fixture.began.notified().await;
    endpoint.look_again(|_| Standing::Good);
    fixture.changes.send(Change::List(List::Tools)).unwrap();
    assert!(next(&mut listening).await.is_some());
    endpoint.look_again(|_| Standing::Over);
    assert_eq!(next(&mut listening).await, None);
    fixture.release.notify_one();
    assert!(call.await.unwrap().text.contains("released"));

    let call = under_way(&endpoint);
    fixture.began.notified().await;
    endpoint.look_again(|principal| if principal.credential == "anna" { Standing::Revoked } else { Standing::Good });
    let refused = call.await.unwrap();
    assert_eq!(refused.status, 401, "{refused:?}");
}
